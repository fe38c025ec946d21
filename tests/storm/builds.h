/* builds.h -- players of two builds of Guildhall on one store, as while a fleet is rolled out.

       storm --other PROGRAM

       first process -- fork --------------------------> player of this build     <-.
                     '- fork, then PROGRAM --player ---> player of the other one  <-+- the nemesis lets one end what it
                                                                                       does, and starts it as the other

   PROGRAM is another build of this program, of another patch version: ./tests/storm.sh --rolling makes one. Both write
   into the same history, so both have to be of the same storm; and their scripts have other digests, so that those of
   both lie in the store beside each other. What each of them is it says itself (--about), before anything starts. */

#ifndef GUILDHALL_TESTS_STORM_BUILDS_H
#define GUILDHALL_TESTS_STORM_BUILDS_H

#include <stdbool.h>

/* Prints what this build is: a line of its records, one of its version, and one for each script: digest and name. */
void builds_say(void);

/* Asks the other program what it is, and ends this one, in words, if the two cannot play together. */
void builds_meet(const char* other);

/* The body of a player of the other build: as player_run. */
int builds_run_other(void* context, int results);

/* What such a program does: --player BOARD HISTORY PROCESS LIFE. Returns its exit code. */
int builds_play(int count, char** words);

/* To be called now and then while both play: how many scripts the server has of both builds. */
void builds_look(void);

/* After the run: both have done something, and their scripts have lain beside each other. */
void builds_print(void);
void builds_check(void);

#endif
