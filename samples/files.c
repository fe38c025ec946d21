/* files.c -- sends a file to two servers, and reads it line by line as they would.

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

static gh_status send_file(gh_client* client, gh_str name, gh_str bytes, const gh_str* readers)
{
    gh_file_send_config config = gh_file_send_config_default();
    config.readers = readers, config.reader_count = 2;
    config.memory = send_memory, config.memory_size = sizeof send_memory;
    gh_file_send send = {0};
    gh_status status = gh_file_send_begin(&send, client, name, &config);
    if (status != GH_OK) return status;
    for (size_t taken = 0; gh_file_send_poll(&send) == GH_PENDING; frame(client))
    {
        gh_file_send_push(&send, bytes,
                          &taken); /* takes what it has room for: a real file goes piece by piece */
        bytes.bytes += taken, bytes.size -= taken;
        if (bytes.size == 0) gh_file_send_finish(&send);
    }
    return gh_file_send_poll(&send);
}

static gh_status read_file(gh_client* client, gh_str name, gh_str reader)
{
    gh_file_read_config config = gh_file_read_config_default();
    config.memory = read_memory, config.memory_size = sizeof read_memory;
    gh_file_read file = {0};
    gh_status status = gh_file_read_begin(&file, client, name, reader, &config);
    if (status != GH_OK) return status;
    for (; gh_file_read_poll(&file) == GH_PENDING; frame(client))
    {
        gh_str line;
        while ((status = gh_file_read_line(&file, &line)) == GH_OK)
            printf("%.*s reads: %.*s\n", (int)reader.size, reader.bytes, (int)line.size, line.bytes);
        if (status == GH_EMPTY) gh_file_read_done(&file); /* whole and verified; it goes when both are done */
    }
    if (gh_file_read_poll(&file) != GH_FILE_DONE) return gh_file_read_poll(&file);
    printf("%.*s has read it before\n", (int)reader.size, reader.bytes);
    return GH_OK;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    const gh_str readers[] = {gh_str_literal("server 1"), gh_str_literal("server 2")};
    gh_str name = gh_str_literal("rules of the arena");
    gh_str rules = gh_str_literal("no potions\nno mounts\nlast one standing wins\n");
    if (status == GH_OK) status = send_file(client, name, rules, readers);
    for (int i = 0; i < 2 && status == GH_OK; i++) status = read_file(client, name, readers[i]);
    if (status != GH_OK) fprintf(stderr, "files: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
