/* check_talk.c -- messages: each once, under one id, in one order, and gone only when somebody had them. */

#include "storm/talk.h"
#include "storm/verdict.h"

#include <stdlib.h>
#include <string.h>

enum
{
    EPOCHS_KNOWN = 32 /* by their names: what is of one before them is told with the oldest, see KEYS.md */
};

/* A post as somebody saw it, or as its sender was told. */
typedef struct talk_sight
{
    uint64_t epoch;
    uint64_t id;
    uint32_t push;
    uint32_t record;
    uint8_t post;
    uint8_t object;
    uint8_t what; /* TALK_PUSH: its sender was told */
} talk_sight;

static talk_sight* sights;
static size_t sight_count;

static void add(const storm_record* r, uint32_t index, uint32_t push, uint8_t post, uint64_t id)
{
    talk_sight* sight = &sights[sight_count++];
    *sight = (talk_sight){.push = push, .record = index, .post = post, .object = r->object, .what = r->what, .id = id};
    sight->epoch = r->what == TALK_PUSH ? r->b : r->a;
}

static void gather(uint8_t system)
{
    uint32_t at = 0;
    sight_count = 0;
    sights = calloc((size_t)history_count() * 2 + 64, sizeof sights[0]);
    if (sights == NULL) abort();
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        bool seen = r->what == TALK_GOT || r->what == TALK_LEFT || r->what == TALK_HEARD;
        if (seen) add(r, at, r->about, (uint8_t)r->c, r->b);
        if (r->what != TALK_PUSH || r->outcome != STORM_DONE) continue;
        uint64_t id = r->c;
        for (uint8_t post = 0; post < r->a; post++)
        {
            if ((r->d >> post & 1u) != 0) add(r, at, at, post, id++);
        }
    }
}

static int by_id(const void* left, const void* right)
{
    const talk_sight* x = left;
    const talk_sight* y = right;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    if (x->epoch != y->epoch) return x->epoch < y->epoch ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_push(const void* left, const void* right)
{
    const talk_sight* x = left;
    const talk_sight* y = right;
    if (x->push != y->push) return x->push < y->push ? -1 : 1;
    if (x->post != y->post) return x->post < y->post ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

static bool may_be_lost(const storm_record* push)
{
    return excuse_may_be_lost(push->begin_us, history_over_us(push));
}

/* ---- ids ------------------------------------------------------------------------------------------------- */

/* Each began an epoch of the mailbox or chat that it had, while both pushes were under way. */
static bool may_be_of_two_masters(const storm_record* one, const storm_record* other, uint64_t epoch)
{
    const uint64_t one_us = history_over_us(one), other_us = history_over_us(other);
    const uint64_t from_us = one->begin_us > other->begin_us ? one->begin_us : other->begin_us;
    const uint64_t to_us = one_us < other_us ? one_us : other_us;
    const uint64_t began_us = epoch - storm.store_start_us; /* by the history's clock */
    return storm.store_start_us != 0 && began_us >= from_us && began_us <= to_us && excuse_two_masters(from_us, to_us);
}

/* An epoch is a number made of time, or of the largest time that was known when the data were of this generation. Where
   the clock was set back before FLUSHALL, of which no link tells, the same one may be taken again. And a generation is
   that of a connection, which outlives what happens to a node of a Cluster, or of a node that had no part in it. */
static bool may_be_taken_again(const talk_sight* x, const talk_sight* y)
{
    const storm_record* one = history_at(x->push);
    const storm_record* other = history_at(y->push);
    const uint64_t from_us = one->begin_us < other->begin_us ? one->begin_us : other->begin_us;
    const uint64_t bit = talk_bit(one->system, x->object);
    const uint64_t one_us = history_over_us(one), other_us = history_over_us(other);
    const uint64_t to_us = one_us > other_us ? one_us : other_us;
    return excuse_clock_went_back_over_flush(from_us, to_us) || excuse_master_is_back(from_us, to_us) ||
           excuse_slot_went_on(one, other, bit) || excuse_slot_went_on(other, one, bit) ||
           may_be_of_two_masters(one, other, x->epoch);
}

/* A sender is told how many of his posts were stored, by their bits, and the id of the first. */
static uint64_t told_id(const storm_record* push, uint8_t post)
{
    uint64_t id = push->c;
    for (uint8_t before = 0; before < post; before++) id += push->d >> before & 1u;
    return id;
}

/* Its sender was told another id, which the store has lost since: so this is of a copy that a dead link held back. It
   may come when nobody has asked for the epoch yet, see chat.h. */
static bool is_of_late_copy(const talk_sight* sight)
{
    const storm_record* push = history_at(sight->push);
    if (sight->what == TALK_PUSH || push->outcome != STORM_DONE || (push->d >> sight->post & 1u) == 0) return false;
    return told_id(push, sight->post) != sight->id &&
           excuse_may_be_lost(push->begin_us, history_at(sight->record)->begin_us);
}

static void check_one_body(void)
{
    qsort(sights, sight_count, sizeof sights[0], by_id);
    verdict_cases(sight_count);
    for (size_t i = 1; i < sight_count; i++)
    {
        const talk_sight* x = &sights[i - 1];
        const talk_sight* y = &sights[i];
        if (by_id(x, y) != 0 || (x->push == y->push && x->post == y->post)) continue;
        if (may_be_taken_again(x, y) || is_of_late_copy(x) || is_of_late_copy(y)) continue;
        VIOLATION_2(x->record, y->record, "epoch %llu id %llu: once it is post %u of #%u, once post %u of #%u",
                    (unsigned long long)x->epoch, (unsigned long long)x->id, x->post, x->push, y->post, y->push);
    }
}

/* How many posts may have been stored without anybody ever seeing them. */
static uint64_t count_unknown(uint8_t system)
{
    uint64_t sum = 0;
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what == TALK_PUSH && (r->end_us == 0 || r->outcome == STORM_UNKNOWN)) sum += r->a;
    }
    return sum;
}

