/* semaphore_admin.c -- a semaphore's limit, and a look at who holds and waits. */

#include "client/object.h"
#include "client/waiter.h"
#include "guildhall/semaphore.h"
#include "scripts/semaphore_scripts.h"
#include "wire/name.h"

static const gh_str semaphore_kind_name = {"semaphore", 9};

/* A figure of a reply. False: it is larger than any that a script answers. */
static bool semaphore_take_figure(const gh_reply* reply, uint32_t i, uint32_t* figure)
{
    int64_t number = gh_reply_integer(reply, i);
    *figure = number > UINT32_MAX ? 0 : (uint32_t)number;
    return number <= UINT32_MAX;
}

/* ---- the limit ----------------------------------------------------------------------------------------- */

static gh_semaphore_limit* semaphore_limit_of(gh_op* op)
{
    return (gh_semaphore_limit*)(void*)op;
}

static void semaphore_limit_encode(gh_op* op, gh_request* request)
{
    const gh_semaphore_limit* limit = semaphore_limit_of(op);
    gh_request_object_script(request, op, semaphore_kind_name, gh_name_str(&limit->name), "shqcw");
    gh_request_op_id(request, op);
    gh_request_number(request, GH_CLAIM_WINDOW_US);
    gh_request_number(request, limit->wanted);
    gh_request_number(request, gh_op_not_after_its_end(op));
    gh_request_number(request, limit->seen_us);
}

static gh_status semaphore_limit_answer(gh_op* op, const gh_event* event)
{
    gh_semaphore_limit* limit = semaphore_limit_of(op);
    const gh_reply* reply = event->reply;
    const int64_t code = gh_reply_integer(reply, GH_SEMAPHORE_LIMIT_CODE);
    bool fits = code == GH_SEMAPHORE_LIMIT_SET || code == GH_SEMAPHORE_LIMIT_OLDER;
    if (code == GH_SEMAPHORE_LIMIT_AGAIN) limit->seen_us = (uint64_t)gh_reply_integer(reply, GH_SEMAPHORE_LIMIT_NOW_US);
    if (code == GH_SEMAPHORE_LIMIT_AGAIN || code == GH_SEMAPHORE_LIMIT_STALE)
    {
        gh_op_send(op, op->flags & GH_OP_MAYBE); /* we know the store's time better now, and our timer ends this */
        return GH_PENDING;
    }
    fits = semaphore_take_figure(reply, GH_SEMAPHORE_LIMIT_LIMIT, &limit->limit) && fits;
    fits = semaphore_take_figure(reply, GH_SEMAPHORE_LIMIT_USED, &limit->used) && fits;
    fits = semaphore_take_figure(reply, GH_SEMAPHORE_LIMIT_WAITERS, &limit->waiters) && fits;
    if (!fits) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    if (gh_reply_integer(reply, GH_SEMAPHORE_LIMIT_MORE) == 0) return GH_OK;
    gh_op_send(op, GH_OP_MAYBE); /* it is set, and there are more waiters than one call serves */
    return GH_PENDING;
}

static const gh_op_kind semaphore_limit_kind = {.name = "semaphore",
                                                .step = gh_gate_call_step,
                                                .gate_at = offsetof(gh_semaphore_limit, gate),
                                                .encode = semaphore_limit_encode,
                                                .text = &gh_semaphore_limit_lua,
                                                .effect = GH_OP_CHANGES,
                                                .answer = semaphore_limit_answer};

static gh_status semaphore_limit_try(gh_semaphore_limit* op, const gh_semaphore* semaphore, uint32_t limit)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)semaphore);
    gh_client* client;
    if (status != GH_OK) return status;
    if (limit == 0 || limit > GH_SEMAPHORE_LIMIT_MAX) return GH_INVALID_LIMIT;
    client = semaphore->object.client;
    op->limit = op->used = op->waiters = 0;
    op->wanted = limit;
    op->name = semaphore->object.name;
    op->seen_us = 0;
    gh_gate_call_begin(&op->op, client, &semaphore_limit_kind, semaphore->config.timeout_us,
                       gh_gate_object(client, semaphore_kind_name, gh_name_str(&op->name)));
    return GH_OK;
}

gh_status gh_semaphore_limit_begin(gh_semaphore_limit* op, const gh_semaphore* semaphore, uint32_t limit)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)semaphore, semaphore_limit_try(op, semaphore, limit));
}

/* ---- looking ------------------------------------------------------------------------------------------- */

static gh_semaphore_look* semaphore_look_of(gh_op* op)
{
    return (gh_semaphore_look*)(void*)op;
}

