/* check_files.c -- what a reader was told is whole is what was sent, no file goes before all have read it or somebody
   removes it, and no sender is turned away by one who has left. */

#include "guildhall/status.h"
#include "storm/storm.h"
#include "storm/storm_files.h"
#include "storm/verdict.h"

#include <stdlib.h>

static void check_bytes(void)
{
    uint32_t at = 0;
    verdict_begin("files: what was read whole is what was sent");
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what != FILES_READ || r->about == 0) continue;
        verdict_cases(1);
        const storm_record* send = history_at(r->about);
        if (send->system != STORM_files || send->what != FILES_SEND)
            VIOLATION_1(at, "%s", "a file that nobody has sent");
        else if (r->b != 0 || (r->d == 1 && r->a != send->a))
            VIOLATION_2(r->about, at, "%llu pieces of the %llu bytes that came are not as they were sent",
                        (unsigned long long)r->b, (unsigned long long)r->a);
    }
}

static void check_there(void)
{
    uint8_t* done = calloc((size_t)history_count() + 1, 1); /* bits of readers that may have said done; all: removed */
    uint32_t at = 0;
    if (done == NULL) abort();
    verdict_begin("files: what was sent is there until all have read it");
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what == FILES_READ && r->about != 0 && r->d == 1)
            done[r->about] = (uint8_t)(done[r->about] | 1u << (r->c & 7u));
        if (r->what == FILES_REMOVE && r->outcome != STORM_NOT_DONE) done[r->about] = (1u << FILES_READERS) - 1u;
    }
    at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what != FILES_LOOK || r->outcome != STORM_DONE) continue;
        verdict_cases(1);
        const storm_record* send = history_at(r->about);
        uint8_t by = done[files_begun_by(r->about)];
        bool all = by == (1u << FILES_READERS) - 1u;
        if (r->a == 0 && !all && !excuse_may_be_lost(send->begin_us, send->end_us))
            VIOLATION_1(r->about, "it is gone, and only readers 0x%x were done", by);
    }
    free(done);
}

/* Somebody may have removed it until then. */
static bool may_be_removed(uint32_t file, uint64_t until_us)
{
    uint32_t at = file;
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL && r->begin_us <= until_us;)
        if (r->what == FILES_REMOVE && r->about == file && r->outcome != STORM_NOT_DONE) return true;
    return false;
}

/* Whoever goes on with a file takes it from who has begun it, and keeps it: that one does not go on. */
static void check_senders(void)
{
    uint32_t at = 0;
    verdict_begin("files: who goes on with a file is not turned away by a late copy of who has begun it");
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what != FILES_SEND || r->about == 0) continue;
        const storm_record* first = history_at(r->about);
        verdict_cases(1);
        bool had_left = (first->d & 2) != 0 && first->end_us != 0 && first->end_us <= r->begin_us;
        if (r->status == GH_LOST && had_left && !excuse_may_be_lost(first->begin_us, r->end_us) &&
            !may_be_removed(r->about, r->end_us))
            VIOLATION_2(r->about, at, "%s", "nobody else sends it");
    }
}

/* 0: there was none. */
static uint32_t last_sight_before(uint32_t index)
{
    while (--index > 0)
    {
        const storm_record* r = history_at(index);
        if (r->system == STORM_files && r->what == FILES_CHANNEL) break;
    }
    return index;
}

/* From the last sight before it to the first behind it, the channel had files, and had not given the number that this
   list begins behind. A sight in its middle does not tell: it may have been answered before that. Nor does one behind a
   loss of after its begin: the number may have been there when it was answered. */
static bool is_older_than(uint32_t index)
{
    const storm_record* list = history_at(index);
    uint32_t at = last_sight_before(index);
    if (at-- == 0) return false;
    unsigned sights = 0;
    uint64_t before_us = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what != FILES_CHANNEL) continue;
        bool gap = sights > 0 && watched_between(before_us, r->begin_us) < r->begin_us - before_us;
        if (gap || r->a >= list->a || r->b == 0) return false;
        before_us = r->begin_us;
        sights++;
        if (r->begin_us > list->end_us) return sights > 1 && !excuse_loss_between(list->begin_us, r->begin_us);
    }
    return false;
}

/* Who asks for what is behind a number that the store has lost, hears of all files that are there. */
static void check_lists(void)
{
    uint32_t at = 0;
    verdict_begin("files: whoever knows a number that the store has lost is told of all files");
    for (const storm_record* r; (r = history_next(&at, STORM_files)) != NULL;)
    {
        if (r->what != FILES_LIST || r->a == 0) continue;
        verdict_cases(1);
        if (r->status == GH_EMPTY && is_older_than(at)) VIOLATION_1(at, "%s", "told of none, and there are some");
    }
}

void check_files(void)
{
    check_bytes();
    check_there();
    check_senders();
    check_lists();
}
