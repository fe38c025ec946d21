/* drill_talk.c -- the ops of mailboxes and chats. */

#include "support/scene/drill.h"

#include "support/scene/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME   gh_str_literal(DRILL_NAME)
#define PLAYER gh_str_literal(DRILL_PLAYER)
#define BUFFER 16384
#define LARGE  20000 /* bytes of a body for which that buffer has no room */

typedef struct talk_bag
{
    gh_post posts[3];
    gh_mailbox_push push;
    gh_mailbox_fetch fetch;
    gh_mailbox_commit commit;
    gh_chat_change change;
    gh_chat_send send;
    gh_chat_fetch read;
    gh_chat_commit done;
    gh_chat_list list;
    gh_chat_members all;
    gh_chat_member_item who[16];
    gh_chat_member members[2];
    gh_chat_item items[8];
    _Alignas(16) char buffer[BUFFER];
} talk_bag;

static talk_bag* new_talk(drill* self)
{
    static const gh_str bodies[] = {GH_STR_INIT("one"), GH_STR_INIT("two"), GH_STR_INIT("three")};
    talk_bag* bag = DRILL_NEW(self, talk_bag);
    for (int i = 0; i < 3; i++)
    {
        bag->posts[i].sender = PLAYER;
        bag->posts[i].body = bodies[i];
    }
    bag->members[0].name = PLAYER;
    bag->members[1].name = gh_str_literal("bob");
    return bag;
}

/* ---- mailboxes ----------------------------------------------------------------------------------------- */

static void prepare_no_talk(game* one, game* two)
{
    (void)one, (void)two;
}

static void push_numbers(game* from, unsigned first, size_t count)
{
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_post* posts = talk_numbers(from, DRILL_PLAYER, count, first);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(from->client, NAME), posts, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) == GH_OK);
}

static void commit_up_to(game* from, uint64_t epoch, uint64_t id)
{
    gh_mailbox_commit* commit = GAME_NEW(from, gh_mailbox_commit);
    assert_status(gh_mailbox_commit_begin(commit, ON_MAILBOX(from->client, NAME), epoch, id), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) == GH_OK);
}

static gh_mailbox_fetch* fetch_for(game* from, uint64_t wait_us, bool settle)
{
    gh_mailbox_fetch* fetch = GAME_NEW(from, gh_mailbox_fetch);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer = GAME_NEW_ARRAY(from, char, BUFFER);
    config.buffer_size = BUFFER;
    config.wait_us = wait_us;
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(from->client, NAME), &config), GH_OK);
    if (settle) GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    return fetch;
}

/* Two have written five, two are handled. */
static void prepare_mail(game* one, game* two)
{
    push_numbers(one, 1, 3);
    push_numbers(two, 4, 2);
    commit_up_to(one, fetch_for(one, 0, true)->epoch, 2);
}

static void prepare_one_mail(game* one, game* two)
{
    (void)two;
    push_numbers(one, 1, 1);
}

static gh_post large_post(game* from)
{
    char* bytes = GAME_NEW_ARRAY(from, char, LARGE);
    gh_post post = {.sender = PLAYER, .body = gh_str_make(bytes, LARGE)};
    return post;
}

/* One of them has no room in the buffers of this file. */
static void prepare_large_mail(game* one, game* two)
{
    gh_mailbox_push* push = GAME_NEW(two, gh_mailbox_push);
    gh_post* post = GAME_NEW(two, gh_post);
    *post = large_post(two);
    prepare_mail(one, two);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(two->client, NAME), post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) == GH_OK);
    push_numbers(one, 6, 1);
}

/* All handled, and a reader waits. */
static void prepare_read_mail(game* one, game* two)
{
    prepare_mail(one, two);
    commit_up_to(one, fetch_for(one, 0, true)->epoch, 5);
    (void)fetch_for(two, DRILL_HOUR, false);
    drill_await_answers(two);
}

static gh_status run_push(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_mailbox_push_begin(&bag->push, ON_MAILBOX(self->game->client, NAME), bag->posts, 3), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->push.op) != GH_PENDING);
    return gh_op_poll(&bag->push.op);
}

static gh_status fetch_with(drill* self, talk_bag* bag, uint64_t wait_us, uint64_t after, bool newest)
{
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer = bag->buffer;
    config.buffer_size = BUFFER;
    config.wait_us = wait_us;
    config.after = after;
    config.newest = newest;
    assert_status(gh_mailbox_fetch_begin(&bag->fetch, ON_MAILBOX(self->game->client, NAME), &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->fetch.op) != GH_PENDING);
    return gh_op_poll(&bag->fetch.op);
}

