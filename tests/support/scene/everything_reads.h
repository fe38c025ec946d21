/* everything_reads.h -- the part of everything.h that asks for sums and holders. */

#ifndef GUILDHALL_TESTS_EVERYTHING_READS_H
#define GUILDHALL_TESTS_EVERYTHING_READS_H

#include "support/scene/game.h"

typedef struct everything_reads
{
    gh_counter_read sums;
    gh_counter_sample samples[4];
    gh_counters_list list;
    gh_name names[4];
    gh_lock_look look;
} everything_reads;

void everything_reads_begin(everything_reads* reads, gh_client* client, bool live);
void everything_reads_touch(everything_reads* reads);
void everything_reads_detach(everything_reads* reads);

#endif
