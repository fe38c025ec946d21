/* everything_reads.c -- reads of counters and locks, begun, touched and detached as in everything.c. */

#include "support/scene/everything_reads.h"

#include "support/scene/everything_part.h"

#include <string.h>

#define BEGIN(function, ...) BEGIN_AS(live, function, __VA_ARGS__)

void everything_reads_begin(everything_reads* reads, gh_client* client, bool live)
{
    gh_counter_read_config want = gh_counter_read_config_default();
    want.samples = reads->samples;
    want.sample_count = 4;
    gh_counters_list_config listed = gh_counters_list_config_default();
    listed.names = reads->names;
    listed.name_count = 4;
    BEGIN(gh_counter_read_begin, &reads->sums, client, PASSING("hits"), &want);
    BEGIN(gh_counters_list_begin, &reads->list, client, &listed);
    BEGIN(gh_lock_look_begin, &reads->look, client, PASSING("sword"), NULL);
}

void everything_reads_touch(everything_reads* reads)
{
    everything_must_be_over(&reads->sums.op);
    everything_must_be_over(&reads->list.op);
    everything_must_be_over(&reads->look.op);
}

void everything_reads_detach(everything_reads* reads)
{
    gh_op_detach(&reads->sums.op);
    gh_op_detach(&reads->list.op);
    gh_op_detach(&reads->look.op);
    memset(reads, EVERYTHING_GONE, sizeof(*reads));
}
