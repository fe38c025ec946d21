/* store_reply.c -- how a command answers: as bytes of RESP2, or as values of Lua when a script has called it. */

#include "store_inside.h"

#include <stdarg.h>
#include <stdio.h>

/* The value on top of Lua's stack goes into the array that is not full; an array that is full now is a value itself. */
static void settle(store_answer* answer)
{
    while (answer->depth > 0)
    {
        const uint32_t level = answer->depth - 1;
        lua_rawseti(answer->lua, -2, (int)++answer->at[level]);
        if (--answer->left[level] > 0) return;
        answer->depth--;
    }
}

void gh_store_reply_integer(gh_store* store, int64_t value)
{
    store_answer* answer = store->answer;
    if (answer->lua == NULL)
    {
        gh_store_put_head(answer->bytes, ':', value);
        return;
    }
    lua_pushnumber(answer->lua, (lua_Number)value);
    settle(answer);
}

void gh_store_reply_text(gh_store* store, gh_str text)
{
    store_answer* answer = store->answer;
    if (answer->lua == NULL)
    {
        gh_store_put_bulk(answer->bytes, text);
        return;
    }
    lua_pushlstring(answer->lua, text.bytes, text.size);
    settle(answer);
}

void gh_store_reply_double(gh_store* store, double value)
{
    char text[STORE_NUMBER_SIZE];
    gh_store_reply_text(store, gh_str_make(text, gh_store_double_text(value, store->version_number, text)));
}

static void reply_nothing(gh_store* store, const char* bytes)
{
    store_answer* answer = store->answer;
    if (answer->lua == NULL)
    {
        gh_store_put(answer->bytes, bytes, 5);
        return;
    }
    lua_pushboolean(answer->lua, 0);
    settle(answer);
}

void gh_store_reply_null(gh_store* store)
{
    reply_nothing(store, "$-1\r\n");
}

void gh_store_reply_null_array(gh_store* store)
{
    reply_nothing(store, "*-1\r\n");
}

void gh_store_reply_array(gh_store* store, size_t count)
{
    store_answer* answer = store->answer;
    if (answer->lua == NULL)
    {
        gh_store_put_head(answer->bytes, '*', (int64_t)count);
        return;
    }
    luaL_checkstack(answer->lua, 4, "reply");
    lua_createtable(answer->lua, (int)count, 0);
    if (count == 0)
    {
        settle(answer);
        return;
    }
    answer->at[answer->depth] = 0;
    answer->left[answer->depth] = (uint32_t)count;
    answer->depth++;
}

void gh_store_reply_status(gh_store* store, const char* text)
{
    store_answer* answer = store->answer;
    if (answer->lua == NULL)
    {
        gh_store_put_line(answer->bytes, '+', gh_str_of(text));
        return;
    }
    lua_createtable(answer->lua, 0, 1);
    lua_pushstring(answer->lua, text);
    lua_setfield(answer->lua, -2, "ok");
    settle(answer);
}

void gh_store_reply_ok(gh_store* store)
{
    gh_store_reply_status(store, "OK");
}

/* Lua is told by who called the command from there. */
void gh_store_reply_error(gh_store* store, const char* format, ...)
{
    store_answer* answer = store->answer;
    va_list list;
    va_start(list, format);
    vsnprintf(answer->error, sizeof answer->error, format, list);
    va_end(list);
    answer->has_failed = true;
    if (answer->lua == NULL) gh_store_put_line(answer->bytes, '-', gh_str_of(answer->error));
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static char small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

bool gh_store_is_word(gh_str text, const char* word)
{
    size_t i;
    for (i = 0; i < text.size; i++)
        if (word[i] == '\0' || small(text.bytes[i]) != small(word[i])) return false;
    return word[i] == '\0';
}

bool gh_store_word_integer(gh_store* store, uint32_t at, int64_t* value)
{
    if (gh_store_text_integer(store->words[at], value)) return true;
    gh_store_reply_error(store, STORE_NOT_INTEGER);
    return false;
}

bool gh_store_word_double(gh_store* store, uint32_t at, double* value)
{
    if (gh_store_text_double(store->words[at], value)) return true;
    gh_store_reply_error(store, STORE_NOT_FLOAT);
    return false;
}
