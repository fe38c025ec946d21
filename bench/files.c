/* files.c -- a file sent and read, 4 MiB and 40 MiB, beside the same bytes by SETRANGE and GETRANGE, and
   beside a script of one line. Both sides move chunks of the same size, as many at once, over one connection,
   and each sends its next request as soon as an answer has come. */

#include "harness/bench.h"
#include "peers/peer_ranges.h"
#include "guildhall/platform.h"

#include <stdlib.h>

enum
{
    CHUNK = 64 * 1024,
    LANES = 16,
    SMALL = 4 * 1024 * 1024,
    LARGE = 40 * 1024 * 1024,
    WAIT_US = 1000
};

typedef struct file_side
{
    bench* owner;
    bench_client client;
    const char* bytes;
    size_t size;
    void* send_memory;
    void* read_memory;
    gh_file_send_config send;
    gh_file_read_config read;
    uint64_t number; /* of the file, for its name */
} file_side;

static const char reader_name[] = "counter";
static gh_str readers[1];

static bool open_side(bench* self, file_side* side, const char* bytes, size_t size)
{
    gh_client_config config = bench_client_config(self);
    memset(side, 0, sizeof *side);
    config.out_bytes = 4 * CHUNK * LANES;
    config.reply_bytes = 2 * CHUNK;
    readers[0] = gh_str_of(reader_name);
    side->owner = self;
    side->bytes = bytes;
    side->size = size;
    side->send = gh_file_send_config_default();
    side->send.readers = readers;
    side->send.reader_count = 1;
    side->send.chunk_bytes = CHUNK;
    side->send.lanes = LANES;
    side->send.tick_bytes = CHUNK * LANES;
    side->send.memory_size = gh_file_send_memory(&side->send);
    side->send.memory = side->send_memory = aligned_alloc(64, (side->send.memory_size + 63) / 64 * 64);
    side->read = gh_file_read_config_default();
    side->read.chunk_bytes = CHUNK;
    side->read.lanes = LANES;
    side->read.tick_bytes = CHUNK * LANES;
    side->read.memory_size = gh_file_read_memory(&side->read);
    side->read.memory = side->read_memory = aligned_alloc(64, (side->read.memory_size + 63) / 64 * 64);
    return side->send_memory != NULL && side->read_memory != NULL &&
           bench_client_open(&side->client, &config, gh_platform_default());
}

static void close_side(file_side* side)
{
    bench_client_close(&side->client);
    free(side->send_memory);
    free(side->read_memory);
}

/* As soon as the peer would: a tick that is due is not slept over. */
static void wait_for_news(const file_side* self)
{
    if (gh_next_deadline(self->client.client) > bench_now_us() + WAIT_US)
    {
        bench_clients_wait(&self->client, 1, WAIT_US);
    }
}

static gh_status send_file(file_side* self, gh_str name)
{
    gh_file_send send = {0};
    size_t pushed = 0;
    gh_status status = gh_file_send_begin(&send, self->client.client, name, &self->send);
    if (status != GH_OK)
    {
        return status;
    }
    while ((status = gh_op_poll(&send.op)) == GH_PENDING)
    {
        size_t taken = 0;
        if (pushed < self->size)
        {
            (void)gh_file_send_push(&send, gh_str_make(self->bytes + pushed, self->size - pushed), &taken);
            pushed += taken;
            if (pushed == self->size)
            {
                (void)gh_file_send_finish(&send);
            }
        }
        gh_tick(self->client.client, bench_now_us(), 0);
        if (taken == 0)
        {
            wait_for_news(self);
        }
    }
    return status;
}

/* To the end, and done; what comes is looked at, at both ends of each block. */
static gh_status read_file(file_side* self, gh_str name)
{
    gh_file_read read = {0};
    size_t got = 0;
    bool same = true;
    gh_status status = gh_file_read_begin(&read, self->client.client, name, gh_str_of(reader_name), &self->read);
    if (status != GH_OK)
    {
        return status;
    }
    while ((status = gh_op_poll(&read.op)) == GH_PENDING)
    {
        gh_str block;
        size_t before = got;
        gh_tick(self->client.client, bench_now_us(), 0);
        gh_status next = gh_file_read_block(&read, &block);
        while (next == GH_OK)
        {
            same = same && block.bytes[0] == self->bytes[got] &&
                   block.bytes[block.size - 1] == self->bytes[got + block.size - 1];
            got += block.size;
            next = gh_file_read_block(&read, &block);
        }
        if (next == GH_EMPTY)
        {
            (void)gh_file_read_done(&read);
        }
        if (got == before)
        {
            wait_for_news(self);
        }
    }
    return same && got == self->size ? status : GH_CORRUPT;
}

