/* What a lock leaves behind for copies of its request that may come late, where it is given back to a node that sends
   it on: the clock of a node is known by when its answers were read, so no time gets smaller on its way there and back.
 */

#include "cluster/machines.h"

#include "wire/slot.h"

#include <string.h>

#define LOCK    "door"
#define OTHER   "bow" /* of the second one */
#define SLOW_US 150000

static unsigned lock_slot;
static bool second_knows_better; /* and says of the lock's slot that it is its own */
static long long not_after;      /* of the request that 1 has not answered */
static long long late[2];        /* what a release that came to 1 or to 2 says */

static const char* says(machines* self, const char* host, const gh_str* words, size_t count)
{
    const bool is_first = strcmp(host, "10.0.0.1") == 0;
    if (machines_is(words[0], "CLUSTER")) return self->count > 0 ? "" : NULL;
    if (machines_is(words[0], "GET") && second_knows_better)
    {
        second_knows_better = false;
        return machines_moved(lock_slot, "10.0.0.2");
    }
    if (!scripted_runs_on(words, count, "gh:{lock:")) return NULL;
    if (count > 12) not_after = scripted_number(words[12]);
    else if (count > 10) late[is_first ? 0 : 1] = scripted_number(words[10]);
    return is_first ? "" : machines_moved(lock_slot, "10.0.0.1");
}

/* What is answered now is read so much later. */
static void tick_slowly(machines* all)
{
    const size_t receive_max = all->world->receive_max;
    all->world->receive_max = 0;
    scripted_tick(all->world, SLOW_US);
    all->world->receive_max = receive_max;
    scripted_tick(all->world, 1000);
}

static void time_gets_no_smaller_there_and_back(void** state)
{
    (void)state;
    machines* all = machines_new();
    lock_slot = gh_slot_of_key(gh_str_literal("{lock:" LOCK "}"));
    second_knows_better = false;
    not_after = late[0] = late[1] = 0;
    all->map = MACHINES_TWO_MASTERS;
    all->says = says;
    machines_start(all, NULL);
    gh_command* other = machines_get(all, OTHER, 60 * SECOND_US);
    MACHINES_UNTIL(all, gh_op_poll(&other->op) == GH_OK, SECOND_US);
    assert_true(lock_slot < 8192);
    (void)scripted_want(all->world, LOCK, 60 * SECOND_US, 60000);
    MACHINES_UNTIL(all, not_after != 0, SECOND_US);

    all->count = 1; /* there are no maps any more */
    all->gone[0] = "10.0.0.1";
    machines_stream(all, "10.0.0.1")->ended = true;
    second_knows_better = true;
    other = machines_get(all, OTHER, 60 * SECOND_US);
    MACHINES_UNTIL(all, late[1] != 0, SECOND_US);
    assert_true(late[1] >= not_after);
    all->gone[0] = NULL;
    for (int i = 0; i < 100 && late[0] == 0; i++) tick_slowly(all);
    assert_true(late[0] >= not_after);
}

TEST_FILE(cluster_late, cmocka_unit_test(time_gets_no_smaller_there_and_back));
