/* The drills themselves: where nobody does any harm, each op ends as it should, and each state is sound. */

#include "support/scene/drill.h"

#include <stdio.h>

static void ends_as_it_should(drill* self, const drill_case* of)
{
    drill_restore(self, of);
    gh_status status = drill_run(self, of);
    if (status != of->healthy)
        fail_msg("%s.%s ended %s, not %s", self->system->name, of->name, gh_status_name(status),
                 gh_status_name(of->healthy));
}

static void is_sound(drill* self, const drill_case* of)
{
    char why[256] = "";
    drill_restore(self, of);
    gh_status status = drill_run(self, of);
    (void)status;
    self->repeated = true;
    if (!drill_heal(self, why)) fail_msg("%s after %s: %s", self->system->name, of->name, why);
}

static void drill_all(const drill_system* system)
{
    drill* self = drill_start(system);
    for (size_t i = 0; i < system->count; i++)
    {
        ends_as_it_should(self, &system->cases[i]);
        ends_as_it_should(self, &system->cases[i]); /* the state is there again */
        is_sound(self, &system->cases[i]);
    }
    gh_client_stats stats = game_stats(self->game);
    assert_int_equal(stats.links_lost + stats.protocol_errors, 0);
}

#define DRILL_TEST(system)                                                                                             \
    static void system##_is_as_it_should_be(void** state)                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        drill_all(&drill_##system);                                                                                    \
    }
DRILL_SYSTEMS(DRILL_TEST)

#define DRILL_TEST_NAME(system) cmocka_unit_test(system##_is_as_it_should_be),
TEST_FILE(drill, DRILL_SYSTEMS(DRILL_TEST_NAME));
