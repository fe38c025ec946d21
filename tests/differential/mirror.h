/* mirror.h -- the store and a real server side by side: each request goes to both at the same moment of their held
   clocks, and their replies are compared byte by byte. */

#ifndef GUILDHALL_TESTS_DIFFERENTIAL_MIRROR_H
#define GUILDHALL_TESTS_DIFFERENTIAL_MIRROR_H

#include "guildhall/base.h"

#include <stdbool.h>
#include <stdint.h>

enum
{
    MIRROR_BATCH = 32, /* requests at one moment, at most */
    MIRROR_WORDS = 64
};

typedef struct mirror_counts
{
    uint64_t requests;
    uint64_t differences;
    uint64_t errors;    /* replies that were errors, of both alike */
    uint64_t keys;      /* compared */
    uint64_t stopped;   /* scripts without an end, after which both began anew */
} mirror_counts;

/* Ends the program with a sentence if there is no server that can be compared with. */
void mirror_open(uint64_t seed);
void mirror_close(void);

/* The moment of the requests from here on, in microseconds since 1970. */
void mirror_set_time(uint64_t unix_us);

/* Both answer as a server does whose memory is full: what could make it larger is refused. */
void mirror_set_full(bool is_full);

/* Requests from here on come over the link of a user with few rights, "game", or over that of one with all. */
void mirror_be_user(bool is_user);

/* Adds a request of these words to the batch, which goes out with mirror_send: how many were answered. */
void mirror_add(const gh_str* words, uint32_t count);
uint32_t mirror_send(void);

/* The store's replies of the last batch. */
gh_str mirror_reply(uint32_t number);

/* All keys of both: type, value, time to live. */
void mirror_compare_keys(void);
void mirror_flush(void);

mirror_counts mirror_get_counts(void);

#endif
