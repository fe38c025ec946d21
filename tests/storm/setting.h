/* setting.h -- what clients set over one another again and again, such as a limit: no setting comes back when another
   has been set since. */

#ifndef GUILDHALL_TESTS_STORM_SETTING_H
#define GUILDHALL_TESTS_STORM_SETTING_H

#include "storm/storm.h"

/* Which setting it is. The ops that set it have their sequence in b and their client in c. */
typedef struct storm_setting
{
    uint8_t system;
    uint8_t object;
    bool (*sets)(const storm_record* r);

    /* private: by whom it was set, as it was seen, each as often as it changed */
    struct setting_sight* sights;
    size_t count;
} storm_setting;

/* Whose setting was seen. */
typedef struct setting_sight
{
    uint64_t client;
    uint64_t sequence; /* 0: nobody's is there       */
    uint64_t asked_us; /* the store was asked then   */
    uint64_t seen_us;  /* and had answered           */
    uint32_t event;
} setting_sight;

/* Looks at a sight of it; they come in order. */
void setting_see(storm_setting* setting, setting_sight sight);

/* Behind the last. */
void setting_forget(storm_setting* setting);

#endif
