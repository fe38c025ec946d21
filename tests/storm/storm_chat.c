/* storm_chat.c -- chats: sends, fetches and marks of members who come and go.

   One member of each chat, the anchor, never leaves: so a chat is never over. It handles nothing, and so nothing is
   gone before TALK_KEEP newer messages are there; but for the last chat, where it does, and what all have handled goes.

   Each client has a feed, too, with two players of its own, whom nobody else lets join, leave or handle anything: what
   they hear is what their feed lets them hear. */

#include "guildhall/chat.h"
#include "storm/storm.h"
#include "storm/talk.h"

#include <stdio.h>
#include <string.h>

enum
{
    SENDS = 2,
    MEMBERS = 5, /* besides the anchor */
    FETCH_BYTES = 32 * 1024,
    LISTENERS = 2, /* players of a feed */
    FEED_ROOMS = TALK_NAMES + 1,
    FEED_SEATS = LISTENERS * FEED_ROOMS,
    FEED_BYTES = FEED_ROOMS * GH_CHAT_ROOM_SIZE_MIN,
    LONGEST_US = 4000000, /* of a send or a change */
    QUIET_US = 3500000    /* a message that is there is heard in less */
};

typedef struct chat_sender
{
    gh_chat_send send;
    gh_post posts[TALK_POSTS];
    char bodies[TALK_POSTS][TALK_BODY_SIZE];
    uint32_t op;
} chat_sender;

typedef struct chat_listening
{
    gh_chat_feed feed;
    gh_chat_room rooms[FEED_ROOMS];
    gh_chat_seat seats[FEED_SEATS];
    gh_chat_player players[LISTENERS];
    char names[LISTENERS][32];
    uint32_t op;
    bool begun;
    uint64_t feeds;     /* begun so far */
    gh_chat_room* held; /* a room that is not done with yet */
    gh_chat_change change;
    uint32_t change_op;
    uint64_t calm_us; /* when it was first told to begin nothing more */
    uint64_t moved_us;
    _Alignas(16) char buffer[FEED_BYTES];
} chat_listening;

typedef struct chat_actor
{
    storm_client* me;
    random_stream random;
    chat_sender senders[SENDS];
    gh_chat_fetch fetch;
    gh_chat_member reader;
    uint8_t reader_number;
    uint32_t fetch_op;
    uint8_t fetch_name;
    gh_chat_commit commit;
    gh_chat_member committer;
    uint32_t commit_op;
    uint64_t commit_epoch; /* 0: nothing to note */
    uint8_t commit_name;
    bool commit_of_anchor;
    gh_chat_change change;
    uint32_t change_op;
    bool gone[TALK_NAMES]; /* has to be created */
    chat_listening listening;
    _Alignas(16) char buffer[FETCH_BYTES];
} chat_actor;

static const char* const whats[] = {"?",    "send", "fetch",  "commit", "got",   "left",  "join",  "leave",
                                    "last", "seen", "create", "feed",   "heard", "enter", "depart"};
static const gh_str* const names = talk_chats;
static const gh_str anchor = GH_STR_INIT("anchor");
static const gh_str members[MEMBERS] = {GH_STR_INIT("jason"), GH_STR_INIT("jeff"), GH_STR_INIT("jenny"),
                                        GH_STR_INIT("jim"), GH_STR_INIT("joe")};

static void start(void* actor, storm_client* me, random_stream random)
{
    chat_actor* a = actor;
    a->me = me;
    a->random = random;
    memset(a->gone, 1, sizeof a->gone);
    for (int i = 0; i < LISTENERS; i++)
    {
        (void)snprintf(a->listening.names[i], sizeof a->listening.names[i], "listener %d of %u.%u.%u", i,
                       me->who.process, me->who.client, me->who.life);
    }
}

/* A chat that is not there is an answer, too. */
static storm_outcome outcome_of(gh_status status)
{
    return status == GH_EXISTS ? STORM_DONE : storm_outcome_of(status);
}

/* As all make it, for one begin: what differs is how long that may take. */
static gh_chat chat_of(gh_client* client, uint8_t name, uint64_t timeout_us)
{
    gh_chat chat;
    gh_chat_config config = gh_chat_config_default();
    config.timeout_us = timeout_us;
    config.keep = TALK_KEEP;
    gh_chat_init(&chat, client, names[name], &config);
    return chat;
}

