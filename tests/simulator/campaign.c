/* campaign.c -- starts runs and takes in what became of them. */

#define _GNU_SOURCE /* MAP_ANONYMOUS, setitimer */

#include "simulator/campaign.h"

#include "simulator/afresh.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum
{
    JOBS_MAX = 64,
    FAILED_MAX = 256,
    BATCH_MAX = 25, /* so many runs of one process: more make it no faster */
    RUN_CAP_S = 120,
    TELL_S = 10
};

typedef struct campaign_job
{
    pid_t pid;                /* 0: free */
    schedule_wish wish;       /* the first one's */
    uint64_t last;            /* seed; the runs of those from wish.seed on follow one another */
    bool stops;               /* behind one that fails */
    schedule_result* results; /* shared with its process */
} campaign_job;

static campaign_job jobs[JOBS_MAX];

/* ---- one run ---------------------------------------------------------------------------------------------- */

static void share_results(void)
{
    const size_t size = sizeof(schedule_result) * JOBS_MAX * BATCH_MAX;
    if (jobs[0].results != NULL) return;
    schedule_result* results = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED) abort();
    for (int i = 0; i < JOBS_MAX; i++) jobs[i].results = &results[(size_t)i * BATCH_MAX];
}

/* Of the processor: on a machine that is busy with other things a run takes longer, and is the same. */
static void limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = RUN_CAP_S}};
    if (setitimer(ITIMER_PROF, &limit, NULL) != 0) abort();
}

/* The job is a copy: what is static is put back between two runs, and the job with it. */
static void run_all(campaign_job job)
{
    const uint64_t first = job.wish.seed;
    if (job.last > first) schedule_begin_many();
    for (; job.wish.seed <= job.last; job.wish.seed++)
    {
        schedule_result* result = &job.results[job.wish.seed - first];
        limit_time();
        schedule_run(&job.wish, result);
        if (result->broken != 0 && job.stops) return;
        if (job.wish.seed < job.last) schedule_forget();
    }
}

static void start(campaign_job* job)
{
    memset(job->results, 0, sizeof *job->results * BATCH_MAX);
    (void)fflush(NULL);
    job->pid = fork();
    if (job->pid < 0)
    {
        perror("simulator: cannot start a run");
        exit(2);
    }
    if (job->pid > 0) return;
    run_all(*job);
    (void)fflush(NULL);
    _exit(0);
}

/* The runs that its process did, or began. One that did not come to its verdict has broken a promise, too. */
static uint64_t take_in(campaign_job* job, int status)
{
    uint64_t count = job->last - job->wish.seed + 1, done = 0;
    schedule_result* result = job->results;
    job->pid = 0;
    for (; done < count && result->finished; done++, result++)
        if (result->broken != 0 && job->stops) return done + 1;
    if (done == count) return done;
    result->broken = 1;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        (void)snprintf(result->promise, sizeof result->promise, "a run ends within %d s of the processor", RUN_CAP_S);
    else if (WIFSIGNALED(status))
        (void)snprintf(result->promise, sizeof result->promise, "no signal ends a run: %s",
                       strsignal(WTERMSIG(status)));
    else (void)snprintf(result->promise, sizeof result->promise, "a run does not exit with %d", WEXITSTATUS(status));
    return done + 1;
}

static campaign_job* wait_for_one(uint64_t* done)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
    {
    }
    for (int i = 0; i < JOBS_MAX; i++)
    {
        if (jobs[i].pid != pid || pid <= 0) continue;
        *done = take_in(&jobs[i], status);
        return &jobs[i];
    }
    return NULL;
}

void campaign_one(const schedule_wish* wish, schedule_result* result)
{
    share_results();
    campaign_job* job = &jobs[JOBS_MAX - 1];
    uint64_t done = 0;
    job->wish = *wish;
    job->last = wish->seed;
    start(job);
    while (wait_for_one(&done) != job)
    {
    }
    *result = *job->results;
}

/* ---- many ------------------------------------------------------------------------------------------------- */

