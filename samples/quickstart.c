/* quickstart.c -- takes a lock in a frame loop, holds it for half a second, gives it back.

       quickstart unix:/tmp/redis.sock        quickstart 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024]; /* all the memory that the client will ever use */

/* Told of a server that is not there, among others. */
static void show(void* context, gh_log_level level, gh_str text)
{
    (void)context;
    if (level <= GH_LOG_WARNING) fprintf(stderr, "%.*s\n", (int)text.size, text.bytes);
}

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    config.hooks.log = show;

    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);

    gh_lock lock = {0}; /* lives where your game object lives; zero is idle */
    gh_lock_config want = gh_lock_config_default();
    want.wait_us = 5 * 1000 * 1000;
    if (status == GH_OK) gh_lock_begin(&lock, client, gh_str_literal("castle gate"), &want);

    int frames_held = 0;
    while (!gh_status_is_over(gh_op_poll(&lock.op))) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500); /* never waits; 500 us at most */

        if (gh_op_poll(&lock.op) == GH_HELD) /* ours in this frame, and nobody else's in the whole fleet */
        {
            if (frames_held++ == 0) printf("got the lock, fence %llu\n", (unsigned long long)lock.fence);
            if (frames_held == 30) gh_lock_release(&lock);
        }

        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);

    if (status == GH_OK) status = gh_op_poll(&lock.op);
    if (status == GH_OK) /* released, and the store has said so */
        printf("gave it back\n");
    else fprintf(stderr, "no lock: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
