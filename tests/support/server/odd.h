/* odd.h -- answers that keep the form of a script and not its sense, said to one op in a world of scripted.h. Locks
   and WAIT are answered as there.

       odd* self = odd_start(NULL);
       gh_op* op = begin_something(self->world->client);
       assert_status(odd_told(self, op, "q:0|:7|$text"), GH_CORRUPT);

   "q:7|$text|_" is an array of the op's sequence, 7, "text" and nil; "a..." the same without the sequence; "t7 text" is
   one text that begins with the sequence; "=..." one value. ^ is a zero byte; "=-ERR text" an error; "" no answer. */

#ifndef GUILDHALL_TESTS_ODD_H
#define GUILDHALL_TESTS_ODD_H

#include "support/scene/game.h"
#include "support/server/scripted.h"

#define ODD_ANSWERS_MAX 4

typedef struct odd
{
    scripted* world;
    const gh_op* op; /* NULL: all are answered by default */
    const char* answers[ODD_ANSWERS_MAX];
    unsigned told; /* which of them is next */
    gh_str chunk;  /* what HGET is answered; bytes NULL: nil */
    unsigned asked;
} odd;

/* A client that is ready; NULL: with scripted_config. */
odd* odd_start(const gh_client_config* config);

/* From now on this is said to the op, in the order of its requests, the last again and again; NULL: there is none. */
void odd_say(odd* self, const gh_op* op, const char* first, const char* second, const char* third);

/* So many milliseconds, tick by tick. */
void odd_wait(odd* self, unsigned ms);

/* How the op ends that is told so; no link may be lost. */
gh_status odd_told(odd* self, const gh_op* op, const char* answer);
gh_status odd_told_many(odd* self, const gh_op* op, const char* first, const char* second, const char* third);

/* All of them end so. */
#define ODD_EACH(self, begin, answers, expected)                                                             \
    for (size_t each = 0; each < sizeof(answers) / sizeof((answers)[0]); each++)                             \
    {                                                                                                        \
        const gh_status ended = odd_told(self, begin, (answers)[each]);                                      \
        if (ended != (expected)) fail_msg("\"%s\" ends %s", (answers)[each], gh_status_name(ended));         \
    }

#endif
