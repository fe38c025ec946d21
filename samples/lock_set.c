/* lock_set.c -- a trade between two players: both purses and the sword are locked at once, all or none.

       lock_set unix:/tmp/redis.sock        lock_set 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    gh_lock_set trade = {0};
    gh_lock locks[3] = {0}; /* one for each name */
    const gh_str names[] = {gh_str_literal("purse of jeff"), gh_str_literal("purse of jenny"),
                            gh_str_literal("sword 7")};

    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);
    gh_lock_config want = gh_lock_config_default();
    want.wait_us = 5 * 1000 * 1000; /* for all of them together */
    if (status == GH_OK) gh_lock_set_begin(&trade, client, locks, names, 3, &want);

    int frames_held = 0;
    while (!gh_status_is_over(gh_op_poll(&trade.op))) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        bool ours = gh_op_poll(&trade.op) == GH_HELD;
        if (ours && frames_held++ == 0) /* all three are ours, or we would have none */
            for (int i = 0; i < 3; i++)
                printf("%.*s is ours, fence %llu\n", (int)names[i].size, names[i].bytes,
                       (unsigned long long)locks[i].fence);
        if (ours && frames_held == 30) gh_lock_set_release(&trade);       /* coins and sword have changed hands */
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);

    if (status == GH_OK) status = gh_op_poll(&trade.op);
    if (status != GH_OK) /* GH_OK: released, and the store has said so */
    {
        fprintf(stderr, "no trade: %s\n", gh_status_text(status)); /* nothing is left locked */
        return 1;
    }
    printf("traded\n");
    return 0;
}
