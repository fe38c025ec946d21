/* main.c -- an engine whose sockets Guildhall runs on. It counts its starts in the store.

       engine_platform unix:/tmp/redis.sock        engine_platform 127.0.0.1:6379 */

#include "engine_platform.h"
#include "net.h"

#include <stdio.h>

static _Alignas(16) unsigned char memory[256 * 1024];

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, engine_platform(), &client);

    gh_command count = {0};
    gh_str incr[] = {gh_str_literal("INCR"), gh_str_literal("engine:starts on own sockets")};
    if (status == GH_OK) status = gh_command_begin(&count, client, incr, 2, NULL);
    while (status == GH_OK && gh_op_poll(&count.op) == GH_PENDING) gh_tick(client, engine_time_us(), 500);

    if (status == GH_OK) status = gh_op_poll(&count.op);
    if (status == GH_OK)
        printf("start number %lld, on sockets of its own\n", (long long)gh_command_reply(&count)->integer);
    else fprintf(stderr, "engine_platform: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
