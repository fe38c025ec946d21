/* counters_read.c -- the samples of one counter, read from the store. */

#include "base/hash.h"
#include "client/object.h"
#include "counters_state.h"
#include "scripts/counters_scripts.h"
#include "wire/name.h"

#define COUNTER_READ_PAGE_MAX 500u /* slices in one request: the server works 0.4 ms for them */
#define COUNTER_READ_ROOM     256u /* bytes of a reply for what comes before the samples            */
#define COUNTER_READ_SAMPLE   40u  /* "<start> <sum>" at most, and its end                           */

static gh_counter_read* counter_read_of(gh_op* op)
{
    return (gh_counter_read*)(void*)op;
}

/* As many as one reply can hold; the rest is asked for again. */
static uint32_t counter_read_page(const gh_counter_read* read, const gh_client* client)
{
    uint32_t by_nodes = gh_client_reply_nodes(client) - GH_COUNTERS_READ_SLICES - 1;
    uint32_t by_bytes = (gh_client_reply_bytes(client) - COUNTER_READ_ROOM) / COUNTER_READ_SAMPLE;
    uint32_t count = by_nodes < by_bytes ? by_nodes : by_bytes;
    if (count > COUNTER_READ_PAGE_MAX) count = COUNTER_READ_PAGE_MAX;
    return count < read->sample_count ? count : read->sample_count;
}

