/* aggregate_read.c -- the largest totals of a day, page by page. */

#include "aggregate_room.h"

#include "client/object.h"
#include "scripts/aggregate_scripts.h"

#define TOTALS_PAGE_MAX  250u
#define TOTALS_NAME_ROOM (3u * GH_GEO_NAME_SIZE_MAX + 64u) /* of one total in a reply */

static gh_aggregate_read* totals_of(gh_op* op)
{
    return (gh_aggregate_read*)(void*)op;
}

/* As many as one reply has room for. */
static uint32_t totals_page(const gh_aggregate_read* read)
{
    uint32_t by_nodes = (gh_client_reply_nodes(read->op.client) - 4) / 2;
    uint32_t by_bytes = gh_client_reply_bytes(read->op.client) / TOTALS_NAME_ROOM;
    uint32_t left = read->capacity - read->count;
    uint32_t page = by_nodes < by_bytes ? by_nodes : by_bytes;
    if (page > TOTALS_PAGE_MAX) page = TOTALS_PAGE_MAX;
    return left < page ? left : page;
}

static void totals_encode(gh_op* op, gh_request* request)
{
    const gh_aggregate_read* read = totals_of(op);
    char parts[2] = {(char)('0' + read->level), 0};
    gh_request_op_script(request, op, 0, 0);
    gh_aggregate_encode_keys(request, op, gh_name_str(&read->set), read->day, parts);
    gh_request_number(request, op->sequence);
    gh_request_number(request, (uint64_t)read->first + read->count);
    gh_request_number(request, (uint64_t)read->first + read->count + totals_page(read) - 1);
}

/* A score of ours is a whole number; the server may write a large one as 1.2e+17, but none is so large. */
static bool totals_parse_count(gh_str text, uint64_t* count)
{
    uint64_t value = 0;
    size_t i;
    for (i = 0; i < text.size; i++)
    {
        if (text.bytes[i] < '0' || text.bytes[i] > '9') return false;
        value = value * 10 + (uint64_t)(text.bytes[i] - '0');
    }
    *count = value;
    return text.size > 0 && text.size <= 18;
}

/* Cuts "country\tregion\tcity" into as many names as the level has. */
static bool totals_cut(gh_aggregate_total* total, gh_str path, uint32_t level)
{
    gh_str* names[3];
    uint32_t i;
    names[0] = &total->country;
    names[1] = &total->region;
    names[2] = &total->city;
    for (i = 0; i <= level && i < 3; i++)
    {
        const char* tab = path.size == 0 ? NULL : (const char*)memchr(path.bytes, '\t', path.size);
        size_t size = tab == NULL ? path.size : (size_t)(tab - path.bytes);
        if ((tab == NULL) != (i == level)) return false;
        *names[i] = gh_str_make(path.bytes, size);
        if (tab != NULL) path = gh_str_make(tab + 1, path.size - size - 1);
    }
    return true;
}

/* GH_OK, GH_TOO_SMALL, GH_CORRUPT. */
static gh_status totals_keep(gh_aggregate_read* read, const gh_reply* path, const gh_reply* count)
{
    gh_aggregate_total* total = &read->out[read->count];
    char* text = read->text + read->text_used;
    memset(total, 0, sizeof *total);
    if (count == NULL || path->type != GH_REPLY_STRING || count->type != GH_REPLY_STRING) return GH_CORRUPT;
    if (path->text.size > read->text_size - read->text_used) return GH_TOO_SMALL;
    if (path->text.size > 0) memcpy(text, path->text.bytes, path->text.size);
    if (!totals_cut(total, gh_str_make(text, path->text.size), read->level)) return GH_CORRUPT;
    if (!totals_parse_count(count->text, &total->count)) return GH_CORRUPT;
    read->text_used += path->text.size;
    read->count++;
    return GH_OK;
}

static void totals_ask(gh_aggregate_read* read)
{
    gh_op_timer_after(&read->op, read->timeout_us);
    gh_op_send(&read->op, 0);
}

static gh_status totals_answer(gh_op* op, const gh_event* event)
{
    gh_aggregate_read* read = totals_of(op);
    const gh_reply* at;
    uint32_t wanted = totals_page(read);
    uint32_t before = read->count;
    if (event->reply->count > 1 + 2 * wanted) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (at = gh_reply_at(event->reply, GH_AGGREGATE_READ_TOTALS); at != NULL; at = at->next->next)
    {
        gh_status status = totals_keep(read, at, at->next);
        if (status != GH_OK) return status;
    }
    if (read->count - before < wanted || read->count == read->capacity) return read->count > 0 ? GH_OK : GH_EMPTY;
    totals_ask(read);
    return GH_PENDING;
}

static const gh_op_kind totals_kind = {.name = "aggregate",
                                       .step = gh_call_step,
                                       .encode = totals_encode,
                                       .text = &gh_aggregate_read_lua,
                                       .effect = GH_OP_READS,
                                       .trees = gh_tree_read,
                                       .answer = totals_answer};

static const gh_bound totals_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_aggregate_read_config),
    GH_BOUND(gh_aggregate_read_config, level, 0, 0, GH_AGGREGATE_CITY, GH_INVALID_LEVEL),
    GH_BOUND(gh_aggregate_read_config, total_count, 0, 1, GH_AGGREGATE_TOTALS_MAX, GH_INVALID_TOTALS)};
static const gh_bounds totals_bounds = GH_BOUNDS(gh_aggregate_read_config, totals_bounds_rows);

gh_aggregate_read_config gh_aggregate_read_config_default(void)
{
    gh_aggregate_read_config config;
    gh_bounds_fill(&totals_bounds, &config);
    return config;
}

static gh_status totals_check(gh_str set, gh_str day, const gh_aggregate_read_config* config)
{
    if (set.size > GH_AGGREGATE_SET_SIZE_MAX) return GH_INVALID_NAME;
    if (day.bytes == NULL || day.size != GH_AGGREGATE_DAY_SIZE || !gh_aggregate_is_day(day.bytes))
        return GH_INVALID_DAY;
    return config->totals == NULL || config->text == NULL || config->text_size == 0 ? GH_INVALID_TOTALS : GH_OK;
}

static gh_status aggregate_read_try(gh_aggregate_read* op, gh_client* client, gh_str set, gh_str day,
                                    const gh_aggregate_read_config* config)
{
    gh_status status = gh_named_check((gh_op*)op, client, set, &totals_bounds, config);
    if (status == GH_OK) status = totals_check(set, day, config);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    op->totals = op->out = config->totals;
    op->capacity = (uint32_t)config->total_count;
    op->first = config->first;
    gh_name_keep(&op->set, set);
    op->text = config->text;
    op->text_size = config->text_size;
    op->timeout_us = config->timeout_us;
    op->level = (uint8_t)config->level;
    memcpy(op->day, day.bytes, sizeof op->day);
    gh_call_begin(&op->op, client, &totals_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_aggregate_read_begin(gh_aggregate_read* op, gh_client* client, gh_str set, gh_str day,
                                  const gh_aggregate_read_config* config)
{
    return gh_op_begun((gh_op*)op, client, aggregate_read_try(op, client, set, day, config));
}
