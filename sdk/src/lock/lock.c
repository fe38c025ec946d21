/* lock.c -- a lock is a lease that one has at a time: its requests, and what the caller calls. */

#include "client/refusal.h"
#include "lock_states.h"
#include "scripts/lock_scripts.h"
#include "wire/name.h"

#define SECOND_US      1000000ull
#define LEASE_USUAL_US (10 * SECOND_US)
#define WAIT_USUAL_US  (5 * SECOND_US)

static gh_lock* lock_of(gh_lease* lease)
{
    return (gh_lock*)(void*)((char*)lease - offsetof(gh_lock, lease));
}

/* ---- its row of the machine -------------------------------------------------------------------------------------- */

static void lock_encode_renew(gh_lease* lease, gh_request* request)
{
    gh_request_object_script(request, &lease->op, gh_lease_row_of(lease)->object, gh_name_str(&lease->name), "s");
    gh_request_op_id(request, &lease->op);
    gh_request_number(request, lease->lease_us);
}

static void lock_answered(gh_lease* lease, const gh_reply* reply)
{
    int64_t position = gh_reply_integer(reply, GH_LEASE_ACQUIRE_POSITION);
    lock_of(lease)->position = position < UINT32_MAX ? (uint32_t)position : UINT32_MAX;
}

static void lock_held(gh_lease* lease, const gh_reply* reply)
{
    lock_of(lease)->fence = (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_FENCE);
}

static void lock_answered_synced(gh_lease* lease, const gh_reply* reply)
{
    lock_answered(lease, reply);
    if (gh_lease_reply_grants(reply)) lock_held(lease, reply);
}

static void lock_begin_renewal(gh_lease* lease, bool in_doubt)
{
    (void)in_doubt;
    lease->op.state = GH_LEASE_RENEWING;
    gh_op_timer(&lease->op, lease->end_us);
    gh_op_send(&lease->op, GH_OP_URGENT);
}

/* Under another fence it is another grant: a copy of the request was granted by a server that has lost ours, or has
   never had it. The owner's fence holds nowhere, and nobody has the other one. */
static void lock_renewed(gh_lease* lease, const gh_event* event)
{
    const gh_reply* reply = event->reply;
    const uint64_t remaining_us = (uint64_t)gh_reply_integer(reply, GH_LOCK_RENEW_REMAINING_US);
    const uint64_t fence = (uint64_t)gh_reply_integer(reply, GH_LOCK_RENEW_FENCE);
    if (gh_reply_integer(reply, GH_LOCK_RENEW_CODE) != GH_LOCK_RENEW_RENEWED) gh_lease_finish(lease, GH_LOST);
    else if (fence != lock_of(lease)->fence) gh_lease_leave(lease, GH_LOST);
    else gh_lease_extend(lease, event->sent_us, remaining_us);
}

static void lock_not_renewed(gh_lease* lease)
{
    gh_lease_keep(lease, lease->lease_us / 10);
}

static gh_lease_told lock_told(const gh_reply* reply)
{
    const int64_t code = gh_reply_integer(reply, GH_LOCK_RELEASE_CODE);
    gh_lease_told told;
    told.was_ours = code != GH_LOCK_RELEASE_NOT_OWNER;
    told.again = code == GH_LOCK_RELEASE_MORE;
    return told;
}

static gh_op* lock_owner(const gh_op* op)
{
    const gh_lock* lock = (const gh_lock*)(const void*)op;
    return lock->set == NULL ? NULL : &lock->set->op;
}

/* The set that it was of goes on without it. */
static void lock_detach(gh_op* op)
{
    if (!gh_op_is_busy(op)) return;
    gh_op_tell_owner(op);
    lock_of(gh_lease_of(op))->set = NULL;
    gh_lease_detach(op);
}

_Static_assert(sizeof(gh_lock) <= GH_OP_SIZE_MAX, "a lock must fit into a record of the client");

#define LOCK_ROW(STEP, REPLICAS_AT, ANSWERED, HELD, SYNCED)                                                            \
    {.kind = {.name = "lock",                                                                                          \
              .step = STEP,                                                                                            \
              .encode = gh_lease_encode,                                                                               \
              .script = gh_lease_script,                                                                               \
              .effect = GH_OP_CHANGES,                                                                                 \
              .owner = lock_owner,                                                                                     \
              .detach = lock_detach,                                                                                   \
              .replicas_at = REPLICAS_AT},                                                                             \
     .size = sizeof(gh_lock),                                                                                          \
     .object = GH_STR_INIT("lock"),                                                                                    \
     .parts = "sqc",                                                                                                   \
     .acquire = &gh_lock_acquire_lua,                                                                                  \
     .renew = &gh_lock_renew_lua,                                                                                      \
     .release = &gh_lock_release_lua,                                                                                  \
     .encode_renew = lock_encode_renew,                                                                                \
     .answered = ANSWERED,                                                                                             \
     .held = HELD,                                                                                                     \
     .begin_renewal = lock_begin_renewal,                                                                              \
     .renewed = lock_renewed,                                                                                          \
     .not_renewed = lock_not_renewed,                                                                                  \
     .told = lock_told,                                                                                                \
     .synced = SYNCED}

