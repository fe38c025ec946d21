/* hostile.h -- answers of the right shape with values that no good server sends: those of anybody who has written to the
   keys, or who is no Redis at all. */

#ifndef GUILDHALL_TESTS_FUZZ_HOSTILE_H
#define GUILDHALL_TESTS_FUZZ_HOSTILE_H

#include "world.h"

/* Answers a script by the shape that its head says, what reads without a script by any array, and a caller's command by
   any value; now and then an error, another shape, nothing, or the end of the stream. What is drawn comes from the
   input. False: it leaves that to a good server. */
bool hostile_answer(world* of, const world_request* request, fuzz_input* input, resp_text* reply);

/* The same without errors, losses and other shapes. */
bool hostile_answer_shaped(const world* of, const world_request* request, fuzz_input* input, resp_text* reply);

/* A text such as stands in keys: numbers and words, a message, a digest; in the bytes, which have room for it. */
#define HOSTILE_TEXT_MAX 600u
gh_str hostile_text(const world* of, fuzz_input* input, char bytes[HOSTILE_TEXT_MAX]);

#endif
