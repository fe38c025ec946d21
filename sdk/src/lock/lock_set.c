/* lock_set.c -- several names at once: one lock after the other is begun, and all are given back together. */

#include "lock_states.h"
#include "wire/name.h"

typedef enum set_state
{
    SET_TAKING = 1,
    SET_HELD,
    SET_LEAVING
} set_state;

/* The one that is the i-th to be taken. */
static gh_lock* set_lock(const gh_lock_set* set, uint32_t i)
{
    return &set->locks[set->order[i]];
}

/* False: its owner has detached it, and may have another use for it by now. */
static bool set_has(const gh_lock_set* set, const gh_lock* lock)
{
    return lock->set == set;
}

static void set_begin_next(gh_lock_set* set, gh_client* client)
{
    gh_lock* lock = set_lock(set, set->next);
    gh_lock_config config = set->config;
    gh_name name;
    uint64_t now_us = gh_client_now(client);
    gh_status status = gh_op_check(&lock->lease.op, client);
    if (config.wait_us > 0) config.wait_us = set->give_up_us > now_us ? set->give_up_us - now_us : 1;
    if (status != GH_OK)
    {
        set->outcome = (int16_t)status;
        set->op.state = SET_LEAVING;
        return;
    }
    set->next++;
    name = lock->lease.name;
    gh_lock_start(lock, client, gh_name_str(&name), &config, set);
}

/* All that were begun give back or give up; those that have ended stay as they are. */
static uint32_t set_leave_all(gh_lock_set* set)
{
    uint32_t busy = 0;
    uint32_t i;
    for (i = 0; i < set->next; i++)
    {
        gh_lock* lock = set_lock(set, i);
        if (!set_has(set, lock)) continue;
        gh_lease_release(&lock->lease);
        if (gh_lock_is_busy(lock)) busy++;
    }
    return busy;
}

/* One of them may be held in the store, and nobody could tell it that it is not wanted. */
static bool set_is_unsure(const gh_lock_set* set)
{
    uint32_t i;
    for (i = 0; i < set->next; i++)
    {
        const gh_lock* lock = set_lock(set, i);
        if (set_has(set, lock) && gh_op_poll(&lock->op) == GH_UNKNOWN) return true;
    }
    return false;
}

static void set_look(gh_lock_set* set)
{
    uint32_t held = 0;
    uint32_t i;
    for (i = 0; i < set->next; i++)
    {
        const gh_lock* lock = set_lock(set, i);
        gh_status status = set_has(set, lock) ? gh_op_poll(&lock->op) : GH_OK; /* as one that was released */
        if (status == GH_HELD) held++;
        if (status == GH_HELD || (status == GH_PENDING && lock->lease.op.state != GH_LEASE_LEAVING)) continue;
        set->op.state = SET_LEAVING; /* one is lost, refused, or its hold is over */
        set->outcome = (int16_t)(status == GH_PENDING ? lock->lease.outcome : status);
        return;
    }
    if (held == set->count) set->op.state = SET_HELD;
    else if (held == set->next) set_begin_next(set, set->op.client);
}

/* One of its locks was granted, lost, or has ended; or all are to be given back. */
static void set_move(gh_lock_set* set)
{
    if (set->op.state == SET_TAKING || set->op.state == SET_HELD) set_look(set);
    gh_op_set_status(&set->op, set->op.state == SET_HELD ? GH_HELD : GH_PENDING);
    if (set->op.state == SET_LEAVING && set_leave_all(set) == 0)
        gh_op_end(&set->op, set_is_unsure(set) ? GH_UNKNOWN : (gh_status)set->outcome);
}

static void set_leave(gh_lock_set* set, gh_status outcome)
{
    if (set->op.state == SET_LEAVING) return;
    set->outcome = (int16_t)outcome;
    set->op.state = SET_LEAVING;
    set_move(set);
}

/* The locks go first: what becomes of them is how the set ends. */
static void set_close(gh_lock_set* set)
{
    uint32_t i;
    set_leave(set, GH_CANCELLED);
    for (i = 0; i < set->next; i++)
        if (set_has(set, set_lock(set, i))) gh_op_close(&set_lock(set, i)->op);
    gh_op_end(&set->op, set_is_unsure(set) ? GH_UNKNOWN : (gh_status)set->outcome);
}

