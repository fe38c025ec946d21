/* speed.c -- large fleets in good weather, by the processor's time. */

#include "simulator/speed.h"

#include "simulator/campaign.h"

#include <stdio.h>

static void show(const char* what, const char* systems, uint32_t clients, uint32_t ops, uint32_t most)
{
    if (most != 0 && most < ops) ops = most;
    schedule_wish wish = {.seed = 1, .systems = systems, .speed_clients = clients, .ops = ops, .store = STORM_ONE};
    schedule_result r;
    campaign_one(&wish, &r);
    if (!r.finished) printf("%-28s did not come to its end: %s\n", what, r.promise);
    if (!r.finished) return;
    printf("%-28s %u clients: %.0f requests and %.0f ops a second; %llu requests, %.1f virtual s in %.2f s\n", what,
           r.clients, (double)r.requests / r.played_s, (double)r.ops / r.played_s, (unsigned long long)r.requests,
           (double)r.virtual_us / 1e6, r.played_s);
}

void speed_show(uint32_t most)
{
    show("locks alone", "lock", 32, 200000, most);
    show("locks alone", "lock", 8, 100000, most);
    show("mailboxes alone", "mailbox", 32, 200000, most);
    show("tasks alone", "tasks", 32, 100000, most);
    show("locks, tasks, mailboxes", "lock,tasks,mailbox,semaphore", 32, 200000, most);
    show("all systems", NULL, 32, 100000, most);
    show("all systems", NULL, 8, 50000, most);
}
