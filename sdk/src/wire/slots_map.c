/* slots_map.c -- owners of slots, by words of which the first since the question holds. */

#include "wire/slots_map.h"

#include "base/hash.h"

#define SLOTS_WORD_BITS 64u
#define SLOTS_WORDS     (GH_SLOTS / SLOTS_WORD_BITS)

static void slots_map_clear(gh_slots_map* map)
{
    uint32_t slot;
    for (slot = 0; slot < GH_SLOTS; slot++) map->owners[slot] = GH_SLOTS_NOBODY;
}

bool gh_slots_map_take(gh_slots_map* map, gh_arena* arena, uint32_t capacity)
{
    memset(map, 0, sizeof *map);
    map->owners = gh_arena_take(arena, GH_SLOTS * sizeof *map->owners);
    map->settled = gh_arena_take(arena, SLOTS_WORDS * sizeof *map->settled);
    map->hashes = gh_arena_take(arena, capacity * sizeof *map->hashes);
    map->nodes = gh_arena_take(arena, capacity * sizeof *map->nodes);
    map->capacity = capacity;
    if (map->owners == NULL || map->settled == NULL || map->hashes == NULL || map->nodes == NULL) return false;
    slots_map_clear(map);
    return true;
}

void gh_slots_map_begin(gh_slots_map* map)
{
    memset(map->settled, 0, SLOTS_WORDS * sizeof *map->settled);
    memset(&map->seen, 0, sizeof map->seen);
    map->number++;
}

/* Never 0. */
static uint32_t slots_map_hash(gh_endpoint endpoint)
{
    return (uint32_t)gh_hash_seeded(endpoint.host.bytes, endpoint.host.size, endpoint.port) | 1u;
}

static bool slots_map_is_node(const gh_slots_node* node, gh_endpoint endpoint)
{
    return node->port == endpoint.port && gh_str_equal(gh_str_make(node->host, node->host_size), endpoint.host);
}

/* A new node, at a free place. */
static uint16_t slots_map_add(gh_slots_map* map, uint32_t place, gh_endpoint endpoint, uint32_t hash)
{
    gh_slots_node* node = &map->nodes[place];
    map->hashes[place] = hash;
    node->port = endpoint.port;
    node->host_size = (uint8_t)endpoint.host.size;
    node->name_size = 0;
    memcpy(node->host, endpoint.host.bytes, endpoint.host.size);
    return (uint16_t)place;
}

uint16_t gh_slots_map_find(gh_slots_map* map, gh_endpoint endpoint, gh_str asked)
{
    uint32_t free_place = map->capacity;
    uint32_t place;
    uint32_t hash;
    if (endpoint.kind == GH_ENDPOINT_ASKED) endpoint = gh_endpoint_make(asked, endpoint.port);
    if (endpoint.kind != GH_ENDPOINT_GIVEN) return GH_SLOTS_NOBODY;
    hash = slots_map_hash(endpoint);
    for (place = 0; place < map->capacity; place++)
    {
        if (map->hashes[place] == hash && slots_map_is_node(&map->nodes[place], endpoint)) break;
        if (map->hashes[place] == 0 && free_place == map->capacity) free_place = place;
    }
    if (place == map->capacity)
    {
        if (free_place == map->capacity) return GH_SLOTS_NO_ROOM;
        place = slots_map_add(map, free_place, endpoint, hash);
    }
    map->nodes[place].map = map->number;
    return (uint16_t)place;
}

/* Bits of a word for those of its slots that are in the range. */
static uint64_t slots_map_bits(uint32_t word, uint32_t first, uint32_t last)
{
    uint32_t from = word * SLOTS_WORD_BITS;
    uint64_t bits = UINT64_MAX;
    if (first > from) bits &= UINT64_MAX << (first - from);
    if (last < from + SLOTS_WORD_BITS - 1) bits &= UINT64_MAX >> (from + SLOTS_WORD_BITS - 1 - last);
    return bits;
}

