/* outcome.c -- the table of outcomes: what happened, and what is known of the request, make the status. */

#include "client/outcome.h"

#include "client/state.h"

/* For what changes nothing it is all the same whether it was carried out: the last column. */
typedef struct outcome_row
{
    int16_t changes[GH_KNOWLEDGE_COUNT]; /* by knowledge: UNSENT, ANSWERED, MAYBE */
    int16_t reads;
} outcome_row;

static const outcome_row outcome_rows[GH_REASON_COUNT] = {
    /*                         UNSENT         ANSWERED      MAYBE         reads */
    [GH_REASON_DEADLINE] = {{GH_TIMEOUT, GH_UNKNOWN, GH_UNKNOWN}, GH_TIMEOUT},
    [GH_REASON_CANCEL] = {{GH_CANCELLED, GH_UNKNOWN, GH_UNKNOWN}, GH_CANCELLED},
    [GH_REASON_REFUSED] = {{GH_REFUSED, GH_REFUSED, GH_UNKNOWN}, GH_REFUSED},
    [GH_REASON_HALFWAY] = {{GH_UNKNOWN, GH_UNKNOWN, GH_UNKNOWN}, GH_REFUSED},
    [GH_REASON_FENCED] = {{GH_FENCED, GH_FENCED, GH_UNKNOWN}, GH_FENCED},
    [GH_REASON_CORRUPT] = {{GH_CORRUPT, GH_CORRUPT, GH_UNKNOWN}, GH_CORRUPT},
    [GH_REASON_ERROR] = {{GH_ERROR, GH_ERROR, GH_UNKNOWN}, GH_ERROR},
    [GH_REASON_LINK] = {{GH_UNKNOWN, GH_UNKNOWN, GH_UNKNOWN}, GH_TIMEOUT},
    [GH_REASON_UNUSABLE] = {{GH_UNKNOWN, GH_UNKNOWN, GH_UNKNOWN}, GH_CORRUPT},
    [GH_REASON_TOO_LARGE] = {{GH_UNKNOWN, GH_UNKNOWN, GH_UNKNOWN}, GH_CORRUPT},
    [GH_REASON_NO_ROOM] = {{GH_TOO_LARGE, GH_TOO_LARGE, GH_UNKNOWN}, GH_TOO_LARGE},
};

gh_status gh_outcome(gh_reason reason, gh_knowledge knowledge, gh_op_effect effect)
{
    const outcome_row* row = &outcome_rows[reason];
    return (gh_status)(effect == GH_OP_READS ? row->reads : row->changes[knowledge]);
}

gh_knowledge gh_op_knowledge_answered(const gh_op* op)
{
    return (op->flags & GH_OP_MAYBE) != 0 ? GH_KNOWN_MAYBE : GH_KNOWN_ANSWERED;
}

gh_status gh_op_outcome(const gh_op* op, gh_reason reason)
{
    return gh_outcome(reason, gh_op_maybe_done(op) ? GH_KNOWN_MAYBE : GH_KNOWN_UNSENT, op->kind->effect);
}

gh_status gh_op_refused(const gh_op* op, gh_status answered)
{
    return gh_op_knowledge_answered(op) == GH_KNOWN_MAYBE ? GH_UNKNOWN : answered;
}