static gh_status run_fetch(drill* self)
{
    return fetch_with(self, new_talk(self), 0, 0, false);
}

static gh_status run_fetch_newest(drill* self)
{
    return fetch_with(self, new_talk(self), 0, 0, true);
}

static gh_status run_fetch_wait(drill* self)
{
    return fetch_with(self, new_talk(self), 10000, 0, false);
}

static void arm_fetch(drill* self)
{
    talk_bag* bag = self->bag = new_talk(self);
    assert_status(fetch_with(self, bag, 0, 0, false), GH_OK);
}

static gh_status commit_some(drill* self, uint32_t count)
{
    talk_bag* bag = self->bag;
    uint64_t id = bag->fetch.messages[count < bag->fetch.count ? count - 1 : bag->fetch.count - 1].id;
    assert_status(gh_mailbox_commit_begin(&bag->commit, ON_MAILBOX(self->game->client, NAME), bag->fetch.epoch, id),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->commit.op) != GH_PENDING);
    return gh_op_poll(&bag->commit.op);
}

static gh_status run_commit(drill* self)
{
    return commit_some(self, 2);
}

static gh_status run_commit_all(drill* self)
{
    return commit_some(self, 1000);
}

static void arm_push(drill* self)
{
    assert_status(run_push(self), GH_OK);
}

static const drill_case mailbox_cases[] = {
    {"push", prepare_mail, NULL, run_push, GH_OK, false, 0},
    {"push_first", prepare_no_talk, NULL, run_push, GH_OK, false, 0},
    {"push_again", prepare_mail, arm_push, run_push, GH_OK, false, 0},
    {"push_to_reader", prepare_read_mail, NULL, run_push, GH_OK, false, 0},
    {"fetch", prepare_mail, NULL, run_fetch, GH_OK, false, 0},
    {"fetch_past", prepare_large_mail, NULL, run_fetch, GH_OK, false, 0},
    {"fetch_newest", prepare_mail, NULL, run_fetch_newest, GH_OK, false, 0},
    {"fetch_wait", prepare_read_mail, NULL, run_fetch_wait, GH_EMPTY, true, 0},
    {"commit", prepare_mail, arm_fetch, run_commit, GH_OK, false, 0},
    {"commit_all", prepare_one_mail, arm_fetch, run_commit_all, GH_OK, false, 0},
};

/* Ids of the messages that are stored, "<id> ...", must be dense; the last is at most what the next push counts on. */
static bool ids_are_dense(drill* self, const char* key, char why[256])
{
    redisReply* list = redis_server_command(self->server, "LRANGE %s 0 -1", key);
    unsigned long long last = 0;
    bool dense = true;
    for (size_t i = 0; i < list->elements && dense; i++)
    {
        unsigned long long id = strtoull(list->element[i]->str, NULL, 10);
        if (i > 0 && id != last + 1) dense = snprintf(why, 256, "id %llu behind id %llu", id, last) < 0;
        last = id;
    }
    freeReplyObject(list);
    return dense;
}

/* How often each body of the mail that was there before is in the fetch: once each, unless it was committed. */
static bool mail_is_all_there(drill* self, const talk_bag* bag, char why[256])
{
    static const gh_str bodies[] = {GH_STR_INIT("3"), GH_STR_INIT("4"), GH_STR_INIT("5"), GH_STR_INIT("one")};
    unsigned counts[4] = {0};
    bool commits = strncmp(self->current->name, "commit", 6) == 0;
    for (uint32_t i = 0; i < bag->fetch.count; i++)
        for (int k = 0; k < 4; k++) counts[k] += gh_str_equal(bag->fetch.messages[i].body, bodies[k]);
    for (int k = 0; k < 3 && self->current->prepare == prepare_mail; k++)
        if (counts[k] > 1 || (counts[k] == 0 && !commits))
            return snprintf(why, 256, "mail %.*s is there %u times", (int)bodies[k].size, bodies[k].bytes, counts[k]) <
                   0;
    unsigned pushed = strncmp(self->current->name, "push", 4) == 0 ? 1 : 0;
    unsigned others = self->current->arm == arm_push ? 2 : 1;
    if (counts[3] > others + pushed || counts[3] < others + (self->repeated ? pushed : 0))
        return snprintf(why, 256, "a push is there %d times", (int)counts[3] - (int)others) < 0;
    return true;
}

