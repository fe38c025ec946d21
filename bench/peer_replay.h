/* peer_replay.h -- lock cycles encoded beforehand and sent over and over: what the server can do at most. */

#ifndef GUILDHALL_BENCH_PEER_REPLAY_H
#define GUILDHALL_BENCH_PEER_REPLAY_H

#include "lock_request.h"

struct bench_replay;

/* NULL if it cannot connect; unix sockets only. */
struct bench_replay* bench_replay_open(bench* self, const bench_lock_scripts* scripts, size_t requests_in_flight);
void bench_replay_close(struct bench_replay* peer);
bool bench_replay_run(void* peer, uint64_t duration_us, bench_sample* sample);

#endif
