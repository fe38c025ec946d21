/* campaign.c -- starts runs and takes in what became of them. */

#define _GNU_SOURCE /* MAP_ANONYMOUS, setitimer */

#include "simulator/campaign.h"

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
    RUN_CAP_S = 120,
    TELL_S = 10
};

typedef struct campaign_job
{
    pid_t pid; /* 0: free */
    schedule_wish wish;
    schedule_result* result; /* shared with its process */
} campaign_job;

static campaign_job jobs[JOBS_MAX];

/* ---- one run ---------------------------------------------------------------------------------------------- */

static void share_results(void)
{
    if (jobs[0].result != NULL) return;
    schedule_result* results =
        mmap(NULL, sizeof(schedule_result) * JOBS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED) abort();
    for (int i = 0; i < JOBS_MAX; i++) jobs[i].result = &results[i];
}

/* Of the processor: on a machine that is busy with other things a run takes longer, and is the same. */
static void limit_time(void)
{
    const struct itimerval limit = {.it_value = {.tv_sec = RUN_CAP_S}};
    if (setitimer(ITIMER_PROF, &limit, NULL) != 0) abort();
}

static void start(campaign_job* job)
{
    memset(job->result, 0, sizeof *job->result);
    (void)fflush(NULL);
    job->pid = fork();
    if (job->pid < 0)
    {
        perror("simulator: cannot start a run");
        exit(2);
    }
    if (job->pid > 0) return;
    limit_time();
    schedule_run(&job->wish, job->result);
    (void)fflush(NULL);
    _exit(0);
}

/* A process that did not come to its verdict has broken a promise, too. */
static void take_in(campaign_job* job, int status)
{
    schedule_result* result = job->result;
    job->pid = 0;
    if (result->finished) return;
    result->broken = 1;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        (void)snprintf(result->promise, sizeof result->promise, "a run ends within %d s of the processor", RUN_CAP_S);
    else if (WIFSIGNALED(status))
        (void)snprintf(result->promise, sizeof result->promise, "no signal ends a run: %s",
                       strsignal(WTERMSIG(status)));
    else (void)snprintf(result->promise, sizeof result->promise, "a run does not exit with %d", WEXITSTATUS(status));
}

static campaign_job* wait_for_one(void)
{
    int status = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
    {
    }
    for (int i = 0; i < JOBS_MAX; i++)
    {
        if (jobs[i].pid != pid || pid <= 0) continue;
        take_in(&jobs[i], status);
        return &jobs[i];
    }
    return NULL;
}

void campaign_one(const schedule_wish* wish, schedule_result* result)
{
    share_results();
    campaign_job* job = &jobs[JOBS_MAX - 1];
    job->wish = *wish;
    start(job);
    while (wait_for_one() != job)
    {
    }
    *result = *job->result;
}

/* ---- many ------------------------------------------------------------------------------------------------- */

static struct
{
    schedule_wish wishes[FAILED_MAX];
    schedule_result results[FAILED_MAX];
    unsigned count;
} failures;

static void note(campaign_sum* sum, const campaign_job* job)
{
    const schedule_result* r = job->result;
    sum->runs++;
    sum->failed += r->broken != 0 ? 1 : 0;
    sum->ops += r->ops;
    sum->faults += r->faults;
    sum->requests += r->requests;
    sum->virtual_us += r->virtual_us;
    sum->digest += r->digest * (job->wish.seed * 2 + 1); /* whoever ends first */
    if (r->broken == 0) return;
    printf("FAILED: seed %llu: \"%s\"\n", (unsigned long long)job->wish.seed, r->promise);
    if (failures.count == FAILED_MAX) return;
    failures.wishes[failures.count] = job->wish;
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

campaign_sum campaign_run(const schedule_wish* wish, uint64_t first, uint64_t last, unsigned job_count,
                          void (*failed)(const schedule_wish* wish, const schedule_result* result))
{
    campaign_sum sum = {0};
    unsigned running = 0;
    share_results();
    failures.count = 0;
    if (job_count > JOBS_MAX) job_count = JOBS_MAX;
    for (uint64_t seed = first; seed <= last || running > 0;) /* in their order: see campaign_smallest_failed */
    {
        campaign_job* job = jobs;
        while (running < job_count && job->pid != 0) job++;
        if (failed == NULL && sum.failed > 0) last = 0;
        if (seed <= last && running < job_count)
        {
            job->wish = *wish;
            job->wish.seed = seed++;
            start(job);
            running++;
            continue;
        }
        job = wait_for_one();
        if (job == NULL) continue;
        running--;
        note(&sum, job);
        tell(&sum, job->wish.seed);
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
