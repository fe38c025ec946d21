/* aggregate_flush.c -- from counts in memory to totals in the store, once.

       PREPARING each day: sum up, digest --> LOOKING at each day --> [ STAGING piece by piece --> ADDING
       piece by piece ] each day --> LOOKING again, if there are several days: are all still there?

   The pieces of a day are its nodes in order, those with a count, in lines; piece n can be made again at any
   time, so nothing but one piece needs memory. All days are looked at before the first is staged: a file that
   was counted with other sums is told before anything of it is added. If the store has lost what was staged or
   added, the next look finds it, and what is not there is staged and added again: the file is in the totals
   that are there, once. */

#include "aggregate_room.h"

#include "client/refusal.h"
#include "scripts/aggregate_scripts.h"

#define FLUSH_TIME_MIN_US    1000ull
#define FLUSH_TIME_MAX_US    86400000000ull
#define FLUSH_KEEP_MIN_US    3600000000ull
#define FLUSH_KEEP_MAX_US    3155760000000000ull
#define FLUSH_OUT_ROOM       16384u
#define FLUSH_NODES_PER_LOOK 256u /* between two looks at the tick's budget */
#define FLUSH_LINE_ROOM      (3u * GH_GEO_NAME_SIZE_MAX + 32u)

#define FLUSH_PIECES_MAX 16777217
#define FLUSH_LOOKS_MAX  8u /* that found less than the one before */

typedef enum flush_state
{
    FLUSH_PREPARING = 1,
    FLUSH_LOOKING,
    FLUSH_SEEKING, /* to the node at which the next piece begins */
    FLUSH_STAGING,
    FLUSH_ADDING
} flush_state;

static void flush_enter(gh_aggregate_flush* flush, flush_state state);
static const gh_op_kind* flush_kind_of(const gh_aggregate_flush* flush);

static gh_aggregate_flush* flush_of(gh_op* op)
{
    return (gh_aggregate_flush*)(void*)op;
}

static aggregate_day* flush_day(const gh_aggregate_flush* flush)
{
    return &flush->aggregate->days[flush->day];
}

/* Whether the file may be in the totals whole whatever is answered from here on. All days were added, and it was not
   seen whether they are still there; or a copy of a request to add hangs on a dead link: whenever it comes, it adds the
   next piece of what is staged then, which may be the last. */
static bool flush_in_doubt(const gh_aggregate_flush* flush)
{
    return flush->copy_hangs || flush->all_added;
}

static void flush_end(gh_aggregate_flush* flush, gh_status status)
{
    flush->aggregate->busy = false;
    gh_op_end(&flush->op, status);
}