static const gh_lease_row lock_synced_row =
    LOCK_ROW(gh_lease_synced_step, offsetof(gh_lease, replicas), lock_answered_synced, NULL, NULL);
static const gh_lease_row lock_row = LOCK_ROW(gh_lease_step, 0, lock_answered, lock_held, &lock_synced_row);

/* ---- what the caller calls --------------------------------------------------------------------------------------- */

/* Ready to be used, as most locks are begun with it. */
static const gh_lock_config lock_defaults = {.struct_size = sizeof(gh_lock_config),
                                             .lease_us = LEASE_USUAL_US,
                                             .wait_us = WAIT_USUAL_US,
                                             .wait_replicas = GH_REPLICAS_AS_CLIENT};

static const gh_bound lock_bounds_rows[] = {
    GH_BOUND(gh_lock_config, lease_us, LEASE_USUAL_US, GH_LOCK_LEASE_MIN_US, GH_LOCK_LEASE_MAX_US, GH_INVALID_LEASE),
    GH_BOUND(gh_lock_config, wait_us, WAIT_USUAL_US, 0, GH_LOCK_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_lock_config, hold_us, 0, 0, GH_LOCK_WAIT_MAX_US, GH_INVALID_HOLD)};
static const gh_bounds lock_bounds = GH_BOUNDS(gh_lock_config, lock_bounds_rows);

gh_lock_config gh_lock_config_default(void)
{
    return lock_defaults;
}

gh_status gh_lock_check_config(const gh_lock_config* config, gh_client* client)
{
    const gh_status status = gh_refusal_check(&lock_bounds, config, client);
    if (status != GH_OK || config->wait_replicas == GH_REPLICAS_AS_CLIENT) return status;
    return gh_replicas_check(client, config->wait_replicas);
}

void gh_lock_start(gh_lock* lock, gh_client* client, gh_str name, const gh_lock_config* config, gh_lock_set* set)
{
    const gh_lease_wish wish = {config->lease_us, config->wait_us, config->hold_us, config->wait_replicas};
    lock->fence = 0;
    lock->position = 0;
    lock->set = set;
    gh_lease_begin(&lock->lease, client, &lock_row, name, wish);
}

static gh_status lock_try(gh_lock* op, gh_client* client, gh_str name, const gh_lock_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->lease.op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    if (config != NULL) status = gh_lock_check_config(config, client);
    if (status != GH_OK) return status;
    gh_lock_start(op, client, name, config == NULL ? &lock_defaults : config, NULL);
    return GH_OK;
}

gh_status gh_lock_begin(gh_lock* op, gh_client* client, gh_str name, const gh_lock_config* config)
{
    return gh_op_begun((gh_op*)op, client, lock_try(op, client, name, config));
}

void gh_lock_release(gh_lock* op)
{
    gh_client* client;
    if (!gh_lock_is_busy(op)) return;
    client = op->lease.op.client;
    gh_step_enter(client);
    gh_lease_release(&op->lease);
    gh_step_leave(client);
}

uint64_t gh_lock_remaining_us(const gh_lock* op)
{
    return op == NULL ? 0 : gh_lease_remaining_us(&op->lease);
}

uint64_t gh_lock_end_us(const gh_lock* op)
{
    return gh_lock_remaining_us(op) == 0 ? 0 : gh_client_callers_time(op->lease.op.client, op->lease.lease_end_us);
}

gh_fence gh_lock_fence(const gh_lock* op)
{
    gh_fence fence;
    memset(&fence, 0, sizeof fence);
    fence.name = gh_str_literal("-"); /* a condition that cannot hold, not one that is missing */
    if (!gh_lock_is_busy(op) || !gh_lease_is_held(&op->lease)) return fence;
    fence.name = gh_name_str(&op->lease.name);
    fence.fence = op->fence;
    return fence;
}

size_t gh_lock_tag(const gh_client* client, gh_str name, char* out, size_t capacity)
{
    const gh_str head = gh_str_literal(":{lock:");
    gh_str prefix;
    size_t size;
    if (client == NULL || out == NULL || !gh_name_is_valid(name)) return 0;
    prefix = gh_client_prefix(client);
    size = prefix.size + head.size + gh_name_encoded_size(name) + 1;
    if (capacity <= size) return 0;
    memcpy(out, prefix.bytes, prefix.size);
    memcpy(out + prefix.size, head.bytes, head.size);
    out = gh_name_encode(name, out + prefix.size + head.size);
    memcpy(out, "}", 2);
    return size;
}
