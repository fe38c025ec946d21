/* fleet.c -- the role fleet: starts the processes of a world, shows how they are, and ends them in an order
   in which nothing is left half done.

       STARTING --> PLAYING --> BOTS --> SERVERS --> TASKS --> WORKERS --> COUNTERS --> AUDIT --> CLEANING
                       |                                                                             |
                       '-- until time is up, or Ctrl-C                                   LEAVING <---'

   BOTS, SERVERS, WORKERS and COUNTERS wait until the processes of that name are over, TASKS until the queues
   are empty. Who does not end in time is killed, and that is no good order any more.

   Each of its frames:

       frame_begin
       gh_tick            what the store has answered
       children           who has died, who is started again
       snapshot, history  the board as it is now, and a point of the last minutes
       phase              a step further, see above
       screen, page       show it
       gh_tick            what this frame has asked goes out
       frame_end          sleeps until the next frame */

#include "backlog.h"
#include "cast.h"
#include "events.h"
#include "logs/addresses.h"
#include "member.h"
#include "own_store.h"
#include "page.h"
#include "roles.h"
#include "run_folder.h"
#include "screen.h"
#include "stop.h"
#include "summary.h"
#include "vacancy.h"
#include "walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STARTING_US 20000000u
#define STEP_US     60000000u /* for each step of the ending, the store being away perhaps */
#define DRAIN_US    2000000u
#define TOTALS_US   2000000u /* between two looks at them */

typedef enum fleet_phase
{
    FLEET_STARTING = 0, /* until every server says on its row where it listens */
    FLEET_PLAYING,
    FLEET_BOTS,
    FLEET_SERVERS,
    FLEET_TASKS, /* no task is left but those that are to be done later */
    FLEET_WORKERS,
    FLEET_COUNTERS, /* the aggregators */
    FLEET_AUDIT,
    FLEET_CLEANING,
    FLEET_LEAVING,
    FLEET_OVER
} fleet_phase;

typedef struct fleet
{
    options options;
    fleet_phase phase;
    uint64_t give_up_us; /* on this phase; 0: never */
    bool refused;        /* to begin */
    bool ended_early;
    bool audited;

    run_folder folder;
    char prefix[24];
    board* board;
    member member;
    children children;
    child* bots;
    events events; /* what is done to the store meanwhile */
    snapshot shown;
    history past; /* for the page */
    screen screen;
    page* page;
    market market;
    backlog backlog;
    totals_read totals; /* of today, for the view */
    uint64_t totals_again_us;
    store_audit audit;
    walk cleaning;
} fleet;

static const char* phase_text(fleet_phase phase)
{
    static const char* const texts[] = {"starting",         "playing",       "bots leave", "servers leave",
                                        "work is finished", "workers leave", "counting",   "audit",
                                        "cleaning",         "leaving",       "over"};
    return texts[phase];
}

static void go(fleet* f, fleet_phase phase)
{
    f->phase = phase;
    f->give_up_us =
        phase == FLEET_PLAYING ? 0 : f->member.clock.now_us + (phase == FLEET_STARTING ? STARTING_US : STEP_US);
}

/* ---- Starting ------------------------------------------------------------------------------------------ */

static bool start(fleet* f, child* c)
{
    if (child_start(&f->children, c)) return true;
    fprintf(stderr, "game_server: no process for %s: %s\n", c->name, strerror(errno));
    return false;
}

static bool start_all_but_bots(fleet* f)
{
    for (uint32_t i = 0; i < f->children.count; i++)
        if (&f->children.list[i] != f->bots && !start(f, &f->children.list[i])) return false;
    return true;
}

/* Once every server has said where it listens. */
static bool start_bots(fleet* f)
{
    if (!cast_ports(f->bots, &f->options, &f->shown)) return false;
    if (!start(f, f->bots)) f->ended_early = true;
    return true;
}

/* ---- Ending -------------------------------------------------------------------------------------------- */