static void flush_give_up(gh_aggregate_flush* flush, gh_reason reason)
{
    flush_end(flush, gh_op_outcome(&flush->op, reason));
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

/* What a name is in a line: without the bytes that part names and lines. */
static char* flush_put_name(char* out, gh_str name)
{
    size_t i;
    for (i = 0; i < name.size; i++) *out++ = name.bytes[i] == '\t' || name.bytes[i] == '\n' ? ' ' : name.bytes[i];
    return out;
}

/* "<level><count> <country>\t<region>\t<city>\n" */
static char* flush_put_line(char* out, const gh_geo* table, uint32_t node, uint32_t count)
{
    uint32_t path[3]; /* the node, what it lies in, and what that lies in */
    uint32_t depth = 0;
    for (; node != GH_GEO_NO_NODE && depth < 3; node = gh_geo_node_parent(table, node)) path[depth++] = node;
    *out++ = (char)('0' + (depth > 0 ? depth - 1 : 0));
    out = gh_decimal_encode(count, out);
    *out++ = ' ';
    while (depth-- > 0)
    {
        out = flush_put_name(out, gh_geo_node_name(table, path[depth]));
        if (depth > 0) *out++ = '\t';
    }
    *out++ = '\n';
    return out;
}

/* Makes the piece that begins at *node, and moves *node behind it. An empty piece: that was all. What is in
   no country comes before node 0. */
static gh_str flush_make_piece(const gh_aggregate* aggregate, const aggregate_day* day, uint32_t* node)
{
    const uint32_t* counts = gh_aggregate_counts_of(aggregate, day);
    char* out = aggregate->piece;
    const char* end = aggregate->piece + GH_AGGREGATE_PIECE_BYTES - FLUSH_LINE_ROOM;
    uint32_t lines = 0;
    if (*node == GH_GEO_NO_NODE)
    {
        if (day->unknown > 0) out = flush_put_line(out, aggregate->table, GH_GEO_NO_NODE, day->unknown);
        *node = 0;
    }
    for (; *node < aggregate->nodes && lines < GH_AGGREGATE_PIECE_LINES && out < end; (*node)++)
    {
        if (counts[*node] == 0) continue;
        out = flush_put_line(out, aggregate->table, *node, counts[*node]);
        lines++;
    }
    return gh_str_make(aggregate->piece, (size_t)(out - aggregate->piece));
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static gh_script* flush_script(gh_op* op)
{
    return gh_client_script(op->client, op->state == FLUSH_ADDING ? &gh_aggregate_add_lua : &gh_aggregate_stage_lua);
}

static void flush_encode_stage(gh_aggregate_flush* flush, gh_request* request)
{
    const aggregate_day* day = flush_day(flush);
    bool looks = flush->op.state == FLUSH_LOOKING;
    uint32_t node = flush->node;
    gh_request_op_script(request, &flush->op, 0, looks ? 0 : 2);
    gh_aggregate_encode_keys(request, &flush->op, gh_name_str(&flush->set), day->text, "fg012");
    if (gh_request_is_route(request)) return;
    gh_request_number(request, flush->op.sequence);
    gh_request_str(request, gh_name_str(&flush->file));
    gh_request_digest(request, &day->digest);
    gh_request_number(request, day->pieces);
    if (looks)
    {
        gh_request_str(request, gh_str_literal("-1"));
        return;
    }
    gh_request_number(request, flush->chunks_staged);
    gh_request_number(request, flush->keep_us / 1000);
    gh_request_str(request, flush_make_piece(flush->aggregate, day, &node));
}

static void flush_encode(gh_op* op, gh_request* request)
{
    gh_aggregate_flush* flush = flush_of(op);
    if (op->state != FLUSH_ADDING)
    {
        flush_encode_stage(flush, request);
        return;
    }
    gh_request_op_script(request, op, 0, 0);
    gh_aggregate_encode_keys(request, op, gh_name_str(&flush->set), flush_day(flush)->text, "fg012");
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&flush->file));
    gh_request_number(request, flush->keep_us / 1000);
}

/* ---- work that the store is not needed for: as much as the tick's budget allows, the rest in the next -- */

/* Adds the nodes' counts to those of their parents, from the last node on: parents come before their
   children. */
static bool flush_sum_up(gh_aggregate_flush* flush, aggregate_day* day)
{
    const gh_aggregate* aggregate = flush->aggregate;
    uint32_t* counts = gh_aggregate_counts_of(aggregate, day);
    while (day->summing > 0)
    {
        uint32_t node = --day->summing;
        uint32_t parent = counts[node] == 0 ? GH_GEO_NO_NODE : gh_geo_node_parent(aggregate->table, node);
        if (parent != GH_GEO_NO_NODE) counts[parent] += counts[node];
        if (node % FLUSH_NODES_PER_LOOK == 0 && !gh_client_budget_left(flush->op.client)) return day->summing == 0;
    }
    return true;
}

/* The digest of all pieces of a day, and how many there are. */
static bool flush_prepare_day(gh_aggregate_flush* flush, aggregate_day* day)
{
    gh_digest_stream* stream = flush->aggregate->stream;
    if (!flush_sum_up(flush, day)) return false;
    day->summed = true;
    if (flush->node == GH_GEO_NO_NODE)
    {
        gh_digest_begin(stream);
        day->pieces = 0;
    }
    for (;;)
    {
        gh_str piece = flush_make_piece(flush->aggregate, day, &flush->node);
        if (piece.size == 0) break;
        gh_digest_add(stream, piece.bytes, piece.size);
        day->pieces++;
        if (!gh_client_budget_left(flush->op.client)) return false;
    }
    day->digest = gh_digest_end(stream);
    day->prepared = true;
    flush->node = GH_GEO_NO_NODE;
    return true;
}

/* At all days, from the first on: at the beginning, at the end, and when the store knows less than it did. */
static void flush_look(gh_aggregate_flush* flush)
{
    flush->day = flush->days_done = 0;
    flush->added_since = flush->differs = false;
    flush_enter(flush, FLUSH_LOOKING);
}

static void flush_prepare(gh_aggregate_flush* flush)
{
    for (; flush->day < flush->days; flush->day++)
    {
        aggregate_day* day = flush_day(flush);
        if (day->prepared || flush_prepare_day(flush, day)) continue;
        gh_op_timer_after(&flush->op, 1);
        return;
    }
    flush->moved_us = gh_client_now(flush->op.client);
    if (flush->days == 0) flush_end(flush, GH_OK); /* a file without a line that counts */
    else flush_look(flush);
}

