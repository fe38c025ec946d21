/* lock_encode.c -- what a lock asks of the store in each of its states. */

#include "lock_states.h"
#include "client/waiter.h"

static void encode_lock_keys(gh_request* request, const gh_lock* lock, const char* parts)
{
    gh_request_object_keys(request, lock->op.client, gh_str_literal("lock"), lock->name, parts);
}

gh_script* gh_lock_script(gh_op* op)
{
    gh_script_id id = op->state == GH_LOCK_ASKING    ? GH_SCRIPT_lock_acquire
                      : op->state == GH_LOCK_LEAVING ? GH_SCRIPT_lock_release
                                                     : GH_SCRIPT_lock_renew;
    return gh_client_script(op->client, id);
}

static void encode_acquire(gh_lock* lock, gh_request* request)
{
    gh_client* client = lock->op.client;
    uint64_t not_after_us = gh_client_store_time(client, lock->give_up_us);
    gh_request_op_token(request, &lock->op);
    gh_request_number(request, lock->op.sequence);
    gh_request_number(request, lock->lease_us);
    gh_request_number(request, lock->ask_once ? 0 : gh_waiter_patience(client));
    gh_request_number(request, GH_CLAIM_WINDOW_US);
    gh_request_number(request, not_after_us == 0 ? 0 : not_after_us + gh_client_request_timeout(client));
    gh_request_number(request, gh_client_quarantine_end(client));
}

static void encode_renew(gh_lock* lock, gh_request* request)
{
    gh_request_op_token(request, &lock->op);
    gh_request_number(request, lock->op.sequence);
    gh_request_number(request, lock->lease_us);
}

static void encode_release(gh_lock* lock, gh_request* request)
{
    gh_request_op_token(request, &lock->op);
    gh_request_number(request, lock->op.sequence);
    gh_request_number(request, GH_CLAIM_WINDOW_US);
}

void gh_lock_encode(gh_op* op, gh_request* request)
{
    gh_lock* lock = gh_lock_of(op);
    const gh_script* script = gh_lock_script(op);
    switch ((gh_lock_state)op->state)
    {
    case GH_LOCK_ASKING:
        gh_request_script(request, script, 3, 7);
        encode_lock_keys(request, lock, "sqc");
        encode_acquire(lock, request);
        break;
    case GH_LOCK_RENEWING:
        gh_request_script(request, script, 1, 3);
        encode_lock_keys(request, lock, "s");
        encode_renew(lock, request);
        break;
    case GH_LOCK_LEAVING:
        gh_request_script(request, script, 3, 3);
        encode_lock_keys(request, lock, "sqc");
        encode_release(lock, request);
        break;
    case GH_LOCK_WAITING:
    case GH_LOCK_HELD: request->full = true; break; /* nothing is asked in these */
    }
}
