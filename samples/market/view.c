#include "view.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define DRAW_US 200000u
#define PICTURE_SIZE 4096

/* ---- Text ---------------------------------------------------------------------------------------------- */

/* Lines are collected and written in one go, or the terminal shows half of a picture. */
typedef struct picture
{
    char text[PICTURE_SIZE];
    size_t size;
    const char* line_end;
} picture;

static void add(picture* p, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof p->text - p->size;
    int size = vsnprintf(p->text + p->size, room, format, arguments);
    va_end(arguments);
    if (size > 0) p->size += (size_t)size < room ? (size_t)size : room - 1;
}

static void end_line(picture* p)
{
    add(p, "%s", p->line_end);
}

static void add_times(picture* p, const char* name, const histogram* h, double unit_us, const char* unit)
{
    add(p, "%s p50 %.1f  p99 %.1f  max %.1f %s", name, (double)histogram_percentile(h, 50) / unit_us,
        (double)histogram_percentile(h, 99) / unit_us, (double)h->max / unit_us, unit);
}

static const char* link_text(gh_link_state state)
{
    static const char* const texts[] = {"idle",          "resolving", "connecting",
                                        "shaking hands", "ready",     "backing off"};
    return texts[state];
}

/* ---- What both pictures show --------------------------------------------------------------------------- */

static void add_header(picture* p, const view* v)
{
    const market* m = v->world->market;
    add(p, "market    %s, guard %s, %" PRIu32 " players", m->name, market_guard_name(m->guard),
        v->world->player_count);
    end_line(p);
}

static void add_frames(picture* p, const frame_clock* clock)
{
    double seconds = (double)(clock->now_us - clock->started_us) / 1e6;
    double rate = seconds > 0 ? (double)(clock->frames - 1) / seconds : 0;
    add(p, "frames    %" PRIu64 " in %.1f s: %.1f a second;", clock->frames, seconds, rate);
    add_times(p, "", &clock->frame_us, 1000, "ms");
    end_line(p);
    add(p, "late      %" PRIu64 " by the tick, %" PRIu64 " by the machine", clock->late_by_tick,
        clock->late_by_machine);
    end_line(p);
    add_times(p, "tick     ", &clock->tick_us, 1, "us");
    add(p, "; put to sleep in it %" PRIu64 " times", clock->tick_blocked);
    end_line(p);
}

static void add_market(picture* p, const world* w)
{
    const world_counts* c = &w->counts;
    add(p, "locks     %" PRIu64 " grants, %" PRIu64 " of them waited for;", c->grants, c->waits);
    add_times(p, "", &w->wait_us, 1000, "ms");
    end_line(p);
    add(p, "trades    %" PRIu64 " sold, %" PRIu64 " listed;", w->history->purchases, c->listings);
    add(p, " %" PRIu64 " too late, %" PRIu64 " too poor,", c->too_late, c->poor);
    add(p, " %" PRIu64 " refunded", c->refunds);
    end_line(p);
    add(p, "outcomes  %" PRIu64 " unknown and asked again, %" PRIu64 " timeouts,", c->unknown, c->timeouts);
    add(p, " %" PRIu64 " locks lost, %" PRIu64 " fenced,", c->lost, c->fenced);
    add(p, " %" PRIu64 " full, %" PRIu64 " others", c->full, c->others);
    if (c->others > 0) add(p, " (last: %s)", gh_status_name(w->last_other));
    end_line(p);
}

static void add_link(picture* p, const gh_client_stats* s)
{
    add(p, "link      %" PRIu64 " times ready, %" PRIu64 " times lost;", s->links_ready, s->links_lost);
    add(p, " %" PRIu64 " requests, %" PRIu64 " resent,", s->requests, s->resends);
    add(p, " %" PRIu64 " retried, %" PRIu64 " scripts reloaded", s->retries, s->script_reloads);
    end_line(p);
}

static void add_warnings(picture* p, uint32_t warnings)
{
    static const struct
    {
        gh_warning bit;
        const char* text;
    } texts[] = {
        {GH_WARNING_VERSION, "server older than 6.2"},
        {GH_WARNING_EVICTION, "server may evict keys"},
        {GH_WARNING_NO_AOF, "appendonly is off: a restart forgets"},
        {GH_WARNING_NO_WAKE, "PUBLISH refused: waiters poll"},
        {GH_WARNING_NO_INFO, "INFO refused: not looked at"},
        {GH_WARNING_REPLICA, "a read-only replica"},
        {GH_WARNING_CLUSTER, "a Cluster node"},
    };
    if (warnings == 0) return;
    add(p, "warnings  ");
    const char* between = "";
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        if ((warnings & (uint32_t)texts[i].bit) == 0) continue;
        add(p, "%s%s", between, texts[i].text);
        between = "; ";
    }
    end_line(p);
}