/* To the node where piece number chunks_staged begins. */
static void flush_seek(gh_aggregate_flush* flush)
{
    while (flush->passed < flush->chunks_staged)
    {
        flush_make_piece(flush->aggregate, flush_day(flush), &flush->node);
        flush->passed++;
        if (gh_client_budget_left(flush->op.client)) continue;
        gh_op_timer_after(&flush->op, 1);
        return;
    }
    flush->moved_us = gh_client_now(flush->op.client);
    flush_enter(flush, FLUSH_STAGING);
}

/* ---- from state to state ------------------------------------------------------------------------------- */

/* In doubt, whatever is asked is judged as a change of which a copy may be carried out yet. */
static void flush_enter(gh_aggregate_flush* flush, flush_state state)
{
    flush->op.state = (uint8_t)state;
    flush->op.kind = flush_kind_of(flush);
    switch (state)
    {
    case FLUSH_PREPARING:
        flush->node = GH_GEO_NO_NODE;
        gh_op_timer_after(&flush->op, 1);
        break;
    case FLUSH_SEEKING:
        flush->node = GH_GEO_NO_NODE;
        flush->passed = 0;
        flush_seek(flush);
        break;
    case FLUSH_LOOKING:
    case FLUSH_STAGING:
    case FLUSH_ADDING:
        gh_op_timer(&flush->op, flush->moved_us + flush->progress_us);
        gh_op_send(&flush->op, flush_in_doubt(flush) ? GH_OP_MAYBE : 0);
        break;
    }
}

/* The store has lost some of it. */
static void flush_look_again(gh_aggregate_flush* flush)
{
    if (++flush->losses > FLUSH_LOOKS_MAX) flush_give_up(flush, GH_REASON_LINK); /* it forgets as fast as it is told */
    else flush_look(flush);
}

/* The next day that is not in the totals yet; or the end. Of several days, one may have been lost while another was
   added. */
static void flush_next_day(gh_aggregate_flush* flush)
{
    while (flush->day < flush->days && flush_day(flush)->is_there) flush->day++;
    if (flush->day == flush->days)
    {
        if (flush->added_since && flush->days > 1)
        {
            flush->all_added = true;
            flush_look(flush);
        }
        else flush_end(flush, flush->days_new > 0 || flush->copy_hangs ? GH_OK : GH_EXISTS);
        return;
    }
    flush->chunks = flush_day(flush)->pieces;
    flush->chunks_staged = flush->chunks_added = 0;
    flush->node = GH_GEO_NO_NODE;
    flush_enter(flush, FLUSH_STAGING); /* piece 0; the answer tells whether somebody has staged more */
}

/* All pieces of the day are in the totals. */
static bool flush_is_there(const gh_reply* reply)
{
    return gh_reply_integer(reply, GH_AGGREGATE_STAGE_ADDED) == gh_reply_integer(reply, GH_AGGREGATE_STAGE_PIECES);
}

/* All of it is staged with other sums, maybe by one that has died: what is begun is finished, and then told.
 */
static void flush_differs(gh_aggregate_flush* flush, const gh_reply* reply)
{
    flush->differs = true;
    flush->all_added = false;
    if (flush_is_there(reply)) flush_end(flush, GH_DIFFERS);
    else flush_enter(flush, FLUSH_ADDING);
}

/* What the answer says of a day: no more is staged than there is, and no more added than staged. */
static bool flush_fits(const gh_aggregate_flush* flush, const gh_reply* reply)
{
    int64_t staged = gh_reply_integer(reply, GH_AGGREGATE_STAGE_STAGED);
    int64_t added = gh_reply_integer(reply, GH_AGGREGATE_STAGE_ADDED);
    int64_t pieces = gh_reply_integer(reply, GH_AGGREGATE_STAGE_PIECES);
    int64_t code = gh_reply_integer(reply, GH_AGGREGATE_STAGE_CODE);
    bool is_ours = code != GH_AGGREGATE_STAGE_DIFFERS && code != GH_AGGREGATE_STAGE_AT_WORK;
    return pieces <= FLUSH_PIECES_MAX && staged <= pieces && added <= staged &&
           (!is_ours || pieces == flush_day(flush)->pieces);
}

