/* geo_search.c -- a table of places: its memory, its seal, and the search in it. */

#include "guildhall/geo.h"

#include "base/arena.h"
#include "base/bounds.h"
#include "base/sized.h"
#include "geo/geo_table.h"

#define GEO_CAPACITY_MAX 16777216u
#define GEO_TEXT_MAX     1073741824u

/* So few ranges are all compared: a wrong guess of where a search goes costs a processor more. */
#define GEO_COMPARED_MAX 4u

static const gh_bound geo_rows[] = {
    GH_BOUND(gh_geo_config, ipv4_capacity, 65536, 0, GEO_CAPACITY_MAX, GH_INVALID_CAPACITY),
    GH_BOUND(gh_geo_config, ipv6_capacity, 16384, 0, GEO_CAPACITY_MAX, GH_INVALID_CAPACITY),
    GH_BOUND(gh_geo_config, nodes_capacity, 16384, 3, GEO_CAPACITY_MAX, GH_INVALID_CAPACITY),
    GH_BOUND(gh_geo_config, text_bytes, 256 * 1024, 1, GEO_TEXT_MAX, GH_INVALID_CAPACITY)};
static const gh_bounds geo_bounds = GH_BOUNDS(gh_geo_config, geo_rows);

gh_geo_config gh_geo_config_default(void)
{
    gh_geo_config config;
    gh_bounds_fill(&geo_bounds, &config);
    config.columns.last = 1;
    config.columns.country = 2;
    config.columns.region = 3;
    config.columns.city = 4;
    return config;
}

/* Takes the columns over, and looks at them: in range, and each another. */
static bool geo_set_columns(gh_geo* table)
{
    const gh_geo_columns* columns = &table->config.columns;
    uint32_t i;
    uint32_t k;
    table->columns[0] = columns->first;
    table->columns[1] = columns->last;
    table->columns[2] = columns->country;
    table->columns[3] = columns->region;
    table->columns[4] = columns->city;
    table->column_last = 0;
    for (i = 0; i < 5; i++)
    {
        uint8_t column = table->columns[i];
        if (i > 2 && column == GH_GEO_NO_COLUMN) continue;
        if (column > GH_GEO_COLUMN_MAX) return false;
        for (k = 0; k < i; k++)
            if (table->columns[k] == column) return false;
        if (column > table->column_last) table->column_last = column;
    }
    return true;
}

static gh_status geo_check_config(const gh_geo_config* config)
{
    gh_geo looked;
    gh_status status = gh_bounds_check(&geo_bounds, config);
    if (status != GH_OK) return status;
    memset(&looked, 0, sizeof looked);
    looked.config = *config;
    return geo_set_columns(&looked) ? GH_OK : GH_INVALID_CONFIG;
}

/* Two slots a node or more, so that few steps find one. */
static uint32_t geo_slots_for(uint32_t nodes)
{
    uint32_t slots = 8;
    while (slots < nodes * 2) slots *= 2;
    return slots;
}

/* About four ranges a bucket. */
static uint32_t geo_index_bits_for(uint32_t ranges)
{
    uint32_t bits = 4;
    while (bits < 22 && ranges >> bits > 4) bits++;
    return bits;
}

static void* geo_cut(gh_arena* arena, const void* settings)
{
    const gh_geo_config* config = (const gh_geo_config*)settings;
    uint32_t slots = geo_slots_for(config->nodes_capacity);
    gh_geo table;
    gh_geo* made = (gh_geo*)gh_arena_take(arena, sizeof *made);
    memset(&table, 0, sizeof table);
    table.config = *config;
    table.ranges4 = (geo_range4*)gh_arena_take(arena, sizeof(geo_range4) * config->ipv4_capacity);
    table.ranges6 = (geo_range6*)gh_arena_take(arena, sizeof(geo_range6) * config->ipv6_capacity);
    table.index_bits4 = geo_index_bits_for(config->ipv4_capacity);
    table.index_bits6 = geo_index_bits_for(config->ipv6_capacity);
    table.index4 = (uint32_t*)gh_arena_take(arena, sizeof(uint32_t) * (((size_t)1 << table.index_bits4) + 1));
    table.index6 = (uint32_t*)gh_arena_take(arena, sizeof(uint32_t) * (((size_t)1 << table.index_bits6) + 1));
    table.nodes = (geo_node*)gh_arena_take(arena, sizeof(geo_node) * config->nodes_capacity);
    table.node_slots = (uint32_t*)gh_arena_take(arena, sizeof(uint32_t) * slots);
    table.text = (char*)gh_arena_take(arena, config->text_bytes);
    table.node_slot_mask = slots - 1;
    if (made != NULL) *made = table;
    return made;
}

size_t gh_geo_memory(const gh_geo_config* config)
{
    const gh_geo_config usual = gh_geo_config_default();
    if (config == NULL) config = &usual;
    return geo_check_config(config) == GH_OK ? gh_arena_measure(geo_cut, config) : 0;
}

gh_status gh_geo_init(gh_geo** table, const gh_geo_config* config, void* memory, size_t size)
{
    const gh_geo_config usual = gh_geo_config_default();
    gh_geo* made;
    gh_status status;
    if (config == NULL) config = &usual;
    status = geo_check_config(config);
    if (status != GH_OK) return status;
    if (table == NULL) return GH_INVALID_OUT;
    made = (gh_geo*)gh_arena_cut_from(memory, size, geo_cut, config);
    if (made == NULL) return GH_INVALID_MEMORY;
    geo_set_columns(made);
    made->magic = GEO_MAGIC;
    *table = made;
    return GH_OK;
}