static struct
{
    schedule_wish wishes[FAILED_MAX];
    schedule_result results[FAILED_MAX];
    unsigned count;
} failures;

static void note(campaign_sum* sum, const schedule_wish* wish, const schedule_result* r)
{
    sum->runs++;
    sum->failed += r->broken != 0 ? 1 : 0;
    sum->ops += r->ops;
    sum->faults += r->faults;
    sum->requests += r->requests;
    sum->virtual_us += r->virtual_us;
    sum->digest += r->digest * (wish->seed * 2 + 1); /* whoever ends first */
    if (r->broken == 0) return;
    printf("FAILED: seed %llu: \"%s\"\n", (unsigned long long)wish->seed, r->promise);
    if (failures.count == FAILED_MAX) return;
    failures.wishes[failures.count] = *wish;
    failures.results[failures.count++] = *r;
}

static void tell(const campaign_sum* sum, uint64_t seed)
{
    static time_t told;
    time_t now = time(NULL);
    if (told == 0) told = now;
    if (now < told + TELL_S) return;
    told = now;
    printf("simulator: %llu runs, up to seed %llu; %llu ops, %llu faults, %llu failed\n", (unsigned long long)sum->runs,
           (unsigned long long)seed, (unsigned long long)sum->ops, (unsigned long long)sum->faults,
           (unsigned long long)sum->failed);
}

/* A few where there are few: each process has some. */
static uint64_t batch_of(uint64_t first, uint64_t last, unsigned job_count)
{
    uint64_t share = (last - first) / job_count / 4 + 1;
    if (!afresh_can()) return 1;
    return share < BATCH_MAX ? share : BATCH_MAX;
}

static void start_from(campaign_job* job, uint64_t first, uint64_t last)
{
    job->wish.seed = first;
    job->last = last;
    start(job);
}

/* False: of its runs there are some left, which go on in another process. */
static bool note_all(campaign_sum* sum, campaign_job* job, uint64_t done)
{
    schedule_wish wish = job->wish;
    for (uint64_t i = 0; i < done; i++, wish.seed++) note(sum, &wish, &job->results[i]);
    tell(sum, wish.seed - 1);
    if (wish.seed > job->last || (job->stops && sum->failed > 0)) return true;
    start_from(job, wish.seed, job->last);
    return false;
}

campaign_sum campaign_run(const schedule_wish* wish, uint64_t first, uint64_t last, unsigned job_count,
                          void (*failed)(const schedule_wish* wish, const schedule_result* result))
{
    campaign_sum sum = {0};
    unsigned running = 0;
    uint64_t done = 0;
    share_results();
    failures.count = 0;
    if (job_count > JOBS_MAX) job_count = JOBS_MAX;
    const uint64_t batch = batch_of(first, last, job_count);
    for (uint64_t seed = first; seed <= last || running > 0;) /* in their order: see campaign_smallest_failed */
    {
        campaign_job* job = jobs;
        while (running < job_count && job->pid != 0) job++;
        if (failed == NULL && sum.failed > 0) last = 0;
        if (seed <= last && running < job_count)
        {
            uint64_t end = last - seed < batch ? last : seed + batch - 1;
            job->wish = *wish;
            job->stops = failed == NULL;
            start_from(job, seed, end);
            seed = end + 1;
            running++;
            continue;
        }
        job = wait_for_one(&done);
        if (job != NULL && note_all(&sum, job, done)) running--;
    }
    for (unsigned i = 0; i < failures.count && failed != NULL; i++) failed(&failures.wishes[i], &failures.results[i]);
    return sum;
}

uint64_t campaign_smallest_failed(const schedule_result** result)
{
    unsigned smallest = 0;
    if (failures.count == 0) return 0;
    for (unsigned i = 1; i < failures.count; i++)
        if (failures.wishes[i].seed < failures.wishes[smallest].seed) smallest = i;
    *result = &failures.results[smallest];
    return failures.wishes[smallest].seed;
}
