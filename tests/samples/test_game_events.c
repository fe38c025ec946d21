/* What the sample's fleet makes of losses that were told while things happened to its store. */

#include "support/suite.h"

#include "fleet/events.h"

#include <string.h>

static void end_with(board_row* row, int place, const char* system, gh_status status, uint64_t count)
{
    strcpy(row->ends[place].system, system);
    row->ends[place].status = (int32_t)status;
    row->ends[place].count = count;
}

/* Five losses, of two processes; timeouts are none. */
static void show_five(snapshot* shown)
{
    memset(shown, 0, sizeof *shown);
    end_with(&shown->rows[0], 0, "lock", GH_LOST, 3);
    end_with(&shown->rows[0], 1, "lock", GH_TIMEOUT, 7);
    end_with(&shown->rows[2], 0, "chat", GH_RESTARTED, 2);
}

static void losses_are_what_was_told(void** state)
{
    (void)state;
    static snapshot shown;
    show_five(&shown);
    assert_int_equal(events_losses(&shown), 5);
}

/* Whoever waited so long for the store may have held a lease that ran out meanwhile. */
static void losses_are_proven_by_a_long_wait(void** state)
{
    (void)state;
    static snapshot shown;
    static events e;
    show_five(&shown);
    memset(&e, 0, sizeof e);
    e.count = 2;
    e.list[0] = (event){.losses = 3, .delay_us = EVENTS_LEASES_LAST_US};
    e.list[1] = (event){.losses = 2, .delay_us = EVENTS_LEASES_LAST_US - 1};
    assert_int_equal(events_losses_unproven(&e, &shown), 2);
    e.list[1].delay_us = EVENTS_LEASES_LAST_US;
    assert_int_equal(events_losses_unproven(&e, &shown), 0);
}

/* Before the first of them, and behind the last. */
static void losses_of_no_event_are_not_proven(void** state)
{
    (void)state;
    static snapshot shown;
    static events e;
    show_five(&shown);
    memset(&e, 0, sizeof e);
    e.count = 1;
    e.calm.losses = 1;
    e.list[0] = (event){.losses = 3, .delay_us = EVENTS_LEASES_LAST_US};
    assert_int_equal(events_losses_unproven(&e, &shown), 2);
}

/* What was done to a server that nobody was to replace has no such time. */
static void longest_absence_is_told(void** state)
{
    (void)state;
    static events e;
    memset(&e, 0, sizeof e);
    e.count = 3;
    assert_int_equal(events_away_us(&e), 0);
    e.list[0].away_us = 1;
    e.list[1].away_us = EVENTS_OPS_WAIT_US;
    assert_int_equal(events_away_us(&e), EVENTS_OPS_WAIT_US);
}

TEST_FILE(game_events, cmocka_unit_test(losses_are_what_was_told), cmocka_unit_test(losses_are_proven_by_a_long_wait),
          cmocka_unit_test(losses_of_no_event_are_not_proven), cmocka_unit_test(longest_absence_is_told));
