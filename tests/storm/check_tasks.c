/* check_tasks.c -- the life of every task, from its push to its end: nothing lost, nothing done by two at once. */

#include "guildhall/tasks.h"
#include "storm/storm_bell.h"
#include "storm/storm.h"
#include "storm/storm_tasks.h"
#include "storm/verdict.h"

#include <stdlib.h>

enum
{
    TOLD_LATE_US = 3000000, /* a lease: so long after the store said it, a hand-out may be told */
    HANDOUTS_MAX = 64
};

/* A hand-out as the one who got it was told. */
typedef struct task_handout
{
    uint64_t fence;
    uint64_t from_us;
    uint64_t to_us;
    uint32_t event;
    uint32_t attempt;
    bool by_hand;
    bool over;
    uint64_t action;
} task_handout;

/* All that is known of one task: its events are events[first .. end - 1], in order of time. */
typedef struct task_life
{
    const storm_record* push;
    uint32_t push_index;
    uint32_t place;
    size_t first;
    size_t end;
    task_handout handouts[HANDOUTS_MAX];
    unsigned count;
    const storm_record* left; /* in the end; NULL: it is not there */
    bool may_be_done;
    bool cancelled;     /* somebody asked for it */
    uint32_t told_done; /* the event, 0: not */
    uint32_t told_dead;
    uint32_t told_cancelled; /* the op that was told that it is over, the first of them */
} task_life;

static uint32_t* events; /* indices of records that are about a task */
static size_t event_count;

static int by_task_and_time(const void* left, const void* right)
{
    uint32_t i = *(const uint32_t*)left, k = *(const uint32_t*)right;
    const storm_record* x = history_at(i);
    const storm_record* y = history_at(k);
    if (x->about != y->about) return x->about < y->about ? -1 : 1;
    if (x->c != y->c) return x->c < y->c ? -1 : 1;
    return i < k ? -1 : i > k;
}

static void gather(void)
{
    uint32_t at = 0;
    events = calloc((size_t)history_count() + 1, sizeof events[0]);
    if (events == NULL) abort();
    event_count = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        bool of_bell = r->what >= TASKS_LIFT;
        bool of_event = r->is_event && r->what != TASKS_TROUBLE && !of_bell;
        bool of_task = of_event || r->what == TASKS_CANCEL || r->what == TASKS_REQUEUE;
        if (of_task && r->about != 0) events[event_count++] = at;
    }
    qsort(events, event_count, sizeof events[0], by_task_and_time);
}

static void add_handout(task_life* life, const storm_record* r, uint32_t index)
{
    if (life->count == HANDOUTS_MAX) return;
    task_handout* h = &life->handouts[life->count++];
    *h = (task_handout){.fence = r->a, .from_us = r->begin_us, .event = index, .attempt = (uint32_t)r->b};
    h->by_hand = r->d != 0;
    h->to_us = h->by_hand ? r->d : r->begin_us; /* a worker says when it is over; until then nothing is sure */
}

static task_handout* find_handout(task_life* life, uint64_t fence)
{
    for (unsigned i = life->count; i-- > 0;)
    {
        if (life->handouts[i].fence == fence) return &life->handouts[i];
    }
    return NULL;
}

static void end_handout(task_handout* h, const storm_record* r)
{
    if (h == NULL) return;
    h->over = true;
    h->action = r->b;
    uint64_t to_us = r->d != 0 ? r->d : r->begin_us; /* told LOST: until it was called last */
    if (!h->by_hand || to_us < h->to_us) h->to_us = to_us;
}

static bool is_told_dead(const storm_record* r)
{
    return (int64_t)r->d == GH_DEAD || ((int64_t)r->d == GH_OK && r->b == GH_TASK_ACTION_FAIL);
}

/* The last word counts: after a loss a task may come to another end. */
static void note_end(task_life* life, const storm_record* r, uint32_t index)
{
    bool done = (int64_t)r->d == GH_OK && r->b == GH_TASK_ACTION_DONE;
    bool dead = is_told_dead(r);
    life->told_done = done ? index : 0;
    life->told_dead = dead ? index : 0;
}

