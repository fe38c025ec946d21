/* excuse.c -- the marks of the nemesis and of the clients' links, in an order that can be searched. */

#include "storm/nemesis.h"
#include "storm/storm.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    SUCCESSION_US = 1000000, /* from the order until the other one is the master */
    BEARABLE_US = 150000     /* of a process that stands still */
};

/* The marks of one kind, by their begin. */
typedef struct mark_list
{
    const storm_record** marks;
    size_t count;
    size_t capacity;
} mark_list;

/* When a process stood still: by the mark of its stall, or, if it was killed before it could set one, from the last
   that it noted until the kill. */
typedef struct away
{
    uint8_t process;
    bool killed;
    uint64_t from_us;
    uint64_t to_us;
} away;

static mark_list losses, clocks, refusals, moves, successions, turns;
static away* aways;
static size_t away_count;
static mark_list links[STORM_PLAYERS_MAX][STORM_CLIENTS], shakes[STORM_PLAYERS_MAX][STORM_CLIENTS];

static void append(mark_list* list, const storm_record* mark)
{
    if (list->count == list->capacity)
    {
        list->capacity = list->capacity * 2 + 64;
        list->marks = realloc(list->marks, list->capacity * sizeof(list->marks[0]));
        if (list->marks == NULL) abort();
    }
    list->marks[list->count++] = mark;
}

static int by_begin(const void* left, const void* right)
{
    const storm_record* x = *(const storm_record* const*)left;
    const storm_record* y = *(const storm_record* const*)right;
    return x->begin_us < y->begin_us ? -1 : x->begin_us > y->begin_us;
}

static void sort(mark_list* list)
{
    if (list->count > 1) qsort(list->marks, list->count, sizeof(list->marks[0]), by_begin);
}

static uint64_t end_of(const storm_record* mark)
{
    return mark->end_us == 0 ? UINT64_MAX : mark->end_us;
}

static void append_away(away a)
{
    aways = realloc(aways, (away_count + 1) * sizeof(aways[0]));
    if (aways == NULL) abort();
    aways[away_count++] = a;
}

static uint64_t last_noted(uint8_t process, uint64_t before_us)
{
    uint64_t last_us = 0;
    for (uint32_t i = 1; i <= history_count(); i++)
    {
        const storm_record* r = history_at(i);
        if (r->system == STORM_CORE || r->who.process != process) continue;
        if (r->begin_us > last_us && r->begin_us < before_us) last_us = r->begin_us;
        if (r->end_us > last_us && r->end_us < before_us) last_us = r->end_us;
    }
    return last_us;
}

/* A process that is killed notes of none of its links that it is gone: the mark of the kill does. */
static void note_kill(const storm_record* mark)
{
    append_away((away){mark->object, true, last_noted(mark->object, mark->begin_us), mark->begin_us});
    for (int i = 0; i < STORM_CLIENTS; i++) append(&links[mark->object][i], mark);
}

void excuse_prepare(void)
{
    uint32_t at = 0;
    for (const storm_record* mark; (mark = history_next(&at, STORM_CORE)) != NULL;)
    {
        if (mark->what == MARK_LOSS) append(&losses, mark);
        else if (mark->what == MARK_CLOCK) append(&clocks, mark);
        else if (mark->what == MARK_KILLED) note_kill(mark);
        else if (mark->what == MARK_STALL) append_away((away){mark->who.process, false, mark->a, end_of(mark)});
        else if (mark->what == MARK_LINK) append(&links[mark->who.process][mark->who.client], mark);
        else if (mark->what == MARK_SHAKEN) append(&shakes[mark->who.process][mark->who.client], mark);
        else if (nemesis_takes_rights(mark->what)) append(&refusals, mark);
        else if (nemesis_moves_slots(mark->what)) append(&moves, mark);
        else if (nemesis_turns_back(mark->what)) append(&turns, mark);
        else if (nemesis_replaces_master(mark->what)) append(&successions, mark);
    }
    sort(&losses);
    sort(&clocks);
    sort(&refusals);
    sort(&moves);
    sort(&turns);
    sort(&successions);
    for (int i = 0; i < STORM_PLAYERS_MAX; i++)
    {
        for (int k = 0; k < STORM_CLIENTS; k++)
        {
            sort(&links[i][k]);
            sort(&shakes[i][k]);
        }
    }
}

static bool any_touches(const mark_list* list, uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < list->count && list->marks[i]->begin_us <= to_us; i++)
    {
        if (end_of(list->marks[i]) >= from_us) return true;
    }
    return false;
}

bool excuse_loss_between(uint64_t from_us, uint64_t to_us)
{
    return any_touches(&losses, from_us, to_us);
}

bool excuse_two_masters(uint64_t from_us, uint64_t to_us)
{
    return storm.store == STORM_CLUSTER && from_us < to_us && excuse_loss_between(from_us, to_us);
}