static void on_death(void* context, const child* c)
{
    fleet* f = context;
    char line[BOARD_TEXT_SIZE];
    int status = c->wait_status;
    int size = snprintf(
        line, sizeof line, "%s %s %d; %s", c->name, WIFSIGNALED(status) ? "was ended by signal" : "failed with",
        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), c->kept ? "it is started again" : "it is gone");
    board_say(&f->member.row, frame_now_us(), GH_LOG_WARNING, gh_str_make(line, (size_t)size));
}

static uint64_t lines_written(const fleet* f)
{
    uint64_t lines = 0;
    for (uint32_t i = 1; i <= f->options.servers; i++)
    {
        for (uint32_t k = 0; k < BOARD_COUNTS; k++)
        {
            const board_count* count = &f->shown.rows[i].counts[k];
            if (strcmp(count->name, "log.lines") == 0) lines += count->value;
        }
    }
    return lines;
}

static summary summary_of(const fleet* f)
{
    return (summary){.shown = &f->shown,
                     .children = &f->children,
                     .audit = f->audited ? &f->audit : NULL,
                     .events = f->options.events == NULL ? NULL : &f->events,
                     .tasks_waiting = f->backlog.waiting,
                     .tasks_dead = f->backlog.dead,
                     .ended_early = f->ended_early};
}

static void leave(fleet* f)
{
    gh_client_drain(f->member.client, DRAIN_US);
    go(f, FLEET_LEAVING);
}

/* What is wrong stays in the store, to be looked at. */
static void after_audit(fleet* f)
{
    f->audited = true;
    for (uint32_t i = 0; i < AUDIT_DAYS; i++)
        if (f->audit.days[i].shown > 0) f->shown.totals = f->audit.days[i];
    summary s = summary_of(f);
    walk_begin(&f->cleaning, f->member.client, f->options.prefix, f->options.cluster, WALK_REMOVE);
    if (summary_holds(&s)) go(f, FLEET_CLEANING);
    else leave(f);
}

/* ---- The loop ------------------------------------------------------------------------------------------ */

static void phase_step(fleet* f)
{
    switch (f->phase)
    {
    case FLEET_STARTING:
        if (!start_bots(f)) break;
        events_begin(&f->events, &f->options, f->member.clock.now_us);
        go(f, FLEET_PLAYING);
        break;
    case FLEET_PLAYING:
        events_frame(&f->events, &f->shown, &f->member.row);
        if (f->bots->over || stop_signals() > 0 || events_are_over(&f->events, f->member.clock.now_us))
            go(f, FLEET_BOTS);
        break;
    case FLEET_BOTS:
        if (children_end(&f->children, "bots")) go(f, FLEET_SERVERS);
        break;
    case FLEET_SERVERS:
        if (!children_end(&f->children, "server")) break;
        backlog_ask(&f->backlog, f->member.client);
        go(f, FLEET_TASKS);
        break;
    case FLEET_TASKS:
        if (!backlog_frame(&f->backlog)) break;
        if (f->backlog.waiting > 0) backlog_ask(&f->backlog, f->member.client);
        else go(f, FLEET_WORKERS);
        break;
    case FLEET_WORKERS:
        if (children_end(&f->children, "worker")) go(f, FLEET_COUNTERS);
        break;
    case FLEET_COUNTERS:
        if (!children_end(&f->children, "aggregator")) break;
        store_audit_begin(&f->audit, &f->market, f->options.bots, f->options.servers, lines_written(f));
        go(f, FLEET_AUDIT);
        break;
    case FLEET_AUDIT:
        if (store_audit_frame(&f->audit)) after_audit(f);
        break;
    case FLEET_CLEANING:
        if (walk_frame(&f->cleaning)) leave(f);
        break;
    case FLEET_LEAVING:
        if (gh_client_drained(f->member.client)) f->phase = FLEET_OVER;
        break;
    case FLEET_OVER: break;
    }
}

/* Too late for this phase, or Ctrl-C once more: whatever still runs is killed. */
static void end_at_once(fleet* f)
{
    fprintf(stderr, "game_server: still \"%s\"; ended at once\n", phase_text(f->phase));
    f->ended_early = true;
    children_kill(&f->children);
    leave(f);
}