/* Sorted by id. Without losses no number between the first and the last of an epoch is missing, but for those of
   pushes that nobody was told of and nobody read. */
static void check_dense(uint64_t unseen)
{
    uint64_t missing = 0;
    if (excuse_may_be_lost(0, UINT64_MAX)) return;
    for (size_t i = 0; i < sight_count; i++)
    {
        bool same = i > 0 && sights[i].object == sights[i - 1].object; /* ids go on from epoch to epoch */
        uint64_t before = same ? sights[i - 1].id : 0;
        verdict_cases(1);
        if (sights[i].id > before + 1) missing += sights[i].id - before - 1;
        if (sights[i].id > before + 1 && missing > unseen)
            VIOLATION_1(sights[i].record, "ids %llu..%llu were never seen", (unsigned long long)before + 1,
                        (unsigned long long)sights[i].id - 1);
    }
}

/* ---- pushes ------------------------------------------------------------------------------------------------ */

/* Epochs of the same name that began behind this one, as far as anybody saw a message of theirs. */
static unsigned count_epochs_behind(const talk_sight* sight)
{
    uint64_t seen[EPOCHS_KNOWN + 1];
    unsigned count = 0;
    for (size_t i = 0; i < sight_count && count <= EPOCHS_KNOWN; i++)
    {
        if (sights[i].object != sight->object || sights[i].epoch <= sight->epoch) continue;
        unsigned at = 0;
        while (at < count && seen[at] != sights[i].epoch) at++;
        if (at == count) seen[count++] = sights[i].epoch;
    }
    return count;
}

/* There are more epochs behind its own than are known by their names. Not each of them comes of a loss: moving a master
   begins one, too; and of one that came of a loss, nobody need have seen a message. */
static bool may_be_renamed(const talk_sight* x, const talk_sight* y)
{
    const talk_sight* before = x->epoch < y->epoch ? x : y;
    return count_epochs_behind(before) > EPOCHS_KNOWN ||
           excuse_losses_since(history_at(x->push)->begin_us) > EPOCHS_KNOWN;
}

/* Sorted by push. A post has one id, whoever saw it. */
static void check_once(void)
{
    qsort(sights, sight_count, sizeof sights[0], by_push);
    verdict_cases(sight_count);
    for (size_t i = 1; i < sight_count; i++)
    {
        const talk_sight* x = &sights[i - 1];
        const talk_sight* y = &sights[i];
        if (x->push != y->push || x->post != y->post || by_id(x, y) == 0) continue;
        const storm_record* push = history_at(x->push);
        if (may_be_lost(push) || may_be_renamed(x, y)) continue;
        VIOLATION_2(x->record, y->record, "post %u of #%u has two places: epoch %llu id %llu and epoch %llu id %llu",
                    x->post, x->push, (unsigned long long)x->epoch, (unsigned long long)x->id,
                    (unsigned long long)y->epoch, (unsigned long long)y->id);
    }
}