/* Told OK, it is over at once; told that it runs, when its worker ends it. */
static void note_cancel(task_life* life, const storm_record* r, uint32_t index)
{
    if (r->outcome != STORM_NOT_DONE) life->cancelled = true;
    if (r->outcome == STORM_DONE && (int64_t)r->d == GH_OK && life->told_cancelled == 0) life->told_cancelled = index;
}

/* Somebody may have made a dead letter of it ready again within these times. */
static bool may_have_risen(const task_life* life, uint64_t from_us, uint64_t to_us)
{
    for (size_t i = life->first; i < life->end; i++)
    {
        const storm_record* r = history_at(events[i]);
        bool may = r->what == TASKS_REQUEUE && r->outcome != STORM_NOT_DONE;
        if (r->outcome == STORM_DONE && (int64_t)r->d != GH_OK) may = false;
        if (may && r->begin_us <= to_us && history_over_us(r) >= from_us) return true;
    }
    return false;
}

static void read_event(task_life* life, const storm_record* r, uint32_t index)
{
    task_handout* h = find_handout(life, r->a);
    switch (r->what)
    {
    case TASKS_GOT: add_handout(life, r, index); break;
    case TASKS_KEPT:
        if (h != NULL && r->begin_us <= h->to_us) h->to_us = r->d;
        break;
    case TASKS_OVER:
        end_handout(h, r);
        if (r->b == GH_TASK_ACTION_DONE) life->may_be_done = true;
        break;
    case TASKS_ENDED: note_end(life, r, index); break;
    case TASKS_LEFT: life->left = r; break;
    case TASKS_CANCEL: note_cancel(life, r, index); break;
    default: break;
    }
}

/* The order in which the store handed it out. */
static int by_fence(const void* left, const void* right)
{
    const task_handout* x = left;
    const task_handout* y = right;
    return x->fence < y->fence ? -1 : x->fence > y->fence;
}

/* Fills life with the task whose events begin at *at, and moves *at behind them. */
static void read_life(task_life* life, size_t* at)
{
    const storm_record* r = history_at(events[*at]);
    *life = (task_life){.push_index = r->about, .place = (uint32_t)r->c, .push = history_at(r->about), .first = *at};
    for (; *at < event_count; (*at)++)
    {
        const storm_record* next = history_at(events[*at]);
        if (next->about != r->about || next->c != r->c) break;
        read_event(life, next, events[*at]);
    }
    life->end = *at;
    qsort(life->handouts, life->count, sizeof life->handouts[0], by_fence);
}

static bool is_stored(const storm_record* push, uint32_t place)
{
    return push->outcome == STORM_DONE && (push->b >> place & 1u) != 0;
}

/* ---- each life ------------------------------------------------------------------------------------------- */

static void check_not_done(const task_life* life)
{
    bool answered = life->push->outcome == STORM_DONE && !is_stored(life->push, life->place);
    bool was_refused = life->push->outcome == STORM_NOT_DONE && !excuse_is_back(life->push);
    if ((was_refused || answered) && (life->count != 0 || life->left != NULL))
        VIOLATION_2(life->push_index, events[life->first], "task %u of it was not stored, and is there", life->place);
}

static void check_overlap(const task_life* life)
{
    for (unsigned i = 0; i < life->count; i++)
    {
        const task_handout* x = &life->handouts[i];
        for (unsigned k = i + 1; k < life->count; k++)
        {
            const task_handout* y = &life->handouts[k];
            bool together = y->from_us < x->to_us && x->from_us < y->to_us;
            uint64_t first_us = (x->from_us < y->from_us ? x->from_us : y->from_us) - TOLD_LATE_US;
            uint64_t last_us = x->from_us > y->from_us ? x->from_us : y->from_us;
            if (!together || excuse_loss_between(first_us, last_us)) continue;
            if (excuse_clock_forward(first_us, last_us)) continue;
            VIOLATION_2(x->event, y->event, "two have task %u of #%u", life->place, life->push_index);
        }
    }
}

/* A hand-out that was neither given back nor lost to a stop counts as an attempt. A dead letter that is made ready
   again has all of them before it. */
