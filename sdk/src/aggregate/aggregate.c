/* aggregate.c -- an aggregate's memory, what is counted in it, and the keys that its counts go to. */

#include "aggregate_room.h"

#include "base/bounds.h"
#include "base/sized.h"

#define AGGREGATE_NODES_MAX 16777216u

static const gh_bound aggregate_bounds_rows[] = {
    GH_BOUND(gh_aggregate_config, nodes_capacity, 65536, 1, AGGREGATE_NODES_MAX, GH_INVALID_CAPACITY),
    GH_BOUND(gh_aggregate_config, days_capacity, 3, 1, GH_AGGREGATE_DAYS_MAX, GH_INVALID_CAPACITY)};
static const gh_bounds aggregate_bounds = GH_BOUNDS(gh_aggregate_config, aggregate_bounds_rows);

gh_aggregate_config gh_aggregate_config_default(void)
{
    gh_aggregate_config config;
    gh_bounds_fill(&aggregate_bounds, &config);
    return config;
}

static gh_status aggregate_check(const gh_aggregate_config* config)
{
    gh_status status = gh_bounds_check(&aggregate_bounds, config);
    if (status != GH_OK || config->action.size == 0) return status;
    return config->action.size > GH_NAME_SIZE_MAX || config->action.bytes == NULL ? GH_INVALID_CONFIG : GH_OK;
}

static void* aggregate_cut(gh_arena* arena, const void* settings)
{
    const gh_aggregate_config* config = (const gh_aggregate_config*)settings;
    const size_t count = config->nodes_capacity * (size_t)config->days_capacity;
    gh_aggregate* made = (gh_aggregate*)gh_arena_take(arena, sizeof *made);
    gh_digest_stream* stream = (gh_digest_stream*)gh_arena_take_at_64(arena, sizeof *stream);
    aggregate_day* days = (aggregate_day*)gh_arena_take(arena, sizeof *days * config->days_capacity);
    char* piece = (char*)gh_arena_take(arena, GH_AGGREGATE_PIECE_BYTES);
    uint32_t* counts = (uint32_t*)gh_arena_take_each(arena, sizeof *counts, count);
    if (made == NULL) return NULL;
    made->config = *config;
    made->stream = stream;
    made->days = days;
    made->piece = piece;
    made->counts = counts;
    return made;
}

size_t gh_aggregate_memory(const gh_aggregate_config* config)
{
    const gh_aggregate_config usual = gh_aggregate_config_default();
    if (config == NULL) config = &usual;
    return aggregate_check(config) == GH_OK ? gh_arena_measure(aggregate_cut, config) : 0;
}

gh_status gh_aggregate_init(gh_aggregate** aggregate, const gh_aggregate_config* config, void* memory, size_t size)
{
    const gh_aggregate_config usual = gh_aggregate_config_default();
    gh_aggregate* made;
    gh_status status;
    if (config == NULL) config = &usual;
    status = aggregate_check(config);
    if (status != GH_OK) return status;
    if (aggregate == NULL) return GH_INVALID_OUT;
    made = (gh_aggregate*)gh_arena_cut_from(memory, size, aggregate_cut, config);
    if (made == NULL) return GH_INVALID_MEMORY;
    gh_name_keep(&made->action, config->action);
    made->config.action = gh_str_make(NULL, 0); /* the caller's bytes may go */
    made->magic = GH_AGGREGATE_MAGIC;
    *aggregate = made;
    return GH_OK;
}

gh_status gh_aggregate_start(gh_aggregate* aggregate, const gh_geo* table)
{
    uint32_t i;
    gh_geo_place place;
    if (!gh_aggregate_is_one(aggregate) || aggregate->busy) return GH_INVALID_AGGREGATE;
    /* Nothing but a sealed table can be looked into. */
    if (gh_geo_find(table, gh_str_literal("0.0.0.0"), &place) == GH_INVALID_MEMORY) return GH_INVALID_TABLE;
    if (gh_geo_node_count(table) > aggregate->config.nodes_capacity) return GH_FULL;
    for (i = 0; i < aggregate->day_count; i++)
        memset(gh_aggregate_counts_of(aggregate, &aggregate->days[i]), 0, sizeof(uint32_t) * aggregate->nodes);
    aggregate->table = table;
    aggregate->nodes = gh_geo_node_count(table);
    aggregate->day_count = 0;
    aggregate->last_day = NULL;
    aggregate->carry_size = 0;
    aggregate->full = aggregate->flushed = aggregate->skipping = false;
    aggregate->lines = aggregate->lines_unknown = aggregate->lines_malformed = aggregate->lines_other = 0;
    return GH_OK;
}

gh_status gh_aggregate_read_stats(const gh_aggregate* aggregate, void* stats, size_t size)
{
    gh_aggregate_stats known;
    if (!gh_aggregate_is_one(aggregate)) return GH_INVALID_AGGREGATE;
    if (stats == NULL) return GH_INVALID_OUT;
    memset(&known, 0, sizeof known);
    known.lines = aggregate->lines;
    known.lines_unknown = aggregate->lines_unknown;
    known.lines_malformed = aggregate->lines_malformed;
    known.lines_other = aggregate->lines_other;
    known.days = aggregate->day_count;
    gh_sized_give(stats, size, &known, sizeof known);
    return GH_OK;
}

static bool aggregate_is_below(const gh_geo* table, uint32_t node, uint32_t above)
{
    while (node != GH_GEO_NO_NODE && node != above) node = gh_geo_node_parent(table, node);
    return node == above;
}

uint64_t gh_aggregate_count(const gh_aggregate* aggregate, gh_str day, uint32_t node)
{
    uint64_t sum = 0;
    const uint32_t* counts;
    uint32_t i;
    uint32_t at;
    if (!gh_aggregate_is_one(aggregate) || aggregate->table == NULL || day.size != GH_AGGREGATE_DAY_SIZE) return 0;
    for (i = 0; i < aggregate->day_count && memcmp(aggregate->days[i].text, day.bytes, day.size) != 0;) i++;
    if (i == aggregate->day_count) return 0;
    if (node == GH_GEO_NO_NODE) return aggregate->days[i].unknown;
    if (node >= aggregate->nodes) return 0;
    counts = gh_aggregate_counts_of(aggregate, &aggregate->days[i]);
    for (at = node; at < aggregate->nodes; at++)
        if (gh_geo_node_level(aggregate->table, at) == 2 && aggregate_is_below(aggregate->table, at, node))
            sum += counts[at];
    return sum;
}

void gh_aggregate_encode_keys(gh_request* request, const gh_op* op, gh_str set, const char* day, const char* parts)
{
    char name[GH_NAME_SIZE_MAX];
    memcpy(name, set.bytes, set.size);
    name[set.size] = '.';
    memcpy(name + set.size + 1, day, GH_AGGREGATE_DAY_SIZE);
    gh_request_object_keys(request, op->client, gh_aggregate_kind(),
                           gh_str_make(name, set.size + 1 + GH_AGGREGATE_DAY_SIZE), parts);
}