/* A push is taken, all that is there can be fetched, the last of it is what was pushed, and all is committed. */
static bool heal_mailbox(drill* self, char why[256])
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_mailbox_push_begin(&bag->push, ON_MAILBOX(self->game->client, NAME), bag->posts, 3), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->push.op) != GH_PENDING);
    gh_status status = gh_op_poll(&bag->push.op);
    if (status != GH_OK) return snprintf(why, 256, "push: %s", gh_status_name(status)) < 0;
    if (!ids_are_dense(self, drill_key("gh:{mailbox:<name>}:m"), why)) return false;
    long long stored = redis_server_integer(self->server, "LLEN %s", drill_key("gh:{mailbox:<name>}:m"));
    status = fetch_with(self, bag, 0, 0, false);
    if (status != GH_OK) return snprintf(why, 256, "fetch: %s", gh_status_name(status)) < 0;
    if ((long long)bag->fetch.count != stored || bag->fetch.messages[bag->fetch.count - 1].id != bag->posts[2].id)
        return snprintf(why, 256, "fetch: %u messages, not %lld", bag->fetch.count, stored) < 0;
    if (!mail_is_all_there(self, bag, why)) return false;
    self->bag = bag;
    status = run_commit_all(self);
    if (status != GH_OK) return snprintf(why, 256, "commit: %s", gh_status_name(status)) < 0;
    if (redis_server_integer(self->server, "LLEN %s", drill_key("gh:{mailbox:<name>}:m")) > 0)
        return snprintf(why, 256, "commit left something") < 0;
    return true;
}

const drill_system drill_mailbox = {
    "mailbox", "mailbox", mailbox_cases, sizeof(mailbox_cases) / sizeof(mailbox_cases[0]), heal_mailbox, false};

/* ---- chats --------------------------------------------------------------------------------------------- */

static void prepare_chat(game* one, game* two)
{
    assert_status(chat_make(one, DRILL_NAME, DRILL_PLAYER " bob", 100, 10), GH_OK);
    chat_say_numbers(one, DRILL_NAME, DRILL_PLAYER, 3, 1);
    chat_reader* reader = chat_reader_new(two, DRILL_NAME, DRILL_PLAYER " bob");
    assert_status(chat_read(reader), GH_OK);
    reader->members[0].handled = 1;
    assert_status(chat_read(reader), GH_EMPTY);
    chat_say_numbers(two, DRILL_NAME, "bob", 3, 4);
}

/* One of them has no room in the buffers of this file. */
static void prepare_large_chat(game* one, game* two)
{
    gh_post* post = GAME_NEW(two, gh_post);
    *post = large_post(two);
    prepare_chat(one, two);
    assert_status(chat_say(two, DRILL_NAME, post, 1), GH_OK);
    chat_say_numbers(one, DRILL_NAME, DRILL_PLAYER, 1, 7);
}

/* All is read by all, and somebody waits. */
static void prepare_read_chat(game* one, game* two)
{
    assert_status(chat_make(one, DRILL_NAME, DRILL_PLAYER " bob", 3, 3), GH_OK);
    chat_say_numbers(one, DRILL_NAME, DRILL_PLAYER, 3, 1);
    chat_reader* reader = chat_reader_new(two, DRILL_NAME, DRILL_PLAYER " bob");
    assert_status(chat_read(reader), GH_OK);
    chat_handle_all(reader);
    reader->config.wait_us = DRILL_HOUR;
    chat_read_begin(reader);
    drill_await_answers(two);
}

static void prepare_small_chat(game* one, game* two)
{
    (void)two;
    assert_status(chat_make(one, DRILL_NAME, DRILL_PLAYER, 100, 10), GH_OK);
}

static gh_status settle_chat(drill* self, talk_bag* bag)
{
    DRILL_UNTIL(self, gh_op_poll(&bag->change.op) != GH_PENDING);
    return gh_op_poll(&bag->change.op);
}

static gh_status run_create(drill* self)
{
    talk_bag* bag = new_talk(self);
    gh_str names[2] = {bag->members[0].name, bag->members[1].name};
    assert_status(gh_chat_create_begin(&bag->change, ON_CHAT(self->game->client, NAME), names, 2, NULL), GH_OK);
    return settle_chat(self, bag);
}