bool excuse_may_be_lost(uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < losses.count; i++)
    {
        if (losses.marks[i]->a <= to_us && end_of(losses.marks[i]) >= from_us) return true;
    }
    return false;
}

bool excuse_clock_forward(uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < clocks.count; i++)
    {
        const storm_record* mark = clocks.marks[i];
        if (mark->begin_us <= to_us && mark->end_us >= from_us && (int64_t)mark->a > (int64_t)mark->b) return true;
    }
    return false;
}

bool excuse_clock_back(uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < clocks.count; i++)
    {
        const storm_record* mark = clocks.marks[i];
        if (mark->begin_us <= to_us && mark->end_us >= from_us && (int64_t)mark->a < (int64_t)mark->b) return true;
    }
    return false;
}

bool excuse_clock_went_back_over_loss(uint64_t from_us, uint64_t to_us)
{
    return excuse_clock_back(0, to_us) && excuse_may_be_lost(from_us, to_us);
}

bool excuse_is_back(const storm_record* op)
{
    return excuse_may_be_lost(op->begin_us, op->end_us) && excuse_loss_between(op->end_us, UINT64_MAX);
}

unsigned excuse_losses_since(uint64_t from_us)
{
    unsigned count = 0;
    for (size_t i = 0; i < losses.count; i++) count += end_of(losses.marks[i]) >= from_us ? 1 : 0;
    return count;
}

bool excuse_clock_went_back_over_flush(uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < losses.count; i++)
    {
        const storm_record* loss = losses.marks[i];
        if (loss->a == 0 && loss->begin_us <= to_us && end_of(loss) >= from_us) return excuse_clock_back(0, to_us);
    }
    return false;
}

bool excuse_process_away(uint8_t process, uint64_t from_us, uint64_t to_us, uint64_t bearable_us)
{
    for (size_t i = 0; i < away_count; i++)
    {
        const away* a = &aways[i];
        if (a->process != process || a->from_us > to_us || a->to_us < from_us) continue;
        if (a->to_us - a->from_us > bearable_us || (a->killed && a->to_us <= to_us)) return true;
    }
    return false;
}

bool excuse_process_killed(uint8_t process, uint64_t from_us, uint64_t to_us)
{
    for (size_t i = 0; i < away_count; i++)
    {
        const away* a = &aways[i];
        if (a->killed && a->process == process && a->to_us >= from_us && a->to_us <= to_us) return true;
    }
    return false;
}

uint64_t watched_between(uint64_t before_us, uint64_t after_us)
{
    uint64_t gap_us = after_us - before_us;
    return gap_us < 100000 ? gap_us : 100000;
}

uint64_t watched_within(uint32_t behind, uint8_t what, uint8_t object, uint64_t from_us, uint64_t to_us)
{
    const uint8_t system = history_at(behind)->system;
    uint64_t watched_us = 0;
    uint32_t at = behind;
    for (const storm_record* r; from_us < to_us && (r = history_next(&at, system)) != NULL;)
    {
        if (r->what != what || r->object != object || r->begin_us <= from_us) continue;
        uint64_t seen_us = r->begin_us < to_us ? r->begin_us : to_us;
        watched_us += watched_between(from_us, seen_us);
        from_us = seen_us;
    }
    return watched_us;
}

void link_longest_ready(storm_who who, uint64_t* from_us, uint64_t* to_us)
{
    const mark_list* list = &links[who.process][who.client];
    uint64_t best_from_us = *to_us, best_to_us = *to_us;
    for (size_t i = 0; i < list->count; i++)
    {
        const storm_record* mark = list->marks[i];
        if (mark->a != 1 || mark->who.life != who.life) continue;
        uint64_t begin_us = mark->begin_us > *from_us ? mark->begin_us : *from_us;
        uint64_t end_us = i + 1 < list->count ? list->marks[i + 1]->begin_us : UINT64_MAX;
        if (end_us > *to_us) end_us = *to_us;
        if (end_us <= begin_us || end_us - begin_us <= best_to_us - best_from_us) continue;
        best_from_us = begin_us;
        best_to_us = end_us;
    }
    *from_us = best_from_us;
    *to_us = best_to_us;
}

uint64_t excuse_last_loss(uint64_t from_us, uint64_t to_us)
{
    uint64_t last_us = 0;
    for (size_t i = 0; i < losses.count; i++)
    {
        const storm_record* loss = losses.marks[i];
        if (loss->a != 0 && loss->end_us >= from_us && loss->begin_us <= to_us) last_us = loss->end_us;
    }
    return last_us;
}

uint64_t excuse_next_loss(uint64_t from_us, uint64_t to_us, uint64_t behind_us)
{
    for (size_t i = 0; i < losses.count; i++)
    {
        const storm_record* loss = losses.marks[i];
        bool touches = loss->end_us >= from_us && loss->begin_us <= to_us;
        if (loss->a != 0 && touches && loss->end_us > behind_us) return loss->end_us;
    }
    return 0;
}