static void note_gone(chat_actor* a, uint8_t name, gh_status status)
{
    if (status == GH_GONE) a->gone[name] = true;
}

/* ---- send ------------------------------------------------------------------------------------------------ */

static void begin_send(chat_actor* a, chat_sender* s)
{
    uint8_t name = (uint8_t)random_below(&a->random, TALK_NAMES);
    uint32_t count = (uint32_t)random_between(&a->random, 1, TALK_POSTS);
    s->op = history_begin(a->me->who, STORM_chat, TALK_PUSH, name);
    if (s->op == 0) return;
    history_at(s->op)->a = count;
    for (uint32_t i = 0; i < count; i++)
    {
        s->posts[i] = (gh_post){.body = talk_body(&a->random, s->bodies[i], s->op, i)};
        if (random_one_in(&a->random, 2)) s->posts[i].sender = members[random_below(&a->random, MEMBERS)];
    }
    gh_chat chat = chat_of(a->me->client, name, random_between(&a->random, 200000, 4000000));
    gh_status status = gh_chat_send_begin(&s->send, &chat, s->posts, count);
    if (status == GH_OK) return;
    history_end(s->op, STORM_NOT_DONE, status);
    s->op = 0;
}

static void turn_send(chat_actor* a, chat_sender* s, bool may_begin)
{
    if (s->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 25)) begin_send(a, s);
        return;
    }
    gh_status status = gh_op_poll(&s->send.op);
    if (status == GH_PENDING) return;
    storm_record* record = history_at(s->op);
    for (uint32_t i = 0; status == GH_OK && i < record->a; i++)
    {
        if (s->posts[i].status != GH_OK) continue;
        if (record->d == 0) record->c = s->posts[i].id;
        record->d |= 1u << i;
    }
    if (status == GH_OK) record->b = s->send.epoch;
    note_gone(a, record->object, status);
    history_end(s->op, outcome_of(status), status);
    s->op = 0;
}

/* ---- fetch ----------------------------------------------------------------------------------------------- */

static void begin_fetch(chat_actor* a)
{
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    a->fetch_name = (uint8_t)random_below(&a->random, TALK_NAMES);
    a->reader_number = (uint8_t)random_below(&a->random, MEMBERS);
    config.buffer = a->buffer;
    config.buffer_size = FETCH_BYTES;
    gh_chat chat = chat_of(a->me->client, a->fetch_name, random_between(&a->random, 200000, 3000000));
    config.messages_max = (uint32_t)random_between(&a->random, 1, 50);
    if (random_one_in(&a->random, 3)) config.wait_us = random_below(&a->random, 400000);
    memset(&a->fetch, 0, sizeof a->fetch);
    a->reader = (gh_chat_member){.name = members[a->reader_number]};
    a->fetch_op = history_begin(a->me->who, STORM_chat, TALK_FETCH, a->fetch_name);
    if (a->fetch_op == 0) return;
    gh_status status = gh_chat_fetch_begin(&a->fetch, &chat, &a->reader, 1, &config);
    if (status == GH_OK) return;
    history_end(a->fetch_op, STORM_NOT_DONE, status);
    a->fetch_op = 0;
}

static void note_fetch(chat_actor* a)
{
    for (uint32_t i = 0; i < a->fetch.count; i++)
    {
        storm_event event = {.system = STORM_chat,
                             .what = TALK_GOT,
                             .object = a->fetch_name,
                             .a = a->fetch.messages[i].epoch,
                             .b = a->fetch.messages[i].id,
                             .d = a->fetch_op};
        talk_note(a->me->who, event, a->fetch.messages[i].body);
    }
    if (a->reader.status != GH_OK) return;
    storm_event seen = {.system = STORM_chat,
                        .what = TALK_SEEN,
                        .object = a->fetch_name,
                        .about = a->fetch_op,
                        .a = a->fetch.epoch,
                        .b = a->reader.seen,
                        .c = a->reader_number};
    (void)history_event(a->me->who, seen);
    if (a->fetch.count == 0 || a->commit_epoch != 0 || a->commit_op != 0) return; /* which borrows the committer */
    a->commit_epoch = a->fetch.epoch;
    a->commit_name = a->fetch_name;
    a->commit_of_anchor = a->fetch_name == TALK_NAMES - 1 && random_one_in(&a->random, 2);
    a->committer = (gh_chat_member){.name = a->commit_of_anchor ? anchor : a->reader.name};
    a->committer.handled = a->fetch.messages[random_below(&a->random, a->fetch.count)].id;
}