static void check_attempts(const task_life* life)
{
    for (unsigned i = 0; i < life->count; i++)
    {
        const task_handout* h = &life->handouts[i];
        if (h->attempt < 1 || h->attempt > life->push->c)
            VIOLATION_1(h->event, "attempt %u of %llu", h->attempt, (unsigned long long)life->push->c);
        if (i == 0) continue;
        const task_handout* before = &life->handouts[i - 1];
        uint64_t since_us = before->from_us < h->from_us ? before->from_us : h->from_us;
        uint64_t last_us = h->from_us > before->from_us ? h->from_us : before->from_us;
        if (excuse_may_be_lost(since_us - TOLD_LATE_US, last_us)) continue;
        bool free_of_charge =
            before->over && (before->action == GH_TASK_ACTION_GIVE_BACK || before->action == GH_TASK_ACTION_CONTINUE);
        bool disorder = h->from_us < before->from_us && !excuse_clock_forward(since_us - TOLD_LATE_US, last_us);
        if (h->fence == before->fence || disorder)
            VIOLATION_2(before->event, h->event, "the fences of task %u go back", life->place);
        else if (may_have_risen(life, since_us - TOLD_LATE_US, last_us)) continue;
        else if (h->attempt < before->attempt + (free_of_charge ? 0u : 1u))
            VIOLATION_2(before->event, h->event, "attempt %u after attempt %u", h->attempt, before->attempt);
    }
}

/* A lease that the store's clock has skipped is over there, and its holder, who counts by its own, may hear of it after
   the end. */
static bool is_handed_after(const task_handout* handout, uint64_t end_us)
{
    return handout->from_us > end_us && !excuse_clock_forward(handout->from_us - TOLD_LATE_US, handout->from_us);
}

static void check_end(const task_life* life)
{
    uint32_t told = life->told_done != 0 ? life->told_done : life->told_dead;
    if (told == 0) return;
    uint64_t told_us = history_at(told)->begin_us;
    if (excuse_may_be_lost(told_us - 5000000, told_us)) return;
    for (unsigned i = 0; i < life->count; i++)
    {
        const task_handout* h = &life->handouts[i];
        bool risen = life->told_dead != 0 && may_have_risen(life, told_us - 5000000, h->from_us);
        if (is_handed_after(h, told_us) && !risen)
            VIOLATION_2(told, h->event, "task %u of #%u was over", life->place, life->push_index);
    }
    if (life->told_done != 0 && life->left != NULL) VIOLATION_1(told, "task %u was done, and is there", life->place);
    bool stays = life->told_dead != 0 && !life->cancelled && !may_have_risen(life, told_us - 5000000, UINT64_MAX);
    if (stays && (life->left == NULL || life->left->a != 'X'))
        VIOLATION_1(told, "task %u was a dead letter, and is none", life->place);
}

/* Whoever is handed a task has it: so one that was over is not handed to anybody. */
static void check_cancelled(const task_life* life)
{
    const storm_record* told = history_at(life->told_cancelled);
    if (life->told_cancelled == 0) return;
    if (excuse_may_be_lost(told->begin_us - STORM_LATEST_US, told->end_us))
        return; /* also that it had been handed out */
    for (unsigned i = 0; i < life->count; i++)
    {
        if (is_handed_after(&life->handouts[i], told->end_us))
            VIOLATION_2(life->told_cancelled, life->handouts[i].event, "task %u of #%u was cancelled", life->place,
                        life->push_index);
    }
    if (life->left != NULL) VIOLATION_1(life->told_cancelled, "task %u was cancelled, and is there", life->place);
}

/* A letter is of a task that was not over before somebody asked for it. */
static void check_letter(const task_life* life, const storm_record* r, uint32_t index)
{
    uint32_t told = life->told_done != 0 ? life->told_done : life->told_cancelled;
    const storm_record* end = history_at(told);
    if (r->b > life->push->c)
        VIOLATION_2(life->push_index, index, "%llu attempts of %llu", (unsigned long long)r->b,
                    (unsigned long long)life->push->c);
    if (told == 0 || end->end_us >= history_at((uint32_t)r->d)->begin_us) return;
    if (!excuse_may_be_lost(end->begin_us - 5000000, end->end_us))
        VIOLATION_2(told, index, "task %u of #%u was over, and is a dead letter", life->place, life->push_index);
}