static gh_status run_create_with_first(drill* self)
{
    talk_bag* bag = new_talk(self);
    gh_str names[2] = {bag->members[0].name, bag->members[1].name};
    assert_status(gh_chat_create_begin(&bag->change, ON_CHAT(self->game->client, NAME), names, 2, bag->posts), GH_OK);
    return settle_chat(self, bag);
}

static gh_status run_join(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(
        gh_chat_join_begin(&bag->change, ON_CHAT(self->game->client, NAME), gh_str_literal("eve"), GH_CHAT_FROM_NOW),
        GH_OK);
    return settle_chat(self, bag);
}

static gh_status run_leave(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_chat_leave_begin(&bag->change, ON_CHAT(self->game->client, NAME), PLAYER), GH_OK);
    return settle_chat(self, bag);
}

static gh_status run_send(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_chat_send_begin(&bag->send, ON_CHAT(self->game->client, NAME), bag->posts, 3), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->send.op) != GH_PENDING);
    return gh_op_poll(&bag->send.op);
}

static gh_status read_with(drill* self, talk_bag* bag, uint64_t wait_us)
{
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.buffer = bag->buffer;
    config.buffer_size = BUFFER;
    config.wait_us = wait_us;
    assert_status(gh_chat_fetch_begin(&bag->read, ON_CHAT(self->game->client, NAME), bag->members, 2, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->read.op) != GH_PENDING);
    return gh_op_poll(&bag->read.op);
}

static gh_status run_read(drill* self)
{
    return read_with(self, new_talk(self), 0);
}

static gh_status run_read_wait(drill* self)
{
    return read_with(self, new_talk(self), 10000);
}

static void arm_read(drill* self)
{
    talk_bag* bag = self->bag = new_talk(self);
    assert_status(read_with(self, bag, 0), GH_OK);
    for (int i = 0; i < 2; i++) bag->members[i].handled = bag->read.messages[bag->read.count - 1].id;
}

static gh_status run_read_on(drill* self)
{
    return read_with(self, self->bag, 0);
}

static gh_status run_done(drill* self)
{
    talk_bag* bag = self->bag;
    assert_status(gh_chat_commit_begin(&bag->done, ON_CHAT(self->game->client, NAME), bag->read.epoch, bag->members, 2),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->done.op) != GH_PENDING);
    return gh_op_poll(&bag->done.op);
}

static gh_status run_list(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_chat_list_begin(&bag->list, self->game->client, PLAYER, bag->items, 8, NULL), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->list.op) != GH_PENDING);
    return gh_op_poll(&bag->list.op);
}

static gh_status run_members(drill* self)
{
    talk_bag* bag = new_talk(self);
    assert_status(gh_chat_members_begin(&bag->all, ON_CHAT(self->game->client, NAME), bag->who, 16), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->all.op) != GH_PENDING);
    return gh_op_poll(&bag->all.op);
}

typedef struct feed_bag
{
    gh_chat_feed feed;
    gh_chat_player player;
    gh_chat_room rooms[2];
    gh_chat_seat seats[2];
    _Alignas(16) char buffer[2 * GH_CHAT_ROOM_SIZE_MIN];
} feed_bag;

