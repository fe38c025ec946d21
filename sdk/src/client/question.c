/* question.c -- ops that ask again and again while they wait. */

#include "client/question.h"

#include "base/least.h"

#define PAUSE_MIN_US      5000ull
#define PAUSE_MAX_US      100000ull
#define PAUSE_DOUBLED_MAX 5u

uint64_t gh_question_pause(uint32_t asked)
{
    return gh_least(PAUSE_MIN_US << gh_least(asked, PAUSE_DOUBLED_MAX), PAUSE_MAX_US);
}

gh_status gh_question_ask(gh_op* op, uint64_t timeout_us, bool may_wait, int flags)
{
    op->state = GH_QUESTION_ASKING;
    if (may_wait) gh_op_listen(op); /* before it is sent: a hint may overtake the answer */
    gh_op_timer_after(op, timeout_us);
    gh_op_send(op, flags);
    return GH_PENDING;
}

gh_status gh_question_sleep(gh_op* op, uint64_t pause_us, uint64_t wait_end_us)
{
    op->state = GH_QUESTION_WAITING;
    gh_op_timer(op, gh_least(gh_client_after(op->client, pause_us), wait_end_us));
    return GH_PENDING;
}

gh_status gh_question_wait(gh_op* op, uint16_t* asked, uint64_t heartbeat_us, uint64_t wait_end_us)
{
    uint64_t pause_us = gh_question_pause(*asked);
    if (gh_client_wake_healthy(op->client)) pause_us = gh_client_jitter(op->client, heartbeat_us);
    if (*asked < UINT16_MAX) ++*asked;
    return gh_question_sleep(op, pause_us, wait_end_us);
}

gh_status gh_question_verdict(gh_op* op, const gh_event* event, uint64_t wait_end_us, gh_status (*ask)(gh_op* op))
{
    const bool is_time = event->kind == GH_EVENT_TIMER;
    const bool wakes = is_time || event->kind == GH_EVENT_HINT || event->kind == GH_EVENT_RESET;
    if (op->state != GH_QUESTION_WAITING || !wakes) return gh_call_verdict(op, event);
    if (is_time && gh_client_now(op->client) >= wait_end_us) return GH_EMPTY;
    return ask(op);
}