static void flush_looked(gh_aggregate_flush* flush, const gh_reply* reply)
{
    bool is_there = flush_is_there(reply);
    switch (gh_reply_integer(reply, GH_AGGREGATE_STAGE_CODE))
    {
    case GH_AGGREGATE_STAGE_DONE:
        flush_day(flush)->is_there = is_there;
        if (is_there) flush->days_done++;
        else flush->all_added = false;
        break;
    case GH_AGGREGATE_STAGE_NONE: flush_day(flush)->is_there = flush->all_added = false; break;
    case GH_AGGREGATE_STAGE_DIFFERS: flush_differs(flush, reply); return;
    case GH_AGGREGATE_STAGE_AT_WORK: flush_end(flush, GH_DIFFERS); return;
    default: flush_give_up(flush, GH_REASON_UNUSABLE); return;
    }
    if (++flush->day < flush->days)
    {
        flush_enter(flush, FLUSH_LOOKING);
        return;
    }
    flush->day = 0;
    flush_next_day(flush);
}

static void flush_staged(gh_aggregate_flush* flush, const gh_reply* reply)
{
    uint32_t staged = (uint32_t)gh_reply_integer(reply, GH_AGGREGATE_STAGE_STAGED);
    int64_t code = gh_reply_integer(reply, GH_AGGREGATE_STAGE_CODE);
    if (code == GH_AGGREGATE_STAGE_DIFFERS || code == GH_AGGREGATE_STAGE_AT_WORK)
    {
        flush_end(flush, GH_DIFFERS);
        return;
    }
    if (code != GH_AGGREGATE_STAGE_DONE && code != GH_AGGREGATE_STAGE_EARLY)
    {
        flush_give_up(flush, GH_REASON_UNUSABLE);
        return;
    }
    if (staged < flush->chunks_staged)
    {
        flush_look_again(flush);
    }
    else if (staged == flush->chunks)
    {
        flush->chunks_staged = staged;
        flush_enter(flush, FLUSH_ADDING);
    }
    else if (staged == flush->chunks_staged + 1)
    {
        flush_make_piece(flush->aggregate, flush_day(flush), &flush->node);
        flush->chunks_staged = staged;
        flush_enter(flush, FLUSH_STAGING);
    }
    else
    {
        flush->chunks_staged = staged;
        flush_enter(flush, FLUSH_SEEKING);
    }
}

static void flush_added(gh_aggregate_flush* flush, const gh_reply* reply)
{
    int64_t added = gh_reply_integer(reply, GH_AGGREGATE_ADD_ADDED);
    int64_t pieces = gh_reply_integer(reply, GH_AGGREGATE_ADD_PIECES);
    if (gh_reply_integer(reply, GH_AGGREGATE_ADD_CODE) != GH_AGGREGATE_ADD_DONE)
    {
        flush_look_again(flush); /* what was staged is gone */
        return;
    }
    if (pieces > FLUSH_PIECES_MAX || added > pieces || (!flush->differs && pieces != flush->chunks))
    {
        flush_give_up(flush, GH_REASON_UNUSABLE);
        return;
    }
    flush->chunks_added = (uint32_t)added;
    if (added < pieces)
    {
        flush_enter(flush, FLUSH_ADDING);
        return;
    }
    if (flush->differs)
    {
        flush_end(flush, GH_DIFFERS);
        return;
    }
    flush->added_since = true;
    flush->days_done++;
    if (!flush_day(flush)->is_new) flush->days_new++;
    flush_day(flush)->is_there = flush_day(flush)->is_new = true;
    flush_next_day(flush);
}

static void flush_replied(gh_aggregate_flush* flush, const gh_reply* reply)
{
    flush->moved_us = gh_client_now(flush->op.client);
    if (flush->op.state == FLUSH_ADDING && gh_op_sent_twice(&flush->op)) flush->copy_hangs = true;
    if (flush->op.state != FLUSH_ADDING && !flush_fits(flush, reply))
    {
        flush_give_up(flush, GH_REASON_UNUSABLE);
        return;
    }
    switch ((flush_state)flush->op.state)
    {
    case FLUSH_LOOKING: flush_looked(flush, reply); break;
    case FLUSH_STAGING: flush_staged(flush, reply); break;
    case FLUSH_ADDING: flush_added(flush, reply); break;
    case FLUSH_PREPARING:
    case FLUSH_SEEKING: break; /* nothing is asked in these */
    }
    if (flush->cancelled && gh_op_is_busy(&flush->op)) flush_give_up(flush, GH_REASON_CANCEL);
}

static void flush_timer(gh_aggregate_flush* flush)
{
    switch ((flush_state)flush->op.state)
    {
    case FLUSH_PREPARING: flush_prepare(flush); break;
    case FLUSH_SEEKING: flush_seek(flush); break;
    case FLUSH_LOOKING:
    case FLUSH_STAGING:
    case FLUSH_ADDING: flush_give_up(flush, GH_REASON_DEADLINE); break;
    }
}

