/* summary.c -- what is said at the end. */

#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define JSON_SIZE (512 * 1024)

/* ---- Does it hold? ------------------------------------------------------------------------------------- */

static uint64_t failed_checks(const summary* s)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        for (uint32_t k = 0; k < BOARD_CHECKS && s->shown->rows[i].checks[k].name[0] != '\0'; k++)
        {
            failed += s->shown->rows[i].checks[k].failed;
        }
    }
    return failed;
}

static bool all_ended_well(const summary* s)
{
    for (uint32_t i = 0; i < s->children->count; i++)
    {
        if (!child_succeeded(&s->children->list[i])) return false;
    }
    return true;
}

/* A write under a lock that is lost meanwhile may have been carried out before: nobody can tell. */
static bool is_lost_with_a_lock(const board_row* row, const board_ended* end)
{
    uint64_t lost = 0;
    for (uint32_t k = 0; k < BOARD_ENDS && row->ends[k].system[0] != '\0'; k++)
    {
        const board_ended* other = &row->ends[k];
        if (strcmp(other->system, "lock") == 0 && other->status == GH_LOST) lost += other->count;
    }
    return strcmp(end->system, "command") == 0 && end->status == GH_UNKNOWN && end->count <= lost;
}

static bool waits_for_others(const board_ended* end)
{
    return strcmp(end->system, "lock") == 0 || strcmp(end->system, "semaphore") == 0;
}

/* How fast a server is replaced is the store's, and the machine's, where that has much else to do. */
static bool nobody_answered_in_time(const summary* s)
{
    return s->events != NULL && events_away_us(s->events) >= EVENTS_OPS_WAIT_US;
}

/* A store whose servers come and go makes ops late, and fails none. What may be waited for in vain is no fault, nor is
   what the game has asked for. What was lost is looked at by itself, below. */
static bool is_fault(const summary* s, const board_row* row, const board_ended* end)
{
    gh_status status = (gh_status)end->status;
    if (status == GH_TIMEOUT) return !waits_for_others(end) && !nobody_answered_in_time(s);
    if (is_lost_with_a_lock(row, end)) return false;
    return status == GH_UNKNOWN || status == GH_REFUSED || status == GH_CORRUPT || status == GH_ERROR ||
           status == GH_UNREPLICATED || gh_status_is_invalid(status); /* nobody here waits for replicas */
}

static uint64_t faults_of_ops(const summary* s)
{
    uint64_t faults = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        const board_row* row = &s->shown->rows[i];
        for (uint32_t k = 0; k < BOARD_ENDS && row->ends[k].system[0] != '\0'; k++)
            faults += is_fault(s, row, &row->ends[k]) ? row->ends[k].count : 0;
    }
    return faults;
}

/* A process that did not run for so long could not renew what it held. */
static bool anybody_stood_still(const summary* s)
{
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
        if (s->shown->rows[i].frame_us.max_us >= EVENTS_LEASES_LAST_US) return true;
    return false;
}

static bool any_link_was_lost(const summary* s)
{
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
        if (s->shown->rows[i].stats.links_lost > 0) return true;
    return false;
}

/* Told to be lost, where nothing was that could be. Without events nothing is known of the store but whether it was
   away. */
static uint64_t losses_unproven(const summary* s)
{
    if (anybody_stood_still(s)) return 0;
    if (s->events != NULL) return events_losses_unproven(s->events, s->shown);
    return any_link_was_lost(s) ? 0 : events_losses(s->shown);
}

/* Whatever else the machine has to do, a tick takes no more of the processor than its budget. */
static uint64_t late_by_own(const summary* s)
{
    uint64_t late = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++) late += s->shown->rows[i].frames_late_by_own;
    return late;
}

static bool events_hold(const summary* s)
{
    const events* e = s->events;
    return e == NULL || (e->count > 0 && e->done == e->count && faults_of_ops(s) == 0);
}

bool summary_holds(const summary* s)
{
    bool audited = s->audit != NULL && s->audit->faults == 0;
    return !s->ended_early && audited && events_hold(s) && losses_unproven(s) == 0 && late_by_own(s) == 0 &&
           s->tasks_dead == 0 && failed_checks(s) == 0 && all_ended_well(s);
}

/* ---- Words --------------------------------------------------------------------------------------------- */

