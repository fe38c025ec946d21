/* looked_at.c -- ops in all their states, a client, some strings, and then a place to stop: for a debugger.

       looked_at unix:/tmp/redis.sock */

#include "guildhall/guildhall.h"

static _Alignas(16) unsigned char memory[GH_CLIENT_MEMORY_DEFAULT];
static gh_lock idle;
static gh_lock refused;
static gh_lock held;
static gh_lock copied;
static gh_client* client;
static gh_str plain = {"jas\"on\n", 7};
static gh_str none;
static gh_name name = {5, "jenny"};

/* Here a debugger stops. */
int look(void)
{
    return plain.size == 7 && none.size == 0 && name.size == 5;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    if (gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client) != GH_OK) return 1;
    held.op.tag = 7;
    gh_lock_begin(&refused, client, gh_str_literal(""), NULL);
    gh_lock_begin(&held, client, gh_str_literal("castle gate"), NULL);
    while (gh_op_poll(&held.op) == GH_PENDING) gh_client_tick(client, 0);
    copied = held;
    if (!look() || gh_op_is_busy(&idle.op)) return 1;
    gh_client_shutdown(client);
    return look() ? 0 : 1;
}
