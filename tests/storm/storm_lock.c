/* storm_lock.c -- locks, lock sets, and writes under their fences.

   Few names. The first is always wanted by many, the next are free at times: there a late copy of a request would be
   granted. The last ones have long leases, which show who is told too late that a loss took his.

   Who holds a lock sometimes writes under its fence into two registers: a hash, repeated as often as it takes
   (GH_REPEAT_SAFE), and a list, once (GH_REPEAT_NEVER), where the order shows. */

#include "storm/storm_lock.h"

#include "guildhall/lock.h"
#include "storm/storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    OPS = 3, /* locks of one client at once, and one set */
    WRITES = 2
};

typedef struct lock_hand
{
    gh_lock lock;
    uint32_t op; /* 0: none is going on */
    uint8_t name;
    bool held;
    bool leaving;
    uint64_t told_end_us; /* the lease end that was written down last */
    uint64_t hold_us;     /* it is given back by itself after that; 0: never */
    uint64_t hold_end_us;
    uint64_t leave_us;
} lock_hand;

typedef struct lock_write
{
    gh_command command;
    uint32_t op;
    char key[GH_LOCK_TAG_SIZE_MAX + 8];
    char member[32];
    char fence[32];
    gh_str words[4];
} lock_write;

typedef struct lock_actor
{
    storm_client* me;
    random_stream random;
    lock_hand hands[OPS];
    lock_write writes[WRITES];
    gh_lock_set set;
    gh_lock set_locks[2];
    uint32_t set_op;
    uint8_t set_names[2];
    bool set_held;
    bool set_leaving;
    uint64_t set_leave_us;
    uint64_t next_us;
    bool holds_long;
} lock_actor;

static const char* const whats[] = {"?",          "lock",       "lock set", "granted",  "lease", "over",
                                    "write safe", "write once", "seen",     "register", "entry", "free in the end"};

static const gh_str names[LOCK_NAMES] = {GH_STR_INIT("storm a"), GH_STR_INIT("storm b"), GH_STR_INIT("storm c"),
                                         GH_STR_INIT("storm d"), GH_STR_INIT("storm e"), GH_STR_INIT("storm f"),
                                         GH_STR_INIT("long a"),  GH_STR_INIT("long b"),  GH_STR_INIT("long c"),
                                         GH_STR_INIT("long d"),  GH_STR_INIT("long e"),  GH_STR_INIT("long f")};

static uint64_t lease_of(random_stream* random, uint8_t name)
{
    if (name >= LOCK_LONG) return LOCK_LEASE_LONG_US;
    return name == 0 ? random_between(random, 150000, 900000) : random_between(random, 900000, LOCK_LEASE_MOST_US);
}

/* The first hand is for the name that is always wanted. Some clients like those that are held for long: of what is
   told late, the others have let go by then. */
static uint8_t draw_name(lock_actor* a, bool first)
{
    random_stream* random = &a->random;
    if (random_one_in(random, a->holds_long ? 2 : 25))
        return (uint8_t)random_between(random, LOCK_LONG, LOCK_NAMES - 1);
    return first ? 0 : (uint8_t)random_between(random, 1, LOCK_LONG - 1);
}

static void start(void* actor, storm_client* me, random_stream random)
{
    lock_actor* a = actor;
    a->me = me;
    a->random = random;
    a->holds_long = random_one_in(&a->random, 3);
}

static void note(lock_actor* a, uint8_t what, uint8_t name, uint32_t op, uint64_t x, uint64_t y)
{
    storm_event event = {.system = STORM_lock,
                         .what = what,
                         .object = name,
                         .about = op,
                         .a = x,
                         .b = y,
                         .c = gh_client_id(a->me->client)};
    (void)history_event_at(a->me->who, event, what == HOLD_GRANTED ? a->me->now_us : history_now());
}

/* ---- one lock ------------------------------------------------------------------------------------------ */

static void begin_lock(lock_actor* a, lock_hand* hand)
{
    static const uint64_t waits[] = {0, 60000, 250000, 1000000, 3000000};
    gh_lock_config config = gh_lock_config_default();
    hand->name = draw_name(a, hand == &a->hands[0]);
    config.lease_us = lease_of(&a->random, hand->name);
    config.wait_us = waits[random_below(&a->random, hand->name >= LOCK_LONG ? 2 : 5)];
    if (random_one_in(&a->random, 6)) config.hold_us = random_between(&a->random, 1, 30000);
    hand->hold_us = config.hold_us;
    hand->op = history_begin(a->me->who, STORM_lock, HOLD_OP, hand->name);
    if (hand->op == 0) return;
    storm_record* record = history_at(hand->op);
    record->a = config.lease_us;
    record->b = config.wait_us;
    record->c = gh_client_id(a->me->client);
    hand->held = hand->leaving = false;
    gh_status status = gh_lock_begin(&hand->lock, a->me->client, names[hand->name], &config);
    if (status == GH_OK) return;
    history_end(hand->op, STORM_NOT_DONE, status);
    hand->op = 0;
}

