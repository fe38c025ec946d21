/* simulator.c -- the program: options, and what they ask for. See tests/simulate.sh. */

#include "simulator/campaign.h"
#include "simulator/prove.h"
#include "simulator/schedule.h"
#include "simulator/server.h"
#include "simulator/shrink.h"
#include "simulator/speed.h"
#include "storm/nemesis.h"
#include "storm/storm_aggregate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
    SHRUNK_MOST = 3
};

static struct
{
    schedule_wish wish;
    uint64_t first;
    uint64_t last;
    unsigned jobs;
    bool one;
    bool prove;
    bool first_failure;
    bool speed;
    const char* folder; /* for traces */
    unsigned shrunk;
} options = {.first = 1, .last = 1000, .jobs = 1, .folder = "."};

/* ---- options ---------------------------------------------------------------------------------------------- */

static void complain(const char* text, const char* what)
{
    fprintf(stderr, "simulator: %s%s\n", text, what);
    exit(2);
}

static uint64_t number_of(const char* text)
{
    char* end = NULL;
    uint64_t number = strtoull(text, &end, 0);
    if (end == text || *end != '\0') complain("this is no number: ", text);
    return number;
}

static void read_seeds(const char* text)
{
    char* end = NULL;
    options.first = strtoull(text, &end, 0);
    if (end == text || strncmp(end, "..", 2) != 0) complain("--seeds wants A..B, not ", text);
    options.last = number_of(end + 2);
    if (options.last < options.first) complain("these seeds go backwards: ", text);
}

/* "3,7-9" */
static void read_left_out(const char* text)
{
    for (char* at = (char*)(uintptr_t)text; *at != '\0';)
    {
        unsigned long from = strtoul(at, &at, 10), to = from;
        if (*at == '-') to = strtoul(at + 1, &at, 10);
        if (*at != ',' && *at != '\0') complain("--without wants N,N-N,..., not ", text);
        if (*at == ',') at++;
        for (; from <= to && from < STORM_FAULTS_MAX; from++) options.wish.left_out[from] = true;
    }
}

static bool read_flag(const char* word)
{
    if (strcmp(word, "--verbose") == 0) options.wish.verbose = true;
    else if (strcmp(word, "--prove") == 0) options.prove = true;
    else if (strcmp(word, "--first-failure") == 0) options.first_failure = true;
    else if (strcmp(word, "--speed") == 0) options.speed = true;
    else if (strcmp(word, "--year") == 0) options.wish.days = 365;
    else if (strcmp(word, "--server") == 0) options.wish.store = STORM_ONE;
    else if (strcmp(word, "--failover") == 0) options.wish.store = STORM_PAIR;
    else if (strcmp(word, "--cluster") == 0) options.wish.store = STORM_CLUSTER;
    else if (strcmp(word, "--sentinel") == 0) options.wish.store = STORM_SENTINEL;
    else return false;
    return true;
}

static void read_option(const char* word, const char* value)
{
    schedule_wish* wish = &options.wish;
    if (value == NULL) complain("does not know, or wants a value behind: ", word);
    if (strcmp(word, "--seeds") == 0) read_seeds(value);
    else if (strcmp(word, "--days") == 0) wish->days = (uint32_t)number_of(value);
    else if (strcmp(word, "--one") == 0) wish->seed = number_of(value);
    else if (strcmp(word, "--system") == 0) wish->systems = value;
    else if (strcmp(word, "--faults") == 0) wish->faults = value;
    else if (strcmp(word, "--ops") == 0) wish->ops = (uint32_t)number_of(value);
    else if (strcmp(word, "--clients") == 0) wish->clients = (uint32_t)number_of(value);
    else if (strcmp(word, "--without") == 0) read_left_out(value);
    else if (strcmp(word, "--history") == 0) wish->history = value;
    else if (strcmp(word, "--trace") == 0) wish->trace = value;
    else if (strcmp(word, "--jobs") == 0) options.jobs = (unsigned)number_of(value);
    else if (strcmp(word, "--folder") == 0) options.folder = value;
    else complain("does not know ", word);
    if (strcmp(word, "--one") == 0) options.one = true;
}

