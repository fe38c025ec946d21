/* half.c -- a script's text behind a piece that stands in for `redis` and counts what is written; its digest in place
   of the library's own. */

#include "support/faults/half.h"

#include "support/scene/page.h"
#include "support/source_tree.h"

#include "client/state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE (256 * 1024)

#define NAME_TEXT(name) #name,
static const char* const names[] = {GH_SCRIPT_LIST(NAME_TEXT)};
static char digests[GH_SCRIPT_COUNT][40]; /* the true ones, while others are installed */

size_t half_count(void)
{
    return GH_SCRIPT_COUNT;
}

half_script half_at(size_t i)
{
    return (half_script){names[i], (unsigned)i};
}

/* One line, so that the lines of errors are those of the file. The error is that of a right that is missing. */
static const char head[] = /* of printf */
    "local redis = (function(real, left, name, keys, arguments) "
    "local writes = {} "
    "for word in string.gmatch('SET DEL UNLINK EXPIRE PEXPIRE PERSIST HSET HDEL HINCRBY ZADD ZREM ZPOPMIN ZINCRBY "
    "ZREMRANGEBYRANK ZREMRANGEBYSCORE LPUSH RPUSH LPOP RPOP LSET LTRIM LREM LINSERT SADD SREM RENAME', '%%S+') do "
    "writes[word] = true end "
    "real.call('SET', 'half:ran:' .. name, 1) real.call('DEL', 'half:keys', 'half:arguments') "
    "if #keys > 0 then real.call('RPUSH', 'half:keys', unpack(keys)) end "
    "if #arguments > 0 then real.call('RPUSH', 'half:arguments', unpack(arguments)) end "
    "local function counting(call) return function(...) "
    "if writes[string.upper((...))] then "
    "if left == 0 then real.call('SET', 'half:cut', 1) "
    "error({err = 'ERR The user executing the script cannot run this command or subcommand'}) end "
    "left = left - 1 end "
    "return call(...) end end "
    "return setmetatable({call = counting(real.call), pcall = counting(real.pcall)}, {__index = real}) "
    "end)(redis, %u, '%s', KEYS, ARGV) ";

/* ---- texts --------------------------------------------------------------------------------------------- */

/* sdk/src/<some folder>/<name>.lua */
static char* read_script(const char* name)
{
    char top[SOURCE_TREE_PATH_SIZE];
    char path[2 * SOURCE_TREE_PATH_SIZE];
    char* text = NULL;
    assert_true(source_tree_path(top, "sdk/src"));
    DIR* listing = opendir(top);
    assert_non_null(listing);
    for (struct dirent* entry = readdir(listing); entry != NULL && text == NULL; entry = readdir(listing))
    {
        snprintf(path, sizeof(path), "%s/%s/%s.lua", top, entry->d_name, name);
        FILE* file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file == NULL) continue;
        fclose(file);
        text = page_read_file(path);
    }
    closedir(listing);
    if (text == NULL) fail_msg("there is no script %s", name);
    return text;
}

/* A line "--@ lock/lock_queue.lua" stands for that piece, also behind blanks. */
static void append_whole(char* to, size_t* used, const char* text)
{
    for (size_t size; *text != '\0'; text += size)
    {
        char path[SOURCE_TREE_PATH_SIZE];
        char piece[256];
        const char* word = text + strspn(text, " ");
        size = strcspn(text, "\n");
        size += text[size] == '\n';
        assert_true(*used + size + 1 < TEXT_SIZE);
        if (strncmp(word, "--@ ", 4) != 0)
        {
            memcpy(to + *used, text, size);
            *used += size;
            continue;
        }
        snprintf(piece, sizeof(piece), "sdk/src/%.*s", (int)(strcspn(word, "\n") - 4), word + 4);
        assert_true(source_tree_path(path, piece));
        char* inner = page_read_file(path);
        append_whole(to, used, inner);
        free(inner);
    }
    to[*used] = '\0';
}

const char* half_text_between(half_script script, const char* front, const char* tail, size_t* size)
{
    static char text[TEXT_SIZE];
    char* body = read_script(script.name);
    *size = 0;
    append_whole(text, size, front);
    append_whole(text, size, body);
    append_whole(text, size, tail);
    assert_null(strstr(text, "--@ "));
    free(body);
    return text;
}

static const char* text_of(half_script script, unsigned writes, size_t* size)
{
    char front[sizeof(head) + 64];
    snprintf(front, sizeof(front), head, writes, script.name);
    return half_text_between(script, front, "", size);
}

/* ---- in the client ------------------------------------------------------------------------------------- */

bool half_install_text(drill* self, half_script script, const char* text, size_t size)
{
    gh_script* known = &self->game->client->scripts[script.number];
    if (!known->known || known->front != NULL || known->behind != NULL) return false;
    const char* digest = redis_server_text(self->server, "SCRIPT LOAD %b", text, size);
    if (digests[script.number][0] == '\0') memcpy(digests[script.number], known->digest, sizeof(known->digest));
    memcpy(known->digest, digest, sizeof(known->digest));
    return true;
}

bool half_install(drill* self, half_script script, unsigned writes)
{
    size_t size = 0;
    const char* text = text_of(script, writes, &size);
    return half_install_text(self, script, text, size);
}

bool half_digest(drill* self, half_script script, char digest[64])
{
    const gh_script* known = &self->game->client->scripts[script.number];
    if (!known->known) return false;
    snprintf(digest, 64, "%.*s", (int)sizeof(known->digest), known->digest);
    return true;
}

void half_remove(drill* self, half_script script)
{
    gh_script* known = &self->game->client->scripts[script.number];
    if (digests[script.number][0] == '\0') return;
    memcpy(known->digest, digests[script.number], sizeof(known->digest));
    memset(digests[script.number], 0, sizeof(digests[script.number]));
}

bool half_ran(drill* self, half_script script)
{
    return redis_server_integer(self->server, "EXISTS half:ran:%s", script.name) == 1;
}

bool half_was_cut(drill* self)
{
    return redis_server_integer(self->server, "EXISTS half:cut") == 1;
}

void half_forget(drill* self)
{
    redis_server_do(self->server, "DEL half:cut");
}

void half_repeat(drill* self, half_script script)
{
    size_t size = 0;
    const char* text = text_of(script, HALF_WHOLE, &size);
    redisReply* keys = redis_server_command(self->server, "LRANGE half:keys 0 -1");
    redisReply* arguments = redis_server_command(self->server, "LRANGE half:arguments 0 -1");
    const char* words[400];
    size_t sizes[400];
    size_t count = 0;
    char number[16];
    snprintf(number, sizeof(number), "%zu", keys->elements);
    assert_true(keys->elements + arguments->elements + 3 < 400);
    words[count] = "EVAL", sizes[count++] = 4;
    words[count] = text, sizes[count++] = size;
    words[count] = number, sizes[count++] = strlen(number);
    for (size_t i = 0; i < keys->elements; i++, count++)
        words[count] = keys->element[i]->str, sizes[count] = keys->element[i]->len;
    for (size_t i = 0; i < arguments->elements; i++, count++)
        words[count] = arguments->element[i]->str, sizes[count] = arguments->element[i]->len;
    freeReplyObject(redis_server_words(self->server, words, sizes, count));
    freeReplyObject(arguments);
    freeReplyObject(keys);
}
