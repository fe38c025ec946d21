/* question.h -- ops that ask again and again while they wait for something to be there: a page of messages, a task.

       ask --> ASKING -- answered: there it is --> over
                 ^  '--- answered: nothing yet --> WAITING -- hint, reset, or the pause is over --> ask
                 |                                    |
                 '------------------------------------'      the time to wait is over --> over, EMPTY

   With hints, asking is only a heartbeat; without them, pauses grow. The kind's `answer` takes what a reply says, as
   for a call: GH_PENDING if it asks or waits, else how the op ends. */

#ifndef GH_QUESTION_H
#define GH_QUESTION_H

#include "client/op.h"

/* Of gh_op.state. What else a system asks in such an op has numbers behind these. */
enum
{
    GH_QUESTION_ASKING = 1,
    GH_QUESTION_WAITING,
    GH_QUESTION_OTHER
};

/* 5 ms after the first question, twice as long after each, 100 ms at last. */
uint64_t gh_question_pause(uint32_t asked);

/* Sends the question of the op, to be answered in that time. One that may wait listens before. flags: of gh_op_send.
   GH_PENDING, for an answer to end with. */
gh_status gh_question_ask(gh_op* op, uint64_t timeout_us, bool may_wait, int flags);

/* Waits so long, but not beyond the end. GH_PENDING. */
gh_status gh_question_sleep(gh_op* op, uint64_t pause_us, uint64_t wait_end_us);

/* The same until a hint: a heartbeat, or without hints a pause that grows with the questions that are counted here. */
gh_status gh_question_wait(gh_op* op, uint16_t* asked, uint64_t heartbeat_us, uint64_t wait_end_us);

/* What an event makes of it: GH_PENDING, or how it ends. `ask` asks anew, and answers the same. */
gh_status gh_question_verdict(gh_op* op, const gh_event* event, uint64_t wait_end_us, gh_status (*ask)(gh_op* op));

#endif
