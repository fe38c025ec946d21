/* chat_fetch.h -- the second half of the chat bench. */

#ifndef GUILDHALL_BENCH_CHAT_FETCH_H
#define GUILDHALL_BENCH_CHAT_FETCH_H

#include "harness/bench.h"

void bench_chat_fetch(bench* self);

#endif