/* ---- The live view ------------------------------------------------------------------------------------- */

void view_open(view* v, bool quiet)
{
    v->quiet = quiet;
    v->live = !quiet && isatty(STDOUT_FILENO);
    if (!v->live) return;
    printf("\033[?25l\033[2J"); /* cursor off, clear */
    fflush(stdout);
}

void view_log(void* context, gh_log_level level, gh_str text)
{
    view* v = context;
    int size = (int)(text.size < VIEW_LINE_SIZE ? text.size : VIEW_LINE_SIZE - 1);
    if (level > GH_LOG_INFO || v->quiet) return;
    if (!v->live)
    {
        fprintf(stderr, "guildhall: %.*s\n", size, text.bytes);
        return;
    }
    snprintf(v->lines[v->line_count++ % VIEW_LINES], VIEW_LINE_SIZE, "%.*s", size, text.bytes);
}

static void add_log(picture* p, const view* v)
{
    uint32_t first = v->line_count > VIEW_LINES ? v->line_count - VIEW_LINES : 0;
    for (uint32_t i = first; i < v->line_count; i++)
    {
        add(p, "  %s", v->lines[i % VIEW_LINES]);
        end_line(p);
    }
}

/* A terminal that takes nothing (a stopped one, a slow line) must not hold up the frame. */
static bool takes_text(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLOUT) != 0;
}

void view_frame(view* v)
{
    uint64_t now = v->clock->now_us;
    if (!v->live || now < v->draw_us || !takes_text()) return;

    uint64_t purchases = v->world->history->purchases;
    double since_s = (double)(now - v->draw_us + DRAW_US) / 1e6;
    double rate = (double)(purchases - v->drawn_purchases) / since_s;
    v->purchases_per_s += (rate - v->purchases_per_s) / 10;
    v->drawn_purchases = purchases;
    v->draw_us = now + DRAW_US;

    gh_client_stats stats = {0};
    gh_client_get_stats(v->client, &stats);
    gh_link_state state = gh_client_link_state(v->client, GH_LINK_COMMANDS);
    picture p = {.line_end = "\033[K\r\n"}; /* what was longer before is cleared to the end of its line */
    add(&p, "\033[H\033[1mGuildhall game server\033[0m   %s", v->doing);
    end_line(&p);
    end_line(&p);
    add_header(&p, v);
    add(&p, "now       link %s, %.0f purchases a second,", link_text(state), v->purchases_per_s);
    add(&p, " %" PRIu32 " players busy, %" PRIu32 " requests sent", v->world->busy, stats.requests_sent);
    end_line(&p);
    add_frames(&p, v->clock);
    add_market(&p, v->world);
    add_link(&p, &stats);
    add_warnings(&p, stats.warnings);
    end_line(&p);
    add_log(&p, v);
    add(&p, "\033[JCtrl-C ends it; once more, without waiting for the store.");
    if (write(STDOUT_FILENO, p.text, p.size) < 0) v->live = false; /* it is gone; the game goes on */
}

void view_close(view* v)
{
    if (!v->live) return;
    v->live = false;
    printf("\r\033[K\033[?25h");
    fflush(stdout);
}

/* ---- The summary --------------------------------------------------------------------------------------- */

static void add_audit(picture* p, const audit* a, uint64_t purchases)
{
    uint64_t shown = a->faults < AUDIT_FAULTS_SHOWN ? a->faults : AUDIT_FAULTS_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
    {
        add(p, "wrong     %s", a->fault_texts[i]);
        end_line(p);
    }
    if (a->readings == 0 && a->faults == 0) add(p, "audit     not done: no answer, or not let in");
    else if (!audit_holds(a)) add(p, "audit     %" PRIu64 " things are wrong", a->faults);
    else if (!a->conserved) add(p, "audit     holds for our players; others trade, so no coins were counted");
    else
    {
        add(p, "audit     holds: %" PRIu32 " purses, %" PRIu32 " items, %" PRId64 " coins,", a->players,
            a->players * MARKET_ITEMS_EACH, a->brought);
        add(p, " %" PRIu64 " purchases of ours; nothing lost, nothing sold twice", purchases);
    }
    end_line(p);
}

void view_summary(const view* v, const gh_client_stats* stats, const audit* a)
{
    picture p = {.line_end = "\n"};
    add_header(&p, v);
    add_frames(&p, v->clock);
    add_market(&p, v->world);
    add_link(&p, stats);
    add_warnings(&p, stats->warnings);
    add_audit(&p, a, v->world->history->purchases);
    fputs(p.text, stdout);
    fflush(stdout);
}
