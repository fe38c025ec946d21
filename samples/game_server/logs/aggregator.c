/* aggregator.c -- the role aggregator: counts what the servers have logged. It may be killed at any time: a
   file that it had not finished is counted by the next one, and never twice.

       frame_begin
       gh_tick       brings the next pieces of a file
       counting      some thousand lines of it, added up (counting.h)
       gh_tick       what this frame has asked goes out
       frame_end     sleeps until the next frame */

#include "counting.h"
#include "member.h"
#include "roles.h"
#include "stop.h"

#define LINES_EACH_FRAME 20000u
#define DRAIN_US         2000000u
#define ENDING_US        30000000u

typedef struct aggregator
{
    member member;
    counting counting;
} aggregator;

static void show_counts(aggregator* a)
{
    const counting* c = &a->counting;
    const struct
    {
        const char* name;
        uint64_t value;
    } counts[] = {{"files.added", c->files_added},     {"files.added before", c->files_added_before},
                  {"files.refused", c->files_refused}, {"lines.added", c->lines},
                  {"lines.nowhere", c->lines_unknown}, {"lines.malformed", c->lines_malformed},
                  {"files.restarts", c->restarts}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    {
        uint64_t* count = board_count_of(&a->member.row, counts[i].name);
        if (count != NULL) *count = counts[i].value;
    }
}

static void one_frame(aggregator* a, bool counts)
{
    member* m = &a->member;
    frame_begin(&m->clock);
    member_tick(m);
    if (counts) counting_frame(&a->counting, m->clock.now_us, LINES_EACH_FRAME);
    show_counts(a);
    member_tick(m);
    member_end_frame(m);
}

/* Until it is told to end; then until no file is left. The list that is under way then was begun before the
   last file came, perhaps: it takes one more. False: there was no end to it. */
static bool count_all(aggregator* a)
{
    const counting* c = &a->counting;
    member_phase(&a->member, "counting");
    while (stop_signals() == 0) one_frame(a, true);
    member_phase(&a->member, "closing");
    uint64_t enough = c->empty_lists + 2;
    uint64_t give_up_us = frame_now_us() + ENDING_US;
    while (c->empty_lists < enough && stop_signals() < 2 && frame_now_us() < give_up_us) one_frame(a, true);
    return c->empty_lists >= enough;
}

int aggregator_main(const options* o)
{
    static _Thread_local aggregator a;
    gh_client_config capacities = gh_client_config_default();
    if (!member_open(&a.member, o, "aggregator", &capacities)) return 1;
    bool opened = counting_open(&a.counting, a.member.client, gh_str_of(o->name), o->addresses);
    bool good = opened && count_all(&a);
    gh_client_drain(a.member.client, DRAIN_US);
    while (!gh_client_drained(a.member.client)) one_frame(&a, false);
    member_close(&a.member, good);
    if (opened) counting_close(&a.counting);
    return good ? 0 : 1;
}
