/* speed.c -- large fleets in good weather, by the processor's time. */

#include "simulator/speed.h"

#include "simulator/campaign.h"

#include <stdio.h>

static void show(const char* what, const char* systems, uint32_t clients, uint32_t ops)
{
    schedule_wish wish = {.seed = 1, .systems = systems, .speed_clients = clients, .ops = ops, .store = STORM_ONE};
    schedule_result r;
    campaign_one(&wish, &r);
    printf("%-28s %u clients: %.0f requests and %.0f ops a second; %llu requests, %.1f virtual s in %.2f s\n", what,
           r.clients, (double)r.requests / r.played_s, (double)r.ops / r.played_s, (unsigned long long)r.requests,
           (double)r.virtual_us / 1e6, r.played_s);
}

void speed_show(void)
{
    show("locks alone", "lock", 32, 200000);
    show("locks alone", "lock", 8, 100000);
    show("mailboxes alone", "mailbox", 32, 200000);
    show("tasks alone", "tasks", 32, 100000);
    show("locks, tasks, mailboxes", "lock,tasks,mailbox,semaphore", 32, 200000);
    show("all systems", NULL, 32, 100000);
    show("all systems", NULL, 8, 50000);
}
