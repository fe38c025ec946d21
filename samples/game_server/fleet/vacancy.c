/* vacancy.c -- looks for keys with a prefix, some thousand at a time. */

#include "vacancy.h"

#include "guildhall/command.h"
#include "member.h"
#include "stop.h"

#include <stdio.h>

#define NO_ANSWER_US 20000000u
#define FOUND        "found"

/* The key of our own client goes each time: it is made again when the client connects again. */
static const char look_at_some[] = "redis.call('UNLINK', ARGV[3])\n"
                                   "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', '5000')\n"
                                   "if #page[2] > 0 then return '" FOUND "' end\n"
                                   "return page[1]\n";

typedef struct look
{
    member member;
    gh_script script;
    gh_command op;
    char cursor[24]; /* or FOUND */
    char pattern[64];
    char own_key[64];
    gh_str arguments[3];
    uint64_t reply[16];
    uint64_t give_up_us;
} look;

static void ask(look* l)
{
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.reply_memory = l->reply;
    config.reply_size = sizeof l->reply;
    l->arguments[0] = gh_str_of(l->cursor);
    l->arguments[1] = gh_str_of(l->pattern);
    l->arguments[2] = gh_str_of(l->own_key);
    gh_script_begin(&l->op, l->member.client, &l->script, NULL, 0, l->arguments, 3, &config);
}

/* True when it has come to an end. */
static bool vacancy_frame(look* l)
{
    gh_status status = gh_op_poll(&l->op.op);
    if (status == GH_PENDING) return false;
    if (status == GH_OK)
    {
        gh_str cursor = gh_command_reply(&l->op)->text;
        snprintf(l->cursor, sizeof l->cursor, "%.*s", (int)cursor.size, cursor.bytes);
        l->give_up_us = frame_now_us() + NO_ANSWER_US;
        if (strcmp(l->cursor, FOUND) == 0 || strcmp(l->cursor, "0") == 0) return true;
    }
    ask(l);
    return false;
}

static vacancy look_until_known(look* l)
{
    member* m = &l->member;
    bool known = false;
    l->give_up_us = frame_now_us() + NO_ANSWER_US;
    while (!known && stop_signals() == 0 && frame_now_us() < l->give_up_us)
    {
        frame_begin(&m->clock);
        member_tick(m);
        known = vacancy_frame(l);
        member_tick(m);
        member_end_frame(m);
    }
    if (known) return strcmp(l->cursor, FOUND) == 0 ? VACANCY_TAKEN : VACANCY_FREE;
    fprintf(stderr, "game_server: it is not known whether there are keys with the prefix already; to look, a user with "
                    "an ACL needs the key pattern fleet-*:epoch too\n");
    return VACANCY_UNKNOWN;
}

vacancy vacancy_of(const options* o, const char* own_prefix)
{
    static look l;
    l = (look){.cursor = "0", .script.text = gh_str_of(look_at_some)};
    snprintf(l.pattern, sizeof l.pattern, "%s:*", o->prefix);
    snprintf(l.own_key, sizeof l.own_key, "%s:epoch", own_prefix);
    options own = *o;
    own.prefix = own_prefix;
    gh_client_config capacities = gh_client_config_default();
    if (!member_open(&l.member, &own, "fleet", &capacities)) return VACANCY_UNKNOWN;
    member_phase(&l.member, "looking");
    vacancy found = look_until_known(&l);
    member_close(&l.member, true);
    return found;
}
