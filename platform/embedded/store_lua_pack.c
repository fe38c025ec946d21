/* store_lua_pack.c -- cmsgpack.pack and cmsgpack.unpack, the parts of it that a receipt needs: every value that a reply
   can be, as MessagePack. */

#include "store_inside.h"

#include <math.h>

#define NEST_MAX 16

/* ---- pack -------------------------------------------------------------------------------------------------------- */

static void put_byte(store_buffer* out, unsigned byte)
{
    const unsigned char one = (unsigned char)byte;
    gh_store_put(out, &one, 1);
}

static void put_number(store_buffer* out, uint64_t value, unsigned bytes)
{
    while (bytes > 0) put_byte(out, (unsigned)(value >> 8 * --bytes) & 0xffu);
}

static void put_marked(store_buffer* out, unsigned mark, uint64_t value, unsigned bytes)
{
    put_byte(out, mark);
    put_number(out, value, bytes);
}

static void put_integer(store_buffer* out, int64_t value)
{
    if (value >= 0 && value <= 127) put_byte(out, (unsigned)value);
    else if (value >= 0 && value <= 0xff) put_marked(out, 0xcc, (uint64_t)value, 1);
    else if (value >= 0 && value <= 0xffff) put_marked(out, 0xcd, (uint64_t)value, 2);
    else if (value >= 0 && value <= 0xffffffffll) put_marked(out, 0xce, (uint64_t)value, 4);
    else if (value >= 0) put_marked(out, 0xcf, (uint64_t)value, 8);
    else if (value >= -32) put_byte(out, 0xe0u | ((unsigned)value & 0x1fu));
    else if (value >= -128) put_marked(out, 0xd0, (uint64_t)value, 1);
    else if (value >= -32768) put_marked(out, 0xd1, (uint64_t)value, 2);
    else if (value >= -2147483648ll) put_marked(out, 0xd2, (uint64_t)value, 4);
    else put_marked(out, 0xd3, (uint64_t)value, 8);
}

static void put_double(store_buffer* out, double value)
{
    const float small = (float)value;
    uint64_t bits;
    uint32_t small_bits;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&small_bits, &small, sizeof small_bits);
    if ((double)small == value) put_marked(out, 0xca, small_bits, 4);
    else put_marked(out, 0xcb, bits, 8);
}

static void put_lua_number(store_buffer* out, double value)
{
    if (value >= -9223372036854775808.0 && value < 9223372036854775808.0 && value == (double)(int64_t)value)
        put_integer(out, (int64_t)value);
    else put_double(out, value);
}

static void put_text(store_buffer* out, gh_str text)
{
    if (text.size < 32) put_byte(out, 0xa0u | (unsigned)text.size);
    else if (text.size <= 0xff) put_marked(out, 0xd9, text.size, 1);
    else if (text.size <= 0xffff) put_marked(out, 0xda, text.size, 2);
    else put_marked(out, 0xdb, text.size, 4);
    gh_store_put(out, text.bytes, text.size);
}

static void put_value(lua_State* lua, store_buffer* out, int depth);

/* Only 1 to n, and nothing else. */
static bool is_row(lua_State* lua, size_t* count)
{
    size_t all = 0;
    double most = 0;
    lua_pushnil(lua);
    while (lua_next(lua, -2) != 0)
    {
        double place;
        lua_pop(lua, 1);
        if (lua_type(lua, -1) != LUA_TNUMBER) goto other;
        place = lua_tonumber(lua, -1);
        if (place <= 0 || place != floor(place)) goto other;
        if (place > most) most = place;
        all++;
    }
    *count = all;
    return most == (double)all;
other:
    lua_pop(lua, 1);
    return false;
}

static void put_row(lua_State* lua, store_buffer* out, size_t count, int depth)
{
    size_t i;
    if (count <= 15) put_byte(out, 0x90u | (unsigned)count);
    else if (count <= 0xffff) put_marked(out, 0xdc, count, 2);
    else put_marked(out, 0xdd, count, 4);
    for (i = 1; i <= count; i++)
    {
        lua_rawgeti(lua, -1, (int)i);
        put_value(lua, out, depth + 1);
        lua_pop(lua, 1);
    }
}

