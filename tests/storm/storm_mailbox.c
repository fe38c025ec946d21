/* storm_mailbox.c -- pushes into few mailboxes, and readers who fetch from the oldest on and commit what they got. */

#include "guildhall/mailbox.h"
#include "storm/storm.h"
#include "storm/talk.h"

enum
{
    PUSHES = 3,
    FETCH_BYTES = 48 * 1024
};

typedef struct mailbox_sender
{
    gh_mailbox_push push;
    gh_post posts[TALK_POSTS];
    char bodies[TALK_POSTS][TALK_BODY_SIZE];
    uint32_t op;
} mailbox_sender;

typedef struct mailbox_actor
{
    storm_client* me;
    random_stream random;
    mailbox_sender senders[PUSHES];
    gh_mailbox_fetch fetch;
    uint32_t fetch_op;
    uint8_t fetch_name;
    gh_mailbox_commit commit;
    uint32_t commit_op;
    uint64_t commit_at_us; /* 0: nothing to commit */
    uint64_t commit_epoch;
    uint64_t commit_id;
    uint8_t commit_name;
    _Alignas(16) char buffer[FETCH_BYTES];
} mailbox_actor;

static const char* const whats[] = {"?", "push", "fetch", "commit", "got", "left", "?", "?", "last", "?"};
static const gh_str* const names = talk_mailboxes;

static void start(void* actor, storm_client* me, random_stream random)
{
    mailbox_actor* a = actor;
    a->me = me;
    a->random = random;
}

static gh_mailbox mailbox_of(gh_client* client, uint8_t name, uint64_t timeout_us)
{
    gh_mailbox mailbox;
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = timeout_us;
    gh_mailbox_init(&mailbox, client, names[name], &config);
    return mailbox;
}

static void begin_push(mailbox_actor* a, mailbox_sender* s)
{
    uint8_t name = (uint8_t)random_below(&a->random, TALK_NAMES);
    uint32_t count = (uint32_t)random_between(&a->random, 1, TALK_POSTS);
    gh_mailbox_config config = gh_mailbox_config_default();
    config.timeout_us = random_between(&a->random, 200000, 4000000);
    config.capacity = random_one_in(&a->random, 10) ? 20 : 2000;
    s->op = history_begin(a->me->who, STORM_mailbox, TALK_PUSH, name);
    if (s->op == 0) return;
    history_at(s->op)->a = count;
    for (uint32_t i = 0; i < count; i++)
    {
        s->posts[i] = (gh_post){.sender = gh_str_literal("storm")};
        s->posts[i].body = talk_body(&a->random, s->bodies[i], s->op, i);
        if (i == 0) talk_enlarge(&a->random, &s->posts[i]);
    }
    if (random_one_in(&a->random, 500)) config.capacity = 0; /* begins INVALID: nothing may come of it */
    gh_mailbox mailbox;
    gh_mailbox_init(&mailbox, a->me->client, names[name], &config);
    gh_status status = gh_mailbox_push_begin(&s->push, &mailbox, s->posts, count);
    if (status == GH_OK) return;
    history_end(s->op, STORM_NOT_DONE, status);
    s->op = 0;
}

static void turn_push(mailbox_actor* a, mailbox_sender* s, bool may_begin)
{
    if (s->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 16)) begin_push(a, s);
        return;
    }
    gh_status status = gh_op_poll(&s->push.op);
    if (status == GH_PENDING)
    {
        if (random_one_in(&a->random, 3000)) gh_op_cancel(&s->push.op);
        return;
    }
    if (status == GH_OK)
    {
        history_at(s->op)->b = s->push.epoch;
        history_at(s->op)->c = s->posts[0].id;
        history_at(s->op)->d = UINT64_MAX;
    }
    history_end(s->op, storm_outcome_of(status), status);
    s->op = 0;
}

static void begin_fetch(mailbox_actor* a)
{
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    a->fetch_name = (uint8_t)random_below(&a->random, TALK_NAMES);
    config.buffer = a->buffer;
    config.buffer_size = FETCH_BYTES;
    gh_mailbox mailbox = mailbox_of(a->me->client, a->fetch_name, random_between(&a->random, 200000, 3000000));
    config.messages_max = (uint32_t)random_between(&a->random, 1, 60);
    if (random_one_in(&a->random, 3)) config.wait_us = random_below(&a->random, 400000);
    a->fetch_op = history_begin(a->me->who, STORM_mailbox, TALK_FETCH, a->fetch_name);
    if (a->fetch_op == 0) return;
    gh_status status = gh_mailbox_fetch_begin(&a->fetch, &mailbox, &config);
    if (status == GH_OK) return;
    history_end(a->fetch_op, STORM_NOT_DONE, status);
    a->fetch_op = 0;
}

