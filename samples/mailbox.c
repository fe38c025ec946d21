/* mailbox.c -- leaves mail for a player, reads it as the player's server would, and says that it was handled.

       mailbox unix:/tmp/redis.sock        mailbox 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(8) char mail[8 * 1024]; /* what was fetched lies here */

static void frame(gh_client* client)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);

    gh_mailbox jason;
    if (status == GH_OK) status = gh_mailbox_init(&jason, client, gh_str_literal("jason"), NULL);
    gh_post posts[] = {{.sender = gh_str_literal("market"), .body = gh_str_literal("your sword was sold")},
                       {.sender = gh_str_literal("jeff"), .body = gh_str_literal("nice one!")}};
    gh_mailbox_push push = {0};
    if (status == GH_OK) status = gh_mailbox_push_begin(&push, &jason, posts, 2);
    while (status == GH_OK && gh_op_poll(&push.op) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_op_poll(&push.op);

    gh_mailbox_fetch fetch = {0};
    gh_mailbox_fetch_config want = gh_mailbox_fetch_config_default();
    want.buffer = mail;
    want.buffer_size = sizeof mail;
    if (status == GH_OK) status = gh_mailbox_fetch_begin(&fetch, &jason, &want);
    while (status == GH_OK && gh_op_poll(&fetch.op) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_op_poll(&fetch.op);
    for (uint32_t i = 0; status == GH_OK && i < fetch.count; i++)
        printf("%.*s: %.*s\n", (int)fetch.messages[i].sender.size, fetch.messages[i].sender.bytes,
               (int)fetch.messages[i].body.size, fetch.messages[i].body.bytes);

    gh_mailbox_commit commit = {0}; /* had we died before this, they would be fetched again */
    uint64_t last = status == GH_OK ? fetch.messages[fetch.count - 1].id : 0;
    if (status == GH_OK) status = gh_mailbox_commit_begin(&commit, &jason, fetch.epoch, last);
    while (status == GH_OK && gh_op_poll(&commit.op) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_op_poll(&commit.op);
    if (status == GH_OK) printf("%llu left\n", (unsigned long long)commit.unread);
    if (status != GH_OK) fprintf(stderr, "mailbox: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
