/* store.h -- the servers of the storm: started, killed, put back in time, failed over; and asked directly, past the
   wire. */

#ifndef GUILDHALL_TESTS_STORM_STORE_H
#define GUILDHALL_TESTS_STORM_STORE_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

/* What storm.store says. */
void store_start(void);

/* Of a fleet: the master that this number chooses is the server that counts, until the next call. */
void store_choose(uint64_t x);

/* The unix socket of the server that counts, and the run's folder. */
const char* store_path(void);
const char* store_folder(void);

/* One command to the server that counts; false if it did not say OK. */
bool store_do(const char* format, ...);

/* The same for what takes a fault back: again until it says OK (a script that runs long turns others away); the storm
   ends if it never does, because what was found then would be the fault's work. In a fleet, all servers are told. */
void store_must(const char* format, ...);

/* The server that counts does nothing for so long; or it runs a script for so long, and says BUSY after a while.
   Neither is waited for. */
void store_sleep(uint64_t us);
void store_run_long(uint64_t us);

/* A new connection to the server that counts, or NULL. The limit is also that of each answer. */
redisContext* store_connect(uint64_t limit_us);

void store_kill(void);
void store_restart(void);
void store_freeze(void);
void store_thaw(void);
void store_shift_clock(int64_t offset_us);

/* A copy of the data on disk, and starting the server with it, or with nothing if none was made. keep returns when the
   copy was made. */
void store_keep(void);
bool store_has_kept(void);
void store_go_back(void);

/* With a replica: kills the primary and lets the other one take its place; what was the primary becomes its replica,
   empty. */
void store_fail_over(void);

/* The same while the primary lives and hears of nothing: all are led to the other one, which takes its place; and back
   again, to what it has had all the while. The other one is its replica then, and has nothing of its own. */
void store_lead_away(void);
void store_lead_back(void);

/* True when the replica has all that had been done when this was called. */
bool store_replica_has_all(void);

#endif
