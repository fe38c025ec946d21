/* counting.c -- log files into daily totals. */

#include "counting.h"
#include "sender.h"

#include <stdio.h>
#include <stdlib.h>

#define AGAIN_US 500000u
#define WAIT_US  1000000u /* for a new file; a hint ends it sooner */

/* ---- Opening: memory and files, never in a frame ------------------------------------------------------- */

static void* reserve(size_t size)
{
    return aligned_alloc(64, (size + 63) & ~(size_t)63);
}

static bool open_aggregate(counting* c)
{
    gh_aggregate_config config = gh_aggregate_config_default();
    uint32_t nodes = gh_geo_node_count(c->places.table);
    if (config.nodes_capacity < nodes) config.nodes_capacity = nodes;
    size_t size = gh_aggregate_memory(&config);
    c->aggregate_memory = reserve(size);
    return gh_aggregate_init(&c->aggregate, &config, c->aggregate_memory, size) == GH_OK;
}

bool counting_open(counting* c, gh_client* client, gh_str reader, const char* addresses_path)
{
    *c = (counting){.client = client, .reader = reader};
    if (!places_read(&c->places, addresses_path)) return false;
    c->file_config = gh_file_read_config_default();
    c->file_config.channel = gh_str_literal(LOGS_CHANNEL);
    c->file_config.keep = GH_FILE_AT_END; /* what was counted and not flushed must be read again after a crash */
    c->file_config.memory_size = gh_file_read_memory(&c->file_config);
    c->file_config.memory = reserve(c->file_config.memory_size);
    if (c->file_config.memory != NULL && open_aggregate(c)) return true;
    fprintf(stderr, "game_server: no memory to count in\n");
    counting_close(c);
    return false;
}

void counting_close(counting* c)
{
    places_free(&c->places);
    free(c->aggregate_memory);
    free(c->file_config.memory);
    *c = (counting){0};
}

/* ---- The states ---------------------------------------------------------------------------------------- */

static void pause_counting(counting* c, uint64_t now_us)
{
    c->restarts++;
    c->again_us = now_us + AGAIN_US;
    c->state = COUNTING_PAUSING;
}

static void go_on(counting* c, gh_status begun, counting_state state, uint64_t now_us)
{
    if (begun == GH_OK) c->state = state;
    else pause_counting(c, now_us);
}

static void begin_list(counting* c, uint64_t now_us)
{
    gh_files_list_config config = gh_files_list_config_default();
    config.after = c->after;
    config.wait_us = WAIT_US;
    config.entries = c->entries;
    config.entry_count = 1;
    config.names = c->name;
    config.names_size = sizeof c->name;
    go_on(c, gh_files_list_begin(&c->list, c->client, gh_str_literal(LOGS_CHANNEL), &config), COUNTING_LISTING, now_us);
}

static void next_file(counting* c, uint64_t now_us)
{
    c->after = c->entries[0].number;
    begin_list(c, now_us);
}

static void begin_file(counting* c, uint64_t now_us)
{
    gh_status status = gh_aggregate_start(c->aggregate, c->places.table);
    c->file_config.id = c->entries[0].id;
    if (status == GH_OK)
        status = gh_file_read_begin(&c->file, c->client, c->entries[0].name, c->reader, &c->file_config);
    go_on(c, status, COUNTING_READING, now_us);
}

static void listed(counting* c, uint64_t now_us)
{
    gh_status status = gh_op_poll(&c->list.op);
    if (status == GH_PENDING) return;
    c->empty_lists += status == GH_EMPTY;
    if (status == GH_OK) begin_file(c, now_us);
    else if (status == GH_EMPTY) begin_list(c, now_us);
    else pause_counting(c, now_us);
}

static void begin_flush(counting* c, uint64_t now_us)
{
    gh_status status = gh_aggregate_flush_begin(&c->flush, c->client, c->aggregate, gh_str_literal(LOGS_SET),
                                                c->entries[0].name, NULL);
    go_on(c, status, COUNTING_FLUSHING, now_us);
}

static void read_lines(counting* c, uint64_t now_us, uint32_t lines_max)
{
    gh_status status = GH_OK;
    while (status == GH_OK && lines_max-- > 0)
    {
        gh_str line;
        status = gh_file_read_line(&c->file, &line);
        if (status == GH_TOO_SMALL) status = GH_OK; /* only the beginning of a long line: malformed */
        if (status == GH_OK) status = gh_aggregate_add_line(c->aggregate, line);
    }
    if (status == GH_OK || status == GH_PENDING) return;
    if (status == GH_EMPTY) begin_flush(c, now_us);
    else if (status == GH_GONE || status == GH_EXISTS || status == GH_NOT_MEMBER) next_file(c, now_us);
    else
    {
        gh_op_cancel(&c->file.op);
        pause_counting(c, now_us);
    }
}

static void count_file(counting* c)
{
    gh_aggregate_stats stats;
    if (gh_aggregate_get_stats(c->aggregate, &stats) != GH_OK) return;
    c->files_added++;
    c->lines += stats.lines;
    c->lines_unknown += stats.lines_unknown;
    c->lines_malformed += stats.lines_malformed;
}

static void flushed(counting* c, uint64_t now_us)
{
    gh_status status = gh_op_poll(&c->flush.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) count_file(c);
    else if (status == GH_EXISTS) c->files_added_before++;
    else if (status == GH_DIFFERS) c->files_refused++;
    else
    {
        gh_op_cancel(&c->file.op);
        pause_counting(c, now_us);
        return;
    }
    c->state = COUNTING_FINISHING;
    gh_file_read_done(&c->file); /* if it has ended meanwhile, the next state sees how */
}

static void finished(counting* c, uint64_t now_us)
{
    gh_status status = gh_op_poll(&c->file.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK || status == GH_EXISTS || status == GH_GONE) next_file(c, now_us);
    else pause_counting(c, now_us); /* it is read again, and found to be counted */
}

/* An op that was cancelled ends in its own time. */
static void paused(counting* c, uint64_t now_us)
{
    bool busy = gh_op_poll(&c->file.op) == GH_PENDING || gh_op_poll(&c->flush.op) == GH_PENDING;
    if (!busy && now_us >= c->again_us) begin_list(c, now_us);
}

void counting_frame(counting* c, uint64_t now_us, uint32_t lines_max)
{
    switch (c->state)
    {
    case COUNTING_LISTING:
        if (gh_op_poll(&c->list.op) == GH_IDLE) begin_list(c, now_us);
        listed(c, now_us);
        break;
    case COUNTING_READING: read_lines(c, now_us, lines_max); break;
    case COUNTING_FLUSHING: flushed(c, now_us); break;
    case COUNTING_FINISHING: finished(c, now_us); break;
    case COUNTING_PAUSING: paused(c, now_us); break;
    }
}