static void slots_map_give(gh_slots_map* map, uint16_t* slot, uint16_t owner, gh_slots_gained how)
{
    if (*slot != owner && owner < map->capacity) map->nodes[owner].gained |= (uint8_t)how;
    *slot = owner;
}

/* All that is in a range and has not had its word. A word of 64 slots a step, as a bad server may send a thousand rows
   of all slots at once. False if there was one that had. */
static bool slots_map_settle(gh_slots_map* map, uint32_t first, uint32_t last, uint16_t owner)
{
    bool is_first_word = true;
    uint32_t word;
    for (word = first / SLOTS_WORD_BITS; word <= last / SLOTS_WORD_BITS; word++)
    {
        uint64_t bits = slots_map_bits(word, first, last);
        uint64_t fresh = bits & ~map->settled[word];
        uint16_t* owners = map->owners + (size_t)word * SLOTS_WORD_BITS;
        map->settled[word] |= bits;
        if (fresh != bits) is_first_word = false;
        for (; fresh != 0; fresh >>= 1, owners++)
            if (fresh & 1u) slots_map_give(map, owners, owner, GH_SLOTS_GAINED_BY_ROW);
    }
    return is_first_word;
}

static void slots_map_note_name(gh_slots_map* map, uint16_t place, const gh_slots_row* row)
{
    gh_slots_node* node;
    if (place >= map->capacity) return;
    node = &map->nodes[place];
    node->name_size = row->name_size;
    memcpy(node->name, row->name, row->name_size);
}

uint16_t gh_slots_map_row(gh_slots_map* map, const gh_slots_row* row, gh_str asked)
{
    uint16_t owner;
    map->seen.rows++;
    if (!row->is_good)
    {
        map->seen.bad_rows++;
        return GH_SLOTS_NOBODY;
    }
    owner = gh_slots_map_find(map, gh_slots_row_endpoint(row), asked);
    if (owner == GH_SLOTS_NOBODY) map->seen.unreachable++;
    if (owner == GH_SLOTS_NO_ROOM) map->seen.without_room++;
    slots_map_note_name(map, owner, row);
    if (!slots_map_settle(map, row->first, row->last, owner)) map->seen.overlapping++;
    return owner;
}

uint16_t gh_slots_map_moved(gh_slots_map* map, uint16_t slot, gh_endpoint endpoint, gh_str asked)
{
    uint16_t owner = gh_slots_map_find(map, endpoint, asked);
    if (slot >= GH_SLOTS) return GH_SLOTS_NOBODY;
    map->settled[slot / SLOTS_WORD_BITS] |= UINT64_C(1) << slot % SLOTS_WORD_BITS;
    slots_map_give(map, &map->owners[slot], owner, GH_SLOTS_GAINED_BY_MOVED);
    return owner;
}

void gh_slots_map_end(gh_slots_map* map)
{
    uint32_t word;
    map->seen.gaps = 0;
    for (word = 0; word < SLOTS_WORDS; word++)
    {
        uint16_t* owners = map->owners + (size_t)word * SLOTS_WORD_BITS;
        uint64_t left = ~map->settled[word];
        for (; left != 0; left >>= 1, owners++)
        {
            if ((left & 1u) == 0) continue;
            *owners = GH_SLOTS_NOBODY;
            map->seen.gaps++;
        }
    }
}

bool gh_slots_map_names(const gh_slots_map* map, uint32_t place)
{
    return place < map->capacity && map->hashes[place] != 0 && map->nodes[place].map == map->number;
}

bool gh_slots_map_is_only(const gh_slots_map* map, uint32_t place, uint16_t slot)
{
    uint32_t other;
    for (other = 0; other < GH_SLOTS; other++)
        if (map->owners[other] == place && other != slot) return false;
    return true;
}

void gh_slots_map_forget(gh_slots_map* map, uint32_t place)
{
    uint32_t slot;
    if (place >= map->capacity) return;
    for (slot = 0; slot < GH_SLOTS; slot++)
        if (map->owners[slot] == place) map->owners[slot] = GH_SLOTS_NOBODY;
    map->hashes[place] = 0;
    memset(&map->nodes[place], 0, sizeof map->nodes[place]);
}