/* How many marks of the link there are until then: the last of them tells its state at that time. */
static size_t link_marks_until(const mark_list* list, uint64_t time_us)
{
    size_t count = 0;
    while (count < list->count && list->marks[count]->begin_us <= time_us) count++;
    return count;
}

uint64_t excuse_heard_before_loss(storm_who who)
{
    const mark_list* list = &links[who.process][who.client];
    const storm_record* loss = NULL;
    for (size_t i = 0; i < losses.count; i++)
    {
        if (losses.marks[i]->a != 0) loss = losses.marks[i];
    }
    if (loss == NULL) return 0;
    size_t i = link_marks_until(list, loss->end_us);
    bool is_new = i > 0 && list->marks[i - 1]->a == 1 && list->marks[i - 1]->begin_us >= loss->begin_us;
    if (is_new || i == list->count || list->marks[i]->begin_us > loss->end_us + 2000000) return loss->end_us;
    while (i < list->count && list->marks[i]->a != 1) i++;
    return i < list->count ? list->marks[i]->begin_us : UINT64_MAX;
}

uint64_t link_ready_since(storm_who who, uint64_t time_us)
{
    const mark_list* list = &links[who.process][who.client];
    size_t i = link_marks_until(list, time_us - 1);
    const storm_record* last = i > 0 ? list->marks[i - 1] : NULL;
    return last != NULL && last->a == 1 && last->who.life == who.life ? last->begin_us : UINT64_MAX;
}

bool link_was_made(storm_who who, uint64_t from_us, uint64_t to_us)
{
    return storm.store != STORM_CLUSTER || any_touches(&shakes[who.process][who.client], from_us, to_us);
}

bool excuse_clock_moved(uint64_t from_us, uint64_t to_us)
{
    return any_touches(&clocks, from_us, to_us);
}

bool excuse_rights_taken(uint64_t from_us, uint64_t to_us)
{
    return any_touches(&refusals, from_us, to_us);
}

bool excuse_slots_moved(uint64_t from_us, uint64_t to_us)
{
    return any_touches(&moves, from_us, to_us);
}

bool excuse_master_is_back(uint64_t from_us, uint64_t to_us)
{
    unsigned count = 0;
    from_us = from_us > SUCCESSION_US ? from_us - SUCCESSION_US : 0;
    for (size_t i = 0; i < successions.count; i++)
        count += successions.marks[i]->begin_us <= to_us && end_of(successions.marks[i]) >= from_us;
    return storm.store == STORM_CLUSTER && count >= 2 && excuse_may_be_lost(from_us, to_us);
}

/* By a loss that came of it; NULL: there was none. */
static const storm_record* succession_of(const storm_record* loss)
{
    for (size_t i = 0; i < successions.count && successions.marks[i]->begin_us <= end_of(loss); i++)
        if (end_of(successions.marks[i]) >= loss->begin_us) return successions.marks[i];
    return NULL;
}

static bool went_on(const storm_record* succession, uint64_t bit, uint64_t until_us)
{
    for (size_t i = 0; i < moves.count && moves.marks[i]->begin_us <= until_us; i++)
        if (end_of(moves.marks[i]) >= succession->begin_us && (moves.marks[i]->d & bit) != 0) return true;
    return false;
}

bool excuse_slot_went_on(const storm_record* lost, const storm_record* again, uint64_t bit)
{
    const uint64_t again_us = history_over_us(again);
    for (size_t i = 0; storm.store == STORM_CLUSTER && i < losses.count; i++)
    {
        const storm_record* loss = losses.marks[i];
        if (loss->a > history_over_us(lost) || end_of(loss) < lost->begin_us || loss->begin_us > again_us) continue;
        const storm_record* succession = succession_of(loss);
        if (succession != NULL && went_on(succession, bit, again_us)) return true;
    }
    return false;
}

/* What one master had said last is there again, and its client had asked the other one meanwhile: a failover was
   undone, or Sentinels disagreed about one. */
static bool was_led_to_and_fro(uint64_t from_us, uint64_t to_us)
{
    return any_touches(&turns, from_us, to_us) ||
           (storm.store == STORM_SENTINEL && any_touches(&successions, from_us, to_us));
}

bool excuse_ghost(storm_who who, uint64_t seen_us, uint64_t from_us, uint64_t to_us)
{
    const uint64_t begin_us = seen_us - STORM_LATEST_US;
    return excuse_process_away(who.process, from_us, to_us, BEARABLE_US) ||
           excuse_process_killed(who.process, begin_us, to_us) || excuse_rights_taken(begin_us, to_us) ||
           excuse_clock_moved(begin_us, to_us) || excuse_clock_back(begin_us - STORM_CLOCK_STEP_US, to_us) ||
           was_led_to_and_fro(begin_us, to_us);
}
