/* reading.h -- a reader of sdk/src/wire for tests, what it read as text, and random replies to feed it with.

   A transcript holds the values in their order: ":7 ", "$3 abc", "+2 OK", "-3 ERR", "_0 " for nil, "*2 "
   before two elements; at the end '!' if the reader broke, '^' if a reply was too large. */

#ifndef GUILDHALL_TESTS_READING_H
#define GUILDHALL_TESTS_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "support/random.h"
#include "wire/reader.h"

#define READING_REPLY_BYTES 16384u /* the least that a client's config allows */
#define READING_REPLY_NODES 64u
#define READING_BLOCK_SIZE (256u * 1024u) /* enough for a reader of these */

typedef struct reading_transcript
{
    char text[65536];
    size_t size;
} reading_transcript;

/* Makes a reader in a block of exactly the measured size. For cmocka's setup and teardown. */
int reading_set_up(void** state);
int reading_tear_down(void** state);
gh_reader* reading_reader(void** state);

/* A reset that must work. */
void reading_restart(gh_reader* reader);

/* Adds a reply to the transcript. */
void reading_note(reading_transcript* to, const gh_reply* reply);

/* Takes all replies that are there. False when the reader broke. */
bool reading_take_all(gh_reader* reader, reading_transcript* to);

/* These three begin with a reset. Pieces end at the cuts; each is fed from memory of its own, to the byte, so
   that the sanitizer sees who reads behind it. The feeding stops when the reader breaks. */
void reading_in_pieces(gh_reader* reader, const char* bytes, const size_t* cuts, size_t count,
                       reading_transcript* to);
void reading_whole(gh_reader* reader, const char* bytes, size_t size, reading_transcript* to);
void reading_byte_by_byte(gh_reader* reader, const char* bytes, size_t size, reading_transcript* to);

/* Fails the test unless that is what was read; the second reads the text first, as a whole. */
void reading_must_be(const reading_transcript* got, const char* expected, size_t size);
void reading_expect(gh_reader* reader, const char* text, const char* expected);

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
void reading_in_random_pieces(gh_reader* reader, reading_maker* m, reading_transcript* got);

#endif
