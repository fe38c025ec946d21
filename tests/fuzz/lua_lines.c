/* lua_lines.c -- a hook on each line of Lua, and counters that libFuzzer looks at. */

#include "lua_lines.h"

#include "store_inside.h"

#define COUNTERS 16384u

/* libFuzzer finds them by the section. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

static uint32_t current;
static uint64_t count;

static void at_line(lua_State* lua, lua_Debug* where)
{
    (void)lua;
    const uint32_t place = (current * 521u + (uint32_t)where->currentline) % COUNTERS;
    if (counters[place] < UINT8_MAX) counters[place]++;
    count++;
}

void lua_lines_watch(gh_store_engine* engine)
{
    lua_sethook(engine->lua, at_line, LUA_MASKLINE, 0);
}

void lua_lines_begin(uint32_t script)
{
    current = script;
    count = 0;
}

uint64_t lua_lines_count(void)
{
    return count;
}
