/* tls_front.h -- a server of TLS in front of a plain one, which ends the connection or begins anew in the middle, as no
   Redis can be brought to. A process of its own.

       client --- TLS ---> tls_front --- plain ---> redis-server
              <-- answers, up to a byte; then what was planned --

   One connection at a time is served. */

#ifndef GUILDHALL_TESTS_TLS_FRONT_H
#define GUILDHALL_TESTS_TLS_FRONT_H

#include "support/server/redis_server.h"

typedef enum tls_front_what
{
    TLS_FRONT_NOTHING,
    TLS_FRONT_SAYS_END, /* close_notify, and TCP stays open: nothing else tells the client */
    TLS_FRONT_ENDS,     /* close_notify, and then TCP ends                                 */
    TLS_FRONT_CUTS,     /* TCP ends, and nobody has said so                                */
    TLS_FRONT_SHAKES    /* it asks for another hand-shake (TLS 1.2), and goes on           */
} tls_front_what;

typedef struct tls_front tls_front;

/* With the certificate "server" of papers.h. Skips the test where mbedTLS was built for clients alone. Ends by itself.
 */
tls_front* tls_front_start(redis_server* behind);
const char* tls_front_address(const tls_front* self);

typedef enum tls_front_where
{
    TLS_FRONT_IN_HAND_SHAKE, /* behind so many steps of it */
    TLS_FRONT_IN_ANSWERS,    /* behind so many bytes       */
    TLS_FRONT_WHEN_KILLED    /* when the server behind it closes */
} tls_front_where;

/* At `first` of this connection, or of the next; then `step` further in each one behind it, to `last`. */
void tls_front_plan(tls_front* self, tls_front_what what, tls_front_where where, uint64_t first, uint64_t step,
                    uint64_t last);

/* All that was planned has happened. */
bool tls_front_has_done(const tls_front* self);

/* Bytes of answers, and steps of the hand-shake, of the last connection. */
uint64_t tls_front_answered(const tls_front* self);
unsigned tls_front_steps(const tls_front* self);

#endif
