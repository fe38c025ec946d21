/* systems.c -- which systems there are, what their outcomes mean, and the names of marks. */

#include "storm/nemesis.h"
#include "storm/storm.h"

#include <string.h>

enum
{
    UNEVEN_US = 10000
};

storm_options storm;

#define STORM_SYSTEM_ROW(name) &storm_##name,
static const storm_system* const systems[STORM_SYSTEMS_MAX] = {NULL, STORM_SYSTEMS(STORM_SYSTEM_ROW)};
#undef STORM_SYSTEM_ROW

const storm_system* storm_system_of(uint8_t number)
{
    return number < STORM_SYSTEM_END ? systems[number] : NULL;
}

bool storm_system_is_on(uint8_t number)
{
    return storm.on[number];
}

const char* storm_mark_name(uint8_t what)
{
    static const char* const names[] = {"?",     "link",   "shaken", "stall",     "loss",
                                        "clock", "killed", "calm",   "assertion", "build"};
    return what < MARK_FAULT ? names[what] : nemesis_kind_name((unsigned)what - MARK_FAULT);
}

uint64_t storm_time_of(const storm_client* me, uint64_t clock_us)
{
    return me->now_us + (clock_us - me->clock_us);
}

bool storm_time_moved(uint64_t before_us, uint64_t after_us)
{
    uint64_t gap_us = before_us < after_us ? after_us - before_us : before_us - after_us;
    return gap_us > UNEVEN_US;
}

storm_outcome storm_outcome_of(gh_status status)
{
    if (status == GH_OK || status == GH_HELD || status == GH_EMPTY) return STORM_DONE;
    if (status == GH_UNKNOWN || status == GH_CORRUPT) return STORM_UNKNOWN;
    return STORM_NOT_DONE;
}

random_stream storm_random(const char* label, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t hash = storm.seed ^ UINT64_C(0xcbf29ce484222325);
    for (; *label != '\0'; label++) hash = (hash ^ (unsigned char)*label) * UINT64_C(0x100000001b3);
    random_stream mixer = random_from_seed(hash ^ (x * UINT64_C(0x9e3779b97f4a7c15)));
    mixer.state ^= random_next(&mixer) + y;
    mixer.state ^= random_next(&mixer) + z;
    return random_from_seed(random_next(&mixer));
}

const char* storm_choose_systems(const char* names)
{
    for (const char* at = names; *at != '\0';)
    {
        size_t size = strcspn(at, ",");
        uint8_t found = 0;
        for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
        {
            if (strlen(systems[i]->name) == size && strncmp(systems[i]->name, at, size) == 0) found = i;
        }
        if (found == 0) return at;
        storm.on[found] = true;
        at += size + (at[size] == ',' ? 1 : 0);
    }
    return NULL;
}

void storm_look_await(storm_look* look)
{
    for (bool busy = true; busy && storm_look_turn(look);)
    {
        redisReply* reply = storm_look_command(look, NULL, "PING");
        busy = reply == NULL || reply->type == REDIS_REPLY_ERROR;
        if (reply != NULL) freeReplyObject(reply);
    }
}
