/* places.h -- a small world and its log files, for the tests of aggregate.h, counted by a second way. */

#ifndef GUILDHALL_TESTS_PLACES_H
#define GUILDHALL_TESTS_PLACES_H

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#define PLACES_DAY gh_str_literal("2011-10-10")

/* The rows that the tests know by heart: Mountain View, Berlin, Cologne, Paris, an IPv6 range in Tokyo. */
gh_geo* places_world(game* owner);

/* Of rows of your own. */
gh_geo* places_table(game* owner, const char* rows);

/* countries * 5 regions * 10 cities, 256 addresses each: city n has 10.x.y.0/24 with n = x * 256 + y. */
gh_geo* places_many(game* owner, unsigned countries);

gh_aggregate* places_aggregate(game* owner, const gh_geo* table, unsigned days);

/* Flushes to the end. */
gh_status places_flush(game* from, gh_aggregate* aggregate, const char* set, const char* file);

/* Log text: lines of a world of places_many, deterministic by seed, some of them malformed or from nowhere.
   */
char* places_log(game* owner, unsigned countries, unsigned lines, unsigned seed, size_t* size);

/* Adds the lines of such a log to counts[cities + 1] for each of two days, city by city and nowhere last,
   with strtok and strtol alone. Returns how many were malformed. */
unsigned places_count(const char* log, size_t size, unsigned cities, unsigned long long* counts);

/* The totals in the store, read with hiredis by the layout of KEYS.md, are exactly those of counts for that
   day. */
void places_must_be(redis_server* server, const char* set, const char* day, unsigned countries,
                    const unsigned long long* counts);

/* The score of a place in the store; 0 if it has none. */
unsigned long long places_score(redis_server* server, const char* set, const char* day, int level,
                                const char* place);

#endif