static void check_not_done(void)
{
    for (size_t i = 0; i < sight_count; i++)
    {
        const storm_record* push = history_at(sights[i].push);
        verdict_cases(1);
        if (sights[i].push == 0) VIOLATION_1(sights[i].record, "%s", "a message that nobody has sent");
        else if (push->outcome == STORM_NOT_DONE && (i == 0 || sights[i - 1].push != sights[i].push) &&
                 !excuse_is_back(push))
            VIOLATION_2(sights[i].push, sights[i].record, "%s although it is there",
                        gh_status_name((gh_status)push->status));
    }
}

/* Per sender: what was begun later has the larger id, if it was told done. */
static void check_sender_order(uint8_t system)
{
    static uint32_t last[STORM_PLAYERS_MAX][STORM_CLIENTS][TALK_NAMES];
    uint32_t at = 0;
    memset(last, 0, sizeof last);
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what != TALK_PUSH || r->outcome != STORM_DONE || r->d == 0) continue;
        uint32_t* place = &last[r->who.process][r->who.client][r->object];
        const storm_record* before = history_at(*place);
        verdict_cases(1);
        bool good = *place == 0 || before->who.life != r->who.life || before->b < r->b ||
                    (before->b == r->b && before->c < r->c);
        if (!good && !may_be_lost(before)) VIOLATION_2(*place, at, "%s", "the later push has the smaller id");
        *place = at;
    }
}

/* ---- what is gone ------------------------------------------------------------------------------------------ */

/* The last place that a commit may have removed. */
static void find_commits(uint8_t system, talk_sight most[TALK_NAMES])
{
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what != TALK_COMMIT) continue;
        bool some = system == STORM_chat && r->status == GH_RESTARTED; /* a chat notes what came before the loss */
        if (r->outcome == STORM_NOT_DONE && !some) continue;
        if (system == STORM_chat && r->c == 0) continue; /* nothing goes that the anchor has not handled */
        talk_sight place = {.epoch = r->a, .id = r->b, .object = r->object, .record = at};
        if (most[r->object].record == 0 || by_id(&most[r->object], &place) < 0) most[r->object] = place;
    }
}

/* Where an epoch may be taken again, a commit of before the loss, of which a copy comes late, names what is new. */
static bool may_be_committed_unseen(const talk_sight* post, const talk_sight* most)
{
    return most->record != 0 && by_id(post, most) <= 0 &&
           excuse_clock_went_back_over_loss(0, history_over_us(history_at(post->push)));
}

/* Sorted by push: all sights of one post lie together. */
static void check_gone(uint8_t system)
{
    talk_sight most[TALK_NAMES] = {{0}};
    find_commits(system, most);
    for (size_t i = 0; i < sight_count;)
    {
        bool told = false, got = false, left = false;
        const talk_sight* first = &sights[i];
        for (; i < sight_count && sights[i].push == first->push && sights[i].post == first->post; i++)
        {
            told = told || sights[i].what == TALK_PUSH;
            got = got || sights[i].what == TALK_GOT;
            left = left || sights[i].what == TALK_LEFT;
        }
        verdict_cases(1);
        if (first->push == 0 || left || !told || may_be_lost(history_at(first->push))) continue;
        if (!got && may_be_committed_unseen(first, &most[first->object])) continue;
        if (!got) VIOLATION_1(first->push, "post %u was told OK, is not there, and nobody ever got it", first->post);
        else if (most[first->object].record == 0 || by_id(first, &most[first->object]) > 0)
            VIOLATION_1(first->push, "post %u is gone, and nobody committed it", first->post);
    }
}

static void check_committed(uint8_t system)
{
    talk_sight most[TALK_NAMES] = {{0}};
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, system)) != NULL;)
    {
        if (r->what != TALK_COMMIT || r->outcome != STORM_DONE || excuse_may_be_lost(r->begin_us, r->end_us)) continue;
        talk_sight place = {.epoch = r->a, .id = r->b, .object = r->object, .record = at};
        if (most[r->object].record == 0 || by_id(&most[r->object], &place) < 0) most[r->object] = place;
    }
    for (size_t i = 0; i < sight_count; i++)
    {
        if (sights[i].what != TALK_LEFT) continue;
        verdict_cases(1);
        const talk_sight* place = &most[sights[i].object];
        if (place->record != 0 && place->epoch == sights[i].epoch && sights[i].id <= place->id)
            VIOLATION_2(place->record, sights[i].record, "%s", "committed, and still there");
    }
}