/* A script that the server stops in its middle leaves a letter behind until somebody asks for its task again. */
static bool may_be_left_over(void)
{
    return excuse_rights_taken(0, UINT64_MAX) || excuse_loss_between(0, UINT64_MAX);
}

static void check_letters(const task_life* life)
{
    for (size_t i = life->first; i < life->end; i++)
    {
        if (history_at(events[i])->what == TASKS_LETTER) check_letter(life, history_at(events[i]), events[i]);
    }
    if (life->left == NULL || (life->left->a != 'X' && life->left->b == 1 && may_be_left_over())) return;
    if ((life->left->a == 'X') != (life->left->b == 1))
        VIOLATION_1(life->push_index, "task %u of it has state %c, and is%s among the dead letters", life->place,
                    (char)life->left->a, life->left->b == 1 ? "" : " not");
}

/* Each hand-out has a larger fence: a task that died with one fence, was made ready again, and is dead with that fence
   in the end, has never become ready. */
static void check_risen(const task_life* life)
{
    uint32_t dead = 0;
    for (size_t i = life->first; i < life->end; i++)
    {
        const storm_record* r = history_at(events[i]);
        if (r->what == TASKS_ENDED) dead = is_told_dead(r) ? events[i] : 0;
        bool risen = r->what == TASKS_REQUEUE && r->outcome == STORM_DONE && (int64_t)r->d == GH_OK;
        if (dead == 0 || !risen || life->left == NULL || life->left->a != 'X') continue;
        /* a death that was lost comes again, when the lease of before has run out */
        if (life->left->d == history_at(dead)->a && !excuse_may_be_lost(history_at(dead)->begin_us, r->end_us))
            VIOLATION_2(dead, events[i], "task %u of #%u is a dead letter still", life->place, life->push_index);
    }
}

typedef void (*life_check)(const task_life* life);

static void check_lives(const char* promise, life_check check)
{
    static task_life life;
    verdict_begin(promise);
    for (size_t at = 0; at < event_count;)
    {
        read_life(&life, &at);
        verdict_cases(1);
        check(&life);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------------- */

/* Every task that was told stored is there, or may have been ended by somebody. */
static void check_lost(void)
{
    static task_life life;
    uint8_t* accounted = calloc((size_t)history_count() + 1, 1); /* bits by place */
    uint32_t at = 0;
    if (accounted == NULL) abort();
    verdict_begin("tasks: what was told stored is done, cancelled, or still there");
    for (size_t i = 0; i < event_count;)
    {
        read_life(&life, &i);
        if (life.left != NULL || life.may_be_done || life.cancelled)
            accounted[life.push_index] = (uint8_t)(accounted[life.push_index] | 1u << life.place);
    }
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what != TASKS_PUSH || r->is_event) continue;
        for (uint32_t place = 0; place < r->a; place++)
        {
            verdict_cases(1);
            if (!is_stored(r, place) || ((unsigned)accounted[at] >> place & 1u) != 0) continue;
            if (!excuse_may_be_lost(r->begin_us, history_over_us(r))) VIOLATION_1(at, "task %u of it is lost", place);
        }
    }
    free(accounted);
}

/* Who has that client id. */
static bool find_who(uint64_t client, storm_who* who)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if ((r->what == TASKS_TAKE || r->what == TASKS_WORK) && !r->is_event && r->b == client)
        {
            *who = r->who;
            return true;
        }
    }
    return false;
}

/* A take of that client that ended without an answer explains a hand-out that nobody was told of; so does one that was
   answered, if the store may have forgotten that before a copy of it came; and so does the end of its worker, which may
   have had a take under way, of which a copy came late, or gave it back unseen as it was leaving: then it ends a round
   trip after it was seen last. */
static bool explains(uint64_t client, uint64_t from_us, uint64_t to_us)
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->begin_us > to_us) break;
        bool is_worker = r->b == client && r->what == TASKS_WORK && !r->is_event;
        if (is_worker && r->end_us + STORM_LATEST_US >= from_us && r->end_us <= to_us + STORM_LATEST_US) return true;
        if (r->b != client || (r->what != TASKS_TAKE && r->what != TASKS_TROUBLE)) continue;
        bool answered =
            r->what == TASKS_TAKE && r->end_us != 0 &&
            (r->status == GH_OK || r->status == GH_EMPTY || r->status == GH_LIMITED || r->status == GH_PAUSED);
        bool late = r->end_us == 0 || r->end_us + STORM_LATEST_US > from_us;
        if (late && (!answered || excuse_loss_between(r->begin_us, from_us))) return true;
    }
    return false;
}

