/* reading.h -- an inbox of sdk/src/wire for tests, what was read from it as text, and random replies to feed it with.

   A transcript holds the values in their order: ":7 ", "$3 abc", "+2 OK", "-3 ERR", "_0 " for nil, "*2 "
   before two elements; at the end '!' if it was broken, '^' if a reply was too large. */

#ifndef GUILDHALL_TESTS_READING_H
#define GUILDHALL_TESTS_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "support/random.h"
#include "wire/inbox.h"

#define READING_REPLY_BYTES 16384u /* the least that a client's config allows */
#define READING_REPLY_NODES 64u

typedef struct reading_transcript
{
    char text[65536];
    size_t size;
} reading_transcript;

/* An inbox, and the reader that it is read with. */
typedef struct reading
{
    gh_inbox inbox;
    gh_reader reader;
    char* block;
} reading;

/* Makes both in a block of exactly the measured size. For cmocka's setup and teardown. */
int reading_set_up(void** state);
int reading_tear_down(void** state);
reading* reading_of(void** state);

/* The same with other bounds. */
void reading_make(reading* self, uint32_t reply_bytes, uint32_t reply_nodes);
void reading_end(reading* self);

void reading_restart(reading* self);

/* Bytes that come at once: no more than there is room for. After GH_READ_MORE alone. The sanitizer sees who reads
   behind them. */
void reading_feed(reading* self, const void* bytes, size_t size);
gh_read reading_next(reading* self, const gh_reply** reply);

/* Adds a reply to the transcript. */
void reading_note(reading_transcript* to, const gh_reply* reply);

/* Takes all replies that are there. False when the inbox failed. */
bool reading_take_all(reading* reader, reading_transcript* to);

/* These three begin with a reset. Pieces end at the cuts. The feeding stops when the inbox fails. */
void reading_in_pieces(reading* reader, const char* bytes, const size_t* cuts, size_t count,
                       reading_transcript* to);
void reading_whole(reading* reader, const char* bytes, size_t size, reading_transcript* to);
void reading_byte_by_byte(reading* reader, const char* bytes, size_t size, reading_transcript* to);

/* The reply that has all these bytes, read by hiredis alone; the bytes are in memory of exactly that size. False: it
   does not take them. */
bool reading_by_hiredis(reading* self, const char* bytes, size_t size, reading_transcript* to);

/* Fails the test unless that is what was read; the second reads the text first, as a whole. */
void reading_must_be(const reading_transcript* got, const char* expected, size_t size);
void reading_expect(reading* reader, const char* text, const char* expected);

/* Random replies: the bytes, and what must be read of them. */
typedef struct reading_maker
{
    random_stream stream;
    char bytes[4096];
    size_t size;
    unsigned nodes;
    reading_transcript expected;
} reading_maker;

void reading_make_replies(reading_maker* m, unsigned count);
void reading_in_random_pieces(reading* reader, reading_maker* m, reading_transcript* got);

#endif
