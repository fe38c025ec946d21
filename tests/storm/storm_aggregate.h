/* storm_aggregate.h -- what the records of the aggregate mean, and what is in a file.

   A file is a number. It has lines of one to three days, some in cities that all files share, which makes several
   pieces of its sums, and some in a city that is its own: so the total of that city tells how often the file was
   counted. The lines of its own city differ between its two variants: the file, and another one that somebody brings
   under the same name. */

#ifndef GUILDHALL_TESTS_STORM_STORM_AGGREGATE_H
#define GUILDHALL_TESTS_STORM_STORM_AGGREGATE_H

#include <stdbool.h>
#include <stdint.h>

enum
{
    AGGREGATE_FILES = 2000,
    AGGREGATE_VARIANTS = 2,
    AGGREGATE_DAYS = 6,
    AGGREGATE_SHARED = 200, /* cities: their numbers come first, then those of the files' own */
    AGGREGATE_CITIES = AGGREGATE_SHARED + AGGREGATE_FILES,
    AGGREGATE_COUNTRIES = 8,
    AGGREGATE_NOWHERE = AGGREGATE_COUNTRIES, /* the country of addresses that lie in no range */
    AGGREGATE_REGIONS = AGGREGATE_COUNTRIES * 2,
    AGGREGATE_LEVELS = 3
};

enum
{
    AGGREGATE_FLUSH = 1, /* a: file, b: variant, c: days that it added, d: 1 if it was begun again, after another end */
    AGGREGATE_READ,      /* object: day; a: the sum of all countries */
    AGGREGATE_FINISH,    /* the auditor's flush of a file, as above */
    AGGREGATE_LAST,      /* object: day; the auditor reads a level. a: level, b: 0 before it finished files, 1 after */
    AGGREGATE_TOTAL      /* object: day; about: the read; a: level, b: 0 or 1 as there, c: place, d: count */
};

static inline uint32_t aggregate_first_day(uint32_t file)
{
    return file % AGGREGATE_DAYS;
}

/* The days go on with the first behind the last. */
static inline bool aggregate_has_day(uint32_t file, uint32_t day)
{
    return (day + AGGREGATE_DAYS - aggregate_first_day(file)) % AGGREGATE_DAYS <= file / AGGREGATE_DAYS % 3;
}

/* Lines of its own city on each of its days. */
static inline uint32_t aggregate_own_lines(uint32_t variant)
{
    return variant == 0 ? 1 : 100;
}

/* Lines in a shared city: of some files in none, of some in a few, of others in most of them. */
static inline uint32_t aggregate_shared_lines(uint32_t file, uint32_t day, uint32_t city)
{
    uint32_t mixed = (file * 2654435761u) ^ ((day + 1) * 2246822519u) ^ ((city + 1) * 3266489917u);
    mixed = (mixed ^ mixed >> 15) * 2654435761u;
    return (mixed >> 16) % 10 < file % 3 * 4 ? 1 + (mixed >> 28) % 2 : 0;
}

static inline uint32_t aggregate_lines_nowhere(uint32_t file)
{
    return file / 7 % 2;
}

static inline uint32_t aggregate_country_of(uint32_t city)
{
    return city % AGGREGATE_COUNTRIES;
}

static inline uint32_t aggregate_region_of(uint32_t city)
{
    return city % AGGREGATE_REGIONS;
}

/* Makes the table of places, which is the same for all clients and in all runs, before somebody needs it. */
void aggregate_warm(void);

void check_aggregate(void);

#endif
