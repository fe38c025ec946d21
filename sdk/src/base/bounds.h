/* bounds.h -- the fields of configs as rows: what each is if nothing is said, and within what it must be. The same rows
   fill a default config and check one that came back. */

#ifndef GH_BOUNDS_H
#define GH_BOUNDS_H

#include "guildhall/base.h"

#include <stddef.h>

typedef struct gh_bound
{
    const char* field;
    uint64_t usual; /* what it is in a default config */
    uint64_t least;
    uint64_t most;
    gh_status status; /* of a config with another value */
    uint16_t at;      /* in the struct                  */
    uint8_t size;     /* 4 or 8 bytes                   */
    bool or_zero;     /* 0 is allowed, too              */
} gh_bound;

typedef struct gh_bounds
{
    const gh_bound* rows;
    size_t count;
    size_t config_size;
} gh_bounds;

/* Does not compile for a field of another size: bounds.c reads and writes 4 or 8 bytes. */
#define GH_BOUND_SIZE(type, field)                                                                                   \
    (sizeof(((type*)0)->field) - 1 +                                                                                 \
     sizeof(char[sizeof(((type*)0)->field) == 4 || sizeof(((type*)0)->field) == 8 ? 1 : -1]))
#define GH_BOUND_ROW(type, field, usual, least, most, status, or_zero)                                               \
    {                                                                                                                \
        #field, usual, least, most, status, (uint16_t)offsetof(type, field), (uint8_t)GH_BOUND_SIZE(type, field),    \
            or_zero                                                                                                  \
    }
#define GH_BOUND(type, field, usual, least, most, status)                                                            \
    GH_BOUND_ROW(type, field, usual, least, most, status, false)
#define GH_BOUND_OR_0(type, field, usual, least, most, status)                                                       \
    GH_BOUND_ROW(type, field, usual, least, most, status, true)

/* timeout_us, as most ops have it. */
#define GH_TIMEOUT_USUAL_US 5000000ull
#define GH_TIMEOUT_LEAST_US 1000ull
#define GH_TIMEOUT_MOST_US  60000000ull
#define GH_BOUND_TIMEOUT(type)                                                                                       \
    GH_BOUND(type, timeout_us, GH_TIMEOUT_USUAL_US, GH_TIMEOUT_LEAST_US, GH_TIMEOUT_MOST_US, GH_INVALID_TIMEOUT)

#define GH_BOUNDS(type, rows) {rows, sizeof rows / sizeof rows[0], sizeof(type)}
#define GH_BOUNDS_NONE(type)  {NULL, 0, sizeof(type)}

/* A config begins with its struct_size; what has no row is 0. */
void gh_bounds_fill(const gh_bounds* bounds, void* config);

/* It is not NULL, and such a struct. */
bool gh_bounds_are_of(const gh_bounds* bounds, const void* config);

/* The first row of a struct that is broken, with what stood in it, or NULL. */
const gh_bound* gh_bounds_broken(const gh_bounds* bounds, const void* config, uint64_t* value);

/* GH_OK, the status of the first row that is broken, or GH_INVALID_CONFIG: no such struct. Where a client is at hand,
   gh_refusal_check says it in words, too. */
gh_status gh_bounds_check(const gh_bounds* bounds, const void* config);

#endif