static void print_server(const board_row* row)
{
    printf("%s: %" PRIu64 " frames; over 16.7 ms: %" PRIu64 " because of gh_tick, %" PRIu64
           " because of others; %" PRIu64 " ticks put to sleep\n",
           row->name, row->frames, row->frames_late_by_tick, row->frames_late_by_machine, row->ticks_blocked);
    printf("    frame   p50 %.2f  p99 %.2f  p99.9 %.2f  longest %.2f ms\n", (double)row->frame_us.p50_us / 1e3,
           (double)row->frame_us.p99_us / 1e3, (double)row->frame_us.p999_us / 1e3, (double)row->frame_us.max_us / 1e3);
    printf("    gh_tick p50 %.3f  p99 %.3f  p99.9 %.3f  longest %.3f ms\n", (double)row->tick_us.p50_us / 1e3,
           (double)row->tick_us.p99_us / 1e3, (double)row->tick_us.p999_us / 1e3, (double)row->tick_us.max_us / 1e3);
}

static void print_ends(const board_row* row)
{
    for (uint32_t k = 0; k < BOARD_ENDS && row->ends[k].system[0] != '\0'; k++)
    {
        const board_ended* end = &row->ends[k];
        printf("%s%s %s %" PRIu64, k == 0 ? "    ended below zero: " : ", ", end->system,
               gh_status_name((gh_status)end->status), end->count);
    }
    if (row->ends[0].system[0] != '\0') printf("\n");
}

static void print_counts(const board_row* row)
{
    printf("%s: %" PRIu64 " requests, %" PRIu64 " resent, link lost %" PRIu64 " times", row->name, row->stats.requests,
           row->stats.resends, row->stats.links_lost);
    for (uint32_t k = 0; k < BOARD_COUNTS && row->counts[k].name[0] != '\0'; k++)
    {
        printf("%s%s %" PRIu64, k % 5 == 0 ? "\n    " : ", ", row->counts[k].name, row->counts[k].value);
    }
    printf("\n");
    print_ends(row);
}

static void print_event(const event* one, uint64_t started_us)
{
    if (one->took_us == 0)
    {
        printf("FAILED    event: %s: %s\n", one->text, one->begun_us == 0 ? "not begun" : "did not come to its end");
        return;
    }
    printf("at %5.1f s %s%s%s;", (double)(one->begun_us - started_us) / 1e6, one->text,
           one->address[0] == '\0' ? "" : ": ", one->address);
    if (one->away_us > 0) printf(" replaced after %.1f s,", (double)one->away_us / 1e6);
    printf(" well again after %.1f s,\n           longest delay of an op %.0f ms, %" PRIu64
           " frames late because of gh_tick, %" PRIu64 " losses told\n",
           (double)one->took_us / 1e6, (double)one->delay_us / 1e3, one->late, one->losses);
}

static void print_faults(const summary* s, const board_row* row)
{
    for (uint32_t k = 0; k < BOARD_ENDS && row->ends[k].system[0] != '\0'; k++)
    {
        const board_ended* end = &row->ends[k];
        if (is_fault(s, row, end))
            printf("FAILED    %s: %s ended %s %" PRIu64 " times\n", row->name, end->system,
                   gh_status_name((gh_status)end->status), end->count);
    }
}

static void print_events(const summary* s)
{
    const events* e = s->events;
    if (e == NULL) return;
    for (uint32_t i = 0; i < e->count; i++) print_event(&e->list[i], e->begun_us);
    for (uint32_t i = 0; i < BOARD_ROWS; i++) print_faults(s, &s->shown->rows[i]);
    if (nobody_answered_in_time(s))
        printf("           a server was replaced so late that ops may have waited for it in vain\n");
    if (e->count == 0) printf("FAILED    nothing was done to the store\n");
    else if (events_hold(s)) printf("holds     what happened to the store made ops late, and failed none\n");
}

static void print_losses(const summary* s)
{
    const uint64_t losses = events_losses(s->shown);
    const uint64_t unproven = losses_unproven(s);
    if (unproven > 0)
        printf("FAILED    %" PRIu64 " of %" PRIu64 " losses were told where nothing was lost\n", unproven, losses);
    else if (losses > 0) printf("holds     %" PRIu64 " losses were told, where a lease may have run out\n", losses);
}

static void print_late(const summary* s)
{
    const uint64_t late = late_by_own(s);
    if (late > 0) printf("FAILED    %" PRIu64 " frames were late because of what gh_tick computed\n", late);
    else printf("holds     no frame was late because of what gh_tick computed\n");
}

