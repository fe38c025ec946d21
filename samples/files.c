/* files.c -- jason sends jenny a picture: its bytes go by files.h, and a message in her mailbox names it.

       files unix:/tmp/redis.sock        files 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

#define WIDTH  120
#define HEIGHT 80

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char send_memory[128 * 1024], read_memory[128 * 1024]; /* chunks on their way */
static _Alignas(8) char mail[8 * 1024];
static char sent[64 * 1024], received[sizeof sent];
static gh_client* client;
static gh_mailbox box; /* jenny's */
static const gh_str jason = GH_STR_INIT("jason"), jenny = GH_STR_INIT("jenny");

static void frame(void)
{
    gh_client_tick(client, 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

/* How an op has ended; a begin that was refused has, too. */
static gh_status end_of(gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) frame();
    return gh_op_poll(op);
}

/* A screenshot, as it were: a PPM with a sunset. */
static size_t draw(void)
{
    size_t size = (size_t)snprintf(sent, sizeof sent, "P6 %d %d 255\n", WIDTH, HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        sent[size++] = (char)255, sent[size++] = (char)(i / WIDTH * 3), sent[size++] = (char)(i % WIDTH);
    return size;
}

/* Whoever reads it is named: the file goes from the store when the last of them is done. */
static gh_status send_picture(gh_str name)
{
    static gh_file_send send;
    gh_str left = gh_str_make(sent, draw());
    gh_file_send_config to = gh_file_send_config_default();
    to.readers = &jenny, to.reader_count = 1, to.memory = send_memory, to.memory_size = sizeof send_memory;
    gh_file_send_begin(&send, client, name, &to);
    for (size_t taken = 0; gh_op_poll(&send.op) == GH_PENDING; frame())
    {
        gh_file_send_push(&send, left, &taken); /* what it has room for: a real file goes piece by piece */
        left.bytes += taken, left.size -= taken;
        if (left.size == 0) gh_file_send_finish(&send);
    }
    return gh_op_poll(&send.op);
}

static gh_status tell(gh_str name)
{
    static gh_mailbox_push push;
    gh_post post = {.sender = jason, .body = name};
    gh_mailbox_push_begin(&push, &box, &post, 1);
    return end_of(&push.op);
}

static gh_status read_picture(gh_str name, size_t* size) /* on jenny's server */
{
    static gh_file_read file;
    gh_file_read_config from = gh_file_read_config_default();
    from.memory = read_memory, from.memory_size = sizeof read_memory;
    gh_file_read_begin(&file, client, name, jenny, &from);
    for (; gh_op_poll(&file.op) == GH_PENDING; frame())
    {
        gh_str block;
        gh_status status;
        while ((status = gh_file_read_block(&file, &block)) == GH_OK && block.size <= sizeof received - *size)
            memcpy(received + *size, block.bytes, block.size), *size += block.size;
        if (status == GH_OK) gh_op_cancel(&file.op);      /* larger than a picture may be */
        if (status == GH_EMPTY) gh_file_read_done(&file); /* whole and verified */
    }
    return gh_op_poll(&file.op);
}

static gh_status show_pictures(const gh_mailbox_fetch* fetch)
{
    for (uint32_t i = 0; i < fetch->count; i++)
    {
        const gh_message* said = &fetch->messages[i];
        size_t size = 0;
        gh_status status = read_picture(said->body, &size);
        if (status == GH_EXISTS) continue; /* shown already, but died before the commit */
        if (status != GH_OK) return status;
        printf("jenny has a picture of %.*s: %.*s, %zu bytes\n", (int)said->sender.size, said->sender.bytes,
               (int)strcspn(received, "\n"), received, size);
    }
    return GH_OK;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = gh_mailbox_init(&box, client, jenny, NULL);
    char name[GH_UNIQUE_SIZE] = ""; /* no other file in the whole fleet has it */
    if (status == GH_OK) status = gh_client_unique(client, name);
    if (status == GH_OK) status = send_picture(gh_str_of(name));
    if (status == GH_OK) status = tell(gh_str_of(name));
    static gh_mailbox_fetch fetch;
    static gh_mailbox_commit commit;
    gh_mailbox_fetch_config want = gh_mailbox_fetch_config_default();
    want.buffer = mail, want.buffer_size = sizeof mail, want.wait_us = 5 * 1000 * 1000;
    if (status == GH_OK) gh_mailbox_fetch_begin(&fetch, &box, &want), status = end_of(&fetch.op);
    if (status == GH_OK) status = show_pictures(&fetch);
    if (status == GH_OK) /* had we died before this, they would be fetched again */
        gh_mailbox_commit_begin(&commit, &box, fetch.epoch, fetch.messages[fetch.count - 1].id);
    if (status == GH_OK) status = end_of(&commit.op);
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "files: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
