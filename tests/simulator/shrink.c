/* shrink.c -- tries to do without one thing after the other. */

#include "simulator/shrink.h"

#include "simulator/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    TRIES_MAX = 600,
    SYSTEMS_SIZE = 128,
    PATH_SIZE = 512,
    SHOWN_LINES = 60,
    LINE_SIZE = 1024
};

static struct
{
    schedule_wish best; /* the smallest that fails so far */
    schedule_result result;
    char promise[SCHEDULE_PROMISE_SIZE];
    char systems[SYSTEMS_SIZE]; /* of best */
    unsigned tries;
} shrink;

/* True if it fails as the first one did; then it is the smallest so far. */
static bool still_fails(const schedule_wish* wish)
{
    schedule_result result;
    if (shrink.tries++ >= TRIES_MAX) return false;
    campaign_one(wish, &result);
    if (strcmp(result.promise, shrink.promise) != 0) return false;
    shrink.best = *wish;
    shrink.result = result;
    return true;
}

/* ---- systems ---------------------------------------------------------------------------------------------- */

/* A promise begins with the name of its system. */
static void try_one_system(void)
{
    schedule_wish wish = shrink.best;
    char name[SYSTEMS_SIZE];
    size_t size = strcspn(shrink.promise, ":");
    (void)snprintf(name, sizeof name, "%.*s", (int)size, shrink.promise);
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        if (strcmp(storm_system_of(i)->name, name) != 0) continue;
        wish.systems = storm_system_of(i)->name;
        (void)still_fails(&wish);
    }
}

/* ---- faults ----------------------------------------------------------------------------------------------- */

/* Leaves out what is there of the faults from .. end - 1; false if nothing is. */
static bool leave_out(schedule_wish* wish, unsigned from, unsigned end)
{
    bool any = false;
    for (unsigned i = from; i < end && i < STORM_FAULTS_MAX; i++)
    {
        any = any || !wish->left_out[i];
        wish->left_out[i] = true;
    }
    return any;
}

/* Large pieces first, then single ones. */
static void try_fewer_faults(void)
{
    unsigned drawn = shrink.result.drawn < STORM_FAULTS_MAX ? shrink.result.drawn : STORM_FAULTS_MAX;
    for (unsigned size = drawn; size > 0; size /= 2)
    {
        for (unsigned from = 0; from < drawn; from += size)
        {
            schedule_wish wish = shrink.best;
            if (leave_out(&wish, from, from + size)) (void)still_fails(&wish);
        }
    }
}

/* ---- ops and clients -------------------------------------------------------------------------------------- */

/* Between what is known to be too little and what is known to fail. */
static void try_less(uint32_t* field, uint32_t known)
{
    uint32_t low = 0, high = known;
    while (low + 1 < high)
    {
        schedule_wish wish = shrink.best;
        uint32_t middle = low + (high - low) / 2;
        *(uint32_t*)((char*)&wish + ((char*)field - (char*)&shrink.best)) = middle;
        if (still_fails(&wish)) high = middle;
        else low = middle;
    }
}

static unsigned faults_left(void)
{
    unsigned left = 0;
    for (unsigned i = 0; i < shrink.result.drawn && i < STORM_FAULTS_MAX; i++) left += shrink.best.left_out[i] ? 0 : 1;
    return left;
}

/* ---- shown ------------------------------------------------------------------------------------------------ */

static void print_command(void)
{
    const schedule_wish* w = &shrink.best;
    printf("again: ./tests/simulate.sh --one %llu", (unsigned long long)w->seed);
    if (w->store == STORM_ONE) printf(" --server");
    if (w->store == STORM_PAIR) printf(" --failover");
    if (w->store == STORM_CLUSTER) printf(" --cluster");
    if (w->store == STORM_SENTINEL) printf(" --sentinel");
    if (w->systems != NULL) printf(" --system %s", w->systems);
    if (w->faults != NULL) printf(" --faults %s", w->faults);
    if (w->ops != 0) printf(" --ops %u", w->ops);
    if (w->clients != 0) printf(" --clients %u", w->clients);
    for (unsigned i = 0, said = 0; i < STORM_FAULTS_MAX; i++)
    {
        unsigned end = i;
        if (!w->left_out[i]) continue;
        while (end + 1 < STORM_FAULTS_MAX && w->left_out[end + 1]) end++;
        printf(said++ == 0 ? " --without %u-%u" : ",%u-%u", i, end);
        i = end;
    }
    printf("\n");
}

/* The last lines are where it shows. */
static void print_end(const char* path)
{
    static char lines[SHOWN_LINES][LINE_SIZE];
    unsigned count = 0;
    FILE* file = fopen(path, "r");
    if (file == NULL) return;
    while (fgets(lines[count % SHOWN_LINES], LINE_SIZE, file) != NULL) count++;
    (void)fclose(file);
    for (unsigned i = count > SHOWN_LINES ? count - SHOWN_LINES : 0; i < count; i++)
        printf("    %s", lines[i % SHOWN_LINES]);
    printf("all %u lines: %s\n", count, path);
}

void shrink_and_show(const schedule_wish* wish, const schedule_result* result, const char* folder)
{
    char path[PATH_SIZE];
    shrink.best = *wish;
    shrink.result = *result;
    shrink.tries = 0;
    (void)snprintf(shrink.promise, sizeof shrink.promise, "%s", result->promise);
    printf("FAILED: seed %llu: \"%s\"; %llu ops, %u clients, %u faults\n", (unsigned long long)wish->seed,
           result->promise, (unsigned long long)result->ops, result->clients, result->faults);
    schedule_wish same = shrink.best;
    if (!still_fails(&same))
    {
        printf("it does not fail again: something outside of the seed takes part\n");
        return;
    }
    try_one_system();
    for (unsigned before = UINT32_MAX; faults_left() < before && shrink.tries < TRIES_MAX;)
    {
        before = faults_left();
        try_fewer_faults();
        try_less(&shrink.best.ops, (uint32_t)shrink.result.ops);
        try_less(&shrink.best.clients, shrink.result.clients);
    }
    printf("shrunk in %u runs to %llu ops, %u clients, %u faults\n", shrink.tries,
           (unsigned long long)shrink.result.ops, shrink.result.clients, shrink.result.faults);
    print_command();
    (void)snprintf(path, sizeof path, "%s/%llu.trace", folder, (unsigned long long)wish->seed);
    same = shrink.best;
    same.print = true;
    same.trace = path;
    campaign_one(&same, &shrink.result);
    print_end(path);
}
