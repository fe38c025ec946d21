/* fuzz_client.c -- ops of every system, and a peer that says whatever the input wants, from the first byte of the
   connection on or after a good hand-shake. */

#include "play.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const play_rules rules[] = {{.peer = PLAY_RAW, .starts_ready = true},
                                       {.peer = PLAY_RAW, .starts_ready = false}};
    if (size == 0) return 0;
    play(&rules[data[0] & 1], data + 1, size - 1);
    return 0;
}
