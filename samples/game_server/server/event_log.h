/* event_log.h -- what happened on this server, a line each, in files that are handed on when they are full or
   old enough.

       173.194.38.137 2011-10-10 13:55:36 achievement-762

       <folder>/<server>-<number>.log: written --(1 MB, or 5 s)--> finished --> logs/sender.h

   Lines are written whole: a server that is killed leaves a file that ends behind a line, and the next server
   of that name hands it on. What was not written yet is lost with it: at most
   what happened in half a second. */

#ifndef GAME_SERVER_EVENT_LOG_H
#define GAME_SERVER_EVENT_LOG_H

#include "logs/sender.h"

enum
{
    EVENT_SIZE = 64,             /* of the event's name          */
    EVENT_LOG_BUFFER = 8192,     /* lines that wait to be written */
    EVENT_LOG_SIZE = 1024 * 1024 /* of a file, about             */
};

typedef struct event_log
{
    /* read-only */
    uint64_t lines;  /* written */
    uint64_t failed; /* not written: the disk is full, perhaps */
    uint64_t files;

    /* private */
    sender* out;
    char folder[SENDER_PATH_SIZE - 64];
    char server[32];
    char path[SENDER_PATH_SIZE];
    uint64_t number;
    int file; /* -1: none */
    size_t file_size;
    uint64_t begun_us;
    uint64_t write_us;
    int64_t second; /* that `time` is of */
    char time[24];
    uint32_t lines_waiting;
    size_t size;
    char buffer[EVENT_LOG_BUFFER];
} event_log;

/* Offers what an earlier server of that name has left. False: it was said on stderr why not. */
bool event_log_open(event_log* log, const char* folder, const char* server, sender* out);

/* event: one word, such as "achievement-762". */
void event_log_add(event_log* log, uint32_t player, const char* event);

/* Each frame. */
void event_log_frame(event_log* log, uint64_t now_us);

/* Writes what waits, and hands the last file on. */
void event_log_close(event_log* log);

#endif