static void let_go(lock_actor* a, lock_hand* hand)
{
    if (hand->held) note(a, HOLD_OVER, hand->name, hand->op, 0, hand->lock.fence);
    hand->held = false;
    hand->leaving = true;
    if (random_one_in(&a->random, 8)) gh_op_cancel(&hand->lock.op);
    else gh_lock_release(&hand->lock);
}

static void begin_write(lock_actor* a, lock_hand* hand)
{
    lock_write* write = &a->writes[random_below(&a->random, WRITES)];
    if (write->op != 0) return;
    bool safe = write == &a->writes[0];
    gh_command_config config = gh_command_config_default();
    config.repeat = safe ? GH_REPEAT_SAFE : GH_REPEAT_NEVER;
    config.timeout_us = random_between(&a->random, 300000, 2500000);
    config.fence = gh_lock_fence(&hand->lock);
    write->op = history_begin(a->me->who, STORM_lock, safe ? LOCK_WRITE_SAFE : LOCK_WRITE_ONCE, hand->name);
    if (write->op == 0) return;
    history_at(write->op)->a = config.fence.fence;
    char tag[GH_LOCK_TAG_SIZE_MAX];
    gh_lock_tag(a->me->client, names[hand->name], tag, sizeof tag);
    (void)snprintf(write->key, sizeof write->key, "%s:%s", tag, safe ? "hash" : "list");
    (void)snprintf(write->member, sizeof write->member, "%u", write->op);
    (void)snprintf(write->fence, sizeof write->fence, "%u %llu", write->op, (unsigned long long)config.fence.fence);
    write->words[0] = gh_str_of(safe ? "HSET" : "RPUSH");
    write->words[1] = gh_str_of(write->key);
    write->words[2] = gh_str_of(safe ? write->member : write->fence);
    write->words[3] = gh_str_of(write->fence);
    gh_status status = gh_command_begin(&write->command, a->me->client, write->words, safe ? 4 : 3, &config);
    if (status == GH_OK) return;
    history_end(write->op, STORM_NOT_DONE, status);
    write->op = 0;
}

static void turn_write(lock_write* write)
{
    if (write->op == 0) return;
    gh_status status = gh_op_poll(&write->command.op);
    if (status == GH_PENDING) return;
    history_end(write->op, status == GH_TOO_SMALL ? STORM_DONE : storm_outcome_of(status), status);
    write->op = 0;
}

/* What is held, for as long as the library says so and its lease is not over by our clock. */
static void turn_held(lock_actor* a, lock_hand* hand)
{
    uint64_t end_us = storm_time_of(a->me, gh_lock_end_us(&hand->lock));
    /* a little less, for clocks that run unevenly */
    if (!hand->held && hand->hold_us != 0) hand->hold_end_us = a->me->now_us + hand->hold_us - hand->hold_us / 200;
    if (hand->hold_us != 0 && end_us > hand->hold_end_us) end_us = hand->hold_end_us;
    if (!hand->held)
    {
        hand->held = true;
        hand->told_end_us = end_us;
        hand->leave_us = a->me->now_us + random_below(&a->random, hand->name >= LOCK_LONG ? 6000000 : 8000);
        if (random_one_in(&a->random, 60)) hand->leave_us += random_below(&a->random, 1200000);
        note(a, HOLD_GRANTED, hand->name, hand->op, end_us, hand->lock.fence);
    }
    if (storm_time_moved(hand->told_end_us, end_us))
    {
        note(a, HOLD_LEASE, hand->name, hand->op, end_us, hand->lock.fence);
        hand->told_end_us = end_us;
    }
    if (random_one_in(&a->random, 5)) begin_write(a, hand);
    if (a->me->now_us >= hand->leave_us) let_go(a, hand);
}

static void end_lock(lock_actor* a, lock_hand* hand, gh_status status)
{
    if (hand->held) note(a, HOLD_OVER, hand->name, hand->op, (uint64_t)(int64_t)status, hand->lock.fence);
    hand->held = false;
    history_end(hand->op, status == GH_OK ? STORM_DONE : storm_outcome_of(status), status);
    hand->op = 0;
}

