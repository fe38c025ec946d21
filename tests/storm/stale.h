/* stale.h -- who goes on with what the store's loss has taken from him, although he could have heard of it. */

#ifndef GUILDHALL_TESTS_STORM_STALE_H
#define GUILDHALL_TESTS_STORM_STALE_H

#include "storm/storm.h"

typedef struct storm_stale
{
    storm_who who;     /* was told that it is his, */
    uint32_t event;    /* by this record,          */
    uint64_t to_us;    /* and went on until then   */
    uint64_t clock_us; /* since when a clock that is set forward may have ended it */
    uint8_t system;    /* how the witness writes down what he sees of it: */
    uint8_t what;
    uint8_t object;
    bool (*is_his)(const storm_record* sight, uint64_t his);
    uint64_t his;
} storm_stale;

/* A moment at which the witness saw that it is not his, behind that loss, or behind a later one, which is then in
   loss_us: his link had been ready since then, and the store had answered, for so long that its client had been told
   what the store knows, and nothing else explains it. 0: there is none. */
uint32_t stale_sight(const storm_stale* told, uint64_t* loss_us);

#endif
