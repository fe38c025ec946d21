/* history.c -- the table of records. */

#include "storm/history.h"

#include "storm/storm.h"

#include <stdatomic.h>
#include <stdio.h>

struct history_table
{
    _Atomic uint32_t count;
    uint32_t capacity;
    uint64_t zero_us; /* times are shown from here on */
    storm_record records[];
};

static history_table* table;

size_t history_size(uint32_t capacity)
{
    return sizeof(history_table) + ((size_t)capacity + 1) * sizeof(storm_record);
}

void history_begin_table(void* memory, uint32_t capacity)
{
    table = memory;
    table->capacity = capacity;
    table->zero_us = history_now();
}

void history_use_table(void* memory)
{
    table = memory;
}

/* A record of its own, zero as the kernel gave it. */
static uint32_t take(void)
{
    if (atomic_load_explicit(&table->count, memory_order_relaxed) > table->capacity) return 0;
    uint32_t index = atomic_fetch_add(&table->count, 1) + 1;
    return index <= table->capacity ? index : 0;
}

uint32_t history_begin(storm_who who, uint8_t system, uint8_t what, uint8_t object)
{
    uint32_t index = take();
    if (index == 0) return 0;
    storm_record* record = &table->records[index];
    record->who = who;
    record->system = system;
    record->what = what;
    record->object = object;
    record->begin_us = history_now();
    return index;
}

void history_end(uint32_t op, storm_outcome outcome, int status)
{
    if (op == 0) return;
    storm_record* record = &table->records[op];
    record->status = (int16_t)status;
    record->outcome = (uint8_t)outcome;
    atomic_thread_fence(memory_order_release);
    record->end_us = history_now();
}

uint32_t history_event(storm_who who, storm_event event)
{
    return history_event_at(who, event, history_now());
}

uint32_t history_event_at(storm_who who, storm_event event, uint64_t at_us)
{
    uint32_t index = take();
    if (index == 0) return 0;
    storm_record* record = &table->records[index];
    record->who = who;
    record->system = event.system;
    record->what = event.what;
    record->object = event.object;
    record->about = event.about;
    record->a = event.a;
    record->b = event.b;
    record->c = event.c;
    record->d = event.d;
    record->is_event = true;
    record->begin_us = at_us;
    record->end_us = at_us;
    return index;
}

storm_record* history_at(uint32_t index)
{
    return &table->records[index];
}

uint32_t history_count(void)
{
    uint32_t count = atomic_load(&table->count);
    return count < table->capacity ? count : table->capacity;
}

/* What was begun is told and counted to its end, and in the end all is looked at: a third of the table is for that. */
bool history_is_full(void)
{
    return history_count() >= table->capacity / 3 * 2;
}

bool history_has_overflowed(void)
{
    return atomic_load(&table->count) > table->capacity;
}

uint64_t history_over_us(const storm_record* op)
{
    bool known = op->end_us != 0 && (op->outcome == STORM_DONE || op->outcome == STORM_NOT_DONE);
    return known ? op->end_us : UINT64_MAX;
}

const storm_record* history_next(uint32_t* at, uint8_t system)
{
    uint32_t count = history_count();
    while (*at < count)
    {
        const storm_record* record = &table->records[++*at];
        /* Without a time: taken by a process that was killed before it wrote it. */
        if (record->system == system && record->begin_us != 0) return record;
    }
    return NULL;
}

const char* history_line(uint32_t index)
{
    static char lines[8][320];
    static unsigned next;
    static const char* const outcomes[] = {"open", "done", "not done", "unknown"};
    char* line = lines[next++ % 8];
    const storm_record* r = &table->records[index];
    const storm_system* system = storm_system_of(r->system);
    double begin = (double)(int64_t)(r->begin_us - table->zero_us) / 1e6;
    double end = r->end_us == 0 ? -1.0 : (double)(int64_t)(r->end_us - table->zero_us) / 1e6;
    const char* name = system == NULL ? "storm" : system->name;
    const char* what = system == NULL ? storm_mark_name(r->what) : system->whats[r->what];
    (void)snprintf(lines[(next - 1) % 8], sizeof lines[0],
                   "#%u %.6f..%.6f s process %u life %u client %u: %s %s %u: %s %s"
                   " a=%llu b=%llu c=%llu d=%llu about #%u",
                   index, begin, end, r->who.process, r->who.life, r->who.client, name, what, r->object,
                   r->is_event ? "event" : outcomes[r->outcome & 3u],
                   r->is_event || r->end_us == 0 ? "" : gh_status_name((gh_status)r->status), (unsigned long long)r->a,
                   (unsigned long long)r->b, (unsigned long long)r->c, (unsigned long long)r->d, r->about);
    return line;
}
