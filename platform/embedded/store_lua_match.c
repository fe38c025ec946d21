/* store_lua_match.c -- string.match for plain patterns, which are most: letters, classes and sets, once or with "+",
   "*" or "?", captures, anchors. A pattern is compiled once, and kept by where Lua has its text. All else, and what is
   wrong with a pattern, goes to Lua's own function in the same frame. */

#include "store_inside.h"

#include <ctype.h>
#include <stdlib.h>

enum
{
    STEPS_MAX = 40,
    TEXT_MAX = 63,
    CAPTURES_MAX = 10,
    KEPT = 1024 /* places: of so many, a few dozen patterns rarely have the same */
};

#define BEGIN_MAX 1e9 /* of a place in a text */

typedef enum step_kind
{
    STEP_ONE = 0, /* of the class       */
    STEP_SOME,    /* "+"                */
    STEP_ANY,     /* "*"                */
    STEP_MAYBE,   /* "?"                */
    STEP_OPEN,    /* "("                */
    STEP_CLOSE,   /* ")"                */
    STEP_AT_END,  /* "$"                */
    STEP_DONE
} step_kind;

typedef struct step
{
    step_kind kind;
    unsigned capture;
    uint8_t letters[32]; /* a bit for each */
} step;

typedef struct pattern
{
    char text[TEXT_MAX + 1];
    size_t size;
    bool is_plain;
    bool is_anchored;
    unsigned captures;
    step steps[STEPS_MAX];
} pattern;

struct store_patterns
{
    pattern* all[KEPT]; /* NULL: none was kept there yet */
};

/* ---- compiled ---------------------------------------------------------------------------------------------------- */

static void add_letter(step* to, unsigned letter)
{
    to->letters[letter / 8] |= (uint8_t)(1u << letter % 8);
}

static bool is_in(const step* from, char letter)
{
    const unsigned char byte = (unsigned char)letter;
    return (from->letters[byte / 8] >> byte % 8 & 1) != 0;
}

typedef int letter_class(int letter);

/* What "%d" means; NULL: it is no class. */
static letter_class* class_named(char name)
{
    switch (tolower((unsigned char)name))
    {
    case 'a': return isalpha;
    case 'c': return iscntrl;
    case 'd': return isdigit;
    case 'l': return islower;
    case 'p': return ispunct;
    case 's': return isspace;
    case 'u': return isupper;
    case 'w': return isalnum;
    case 'x': return isxdigit;
    default: return NULL;
    }
}

/* Behind a "%". False: only Lua knows it. */
static bool add_class(step* to, char name)
{
    letter_class* has = class_named(name);
    const bool inverts = isupper((unsigned char)name) != 0;
    int letter;
    if (!isalnum((unsigned char)name))
    {
        add_letter(to, (unsigned char)name);
        return true;
    }
    if (has == NULL) return false;
    for (letter = 0; letter < 256; letter++)
        if ((has(letter) != 0) != inverts) add_letter(to, (unsigned)letter);
    return true;
}

/* Behind a "["; behind its "]", or NULL. */
static const char* add_set(step* to, const char* at, const char* end)
{
    const bool inverts = at < end && *at == '^';
    unsigned i;
    if (inverts) at++;
    if (at < end && *at == ']') return NULL;
    for (; at < end && *at != ']'; at++)
    {
        if (*at == '%')
        {
            if (++at == end || !add_class(to, *at)) return NULL;
        }
        else if (at + 2 < end && at[1] == '-' && at[2] != ']')
        {
            unsigned letter = (unsigned char)at[0];
            if (at[2] == '%') return NULL;
            for (; letter <= (unsigned char)at[2]; letter++) add_letter(to, letter);
            at += 2;
        }
        else add_letter(to, (unsigned char)*at);
    }
    if (at == end) return NULL;
    for (i = 0; inverts && i < sizeof to->letters; i++) to->letters[i] = (uint8_t)~to->letters[i];
    return at + 1;
}

