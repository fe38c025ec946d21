/* speed.c -- large fleets in good weather, by the processor's time. */

#include "simulator/speed.h"

#include "simulator/campaign.h"

#include <stdio.h>

enum
{
    CLIENTS_USUAL = 32,
    OPS_USUAL = 100000
};

static void show(const char* what, const char* systems, uint32_t clients, uint32_t ops)
{
    schedule_wish wish = {.seed = 1, .systems = systems, .speed_clients = clients, .ops = ops, .store = STORM_ONE};
    schedule_result r;
    campaign_one(&wish, &r);
    if (!r.finished) printf("%-24s did not come to its end: %s\n", what, r.promise);
    if (!r.finished) return;
    printf("%-24s %3u clients: %.0f requests and %.0f ops a second; %llu requests, %.1f virtual s in %.2f s\n", what,
           r.clients, (double)r.requests / r.played_s, (double)r.ops / r.played_s, (unsigned long long)r.requests,
           (double)r.virtual_us / 1e6, r.played_s);
}

void speed_show(const schedule_wish* wish)
{
    static const uint32_t clients[] = {8, 32, 100};
    uint32_t ops = wish->ops != 0 ? wish->ops : OPS_USUAL;
    if (wish->systems != NULL || wish->clients != 0)
    {
        const char* what = wish->systems != NULL ? wish->systems : "all systems";
        show(what, wish->systems, wish->clients != 0 ? wish->clients : CLIENTS_USUAL, ops);
        return;
    }
    for (int i = 0; i < 3; i++) show("locks alone", "lock", clients[i], ops);
    show("mailboxes alone", "mailbox", CLIENTS_USUAL, ops);
    show("tasks alone", "tasks", CLIENTS_USUAL, ops);
    show("locks, tasks, mailboxes", "lock,tasks,mailbox,semaphore", CLIENTS_USUAL, ops);
    for (int i = 0; i < 3; i++) show("all systems", NULL, clients[i], ops);
}
