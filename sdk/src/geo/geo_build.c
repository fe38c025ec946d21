/* geo_build.c -- ranges and nodes come in; sealing sorts the ranges, drops overlaps and makes the index in steps. */

#include "base/hash.h"
#include "geo/geo_table.h"

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool geo_node_is(const gh_geo* table, uint32_t node, uint32_t parent, gh_str name)
{
    const geo_node* at = &table->nodes[node];
    return at->parent == parent && at->text_size == name.size &&
           (name.size == 0 || memcmp(table->text + at->text_at, name.bytes, name.size) == 0);
}

/* The node of that name below parent, made if need be; GH_GEO_NO_NODE: full. */
static uint32_t geo_intern(gh_geo* table, uint32_t parent, uint16_t level, gh_str name)
{
    uint64_t hash =
        gh_hash_seeded(name.bytes, name.size, table->config.seed ^ ((uint64_t)parent + 1) * 0x9e3779b97f4a7c15ull);
    uint32_t slot = (uint32_t)hash & table->node_slot_mask;
    geo_node* node;
    for (; table->node_slots[slot] != 0; slot = (slot + 1) & table->node_slot_mask)
        if (geo_node_is(table, table->node_slots[slot] - 1, parent, name)) return table->node_slots[slot] - 1;
    if (table->node_count == table->config.nodes_capacity || name.size > table->config.text_bytes - table->text_used)
        return GH_GEO_NO_NODE;
    node = &table->nodes[table->node_count];
    node->parent = parent;
    node->level = level;
    node->text_at = table->text_used;
    node->text_size = (uint16_t)name.size;
    if (name.size > 0) memcpy(table->text + table->text_used, name.bytes, name.size);
    table->text_used += (uint32_t)name.size;
    table->node_slots[slot] = ++table->node_count;
    return table->node_count - 1;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void geo_put4(gh_geo* table, const gh_geo_address* first, const gh_geo_address* last, uint32_t node)
{
    geo_range4* range = &table->ranges4[table->count4++];
    range->first = (uint32_t)first->low;
    range->last = (uint32_t)last->low;
    range->node = node;
    if (table->count4 > 1 && range->first <= range[-1].first) table->unsorted4 = true;
}

static void geo_put6(gh_geo* table, const gh_geo_address* first, const gh_geo_address* last, uint32_t node)
{
    geo_range6* range = &table->ranges6[table->count6++];
    range->first.high = first->high;
    range->first.low = first->low;
    range->last.high = last->high;
    range->last.low = last->low;
    range->node = node;
    if (table->count6 > 1 && !geo_is_before(range[-1].first, range->first)) table->unsorted6 = true;
}

gh_status gh_geo_add_range(gh_geo* table, const gh_geo_address* first, const gh_geo_address* last,
                           const gh_str names[3])
{
    const geo_number from = {first->high, first->low};
    const geo_number to = {last->high, last->low};
    uint32_t node = GH_GEO_NO_NODE;
    uint16_t level;
    if (first->is_ipv6 != last->is_ipv6 || geo_is_before(to, from)) return GH_INVALID_ADDRESS;
    if (first->is_ipv6 && table->count6 == table->config.ipv6_capacity) return GH_FULL_IPV6;
    if (!first->is_ipv6 && table->count4 == table->config.ipv4_capacity) return GH_FULL_IPV4;
    for (level = 0; level < 3; level++)
    {
        node = geo_intern(table, node, level, names[level]);
        if (node == GH_GEO_NO_NODE)
            return table->node_count == table->config.nodes_capacity ? GH_FULL_NODES : GH_FULL_TEXT;
    }
    if (first->is_ipv6) geo_put6(table, first, last, node);
    else geo_put4(table, first, last, node);
    return GH_OK;
}

gh_status gh_geo_add(gh_geo* table, gh_str first, gh_str last, gh_str country, gh_str region, gh_str city)
{
    const gh_str names[3] = {country, region, city};
    gh_geo_address from;
    gh_geo_address to;
    int i;
    if (!geo_is_building(table)) return GH_INVALID_MEMORY;
    if (gh_geo_parse(first, &from) != GH_OK || gh_geo_parse(last, &to) != GH_OK) return GH_INVALID_ADDRESS;
    for (i = 0; i < 3; i++)
        if (names[i].size > GH_GEO_NAME_SIZE_MAX || (names[i].bytes == NULL && names[i].size > 0))
            return GH_INVALID_NAME;
    return gh_geo_add_range(table, &from, &to, names);
}

/* ---- sealing: one heapsort for both kinds of ranges, resumable at any element ------------------------------------ */

static uint32_t geo_count(const gh_geo* table)
{
    return table->sealing_ipv6 ? table->count6 : table->count4;
}

static bool geo_is_less(const gh_geo* table, uint32_t a, uint32_t b)
{
    if (table->sealing_ipv6) return geo_is_before(table->ranges6[a].first, table->ranges6[b].first);
    return table->ranges4[a].first < table->ranges4[b].first;
}

static void geo_swap(gh_geo* table, uint32_t a, uint32_t b)
{
    if (table->sealing_ipv6)
    {
        geo_range6 kept = table->ranges6[a];
        table->ranges6[a] = table->ranges6[b];
        table->ranges6[b] = kept;
    }
    else
    {
        geo_range4 kept = table->ranges4[a];
        table->ranges4[a] = table->ranges4[b];
        table->ranges4[b] = kept;
    }
}

static void geo_sift(gh_geo* table, uint32_t at, uint32_t count)
{
    for (;;)
    {
        uint32_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && geo_is_less(table, child, child + 1)) child++;
        if (!geo_is_less(table, at, child)) return;
        geo_swap(table, at, child);
        at = child;
    }
}

