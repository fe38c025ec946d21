/* semaphore.c -- five players want one of three seats in an arena, sit for a while, and leave; those who wait
   see their place in line.

       semaphore unix:/tmp/redis.sock        semaphore 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

#define PLAYERS 5

static _Alignas(16) unsigned char memory[256 * 1024];

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    gh_permit seats[PLAYERS] = {0}; /* one for each player; zero is idle */
    unsigned place[PLAYERS] = {0};
    unsigned frames[PLAYERS] = {0};
    unsigned left = PLAYERS;

    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);
    gh_semaphore arena;
    gh_semaphore_config want = gh_semaphore_config_default();
    want.limit = 3; /* seats in the whole fleet */
    if (status == GH_OK) status = gh_semaphore_init(&arena, client, gh_str_literal("arena"), &want);
    for (int i = 0; i < PLAYERS && status == GH_OK; i++) status = gh_permit_begin(&seats[i], &arena, NULL);

    while (client != NULL && !gh_client_drained(client)) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        for (int i = 0; i < PLAYERS; i++)
        {
            gh_status seat = gh_op_poll(&seats[i].op);
            if (seat == GH_PENDING && seats[i].position > 0 && seats[i].position != place[i])
                printf("player %d is number %u in line\n", i, place[i] = seats[i].position);
            else if (seat == GH_HELD && frames[i]++ == 0) printf("player %d has a seat\n", i);
            else if (seat == GH_HELD && frames[i] == 20) gh_permit_release(&seats[i]);
            else if (seat == GH_OK && frames[i] < UINT32_MAX)
                frames[i] = UINT32_MAX, left--; /* gone, and the store has said so */
            else if (seat < 0) status = seat;
        }
        /* at the end, what is held is given back, in a second at most */
        if (left == 0 || status != GH_OK) gh_client_drain(client, 1000 * 1000);
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "no seat: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
