/* guild.c -- players join a guild, and somebody who types "je" pages through those whose names begin so.

       guild unix:/tmp/redis.sock        guild 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(8) char page[GH_GUILD_BUFFER_SIZE(2)];

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    gh_guild_change join = {0};
    gh_guild_search search = {0};
    gh_guild knights;
    gh_guild_member players[] = {{.name = gh_str_literal("Jenny"), .id = gh_str_literal("1001")},
                                 {.name = gh_str_literal("jeff"), .id = gh_str_literal("1002")},
                                 {.name = gh_str_literal("JEREMY"), .id = gh_str_literal("1003")},
                                 {.name = gh_str_literal("Jack"), .id = gh_str_literal("1004")}};

    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);
    gh_guild_search_config want = gh_guild_search_config_default();
    want.limit = 2; /* hits on a page */
    want.buffer = page;
    want.buffer_size = sizeof page;
    if (status == GH_OK) status = gh_guild_init(&knights, client, gh_str_literal("knights"), NULL);
    if (status == GH_OK) status = gh_guild_join_begin(&join, &knights, players, 4);

    uint32_t hits = 0;
    while (status == GH_OK) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        gh_status found = gh_op_poll(&search.op);
        if (gh_op_poll(&join.op) < 0) status = gh_op_poll(&join.op);
        if (gh_op_poll(&join.op) == GH_OK && found == GH_IDLE) /* they are members: somebody types */
            status = gh_guild_complete_begin(&search, &knights, gh_str_literal("je"), &want);
        if (found == GH_OK)
        {
            for (uint32_t i = 0; i < search.count; i++, hits++)
                printf("je... %.*s, player %.*s\n", (int)search.hits[i].name.size, search.hits[i].name.bytes,
                       (int)search.hits[i].id.size, search.hits[i].id.bytes);
            if (!search.more) break;
            status = gh_guild_next_begin(&search, &knights);
        }
        if (found < 0) status = found;
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "no guild: %s\n", gh_status_text(status));
    return status == GH_OK && hits >= 3 ? 0 : 1;
}