void check_mailbox(void)
{
    gather(STORM_mailbox);
    verdict_begin("mailbox: no epoch and id ever has two bodies");
    check_one_body();
    verdict_begin("mailbox: the ids are dense");
    check_dense(0);
    verdict_begin("mailbox: each message is there once");
    check_once();
    verdict_begin("mailbox: a push that was not done is not there");
    check_not_done();
    verdict_begin("mailbox: what a client sent comes in the order in which it was begun");
    check_sender_order(STORM_mailbox);
    verdict_begin("mailbox: what was told OK is there, or somebody got it and committed it");
    check_gone(STORM_mailbox);
    verdict_begin("mailbox: what was committed is gone");
    check_committed(STORM_mailbox);
    free(sights);
}

/* ---- chats --------------------------------------------------------------------------------------------------- */

/* Sorted by push. What is not there any more was the oldest of more than the chat keeps, or the anchor has handled it.
 */
static void check_trimmed(void)
{
    uint64_t left[TALK_NAMES] = {0};
    talk_sight first[TALK_NAMES] = {{0}};
    talk_sight most[TALK_NAMES] = {{0}};
    find_commits(STORM_chat, most);
    for (size_t i = 0; i < sight_count; i++)
    {
        const talk_sight* sight = &sights[i];
        if (sight->what != TALK_LEFT) continue;
        left[sight->object]++;
        if (first[sight->object].record == 0 || by_id(sight, &first[sight->object]) < 0) first[sight->object] = *sight;
    }
    for (size_t i = 0; i < sight_count;)
    {
        bool told = false, there = false;
        const talk_sight* one = &sights[i];
        for (; i < sight_count && sights[i].push == one->push && sights[i].post == one->post; i++)
        {
            told = told || sights[i].what == TALK_PUSH;
            there = there || sights[i].what == TALK_LEFT;
        }
        verdict_cases(1);
        if (one->push == 0 || there || !told || may_be_lost(history_at(one->push))) continue;
        bool trimmed = left[one->object] >= TALK_KEEP && by_id(one, &first[one->object]) < 0;
        bool handled = most[one->object].record != 0 && by_id(one, &most[one->object]) <= 0;
        if (!trimmed && !handled)
            VIOLATION_1(one->push, "post %u was told OK and is not among the %llu that are there", one->post,
                        (unsigned long long)left[one->object]);
    }
}

enum
{
    CHAT_MEMBERS_MAX = 8
};

/* A fetch that began after another was told a mark is told no smaller one of the same epoch. */
static void check_seen(void)
{
    static uint32_t largest[TALK_NAMES][CHAT_MEMBERS_MAX];
    uint32_t at = 0;
    memset(largest, 0, sizeof largest);
    for (const storm_record* r; (r = history_next(&at, STORM_chat)) != NULL;)
    {
        if (r->what != TALK_SEEN || r->c < TALK_FROM_START) continue;
        uint32_t* place = &largest[r->object][r->c % CHAT_MEMBERS_MAX];
        const storm_record* before = history_at(*place);
        verdict_cases(1);
        bool later = *place != 0 && history_at(r->about)->begin_us > before->begin_us && before->a == r->a;
        if (later && r->b < before->b && !excuse_may_be_lost(before->begin_us - 5000000, r->begin_us))
            VIOLATION_2(*place, at, "the mark of member %llu went back", (unsigned long long)r->c);
        if (*place == 0 || before->a < r->a || (before->a == r->a && before->b <= r->b)) *place = at;
    }
}

void check_chat(void)
{
    gather(STORM_chat);
    verdict_begin("chat: no epoch and id ever has two bodies");
    check_one_body();
    verdict_begin("chat: the ids are dense");
    check_dense(count_unknown(STORM_chat));
    verdict_begin("chat: each message is there once");
    check_once();
    verdict_begin("chat: what was not sent is not there");
    check_not_done();
    verdict_begin("chat: what a client sent comes in the order in which it was begun");
    check_sender_order(STORM_chat);
    verdict_begin("chat: what was told OK is there, or all have handled it, or many newer ones are");
    check_trimmed();
    verdict_begin("chat: what a member has seen never goes back");
    check_seen();
    check_feed();
    free(sights);
}
