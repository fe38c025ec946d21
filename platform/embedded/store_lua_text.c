/* store_lua_text.c -- tonumber and string.format without strtod and printf for the plain forms: half of what scripts do
   is numbers to text and back. All else goes to Lua's own function in the same frame, so that its errors name what the
   script has called, and where. */

#include "store_inside.h"

#include <math.h>

#define DIGITS_MAX 15u
#define PLAIN_MAX  9007199254740992.0 /* from here on not every whole number is one */
#define OUT_SIZE   512u
#define PART_MAX   128u

static gh_store_engine* engine_of(lua_State* lua)
{
    return (gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1));
}

/* Digits alone, and few enough of them to be exact. */
static bool is_plain(const char* text, size_t size, uint64_t* value)
{
    size_t i;
    uint64_t sum = 0;
    if (size == 0 || size > DIGITS_MAX + 1 || (size == DIGITS_MAX + 1 && text[0] > '8')) return false;
    for (i = 0; i < size; i++)
    {
        if (text[i] < '0' || text[i] > '9') return false;
        sum = sum * 10 + (uint64_t)(text[i] - '0');
    }
    *value = sum;
    return true;
}

static int to_number(lua_State* lua)
{
    uint64_t value;
    size_t size;
    const char* text;
    if (lua_gettop(lua) != 1) return engine_of(lua)->tonumber(lua);
    if (lua_type(lua, 1) == LUA_TNUMBER) return 1;
    if (lua_type(lua, 1) != LUA_TSTRING) return engine_of(lua)->tonumber(lua);
    text = lua_tolstring(lua, 1, &size);
    if (!is_plain(text, size, &value)) return engine_of(lua)->tonumber(lua);
    lua_pushnumber(lua, (lua_Number)value);
    return 1;
}

/* ---- format ------------------------------------------------------------------------------------------------------ */

typedef struct format_state
{
    lua_State* lua;
    const char* at;
    const char* end;
    int argument;
    char* out;
    size_t used;
} format_state;

static bool put_number(format_state* state)
{
    double value;
    if (lua_type(state->lua, state->argument) != LUA_TNUMBER) return false;
    value = lua_tonumber(state->lua, state->argument);
    if (!(value > -PLAIN_MAX && value < PLAIN_MAX) || value != (double)(int64_t)value || (value == 0 && signbit(value)))
        return false;
    state->used += gh_store_integer_text((int64_t)value, state->out + state->used);
    return true;
}

static bool put_string(format_state* state)
{
    size_t size;
    const char* text;
    if (lua_type(state->lua, state->argument) != LUA_TSTRING) return false;
    text = lua_tolstring(state->lua, state->argument, &size);
    if (size > PART_MAX || memchr(text, '\0', size) != NULL) return false;
    memcpy(state->out + state->used, text, size);
    state->used += size;
    return true;
}

/* At a "%". False: Lua's own knows what it means. */
static bool put_part(format_state* state)
{
    const size_t left = (size_t)(state->end - state->at);
    state->argument++;
    if (left >= 2 && state->at[1] == 's')
    {
        state->at += 2;
        return put_string(state);
    }
    if (left >= 2 && state->at[1] == 'd')
    {
        state->at += 2;
        return put_number(state);
    }
    if (left >= 4 && memcmp(state->at, "%.0f", 4) == 0)
    {
        state->at += 4;
        return put_number(state);
    }
    return false;
}

static int format(lua_State* lua)
{
    char out[OUT_SIZE];
    format_state state = {lua, NULL, NULL, 1, out, 0};
    size_t size;
    if (lua_type(lua, 1) != LUA_TSTRING) return engine_of(lua)->format(lua);
    state.at = lua_tolstring(lua, 1, &size);
    state.end = state.at + size;
    while (state.at < state.end)
    {
        if (state.used > OUT_SIZE - PART_MAX - 1) return engine_of(lua)->format(lua);
        if (*state.at != '%') out[state.used++] = *state.at++;
        else if (!put_part(&state)) return engine_of(lua)->format(lua);
    }
    lua_pushlstring(lua, out, state.used);
    return 1;
}

void gh_store_lua_open_text(gh_store_engine* engine)
{
    lua_State* lua = engine->lua;
    lua_getglobal(lua, "tonumber");
    engine->tonumber = lua_tocfunction(lua, -1);
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, to_number, 1);
    lua_setglobal(lua, "tonumber");
    lua_getglobal(lua, "string");
    lua_getfield(lua, -1, "format");
    engine->format = lua_tocfunction(lua, -1);
    lua_pop(lua, 1);
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, format, 1);
    lua_setfield(lua, -2, "format");
    lua_settop(lua, 0);
}
