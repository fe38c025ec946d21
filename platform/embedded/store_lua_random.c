/* store_lua_random.c -- math.random as a server has it: the same draws for every script, which begins with seed 0. */

#include "store_inside.h"

#include <math.h>

#define RANDOM_MAX 2147483647.0

static gh_store_engine* engine_of(lua_State* lua)
{
    return (gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1));
}

void gh_store_lua_seed(gh_store_engine* engine, int32_t seed)
{
    engine->random = (uint64_t)(uint32_t)seed << 16 | 0x330eu;
}

/* lrand48 of Unix: 48 bits, of which the upper 31 are drawn. */
static int32_t draw(gh_store_engine* engine)
{
    engine->random = (engine->random * 0x5deece66dull + 0xbull) & 0xffffffffffffull;
    return (int32_t)(engine->random >> 17);
}

static int lua_random(lua_State* lua)
{
    const lua_Number drawn = (lua_Number)(draw(engine_of(lua)) % 0x7fffffff) / RANDOM_MAX;
    int low = 1;
    int high;
    switch (lua_gettop(lua))
    {
    case 0: lua_pushnumber(lua, drawn); return 1;
    case 1: high = luaL_checkint(lua, 1); break;
    case 2:
        low = luaL_checkint(lua, 1);
        high = luaL_checkint(lua, 2);
        break;
    default: return luaL_error(lua, "wrong number of arguments");
    }
    luaL_argcheck(lua, low <= high, lua_gettop(lua), "interval is empty");
    lua_pushnumber(lua, floor(drawn * ((lua_Number)high - low + 1)) + low);
    return 1;
}

static int lua_seed(lua_State* lua)
{
    gh_store_lua_seed(engine_of(lua), luaL_checkint(lua, 1));
    return 0;
}

void gh_store_lua_open_random(gh_store_engine* engine)
{
    lua_State* lua = engine->lua;
    lua_getglobal(lua, "math");
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, lua_random, 1);
    lua_setfield(lua, -2, "random");
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, lua_seed, 1);
    lua_setfield(lua, -2, "randomseed");
    lua_settop(lua, 0);
}
