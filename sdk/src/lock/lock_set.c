/* lock_set.c -- several names at once: one lock after the other is begun, and all are given back together. */

#include "lock_states.h"
#include "wire/name.h"

typedef enum set_state
{
    SET_IDLE = 0,
    SET_TAKING,
    SET_HELD,
    SET_LEAVING
} set_state;

static void set_begin_next(gh_lock_set* set, gh_client* client)
{
    gh_lock* lock = &set->locks[set->next];
    gh_lock_config config = set->config;
    uint64_t now_us = gh_client_now(client);
    gh_status status = gh_op_check(&lock->lease.op, client);
    if (config.wait_us > 0) config.wait_us = set->give_up_us > now_us ? set->give_up_us - now_us : 1;
    if (status != GH_OK)
    {
        set->outcome = (int16_t)status;
        set->state = SET_LEAVING;
        return;
    }
    set->next++;
    gh_lock_start(lock, client, lock->lease.name, &config, set);
}

/* All that were begun give back or give up; those that have ended stay as they are. */
static uint32_t set_leave_all(gh_lock_set* set)
{
    uint32_t busy = 0;
    uint32_t i;
    for (i = 0; i < set->next; i++)
    {
        gh_lock_release(&set->locks[i]);
        if (gh_lock_is_busy(&set->locks[i])) busy++;
    }
    return busy;
}

/* One of them may be held in the store, and nobody could tell it that it is not wanted. */
static bool set_is_unsure(const gh_lock_set* set)
{
    uint32_t i;
    for (i = 0; i < set->next; i++)
        if (gh_lock_poll(&set->locks[i]) == GH_UNKNOWN) return true;
    return false;
}

static void set_look(gh_lock_set* set)
{
    uint32_t held = 0;
    uint32_t i;
    for (i = 0; i < set->next; i++)
    {
        gh_status status = gh_lock_poll(&set->locks[i]);
        if (status == GH_OK) held++;
        if (status == GH_OK || (status == GH_PENDING && set->locks[i].lease.op.state != GH_LEASE_LEAVING)) continue;
        set->state = SET_LEAVING; /* one is lost, refused, or its hold is over */
        set->outcome = (int16_t)(status == GH_PENDING ? set->locks[i].lease.outcome : status);
        return;
    }
    if (held == set->count)
        set->state = SET_HELD;
    else if (held == set->next)
        set_begin_next(set, set->locks[0].lease.op.client);
}

void gh_lock_set_moved(gh_lock_set* set)
{
    if (set->moving) return; /* what we do below comes back here */
    set->moving = true;
    if (set->state == SET_TAKING || set->state == SET_HELD) set_look(set);
    if (set->state == SET_LEAVING && set_leave_all(set) == 0)
    {
        set->state = SET_IDLE;
        set->status = (int16_t)(set_is_unsure(set) ? GH_UNKNOWN : set->outcome);
    }
    set->moving = false;
}

static int compare_names(gh_str a, gh_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.bytes, b.bytes, size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Insertion sort: there are at most GH_LOCK_SET_MAX. */
static void set_sort(gh_lock* locks, const gh_str* names, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
    {
        size_t at = i;
        for (; at > 0 && compare_names(names[i], locks[at - 1].lease.name) < 0; at--)
            locks[at].lease.name = locks[at - 1].lease.name;
        locks[at].lease.name = names[i];
    }
}

static gh_status check_set(const gh_lock* locks, const gh_str* names, size_t count, const gh_lock_config* config)
{
    size_t i;
    size_t j;
    gh_status status;
    if (locks == NULL) return GH_INVALID_OP;
    if (names == NULL || count == 0 || count > GH_LOCK_SET_MAX) return GH_INVALID_NAMES;
    for (i = 0; i < count; i++)
    {
        if (gh_lock_is_busy(&locks[i])) return GH_INVALID_OP;
        if (!gh_name_is_valid(names[i])) return GH_INVALID_NAME;
        for (j = 0; j < i; j++)
            if (gh_str_equal(names[i], names[j])) return GH_INVALID_NAMES;
    }
    status = gh_lock_check_config(config);
    return status == GH_OK && config->hold_us != 0 ? GH_INVALID_HOLD : status;
}

gh_status gh_lock_set_begin(gh_lock_set* set, gh_client* client, gh_lock* locks, const gh_str* names, size_t count,
                            const gh_lock_config* config)
{
    gh_lock_config defaults = gh_lock_config_default();
    gh_status status;
    if (set == NULL || set->state != SET_IDLE) return GH_INVALID_OP;
    if (config == NULL) config = &defaults;
    status = check_set(locks, names, count, config);
    if (status != GH_OK) return status;
    status = gh_op_check(&locks[0].lease.op, client);
    if (status != GH_OK) return status;
    set_sort(locks, names, count);
    set->locks = locks;
    set->config = *config;
    set->count = (uint32_t)count;
    set->next = 0;
    set->give_up_us = gh_client_after(client, config->wait_us);
    set->status = GH_PENDING;
    set->outcome = GH_IDLE;
    set->state = SET_TAKING;
    set->moving = false;
    set_begin_next(set, client);
    return GH_OK;
}

gh_status gh_lock_set_poll(const gh_lock_set* set)
{
    if (set == NULL || set->locks == NULL) return GH_IDLE;
    return set->state == SET_HELD ? GH_OK : (gh_status)set->status;
}

static void set_stop(gh_lock_set* set, gh_status outcome)
{
    if (set == NULL || set->state == SET_IDLE || set->state == SET_LEAVING) return;
    set->outcome = (int16_t)outcome;
    set->state = SET_LEAVING;
    gh_lock_set_moved(set);
}

void gh_lock_set_release(gh_lock_set* set)
{
    set_stop(set, GH_IDLE);
}

void gh_lock_set_cancel(gh_lock_set* set)
{
    set_stop(set, GH_CANCELLED);
}
