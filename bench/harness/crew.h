/* crew.h -- many ops at once on one client, each begun anew when it has ended: how most of the work of the
   benches is kept going. */

#ifndef GUILDHALL_BENCH_CREW_H
#define GUILDHALL_BENCH_CREW_H

#include "harness/bench.h"

#define BENCH_CREW_MAX 8192

typedef enum bench_step
{
    BENCH_STEP_FAILED,  /* the run is over, and said so on stderr                       */
    BENCH_STEP_GOES_ON, /* not at its end yet, but it asks for another tick             */
    BENCH_STEP_OVER     /* at its end: it counts, and is begun again                    */
} bench_step;

typedef struct bench_crew
{
    bench* owner;
    bench_client client;
    size_t count;  /* members; each is known by its number, below BENCH_CREW_MAX  */
    double weight; /* what one end counts for                                      */
    void* context;

    /* False: could not begin, and said why. */
    bool (*begin)(struct bench_crew* crew, size_t i);

    /* Not called for GH_PENDING. */
    gh_status (*poll)(const struct bench_crew* crew, size_t i);
    bench_step (*look)(struct bench_crew* crew, size_t i, gh_status status);

    bool busy[BENCH_CREW_MAX];
    size_t busy_count;
    double done;
    bool failed;
} bench_crew;

/* As a side's run: for so long, and then until all have ended. Counts heap calls. */
bool bench_crew_run(void* crew, uint64_t duration_us, bench_sample* sample);

/* Each member once, and back when all have ended. */
bool bench_crew_once(bench_crew* crew);

/* Says on stderr how an op ended, and gives BENCH_STEP_FAILED. */
bench_step bench_crew_complain(const char* what, size_t i, gh_status status);

/* Ticks and waits until the op is not GH_PENDING any more; its status. */
gh_status bench_await(bench_client* client, const gh_op* op);

/* The same for all that was added to the counters so far. */
gh_status bench_await_counters(bench_client* client, const gh_counters* counters);

#endif