static void turn_fetch(chat_actor* a, bool may_begin)
{
    if (a->fetch_op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 10)) begin_fetch(a);
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
        note_fetch(a);
    }
    note_gone(a, a->fetch_name, status);
    history_end(a->fetch_op, outcome_of(status), status);
    a->fetch_op = 0;
}

/* ---- commit ---------------------------------------------------------------------------------------------- */

static void turn_commit(chat_actor* a, bool may_begin)
{
    if (a->commit_op == 0)
    {
        if (!may_begin) a->commit_epoch = 0;
        if (a->commit_epoch == 0) return;
        a->commit_op = history_begin(a->me->who, STORM_chat, TALK_COMMIT, a->commit_name);
        if (a->commit_op == 0) return;
        history_at(a->commit_op)->a = a->commit_epoch;
        history_at(a->commit_op)->b = a->committer.handled;
        history_at(a->commit_op)->c = a->commit_of_anchor;
        gh_chat chat = chat_of(a->me->client, a->commit_name, random_between(&a->random, 200000, 3000000));
        gh_status status = gh_chat_commit_begin(&a->commit, &chat, a->commit_epoch, &a->committer, 1);
        a->commit_epoch = 0;
        if (status == GH_OK) return;
        history_end(a->commit_op, STORM_NOT_DONE, status);
        a->commit_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->commit.op);
    if (status == GH_PENDING) return;
    note_gone(a, a->commit_name, status);
    history_end(a->commit_op, outcome_of(status), status);
    a->commit_op = 0;
}

/* ---- create, join, leave --------------------------------------------------------------------------------- */

static gh_status begin_change(chat_actor* a, uint8_t name)
{
    gh_chat chat = chat_of(a->me->client, name, random_between(&a->random, 200000, 4000000));
    uint64_t number = random_below(&a->random, MEMBERS);
    gh_str who = members[number];
    bool from_start = number < TALK_FROM_START && random_one_in(&a->random, 2);
    bool creates = a->gone[name];
    bool joins = !random_one_in(&a->random, 3);
    a->change_op = history_begin(a->me->who, STORM_chat, creates ? TALK_CREATE : joins ? TALK_JOIN : TALK_LEAVE, name);
    if (a->change_op == 0) return GH_OK;
    if (creates) return gh_chat_create_begin(&a->change, &chat, &anchor, 1, NULL);
    if (joins) return gh_chat_join_begin(&a->change, &chat, who, from_start ? GH_CHAT_FROM_START : GH_CHAT_FROM_NOW);
    return gh_chat_leave_begin(&a->change, &chat, who);
}

static void turn_change(chat_actor* a, bool may_begin)
{
    if (a->change_op == 0)
    {
        uint8_t name = (uint8_t)random_below(&a->random, TALK_NAMES);
        if (!may_begin || !storm_is_time(&a->random, a->gone[name] ? 5 : 100)) return;
        gh_status status = begin_change(a, name);
        if (status == GH_OK) return;
        history_end(a->change_op, STORM_NOT_DONE, status);
        a->change_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->change.op);
    if (status == GH_PENDING) return;
    storm_record* record = history_at(a->change_op);
    if (record->what == TALK_CREATE && (status == GH_OK || status == GH_EXISTS)) a->gone[record->object] = false;
    note_gone(a, record->object, status);
    history_end(a->change_op, outcome_of(status), status);
    a->change_op = 0;
}

/* ---- feed ------------------------------------------------------------------------------------------------ */

static void begin_feed(chat_actor* a)
{
    chat_listening* l = &a->listening;
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = l->rooms;
    config.room_count = FEED_ROOMS;
    config.seats = l->seats;
    config.seat_count = FEED_SEATS;
    config.buffer = l->buffer;
    config.buffer_size = FEED_BYTES;
    config.messages_max = (uint32_t)random_between(&a->random, 1, 40);
    config.list_us = random_between(&a->random, 1000000, 2000000);
    if (l->op == 0) l->op = history_begin(a->me->who, STORM_chat, TALK_FEED, 0);
    if (l->op == 0 || gh_chat_feed_begin(&l->feed, a->me->client, &config) != GH_OK) return;
    history_at(l->op)->a = ++l->feeds;
    l->begun = true;
}

