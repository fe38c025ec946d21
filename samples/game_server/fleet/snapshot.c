/* snapshot.c -- the board as it is now. */

#include "snapshot.h"

#include <inttypes.h>
#include <string.h>

/* Keeps the list in order, the newest first; the oldest falls off its end. */
static void insert_event(snapshot* s, snapshot_event new_one)
{
    uint32_t place = s->event_count;
    while (place > 0 && s->events[place - 1].event->at_us < new_one.event->at_us) place--;
    if (place == SNAPSHOT_EVENTS) return;
    if (s->event_count < SNAPSHOT_EVENTS) s->event_count++;
    for (uint32_t i = s->event_count - 1; i > place; i--) s->events[i] = s->events[i - 1];
    s->events[place] = new_one;
}

void snapshot_take(snapshot* s, const board* b, uint64_t now_us)
{
    s->now_us = now_us;
    s->event_count = 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        board_row* row = &s->rows[i];
        board_look(b, i, row);
        if (row->role[0] == '\0') continue;
        for (uint32_t k = 0; k < BOARD_EVENTS; k++)
        {
            if (row->events[k].number > 0) insert_event(s, (snapshot_event){row->name, &row->events[k]});
        }
    }
}

void snapshot_sum(const snapshot* s, board_row* sum)
{
    *sum = (board_row){0};
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        const board_row* row = &s->rows[i];
        for (uint32_t k = 0; k < BOARD_COUNTS && row->counts[k].name[0] != '\0'; k++)
        {
            uint64_t* count = board_count_of(sum, row->counts[k].name);
            if (count != NULL) *count += row->counts[k].value;
        }
        for (uint32_t k = 0; k < BOARD_SYSTEMS && row->ops[k].name[0] != '\0'; k++)
        {
            uint64_t* ops = board_ops_of(sum, row->ops[k].name);
            if (ops != NULL) *ops += row->ops[k].value;
        }
    }
}

const char* snapshot_link_text(gh_link_state state)
{
    switch (state)
    {
    case GH_LINK_IDLE: return "idle";
    case GH_LINK_RESOLVING: return "resolving";
    case GH_LINK_CONNECTING: return "connecting";
    case GH_LINK_HANDSHAKE: return "shaking hands";
    case GH_LINK_READY: return "ready";
    case GH_LINK_BACKOFF: return "backing off";
    }
    return "?";
}

