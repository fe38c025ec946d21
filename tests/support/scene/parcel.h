/* parcel.h -- senders and readers of files for tests, each with its memory, moved a step at a time.

       GAME_UNTIL(sender_step(sender) & reader_step(reader));      both end, whatever happens in between */

#ifndef GUILDHALL_TESTS_PARCEL_H
#define GUILDHALL_TESTS_PARCEL_H

#include "support/scene/game.h"

#define PARCEL_READERS_MAX 70

typedef struct sender
{
    gh_file_send op;
    gh_file_send_config config;
    gh_str names[PARCEL_READERS_MAX];
    char texts[PARCEL_READERS_MAX][8];
    game* owner;
    const char* bytes; /* of the file */
    size_t size;
    size_t at;
    size_t stop_at; /* pushes no more than this, and does not finish; size and more: all */
} sender;

/* Readers "0", "1", ... of a file; chunks of 1 KiB, and of them four at a time. Change config before
   sender_begin. */
sender* sender_new(game* owner, unsigned readers, const char* bytes, size_t size);
void sender_begin(sender* self, gh_str name);

/* The same in memory of the caller's, with all the memory that it will need. */
void sender_init(sender* self, game* owner, unsigned readers, const char* bytes, size_t size);

/* Pushes what can be pushed. True when the op has ended. */
bool sender_step(sender* self);

/* Begins, and steps to the end. */
gh_status sender_run(sender* self, gh_str name);

typedef enum reader_way
{
    READER_BLOCKS = 0,
    READER_LINES /* each with a \n behind it in `got` */
} reader_way;

typedef struct reader
{
    gh_file_read op;
    gh_file_read_config config;
    game* owner;
    reader_way way;
    char* got;
    size_t got_size;
    size_t capacity;
    size_t pulls_max; /* in a step; 0: as many as there are                      */
    size_t stop_at;   /* pulls no more once it has so much; SIZE_MAX: all         */
    bool keeps;       /* does not say done at the end                             */
    bool at_end;
    unsigned too_long;
} reader;

reader* reader_new(game* owner, size_t capacity);
void reader_init(reader* self, game* owner, size_t capacity);
void reader_begin(reader* self, gh_str name, const char* reader_name);

/* Pulls what is there, and says done at the end. True when the op has ended, or is at its end and keeps. */
bool reader_step(reader* self);
gh_status reader_run(reader* self, gh_str name, const char* reader_name);

/* size bytes, the same for the same seed; lines of about 40 letters if text. */
char* parcel_bytes(game* owner, size_t size, unsigned seed, bool text);

#define assert_got(self, expected, expected_size)                                                            \
    do                                                                                                       \
    {                                                                                                        \
        assert_int_equal((self)->got_size, expected_size);                                                   \
        if ((expected_size) > 0) assert_memory_equal((self)->got, expected, expected_size);                  \
    } while (0)

#endif
