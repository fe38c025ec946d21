/* auction.c -- three bids for a sword. Who bids holds the auction's lock: it reads, thinks, and writes under the lock's
   fence. A server that slept while its lock went to another writes nothing.

       auction unix:/tmp/redis.sock */

#include "guildhall/guildhall.h"

#include <stdio.h>

static _Alignas(16) unsigned char memory[GH_CLIENT_MEMORY_DEFAULT];

static gh_status end_of(gh_client* client, gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) gh_client_tick(client, 500); /* a game would draw a frame meanwhile */
    return gh_op_poll(op);
}

static void bid(gh_client* client, gh_fence fence, const char* who, int gold)
{
    gh_command_line look = GH_ZERO, lead = GH_ZERO;
    gh_command_config config = gh_command_config_default();
    int64_t best = 0;
    gh_command_format(&look, client, NULL, "HGET auction:sword gold");
    end_of(client, &look.op);
    gh_reply_int(gh_command_reply(&look.command), &best); /* nobody has bid: best stays 0 */
    config.fence = fence;
    if (gold > best) gh_command_format(&lead, client, &config, "HSET auction:sword who %s gold %d", who, gold);
    printf("%s bids %d: %s\n", who, gold, gold > best ? gh_status_name(end_of(client, &lead.op)) : "too low");
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client) != GH_OK) return 1;

    gh_lock lock = GH_ZERO, next = GH_ZERO;
    gh_lock_begin(&lock, client, gh_str_literal("auction"), NULL);
    if (end_of(client, &lock.op) != GH_HELD) return 1;
    gh_fence old = gh_lock_fence(&lock);
    bid(client, old, "jason", 120);
    bid(client, old, "jeff", 100);
    gh_lock_release(&lock);
    gh_lock_begin(&next, client, gh_str_literal("auction"), NULL); /* another has it now */
    if (end_of(client, &next.op) != GH_HELD) return 1;
    bid(client, old, "jenny", 500);
    gh_client_shutdown(client);
    return 0;
}