/* For an answer on which it depends how the flush ends. */
static bool flush_waits(const gh_aggregate_flush* flush)
{
    bool stages = flush->op.state == FLUSH_STAGING && !flush_in_doubt(flush);
    return (stages || flush->op.state == FLUSH_ADDING) && gh_op_maybe_done(&flush->op);
}

static void flush_cancel(gh_aggregate_flush* flush)
{
    if (flush_waits(flush)) flush->cancelled = true;
    else flush_give_up(flush, GH_REASON_CANCEL);
}

static void flush_step(gh_op* op, const gh_event* event)
{
    gh_aggregate_flush* flush = flush_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: flush_replied(flush, event->reply); break;
    case GH_EVENT_FAILED: flush_end(flush, event->status); break;
    case GH_EVENT_TIMER: flush_timer(flush); break;
    case GH_EVENT_CANCEL: flush_cancel(flush); break;
    case GH_EVENT_CLOSE: flush_give_up(flush, GH_REASON_CANCEL); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static const gh_op_kind flush_look_kind = {
    .name = "aggregate", .step = flush_step, .encode = flush_encode, .script = flush_script, .effect = GH_OP_READS};
static const gh_op_kind flush_kind = {
    .name = "aggregate", .step = flush_step, .encode = flush_encode, .script = flush_script, .effect = GH_OP_CHANGES};

static const gh_op_kind* flush_kind_of(const gh_aggregate_flush* flush)
{
    bool changes = flush->op.state == FLUSH_STAGING || flush->op.state == FLUSH_ADDING;
    return changes || flush_in_doubt(flush) ? &flush_kind : &flush_look_kind;
}

/* ---- begin --------------------------------------------------------------------------------------------- */

static const gh_bound flush_bounds_rows[] = {
    GH_BOUND(gh_aggregate_flush_config, progress_us, 30000000, FLUSH_TIME_MIN_US, FLUSH_TIME_MAX_US,
             GH_INVALID_TIMEOUT),
    GH_BOUND_OR_0(gh_aggregate_flush_config, keep_us, 0, FLUSH_KEEP_MIN_US, FLUSH_KEEP_MAX_US, GH_INVALID_ABANDONED)};
static const gh_bounds flush_bounds = GH_BOUNDS(gh_aggregate_flush_config, flush_bounds_rows);

gh_aggregate_flush_config gh_aggregate_flush_config_default(void)
{
    gh_aggregate_flush_config config;
    gh_bounds_fill(&flush_bounds, &config);
    return config;
}

static gh_status flush_check(const gh_aggregate* aggregate, gh_str set, gh_str file)
{
    if (!gh_aggregate_is_one(aggregate) || aggregate->table == NULL || aggregate->busy) return GH_INVALID_AGGREGATE;
    if (!gh_name_is_valid(set) || set.size > GH_AGGREGATE_SET_SIZE_MAX || !gh_name_is_valid(file))
        return GH_INVALID_NAME;
    return GH_OK;
}

static gh_status aggregate_flush_try(gh_aggregate_flush* op, gh_client* client, gh_aggregate* aggregate, gh_str set,
                                     gh_str file, const gh_aggregate_flush_config* config)
{
    gh_aggregate_flush_config defaults = gh_aggregate_flush_config_default();
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    uint32_t i;
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = flush_check(aggregate, set, file);
    if (status == GH_OK) status = gh_refusal_check(&flush_bounds, config, client);
    if (status != GH_OK) return status;
    if (gh_client_out_room(client) < FLUSH_OUT_ROOM) return GH_TOO_LARGE;
    gh_aggregate_end_lines(aggregate);
    if (aggregate->full) return GH_FULL;
    gh_op_clear(&op->op, sizeof *op);
    op->aggregate = aggregate;
    gh_name_keep(&op->set, set);
    gh_name_keep(&op->file, file);
    op->progress_us = config->progress_us;
    op->keep_us = config->keep_us;
    op->days = aggregate->day_count;
    for (i = 0; i < aggregate->day_count; i++)
    {
        aggregate->days[i].is_there = aggregate->days[i].is_new = false;
        if (!aggregate->flushed) aggregate->days[i].summing = aggregate->nodes;
    }
    aggregate->flushed = aggregate->busy = true;
    gh_op_begin(&op->op, client, &flush_look_kind);
    op->moved_us = gh_client_now(client);
    flush_enter(op, FLUSH_PREPARING);
    return GH_OK;
}

gh_status gh_aggregate_flush_begin(gh_aggregate_flush* op, gh_client* client, gh_aggregate* aggregate, gh_str set,
                                   gh_str file, const gh_aggregate_flush_config* config)
{
    return gh_op_begun((gh_op*)op, client, aggregate_flush_try(op, client, aggregate, set, file, config));
}