/* One for whom there was no room among the client's ops is tried again. */
static void add_players(chat_listening* l)
{
    for (int i = 0; i < LISTENERS; i++)
    {
        if (l->players[i].op.kind == NULL) (void)gh_chat_feed_add(&l->feed, &l->players[i], gh_str_of(l->names[i]));
    }
}

static void end_feed(chat_listening* l)
{
    gh_chat_feed_end(&l->feed);
    memset(l->players, 0, sizeof l->players);
    l->held = NULL;
    l->begun = false;
}

static void note_heard(chat_actor* a, const gh_chat_room* room, const gh_chat_seat* seat)
{
    chat_listening* l = &a->listening;
    uint64_t player = (uint64_t)(seat->player - l->players);
    uint8_t name = 0;
    while (name + 1 < TALK_NAMES && !gh_str_equal(room->name, names[name])) name++;
    for (uint32_t i = 0; i < room->fetch.count; i++)
    {
        const gh_message* message = &room->fetch.messages[i];
        if (message->id <= seat->member.from) continue;
        storm_event event = {.system = STORM_chat,
                             .what = TALK_HEARD,
                             .object = name,
                             .a = message->epoch,
                             .b = message->id,
                             .d = talk_listener(player, history_at(l->op)->a)};
        talk_note(a->me->who, event, message->body);
    }
}

/* Sometimes all are done with all of it at once, sometimes one player with some of it. */
static void give_room_back(chat_actor* a)
{
    chat_listening* l = &a->listening;
    bool all = !random_one_in(&a->random, 3);
    gh_chat_seat* seat = gh_chat_room_seat(l->held, NULL);
    if (!all && seat != NULL && seat->member.status == GH_OK && random_one_in(&a->random, 2))
    {
        const gh_message* message = &l->held->fetch.messages[random_below(&a->random, l->held->fetch.count)];
        if (message->id > seat->member.from)
        {
            seat->member.handled_epoch = message->epoch;
            seat->member.handled = message->id;
        }
    }
    gh_chat_feed_done(&l->feed, l->held, all);
    l->held = NULL;
}

static void hear(chat_actor* a)
{
    chat_listening* l = &a->listening;
    if (l->held != NULL && random_one_in(&a->random, 3)) give_room_back(a);
    if (l->held != NULL) return;
    l->held = gh_chat_feed_next(&l->feed);
    if (l->held == NULL) return;
    for (gh_chat_seat* seat = NULL; (seat = gh_chat_room_seat(l->held, seat)) != NULL;)
    {
        if (seat->member.status == GH_OK) note_heard(a, l->held, seat);
    }
    l->moved_us = a->me->now_us;
}

static gh_status begin_entering(chat_actor* a, uint8_t name)
{
    chat_listening* l = &a->listening;
    gh_chat chat = chat_of(a->me->client, name, random_between(&a->random, 200000, LONGEST_US));
    uint64_t player = random_below(&a->random, LISTENERS);
    bool departs = random_one_in(&a->random, 8);
    l->change_op = history_begin(a->me->who, STORM_chat, departs ? TALK_DEPART : TALK_ENTER, name);
    if (l->change_op == 0) return GH_OK;
    history_at(l->change_op)->about = l->op;
    history_at(l->change_op)->d = talk_listener(player, history_at(l->op)->a);
    gh_str who = gh_str_of(l->names[player]);
    if (departs) return gh_chat_leave_begin(&l->change, &chat, who);
    return gh_chat_join_begin(&l->change, &chat, who, GH_CHAT_FROM_NOW);
}

static void turn_entering(chat_actor* a, bool may_begin)
{
    chat_listening* l = &a->listening;
    if (l->change_op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 150)) return;
        gh_status status = begin_entering(a, (uint8_t)random_below(&a->random, TALK_NAMES));
        if (status == GH_OK) return;
        history_end(l->change_op, STORM_NOT_DONE, status);
        l->change_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&l->change.op);
    if (status == GH_PENDING) return;
    storm_record* record = history_at(l->change_op);
    record->a = l->change.epoch;
    record->b = l->change.seen;
    note_gone(a, record->object, status);
    history_end(l->change_op, outcome_of(status), status);
    l->change_op = 0;
    l->moved_us = a->me->now_us;
}