/* One letter, class or set; behind it, or NULL. */
static const char* add_single(step* to, const char* at, const char* end)
{
    switch (*at)
    {
    case '.': memset(to->letters, 0xff, sizeof to->letters); return at + 1;
    case '[': return add_set(to, at + 1, end);
    case '%': return at + 1 < end && add_class(to, at[1]) ? at + 2 : NULL;
    default: add_letter(to, (unsigned char)*at); return at + 1;
    }
}

typedef struct compiler
{
    pattern* made;
    unsigned steps;
    unsigned open[CAPTURES_MAX]; /* captures that are not closed yet */
    unsigned depth;
} compiler;

static bool add_bracket(compiler* self, step* to, char letter)
{
    if (letter == '(')
    {
        if (self->made->captures == CAPTURES_MAX) return false;
        to->kind = STEP_OPEN;
        to->capture = self->open[self->depth++] = self->made->captures++;
        return true;
    }
    if (self->depth == 0) return false;
    to->kind = STEP_CLOSE;
    to->capture = self->open[--self->depth];
    return true;
}

/* One step; behind it, or NULL: not plain. */
static const char* add_step(compiler* self, const char* at, const char* end)
{
    step* to = &self->made->steps[self->steps++];
    if (self->steps == STEPS_MAX) return NULL;
    if (*at == '(' || *at == ')')
    {
        if (*at == '(' && at + 1 < end && at[1] == ')') return NULL; /* a place, not a text */
        return add_bracket(self, to, *at) ? at + 1 : NULL;
    }
    if (*at == '$' && at + 1 == end)
    {
        to->kind = STEP_AT_END;
        return at + 1;
    }
    at = add_single(to, at, end);
    if (at == NULL || at == end) return at;
    if (*at == '-') return NULL;
    if (*at == '+') to->kind = STEP_SOME;
    if (*at == '*') to->kind = STEP_ANY;
    if (*at == '?') to->kind = STEP_MAYBE;
    return to->kind == STEP_ONE ? at : at + 1;
}

static bool compile(pattern* made)
{
    compiler self = {made, 0, {0}, 0};
    const char* at = made->text;
    const char* end = at + made->size;
    if (memchr(at, '\0', made->size) != NULL) return false;
    made->is_anchored = at < end && *at == '^';
    if (made->is_anchored) at++;
    while (at != NULL && at < end) at = add_step(&self, at, end);
    if (at == NULL || self.depth > 0 || self.steps == STEPS_MAX) return false;
    made->steps[self.steps].kind = STEP_DONE;
    return true;
}

/* NULL: Lua's own must do it. */
static const pattern* pattern_of(gh_store_engine* engine, const char* text, size_t size)
{
    pattern** place = &engine->patterns->all[(uintptr_t)text / 16 % KEPT];
    pattern* kept = *place;
    if (size > TEXT_MAX) return NULL;
    if (kept == NULL || kept->size != size || memcmp(kept->text, text, size) != 0)
    {
        if (kept == NULL) kept = *place = (pattern*)gh_store_heap_resize(NULL, sizeof *kept);
        memset(kept, 0, sizeof *kept);
        memcpy(kept->text, text, size);
        kept->size = size;
        kept->is_plain = compile(kept);
    }
    return kept->is_plain ? kept : NULL;
}

/* ---- matched ----------------------------------------------------------------------------------------------------- */

typedef struct matcher
{
    const char* end;
    const char* from[CAPTURES_MAX];
    const char* behind[CAPTURES_MAX];
} matcher;

static const char* match_steps(matcher* self, const step* at, const char* text);

/* As many as there are, and then fewer and fewer. */
static const char* match_many(matcher* self, const step* at, const char* text, const char* least)
{
    const char* stop = text;
    while (stop < self->end && is_in(at, *stop)) stop++;
    for (; stop >= least; stop--)
    {
        const char* found = match_steps(self, at + 1, stop);
        if (found != NULL) return found;
    }
    return NULL;
}

