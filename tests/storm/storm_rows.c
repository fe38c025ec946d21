/* storm_rows.c -- few rows, refreshed by several refreshers with slow loaders, and read all the time.

   A value is the number of the load that made it. Times of a load are those of the ticks in which it happened: what the
   library says holds for them. */

#include "guildhall/rows.h"

#include "storm/storm.h"
#include "storm/storm_rows.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum
{
    SLOTS = 3,
    GETS = 2,
    VALUE_SIZE = 64
};

typedef struct row_job
{
    gh_row_load load;
    uint32_t op;
    uint64_t until_us;
} row_job;

typedef struct row_reader
{
    gh_row_get get;
    uint32_t op;
    char buffer[VALUE_SIZE];
} row_reader;

typedef struct row_actor
{
    storm_client* me;
    random_stream random;
    gh_rows rows;
    gh_rows_slot slots[SLOTS];
    row_job jobs[SLOTS * 4];
    uint32_t refresh_op;
    uint64_t refresh_end_us;
    bool stopping;
    row_reader readers[GETS];
    gh_row_schedule schedule;
    uint32_t schedule_op;
    _Alignas(16) char memory[SLOTS * GH_ROW_SIZE_MAX];
} row_actor;

static const char* const whats[] = {"?", "schedule", "unschedule", "get", "load", "refresher", "seen", "over", "ended"};
/* Six in one shard, two in another: so a claim of a shard that had no row due meets one a moment later. */
static const gh_str names[ROWS_NAMES] = {GH_STR_INIT("item 12"), GH_STR_INIT("item 19"), GH_STR_INIT("item 94"),
                                         GH_STR_INIT("item 93"), GH_STR_INIT("item 95"), GH_STR_INIT("item 105"),
                                         GH_STR_INIT("guest 2"), GH_STR_INIT("guest 97")};

static void start(void* actor, storm_client* me, random_stream random)
{
    row_actor* a = actor;
    a->me = me;
    a->random = random;
}

/* ---- loads ------------------------------------------------------------------------------------------------- */

static void load(void* context, gh_row_load row_load, gh_str row)
{
    row_actor* a = context;
    uint8_t name = 0;
    while (name + 1 < ROWS_NAMES && !gh_str_equal(row, names[name])) name++;
    for (int i = 0; i < SLOTS * 4; i++)
    {
        row_job* job = &a->jobs[i];
        if (job->op != 0) continue;
        job->op = history_begin(a->me->who, STORM_rows, ROWS_LOAD, name);
        job->load = row_load;
        job->until_us = a->me->now_us + random_below(&a->random, 120000);
        if (random_one_in(&a->random, 5)) job->until_us += random_below(&a->random, 1200000);
        if (job->op == 0) break;
        history_at(job->op)->a = a->me->now_us;
        history_at(job->op)->b = a->me->now_us;
        history_at(job->op)->c = row_load.slot->claim;
        return;
    }
    (void)gh_row_complete(row_load, GH_ERROR, gh_str_make(NULL, 0));
}

static void turn_job(row_actor* a, row_job* job, bool may_begin)
{
    if (job->op == 0) return;
    if (gh_row_load_is_wanted(job->load)) history_at(job->op)->b = a->me->now_us;
    if (may_begin && a->me->now_us < job->until_us) return;
    char value[VALUE_SIZE];
    int size = snprintf(value, sizeof value, "%u", job->op);
    gh_status outcome = random_one_in(&a->random, 10) ? GH_ERROR : GH_OK;
    gh_status status = gh_row_complete(job->load, outcome, gh_str_make(value, (size_t)size));
    history_end(job->op, status == GH_OK ? STORM_DONE : STORM_NOT_DONE, status);
    job->op = 0;
}

static bool jobs_are_done(const row_actor* a)
{
    for (int i = 0; i < SLOTS * 4; i++)
    {
        if (a->jobs[i].op != 0) return false;
    }
    return true;
}

static void begin_refresh(row_actor* a)
{
    gh_rows_config config = gh_rows_config_default();
    memset(a->slots, 0, sizeof a->slots);
    memset(&a->rows, 0, sizeof a->rows);
    config.loader = load;
    config.context = a;
    config.slots = a->slots;
    config.slot_count = SLOTS;
    config.memory = a->memory;
    config.memory_size = sizeof a->memory;
    config.lease_us = random_one_in(&a->random, 2) ? ROWS_LEASE_MOST_US : GH_ROWS_LEASE_MIN_US;
    config.load_us = 5000000;
    config.backoff_min_us = 10000;
    config.backoff_max_us = 100000;
    a->stopping = false;
    a->refresh_op = history_begin(a->me->who, STORM_rows, ROWS_REFRESH, 0);
    if (a->refresh_op == 0) return;
    history_at(a->refresh_op)->b = gh_client_id(a->me->client);
    a->refresh_end_us = a->me->now_us + random_between(&a->random, 2000000, 15000000);
    gh_status status = gh_rows_begin(&a->rows, a->me->client, &config);
    if (status == GH_OK) return;
    history_end(a->refresh_op, STORM_NOT_DONE, status);
    a->refresh_op = 0;
}