/* After the last send of anybody, and a while in which nothing came. */
static bool has_heard_all(chat_actor* a)
{
    chat_listening* l = &a->listening;
    uint64_t now_us = a->me->now_us;
    if (l->calm_us == 0) l->calm_us = now_us;
    if (!a->me->ready || l->change_op != 0) l->moved_us = now_us;
    if (l->moved_us < l->calm_us + LONGEST_US) l->moved_us = l->calm_us + LONGEST_US;
    return now_us > l->moved_us + QUIET_US;
}

static void turn_feed(chat_actor* a, bool may_begin)
{
    chat_listening* l = &a->listening;
    if (!l->begun && (may_begin || l->op != 0)) begin_feed(a);
    if (!l->begun) return;
    add_players(l);
    hear(a);
    turn_entering(a, may_begin);
    if (may_begin)
    {
        if (random_one_in(&a->random, 4000)) end_feed(l);
        return;
    }
    if (l->change_op != 0 || (storm_stage_now() != STAGE_RUN && !has_heard_all(a))) return;
    end_feed(l);
    history_at(l->op)->d = storm_stage_now() == STAGE_RUN ? 0 : 1;
    history_end(l->op, STORM_DONE, GH_OK);
    l->op = 0;
}

/* ---- the actor ------------------------------------------------------------------------------------------- */

static void turn(void* actor, bool may_begin)
{
    chat_actor* a = actor;
    for (int i = 0; i < SENDS; i++) turn_send(a, &a->senders[i], may_begin);
    turn_fetch(a, may_begin);
    turn_commit(a, may_begin);
    turn_change(a, may_begin);
    turn_feed(a, may_begin);
}

static bool idle(const void* actor)
{
    const chat_actor* a = actor;
    bool busy = a->fetch_op != 0 || a->commit_op != 0 || a->change_op != 0 || a->listening.op != 0;
    for (int i = 0; i < SENDS; i++) busy = busy || a->senders[i].op != 0;
    return !busy;
}

/* ---- in the end ------------------------------------------------------------------------------------------ */

static char audit_buffer[1024 * 1024] __attribute__((aligned(16)));

/* As the anchor, to whom all is new that it has not handled. */
static void audit(storm_look* look)
{
    for (uint8_t i = 0; i < TALK_NAMES; i++)
    {
        static gh_chat_fetch fetch;
        static gh_chat_member reader;
        gh_chat_fetch_config config = gh_chat_fetch_config_default();
        config.buffer = audit_buffer;
        config.buffer_size = sizeof audit_buffer;
        config.messages_max = TALK_KEEP * 2;
        memset(&fetch, 0, sizeof fetch);
        reader = (gh_chat_member){.name = anchor};
        uint32_t op = history_begin(look->who, STORM_chat, TALK_FETCH, i);
        gh_chat chat = chat_of(look->client, i, gh_chat_config_default().timeout_us);
        gh_status status = gh_chat_fetch_begin(&fetch, &chat, &reader, 1, &config);
        while ((status = gh_op_poll(&fetch.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
        history_end(op, outcome_of(status), status);
        if (status != GH_OK) continue;
        for (uint32_t k = 0; k < fetch.count; k++)
        {
            storm_event event = {.system = STORM_chat,
                                 .what = TALK_LEFT,
                                 .object = i,
                                 .a = fetch.messages[k].epoch,
                                 .b = fetch.messages[k].id};
            talk_note(look->who, event, fetch.messages[k].body);
        }
        storm_event last = {.system = STORM_chat, .what = TALK_LAST, .object = i, .a = fetch.epoch, .b = fetch.last_id};
        (void)history_event(look->who, last);
    }
}

const storm_system storm_chat = {.name = "chat",
                                 .whats = whats,
                                 .actor_size = sizeof(chat_actor),
                                 .start = start,
                                 .turn = turn,
                                 .idle = idle,
                                 .audit = audit,
                                 .check = check_chat};
