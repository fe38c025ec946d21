/* vacancy.c -- looks for keys with a prefix. */

#include "vacancy.h"

#include "member.h"
#include "stop.h"
#include "walk.h"

#include <stdio.h>

#define NO_ANSWER_US 20000000u

typedef struct look
{
    member member;
    walk walk;
    const options* options;
    uint64_t answers;
    uint64_t give_up_us;
} look;

/* Goes through all keys. False: it is not known what is there. */
static bool walk_until_over(look* l, const char* prefix, walk_kind kind)
{
    member* m = &l->member;
    bool over = false;
    walk_begin(&l->walk, m->client, prefix, l->options->cluster, kind);
    l->give_up_us = frame_now_us() + NO_ANSWER_US;
    while (!over && stop_signals() == 0 && frame_now_us() < l->give_up_us)
    {
        frame_begin(&m->clock);
        member_tick(m);
        uint64_t answers = l->walk.answers;
        over = walk_frame(&l->walk);
        if (l->walk.answers > answers) l->give_up_us = frame_now_us() + NO_ANSWER_US;
        member_tick(m);
        member_end_frame(m);
    }
    return over;
}

/* The keys of our own client go behind that: they are made again when it connects again. */
static vacancy look_until_known(look* l, const char* own_prefix)
{
    bool known = walk_until_over(l, l->options->prefix, WALK_FIND);
    vacancy found = l->walk.found ? VACANCY_TAKEN : VACANCY_FREE;
    if (known && walk_until_over(l, own_prefix, WALK_REMOVE)) return found;
    fprintf(stderr, "game_server: it is not known whether there are keys with the prefix already; to look, a user with "
                    "an ACL needs the key pattern fleet-*:epoch too\n");
    return VACANCY_UNKNOWN;
}

vacancy vacancy_of(const options* o, const char* own_prefix)
{
    static look l;
    l.options = o;
    options own = *o;
    own.prefix = own_prefix;
    gh_client_config capacities = gh_client_config_default();
    if (!member_open(&l.member, &own, "fleet", &capacities)) return VACANCY_UNKNOWN;
    member_phase(&l.member, "looking");
    vacancy found = look_until_known(&l, own_prefix);
    member_close(&l.member, true);
    return found;
}