static void semaphore_look_encode(gh_op* op, gh_request* request)
{
    const gh_semaphore_look* look = semaphore_look_of(op);
    uint32_t most = (gh_client_reply_nodes(op->client) - GH_SEMAPHORE_LOOK_HOLDERS - 1) / 2;
    gh_request_object_script(request, op, semaphore_kind_name, gh_name_str(&look->name), "shq");
    gh_request_number(request, op->sequence);
    gh_request_number(request, look->holders_max < most ? look->holders_max : most);
}

static bool semaphore_parse_decimal(gh_str text, uint64_t* value)
{
    size_t i;
    *value = 0;
    for (i = 0; i < text.size && text.bytes[i] >= '0' && text.bytes[i] <= '9' && i < 17; i++)
        *value = *value * 10 + (uint64_t)(text.bytes[i] - '0');
    return i > 0 && i == text.size;
}

/* "<client>:<sequence> <permits>", and when it is over, with a half more for a turn. */
static bool semaphore_parse_holder(gh_str member, gh_str score, uint64_t now_us, gh_permit_holder* holder)
{
    uint64_t permits;
    uint64_t expiry_us;
    memset(holder, 0, sizeof *holder);
    if (member.size <= GH_TOKEN_SIZE || member.bytes[GH_TOKEN_SIZE] != ' ') return false;
    if (!gh_token_decode(gh_str_make(member.bytes, GH_TOKEN_SIZE), &holder->client, &holder->sequence)) return false;
    member = gh_str_make(member.bytes + GH_TOKEN_SIZE + 1, member.size - GH_TOKEN_SIZE - 1);
    if (!semaphore_parse_decimal(member, &permits) || permits > GH_SEMAPHORE_LIMIT_MAX) return false;
    holder->waiting = score.size > 2 && score.bytes[score.size - 2] == '.';
    if (holder->waiting) score.size -= 2;
    if (!semaphore_parse_decimal(score, &expiry_us)) return false;
    holder->permits = (uint32_t)permits;
    holder->remaining_us = expiry_us > now_us ? expiry_us - now_us : 0;
    return true;
}

static gh_status semaphore_look_answer(gh_op* op, const gh_event* event)
{
    gh_semaphore_look* look = semaphore_look_of(op);
    const gh_reply* member = gh_reply_at(event->reply, GH_SEMAPHORE_LOOK_HOLDERS);
    uint64_t now_us = (uint64_t)gh_reply_integer(event->reply, GH_SEMAPHORE_LOOK_NOW_US);
    bool fits = semaphore_take_figure(event->reply, GH_SEMAPHORE_LOOK_LIMIT, &look->limit);
    fits = semaphore_take_figure(event->reply, GH_SEMAPHORE_LOOK_USED, &look->used) && fits;
    fits = semaphore_take_figure(event->reply, GH_SEMAPHORE_LOOK_WAITERS, &look->waiters) && fits;
    look->count = 0;
    if (!fits) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    for (; member != NULL && member->next != NULL && look->count < look->holders_max; member = member->next->next)
    {
        if (!semaphore_parse_holder(member->text, member->next->text, now_us, &look->holders[look->count]))
            return GH_CORRUPT;
        look->count++;
    }
    return look->limit == 0 ? GH_GONE : GH_OK;
}

static const gh_op_kind semaphore_look_kind = {.name = "semaphore",
                                               .step = gh_call_step,
                                               .encode = semaphore_look_encode,
                                               .text = &gh_semaphore_look_lua,
                                               .effect = GH_OP_READS,
                                               .trees = gh_tree_read,
                                               .answer = semaphore_look_answer};

static gh_status semaphore_look_try(gh_semaphore_look* op, const gh_semaphore* semaphore, gh_permit_holder* holders,
                                    size_t holders_max)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)semaphore);
    if (status != GH_OK) return status;
    if (holders_max > GH_SEMAPHORE_HOLDERS_MAX || (holders == NULL && holders_max > 0)) return GH_INVALID_BUFFER;
    op->limit = op->used = op->waiters = op->count = 0;
    op->name = semaphore->object.name;
    op->holders = holders;
    op->holders_max = (uint32_t)holders_max;
    gh_call_begin(&op->op, semaphore->object.client, &semaphore_look_kind, semaphore->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_semaphore_look_begin(gh_semaphore_look* op, const gh_semaphore* semaphore, gh_permit_holder* holders,
                                  size_t holders_max)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)semaphore,
                           semaphore_look_try(op, semaphore, holders, holders_max));
}
