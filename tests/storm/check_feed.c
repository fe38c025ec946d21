/* check_feed.c -- what the players of a feed hear: in order, each message once, and none is left out that is there in
   the end and came after they had joined. */

#include "storm/talk.h"
#include "storm/verdict.h"

#include <stdlib.h>

/* Something about a player of a feed in a chat: it joined, left, or heard a message. */
typedef struct feed_sight
{
    uint64_t listener; /* one player in one chat, in one life of its client */
    uint64_t epoch;
    uint64_t id;
    uint32_t record;
    uint8_t what;
} feed_sight;

static feed_sight* sights;
static feed_sight* heard; /* of one listener, by epoch and id */
static size_t sight_count, heard_count;
static feed_sight* lefts[TALK_NAMES]; /* what is there in the end */
static size_t left_counts[TALK_NAMES];

static uint64_t listener_of(const storm_record* r)
{
    uint64_t who = (uint64_t)r->who.life << 16 | (uint64_t)r->who.process << 8 | r->who.client;
    return who << 16 | talk_listener_player(r->d) << 8 | r->object;
}

static int by_listener(const void* left, const void* right)
{
    const feed_sight* x = left;
    const feed_sight* y = right;
    if (x->listener != y->listener) return x->listener < y->listener ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static int by_place(const void* left, const void* right)
{
    const feed_sight* x = left;
    const feed_sight* y = right;
    if (x->epoch != y->epoch) return x->epoch < y->epoch ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void gather(void)
{
    uint32_t at = 0;
    size_t room = (size_t)history_count() + 1;
    sights = calloc(room, sizeof sights[0]);
    heard = calloc(room, sizeof heard[0]);
    if (sights == NULL || heard == NULL) abort();
    for (int i = 0; i < TALK_NAMES; i++)
    {
        lefts[i] = calloc(TALK_KEEP * 2, sizeof lefts[0][0]);
        if (lefts[i] == NULL) abort();
    }
    for (const storm_record* r; (r = history_next(&at, STORM_chat)) != NULL;)
    {
        feed_sight sight = {.epoch = r->a, .id = r->b, .record = at, .what = r->what};
        if (r->what == TALK_LEFT && left_counts[r->object] < TALK_KEEP * 2)
            lefts[r->object][left_counts[r->object]++] = sight;
        if (r->what != TALK_HEARD && r->what != TALK_ENTER && r->what != TALK_DEPART) continue;
        sight.listener = listener_of(r);
        sights[sight_count++] = sight;
    }
    if (sight_count > 1) qsort(sights, sight_count, sizeof sights[0], by_listener);
}

/* The sights of one listener from there on. */
static size_t count_of_one(size_t from)
{
    size_t to = from;
    while (to < sight_count && sights[to].listener == sights[from].listener) to++;
    return to - from;
}

/* Within one feed. Who has left and joined again is told by the chat where it stands; so is who was a member before a
   loss and is none after it. */
static void check_order_of(const feed_sight* all, size_t count)
{
    const feed_sight* before = NULL;
    for (size_t i = 0; i < count; i++)
    {
        const feed_sight* sight = &all[i];
        if (sight->what == TALK_DEPART) before = NULL;
        if (sight->what != TALK_HEARD) continue;
        verdict_cases(1);
        const storm_record* now = history_at(sight->record);
        const storm_record* old = before == NULL ? NULL : history_at(before->record);
        if (old != NULL && old->d == now->d && by_place(before, sight) >= 0 &&
            !excuse_may_be_lost(old->begin_us - 5000000, now->begin_us))
            VIOLATION_2(before->record, sight->record, "epoch %llu id %llu after epoch %llu id %llu",
                        (unsigned long long)sight->epoch, (unsigned long long)sight->id,
                        (unsigned long long)before->epoch, (unsigned long long)before->id);
        before = sight;
    }
}

/* The first join after the last leave that the store still knows of. NULL: it may be no member. */
static const feed_sight* find_join(const feed_sight* all, size_t count)
{
    const feed_sight* join = NULL;
    for (size_t i = 0; i < count; i++)
    {
        const storm_record* r = history_at(all[i].record);
        if (all[i].what == TALK_DEPART) join = NULL;
        if (all[i].what != TALK_ENTER || join != NULL || r->outcome != STORM_DONE) continue;
        if (!excuse_may_be_lost(r->begin_us, r->end_us)) join = &all[i];
    }
    return join;
}

/* The last that it was told before the last loss. What lay before that may have been trimmed already when it came to
   it, and the loss has brought it back. */
static const feed_sight* find_passed(const feed_sight* all, size_t count)
{
    uint64_t told_us = excuse_heard_before_loss(history_at(all[0].record)->who);
    const feed_sight* passed = NULL;
    for (size_t i = 0; i < count; i++)
    {
        if (all[i].what != TALK_HEARD || history_at(all[i].record)->begin_us >= told_us) continue;
        if (passed == NULL || by_place(passed, &all[i]) < 0) passed = &all[i];
    }
    return passed;
}

/* A copy that came when all feeds had ended: of a send whose sender does not know what has become of it, or who was
   told of another place, which was lost. */
static bool may_be_ancient(const feed_sight* left)
{
    const storm_record* send = history_at(history_at(left->record)->about);
    return storm.ancient && (send->outcome != STORM_DONE || send->b != left->epoch);
}

/* With a feed that was cut off, up to the last that it heard. */
static void check_all_of(const feed_sight* all, size_t count)
{
    const feed_sight* join = find_join(all, count);
    const feed_sight* passed = find_passed(all, count);
    const storm_record* first = history_at(all[0].record);
    uint8_t chat = first->object;
    heard_count = 0;
    for (size_t i = 0; i < count; i++)
    {
        if (all[i].what == TALK_HEARD) heard[heard_count++] = all[i];
    }
    if (heard_count > 1) qsort(heard, heard_count, sizeof heard[0], by_place);
    if (join == NULL) return;
    bool whole = history_at(history_at(join->record)->about)->d == 1;
    for (size_t i = 0; i < left_counts[chat]; i++)
    {
        const feed_sight* left = &lefts[chat][i];
        if (by_place(left, join) <= 0 || may_be_ancient(left)) continue;
        if (passed != NULL && by_place(left, passed) < 0) continue;
        if (!whole && (heard_count == 0 || by_place(left, &heard[heard_count - 1]) > 0)) continue;
        verdict_cases(1);
        if (heard_count == 0 || bsearch(left, heard, heard_count, sizeof heard[0], by_place) == NULL)
            VIOLATION_2(join->record, left->record, "listener %llx never heard it",
                        (unsigned long long)all[0].listener);
    }
}

void check_feed(void)
{
    gather();
    verdict_begin("chat: a feed tells each message once, and in order");
    for (size_t i = 0; i < sight_count; i += count_of_one(i)) check_order_of(&sights[i], count_of_one(i));
    verdict_begin("chat: what is there in the end was heard by each feed whose player had joined before");
    for (size_t i = 0; i < sight_count; i += count_of_one(i)) check_all_of(&sights[i], count_of_one(i));
    for (int i = 0; i < TALK_NAMES; i++) free(lefts[i]);
    free(sights);
    free(heard);
}
