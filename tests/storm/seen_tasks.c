/* seen_tasks.c -- what the store says of the tasks, while the storm goes on and in the end. */

#include "storm/storm_tasks.h"

#include "guildhall/tasks_admin.h"
#include "storm/storm_bell.h"

#include <stdio.h>

/* By KEYS.md: ids handed out lie in :l with the ends of their leases, and their states
   "L <attempt> <fence> <client>:<sequence>" in :m. */
static const char seen_script[] =
    "local t = redis.call('TIME') local now = t[1] * 1000000 + t[2]"
    " local ids = redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf', 'LIMIT', 0, 100) if #ids == 0 then return {} end"
    " local states, out = redis.call('HMGET', KEYS[2], unpack(ids)), {}"
    " for i = 1, #ids do out[i] = ids[i] .. ' ' .. (states[i] or '-') end return out";

static void note_seen(storm_look* look, uint8_t queue, const char* text)
{
    unsigned push = 0, place = 0, attempt = 0;
    unsigned long long fence = 0, client = 0;
    char state = 0;
    if (sscanf(text, "%u.%u %c %u %llu %llx:", &push, &place, &state, &attempt, &fence, &client) != 6) return;
    if ((state != 'L' && state != 'K') || push > history_count()) return;
    storm_event event = {.system = STORM_tasks,
                         .what = TASKS_SEEN,
                         .object = queue,
                         .about = push,
                         .a = fence,
                         .b = client,
                         .c = place,
                         .d = attempt};
    (void)history_event(look->who, event);
}

void tasks_witness(storm_look* look)
{
    for (uint8_t i = 0; i < TASKS_QUEUES; i++)
    {
        char leases[64], states[64];
        (void)snprintf(leases, sizeof leases, "gh:{tasks:%s}:l", tasks_queues[i].bytes);
        (void)snprintf(states, sizeof states, "gh:{tasks:%s}:m", tasks_queues[i].bytes);
        redisReply* reply = storm_look_command(look, leases, "EVAL %s 2 %s %s", seen_script, leases, states);
        if (reply == NULL) return;
        for (size_t k = 0; reply->type == REDIS_REPLY_ARRAY && k < reply->elements; k++)
            note_seen(look, i, reply->element[k]->str);
        freeReplyObject(reply);
    }
    bell_witness(look);
}

/* By KEYS.md: a state is "<letter> <attempt> <fence> ...", and dead letters lie in :x. */
static void note_state(storm_look* look, storm_event* event, const char* queue, const redisReply* id)
{
    char states[64], letters[64];
    (void)snprintf(states, sizeof states, "gh:{tasks:%s}:m", queue);
    (void)snprintf(letters, sizeof letters, "gh:{tasks:%s}:x", queue);
    redisReply* state = storm_look_command(look, states, "HGET %s %b", states, id->str, (size_t)id->len);
    redisReply* dead = storm_look_command(look, letters, "ZSCORE %s %b", letters, id->str, (size_t)id->len);
    unsigned long long fence = 0;
    char letter = 0;
    bool is_text = state != NULL && state->type == REDIS_REPLY_STRING;
    if (is_text && sscanf(state->str, "%c %*u %llu", &letter, &fence) > 0) event->a = (unsigned char)letter;
    event->d = fence;
    event->b = dead != NULL && dead->type != REDIS_REPLY_NIL ? 1 : 0;
    if (state != NULL) freeReplyObject(state);
    if (dead != NULL) freeReplyObject(dead);
}

static void note_left(storm_look* look, uint8_t queue)
{
    char payloads[64];
    (void)snprintf(payloads, sizeof payloads, "gh:{tasks:%s}:p", tasks_queues[queue].bytes);
    redisReply* reply = storm_look_command(look, payloads, "HGETALL %s", payloads);
    for (size_t k = 0; reply != NULL && reply->type == REDIS_REPLY_ARRAY && k + 1 < reply->elements; k += 2)
    {
        gh_str id = gh_str_make(reply->element[k]->str, (size_t)reply->element[k]->len);
        uint32_t push = 0, place = 0;
        if (!tasks_read_id(id, &push, &place) || reply->element[k + 1]->len == 0) continue; /* empty: cancelled */
        storm_event event = {.system = STORM_tasks, .what = TASKS_LEFT, .object = queue, .about = push, .c = place};
        note_state(look, &event, tasks_queues[queue].bytes, reply->element[k]);
        (void)history_event(look->who, event);
    }
    if (reply != NULL) freeReplyObject(reply);
}

void tasks_audit(storm_look* look)
{
    for (uint8_t i = 0; i < TASKS_QUEUES; i++)
    {
        static gh_tasks_count count;
        uint32_t op = history_begin(look->who, STORM_tasks, TASKS_COUNTED, i);
        gh_queue queue;
        (void)gh_queue_init(&queue, look->client, tasks_queues[i], NULL);
        gh_status status = gh_tasks_count_begin(&count, &queue);
        while ((status = gh_op_poll(&count.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_at(op)->a = count.stored;
        history_at(op)->b = count.handed_out;
        history_at(op)->c = count.expired;
        history_at(op)->d = count.dead;
        history_end(op, storm_outcome_of(status), status);
        note_left(look, i);
    }
    bell_audit(look);
}
