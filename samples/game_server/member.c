/* member.c -- a client, a clock, and a row on the board. */

#include "member.h"

#include "guildhall/cluster.h"
#include "guildhall/platform.h"
#include "guildhall/sentinel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOW_FRAMES 15 /* percentiles are worked out every so many */

/* The log of the client: on the board, where all see it, and on stderr if it is more than news. */
static void on_log(void* context, gh_log_level level, gh_str text)
{
    member* m = context;
    if (level > GH_LOG_INFO) return;
    board_say(&m->row, frame_now_us(), level, text);
    if (level <= GH_LOG_WARNING) fprintf(stderr, "%s: %.*s\n", m->row.name, (int)text.size, text.bytes);
}

/* Ops that end, by system. */
static void count_end(member* m, const gh_trace_event* event)
{
    for (int i = 0; i < MEMBER_SYSTEMS; i++)
    {
        member_system* system = &m->systems[i];
        if (system->name == NULL) *system = (member_system){event->system, board_ops_of(&m->row, event->system)};
        if (system->name != event->system) continue;
        if (system->ops != NULL) ++*system->ops;
        return;
    }
}

/* How ops end, and how long those took that wait for nobody but the store. */
static void on_trace(void* context, const gh_trace_event* event)
{
    member* m = context;
    bool is_ours = strcmp(event->system, "command") == 0;
    if (event->kind == GH_TRACE_BEGIN && is_ours) delays_begin(&m->delays, event->op, event->now_us);
    if (event->kind != GH_TRACE_END) return;
    if (is_ours) delays_end(&m->delays, event->op, event->now_us);
    if (event->status < 0) board_end(&m->row, event->system, event->status);
    count_end(m, event);
}

static bool open_board(member* m, const options* o)
{
    m->slot = o->slot;
    if (o->board == NULL) return true;
    m->board = board_open(o->board);
    if (m->board == NULL) fprintf(stderr, "%s: no board %s: %s\n", o->name, o->board, strerror(errno));
    return m->board != NULL;
}

static bool open_client(member* m, const options* o, gh_client_config config)
{
    config.address = gh_str_of(o->redis); /* for names of hosts: config.resolver, and guildhall/resolver.h */
    if (o->cluster) config.topology = gh_topology_cluster();
    if (o->sentinel != NULL)
    {
        config.topology = gh_topology_sentinel();
        config.sentinel_name = gh_str_of(o->sentinel);
    }
    config.user = gh_str_of(o->user);
    config.password = gh_str_of(o->password);
    config.client_name = gh_str_of(o->name);
    if (o->prefix != NULL) config.prefix = gh_str_of(o->prefix);
    config.hooks.context = m;
    config.hooks.log = on_log;
    config.hooks.trace = on_trace;
    size_t size = (gh_client_memory(&config) + 63) & ~(size_t)63;
    const gh_platform* platform = tls_way_open(&m->way, o);
    m->memory = aligned_alloc(64, size == 0 ? 64 : size);
    gh_status status = platform == NULL ? GH_OK : gh_client_init(m->memory, size, &config, platform, &m->client);
    if (m->client != NULL) return true;
    if (status != GH_OK) fprintf(stderr, "%s: %s: %s\n", o->name, o->redis, gh_status_text(status));
    tls_way_close(&m->way);
    free(m->memory);
    return false;
}

bool member_open(member* m, const options* o, const char* role, const gh_client_config* capacities)
{
    *m = (member){0};
    snprintf(m->row.role, sizeof m->row.role, "%s", role);
    snprintf(m->row.name, sizeof m->row.name, "%s", o->name);
    m->row.pid = getpid();
    return open_board(m, o) && open_client(m, o, *capacities);
}

void member_phase(member* m, const char* phase)
{
    snprintf(m->row.phase, sizeof m->row.phase, "%s", phase);
}

void member_tick(member* m)
{
    frame_tick(&m->clock, m->client, MEMBER_BUDGET_US);
}

static void show(member* m, bool percentiles)
{
    board_row* row = &m->row;
    if (m->board == NULL) return;
    row->beat_us = frame_now_us();
    row->frames = m->clock.frames;
    row->frames_late_by_tick = m->clock.late_by_tick;
    row->frames_late_by_own = m->clock.late_by_own;
    row->ticks_blocked = m->clock.tick_blocked;
    row->frames_late_by_machine = m->clock.late_by_machine;
    row->link = gh_client_link_state(m->client, GH_LINK_COMMANDS);
    gh_client_get_stats(m->client, &row->stats);
    if (percentiles) histogram_show(&m->clock.frame_us, &row->frame_us);
    row->delay_us = delays_longest(&m->delays, m->clock.now_us);
    memcpy(row->frame_bars, m->clock.frame_bars, sizeof row->frame_bars);
    if (percentiles) histogram_show(&m->clock.tick_us, &row->tick_us);
    if (percentiles) histogram_show(&m->clock.tick_cpu_us, &row->tick_cpu_us);
    board_publish(m->board, m->slot, row);
}

static bool is_connected(const member* m)
{
    const gh_link_state wake = gh_client_link_state(m->client, GH_LINK_WAKE);
    return gh_client_link_state(m->client, GH_LINK_COMMANDS) == GH_LINK_READY &&
           (wake == GH_LINK_READY || wake == GH_LINK_IDLE);
}

void member_end_frame(member* m)
{
    show(m, m->clock.frames % SHOW_FRAMES == 0);
    frame_end(&m->clock);
    m->clock.in_play = m->clock.in_play || is_connected(m);
}

void member_close(member* m, bool good)
{
    member_phase(m, good ? "over" : "failed");
    show(m, true);
    gh_client_shutdown(m->client);
    m->client = NULL;
    tls_way_close(&m->way);
    free(m->memory);
    m->memory = NULL;
}