static void set_step(gh_op* op, const gh_event* event)
{
    gh_lock_set* set = (gh_lock_set*)(void*)op;
    if (event->kind == GH_EVENT_CHILD) set_move(set);
    if (event->kind == GH_EVENT_CANCEL) set_leave(set, GH_CANCELLED);
    if (event->kind == GH_EVENT_CLOSE) set_close(set);
}

static void set_detach(gh_op* op)
{
    gh_lock_set* set = (gh_lock_set*)(void*)op;
    uint32_t i;
    if (!gh_op_is_busy(op)) return;
    for (i = 0; i < set->count; i++)
    {
        gh_lock* lock = set_lock(set, i);
        if (!set_has(set, lock) && gh_lock_is_busy(lock)) continue;
        lock->set = NULL;
        gh_op_detach(&lock->op);
    }
    gh_op_end(op, GH_CANCELLED);
}

static const gh_op_kind set_kind = {.name = "lock",
                                    .step = set_step,
                                    .effect = GH_OP_CHANGES,
                                    .detach = set_detach,
                                    .owner_link = offsetof(gh_lock_set, next_owner)};

static int compare_names(gh_str a, gh_str b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.bytes, b.bytes, size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* The order in which they are taken. Insertion sort: there are at most GH_LOCK_SET_MAX. */
static void set_sort(gh_lock_set* set, const gh_str* names)
{
    size_t i;
    for (i = 0; i < set->count; i++)
    {
        size_t at = i;
        for (; at > 0 && compare_names(names[i], names[set->order[at - 1]]) < 0; at--)
            set->order[at] = set->order[at - 1];
        set->order[at] = (uint8_t)i;
    }
}

static gh_status check_set(const gh_lock* locks, const gh_str* names, size_t count)
{
    size_t i;
    size_t j;
    if (locks == NULL) return GH_INVALID_OP;
    if (names == NULL || count == 0 || count > GH_LOCK_SET_MAX) return GH_INVALID_NAMES;
    for (i = 0; i < count; i++)
    {
        if (gh_lock_is_busy(&locks[i])) return GH_INVALID_OP;
        if (!gh_name_is_valid(names[i])) return GH_INVALID_NAME;
        for (j = 0; j < i; j++)
            if (gh_str_equal(names[i], names[j])) return GH_INVALID_NAMES;
    }
    return GH_OK;
}

static gh_status lock_set_try(gh_lock_set* set, gh_client* client, gh_lock* locks, const gh_str* names, size_t count,
                              const gh_lock_config* config)
{
    gh_lock_config defaults = gh_lock_config_default();
    gh_status status = gh_op_check(set == NULL ? NULL : &set->op, client);
    size_t i;
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = check_set(locks, names, count);
    if (status == GH_OK) status = gh_lock_check_config(config, client);
    if (status == GH_OK && config->hold_us != 0) status = GH_INVALID_HOLD;
    if (status != GH_OK) return status;
    if (gh_client_ops_room(client) < 2) return GH_NO_ROOM; /* for the first lock, too */
    set->locks = locks;
    set->config = *config;
    set->count = (uint32_t)count;
    set_sort(set, names);
    for (i = 0; i < count; i++) gh_name_keep(&locks[i].lease.name, names[i]);
    set->next = 0;
    set->give_up_us = gh_client_after(client, config->wait_us);
    set->outcome = GH_OK;
    gh_op_begin(&set->op, client, &set_kind);
    set->op.state = SET_TAKING;
    set_begin_next(set, client);
    return GH_OK;
}

gh_status gh_lock_set_begin(gh_lock_set* set, gh_client* client, gh_lock* locks, const gh_str* names, size_t count,
                            const gh_lock_config* config)
{
    return gh_op_begun((gh_op*)set, client, lock_set_try(set, client, locks, names, count, config));
}

void gh_lock_set_release(gh_lock_set* set)
{
    gh_client* client;
    if (set == NULL || !gh_op_is_at_work(&set->op)) return;
    client = set->op.client;
    gh_step_enter(client);
    set_leave(set, GH_OK);
    gh_step_leave(client);
}
