/* contacts.c -- jason meets some players, and while he types a name it is completed in his server's memory.

       contacts unix:/tmp/redis.sock        contacts 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(8) unsigned char mirror_memory[20 * 1024]; /* gh_contacts_memory(NULL) says what it takes */

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    gh_contacts recent = {0};
    gh_contacts_load load = {0};
    gh_contacts_change change = {0};
    const gh_str team[] = {gh_str_literal("Mia"), gh_str_literal("bob"), gh_str_literal("mike"), gh_str_literal("Ann")};

    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);
    if (status == GH_OK) /* he logs in */
        status = gh_contacts_init(&recent, client, gh_str_literal("jason"), NULL, mirror_memory, sizeof mirror_memory);
    if (status == GH_OK) status = gh_contacts_load_begin(&load, &recent, NULL);
    if (status == GH_OK) /* a match ends: all who played in it come to the front, in one step, and so in the mirror */
        status = gh_contacts_touch_many_begin(&change, &recent, team, sizeof team / sizeof team[0]);

    bool busy = status == GH_OK;
    while (busy) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        busy = gh_op_poll(&load.op) == GH_PENDING || gh_op_poll(&change.op) == GH_PENDING;
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    if (status == GH_OK) status = gh_op_poll(&load.op);
    if (status == GH_OK) status = gh_op_poll(&change.op);

    gh_contact found[10]; /* a key-stroke: no network, about a hundred nanoseconds */
    uint32_t count = gh_contacts_complete(&recent, gh_str_literal("m"), found, 10);
    for (uint32_t i = 0; i < count; i++) printf("m... %.*s\n", (int)found[i].name.size, found[i].name.bytes);
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "no contacts: %s\n", gh_status_text(status));
    return status == GH_OK && count >= 2 ? 0 : 1;
}