static void put_map(lua_State* lua, store_buffer* out, int depth)
{
    size_t count = 0;
    lua_pushnil(lua);
    for (; lua_next(lua, -2) != 0; lua_pop(lua, 1)) count++;
    if (count <= 15) put_byte(out, 0x80u | (unsigned)count);
    else if (count <= 0xffff) put_marked(out, 0xde, count, 2);
    else put_marked(out, 0xdf, count, 4);
    lua_pushnil(lua);
    for (; lua_next(lua, -2) != 0; lua_pop(lua, 1))
    {
        lua_pushvalue(lua, -2);
        put_value(lua, out, depth + 1);
        lua_pop(lua, 1);
        put_value(lua, out, depth + 1);
    }
}

/* The top of the stack, which stays. */
static void put_value(lua_State* lua, store_buffer* out, int depth)
{
    size_t count;
    gh_str text;
    luaL_checkstack(lua, 6, "in function mp_encode_lua_type");
    switch (lua_type(lua, -1))
    {
    case LUA_TSTRING:
        text.bytes = lua_tolstring(lua, -1, &text.size);
        put_text(out, text);
        break;
    case LUA_TBOOLEAN: put_byte(out, lua_toboolean(lua, -1) ? 0xc3 : 0xc2); break;
    case LUA_TNUMBER: put_lua_number(out, lua_tonumber(lua, -1)); break;
    case LUA_TTABLE:
        if (depth == NEST_MAX) put_byte(out, 0xc0);
        else if (is_row(lua, &count)) put_row(lua, out, count, depth);
        else put_map(lua, out, depth);
        break;
    default: put_byte(out, 0xc0); break;
    }
}

static int pack(lua_State* lua)
{
    store_buffer* out = &((gh_store_engine*)lua_touserdata(lua, lua_upvalueindex(1)))->packed;
    const int count = lua_gettop(lua);
    int i;
    if (count == 0) return luaL_argerror(lua, 0, "MessagePack pack needs input.");
    gh_store_buffer_empty(out);
    luaL_checkstack(lua, 1, "Too many arguments for MessagePack pack.");
    for (i = 1; i <= count; i++)
    {
        lua_pushvalue(lua, i);
        put_value(lua, out, 0);
        lua_pop(lua, 1);
    }
    lua_pushlstring(lua, out->bytes, out->size);
    return 1;
}

/* ---- unpack ------------------------------------------------------------------------------------------------------ */

typedef struct unpack_state
{
    const unsigned char* at;
    size_t left;
    const char* error;
} unpack_state;

static const char too_short[] = "Missing bytes in input.";
static const char not_known[] = "Bad data format in input.";

/* The next so many bytes; 0 and an error if they are not there. */
static uint64_t take_number(unpack_state* state, unsigned bytes)
{
    uint64_t value = 0;
    if (state->left < bytes)
    {
        state->error = too_short;
        return 0;
    }
    state->left -= bytes;
    for (; bytes > 0; bytes--) value = value << 8 | *state->at++;
    return value;
}

static void take_value(lua_State* lua, unpack_state* state);

static void take_text(lua_State* lua, unpack_state* state, size_t size)
{
    if (state->error == NULL && state->left < size) state->error = too_short;
    if (state->error != NULL)
    {
        lua_pushnil(lua);
        return;
    }
    lua_pushlstring(lua, (const char*)state->at, size);
    state->at += size;
    state->left -= size;
}

static void take_row(lua_State* lua, unpack_state* state, uint64_t count)
{
    uint64_t i;
    lua_newtable(lua);
    luaL_checkstack(lua, 1, "in function mp_decode_to_lua_array");
    for (i = 1; i <= count && state->error == NULL; i++)
    {
        take_value(lua, state);
        lua_rawseti(lua, -2, (int)i);
    }
}