static void print_checks(const board_row* row)
{
    for (uint32_t k = 0; k < BOARD_CHECKS && row->checks[k].name[0] != '\0'; k++)
    {
        const board_check* check = &row->checks[k];
        if (check->failed == 0) printf("holds     %s: %" PRIu64 " times\n", check->name, check->passed);
        else
            printf("FAILED    %s: %" PRIu64 " of %" PRIu64 " times\n", check->name, check->failed,
                   check->failed + check->passed);
    }
}

static void print_child(const child* c)
{
    if (c->deaths > 0) printf("%s %s died %" PRIu32 " times and was started again\n", c->role, c->name, c->deaths);
    if (child_succeeded(c)) return;
    if (c->starts == 0) printf("FAILED    %s %s was never started\n", c->role, c->name);
    else if (WIFSIGNALED(c->wait_status))
        printf("FAILED    %s %s: signal %d\n", c->role, c->name, WTERMSIG(c->wait_status));
    else printf("FAILED    %s %s: exit code %d\n", c->role, c->name, WEXITSTATUS(c->wait_status));
}

/* Of a day. */
static uint32_t most_countries(const store_audit* a)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < AUDIT_DAYS; i++) most = a->days[i].countries > most ? a->days[i].countries : most;
    return most;
}

static void print_audit(const summary* s)
{
    const store_audit* a = s->audit;
    if (s->ended_early) printf("FAILED    the fleet did not end in good order\n");
    if (s->tasks_dead > 0) printf("FAILED    %" PRIu64 " tasks were given up\n", s->tasks_dead);
    if (a == NULL)
    {
        printf("FAILED    the store was not audited\n");
        return;
    }
    uint64_t shown = a->faults < AUDIT_FAULTS_SHOWN ? a->faults : AUDIT_FAULTS_SHOWN;
    for (uint64_t i = 0; i < shown; i++) printf("FAILED    audit: %s\n", a->fault_texts[i]);
    if (a->faults > shown) printf("FAILED    audit: and %" PRIu64 " more\n", a->faults - shown);
    if (a->faults > 0) return;
    printf("holds     audit of the store: %" PRIu32 " purses with %" PRId64 " coins, %" PRIu32
           " items with one holder each, no seat "
           "taken,\n          %" PRIu64 " log lines from %" PRIu32 " countries, each counted once\n",
           a->purses, a->gold, a->items, a->lines, most_countries(a));
}

static void print_totals(const store_audit* a)
{
    char bytes[TOTALS_SHOWN * sizeof(totals_country) * 2];
    for (uint32_t i = 0; i < AUDIT_DAYS; i++)
    {
        text t = text_in(bytes, sizeof bytes);
        totals_add(&a->days[i], &t, "\n");
        if (t.size > 0) printf("log lines of %s", t.bytes);
    }
}

void summary_print(const summary* s)
{
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        const board_row* row = &s->shown->rows[i];
        if (strcmp(row->role, "server") == 0) print_server(row);
    }
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (s->shown->rows[i].role[0] != '\0') print_counts(&s->shown->rows[i]);
    }
    if (s->audit != NULL) print_totals(s->audit);
    for (uint32_t i = 0; i < s->children->count; i++) print_child(&s->children->list[i]);
    for (uint32_t i = 0; i < BOARD_ROWS; i++) print_checks(&s->shown->rows[i]);
    print_events(s);
    print_losses(s);
    print_late(s);
    print_audit(s);
    printf(summary_holds(s) ? "all holds\n" : "NOT all holds\n");
    fflush(stdout);
}

bool summary_write_json(const summary* s, const char* path)
{
    char* bytes = malloc(JSON_SIZE);
    FILE* file = fopen(path, "w");
    if (bytes == NULL || file == NULL)
    {
        if (file != NULL) fclose(file);
        free(bytes);
        return false;
    }
    text t = text_in(bytes, JSON_SIZE);
    text_add(&t, "{\"holds\":%s,\"board\":", summary_holds(s) ? "true" : "false");
    snapshot_add_json(s->shown, &t);
    text_add(&t, "}\n");
    bool written = !t.is_cut && fwrite(t.bytes, 1, t.size, file) == t.size;
    free(bytes);
    return fclose(file) == 0 && written;
}