static void counter_read_encode(gh_op* op, gh_request* request)
{
    const gh_counter_read* read = counter_read_of(op);
    uint32_t shard = gh_hash_shard(read->name.bytes, read->name.size, GH_COUNTERS_SHARDS);
    char name[GH_COUNTERS_NAME_SIZE_MAX];
    char part[2 + GH_DECIMAL_SIZE_MAX] = "c:";
    gh_str text = gh_str_make(name, (size_t)(gh_name_encode(gh_name_str(&read->name), name) - name));
    gh_str list = gh_str_make(part, (size_t)(gh_decimal_encode(read->seconds, part + 2) - part));
    gh_request_op_script(request, op, 0, 0);
    gh_request_shard_key(request, op->client, gh_counters_kind(), shard, gh_str_literal("o"), text);
    gh_request_shard_key(request, op->client, gh_counters_kind(), shard, list, text);
    gh_request_number(request, op->sequence);
    gh_request_number(request, read->seconds);
    gh_request_number(request, read->until_s);
    gh_request_number(request, read->sample_count);
    gh_request_number(request, read->before_s);
    gh_request_number(request, counter_read_page(read, op->client));
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

/* Digits, as far as they go, below 2^53. */
static const char* counter_read_digits(const char* at, const char* end, uint64_t* value)
{
    *value = 0;
    for (; at < end && *at >= '0' && *at <= '9' && *value <= GH_COUNTERS_SUM_MAX / 10; at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    return at;
}

/* "<start> <sum>" */
static bool counter_read_parse(gh_str text, gh_counter_sample* sample)
{
    const char* end = text.bytes + text.size;
    const char* at = counter_read_digits(text.bytes, end, &sample->time_s);
    uint64_t sum;
    bool negative;
    if (at == text.bytes || at == end || *at++ != ' ') return false;
    negative = at < end && *at == '-';
    if (negative) at++;
    if (at == end || counter_read_digits(at, end, &sum) != end || sum > GH_COUNTERS_SUM_MAX) return false;
    sample->sum = negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

static uint64_t counter_read_oldest_s(const gh_counter_read* read)
{
    uint64_t span_s = (uint64_t)read->seconds * (read->sample_count - 1);
    return read->newest_s > span_s ? read->newest_s - span_s : 0;
}

/* Samples come the newest first, and go to the end of the array. False: not one of this time, or out of
 * order. */
static bool counter_read_put(gh_counter_read* read, const gh_counter_sample* sample)
{
    uint64_t place = (read->newest_s - sample->time_s) / read->seconds;
    if (sample->time_s >= read->before_s || sample->time_s < counter_read_oldest_s(read)) return false;
    if (sample->time_s % read->seconds != 0 || read->stored == read->sample_count) return false;
    read->before_s = sample->time_s;
    read->stored++;
    if (read->fill_gaps) read->samples[read->sample_count - 1 - place] = *sample;
    else read->samples[read->sample_count - read->stored] = *sample;
    return true;
}

static void counter_read_fill(gh_counter_read* read)
{
    uint32_t i;
    for (i = 0; i < read->sample_count; i++)
    {
        uint64_t back_s = (uint64_t)read->seconds * (read->sample_count - 1 - i);
        read->samples[i].time_s = read->newest_s > back_s ? read->newest_s - back_s : 0; /* nothing was before 1970 */
        read->samples[i].sum = 0;
    }
}

static double counter_read_root(double square)
{
    double root = square > 1 ? square : 1;
    int i;
    if (square <= 0) return 0;
    for (i = 0; i < 64 && root * root > square; i++) root = (root + square / root) / 2; /* Newton, from above */
    return root;
}

static void counter_read_figures(gh_counter_read* read)
{
    double total = 0;
    double squares = 0;
    uint32_t i;
    if (read->count == 0) return;
    read->min = read->max = read->samples[0].sum;
    for (i = 0; i < read->count; i++)
    {
        int64_t value = read->samples[i].sum;
        if (value < read->min) read->min = value;
        if (value > read->max) read->max = value;
        total += (double)value;
        read->sum += value; /* at most 1000 times 2^53: no overflow */
    }
    if (read->sum > GH_COUNTERS_SUM_MAX) read->sum = GH_COUNTERS_SUM_MAX;
    if (read->sum < -GH_COUNTERS_SUM_MAX) read->sum = -GH_COUNTERS_SUM_MAX;
    read->average = total / read->count;
    for (i = 0; i < read->count; i++)
    {
        double distance = (double)read->samples[i].sum - read->average;
        squares += distance * distance;
    }
    read->deviation = counter_read_root(squares / read->count);
}

static gh_status counter_read_finish(gh_counter_read* read)
{
    read->count = read->fill_gaps ? read->sample_count : read->stored;
    if (read->stored > 0 && !read->fill_gaps)
        memmove(read->samples, read->samples + (read->sample_count - read->stored),
                read->stored * sizeof *read->samples);
    counter_read_figures(read);
    return read->stored > 0 ? GH_OK : GH_EMPTY;
}

static gh_status counter_read_answer(gh_op* op, const gh_event* event)
{
    gh_counter_read* read = counter_read_of(op);
    const gh_reply* slices = gh_reply_at(event->reply, GH_COUNTERS_READ_SLICES);
    const gh_reply* text;
    uint64_t newest_s = (uint64_t)gh_reply_integer(event->reply, GH_COUNTERS_READ_NEWEST_S);
    if (read->before_s == 0) /* the first answer fixes the time */
    {
        if (newest_s % read->seconds != 0 || newest_s > GH_COUNTERS_SUM_MAX) return GH_CORRUPT;
        read->newest_s = read->until_s = newest_s;
        read->before_s = newest_s + read->seconds;
        if (read->fill_gaps) counter_read_fill(read);
    }
    for (text = slices; text != NULL; text = text->next)
    {
        gh_counter_sample sample;
        if (text->type != GH_REPLY_STRING || !counter_read_parse(text->text, &sample)) return GH_CORRUPT;
        if (!counter_read_put(read, &sample)) return GH_CORRUPT;
    }
    if (gh_reply_integer(event->reply, GH_COUNTERS_READ_CODE) == GH_COUNTERS_READ_ALL || slices == NULL)
        return counter_read_finish(read);
    gh_op_timer_after(op, read->timeout_us); /* each answer is waited for as long as the first */
    gh_op_send(op, 0);
    return GH_PENDING;
}

static const gh_op_kind counter_read_kind = {.name = "counters",
                                             .step = gh_call_step,
                                             .encode = counter_read_encode,
                                             .text = &gh_counters_read_lua,
                                             .effect = GH_OP_READS,
                                             .trees = gh_tree_read,
                                             .answer = counter_read_answer};

static const gh_bound counter_read_bounds_rows[] = {
    GH_BOUND_TIMEOUT(gh_counter_read_config),
    GH_BOUND(gh_counter_read_config, seconds, 60, 1, GH_COUNTERS_SECONDS_MAX, GH_INVALID_PRECISION),
    GH_BOUND(gh_counter_read_config, sample_count, 0, 1, GH_COUNTERS_SAMPLES_MAX, GH_INVALID_SAMPLES)};
static const gh_bounds counter_read_bounds = GH_BOUNDS(gh_counter_read_config, counter_read_bounds_rows);

gh_counter_read_config gh_counter_read_config_default(void)
{
    gh_counter_read_config config;
    gh_bounds_fill(&counter_read_bounds, &config);
    return config;
}

static gh_status counter_read_try(gh_counter_read* read, gh_client* client, gh_str name,
                                  const gh_counter_read_config* config)
{
    gh_status status = gh_named_check((gh_op*)read, client, name, &counter_read_bounds, config);
    if (status != GH_OK) return status;
    if (config->samples == NULL) return GH_INVALID_SAMPLES;
    gh_op_clear(&read->op, sizeof *read);
    read->samples = config->samples;
    read->timeout_us = config->timeout_us;
    gh_name_keep(&read->name, name);
    read->until_s = config->until_s > GH_COUNTERS_SUM_MAX ? 0 : config->until_s;
    read->seconds = config->seconds;
    read->sample_count = config->sample_count;
    read->fill_gaps = config->fill_gaps;
    gh_call_begin(&read->op, client, &counter_read_kind, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_counter_read_begin(gh_counter_read* read, gh_client* client, gh_str name,
                                const gh_counter_read_config* config)
{
    return gh_op_begun((gh_op*)read, client, counter_read_try(read, client, name, config));
}
