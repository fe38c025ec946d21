/* engine.c -- an engine that has its own build and took Guildhall in as two files: guildhall.h and
   guildhall.c. It counts the starts of the engine in the store, and shows the frame loop that goes with it.

       engine unix:/tmp/redis.sock        engine 127.0.0.1:6379 */

#include "guildhall.h"

#include <stdio.h>

static _Alignas(16) unsigned char memory[256 * 1024];

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);

    gh_command count = {0};
    gh_str incr[] = {gh_str_literal("INCR"), gh_str_literal("engine:starts")};
    if (status == GH_OK) status = gh_command_begin(&count, client, incr, 2, NULL);
    while (status == GH_OK && gh_op_poll(&count.op) == GH_PENDING)
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        /* ... the rest of the frame; an engine waits for its next frame here, this one has nothing else to do
         */
    }

    if (status == GH_OK) status = gh_op_poll(&count.op);
    if (status == GH_OK) printf("start number %lld\n", (long long)gh_command_reply(&count)->integer);
    else fprintf(stderr, "engine: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