static void turn_refresh(row_actor* a, bool may_begin)
{
    for (int i = 0; i < SLOTS * 4; i++) turn_job(a, &a->jobs[i], may_begin);
    if (a->me->who.client != 0) return;
    if (a->refresh_op == 0)
    {
        if (may_begin && jobs_are_done(a) && storm_is_time(&a->random, 50)) begin_refresh(a);
        return;
    }
    gh_status status = gh_op_poll(&a->rows.op);
    if (status != GH_PENDING && jobs_are_done(a))
    {
        history_end(a->refresh_op, STORM_DONE, status);
        a->refresh_op = 0;
    }
    else if (!a->stopping && (!may_begin || a->me->now_us >= a->refresh_end_us))
    {
        a->stopping = true;
        history_at(a->refresh_op)->c = a->me->now_us;
        if (random_one_in(&a->random, 2)) gh_op_cancel(&a->rows.op);
        else gh_rows_end(&a->rows);
    }
}

/* ---- gets and schedules ------------------------------------------------------------------------------------ */

static void turn_get(row_actor* a, row_reader* r, bool may_begin)
{
    if (r->op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 40)) return;
        gh_row_get_config config = gh_row_get_config_default();
        config.buffer = r->buffer;
        config.buffer_size = sizeof r->buffer;
        config.timeout_us = random_between(&a->random, 200000, 2000000);
        uint8_t name = (uint8_t)random_below(&a->random, ROWS_NAMES);
        r->op = history_begin(a->me->who, STORM_rows, ROWS_GET, name);
        if (r->op == 0) return;
        gh_status status = gh_row_get_begin(&r->get, a->me->client, names[name], &config);
        if (status == GH_OK) return;
        history_end(r->op, STORM_NOT_DONE, status);
        r->op = 0;
        return;
    }
    gh_status status = gh_op_poll(&r->get.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK || status == GH_OLD)
    {
        char text[VALUE_SIZE];
        unsigned made_by = 0;
        (void)snprintf(text, sizeof text, "%.*s", (int)r->get.value.size, r->get.value.bytes);
        if (sscanf(text, "%u", &made_by) != 1 || made_by > history_count()) made_by = 0;
        history_at(r->op)->a = r->get.version;
        history_at(r->op)->b = made_by;
        history_at(r->op)->c = 1;
    }
    bool answered = status == GH_OLD || status == GH_GONE;
    history_end(r->op, answered ? STORM_DONE : storm_outcome_of(status), status);
    r->op = 0;
}

static void turn_schedule(row_actor* a, bool may_begin)
{
    if (a->schedule_op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 150)) return;
        gh_row_schedule_config config = gh_row_schedule_config_default();
        uint8_t name = (uint8_t)random_below(&a->random, ROWS_NAMES);
        bool away = random_one_in(&a->random, name < ROWS_STEADY ? 120 : 2);
        config.period_us = random_between(&a->random, GH_ROWS_PERIOD_MIN_US, 220000);
        config.timeout_us = random_between(&a->random, 200000, 3000000);
        config.now = random_one_in(&a->random, 4);
        a->schedule_op = history_begin(a->me->who, STORM_rows, away ? ROWS_UNSCHEDULE : ROWS_SCHEDULE, name);
        if (a->schedule_op == 0) return;
        gh_status status = away ? gh_row_unschedule_begin(&a->schedule, a->me->client, names[name], &config)
                                : gh_row_schedule_begin(&a->schedule, a->me->client, names[name], &config);
        history_at(a->schedule_op)->b = a->schedule.op.sequence;
        history_at(a->schedule_op)->c = gh_client_id(a->me->client);
        if (status == GH_OK) return;
        history_end(a->schedule_op, STORM_NOT_DONE, status);
        a->schedule_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->schedule.op);
    if (status == GH_PENDING) return;
    history_end(a->schedule_op, status == GH_GONE ? STORM_DONE : storm_outcome_of(status), status);
    a->schedule_op = 0;
}

