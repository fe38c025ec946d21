/* ears.c -- who hears a chat, and what must hold of what is heard. */

#include "ears.h"

#include <stdlib.h>
#include <string.h>

bool hall_open(hall* h, uint32_t member_count, bool stays)
{
    h->stays = stays;
    h->member_count = member_count;
    h->said = calloc(member_count, sizeof(said));
    h->known = calloc(member_count, sizeof(uint32_t));
    return h->said != NULL && h->known != NULL;
}

bool ear_open(ear* e, hall* h)
{
    e->hall = h;
    e->last = calloc(h->member_count, sizeof(uint32_t));
    return e->last != NULL;
}

void hall_close(hall* h)
{
    free(h->said);
    free(h->known);
}

void ear_close(ear* e)
{
    free(e->last);
}

void ear_enter(ear* e)
{
    e->at = 0;
    if (e->hall->stays) return;
    e->epoch = 0;
    e->heard = 0;
    e->skipped = false;
    memset(e->last, 0, e->hall->member_count * sizeof(uint32_t));
}

static void begin_anew(hall* h, uint64_t epoch)
{
    h->epoch = epoch;
    h->newest = 0;
    memset(h->lines, 0, sizeof(h->lines));
}

/* When the store was started anew, ids go on in a larger epoch. */
static bool goes_on(uint64_t* epoch, uint64_t newest, uint64_t heard_epoch, uint64_t id)
{
    if (id > newest && heard_epoch > *epoch) *epoch = heard_epoch;
    return *epoch == heard_epoch || (id <= newest && heard_epoch < *epoch);
}

/* A chat with members is never made anew. If its ids begin anew all the same, its past is lost. */
static unsigned epoch_fault(ear* e, uint64_t epoch, uint64_t id)
{
    hall* h = e->hall;
    bool first = e->epoch == 0;
    if (h->epoch == 0 || (first && !h->stays && epoch > h->epoch)) begin_anew(h, epoch);
    if (first) e->epoch = epoch;
    bool in_ear = goes_on(&e->epoch, e->heard, epoch, id);
    bool in_hall = goes_on(&h->epoch, h->newest, epoch, id);
    return in_ear && in_hall ? 0 : EAR_GAP;
}

/* In a session ids follow one another. It begins anywhere up to the first that was not heard yet. */
static unsigned place_fault(const ear* e, bool first, uint64_t id)
{
    if (e->at != 0 && id <= e->at) return EAR_TWICE;
    if (e->at != 0 && id != e->at + 1) return EAR_GAP;
    if (e->at == 0 && !first && id > e->heard + 1) return EAR_GAP;
    return 0;
}

/* What the others heard under this id; it is noted if nobody did. */
static unsigned line_fault(hall* h, uint64_t id, uint32_t member, uint32_t count)
{
    hall_line* line = &h->lines[id % HALL_LINES];
    if (id > h->newest) h->newest = id;
    if (count > h->known[member]) h->known[member] = count;
    if (line->id == id) return line->member == member && line->count == count ? 0 : EAR_DIFFERENT;
    if (line->id < id) *line = (hall_line){id, member, count};
    return 0;
}

/* last 0: this ear came when the member had spoken before, perhaps. */
static unsigned count_fault(const ear* e, uint32_t member, uint32_t count)
{
    uint32_t last = e->last[member];
    if (count > e->hall->said[member].count) return EAR_NONSENSE;
    if (last == 0) return 0;
    if (count <= last) return EAR_TWICE;
    return e->skipped || said_may_miss(&e->hall->said[member], last + 1, count - 1) ? 0 : EAR_GAP;
}

unsigned ear_hear(ear* e, uint64_t epoch, uint64_t id, uint32_t member, uint32_t count)
{
    if (member >= e->hall->member_count || count == 0 || id == 0) return EAR_NONSENSE;
    bool first = e->epoch == 0;
    bool again = !first && id <= e->heard;
    unsigned faults = epoch_fault(e, epoch, id) | place_fault(e, first, id) | line_fault(e->hall, id, member, count);
    if (!again) faults |= count_fault(e, member, count);
    e->at = id;
    if (!again)
    {
        e->heard = id;
        e->last[member] = count;
    }
    return faults;
}

unsigned ear_skip(ear* e, uint64_t epoch, uint64_t first, uint64_t last)
{
    if (first == 0 || last < first) return EAR_NONSENSE;
    bool unheard = e->epoch == 0;
    unsigned faults = epoch_fault(e, epoch, last) | place_fault(e, unheard, first);
    e->at = last;
    if (last > e->heard) e->heard = last;
    if (last > e->hall->newest) e->hall->newest = last;
    e->skipped = true;
    return faults;
}

bool ear_has_all(const ear* e)
{
    return e->epoch == 0 || e->heard == e->hall->newest;
}

bool hall_has_all(const hall* h, uint32_t member)
{
    return said_may_miss(&h->said[member], h->known[member] + 1, h->said[member].count);
}
