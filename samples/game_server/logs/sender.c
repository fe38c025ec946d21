/* sender.c -- finished log files on their way to the store. */

#include "sender.h"

#include <stdlib.h>
#include <string.h>

#define AGAIN_US 500000u /* pause before a file is begun again */

bool sender_open(sender* s, gh_client* client)
{
    *s = (sender){.client = client};
    for (uint32_t i = 0; i < LOGS_READERS; i++)
    {
        snprintf(s->reader_texts[i], sizeof s->reader_texts[i], LOGS_READER, i + 1);
        s->readers[i] = gh_str_of(s->reader_texts[i]);
    }
    s->config = gh_file_send_config_default();
    s->config.channel = gh_str_literal(LOGS_CHANNEL);
    s->config.readers = s->readers;
    s->config.reader_count = LOGS_READERS;
    s->config.tick_bytes = SENDER_TICK_BYTES;
    s->config.memory_size = gh_file_send_memory(&s->config);
    s->config.memory = s->memory = aligned_alloc(64, (s->config.memory_size + 63) & ~(size_t)63);
    return s->memory != NULL;
}

void sender_close(sender* s)
{
    if (s->file != NULL) fclose(s->file);
    free(s->memory);
    s->file = NULL;
    s->memory = NULL;
}

void sender_offer(sender* s, const char* path)
{
    if (s->count == SENDER_QUEUE || strlen(path) >= SENDER_PATH_SIZE)
    {
        s->files_left++;
        return;
    }
    strcpy(s->paths[(s->first + s->count++) % SENDER_QUEUE], path);
}

bool sender_is_idle(const sender* s)
{
    return s->count == 0;
}

static const char* path_of(const sender* s)
{
    return s->paths[s->first];
}

static gh_str name_of(const sender* s)
{
    const char* slash = strrchr(path_of(s), '/');
    return gh_str_of(slash == NULL ? path_of(s) : slash + 1);
}

static void next_file(sender* s)
{
    if (s->file != NULL) fclose(s->file);
    s->file = NULL;
    s->sending = false;
    s->first = (s->first + 1) % SENDER_QUEUE;
    s->count--;
}

/* From the beginning of the file, also after a failure: what the store has already is only compared. fopen
   and fread in a frame are for files that this process has just written: they are in the memory of the
   kernel. Files from a slow disk would want a thread of their own. */
static void begin(sender* s, uint64_t now_us)
{
    if (s->file == NULL) s->file = fopen(path_of(s), "rb");
    if (s->file == NULL)
    {
        s->files_left++;
        next_file(s);
        return;
    }
    rewind(s->file);
    s->piece_size = s->piece_taken = 0;
    s->sending = gh_file_send_begin(&s->send, s->client, name_of(s), &s->config) == GH_OK;
    if (!s->sending) s->again_us = now_us + AGAIN_US;
}

/* As much as the op takes in this frame; it takes no more than tick_bytes. */
static void push(sender* s)
{
    gh_status status = GH_OK;
    while (status == GH_OK)
    {
        if (s->piece_taken == s->piece_size)
        {
            s->piece_size = fread(s->piece, 1, sizeof s->piece, s->file);
            s->piece_taken = 0;
            if (s->piece_size == 0)
            {
                gh_file_send_finish(&s->send);
                return;
            }
        }
        size_t taken = 0;
        gh_str rest = gh_str_make(s->piece + s->piece_taken, s->piece_size - s->piece_taken);
        status = gh_file_send_push(&s->send, rest, &taken);
        s->piece_taken += taken;
    }
}

static void ended(sender* s, gh_status status, uint64_t now_us)
{
    if (status == GH_OK)
    {
        s->files_sent++;
        s->bytes_sent += s->send.taken_bytes;
        remove(path_of(s));
        next_file(s);
        return;
    }
    s->restarts++;
    s->sending = false;
    s->again_us = now_us + AGAIN_US;
}

void sender_frame(sender* s, uint64_t now_us)
{
    if (s->count > 0 && !s->sending && now_us >= s->again_us) begin(s, now_us);
    if (!s->sending) return;
    gh_status status = gh_op_poll(&s->send.op);
    if (status == GH_PENDING) push(s);
    else ended(s, status, now_us);
}
