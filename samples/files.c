/* files.c -- sends a file to a server, and reads it line by line as that one would.

       files unix:/tmp/redis.sock        files 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char send_memory[128 * 1024]; /* chunks on their way out */
static _Alignas(16) unsigned char read_memory[128 * 1024]; /* and in */

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
    gh_str name = gh_str_literal("rules of the arena"), reader = gh_str_literal("server 1"), line;
    gh_str rules = gh_str_literal("no potions\nno mounts\nlast one standing wins\n");

    gh_file_send send = {0};
    gh_file_send_config to = gh_file_send_config_default();
    to.readers = &reader, to.reader_count = 1, to.memory = send_memory, to.memory_size = sizeof send_memory;
    if (status == GH_OK) status = gh_file_send_begin(&send, client, name, &to);
    for (size_t taken = 0; status == GH_OK && gh_file_send_poll(&send) == GH_PENDING; frame(client))
    {
        gh_file_send_push(&send, rules, &taken); /* what it has room for: a real file goes piece by piece */
        rules.bytes += taken, rules.size -= taken;
        if (rules.size == 0) gh_file_send_finish(&send);
    }
    if (status == GH_OK) status = gh_file_send_poll(&send);
    gh_file_read file = {0};
    gh_file_read_config from = gh_file_read_config_default();
    from.memory = read_memory, from.memory_size = sizeof read_memory;
    if (status == GH_OK) status = gh_file_read_begin(&file, client, name, reader, &from);
    for (; status >= GH_OK && gh_file_read_poll(&file) == GH_PENDING; frame(client))
    {
        while ((status = gh_file_read_line(&file, &line)) == GH_OK)
            printf("%.*s\n", (int)line.size, line.bytes);
        if (status == GH_EMPTY)
            gh_file_read_done(&file); /* whole and verified; it goes when all have said so */
    }
    if (status >= GH_OK) status = gh_file_read_poll(&file);
    if (status == GH_FILE_DONE) printf("read before\n"), status = GH_OK;
    if (status != GH_OK) fprintf(stderr, "files: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
