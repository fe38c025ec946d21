/* fuzz_calls.c -- calls of the whole API in any order: begun, used, cancelled, detached, drained, shut down and begun
   again, with a client's memory forbidden ground after its shutdown. */

#include "play.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const play_rules rules = {.peer = PLAY_HOSTILE, .starts_ready = false, .shuts_down = true};
    play(&rules, data, size);
    return 0;
}