/* Until the audit, which reads them for good. */
static void look_at_totals(fleet* f)
{
    uint64_t now_us = f->member.clock.now_us;
    if (f->phase >= FLEET_AUDIT || now_us < f->totals_again_us) return;
    if (totals_read_poll(&f->totals, &f->shown.totals) == GH_PENDING) return;
    f->totals_again_us = now_us + TOTALS_US;
    totals_read_begin(&f->totals, f->member.client, 0);
}

static void fleet_frame(fleet* f)
{
    member* m = &f->member;
    frame_begin(&m->clock);
    member_tick(m);
    children_look(&f->children, m->clock.now_us, on_death, f);
    snapshot_take(&f->shown, f->board, m->clock.now_us);
    history_take(&f->past, &f->shown);
    bool too_late = f->give_up_us > 0 && m->clock.now_us >= f->give_up_us;
    if ((too_late || stop_signals() > 1) && f->phase < FLEET_LEAVING) end_at_once(f);
    else phase_step(f);
    look_at_totals(f);
    member_phase(m, phase_text(f->phase));
    screen_frame(&f->screen, &f->shown, phase_text(f->phase));
    page_frame(f->page);
    member_tick(m);
    member_end_frame(m);
}

/* ---- From the command line to the exit code ------------------------------------------------------------ */

/* A prefix that we were given must be free; one that we make up is. */
static bool choose_prefix(fleet* f)
{
    options* o = &f->options;
    snprintf(f->prefix, sizeof f->prefix, "fleet-%08" PRIx32, (uint32_t)(frame_now_us() ^ (uint64_t)getpid() << 20));
    if (o->prefix == NULL)
    {
        o->prefix = f->prefix;
        return true;
    }
    vacancy found = vacancy_of(o, f->prefix);
    f->refused = found == VACANCY_TAKEN;
    if (f->refused)
        fprintf(stderr,
                "game_server: keys that begin with \"%s:\" are there already, and a fleet removes all of them at its "
                "end; give it another --prefix, or none\n",
                o->prefix);
    return found == VACANCY_FREE;
}

static bool open_fleet(fleet* f)
{
    options* o = &f->options;
    if (!run_folder_make(&f->folder) || !children_open(&f->children, f->folder.output, o->embedded)) return false;
    if (o->embedded && !own_store_open()) return false;
    f->board = board_create(f->folder.board);
    if (f->board == NULL || (o->addresses == NULL && !addresses_write(f->folder.addresses)))
    {
        fprintf(stderr, "game_server: %s: %s\n", f->folder.path, strerror(errno));
        return false;
    }
    o->name = "fleet";
    o->board = f->folder.board;
    o->slot = 0;
    if (!choose_prefix(f)) return false;
    gh_client_config capacities = gh_client_config_default();
    if (!member_open(&f->member, o, "fleet", &capacities)) return false;
    market_init(&f->market, f->member.client, o->prefix, o->guard);
    f->bots = cast_all(&f->children, o, &f->folder);
    f->shown.started_us = frame_now_us();
    if (o->page > 0) f->page = page_open(o->page, &f->shown, &f->past);
    return o->page == 0 || f->page != NULL;
}

static void run(fleet* f)
{
    screen_open(&f->screen, f->options.quiet);
    go(f, FLEET_STARTING);
    f->give_up_us = frame_now_us() + STARTING_US;
    if (!start_all_but_bots(f)) end_at_once(f);
    while (f->phase != FLEET_OVER) fleet_frame(f);
    screen_close(&f->screen);
}

int fleet_main(const options* o)
{
    static fleet f;
    f.options = *o;
    bool opened = open_fleet(&f);
    bool holds = false;
    if (opened)
    {
        run(&f);
        summary s = summary_of(&f);
        holds = summary_holds(&s);
        summary_print(&s);
        if (o->summary != NULL && !summary_write_json(&s, o->summary)) holds = false;
        if (!holds) run_folder_show_output(&f.folder);
    }
    events_end(&f.events);
    page_close(f.page);
    if (f.member.client != NULL) member_close(&f.member, holds);
    own_store_close();
    if (f.folder.path[0] != '\0') run_folder_remove(&f.folder);
    if (f.refused) return 2;
    return holds ? 0 : 1;
}