static void take_map(lua_State* lua, unpack_state* state, uint64_t count)
{
    lua_newtable(lua);
    luaL_checkstack(lua, 3, "in function mp_decode_to_lua_hash");
    for (; count > 0 && state->error == NULL; count--)
    {
        take_value(lua, state);
        take_value(lua, state);
        if (state->error == NULL && lua_isnil(lua, -2)) state->error = not_known;
        if (state->error == NULL) lua_rawset(lua, -3);
        else lua_pop(lua, 2);
    }
}

static void take_double(lua_State* lua, unpack_state* state)
{
    const uint64_t bits = take_number(state, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    lua_pushnumber(lua, value);
}

static void take_float(lua_State* lua, unpack_state* state)
{
    const uint32_t bits = (uint32_t)take_number(state, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    lua_pushnumber(lua, (lua_Number)value);
}

static void take_signed(lua_State* lua, unpack_state* state, unsigned bytes)
{
    const uint64_t value = take_number(state, bytes);
    const unsigned unused = 64 - 8 * bytes;
    lua_pushnumber(lua, (lua_Number)((int64_t)(value << unused) >> unused));
}

static void take_marked(lua_State* lua, unpack_state* state, unsigned mark)
{
    switch (mark)
    {
    case 0xc0: lua_pushnil(lua); break;
    case 0xc2: lua_pushboolean(lua, 0); break;
    case 0xc3: lua_pushboolean(lua, 1); break;
    case 0xca: take_float(lua, state); break;
    case 0xcb: take_double(lua, state); break;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: lua_pushnumber(lua, (lua_Number)take_number(state, 1u << (mark - 0xcc))); break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: take_signed(lua, state, 1u << (mark - 0xd0)); break;
    case 0xd9: take_text(lua, state, (size_t)take_number(state, 1)); break;
    case 0xc4: take_text(lua, state, (size_t)take_number(state, 1)); break;
    case 0xda:
    case 0xc5: take_text(lua, state, (size_t)take_number(state, 2)); break;
    case 0xdb:
    case 0xc6: take_text(lua, state, (size_t)take_number(state, 4)); break;
    case 0xdc: take_row(lua, state, take_number(state, 2)); break;
    case 0xdd: take_row(lua, state, take_number(state, 4)); break;
    case 0xde: take_map(lua, state, take_number(state, 2)); break;
    case 0xdf: take_map(lua, state, take_number(state, 4)); break;
    default:
        state->error = not_known;
        lua_pushnil(lua);
        break;
    }
}

/* Pushes one value, whatever comes. */
static void take_value(lua_State* lua, unpack_state* state)
{
    const unsigned mark = (unsigned)take_number(state, 1);
    luaL_checkstack(lua, 5, "too many return values at once; use unpack_one or unpack_limit instead.");
    if (state->error != NULL) lua_pushnil(lua);
    else if (mark <= 0x7f) lua_pushnumber(lua, mark);
    else if (mark >= 0xe0) lua_pushnumber(lua, (lua_Number)((int)mark - 256));
    else if (mark <= 0x8f) take_map(lua, state, mark & 0xfu);
    else if (mark <= 0x9f) take_row(lua, state, mark & 0xfu);
    else if (mark <= 0xbf) take_text(lua, state, mark & 0x1fu);
    else take_marked(lua, state, mark);
}

static int unpack(lua_State* lua)
{
    unpack_state state = {NULL, 0, NULL};
    int count = 0;
    state.at = (const unsigned char*)luaL_checklstring(lua, 1, &state.left);
    for (; state.left > 0; count++)
    {
        take_value(lua, &state);
        if (state.error != NULL) return luaL_error(lua, "%s", state.error);
    }
    return count;
}

void gh_store_lua_open_pack(gh_store_engine* engine)
{
    lua_State* lua = engine->lua;
    lua_createtable(lua, 0, 2);
    lua_pushlightuserdata(lua, engine);
    lua_pushcclosure(lua, pack, 1);
    lua_setfield(lua, -2, "pack");
    lua_pushcfunction(lua, unpack);
    lua_setfield(lua, -2, "unpack");
    lua_setglobal(lua, "cmsgpack");
}