static void note_messages(mailbox_actor* a)
{
    for (uint32_t i = 0; i < a->fetch.count; i++)
    {
        storm_event event = {.system = STORM_mailbox,
                             .what = TALK_GOT,
                             .object = a->fetch_name,
                             .a = a->fetch.messages[i].epoch,
                             .b = a->fetch.messages[i].id,
                             .d = a->fetch_op};
        talk_note(a->me->who, event, talk_lead(&a->fetch.messages[i]));
    }
    if (a->fetch.count == 0 || a->commit_at_us != 0 || a->commit_op != 0 || random_one_in(&a->random, 4)) return;
    /* Commits at once, or after a while, in which the store may have been restarted. */
    uint64_t pause_us = random_one_in(&a->random, 5) ? random_below(&a->random, 3000000) : 0;
    a->commit_at_us = history_now() + pause_us;
    a->commit_epoch = a->fetch.epoch;
    bool any = random_one_in(&a->random, 4);
    uint32_t which = any ? (uint32_t)random_below(&a->random, a->fetch.count) : a->fetch.count - 1;
    a->commit_id = a->fetch.messages[which].id;
    a->commit_name = a->fetch_name;
}

static void turn_fetch(mailbox_actor* a, bool may_begin)
{
    if (a->fetch_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 6)) begin_fetch(a);
        return;
    }
    gh_status status = gh_op_poll(&a->fetch.op);
    if (status == GH_PENDING) return;
    storm_record* record = history_at(a->fetch_op);
    if (status == GH_OK || status == GH_EMPTY)
    {
        record->b = a->fetch.epoch;
        record->c = a->fetch.last_id;
        record->d = a->fetch.count;
    }
    if (status == GH_OK) note_messages(a);
    history_end(a->fetch_op, storm_outcome_of(status), status);
    a->fetch_op = 0;
}

static void begin_commit(mailbox_actor* a)
{
    a->commit_at_us = 0;
    a->commit_op = history_begin(a->me->who, STORM_mailbox, TALK_COMMIT, a->commit_name);
    if (a->commit_op == 0) return;
    history_at(a->commit_op)->a = a->commit_epoch;
    history_at(a->commit_op)->b = a->commit_id;
    uint64_t timeout_us = random_between(&a->random, 200000, 3000000);
    gh_mailbox mailbox = mailbox_of(a->me->client, a->commit_name, timeout_us);
    gh_status status = gh_mailbox_commit_begin(&a->commit, &mailbox, a->commit_epoch, a->commit_id);
    if (status == GH_OK) return;
    history_end(a->commit_op, STORM_NOT_DONE, status);
    a->commit_op = 0;
}

static void turn_commit(mailbox_actor* a, bool may_begin)
{
    if (!may_begin) a->commit_at_us = 0;
    if (a->commit_op == 0)
    {
        if (a->commit_at_us != 0 && a->me->now_us >= a->commit_at_us) begin_commit(a);
        return;
    }
    gh_status status = gh_op_poll(&a->commit.op);
    if (status == GH_PENDING) return;
    history_end(a->commit_op, storm_outcome_of(status), status);
    a->commit_op = 0;
}

static void turn(void* actor, bool may_begin)
{
    mailbox_actor* a = actor;
    for (int i = 0; i < PUSHES; i++) turn_push(a, &a->senders[i], may_begin);
    turn_fetch(a, may_begin);
    turn_commit(a, may_begin);
}

static bool idle(const void* actor)
{
    const mailbox_actor* a = actor;
    bool busy = a->fetch_op != 0 || a->commit_op != 0;
    for (int i = 0; i < PUSHES; i++) busy = busy || a->senders[i].op != 0;
    return !busy;
}

/* ---- in the end ------------------------------------------------------------------------------------------ */

static char audit_buffer[1024 * 1024] __attribute__((aligned(16)));

static void read_all(storm_look* look, uint8_t name)
{
    static gh_mailbox_fetch fetch;
    uint64_t after = 0, epoch = 0;
    gh_status status = GH_OK;
    do
    {
        gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
        config.buffer = audit_buffer;
        config.buffer_size = sizeof audit_buffer;
        config.messages_max = 500;
        config.after = after;
        config.epoch = epoch;
        uint32_t op = history_begin(look->who, STORM_mailbox, TALK_FETCH, name);
        gh_mailbox mailbox = mailbox_of(look->client, name, gh_mailbox_config_default().timeout_us);
        status = gh_mailbox_fetch_begin(&fetch, &mailbox, &config);
        while (status == GH_OK && gh_op_poll(&fetch.op) == GH_PENDING && storm_look_turn(look))
        {
        }
        status = gh_op_poll(&fetch.op);
        history_end(op, storm_outcome_of(status), status);
        if (status != GH_OK) break;
        for (uint32_t i = 0; i < fetch.count; i++)
        {
            storm_event event = {.system = STORM_mailbox,
                                 .what = TALK_LEFT,
                                 .object = name,
                                 .a = fetch.messages[i].epoch,
                                 .b = fetch.messages[i].id};
            talk_note(look->who, event, talk_lead(&fetch.messages[i]));
            after = fetch.messages[i].id;
            epoch = fetch.messages[i].epoch;
        }
    } while (fetch.count > 0);
    storm_event last = {
        .system = STORM_mailbox, .what = TALK_LAST, .object = name, .a = fetch.epoch, .b = fetch.last_id};
    if (status == GH_OK || status == GH_EMPTY) (void)history_event(look->who, last);
}

static void audit(storm_look* look)
{
    for (uint8_t i = 0; i < TALK_NAMES; i++) read_all(look, i);
}

const storm_system storm_mailbox = {.name = "mailbox",
                                    .whats = whats,
                                    .actor_size = sizeof(mailbox_actor),
                                    .start = start,
                                    .turn = turn,
                                    .idle = idle,
                                    .audit = audit,
                                    .check = check_mailbox};
