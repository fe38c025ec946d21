/* verdict.h -- what the checkers found, and what the faults excuse. */

#ifndef GUILDHALL_TESTS_STORM_VERDICT_H
#define GUILDHALL_TESTS_STORM_VERDICT_H

#include "storm/history.h"

/* Begins a checker: the name of the promise. What is found until the next one belongs to it. */
void verdict_begin(const char* promise);

/* Something that must not be. The ops concerned, 0 at the end. Only the first of each checker are printed. */
void verdict_violation(const uint32_t* ops, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* How many cases the checker looked at, for the summary; none at all is said too. */
void verdict_cases(uint64_t count);

/* Prints "N passed, N failed"; returns how many failed. */
unsigned verdict_end(void);

/* Prints nothing from here on; and the name of the first promise that was broken, NULL: none was. */
void verdict_be_quiet(void);
const char* verdict_first_broken(void);

#define VIOLATION(format, ...)         verdict_violation((const uint32_t[]){0}, format, __VA_ARGS__)
#define VIOLATION_1(x, format, ...)    verdict_violation((const uint32_t[]){x, 0}, format, __VA_ARGS__)
#define VIOLATION_2(x, y, format, ...) verdict_violation((const uint32_t[]){x, y, 0}, format, __VA_ARGS__)

/* A checker of two systems: the reads of this kind tell a sum in a, and for the same object it never goes back. */
void check_growth(const char* promise, uint8_t system, uint8_t what);

/* ---- excuses; all scan the marks, which excuse_prepare collects once ----------------------------------- */

void excuse_prepare(void);

/* A loss happened within these times. */
bool excuse_loss_between(uint64_t from_us, uint64_t to_us);

/* A node of a Cluster was replaced while two things were under way, as they were from the one time to the other: it may
   have done the one, and its successor the other in the same microsecond, of which both make their numbers. */
bool excuse_two_masters(uint64_t from_us, uint64_t to_us);

/* What was done within these times may be gone in the end. */
bool excuse_may_be_lost(uint64_t from_us, uint64_t to_us);

/* The server's clock was set forward within these times. */
bool excuse_clock_forward(uint64_t from_us, uint64_t to_us);

/* The server's clock was set back within these times. */
bool excuse_clock_back(uint64_t from_us, uint64_t to_us);

/* A loss lies between, and the server's clock was ahead of where it is later: numbers made of time may go back. */
bool excuse_clock_went_back_over_loss(uint64_t from_us, uint64_t to_us);

/* The same of FLUSHALL alone, of which no link tells. */
bool excuse_clock_went_back_over_flush(uint64_t from_us, uint64_t to_us);

/* What was told as not done, and is there in the end: a copy of it was done, and lost before the next one was refused,
   or before it was begun anew and given up; and a state that came later has it again. No answer can tell of that. */
bool excuse_is_back(const storm_record* op);

/* How many losses were not over before that time. */
unsigned excuse_losses_since(uint64_t from_us);

/* This process was killed, or stood still for longer than bearable_us, within these times. */
bool excuse_process_away(uint8_t process, uint64_t from_us, uint64_t to_us, uint64_t bearable_us);

/* True if it was killed then: what the store keeps for it, nobody will give back. */
bool excuse_process_killed(uint8_t process, uint64_t from_us, uint64_t to_us);

/* How long the witness has looked between two sights of the same, at these times: while the server answers nobody, he
   sees nothing, and nobody can be told. */
uint64_t watched_between(uint64_t before_us, uint64_t after_us);

/* How long he has looked at that object from from_us to to_us, by his records of that kind behind another record, which
   is of the same system and no later than from_us. */
uint64_t watched_within(uint32_t behind, uint8_t what, uint8_t object, uint64_t from_us, uint64_t to_us);

/* Narrows these times to the longest within which the link was ready; to an empty one if it never was. */
void link_longest_ready(storm_who who, uint64_t* from_us, uint64_t* to_us);

/* When the last loss other than FLUSHALL (of which a link does not hear) within these times was over; 0: none was. */
uint64_t excuse_last_loss(uint64_t from_us, uint64_t to_us);

/* When the first one of those was over that was not over at behind_us; 0: none is left. */
uint64_t excuse_next_loss(uint64_t from_us, uint64_t to_us, uint64_t behind_us);

/* Until when what this client hears may have been said before the last loss other than FLUSHALL: a process that slept
   over it reads what its old link has brought, and then sees that the link is gone. 0: nothing was lost. */
uint64_t excuse_heard_before_loss(storm_who who);

/* Since when the link was ready without a break until that time; UINT64_MAX: it was not. */
uint64_t link_ready_since(storm_who who, uint64_t time_us);

/* Of a Cluster, whether the client was connected to a node within these times: of the slots of one that it has
   been connected to for longer, and asks nothing, another may be the master. True of all other stores. */
bool link_was_made(storm_who who, uint64_t from_us, uint64_t to_us);

/* The server's clock was moved within these times. */
bool excuse_clock_moved(uint64_t from_us, uint64_t to_us);

/* The players were without some right, or could write nothing, for a part of these times: what they gave back may have
   been refused. */
bool excuse_rights_taken(uint64_t from_us, uint64_t to_us);

/* Why somebody may not know of a grant that is his, which was seen from seen_us to to_us, while his link was ready from
   from_us on: his process was away or killed, rights were taken, or the server's clock was moved. For so long as it
   went back, what had been too late is not, and what was over lives again. */
bool excuse_ghost(storm_who who, uint64_t seen_us, uint64_t from_us, uint64_t to_us);

/* Slots of a Cluster were on their way for a part of these times: what is asked of them waits as long as that. */
bool excuse_slots_moved(uint64_t from_us, uint64_t to_us);

/* A master of a Cluster may have been replaced, have lost something by that, and have its place again, all within these
   times: of that, see guildhall/cluster.h, Losses. */
bool excuse_master_is_back(uint64_t from_us, uint64_t to_us);

/* A master of a Cluster was replaced and may have lost the one by that, and before the other was over, the very slot of
   what has that bit (talk.h) had gone on from the successor to a third one, perhaps before everybody had asked the
   successor or heard of it: the same. */
bool excuse_slot_went_on(const storm_record* lost, const storm_record* again, uint64_t bit);

#endif