void gh_geo_clear(gh_geo* table)
{
    gh_geo empty;
    if (table == NULL || table->magic != GEO_MAGIC) return;
    memset(&empty, 0, sizeof empty);
    empty.magic = table->magic;
    empty.config = table->config;
    geo_set_columns(&empty);
    empty.ranges4 = table->ranges4;
    empty.ranges6 = table->ranges6;
    empty.index4 = table->index4;
    empty.index6 = table->index6;
    empty.index_bits4 = table->index_bits4;
    empty.index_bits6 = table->index_bits6;
    empty.nodes = table->nodes;
    empty.node_slots = table->node_slots;
    empty.node_slot_mask = table->node_slot_mask;
    empty.text = table->text;
    memset(empty.node_slots, 0, sizeof(uint32_t) * (empty.node_slot_mask + 1));
    *table = empty;
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

uint32_t gh_geo_find_ipv4(const gh_geo* table, uint32_t address)
{
    uint32_t bucket = address >> (32 - table->index_bits4);
    uint32_t begin = table->index4[bucket];
    uint32_t left = table->index4[bucket + 1] - begin;
    const geo_range4* range = table->ranges4 + begin;
    uint32_t behind = 0;
    uint32_t i;
    while (left > GEO_COMPARED_MAX) /* how many of them begin at the address or before */
    {
        uint32_t half = left / 2;
        bool is_behind = range[half].first <= address;
        range = is_behind ? range + half + 1 : range;
        left = is_behind ? left - half - 1 : half;
    }
    for (i = 0; i < left; i++) behind += range[i].first <= address ? 1u : 0u;
    range += behind;
    if (range == table->ranges4) return GH_GEO_NO_NODE;
    return address <= range[-1].last ? range[-1].node : GH_GEO_NO_NODE;
}

uint32_t gh_geo_find_ipv6(const gh_geo* table, uint64_t high, uint64_t low)
{
    const geo_number address = {high, low};
    uint64_t bucket = high >> (64 - table->index_bits6);
    uint32_t begin = table->index6[bucket];
    uint32_t left = table->index6[bucket + 1] - begin;
    const geo_range6* range = table->ranges6 + begin;
    while (left > 0)
    {
        uint32_t half = left / 2;
        bool is_behind = !geo_is_before(address, range[half].first);
        range = is_behind ? range + half + 1 : range;
        left = is_behind ? left - half - 1 : half;
    }
    if (range == table->ranges6) return GH_GEO_NO_NODE;
    return geo_is_before(range[-1].last, address) ? GH_GEO_NO_NODE : range[-1].node;
}

gh_status gh_geo_find(const gh_geo* table, gh_str text, gh_geo_place* place)
{
    gh_geo_address address;
    uint32_t region;
    if (!geo_is_sealed(table)) return GH_INVALID_MEMORY;
    if (place == NULL) return GH_INVALID_OUT;
    if (gh_geo_parse(text, &address) != GH_OK) return GH_INVALID_ADDRESS;
    memset(place, 0, sizeof *place);
    place->node = address.is_ipv6 ? gh_geo_find_ipv6(table, address.high, address.low)
                                  : gh_geo_find_ipv4(table, (uint32_t)address.low);
    if (place->node == GH_GEO_NO_NODE) return GH_EMPTY;
    region = gh_geo_node_parent(table, place->node);
    place->city = gh_geo_node_name(table, place->node);
    place->region = gh_geo_node_name(table, region);
    place->country = gh_geo_node_name(table, gh_geo_node_parent(table, region));
    return GH_OK;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool geo_is_node(const gh_geo* table, uint32_t node)
{
    return table != NULL && table->magic == GEO_MAGIC && node < table->node_count;
}

uint32_t gh_geo_node_count(const gh_geo* table)
{
    return table != NULL && table->magic == GEO_MAGIC ? table->node_count : 0;
}

uint32_t gh_geo_node_parent(const gh_geo* table, uint32_t node)
{
    return geo_is_node(table, node) ? table->nodes[node].parent : GH_GEO_NO_NODE;
}

uint32_t gh_geo_node_level(const gh_geo* table, uint32_t node)
{
    return geo_is_node(table, node) ? table->nodes[node].level : 0;
}

gh_str gh_geo_node_name(const gh_geo* table, uint32_t node)
{
    if (!geo_is_node(table, node)) return gh_str_make("", 0);
    return gh_str_make(table->text + table->nodes[node].text_at, table->nodes[node].text_size);
}

gh_status gh_geo_read_stats(const gh_geo* table, void* stats, size_t size)
{
    gh_geo_stats known;
    if (table == NULL || table->magic != GEO_MAGIC) return GH_INVALID_MEMORY;
    if (stats == NULL) return GH_INVALID_OUT;
    memset(&known, 0, sizeof known);
    known.ipv4_ranges = table->count4;
    known.ipv6_ranges = table->count6;
    known.nodes = table->node_count;
    known.text_bytes = table->text_used;
    known.rows = table->rows;
    known.rows_malformed = table->rows_malformed;
    known.ranges_overlapping = table->overlapping;
    gh_sized_give(stats, size, &known, sizeof known);
    return GH_OK;
}

/* ---- hot swap ---------------------------------------------------------------------------------------------------- */

gh_status gh_geo_offer(gh_geo_slot* slot, gh_geo* table)
{
    if (slot == NULL) return GH_INVALID_OP;
    if (!geo_is_sealed(table)) return GH_INVALID_MEMORY;
    if (slot->offered != NULL) return GH_BUSY;
    slot->offered = table;
    return GH_OK;
}

gh_geo* gh_geo_turn(gh_geo_slot* slot)
{
    gh_geo* old;
    if (slot == NULL || slot->offered == NULL) return NULL;
    old = slot->current == slot->offered ? NULL : slot->current;
    slot->current = slot->offered;
    slot->offered = NULL;
    return old;
}
