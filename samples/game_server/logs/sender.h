/* sender.h -- log files that are finished go out through files.h, one after the other, and are deleted here
   once the store has all of them. The aggregators are their readers.

       offered --> SENDING --(sealed)--> deleted
                   |    ^
                   '----' a failure: the file is begun again; what is stored is not sent twice */

#ifndef GAME_SERVER_SENDER_H
#define GAME_SERVER_SENDER_H

#include "guildhall/files.h"

#include <stdio.h>

#define LOGS_CHANNEL "logs"
#define LOGS_READER  "aggregator-%u" /* 1 .. LOGS_READERS */

enum
{
    LOGS_READERS = 2,
    SENDER_QUEUE = 64, /* finished files that wait; more are left on the disk and counted */
    SENDER_PATH_SIZE = 256,
    SENDER_PIECE_SIZE = 64 * 1024,
    SENDER_TICK_BYTES = 128 * 1024 /* so that a large file never dents a frame */
};

typedef struct sender
{
    /* read-only */
    uint64_t files_sent;
    uint64_t bytes_sent;
    uint64_t files_left; /* on the disk: the queue was full */
    uint64_t restarts;   /* of a file whose sending failed  */

    /* private */
    gh_client* client;
    char paths[SENDER_QUEUE][SENDER_PATH_SIZE];
    uint32_t first;
    uint32_t count;
    bool sending;
    uint64_t again_us; /* not before */
    FILE* file;
    char reader_texts[LOGS_READERS][16];
    gh_str readers[LOGS_READERS];
    gh_file_send_config config;
    gh_file_send send;
    char piece[SENDER_PIECE_SIZE];
    size_t piece_size;
    size_t piece_taken;
    void* memory;
} sender;

/* False: no memory. */
bool sender_open(sender* s, gh_client* client);
void sender_close(sender* s);

/* A file that nobody writes any more. Its name without the folder is its name in the store. */
void sender_offer(sender* s, const char* path);

/* Each frame. */
void sender_frame(sender* s, uint64_t now_us);

/* Nothing waits and nothing is under way. */
bool sender_is_idle(const sender* s);

#endif
