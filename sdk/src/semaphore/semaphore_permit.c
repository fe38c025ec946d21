/* semaphore_permit.c -- a permit is a lease of which several are held at a time; one renews those of its group. */

#include "guildhall/semaphore.h"

#include "client/object.h"
#include "scripts/semaphore_scripts.h"
#include "semaphore_refresh.h"
#include "wire/name.h"

#define SECOND_US        1000000ull
#define PERMIT_TEXT_SIZE (GH_TOKEN_SIZE + 1 + GH_DECIMAL_SIZE_MAX) /* "<token> <permits>" */

static gh_permit* permit_of(gh_lease* lease)
{
    return (gh_permit*)(void*)((char*)lease - offsetof(gh_permit, lease));
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void permit_encode_numbers(gh_lease* lease, gh_request* request)
{
    const gh_permit* permit = permit_of(lease);
    gh_request_number(request, permit->permits);
    if (lease->op.state == GH_LEASE_ASKING) gh_request_number(request, permit->first_limit);
}

/* As it stands in the zsets. */
static void encode_permit_member(const gh_permit* permit, gh_request* request)
{
    char text[PERMIT_TEXT_SIZE];
    char* end = gh_token_encode(gh_client_id(permit->lease.op.client), permit->lease.op.sequence, text);
    *end++ = ' ';
    end = gh_decimal_encode(permit->permits, end);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

static void permit_encode_refresh(gh_lease* lease, gh_request* request)
{
    gh_permit* carrier = permit_of(lease);
    gh_permit* member = gh_permit_batch_next(carrier, NULL);
    uint8_t place = 0;
    gh_request_op_script(request, &lease->op, 0, carrier->batch);
    gh_request_object_keys(request, lease->op.client, gh_lease_row_of(lease)->object, gh_name_str(&lease->name), "sh");
    gh_request_number(request, lease->op.sequence);
    gh_request_number(request, lease->lease_us);
    for (; member != NULL; member = gh_permit_batch_next(carrier, member))
    {
        member->place = place++;
        encode_permit_member(member, request);
    }
}

/* ---- not ours yet, ours, not ours any more ----------------------------------------------------------------------- */

static void permit_answered(gh_lease* lease, const gh_reply* reply)
{
    gh_permit* permit = permit_of(lease);
    int64_t position = gh_reply_integer(reply, GH_LEASE_ACQUIRE_POSITION);
    int64_t limit = gh_reply_integer(reply, GH_SEMAPHORE_ACQUIRE_LIMIT);
    permit->position = position < UINT32_MAX ? (uint32_t)position : UINT32_MAX;
    permit->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}

static void permit_held(gh_lease* lease, const gh_reply* reply)
{
    gh_permit* permit = permit_of(lease);
    permit->fence = (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_FENCE);
    gh_permit_group_join(permit);
}

static void permit_answered_synced(gh_lease* lease, const gh_reply* reply)
{
    permit_answered(lease, reply);
    if (gh_lease_reply_grants(reply))
        permit_of(lease)->fence = (uint64_t)gh_reply_integer(reply, GH_LEASE_ACQUIRE_FENCE);
}

static void permit_joined(gh_lease* lease, const gh_reply* reply)
{
    (void)reply;
    gh_permit_group_join(permit_of(lease));
}

static void permit_let_go(gh_lease* lease)
{
    gh_permit_group_leave(permit_of(lease));
}

static gh_lease_told permit_told(const gh_reply* reply)
{
    gh_lease_told told;
    told.was_ours = gh_reply_integer(reply, GH_SEMAPHORE_RELEASE_CODE) == GH_SEMAPHORE_RELEASE_RELEASED;
    told.again = gh_reply_integer(reply, GH_SEMAPHORE_RELEASE_MORE) != 0; /* waiters to serve than one call does */
    return told;
}

/* ---- renewals, of a group together ------------------------------------------------------------------------------- */

static void permit_begin_renewal(gh_lease* lease, bool in_doubt)
{
    gh_permit* permit = permit_of(lease);
    gh_lease* carrier;
    if (permit->carrier != NULL) /* it is being renewed */
    {
        gh_op_timer(&lease->op, lease->end_us);
        return;
    }
    carrier = &gh_permit_batch_choose(permit, in_doubt)->lease;
    carrier->op.state = GH_LEASE_RENEWING;
    gh_op_send(&carrier->op, GH_OP_URGENT);
}

/* The letter of each says whether it is still held. Those that are lost end, the carrier last, since it leads
   to the others. */
static void permit_renewed(gh_lease* lease, const gh_event* event)
{
    gh_str letters = gh_reply_text(event->reply, GH_SEMAPHORE_REFRESH_LETTERS);
    gh_permit* carrier = permit_of(lease);
    gh_permit* member = carrier;
    bool carrier_is_lost = false;
    lease->op.state = GH_LEASE_HELD;
    while (member != NULL)
    {
        gh_permit* next = gh_permit_batch_next(carrier, member);
        bool is_told = member->place < letters.size;
        if (member != carrier) gh_permit_batch_drop(member);
        if (!is_told) gh_lease_keep(&member->lease, member->lease.lease_us / 10);
        else if (letters.bytes[member->place] == GH_SEMAPHORE_REFRESH_RENEWED)
            gh_lease_extend(&member->lease, event->sent_us, member->lease.lease_us);
        else if (member == carrier) carrier_is_lost = true;
        else gh_lease_finish(&member->lease, GH_LOST);
        member = next;
    }
    gh_permit_batch_drop(carrier);
    if (carrier_is_lost) gh_lease_finish(lease, GH_LOST);
}

/* The store will not renew; what is left of the leases is still ours. */
static void permit_not_renewed(gh_lease* lease)
{
    gh_permit* carrier = permit_of(lease);
    gh_permit* member = carrier;
    GH_INVARIANT(lease->op.client, carrier->carrier == carrier); /* it had a batch when it was asked for */
    while (member != NULL)
    {
        gh_permit* next = gh_permit_batch_next(carrier, member);
        if (member != carrier) gh_permit_batch_drop(member);
        gh_lease_keep(&member->lease, member->lease.lease_us / 10);
        member = next;
    }
    gh_permit_batch_drop(carrier);
}

_Static_assert(sizeof(gh_permit) <= GH_OP_SIZE_MAX, "a permit must fit into a record of the client");

#define PERMIT_ROW(STEP, REPLICAS_AT, ANSWERED, HELD, SYNCED)                                                          \
    {.kind = {.name = "semaphore",                                                                                     \
              .step = STEP,                                                                                            \
              .encode = gh_lease_encode,                                                                               \
              .script = gh_lease_script,                                                                               \
              .effect = GH_OP_CHANGES,                                                                                 \
              .detach = gh_lease_detach,                                                                               \
              .replicas_at = REPLICAS_AT},                                                                             \
     .size = sizeof(gh_permit),                                                                                        \
     .object = GH_STR_INIT("semaphore"),                                                                               \
     .parts = "shqc",                                                                                                  \
     .acquire = &gh_semaphore_acquire_lua,                                                                             \
     .renew = &gh_semaphore_refresh_lua,                                                                               \
     .release = &gh_semaphore_release_lua,                                                                             \
     .encode_numbers = permit_encode_numbers,                                                                          \
     .encode_renew = permit_encode_refresh,                                                                            \
     .answered = ANSWERED,                                                                                             \
     .held = HELD,                                                                                                     \
     .let_go = permit_let_go,                                                                                          \
     .begin_renewal = permit_begin_renewal,                                                                            \
     .renewed = permit_renewed,                                                                                        \
     .not_renewed = permit_not_renewed,                                                                                \
     .told = permit_told,                                                                                              \
     .synced = SYNCED}

static const gh_lease_row permit_synced_row =
    PERMIT_ROW(gh_lease_synced_step, offsetof(gh_lease, replicas), permit_answered_synced, permit_joined, NULL);
static const gh_lease_row permit_row = PERMIT_ROW(gh_lease_step, 0, permit_answered, permit_held, &permit_synced_row);

/* ---- a semaphore ------------------------------------------------------------------------------------------------- */

static const gh_bound semaphore_bounds_rows[] = {
    GH_BOUND_OR_0(gh_semaphore_config, limit, 0, 1, GH_SEMAPHORE_LIMIT_MAX, GH_INVALID_LIMIT),
    GH_BOUND_TIMEOUT(gh_semaphore_config)};
static const gh_bounds semaphore_bounds = GH_BOUNDS(gh_semaphore_config, semaphore_bounds_rows);

gh_semaphore_config gh_semaphore_config_default(void)
{
    gh_semaphore_config config;
    gh_bounds_fill(&semaphore_bounds, &config);
    config.wait_replicas = GH_REPLICAS_AS_CLIENT;
    return config;
}

gh_status gh_semaphore_init(gh_semaphore* semaphore, gh_client* client, gh_str name, const gh_semaphore_config* config)
{
    const gh_semaphore_config defaults = gh_semaphore_config_default();
    return gh_object_init((gh_object*)semaphore, client, name, &semaphore_bounds, config == NULL ? &defaults : config,
                          offsetof(gh_semaphore, config));
}

/* ---- what the caller calls ----------------------------------------------------------------------------- */

/* What a permit asks of the semaphore's config: a limit must be there. */
static const gh_bound permit_limit_rows[] = {
    GH_BOUND(gh_semaphore_config, limit, 0, 1, GH_SEMAPHORE_LIMIT_MAX, GH_INVALID_LIMIT)};
static const gh_bounds permit_limit_bounds = GH_BOUNDS(gh_semaphore_config, permit_limit_rows);

static const gh_bound permit_bounds_rows[] = {
    GH_BOUND(gh_permit_config, permits, 1, 1, GH_SEMAPHORE_LIMIT_MAX, GH_INVALID_PERMITS),
    GH_BOUND(gh_permit_config, lease_us, 10 * SECOND_US, GH_SEMAPHORE_LEASE_MIN_US, GH_SEMAPHORE_LEASE_MAX_US,
             GH_INVALID_LEASE),
    GH_BOUND(gh_permit_config, wait_us, 5 * SECOND_US, 0, GH_SEMAPHORE_WAIT_MAX_US, GH_INVALID_WAIT),
    GH_BOUND(gh_permit_config, hold_us, 0, 0, GH_SEMAPHORE_WAIT_MAX_US, GH_INVALID_HOLD)};
static const gh_bounds permit_bounds = GH_BOUNDS(gh_permit_config, permit_bounds_rows);

gh_permit_config gh_permit_config_default(void)
{
    gh_permit_config config;
    gh_bounds_fill(&permit_bounds, &config);
    return config;
}

static gh_status permit_check(const gh_semaphore* semaphore, const gh_permit_config* config)
{
    gh_client* client = semaphore->object.client;
    gh_status status = gh_refusal_check(&permit_limit_bounds, &semaphore->config, client);
    if (status == GH_OK) status = gh_refusal_check(&permit_bounds, config, client);
    if (status == GH_OK) status = gh_replicas_check(client, semaphore->config.wait_replicas);
    return status == GH_OK && config->permits > semaphore->config.limit ? GH_INVALID_PERMITS : status;
}

static gh_status permit_try(gh_permit* op, const gh_semaphore* semaphore, const gh_permit_config* config)
{
    gh_permit_config defaults = gh_permit_config_default();
    gh_lease_wish wish;
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)semaphore);
    if (status != GH_OK) return status;
    if (config == NULL) config = &defaults;
    status = permit_check(semaphore, config);
    if (status != GH_OK) return status;
    gh_op_clear(&op->op, sizeof *op);
    op->permits = config->permits & 0xffffff; /* the checks have seen that it is */
    op->first_limit = semaphore->config.limit & 0xffffff;
    wish.lease_us = config->lease_us;
    wish.wait_us = config->wait_us;
    wish.hold_us = config->hold_us;
    wish.replicas = semaphore->config.wait_replicas;
    gh_lease_begin(&op->lease, semaphore->object.client, &permit_row, gh_name_str(&semaphore->object.name), wish);
    return GH_OK;
}

gh_status gh_permit_begin(gh_permit* op, const gh_semaphore* semaphore, const gh_permit_config* config)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)semaphore, permit_try(op, semaphore, config));
}

void gh_permit_release(gh_permit* op)
{
    if (op != NULL) gh_lease_release(&op->lease);
}

uint64_t gh_permit_remaining_us(const gh_permit* op)
{
    return op == NULL ? 0 : gh_lease_remaining_us(&op->lease);
}