const char* snapshot_warnings(uint32_t warnings, char* out, size_t out_size)
{
    static const struct
    {
        gh_warning bit;
        const char* text;
    } texts[] = {
        {GH_WARNING_VERSION, "older than 6.2"},   {GH_WARNING_EVICTION, "may evict keys"},
        {GH_WARNING_NO_AOF, "appendonly is off"}, {GH_WARNING_NO_WAKE, "PUBLISH refused"},
        {GH_WARNING_NO_INFO, "INFO refused"},     {GH_WARNING_REPLICA, "a read-only replica"},
        {GH_WARNING_CLUSTER, "a Cluster node"},
    };
    text t = text_in(out, out_size);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    {
        if ((warnings & (uint32_t)texts[i].bit) != 0) text_add(&t, "%s%s", t.size > 0 ? "; " : "", texts[i].text);
    }
    return out;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void add_number(text* t, const char* name, uint64_t value)
{
    text_add(t, "\"%s\":%" PRIu64 ",", name, value);
}

static void add_string(text* t, const char* name, const char* value)
{
    text_add(t, "\"%s\":", name);
    text_add_json(t, value);
    text_add(t, ",");
}

/* What begins with '{' or '[' leaves a comma behind its last member. */
static void close_with(text* t, char bracket)
{
    if (t->size > 0 && t->bytes[t->size - 1] == ',') t->size--;
    text_add(t, "%c,", bracket);
}

static void add_histogram(text* t, const char* name, const board_histogram* h)
{
    text_add(t, "\"%s\":{", name);
    add_number(t, "p50", h->p50_us);
    add_number(t, "p99", h->p99_us);
    add_number(t, "p999", h->p999_us);
    add_number(t, "max", h->max_us);
    add_number(t, "recent", h->recent_us);
    close_with(t, '}');
}

static void add_bars(text* t, const board_row* row)
{
    text_add(t, "\"frame_bars\":{");
    add_number(t, "from_ms", BOARD_BARS_FROM_MS);
    text_add(t, "\"counts\":[");
    for (uint32_t i = 0; i < BOARD_BARS; i++) text_add(t, "%" PRIu64 ",", row->frame_bars[i]);
    close_with(t, ']');
    close_with(t, '}');
}

static void add_counts(text* t, const char* name, const board_count* counts, uint32_t most)
{
    text_add(t, "\"%s\":{", name);
    for (uint32_t i = 0; i < most && counts[i].name[0] != '\0'; i++)
    {
        text_add_json(t, counts[i].name);
        text_add(t, ":%" PRIu64 ",", counts[i].value);
    }
    close_with(t, '}');
}

static void add_lists(text* t, const board_row* row)
{
    add_counts(t, "counts", row->counts, BOARD_COUNTS);
    add_counts(t, "ops", row->ops, BOARD_SYSTEMS);
    text_add(t, "\"checks\":[");
    for (uint32_t i = 0; i < BOARD_CHECKS && row->checks[i].name[0] != '\0'; i++)
    {
        text_add(t, "{");
        add_string(t, "name", row->checks[i].name);
        add_number(t, "passed", row->checks[i].passed);
        add_number(t, "failed", row->checks[i].failed);
        close_with(t, '}');
    }
    close_with(t, ']');
}

static void add_row(text* t, const board_row* row)
{
    char warnings[160];
    const gh_client_stats* stats = &row->stats;
    text_add(t, "{");
    add_string(t, "role", row->role);
    add_string(t, "name", row->name);
    add_string(t, "phase", row->phase);
    add_number(t, "beat_us", row->beat_us);
    add_number(t, "frames", row->frames);
    add_number(t, "late_by_tick", row->frames_late_by_tick);
    add_number(t, "late_by_machine", row->frames_late_by_machine);
    add_number(t, "players", row->players);
    add_number(t, "queued", row->queued);
    add_string(t, "link", snapshot_link_text(row->link));
    add_string(t, "warnings", snapshot_warnings(stats->warnings, warnings, sizeof warnings));
    add_number(t, "ops_busy", stats->ops_busy);
    add_number(t, "requests", stats->requests);
    add_number(t, "resends", stats->resends);
    add_number(t, "links_lost", stats->links_lost);
    add_number(t, "round_trip_us", stats->round_trip_us);
    add_histogram(t, "frame_us", &row->frame_us);
    add_bars(t, row);
    add_histogram(t, "tick_us", &row->tick_us);
    add_histogram(t, "tick_cpu_us", &row->tick_cpu_us);
    add_lists(t, row);
    close_with(t, '}');
}

static void add_totals(text* t, const totals* day)
{
    text_add(t, "\"totals\":{");
    add_string(t, "date", day->date);
    add_number(t, "lines", day->lines);
    add_number(t, "countries", day->countries);
    text_add(t, "\"largest\":[");
    for (uint32_t i = 0; i < day->shown; i++)
    {
        text_add(t, "{");
        add_string(t, "country", day->largest[i].name);
        add_number(t, "lines", day->largest[i].lines);
        close_with(t, '}');
    }
    close_with(t, ']');
    close_with(t, '}');
}

void snapshot_add_json(const snapshot* s, text* t)
{
    text_add(t, "{");
    add_number(t, "now_us", s->now_us);
    add_number(t, "running_us", s->now_us - s->started_us);
    text_add(t, "\"processes\":[");
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (s->rows[i].role[0] != '\0') add_row(t, &s->rows[i]);
    }
    close_with(t, ']');
    add_totals(t, &s->totals);
    text_add(t, "\"events\":[");
    for (uint32_t i = 0; i < s->event_count; i++)
    {
        text_add(t, "{");
        add_string(t, "who", s->events[i].who);
        add_number(t, "at_us", s->events[i].event->at_us);
        add_number(t, "level", (uint64_t)s->events[i].event->level);
        add_string(t, "text", s->events[i].event->text);
        close_with(t, '}');
    }
    close_with(t, ']');
    close_with(t, '}');
    if (t->bytes[t->size - 1] == ',') t->bytes[--t->size] = '\0';
}