static void turn_lock(lock_actor* a, lock_hand* hand, bool may_begin)
{
    if (hand->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, hand == &a->hands[0] ? 20 : 60)) begin_lock(a, hand);
        return;
    }
    gh_status status = gh_op_poll(&hand->lock.op);
    if (status == GH_HELD) turn_held(a, hand);
    else if (status != GH_PENDING) end_lock(a, hand, status);
    else if (!hand->leaving && random_one_in(&a->random, 4000)) let_go(a, hand);
    if (hand->op != 0 && !may_begin && !hand->leaving) let_go(a, hand);
}

/* ---- a set ----------------------------------------------------------------------------------------------- */

static uint8_t name_of(const gh_lock* lock)
{
    for (uint8_t i = 0; i < LOCK_NAMES; i++)
    {
        if (gh_str_equal(gh_lock_fence(lock).name, names[i])) return i;
    }
    return 0;
}

static void begin_set(lock_actor* a)
{
    gh_lock_config config = gh_lock_config_default();
    uint8_t first = (uint8_t)random_below(&a->random, 3);
    uint8_t second = (uint8_t)((first + 1 + random_below(&a->random, 2)) % 3);
    gh_str wanted[2] = {names[first], names[second]};
    config.lease_us = random_between(&a->random, 150000, 900000);
    config.wait_us = random_between(&a->random, 0, 300000);
    a->set_op = history_begin(a->me->who, STORM_lock, HOLD_SET, first);
    if (a->set_op == 0) return;
    a->set_held = a->set_leaving = false;
    history_at(a->set_op)->a = config.lease_us;
    history_at(a->set_op)->b = second;
    history_at(a->set_op)->c = gh_client_id(a->me->client);
    gh_status status = gh_lock_set_begin(&a->set, a->me->client, a->set_locks, wanted, 2, &config);
    if (status == GH_OK) return;
    history_end(a->set_op, STORM_NOT_DONE, status);
    a->set_op = 0;
}

static void note_set(lock_actor* a, uint8_t what)
{
    for (int i = 0; i < 2; i++)
    {
        const gh_lock* lock = &a->set_locks[i];
        if (what == HOLD_GRANTED) a->set_names[i] = name_of(lock);
        note(a, what, a->set_names[i], a->set_op, storm_time_of(a->me, gh_lock_end_us(lock)), lock->fence);
    }
}

static void turn_set(lock_actor* a, bool may_begin)
{
    if (a->set_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 150)) begin_set(a);
        return;
    }
    gh_status status = gh_op_poll(&a->set.op);
    bool ours = status == GH_HELD;
    if (ours && !a->set_held)
    {
        note_set(a, HOLD_GRANTED);
        a->set_leave_us = a->me->now_us + random_below(&a->random, 20000);
    }
    if (!ours && a->set_held) note_set(a, HOLD_OVER);
    a->set_held = ours;
    if (!a->set_leaving && (!may_begin || (ours && a->me->now_us >= a->set_leave_us)))
    {
        if (ours) note_set(a, HOLD_OVER);
        a->set_held = false;
        a->set_leaving = true;
        gh_lock_set_release(&a->set);
    }
    else if (!ours && status != GH_PENDING)
    {
        history_end(a->set_op, status == GH_OK ? STORM_DONE : storm_outcome_of(status), status);
        a->set_op = 0;
    }
}

/* ---- the actor ------------------------------------------------------------------------------------------- */

static void turn(void* actor, bool may_begin)
{
    lock_actor* a = actor;
    for (int i = 0; i < OPS; i++) turn_lock(a, &a->hands[i], may_begin);
    for (int i = 0; i < WRITES; i++) turn_write(&a->writes[i]);
    turn_set(a, may_begin);
}

static bool idle(const void* actor)
{
    const lock_actor* a = actor;
    bool busy = a->set_op != 0;
    for (int i = 0; i < OPS; i++) busy = busy || a->hands[i].op != 0;
    for (int i = 0; i < WRITES; i++) busy = busy || a->writes[i].op != 0;
    return !busy;
}

/* ---- what the store says --------------------------------------------------------------------------------- */

/* As gh_lock_tag has it: each of the names is a word, a blank and a letter. */
static void key_of(uint8_t name, const char* behind, char key[128])
{
    const gh_str text = names[name];
    (void)snprintf(key, 128, "gh:{lock:%.*s%%20%c}%s", (int)text.size - 2, text.bytes, text.bytes[text.size - 1],
                   behind);
}

