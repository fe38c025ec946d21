/* secure_apart.c -- what a run with --tls leaves out. */

#include "support/scene/secure.h"

#include <stddef.h>

const secure_apart secure_aparts[] = {
    {"tls*.*", "speaks TLS by itself, with servers of its own"},
    {NULL, NULL},
};
