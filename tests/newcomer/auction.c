/* auction.c -- two bids for a sword. Who bids holds the auction's lock, and writes under its fence: a server that slept
   while its lock went to another writes nothing.

       auction unix:/tmp/redis.sock */

#include "guildhall/guildhall.h"

#include <stdio.h>

static _Alignas(16) unsigned char memory[GH_CLIENT_MEMORY_DEFAULT];

static gh_status end_of(gh_client* client, gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) gh_client_tick(client, 500); /* a game would draw a frame meanwhile */
    return gh_op_poll(op);
}

static void bid(gh_client* client, gh_fence fence, const char* who, const char* gold)
{
    static gh_script raise = {
        .text = GH_STR_INIT("if tonumber(ARGV[2]) <= tonumber(redis.call('HGET', KEYS[1], 'gold') or 0) "
                            "then return 0 end "
                            "redis.call('HSET', KEYS[1], 'who', ARGV[1], 'gold', ARGV[2]) return 1")};
    const gh_str key = gh_str_literal("auction:sword");
    const gh_str arguments[] = {gh_str_of(who), gh_str_of(gold)};
    gh_command command = GH_ZERO;
    gh_command_config config = gh_command_config_default();
    config.fence = fence;
    gh_script_begin(&command, client, &raise, &key, 1, arguments, 2, &config);
    gh_status status = end_of(client, &command.op);
    printf("%s bids %s: %s\n", who, gold,
           status != GH_OK ? gh_status_name(status) : command.reply.integer == 1 ? "leads" : "too low");
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client) != GH_OK) return 1;

    gh_lock lock = GH_ZERO;
    gh_lock_begin(&lock, client, gh_str_literal("auction"), NULL);
    if (end_of(client, &lock.op) != GH_HELD) return 1;
    gh_fence old = gh_lock_fence(&lock);
    bid(client, old, "jason", "120");
    bid(client, old, "jeff", "100");
    gh_lock_release(&lock);
    end_of(client, &lock.op);
    gh_lock_begin(&lock, client, gh_str_literal("auction"), NULL); /* it was given to another meanwhile */
    end_of(client, &lock.op);
    bid(client, old, "jenny", "500");
    gh_client_shutdown(client);
    return 0;
}
