/* secure_apart.c -- what a run with --tls leaves out. */

#include "support/scene/secure.h"

#include <stddef.h>

const secure_apart secure_aparts[] = {
    {"tls*.*", "speaks TLS by itself, with servers of its own"},
    {"budget.ten_thousand_replies_of_a_real_server", "counts the bytes of answers where they pass"},
    {"memory.busy_client_never_calls_the_heap", "mbedTLS of a system uses the heap in hand-shakes"},
    {"memory.protocol_error_never_calls_the_heap", "mbedTLS of a system uses the heap in hand-shakes"},
    {"counters.never_calls_the_heap", "the wake link may still shake hands, on the heap"},
    {"quiet.server_that_stands_still", "a link that shakes hands wants to write: see Waiting in guildhall/tls.h"},
    {NULL, NULL},
};
