/* nemesis.h -- who makes the weather. */

#ifndef GUILDHALL_TESTS_STORM_NEMESIS_H
#define GUILDHALL_TESTS_STORM_NEMESIS_H

#include <stdbool.h>
#include <stdint.h>

/* Draws the schedule from the run's seed. */
void nemesis_start(uint64_t now_us);

/* Does what is due; returns when the next thing is. */
uint64_t nemesis_turn(uint64_t now_us);

/* Of a run with --failovers: all have been, and the fleet has settled; and how many have. */
bool nemesis_has_finished(void);
unsigned nemesis_failovers(void);

/* What has not struck yet comes so much later. */
void nemesis_put_off(uint64_t us);

/* Ends every fault, and returns when the store answers and all players run. */
void nemesis_heal(void);

/* Prints how often each kind of fault struck. */
void nemesis_print(void);

/* How many faults struck so far; and how many were due, also those that could not be or were left out. */
unsigned nemesis_struck(void);
unsigned nemesis_drawn(void);

const char* nemesis_kind_name(unsigned kind);
unsigned nemesis_kind_count(void);

/* True for a mark of a fault that takes rights from the players, or refuses all that they write. */
bool nemesis_takes_rights(uint8_t mark);

/* The same of a fault by which slots are on their way from one node to another. */
bool nemesis_moves_slots(uint8_t mark); /* its d: which mailboxes and chats had theirs moved, by the bits of talk.h */

/* The same of a failover that is undone: the master of before goes on with what it had. */
bool nemesis_turns_back(uint8_t mark);

/* The same of a fault by which another server becomes the master. */
bool nemesis_replaces_master(uint8_t mark);

/* True when that list of names, separated by commas, knows them all. */
bool nemesis_knows(const char* names);

/* True when one of them is that of the fault of ancient bytes, see storm_options. */
bool nemesis_is_ancient(const char* names);

#endif