/* The store's clock, in microseconds; 0: no answer. */
static uint64_t store_time(storm_look* look)
{
    redisReply* reply = storm_look_command(look, NULL, "TIME");
    uint64_t now_us = 0;
    if (reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        now_us = strtoull(reply->element[0]->str, NULL, 10) * 1000000u + strtoull(reply->element[1]->str, NULL, 10);
    if (reply != NULL) freeReplyObject(reply);
    return now_us;
}

/* Whose a lock is just now, by KEYS.md: "<client>:<sequence> <fence> <expiry> <state> <waiters>". One that was there
   before and is not any more is nobody's, too. At store_us of the store's clock it was since_us. */
static void note_sight(const storm_look* look, uint8_t name, const redisReply* reply, uint64_t store_us,
                       uint64_t since_us)
{
    static bool was_there[LOCK_NAMES];
    unsigned long long client = 0, fence = 0, expiry_us = 0;
    char state = '-';
    bool known = reply->type == REDIS_REPLY_STRING &&
                 sscanf(reply->str, "%llx:%*x %llu %llu %c", &client, &fence, &expiry_us, &state) == 4;
    if (!known && (reply->type != REDIS_REPLY_NIL || !was_there[name])) return;
    was_there[name] = true;
    if (state == 'h' && expiry_us <= store_us) state = 'f'; /* nobody has asked since its lease was over */
    store_us += history_now() - since_us;
    storm_event event = {.system = STORM_lock,
                         .what = LOCK_SEEN,
                         .object = name,
                         .a = client,
                         .b = expiry_us > store_us ? expiry_us - store_us : 0,
                         .c = fence,
                         .d = (uint64_t)state};
    (void)history_event(look->who, event);
}

/* The time is asked for behind each look, if any has passed: the clock may be set forward between the two, and what is
   left would seem to be more than there ever was. */
static void witness(storm_look* look)
{
    char key[128];
    uint64_t since_us = history_now();
    uint64_t store_us = store_time(look);
    for (uint8_t i = 0; store_us != 0 && i < LOCK_NAMES; i++)
    {
        key_of(i, ":s", key);
        redisReply* reply = storm_look_command(look, key, "GET %s", key);
        if (reply == NULL) return;
        if (history_now() != since_us)
        {
            since_us = history_now();
            store_us = store_time(look);
        }
        if (store_us != 0) note_sight(look, i, reply, store_us, since_us);
        freeReplyObject(reply);
    }
}

static void read_register(storm_look* look, uint8_t name, const char* part, const char* command, uint8_t what)
{
    char key[128];
    key_of(name, part, key);
    redisReply* reply = storm_look_command(look, key, command, key);
    size_t count = reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
    for (size_t i = 0; i < count; i++)
    {
        unsigned op = 0;
        unsigned long long fence = 0;
        (void)sscanf(reply->element[i]->str, "%u %llu", &op, &fence);
        storm_event event = {.system = STORM_lock, .what = what, .object = name, .about = op, .a = fence, .b = i};
        (void)history_event(look->who, event);
    }
    if (reply != NULL) freeReplyObject(reply);
}

/* Every lock can be had in the end, at once when the longest lease is over. */
static void audit(storm_look* look)
{
    for (uint8_t i = 0; i < LOCK_NAMES; i++)
    {
        static gh_lock lock;
        gh_lock_config config = gh_lock_config_default();
        read_register(look, i, ":hash", "HVALS %s", LOCK_REGISTER);
        read_register(look, i, ":list", "LRANGE %s 0 -1", LOCK_ENTRY);
        config.wait_us = LOCK_LEASE_LONG_US + STORM_IN_THE_END_US;
        uint32_t op = history_begin(look->who, STORM_lock, LOCK_FREE, i);
        gh_status status = gh_lock_begin(&lock, look->client, names[i], &config);
        while ((status = gh_op_poll(&lock.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_end(op, storm_outcome_of(status), status);
        gh_lock_release(&lock);
        while (gh_op_poll(&lock.op) == GH_PENDING && storm_look_turn(look))
        {
        }
    }
}

const storm_system storm_lock = {.name = "lock",
                                 .whats = whats,
                                 .actor_size = sizeof(lock_actor),
                                 .start = start,
                                 .turn = turn,
                                 .idle = idle,
                                 .witness = witness,
                                 .audit = audit,
                                 .check = check_lock};