static void read_options(int count, char** words)
{
    for (int i = 1; i < count; i++)
    {
        if (read_flag(words[i])) continue;
        read_option(words[i], i + 1 < count ? words[i + 1] : NULL);
        i++;
    }
    const schedule_wish* wish = &options.wish;
    const char* unknown = wish->systems == NULL ? NULL : storm_choose_systems(wish->systems);
    if (unknown != NULL) complain("there is no such system: ", unknown);
    if (wish->faults != NULL && !nemesis_knows(wish->faults)) complain("there is no such fault in ", wish->faults);
    if (options.jobs < 1) complain("--jobs is 1 or more", "");
}

/* ---- what is asked for ------------------------------------------------------------------------------------ */

static int run_one(void)
{
    schedule_result r;
    options.wish.print = true;
    schedule_run(&options.wish, &r);
    printf("seed %llu: %llu ops, %u clients, %u faults, %llu requests, %.3f s; history %016llx of %llu records\n",
           (unsigned long long)options.wish.seed, (unsigned long long)r.ops, r.clients, r.faults,
           (unsigned long long)r.requests, (double)r.virtual_us / 1e6, (unsigned long long)r.digest,
           (unsigned long long)r.records);
    return r.broken == 0 ? 0 : 1;
}

static void on_failure(const schedule_wish* wish, const schedule_result* result)
{
    if (options.shrunk++ < SHRUNK_MOST) shrink_and_show(wish, result, options.folder);
}

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_many(void)
{
    double begin = seconds_now();
    campaign_sum sum = campaign_run(&options.wish, options.first, options.last, options.jobs, on_failure);
    double took = seconds_now() - begin;
    printf("seeds %llu..%llu: %llu ops, %llu faults, %llu requests, %.0f virtual s in %.1f s: %.0f runs, %.0f ops and"
           " %.0f requests a second; all histories %016llx\n",
           (unsigned long long)options.first, (unsigned long long)options.last, (unsigned long long)sum.ops,
           (unsigned long long)sum.faults, (unsigned long long)sum.requests, (double)sum.virtual_us / 1e6, took,
           (double)sum.runs / took, (double)sum.ops / took, (double)sum.requests / took,
           (unsigned long long)sum.digest);
    printf("%llu passed, %llu failed\n", (unsigned long long)(sum.runs - sum.failed), (unsigned long long)sum.failed);
    return sum.failed == 0 ? 0 : 1;
}

/* For tests/plant.sh, which reads the last line. */
static int run_until_one_fails(void)
{
    const schedule_result* result = NULL;
    campaign_sum sum = campaign_run(&options.wish, options.first, options.last, options.jobs, NULL);
    uint64_t seed = campaign_smallest_failed(&result);
    if (seed == 0)
        printf("none of %llu runs failed; %llu ops\n", (unsigned long long)sum.runs, (unsigned long long)sum.ops);
    else
        printf("run %llu failed, of seed %llu: \"%s\"; %llu ops until then\n",
               (unsigned long long)(seed - options.first + 1), (unsigned long long)seed, result->promise,
               (unsigned long long)sum.ops);
    return seed == 0 ? 0 : 1;
}

int main(int count, char** words)
{
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    read_options(count, words);
    server_warm();
    aggregate_warm();
    if (options.prove) return prove() == 0 ? 0 : 1;
    if (options.speed)
    {
        speed_show(&options.wish);
        return 0;
    }
    if (options.wish.days != 0 && !options.one) options.wish.seed = options.first;
    if (options.one || options.wish.days != 0) return run_one();
    return options.first_failure ? run_until_one_fails() : run_many();
}
