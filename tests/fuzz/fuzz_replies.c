/* fuzz_replies.c -- ops of every system, and answers of the right shape with hostile values: what a script would say of
   keys that anybody has written to. */

#include "play.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const play_rules rules = {.peer = PLAY_HOSTILE, .checks_words = true, .starts_ready = true};
    play(&rules, data, size);
    return 0;
}