/* With one, or without. */
static const char* match_maybe(matcher* self, const step* at, const char* text)
{
    const char* found = NULL;
    if (text < self->end && is_in(at, *text)) found = match_steps(self, at + 1, text + 1);
    return found != NULL ? found : match_steps(self, at + 1, text);
}

static const char* match_steps(matcher* self, const step* at, const char* text)
{
    for (;; at++)
    {
        switch (at->kind)
        {
        case STEP_ONE:
            if (text == self->end || !is_in(at, *text)) return NULL;
            text++;
            break;
        case STEP_SOME: return match_many(self, at, text, text + 1);
        case STEP_ANY: return match_many(self, at, text, text);
        case STEP_MAYBE: return match_maybe(self, at, text);
        case STEP_OPEN: self->from[at->capture] = text; break;
        case STEP_CLOSE: self->behind[at->capture] = text; break;
        case STEP_AT_END:
            if (text != self->end) return NULL;
            break;
        case STEP_DONE:
        default: return text;
        }
    }
}

static int push_captures(lua_State* lua, const matcher* self, unsigned count, const char* from, const char* behind)
{
    unsigned i;
    for (i = 0; i < count; i++) lua_pushlstring(lua, self->from[i], (size_t)(self->behind[i] - self->from[i]));
    if (count == 0) lua_pushlstring(lua, from, (size_t)(behind - from));
    return count == 0 ? 1 : (int)count;
}

/* Where a third argument says to begin: a place from 1, or from the end if negative. False: Lua's own must read it. */
static bool read_begin(lua_State* lua, size_t size, size_t* begin)
{
    double place;
    *begin = 0;
    if (lua_gettop(lua) == 2) return true;
    if (lua_gettop(lua) != 3 || lua_type(lua, 3) != LUA_TNUMBER) return false;
    place = lua_tonumber(lua, 3);
    if (!(place >= -BEGIN_MAX && place <= BEGIN_MAX) || place != (double)(int32_t)place) return false;
    if (place < 0) place += (double)size + 1;
    if (place > 1) *begin = (size_t)place - 1;
    if (*begin > size) *begin = size;
    return true;
}

static int string_match(lua_State* lua)
{
    gh_store_engine* engine = (gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1));
    const pattern* wanted;
    const char* text;
    const char* words;
    size_t size;
    size_t words_size;
    size_t begin;
    matcher self;
    if (lua_type(lua, 1) != LUA_TSTRING || lua_type(lua, 2) != LUA_TSTRING) return engine->match(lua);
    text = lua_tolstring(lua, 1, &size);
    words = lua_tolstring(lua, 2, &words_size);
    wanted = pattern_of(engine, words, words_size);
    if (wanted == NULL || !read_begin(lua, size, &begin)) return engine->match(lua);
    self.end = text + size;
    for (text += begin; text <= self.end; text++)
    {
        const char* behind = match_steps(&self, wanted->steps, text);
        if (behind != NULL) return push_captures(lua, &self, wanted->captures, text, behind);
        if (wanted->is_anchored) break;
    }
    lua_pushnil(lua);
    return 1;
}

void gh_store_lua_open_match(gh_store_engine* engine)
{
    lua_State* lua = engine->lua;
    engine->patterns = (struct store_patterns*)gh_store_heap_resize(NULL, sizeof *engine->patterns);
    memset(engine->patterns, 0, sizeof *engine->patterns);
    lua_getglobal(lua, "string");
    lua_getfield(lua, -1, "match");
    engine->match = lua_tocfunction(lua, -1);
    lua_pop(lua, 1);
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, string_match, 1);
    lua_setfield(lua, -2, "match");
    lua_settop(lua, 0);
}

void gh_store_lua_end_match(gh_store_engine* engine)
{
    size_t i;
    for (i = 0; i < KEPT; i++) free(engine->patterns->all[i]);
    free(engine->patterns);
}
