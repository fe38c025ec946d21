/* storm_semaphore.c -- permits of two semaphores, one or two at once; and of a gate, at which many wait, and whose
   limit is set again and again. */

#include "guildhall/semaphore.h"

#include "storm/hold.h"
#include "storm/storm.h"
#include "storm/storm_semaphore.h"

#include <stdio.h>

enum
{
    OPS = 4,
    GATE_OPS = 3,   /* besides */
    GATE_LEAST = 2, /* fits the largest permit */
    GATE_WAIT_US = 2000000,
    CALL_US = 5000000,
    GATE_MOST = 30 /* fits all who can wait: more get their turn than one request gives */
};

typedef struct permit_hand
{
    gh_permit permit;
    uint32_t op;
    uint8_t name;
    bool held;
    bool leaving;
    uint64_t told_end_us;
    uint64_t leave_us;
} permit_hand;

typedef struct semaphore_actor
{
    storm_client* me;
    random_stream random;
    permit_hand hands[OPS + GATE_OPS];
    gh_semaphore_limit limit;
    uint32_t limit_op; /* 0: none is set just now */
} semaphore_actor;

static const char* const whats[] = {"?",    "permit",         "?",     "granted", "lease",
                                    "over", "all in the end", "limit", "setter"};
static const gh_str names[SEMAPHORE_NAMES + 1] = {GH_STR_INIT("arena"), GH_STR_INIT("dungeon"), GH_STR_INIT("gate")};
const uint32_t semaphore_limits[SEMAPHORE_NAMES] = {3, 5};

static void start(void* actor, storm_client* me, random_stream random)
{
    semaphore_actor* a = actor;
    a->me = me;
    a->random = random;
}

static void note(semaphore_actor* a, const permit_hand* hand, uint8_t what, uint64_t x)
{
    storm_event event = {.system = STORM_semaphore,
                         .what = what,
                         .object = hand->name,
                         .about = hand->op,
                         .a = x,
                         .b = hand->permit.fence,
                         .c = gh_client_id(a->me->client)};
    (void)history_event_at(a->me->who, event, what == HOLD_GRANTED ? a->me->now_us : history_now());
}

/* timeout_us: of calls that are no permits. */
static gh_semaphore semaphore_of(gh_client* client, uint8_t name, uint64_t timeout_us)
{
    gh_semaphore semaphore;
    gh_semaphore_config config = gh_semaphore_config_default();
    config.timeout_us = timeout_us;
    config.limit = name == SEMAPHORE_GATE ? GATE_LEAST : semaphore_limits[name];
    gh_semaphore_init(&semaphore, client, names[name], &config);
    return semaphore;
}

static void begin_permit(semaphore_actor* a, permit_hand* hand)
{
    static const uint64_t waits[] = {0, 50000, 400000, 2000000};
    gh_permit_config config = gh_permit_config_default();
    bool is_gate = hand >= &a->hands[OPS];
    hand->name = is_gate ? SEMAPHORE_GATE : (uint8_t)random_below(&a->random, SEMAPHORE_NAMES);
    config.permits = (uint32_t)random_between(&a->random, 1, 2);
    config.lease_us = random_between(&a->random, 150000, SEMAPHORE_LEASE_MOST_US);
    config.wait_us = is_gate ? GATE_WAIT_US : waits[random_below(&a->random, 4)];
    hand->op = history_begin(a->me->who, STORM_semaphore, HOLD_OP, hand->name);
    if (hand->op == 0) return;
    storm_record* record = history_at(hand->op);
    record->a = config.lease_us;
    record->b = config.wait_us;
    record->c = gh_client_id(a->me->client);
    record->d = config.permits;
    hand->held = hand->leaving = false;
    gh_semaphore semaphore = semaphore_of(a->me->client, hand->name, CALL_US);
    gh_status status = gh_permit_begin(&hand->permit, &semaphore, &config);
    if (status == GH_OK) return;
    history_end(hand->op, STORM_NOT_DONE, status);
    hand->op = 0;
}

static void let_go(semaphore_actor* a, permit_hand* hand)
{
    if (hand->held) note(a, hand, HOLD_OVER, 0);
    hand->held = false;
    hand->leaving = true;
    if (random_one_in(&a->random, 8)) gh_op_cancel(&hand->permit.op);
    else gh_permit_release(&hand->permit);
}

static void turn_held(semaphore_actor* a, permit_hand* hand)
{
    uint64_t end_us = a->me->now_us + gh_permit_remaining_us(&hand->permit);
    if (!hand->held)
    {
        hand->held = true;
        hand->leave_us = a->me->now_us + random_below(&a->random, 30000);
        if (hand->name == SEMAPHORE_GATE) hand->leave_us += random_below(&a->random, 400000);
        if (random_one_in(&a->random, 50)) hand->leave_us += random_below(&a->random, 1500000);
        note(a, hand, HOLD_GRANTED, end_us);
    }
    else if (storm_time_moved(hand->told_end_us, end_us)) note(a, hand, HOLD_LEASE, end_us);
    else end_us = hand->told_end_us;
    hand->told_end_us = end_us;
    if (a->me->now_us >= hand->leave_us) let_go(a, hand);
}

