/* events.c -- a heap of events by their time. */

#include "simulator/events.h"

#include "storm/history.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct planned_event
{
    uint64_t at_us;
    uint64_t order;
    void (*call)(void* context, uint64_t x);
    void* context;
    uint64_t x;
} planned_event;

static struct
{
    uint64_t now_us;
    uint64_t planned; /* so many so far */
    planned_event* heap;
    size_t count;
    size_t room;
} events;

void events_open(uint64_t now_us)
{
    events.now_us = now_us;
    events.count = 0;
    events.planned = 0;
}

static int comes_before(const planned_event* x, const planned_event* y)
{
    return x->at_us != y->at_us ? x->at_us < y->at_us : x->order < y->order;
}

static void make_room(void)
{
    if (events.count < events.room) return;
    events.room = events.room * 2 + 64;
    events.heap = realloc(events.heap, events.room * sizeof events.heap[0]);
    if (events.heap == NULL) abort();
}

void events_at(uint64_t at_us, void (*call)(void* context, uint64_t x), void* context, uint64_t x)
{
    planned_event event = {at_us > events.now_us ? at_us : events.now_us, events.planned++, call, context, x};
    make_room();
    size_t at = events.count++;
    for (size_t above; at > 0 && comes_before(&event, &events.heap[above = (at - 1) / 2]); at = above)
        events.heap[at] = events.heap[above];
    events.heap[at] = event;
}

static planned_event take_first(void)
{
    planned_event first = events.heap[0];
    planned_event last = events.heap[--events.count];
    size_t at = 0;
    for (size_t below; (below = at * 2 + 1) < events.count; at = below)
    {
        if (below + 1 < events.count && comes_before(&events.heap[below + 1], &events.heap[below])) below++;
        if (!comes_before(&events.heap[below], &last)) break;
        events.heap[at] = events.heap[below];
    }
    events.heap[at] = last;
    return first;
}

uint64_t events_next(void)
{
    return events.count == 0 ? UINT64_MAX : events.heap[0].at_us;
}

void events_run(uint64_t until_us)
{
    while (events.count > 0 && events.heap[0].at_us <= until_us)
    {
        planned_event event = take_first();
        if (event.at_us > events.now_us) events.now_us = event.at_us;
        event.call(event.context, event.x);
    }
    if (until_us > events.now_us) events.now_us = until_us;
}

uint64_t history_now(void)
{
    return events.now_us;
}

void history_pause(uint64_t us)
{
    events_run(events.now_us + us);
}
