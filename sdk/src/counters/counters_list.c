/* counters_list.c -- the names of the counters that the store has, shard by shard. */

#include "base/hash.h"
#include "client/op.h"
#include "client/refusal.h"
#include "counters_state.h"
#include "wire/name.h"

#define COUNTERS_LIST_COUNT    100u
#define COUNTERS_LIST_PAGE_MIN 64u /* though fewer are wanted: most may be names of nothing */
#define COUNTERS_LIST_PAGE_MAX 500u
#define COUNTERS_LIST_ROOM     256u /* bytes of a reply beside the names */

static gh_counters_list* counters_list_of(gh_op* op)
{
    return (gh_counters_list*)(void*)op;
}

static uint32_t counters_list_page(const gh_counters_list* list)
{
    const uint32_t left = list->name_count - list->count;
    const uint32_t wanted = left > COUNTERS_LIST_PAGE_MIN ? left : COUNTERS_LIST_PAGE_MIN;
    uint32_t by_nodes = gh_client_reply_nodes(list->op.client) - 1;
    uint32_t by_bytes = (gh_client_reply_bytes(list->op.client) - COUNTERS_LIST_ROOM) / (GH_COUNTERS_NAME_SIZE_MAX + 1);
    uint32_t page = by_nodes < by_bytes ? by_nodes : by_bytes;
    if (page > COUNTERS_LIST_PAGE_MAX) page = COUNTERS_LIST_PAGE_MAX;
    return page < wanted ? page : wanted;
}

/* ZRANGE key first last: no script, as it is one command that reads. */
static void counters_list_encode(gh_op* op, gh_request* request)
{
    const gh_counters_list* list = counters_list_of(op);
    gh_request_array(request, 4);
    gh_request_str(request, gh_str_literal("ZRANGE"));
    gh_request_shard_key(request, op->client, gh_counters_kind(), list->shard, gh_str_literal("k"),
                         gh_str_make(NULL, 0));
    gh_request_number(request, list->place);
    gh_request_number(request, (uint64_t)list->place + counters_list_page(list) - 1);
}

/* The name of a counter of this shard, as it stands in its keys. False: it is none. */
static bool counters_list_decode(gh_str text, uint32_t shard, gh_name* name)
{
    return gh_name_decode(text, name) && gh_hash_shard(name->bytes, name->size, GH_COUNTERS_SHARDS) == shard;
}

/* Goes behind those that are looked at: all, or as many as there is room for. False: a value is no text. */
static bool counters_list_take(gh_counters_list* list, const gh_reply* value)
{
    for (; value != NULL && list->count < list->name_count; value = value->next, list->place++)
    {
        if (value->type != GH_REPLY_STRING) return false;
        if (counters_list_decode(value->text, list->shard, &list->names[list->count])) list->count++;
    }
    return true;
}

static gh_status counters_list_answer(gh_op* op, const gh_event* event)
{
    gh_counters_list* list = counters_list_of(op);
    const uint32_t asked = counters_list_page(list);
    const uint32_t came = event->reply->count;
    const uint32_t from = list->place;
    if (came > asked || !counters_list_take(list, event->reply->first)) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    if (came < asked && list->place == from + came)
    {
        list->place = 0;
        list->shard++;
    }
    if (list->shard < GH_COUNTERS_SHARDS && list->count < list->name_count)
    {
        gh_op_send(op, 0);
        return GH_PENDING;
    }
    if (list->shard < GH_COUNTERS_SHARDS) list->next = (uint64_t)list->shard << 32 | list->place;
    return list->count > 0 ? GH_OK : GH_EMPTY;
}

static const gh_op_kind counters_list_kind = {.name = "counters",
                                              .step = gh_call_step,
                                              .encode = counters_list_encode,
                                              .effect = GH_OP_READS,
                                              .answer = counters_list_answer,
                                              .answers_array = true,
                                              .trees = gh_tree_read};

static const gh_bound counters_list_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_counters_list_config),
    GH_BOUND(gh_counters_list_config, name_count, COUNTERS_LIST_COUNT, 1, GH_COUNTERS_LIST_MAX, GH_INVALID_LIMIT),
    GH_BOUND(gh_counters_list_config, after, 0, 0, ((uint64_t)GH_COUNTERS_SHARDS << 32) - 1, GH_INVALID_LIMIT)};
static const gh_bounds counters_list_bounds = GH_BOUNDS(gh_counters_list_config, counters_list_bounds_rows);

gh_counters_list_config gh_counters_list_config_default(void)
{
    gh_counters_list_config config;
    gh_bounds_fill(&counters_list_bounds, &config);
    return config;
}

static gh_status counters_list_check(const gh_counters_list_config* config, gh_client* client)
{
    gh_status status = gh_refusal_check(&counters_list_bounds, config, client);
    return status == GH_OK && config->names == NULL ? GH_INVALID_OUT : status;
}

static gh_status counters_list_try(gh_counters_list* op, gh_client* client, const gh_counters_list_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    status = counters_list_check(config, client);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    op->names = config->names;
    op->name_count = config->name_count;
    op->shard = (uint32_t)(config->after >> 32);
    op->place = (uint32_t)(config->after & UINT32_MAX);
    gh_call_begin(&op->op, client, &counters_list_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_counters_list_begin(gh_counters_list* op, gh_client* client, const gh_counters_list_config* config)
{
    return gh_op_begun((gh_op*)op, client, counters_list_try(op, client, config));
}
