/* ops_lease.c -- locks, sets of locks, permits and limits. */

#include "ops.h"

static gh_lock_config draw_config(fuzz_input* input)
{
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, 2 * WORLD_SECOND_US);
    config.lease_us = ops_time(input, 300000);
    if (fuzz_byte(input) > 192) config.hold_us = ops_time(input, 100000);
    OPS_VARY(input, config.wait_replicas, uint8_t);
    return config;
}

static gh_status lock_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_lock_config config = draw_config(input);
    return gh_lock_begin(OPS_OP(place, gh_lock), client, ops_name(place, input), fuzz_bit(input) ? &config : NULL);
}

static void look_at_lock(const gh_lock* lock)
{
    const bool held = gh_op_poll(&lock->op) == GH_HELD;
    FUZZ_MUST((gh_lock_remaining_us(lock) > 0) == held);
    FUZZ_MUST((gh_lock_end_us(lock) > 0) == held);
    FUZZ_MUST((gh_lock_fence(lock).fence > 0) == held);
    if (held) FUZZ_MUST(lock->fence > 0);
}

static void lock_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_lock* lock = (gh_lock*)place->op;
    char tag[GH_LOCK_TAG_SIZE_MAX];
    look_at_lock(lock);
    if (client != NULL) gh_lock_tag(client, ops_lent_name(place, input), tag, sizeof(tag));
    if (fuzz_bit(input)) gh_lock_release(lock);
}

static gh_status set_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_lock_config config = draw_config(input);
    gh_lock_set* set = OPS_OP(place, gh_lock_set);
    const size_t count = ops_count(input, 4), there = count > 8 ? 8 : count;
    gh_str* names = OPS_LEND_ARRAY(place, gh_str, there);
    gh_lock* locks = OPS_LEND_ARRAY(place, gh_lock, there);
    for (size_t i = 0; i < there; i++) names[i] = ops_lent_name(place, input);
    place->more = locks;
    return gh_lock_set_begin(set, client, locks, names, count > 8 ? 0 : count, fuzz_bit(input) ? &config : NULL);
}

static void set_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    (void)client;
    (void)input;
    gh_lock_set_release((gh_lock_set*)place->op);
}

static gh_status look_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_lock_look_config config = gh_lock_look_config_default();
    config.timeout_us = ops_time(input, config.timeout_us);
    return gh_lock_look_begin(OPS_OP(place, gh_lock_look), client, ops_name(place, input), &config);
}

static void draw_semaphore(gh_semaphore* made, ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_semaphore_config config = gh_semaphore_config_default();
    config.limit = 1 + fuzz_below(input, 4);
    OPS_VARY(input, config.limit, uint32_t);
    config.timeout_us = ops_time(input, config.timeout_us);
    gh_semaphore_init(made, client, ops_name(place, input), &config);
}

static gh_status permit_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_semaphore of;
    gh_permit_config config = gh_permit_config_default();
    draw_semaphore(&of, place, client, input);
    config.wait_us = fuzz_bit(input) ? 0 : ops_time(input, 2 * WORLD_SECOND_US);
    config.lease_us = ops_time(input, 300000);
    OPS_VARY(input, config.permits, uint32_t);
    if (fuzz_byte(input) > 192) config.hold_us = ops_time(input, 100000);
    return gh_permit_begin(OPS_OP(place, gh_permit), &of, &config);
}

static void permit_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_permit* permit = (gh_permit*)place->op;
    (void)client;
    FUZZ_MUST((gh_permit_remaining_us(permit) > 0) == (gh_op_poll(&permit->op) == GH_HELD));
    if (fuzz_bit(input)) gh_permit_release(permit);
}

static gh_status limit_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_semaphore of;
    draw_semaphore(&of, place, client, input);
    return gh_semaphore_limit_begin(OPS_OP(place, gh_semaphore_limit), &of, (uint32_t)ops_vary(input, 3));
}

static gh_status holders_begin(ops_place* place, gh_client* client, fuzz_input* input)
{
    gh_semaphore of;
    draw_semaphore(&of, place, client, input);
    const size_t count = ops_count(input, 4), there = count > 128 ? 0 : count;
    return gh_semaphore_look_begin(OPS_OP(place, gh_semaphore_look), &of,
                                   OPS_LEND_ARRAY(place, gh_permit_holder, there), count);
}

static void holders_use(ops_place* place, gh_client* client, fuzz_input* input)
{
    const gh_semaphore_look* look = (const gh_semaphore_look*)place->op;
    (void)client;
    (void)input;
    if (gh_op_poll(&look->op) == GH_OK) FUZZ_MUST(look->count <= GH_SEMAPHORE_HOLDERS_MAX);
}

const ops_kind ops_lease[] = {
    {"lock", lock_begin, lock_use, NULL},
    {"lock set", set_begin, set_use, NULL},
    {"lock look", look_begin, NULL, NULL},
    {"permit", permit_begin, permit_use, NULL},
    {"permit limit", limit_begin, NULL, NULL},
    {"permit look", holders_begin, holders_use, NULL},
    {NULL, NULL, NULL, NULL},
};
