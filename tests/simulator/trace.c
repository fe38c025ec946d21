/* trace.c -- lines with their times, put in order. */

#include "simulator/trace.h"

#include "simulator/scripts.h"
#include "storm/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    LINE_SIZE = 1000,
    TEXT_MOST = 48 /* of a word */
};

typedef struct trace_line
{
    uint64_t at_us;
    size_t order;
    char* text;
} trace_line;

static struct
{
    bool on;
    uint64_t begin_us;
    trace_line* lines;
    size_t count;
    size_t room;
} trace;

/* A line that is being written. */
typedef struct trace_text
{
    char bytes[LINE_SIZE];
    size_t size;
} trace_text;

void trace_begin(void)
{
    trace.on = true;
    trace.begin_us = history_now();
}

bool trace_is_on(void)
{
    return trace.on;
}

static void add_line(uint64_t at_us, const char* text)
{
    if (trace.count == trace.room)
    {
        trace.room = trace.room * 2 + 1024;
        trace.lines = realloc(trace.lines, trace.room * sizeof trace.lines[0]);
        if (trace.lines == NULL) abort();
    }
    char* copy = malloc(strlen(text) + 1);
    if (copy == NULL) abort();
    memcpy(copy, text, strlen(text) + 1);
    trace.lines[trace.count] = (trace_line){at_us, trace.count, copy};
    trace.count++;
}

/* ---- words ------------------------------------------------------------------------------------------------ */

static void say(trace_text* text, const char* bytes, size_t size)
{
    if (size > LINE_SIZE - 1 - text->size) size = LINE_SIZE - 1 - text->size;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

static void say_word(trace_text* text, const char* bytes, size_t size)
{
    const char* script = size == SCRIPTS_DIGEST_SIZE ? scripts_name(bytes) : NULL;
    if (script != NULL)
    {
        say(text, script, strlen(script));
        return;
    }
    for (size_t i = 0; i < size && i < TEXT_MOST; i++)
    {
        bool plain = bytes[i] > ' ' && bytes[i] <= '~';
        say(text, plain ? &bytes[i] : "_", 1);
    }
    if (size > TEXT_MOST) say(text, "...", 3);
    if (size == 0) say(text, "\"\"", 2);
}

/* One value as it is on the wire, and all that it holds; returns where the next one begins, NULL at the end. */
static const char* say_value(trace_text* text, const char* at, const char* end)
{
    const char* line = at + 1;
    const char* stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    if (stop == NULL) return NULL;
    long count = strtol(line, NULL, 10);
    const char* next = stop + 1;
    if (*at == '$' && count >= 0)
    {
        if (count + 2 > end - next) return NULL;
        say_word(text, next, (size_t)count);
        return next + count + 2;
    }
    if (*at == '*' && count >= 0)
    {
        say(text, "[", 1);
        for (long i = 0; i < count && next != NULL; i++)
        {
            if (i > 0) say(text, " ", 1);
            next = say_value(text, next, end);
        }
        say(text, "]", 1);
        return next;
    }
    if (*at == '$' || *at == '*') say(text, "nil", 3);
    else say(text, at, (size_t)(stop - at) - 1);
    return next;
}

void trace_request(const char* who, const char* request, size_t size, const char* reply, size_t reply_size)
{
    trace_text text = {.size = 0};
    say(&text, who, strlen(who));
    say(&text, " ", 1);
    (void)say_value(&text, request, request + size);
    say(&text, " -> ", 4);
    if (reply_size == 0) say(&text, "(nothing)", 9);
    (void)say_value(&text, reply, reply + reply_size);
    add_line(history_now(), text.bytes);
}

/* ---- written ---------------------------------------------------------------------------------------------- */

static int by_time(const void* left, const void* right)
{
    const trace_line* x = left;
    const trace_line* y = right;
    if (x->at_us != y->at_us) return x->at_us < y->at_us ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* An op has two lines, one where it begins and one where it ends. */
static void add_records(void)
{
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        char line[LINE_SIZE];
        (void)snprintf(line, sizeof line, "%s%s", r->is_event ? "" : "begins ", history_line(i));
        add_line(r->begin_us, line);
        (void)snprintf(line, sizeof line, "ends   %s", history_line(i));
        if (!r->is_event && r->end_us != 0) add_line(r->end_us, line);
    }
}

void trace_write(const char* path)
{
    FILE* file = fopen(path, "w");
    if (file == NULL)
    {
        perror(path);
        return;
    }
    add_records();
    qsort(trace.lines, trace.count, sizeof trace.lines[0], by_time);
    for (size_t i = 0; i < trace.count; i++)
        fprintf(file, "%12.6f %s\n", (double)(int64_t)(trace.lines[i].at_us - trace.begin_us) / 1e6,
                trace.lines[i].text);
    (void)fclose(file);
}
