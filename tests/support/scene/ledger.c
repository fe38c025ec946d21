/* ledger.c -- a table of the ops that were begun, by their addresses. */

#include "support/scene/ledger.h"

#include "support/cleanup.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ledger* ledger_new(void)
{
    ledger* self = calloc(1, sizeof(*self));
    if (self == NULL) abort();
    cleanup_add(free, self);
    return self;
}

static void fault(ledger* self, const gh_trace_event* event, const char* what)
{
    if (self->faults++ > 0) return;
    snprintf(self->first_fault, sizeof(self->first_fault), "event %llu, kind %d of a %s: %s",
             (unsigned long long)self->events, (int)event->kind, event->system == NULL ? "?" : event->system, what);
}

static ledger_entry* find(ledger* self, const void* op)
{
    for (uint32_t i = self->open_count; i-- > 0;)
        if (self->open[i].op == op) return &self->open[i];
    return NULL;
}

static void begin(ledger* self, const gh_trace_event* event)
{
    self->begun++;
    if (find(self, event->op) != NULL) fault(self, event, "begins a second time");
    else if (self->open_count == LEDGER_OPEN_MAX) fault(self, event, "one more than the ledger can hold");
    else self->open[self->open_count++] = (ledger_entry){event->op, event->system, 0, 0};
}

static void end(ledger* self, const gh_trace_event* event, ledger_entry* entry)
{
    self->ended++;
    if (event->status == GH_UNKNOWN) self->ended_unknown++;
    if (event->status == GH_PENDING) fault(self, event, "ends without a status");
    self->last_ended = event->op;
    self->last_status = event->status;
    *entry = self->open[--self->open_count];
}

void ledger_trace(void* context, const gh_trace_event* event)
{
    ledger* self = context;
    ledger_entry* entry;
    self->events++;
    if (event->now_us < self->last_us) fault(self, event, "time goes back");
    self->last_us = event->now_us;
    if (event->kind != GH_TRACE_REPLY && event->elapsed_us != 0) fault(self, event, "only replies take time");
    if (event->kind != GH_TRACE_END && event->kind != GH_TRACE_TASK && event->status != GH_PENDING)
        fault(self, event, "a status before the end");
    if ((event->kind == GH_TRACE_TASK) != (event->queue.size > 0))
        fault(self, event, "tasks have a queue, and nothing else");
    if (event->kind == GH_TRACE_BEGIN)
    {
        begin(self, event);
        return;
    }
    entry = find(self, event->op);
    if (entry == NULL)
    {
        fault(self, event, "of an op that is not open");
        return;
    }
    if (event->system == NULL || strcmp(event->system, entry->system) != 0) fault(self, event, "changes its system");
    if (event->kind == GH_TRACE_SENT) entry->sent++, self->sent++;
    if (event->kind == GH_TRACE_REPLY) entry->replies++, self->replies++;
    if (entry->replies > entry->sent) fault(self, event, "more replies than requests");
    if (event->kind == GH_TRACE_END) end(self, event, entry);
}

void ledger_assert_sound(const ledger* self)
{
    if (self->faults > 0) fail_msg("%llu faults, the first: %s", (unsigned long long)self->faults, self->first_fault);
}

void ledger_assert_closed(const ledger* self)
{
    ledger_assert_sound(self);
    assert_int_equal(self->open_count, 0);
    assert_int_equal(self->begun, self->ended);
}