static bool run_file(void* context, uint64_t duration_us, bench_sample* sample)
{
    file_side* self = context;
    uint64_t end_us = bench_now_us() + duration_us;
    gh_status status = GH_OK;
    size_t files = 0;
    bench_client_wake(&self->client);
    bench_heap_begin();
    do
    {
        char name[40];
        snprintf(name, sizeof name, "log_%zu_%llu", self->size, (unsigned long long)self->number++);
        status = send_file(self, gh_str_of(name));
        status = status == GH_OK ? read_file(self, gh_str_of(name)) : status;
        files++;
    } while (status == GH_OK && bench_now_us() < end_us);
    sample->heap_calls = (double)bench_heap_end();
    sample->cycles = (double)(files * self->size);
    if (status != GH_OK)
    {
        fprintf(stderr, "  a file ended: %s\n", gh_status_text(status));
    }
    return status == GH_OK;
}

static double mb_per_s(const bench_sample* sample)
{
    return sample->cycles / sample->wall_us;
}

static double us_per_mb(const bench_sample* sample)
{
    return sample->cpu_us * 1e6 / sample->cycles;
}

static double server_us_per_mb(const bench_sample* sample)
{
    return sample->server_us * 1e6 / sample->cycles;
}

static double median_of(const bench_side* side, double (*value)(const bench_sample* sample))
{
    bench_series series = bench_side_series(side, value);
    return bench_series_median(&series);
}

static bench_figure figure_of(const char* name, const bench_side* ours, const bench_side* peer)
{
    bench_figure figure = bench_figure_make(name, "MB/s");
    figure.ours = bench_side_series(ours, mb_per_s);
    bench_figure_peer(&figure, peer, mb_per_s);
    bench_figure_note(&figure, "a MB: client CPU %.0f us, server CPU %.0f us; of the peer %.0f and %.0f",
                      median_of(ours, us_per_mb), median_of(ours, server_us_per_mb), median_of(peer, us_per_mb),
                      median_of(peer, server_us_per_mb));
    return figure;
}

/* Where the server's time goes: it hashes each byte that is an argument of a script. */
static void report_files(bench* self, const bench_side* small, const bench_side* large, const bench_side* plain,
                         const bench_side* scripted)
{
    double script_us = median_of(scripted, server_us_per_mb);
    bench_figure figure = figure_of("4 MiB sent and read", small, plain);
    bench_figure_goal(&figure, BENCH_RATIO_AT_LEAST, 0.9);
    if (script_us > 0.0)
    {
        bench_figure_limit(
            &figure,
            "a chunk is taken by a script, which alone may say whether it still belongs there, and the "
            "server hashes each byte that it hands to a script: one of a single line costs it %.0f us a MB, "
            "ours %.0f, SETRANGE and GETRANGE %.0f",
            script_us, median_of(small, server_us_per_mb), median_of(plain, server_us_per_mb));
    }
    bench_report(self, &figure);
    figure = figure_of("4 MiB beside a one-line script", small, scripted);
    bench_report(self, &figure);
    figure = figure_of("40 MiB beside 4 MiB", large, small);
    snprintf(figure.peer_name, sizeof figure.peer_name, "4 MiB");
    figure.slope = true;
    bench_report(self, &figure);
}

static void measure(bench* self, const char* bytes)
{
    static file_side small;
    static file_side large;
    bool good = open_side(self, &small, bytes, SMALL);
    good = open_side(self, &large, bytes, LARGE) && good;
    bench_ranges plain = {.owner = self, .bytes = bytes, .size = SMALL, .chunk = CHUNK, .in_flight = LANES};
    bench_ranges scripted = plain;
    scripted.by_script = true;
    if (good)
    {
        bench_side sides[] = {
            {.name = "Guildhall, 4 MiB", .run = run_file, .context = &small},
            {.name = "Guildhall, 40 MiB", .run = run_file, .context = &large, .no_warm_up = true},
            {.name = "plain ranges", .run = bench_ranges_run, .context = &plain},
            {.name = "one-line script", .run = bench_ranges_run, .context = &scripted},
        };
        sides[2].missing = sides[3].missing = bench_peer_missing(self, BENCH_PEER_HIREDIS);
        sides[2].lacks = sides[3].lacks = "digests, readers and their leases, resuming, a cap, budgets a tick";
        bench_alternate(self, sides, 4);
        report_files(self, &sides[0], &sides[1], &sides[2], &sides[3]);
    }
    else
    {
        bench_report_gap(self, "not measured, see stderr");
    }
    close_side(&small);
    close_side(&large);
}

void bench_files(bench* self)
{
    char* bytes = malloc(LARGE);
    uint32_t random = 5;
    for (size_t i = 0; bytes != NULL && i < LARGE; i++)
    {
        random = random * 1664525u + 1013904223u;
        bytes[i] = (char)(random >> 24);
    }
    if (bytes != NULL)
    {
        measure(self, bytes);
    }
    free(bytes);
}