/* ---- the actor --------------------------------------------------------------------------------------------- */

static void turn(void* actor, bool may_begin)
{
    row_actor* a = actor;
    turn_refresh(a, may_begin);
    for (int i = 0; i < GETS; i++) turn_get(a, &a->readers[i], may_begin);
    turn_schedule(a, may_begin);
}

static bool idle(const void* actor)
{
    const row_actor* a = actor;
    bool busy = a->refresh_op != 0 || a->schedule_op != 0 || !jobs_are_done(a);
    for (int i = 0; i < GETS; i++) busy = busy || a->readers[i].op != 0;
    return !busy;
}

/* ---- what the store says ------------------------------------------------------------------------------------- */

/* By KEYS.md: when it is due lies in :d, or until when its lease runs; and in :m is "<period> <max age> <failures>
   <version> <claimed> <state> <claim> <setter>", the claim "<client>:<sequence>.<number>", the setter "<client>:
   <sequence>", and the state c or a while it is claimed. In :t is "<who unscheduled it> ...". */
static const char seen_script[] =
    "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2]"
    " local state = redis.call('HGET', KEYS[2], ARGV[1])"
    " if not state then return redis.call('HGET', KEYS[3], ARGV[1]) or '' end"
    " return (tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0) > now and '1 ' or '0 ') .. state";

/* What becomes of a claim once its lease has been seen to be over: nothing may. */
static void note_over(const storm_look* look, uint8_t name, char state, uint64_t client, uint64_t claim)
{
    static struct
    {
        uint64_t client;
        uint64_t claim;
        char state;
    } last[ROWS_NAMES];
    bool is_over = state == 'c' || state == 'a';
    bool is_same = last[name].client == client && last[name].claim == claim;
    if (client == 0 || (is_over ? is_same : !is_same || last[name].state == state)) return;
    last[name].client = client;
    last[name].claim = claim;
    last[name].state = state;
    storm_event event = {.system = STORM_rows,
                         .what = is_over ? ROWS_OVER : ROWS_ENDED,
                         .object = name,
                         .a = client,
                         .b = claim,
                         .c = (uint64_t)state};
    (void)history_event(look->who, event);
}

static void note_seen(storm_look* look, uint8_t name, const char* text, uint64_t asked_us)
{
    unsigned long long client = 0, claimant = 0, number = 0, setter = 0, sequence = 0;
    unsigned runs = 0;
    char state = 0, claim[64] = "", by[64] = "";
    int parts = sscanf(text, "%u %*u %*u %*u %*u %*u %c %63s %63s", &runs, &state, claim, by);
    (void)sscanf(parts == 4 ? by : text, "%16llx:%llx", &setter, &sequence);
    bool is_claimed = parts == 4 && runs == 1 && (state == 'c' || state == 'a');
    if (parts == 4) (void)sscanf(claim, "%16llx:%16llx.%llu", &client, &claimant, &number);
    storm_event event = {.system = STORM_rows,
                         .what = ROWS_SEEN,
                         .object = name,
                         .a = is_claimed ? client : 0,
                         .b = is_claimed ? claimant << 32 | number : 0,
                         .c = setter,
                         .d = (history_now() - asked_us) << 32 | sequence};
    (void)history_event(look->who, event);
    if (!is_claimed) note_over(look, name, state, client, claimant << 32 | number);
}

static void witness(storm_look* look)
{
    for (uint8_t i = 0; i < ROWS_NAMES; i++)
    {
        unsigned shard = (unsigned)(XXH3_64bits(names[i].bytes, names[i].size) % GH_ROWS_SHARDS);
        char due[32], rows[32], gone[32];
        (void)snprintf(due, sizeof due, "gh:{rows:%u}:d", shard);
        (void)snprintf(rows, sizeof rows, "gh:{rows:%u}:m", shard);
        (void)snprintf(gone, sizeof gone, "gh:{rows:%u}:t", shard);
        uint64_t asked_us = history_now();
        redisReply* reply = storm_look_command(look, due, "EVAL %s 3 %s %s %s %b", seen_script, due, rows, gone,
                                               names[i].bytes, names[i].size);
        if (reply == NULL) return;
        if (reply->type == REDIS_REPLY_STRING) note_seen(look, i, reply->str, asked_us);
        freeReplyObject(reply);
    }
}

const storm_system storm_rows = {.name = "rows",
                                 .whats = whats,
                                 .actor_size = sizeof(row_actor),
                                 .start = start,
                                 .turn = turn,
                                 .idle = idle,
                                 .witness = witness,
                                 .check = check_rows};
