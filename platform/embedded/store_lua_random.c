/* store_lua_random.c -- math.random as a server has it: lrand48, which each store goes on with from its seed. */

#include "store_inside.h"

#include <math.h>

#define RANDOM_MAX 2147483647.0

static gh_store_engine* engine_of(lua_State* lua)
{
    return (gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1));
}

#define STEP_FACTOR 0x5deece66dull
#define STEP_ADDED  0xbull
#define STATE_MASK  0xffffffffffffull
#define SEED_LOW    0x330eull

/* 48 bits, of which the upper 31 are drawn. */
static int32_t draw(gh_store* store)
{
    store->lua_random = (store->lua_random * STEP_FACTOR + STEP_ADDED) & STATE_MASK;
    return (int32_t)(store->lua_random >> 17);
}

static int lua_random(lua_State* lua)
{
    const lua_Number drawn = (lua_Number)(draw(engine_of(lua)->store) % 0x7fffffff) / RANDOM_MAX;
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
    engine_of(lua)->store->lua_random = (uint64_t)(uint32_t)luaL_checkint(lua, 1) << 16 | SEED_LOW;
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
