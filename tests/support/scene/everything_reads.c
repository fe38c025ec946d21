/* everything_reads.c -- reads of counters and guilds, begun, touched and detached as in everything.c. */

#include "support/scene/everything_reads.h"

#include "support/scene/everything.h"

#include <string.h>

static char name_bytes[GH_NAME_SIZE_MAX];

/* A name that is there only during the call of begin. */
static gh_str passing(const char* text)
{
    memcpy(name_bytes, text, strlen(text));
    return gh_str_make(name_bytes, strlen(text));
}

static void must_begin(bool live, const char* what, gh_status got)
{
    memset(name_bytes, EVERYTHING_GONE, sizeof(name_bytes));
    if (got != (live ? GH_OK : GH_INVALID_CLIENT)) fail_msg("%s is %s", what, gh_status_name(got));
}

#define BEGIN(function, ...) (note(#function), must_begin(live, #function, function(__VA_ARGS__)))

void everything_reads_begin(everything_reads* reads, gh_client* client, bool live, void (*note)(const char* function))
{
    gh_counter_read_config want = gh_counter_read_config_default();
    want.samples = reads->samples;
    want.sample_count = 4;
    gh_counters_list_config listed = gh_counters_list_config_default();
    listed.names = reads->names;
    listed.name_count = 4;
    reads->asked[0].name = gh_str_literal("jeff");
    reads->asked[1].name = gh_str_literal("jenny");
    BEGIN(gh_counter_read_begin, &reads->sums, client, passing("hits"), &want);
    BEGIN(gh_counters_list_begin, &reads->list, client, &listed);
    BEGIN(gh_guild_has_begin, &reads->has, client, passing("knights"), reads->asked, 2, NULL);
}

static void must_be_over(gh_op* op)
{
    assert_false(gh_op_is_busy(op));
    if (gh_op_poll(op) == GH_PENDING) fail_msg("a read is PENDING");
    gh_op_cancel(op);
    gh_op_detach(op);
    if (gh_op_poll(op) == GH_PENDING) fail_msg("a read is PENDING after its end");
}

void everything_reads_touch(everything_reads* reads)
{
    must_be_over(&reads->sums.op);
    must_be_over(&reads->list.op);
    must_be_over(&reads->has.op);
}

void everything_reads_detach(everything_reads* reads)
{
    gh_op_detach(&reads->sums.op);
    gh_op_detach(&reads->list.op);
    gh_op_detach(&reads->has.op);
    memset(reads, EVERYTHING_GONE, sizeof(*reads));
}
