/* borrowed.c -- whether a caller leaves as they are the bytes that an op has borrowed until it ends: bodies, payloads,
   names in arrays. Asked where there is an assertion hook to tell, of what the op would write: of another copy of a
   request, with other bytes, nobody could say what became of it. */

#include "client/state.h"

static uint32_t borrowed_sum(gh_op* op)
{
    gh_request request = gh_request_sum();
    op->kind->encode(op, &request);
    return request.sum.value;
}

void gh_borrowed_note(gh_op* op)
{
#if defined(GH_NO_ASSERT)
    (void)op;
#else
    if (op->client != NULL && op->client->config.hooks.assertion != NULL) op->borrowed = borrowed_sum(op);
#endif
}

/* Tells of each change once, however often the request is tried. */
void gh_borrowed_check(gh_op* op)
{
    static const char rule[] = ": what a begin borrows must stay as it is until the op has ended";
    char text[sizeof rule + 24];
    size_t size = strlen(op->kind->name);
    uint32_t sum = borrowed_sum(op);
    if (sum == op->borrowed) return;
    op->borrowed = sum;
    GH_INVARIANT(op->client, size + sizeof rule <= sizeof text);
    memcpy(text, op->kind->name, size);
    memcpy(text + size, rule, sizeof rule);
    if (gh_assertion(op->client, __FILE__, __LINE__, text)) GH_BREAK();
}
