/* storm_command.c -- commands and scripts under GH_REPEAT_ONCE: each puts its name at the end of one of few lists, and
   is told how long that is now. So the list shows who was carried out twice, and whose answer was another's. */

#include "storm/storm_command.h"

#include "guildhall/command.h"
#include "storm/storm.h"

#include <stdio.h>

enum
{
    OPS = 3 /* of one client at once */
};

typedef struct command_hand
{
    gh_command command;
    uint32_t op; /* 0: none is going on */
    char member[16];
    gh_str words[3];
} command_hand;

typedef struct command_actor
{
    storm_client* me;
    random_stream random;
    gh_script script;
    command_hand hands[OPS];
} command_actor;

static const char* const whats[] = {"?", "once", "entry"};

static const gh_str keys[COMMAND_NAMES] = {GH_STR_INIT("storm:a"), GH_STR_INIT("{storm}b"), GH_STR_INIT("storm:c")};

static void start(void* actor, storm_client* me, random_stream random)
{
    command_actor* a = actor;
    a->me = me;
    a->random = random;
    a->script.text = gh_str_literal("return redis.call('RPUSH', KEYS[1], ARGV[1])");
}

static void begin_once(command_actor* a, command_hand* hand)
{
    uint8_t name = (uint8_t)random_below(&a->random, COMMAND_NAMES);
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_ONCE;
    config.timeout_us = random_between(&a->random, 300000, 4000000);
    hand->op = history_begin(a->me->who, STORM_command, COMMAND_ONCE, name);
    if (hand->op == 0) return;
    (void)snprintf(hand->member, sizeof hand->member, "%u", hand->op);
    hand->words[0] = gh_str_literal("RPUSH");
    hand->words[1] = keys[name];
    hand->words[2] = gh_str_of(hand->member);
    gh_status status;
    if (random_one_in(&a->random, 2)) status = gh_command_begin(&hand->command, a->me->client, hand->words, 3, &config);
    else
        status =
            gh_script_begin(&hand->command, a->me->client, &a->script, hand->words + 1, 1, hand->words + 2, 1, &config);
    if (status == GH_OK) return;
    history_end(hand->op, STORM_NOT_DONE, status);
    hand->op = 0;
}

/* ERROR is an answer: RPUSH, which is all that was to be done, was refused. */
static void turn_hand(command_actor* a, command_hand* hand, bool may_begin)
{
    if (hand->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 20)) begin_once(a, hand);
        return;
    }
    gh_status status = gh_op_poll(&hand->command.op);
    if (status == GH_PENDING)
    {
        if (random_one_in(&a->random, 2000)) gh_op_cancel(&hand->command.op);
        return;
    }
    int64_t size = 0;
    if (status == GH_OK && gh_reply_int(gh_command_reply(&hand->command), &size))
        history_at(hand->op)->a = (uint64_t)size;
    history_end(hand->op, storm_outcome_of(status), status);
    hand->op = 0;
}

static void turn(void* actor, bool may_begin)
{
    command_actor* a = actor;
    for (int i = 0; i < OPS; i++) turn_hand(a, &a->hands[i], may_begin);
}

static bool idle(const void* actor)
{
    const command_actor* a = actor;
    bool busy = false;
    for (int i = 0; i < OPS; i++) busy = busy || a->hands[i].op != 0;
    return !busy;
}

static void audit(storm_look* look)
{
    for (uint8_t i = 0; i < COMMAND_NAMES; i++)
    {
        redisReply* reply = storm_look_command(look, keys[i].bytes, "LRANGE %s 0 -1", keys[i].bytes);
        size_t count = reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
        for (size_t k = 0; k < count; k++)
        {
            unsigned op = 0;
            (void)sscanf(reply->element[k]->str, "%u", &op);
            storm_event event = {.system = STORM_command, .what = COMMAND_ENTRY, .object = i, .about = op, .a = k + 1};
            (void)history_event(look->who, event);
        }
        if (reply != NULL) freeReplyObject(reply);
    }
}

const storm_system storm_command = {.name = "command",
                                    .whats = whats,
                                    .actor_size = sizeof(command_actor),
                                    .start = start,
                                    .turn = turn,
                                    .idle = idle,
                                    .audit = audit,
                                    .check = check_command};
