/* events.h -- virtual time: what is to happen, in its order, and a clock that jumps from one to the next.

   Nothing waits: between two events no time passes for the machine, and within one none for the fleet. What is due at
   the same moment happens in the order in which it was planned, so that a run is the same each time.

   history_now() of tests/storm is this clock, and history_pause() lets happen what is due until then: it may be called
   inside an event. */

#ifndef GUILDHALL_TESTS_SIMULATOR_EVENTS_H
#define GUILDHALL_TESTS_SIMULATOR_EVENTS_H

#include <stdint.h>

/* Forgets all that was planned. */
void events_open(uint64_t now_us);

/* x is for the callee. A time that is past is now. */
void events_at(uint64_t at_us, void (*call)(void* context, uint64_t x), void* context, uint64_t x);

/* When the next one is due; UINT64_MAX: there is none. */
uint64_t events_next(void);

/* Lets happen what is due until then, and then it is that time. */
void events_run(uint64_t until_us);

#endif
