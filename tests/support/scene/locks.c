/* locks.c -- what most tests of locks begin with. */

#include "support/scene/locks.h"

gh_lock* lock_begun(game* from, const char* name, uint64_t lease_us, uint64_t wait_us)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = lease_us;
    config.wait_us = wait_us;
    assert_status(gh_lock_begin(lock, from->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

gh_lock* lock_held(game* from, const char* name, uint64_t lease_us)
{
    gh_lock* lock = lock_begun(from, name, lease_us, 60 * SECOND_US);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
    return lock;
}