/* What is told is taken, for a while. How the player and its chats are is no status of an op. */
static gh_status run_feed(drill* self)
{
    feed_bag* bag = DRILL_NEW(self, feed_bag);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = bag->rooms;
    config.room_count = 2;
    config.seats = bag->seats;
    config.seat_count = 2;
    config.buffer = bag->buffer;
    config.buffer_size = sizeof(bag->buffer);
    assert_status(gh_chat_feed_begin(&bag->feed, self->game->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(&bag->feed, &bag->player, PLAYER), GH_OK);
    uint64_t end_us = wait_now_us() + 15000;
    while (wait_now_us() < end_us && drill_goes_on(self))
        for (gh_chat_line line; gh_chat_feed_line(&bag->feed, &line);) assert_ptr_equal(line.player, &bag->player);
    gh_chat_feed_end(&bag->feed);
    DRILL_UNTIL(self, game_stats(self->game).ops_busy <= 1);
    return game_stats(self->game).ops_busy <= 1 ? GH_OK : GH_PENDING;
}

static void arm_send(drill* self)
{
    assert_status(run_send(self), GH_OK);
}

static const drill_case chat_cases[] = {
    {"create", prepare_no_talk, NULL, run_create_with_first, GH_OK, false, 0},
    {"create_again", prepare_chat, NULL, run_create, GH_EXISTS, false, 0},
    {"join", prepare_chat, NULL, run_join, GH_OK, false, 0},
    {"leave", prepare_chat, NULL, run_leave, GH_OK, false, 0},
    {"leave_last", prepare_small_chat, NULL, run_leave, GH_OK, false, 0},
    {"send", prepare_chat, NULL, run_send, GH_OK, false, 0},
    {"send_again", prepare_chat, arm_send, run_send, GH_OK, false, 0},
    {"send_first", prepare_small_chat, NULL, run_send, GH_OK, false, 0},
    {"send_over", prepare_read_chat, NULL, run_send, GH_OK, false, 0},
    {"read", prepare_chat, NULL, run_read, GH_OK, false, 0},
    {"read_past", prepare_large_chat, NULL, run_read, GH_OK, false, 0},
    {"read_wait", prepare_read_chat, NULL, run_read_wait, GH_EMPTY, true, 0},
    {"read_on", prepare_chat, arm_read, run_read_on, GH_EMPTY, false, 0},
    {"commit", prepare_chat, arm_read, run_done, GH_OK, false, 0},
    {"list", prepare_chat, NULL, run_list, GH_OK, false, 0},
    {"members", prepare_chat, NULL, run_members, GH_OK, false, 0},
    {"feed", prepare_chat, NULL, run_feed, GH_OK, false, 60},
};

/* Six messages were there, and what was said since is there once. What all have handled may be gone. */
static bool talk_is_all_there(drill* self, char why[256])
{
    if (self->current->prepare != prepare_chat) return true;
    const char* key = drill_key("gh:{chat:<name>}:m");
    long long sends = strncmp(self->current->name, "send", 4) == 0 ? 3 : 0;
    long long least = self->current->arm == arm_send ? 12 : 9;
    bool handles = strcmp(self->current->name, "read_on") == 0 || strcmp(self->current->name, "commit") == 0 ||
                   strcmp(self->current->name, "feed") == 0;
    long long count = redis_server_integer(self->server, "LLEN %s", key);
    long long last = strtoll(redis_server_text(self->server, "LINDEX %s -1", key), NULL, 10);
    if ((last != least || (self->repeated && sends > 0)) && last != least + sends)
        return snprintf(why, 256, "the last of the messages is %lld, not %lld", last, least + sends) < 0;
    if (count != last && !handles) return snprintf(why, 256, "%lld messages of %lld", count, last) < 0;
    return true;
}

/* Two join it or make it anew, say something, and read just that. */
static bool heal_chat(drill* self, char why[256])
{
    talk_bag* bag = new_talk(self);
    gh_status status = GH_OK;
    for (int i = 0; i < 2; i++)
    {
        assert_status(
            gh_chat_join_begin(&bag->change, ON_CHAT(self->game->client, NAME), bag->members[i].name, GH_CHAT_FROM_NOW),
            GH_OK);
        status = settle_chat(self, bag);
        if (status == GH_GONE) status = run_create(self);
        if (status != GH_OK) return snprintf(why, 256, "join: %s", gh_status_name(status)) < 0;
    }
    assert_status(gh_chat_send_begin(&bag->send, ON_CHAT(self->game->client, NAME), bag->posts, 3), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->send.op) != GH_PENDING);
    status = gh_op_poll(&bag->send.op);
    if (status != GH_OK) return snprintf(why, 256, "send: %s", gh_status_name(status)) < 0;
    if (!ids_are_dense(self, drill_key("gh:{chat:<name>}:m"), why) || !talk_is_all_there(self, why)) return false;
    status = read_with(self, bag, 0);
    if (status != GH_OK) return snprintf(why, 256, "fetch: %s", gh_status_name(status)) < 0;
    if (bag->read.count < 3 || bag->read.messages[bag->read.count - 1].id != bag->posts[2].id)
        return snprintf(why, 256, "fetch: %u messages", bag->read.count) < 0;
    self->bag = bag;
    bag->members[0].handled = bag->members[1].handled = bag->posts[2].id;
    status = run_done(self);
    if (status != GH_OK) return snprintf(why, 256, "commit: %s", gh_status_name(status)) < 0;
    status = run_list(self);
    if (status != GH_OK) return snprintf(why, 256, "list: %s", gh_status_name(status)) < 0;
    return true;
}

const drill_system drill_chat = {"chat",    "chat chats", chat_cases, sizeof(chat_cases) / sizeof(chat_cases[0]),
                                 heal_chat, false};
