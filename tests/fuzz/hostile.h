/* hostile.h -- answers of the right shape with values that no good server sends: those of anybody who has written to the
   keys, or who is no Redis at all. */

#ifndef GUILDHALL_TESTS_FUZZ_HOSTILE_H
#define GUILDHALL_TESTS_FUZZ_HOSTILE_H

#include "world.h"

/* Answers a script by the shape that its head says, what reads without a script by any array, and a caller's command by
   any value; now and then an error, another shape, nothing, or the end of the stream. What is drawn comes from the
   input. False: it leaves that to a good server. */
bool hostile_answer(const world* of, const world_request* request, fuzz_input* input, resp_text* reply);

/* The element that an answer of Sentinels or of a Cluster may have. */
void hostile_error(fuzz_input* input, resp_text* reply);

#endif
