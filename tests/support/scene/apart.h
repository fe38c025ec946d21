/* apart.h -- which tests a run with --tls, --cluster or --sentinel leaves out, and why. */

#ifndef GUILDHALL_TESTS_APART_H
#define GUILDHALL_TESTS_APART_H

/* Kinds of runs, to be added. */
#define APART_TLS      1u
#define APART_CLUSTER  2u
#define APART_SENTINEL 4u
#define APART_FLEETS   (APART_CLUSTER | APART_SENTINEL)

typedef struct apart
{
    const char* pattern; /* "file.test", "file.*" */
    unsigned runs;
    const char* reason;
} apart;

/* The first line that leaves this test out of such a run; NULL: it takes part. */
const apart* apart_find(const char* name, unsigned run);

#endif
