/* outcome.h -- how an op ends: one judge for all of them.

   What is known of a request is one of three things, and it never gets better by waiting:

       begin --> UNSENT --- sent whole ---> MAYBE ---- the only copy is answered ----> ANSWERED
                    ^                         |
                    '--- not sent whole ------'--- its link died, a copy is sent again: MAYBE for good

   A copy on a dead link may be carried out at any later time, so an op of which one is left cannot be said to be
   undone, whatever later copies are answered. Only the table in outcome.c turns a reason into a status; no system names
   REFUSED, FENCED, TIMEOUT, CANCELLED or CORRUPT for a request by itself. */

#ifndef GH_OUTCOME_H
#define GH_OUTCOME_H

#include "client/op.h"

/* What is known of an op's request. */
typedef enum gh_knowledge
{
    GH_KNOWN_UNSENT = 0, /* no copy was sent whole: nothing can have been done           */
    GH_KNOWN_ANSWERED,   /* the only copy that was sent whole has got its answer         */
    GH_KNOWN_MAYBE,      /* a copy was sent whole, and what became of it is not known    */
    GH_KNOWLEDGE_COUNT
} gh_knowledge;

/* The row of the table: pure, so that a test can ask for each cell. */
gh_status gh_outcome(gh_reason reason, gh_knowledge knowledge, gh_op_effect effect);

/* What is known after an answer has come to the copy sent last. */
gh_knowledge gh_op_knowledge_answered(const gh_op* op);

#endif
