/* history.c -- a point a second, in rings. */

#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POINT_US 1000000u

/* ---- Taking -------------------------------------------------------------------------------------------- */

static uint32_t cut(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* What a process that is over showed last is not how it is. */
static bool is_alive(const snapshot* s, const board_row* row)
{
    return strcmp(row->role, "server") == 0 && row->beat_us + POINT_US > s->now_us;
}

static void take_server(history_server* server, const snapshot* s, const board_row* row, uint32_t place)
{
    bool alive = is_alive(s, row);
    if (alive) snprintf(server->name, sizeof server->name, "%s", row->name);
    server->frame_us[place] = alive ? cut(row->frame_us.recent_us) : 0;
    server->tick_us[place] = alive ? cut(row->tick_us.recent_us) : 0;
}

static history_system* system_of(history* h, const char* name)
{
    for (uint32_t i = 0; i < BOARD_SYSTEMS; i++)
    {
        history_system* system = &h->systems[i];
        if (system->name[0] == '\0') snprintf(system->name, sizeof system->name, "%s", name);
        if (strcmp(system->name, name) == 0) return system;
    }
    return NULL;
}

/* A process that was started again counts from 0 again, and takes what it had from the sum. */
static void take_system(history_system* system, uint64_t total, uint32_t place, uint64_t passed_us)
{
    uint64_t ended = total > system->total ? total - system->total : 0;
    system->ops_each_s[place] = passed_us > 0 ? cut(ended * 1000000 / passed_us) : 0;
    system->total = total;
}

void history_take(history* h, const snapshot* s)
{
    static board_row sum;
    if (h->count > 0 && s->now_us < h->taken_us + POINT_US) return;
    uint32_t place = (uint32_t)(h->count % HISTORY_POINTS);
    uint64_t passed_us = h->count > 0 ? s->now_us - h->taken_us : 0;
    for (uint32_t i = 0; i < BOARD_ROWS; i++) take_server(&h->servers[i], s, &s->rows[i], place);
    snapshot_sum(s, &sum);
    for (uint32_t i = 0; i < BOARD_SYSTEMS && sum.ops[i].name[0] != '\0'; i++)
    {
        history_system* system = system_of(h, sum.ops[i].name);
        if (system != NULL) take_system(system, sum.ops[i].value, place, passed_us);
    }
    h->taken_us = s->now_us;
    h->count++;
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void add_points(const history* h, text* t, const char* name, const uint32_t* points)
{
    uint64_t from = h->count > HISTORY_POINTS ? h->count - HISTORY_POINTS : 0;
    text_add(t, ",\"%s\":[", name);
    for (uint64_t i = from; i < h->count; i++)
        text_add(t, "%s%" PRIu32, i > from ? "," : "", points[i % HISTORY_POINTS]);
    text_add(t, "]");
}

static void add_name(text* t, const char* name, bool first)
{
    text_add(t, "%s{\"name\":", first ? "" : ",");
    text_add_json(t, name);
}

void history_add_json(const history* h, text* t)
{
    bool first = true;
    text_add(t, "{\"points\":%" PRIu64 ",\"servers\":[", h->count < HISTORY_POINTS ? h->count : HISTORY_POINTS);
    for (uint32_t i = 0; i < BOARD_ROWS; i++)
    {
        if (h->servers[i].name[0] == '\0') continue;
        add_name(t, h->servers[i].name, first);
        add_points(h, t, "frame_us", h->servers[i].frame_us);
        add_points(h, t, "tick_us", h->servers[i].tick_us);
        text_add(t, "}");
        first = false;
    }
    text_add(t, "],\"systems\":[");
    for (uint32_t i = 0; i < BOARD_SYSTEMS && h->systems[i].name[0] != '\0'; i++)
    {
        add_name(t, h->systems[i].name, i == 0);
        add_points(h, t, "ops_each_s", h->systems[i].ops_each_s);
        text_add(t, ",\"total\":%" PRIu64 "}", h->systems[i].total);
    }
    text_add(t, "]}");
}