/* When a hand-out was made at the latest: it was seen, or somebody had got a later one, or the store's clock came to
   its fence. Who looks on sees nothing where the server stands still. */
static uint64_t made_until(uint64_t fence, uint64_t seen_us)
{
    const uint64_t fence_us = storm.store_start_us == 0 ? seen_us : fence - storm.store_start_us;
    uint32_t at = 0;
    if (fence_us < seen_us) seen_us = fence_us;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL && r->begin_us < seen_us;)
        if (r->what == TASKS_GOT && r->a > fence) return r->begin_us;
    return seen_us;
}

static void judge_sight(task_life* life, uint32_t first, uint32_t last, uint64_t watched_us)
{
    const storm_record* r = history_at(first);
    uint64_t from_us = r->begin_us, to_us = history_at(last)->begin_us;
    storm_who who;
    if (watched_us < STORM_GHOST_US) return;
    verdict_cases(1);
    if (find_handout(life, r->a) != NULL || !find_who(r->b, &who)) return;
    if (explains(r->b, made_until(r->a, from_us), to_us)) return; /* it may have been seen late */
    link_longest_ready(who, &from_us, &to_us);
    if (watched_within(first, TASKS_SEEN, r->object, from_us, to_us) < STORM_GHOST_US) return;
    if (excuse_ghost(who, r->begin_us, from_us, to_us)) return;
    if (excuse_slots_moved(r->begin_us, to_us)) return; /* who asks again is told to wait */
    VIOLATION_1(first, "task %u of #%u is handed out to process %u, life %u, client %u, which does not know of it",
                life->place, life->push_index, who.process, who.life, who.client);
}

/* Sights of one hand-out lie one behind the other. */
static void check_ghosts(void)
{
    static task_life life;
    verdict_begin("tasks: no task is handed out to somebody who does not know of it");
    for (size_t at = 0; at < event_count;)
    {
        uint32_t first = 0, last = 0;
        uint64_t watched_us = 0;
        read_life(&life, &at);
        for (size_t i = life.first; i < life.end; i++)
        {
            const storm_record* r = history_at(events[i]);
            if (r->what != TASKS_SEEN) continue;
            bool same = first != 0 && history_at(first)->a == r->a;
            if (!same && first != 0) judge_sight(&life, first, last, watched_us);
            watched_us = same ? watched_us + watched_between(history_at(last)->begin_us, r->begin_us) : 0;
            if (!same) first = events[i];
            last = events[i];
        }
        if (first != 0) judge_sight(&life, first, last, watched_us);
    }
}

static void check_counted(void)
{
    uint64_t left[TASKS_QUEUES] = {0};
    uint32_t at = 0;
    verdict_begin("tasks: in the end the queues can be counted");
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what == TASKS_LEFT) left[r->object]++;
    }
    at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_tasks)) != NULL;)
    {
        if (r->what != TASKS_COUNTED) continue;
        verdict_cases(1);
        if (r->outcome != STORM_DONE || r->a < left[r->object])
            VIOLATION_1(at, "counts %llu stored, and %llu are", (unsigned long long)r->a,
                        (unsigned long long)left[r->object]);
    }
}

void check_tasks(void)
{
    gather();
    check_lives("tasks: a push that was not done is not there", check_not_done);
    check_lives("tasks: no two have a task at once", check_overlap);
    check_lives("tasks: each hand-out is a new attempt with a larger fence", check_attempts);
    check_lives("tasks: what is over stays over", check_end);
    check_lives("tasks: what was told cancelled is never handed out again", check_cancelled);
    check_lives("tasks: a dead letter is of a task that is not over", check_letters);
    check_lives("tasks: what was told requeued is no dead letter any more", check_risen);
    check_lost();
    check_ghosts();
    check_counted();
    check_bell();
    free(events);
}