static void turn_hand(semaphore_actor* a, permit_hand* hand, bool may_begin)
{
    if (hand->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 60)) begin_permit(a, hand);
        return;
    }
    gh_status status = gh_op_poll(&hand->permit.op);
    if (status == GH_HELD) turn_held(a, hand);
    else if (status != GH_PENDING)
    {
        if (hand->held) note(a, hand, HOLD_OVER, 0);
        hand->held = false;
        history_end(hand->op, status == GH_OK ? STORM_DONE : storm_outcome_of(status), status);
        hand->op = 0;
    }
    else if (!hand->leaving && random_one_in(&a->random, 4000)) let_go(a, hand);
    if (hand->op != 0 && !may_begin && !hand->leaving) let_go(a, hand);
}

/* ---- the gate's limit --------------------------------------------------------------------------------------- */

static void begin_limit(semaphore_actor* a)
{
    uint32_t limit = random_one_in(&a->random, 3) ? GATE_MOST : GATE_LEAST;
    a->limit_op = history_begin(a->me->who, STORM_semaphore, SEMAPHORE_LIMIT, SEMAPHORE_GATE);
    if (a->limit_op == 0) return;
    uint64_t timeout_us = random_between(&a->random, 200000, 3000000);
    gh_semaphore semaphore = semaphore_of(a->me->client, SEMAPHORE_GATE, timeout_us);
    gh_status status = gh_semaphore_limit_begin(&a->limit, &semaphore, limit);
    history_at(a->limit_op)->a = limit;
    history_at(a->limit_op)->b = a->limit.op.sequence;
    history_at(a->limit_op)->c = gh_client_id(a->me->client);
    if (status == GH_OK) return;
    history_end(a->limit_op, STORM_NOT_DONE, status);
    a->limit_op = 0;
}

static void turn_limit(semaphore_actor* a, bool may_begin)
{
    if (a->limit_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 120)) begin_limit(a);
        return;
    }
    gh_status status = gh_op_poll(&a->limit.op);
    if (status == GH_PENDING) return;
    history_end(a->limit_op, storm_outcome_of(status), status);
    a->limit_op = 0;
}

/* ---- the actor ------------------------------------------------------------------------------------------------ */

static void turn(void* actor, bool may_begin)
{
    semaphore_actor* a = actor;
    for (int i = 0; i < OPS + GATE_OPS; i++) turn_hand(a, &a->hands[i], may_begin);
    turn_limit(a, may_begin);
}

static bool idle(const void* actor)
{
    const semaphore_actor* a = actor;
    bool busy = a->limit_op != 0;
    for (int i = 0; i < OPS + GATE_OPS; i++) busy = busy || a->hands[i].op != 0;
    return !busy;
}

/* By KEYS.md: "<limit> <used> <fence> <waiters> <client>:<sequence of who set the limit>", or "-" for him. */
static void witness(storm_look* look)
{
    static const char key[] = "gh:{semaphore:gate}:s";
    uint64_t asked_us = history_now();
    redisReply* reply = storm_look_command(look, key, "GET %s", key);
    unsigned limit = 0;
    unsigned long long client = 0, sequence = 0;
    if (reply != NULL && reply->type == REDIS_REPLY_STRING &&
        sscanf(reply->str, "%u %*u %*u %*u %16llx:%llx", &limit, &client, &sequence) == 3)
    {
        storm_event event = {.system = STORM_semaphore,
                             .what = SEMAPHORE_SETTER,
                             .object = SEMAPHORE_GATE,
                             .a = limit,
                             .b = sequence,
                             .c = client,
                             .d = asked_us};
        (void)history_event(look->who, event);
    }
    if (reply != NULL) freeReplyObject(reply);
}

/* All permits of a semaphore at once. */
static void audit(storm_look* look)
{
    witness(look);
    for (uint8_t i = 0; i < SEMAPHORE_NAMES; i++)
    {
        static gh_permit permit;
        gh_permit_config config = gh_permit_config_default();
        config.permits = semaphore_limits[i];
        config.wait_us = SEMAPHORE_LEASE_MOST_US + STORM_IN_THE_END_US;
        uint32_t op = history_begin(look->who, STORM_semaphore, SEMAPHORE_ALL, i);
        gh_semaphore semaphore = semaphore_of(look->client, i, CALL_US);
        gh_status status = gh_permit_begin(&permit, &semaphore, &config);
        while ((status = gh_op_poll(&permit.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_end(op, storm_outcome_of(status), status);
        gh_permit_release(&permit);
        while (gh_op_poll(&permit.op) == GH_PENDING && storm_look_turn(look))
        {
        }
    }
}

const storm_system storm_semaphore = {.name = "semaphore",
                                      .whats = whats,
                                      .actor_size = sizeof(semaphore_actor),
                                      .start = start,
                                      .turn = turn,
                                      .idle = idle,
                                      .witness = witness,
                                      .audit = audit,
                                      .check = check_semaphore};
