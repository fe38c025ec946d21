/* request_check.h -- what must be true of each request, whatever names and arguments went into it. */

#ifndef GUILDHALL_TESTS_FUZZ_REQUEST_CHECK_H
#define GUILDHALL_TESTS_FUZZ_REQUEST_CHECK_H

#include "world.h"

/* A script gets as many keys and arguments as its head allows; its keys have the prefix and lie in one slot; no other
   command is sent than those that the client knows, and what callers have asked for. */
void request_check(const world* self, const world_request* request);

/* A caller has begun this command. */
void request_expect(const gh_str* words, size_t count);
void request_forget_all(void);

#endif