static geo_number geo_first_of(const gh_geo* table, uint32_t at)
{
    geo_number number = {0, 0};
    if (table->sealing_ipv6) return table->ranges6[at].first;
    number.low = table->ranges4[at].first;
    return number;
}

static geo_number geo_last_of(const gh_geo* table, uint32_t at)
{
    geo_number number = {0, 0};
    if (table->sealing_ipv6) return table->ranges6[at].last;
    number.low = table->ranges4[at].last;
    return number;
}

/* Keeps the range at `at` if it begins behind the last one that was kept. */
static void geo_check_one(gh_geo* table)
{
    uint32_t at = table->at++;
    if (table->kept > 0 && !geo_is_before(geo_last_of(table, table->kept - 1), geo_first_of(table, at)))
    {
        table->overlapping++;
        return;
    }
    if (at != table->kept) geo_swap(table, at, table->kept);
    table->kept++;
}

static uint32_t geo_bucket_of(const gh_geo* table, uint32_t at)
{
    if (table->sealing_ipv6) return (uint32_t)(table->ranges6[at].first.high >> (64 - table->index_bits6));
    return table->ranges4[at].first >> (32 - table->index_bits4);
}

/* One bucket, or one range that it goes past. */
static void geo_index_one(gh_geo* table)
{
    uint32_t* index = table->sealing_ipv6 ? table->index6 : table->index4;
    if (table->position < geo_count(table) && geo_bucket_of(table, table->position) < table->at) table->position++;
    else index[table->at++] = table->position;
}

static void geo_enter(gh_geo* table, geo_phase phase, uint32_t at)
{
    table->phase = phase;
    table->at = at;
    table->kept = table->position = 0;
}

static void geo_sort_one(gh_geo* table)
{
    if (table->at <= 1)
    {
        geo_enter(table, GEO_CHECKING, 0);
        return;
    }
    geo_swap(table, 0, --table->at);
    geo_sift(table, 0, table->at);
}

/* All are checked: what overlapped is out. */
static void geo_checked(gh_geo* table)
{
    if (table->sealing_ipv6) table->count6 = table->kept;
    else table->count4 = table->kept;
    geo_enter(table, GEO_INDEXING, 0);
}

/* This kind of address is through; the other one comes next, or all is done. */
static void geo_indexed(gh_geo* table)
{
    geo_enter(table, table->sealing_ipv6 ? GEO_SEALED : GEO_STARTING, 0);
    table->sealing_ipv6 = !table->sealing_ipv6;
}

/* One element of the present phase, and into the next one when it is through. */
static void geo_seal_one(gh_geo* table)
{
    uint32_t count = geo_count(table);
    switch (table->phase)
    {
    case GEO_BUILDING: geo_enter(table, GEO_STARTING, 0); break;
    case GEO_STARTING:
        if (table->sealing_ipv6 ? table->unsorted6 : table->unsorted4) geo_enter(table, GEO_HEAPING, count / 2);
        else geo_enter(table, GEO_CHECKING, 0);
        break;
    case GEO_HEAPING:
        if (table->at == 0) geo_enter(table, GEO_SORTING, count);
        else geo_sift(table, --table->at, count);
        break;
    case GEO_SORTING: geo_sort_one(table); break;
    case GEO_CHECKING:
        if (table->at < count) geo_check_one(table);
        else geo_checked(table);
        break;
    case GEO_INDEXING:
        if (table->at <= 1u << (table->sealing_ipv6 ? table->index_bits6 : table->index_bits4)) geo_index_one(table);
        else geo_indexed(table);
        break;
    case GEO_SEALED: break;
    }
}

gh_status gh_geo_seal(gh_geo* table, uint32_t steps_max)
{
    uint32_t steps;
    if (table == NULL || table->magic != GEO_MAGIC) return GH_INVALID_MEMORY;
    for (steps = 0; table->phase != GEO_SEALED && (steps_max == 0 || steps < steps_max); steps++) geo_seal_one(table);
    return table->phase == GEO_SEALED ? GH_OK : GH_PENDING;
}
