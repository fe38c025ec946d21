/* A store that comes back with older data, again and again, under clients that push, fetch, commit and listen. What
   each of them was told is kept, and judged: no (epoch, id) ever has two bodies, no commit takes away what nobody has
   read, and every reader hears everything that is still in the store. */

#include "client/op.h"
#include "support/random.h"
#include "support/scene/talk.h"
#include "support/server/store_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    14
#define BODIES    2000
#define NAME      gh_str_literal("jeff")
#define KEEP      1000
#define MANY      100
#define FEED_ROOM 65536

/* Bodies are numbers, each of which is pushed once. */
typedef struct history
{
    struct
    {
        uint64_t epoch;
        uint64_t id;
    } names[BODIES];
    unsigned pushed; /* so many bodies were given away */
} history;

static void history_note(history* self, uint64_t epoch, uint64_t id, unsigned body)
{
    assert_true(body < self->pushed);
    assert_true(epoch > 0 && id > 0);
    for (unsigned i = 0; i < self->pushed; i++)
        if (self->names[i].epoch == epoch && self->names[i].id == id && i != body)
            fail_msg("(%llu, %llu) is %u, and was %u", (unsigned long long)epoch, (unsigned long long)id, body, i);
    if (self->names[body].id != 0 && (self->names[body].epoch != epoch || self->names[body].id != id))
        fail_msg("%u has two names", body);
    self->names[body].epoch = epoch;
    self->names[body].id = id;
}

static unsigned body_of(const gh_message* message)
{
    char text[16];
    snprintf(text, sizeof(text), "%.*s", (int)message->body.size, message->body.bytes);
    return (unsigned)strtoul(text, NULL, 10);
}

/* What lies in a list of the store: the last word of each entry is its sender and body, "joe<number>". */
static unsigned stored(redis_server* server, const char* key, bool is_there[BODIES])
{
    redisReply* list = redis_server_command(server, "LRANGE %s 0 -1", key);
    unsigned count = (unsigned)list->elements;
    memset(is_there, 0, BODIES * sizeof(bool));
    for (size_t i = 0; i < list->elements; i++)
        is_there[strtoul(strstr(list->element[i]->str, "joe") + 3, NULL, 10)] = true;
    freeReplyObject(list);
    return count;
}

static void restart_with_what_was_saved(redis_server* server)
{
    redis_server_kill9(server);
    redis_server_restart(server);
}

/* ---- a mailbox ----------------------------------------------------------------------------------------- */

typedef struct mail_reader
{
    gh_mailbox_fetch fetch;
    gh_mailbox_commit commit;
    gh_mailbox_fetch_config config;
    uint64_t epoch, id; /* what it keeps with what it did */
    bool reads_on;      /* with `after`, as one does that commits later */
    bool has_heard[BODIES];
} mail_reader;

static mail_reader* mail_reader_new(game* from, bool reads_on)
{
    mail_reader* self = GAME_NEW(from, mail_reader);
    self->config = gh_mailbox_fetch_config_default();
    self->config.buffer = GAME_NEW_ARRAY(from, char, 1 << 18);
    self->config.buffer_size = 1 << 18;
    self->config.messages_max = 1000;
    self->reads_on = reads_on;
    return self;
}

static void mail_push(game* from, history* told, unsigned count)
{
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_post* posts = talk_numbers(from, "joe", count, told->pushed);
    assert_true(told->pushed + count <= BODIES);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(from->client, NAME), posts, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    assert_status(gh_op_poll(&push->op), GH_OK);
    told->pushed += count;
    for (unsigned i = 0; i < count; i++) history_note(told, push->epoch, posts[i].id, told->pushed - count + i);
}

static void mail_read(game* from, mail_reader* self, history* told)
{
    assert_status(gh_mailbox_fetch_begin(&self->fetch, ON_MAILBOX(from->client, NAME), &self->config), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->fetch.op) != GH_PENDING);
    if (gh_op_poll(&self->fetch.op) == GH_EMPTY) return;
    assert_status(gh_op_poll(&self->fetch.op), GH_OK);
    for (uint32_t i = 0; i < self->fetch.count; i++)
    {
        const gh_message* message = &self->fetch.messages[i];
        history_note(told, message->epoch, message->id, body_of(message));
        if (!gh_message_is_after(message, self->epoch, self->id)) continue;
        self->has_heard[body_of(message)] = true;
        self->epoch = message->epoch;
        self->id = message->id;
    }
    if (!self->reads_on) return;
    self->config.epoch = self->fetch.epoch;
    self->config.after = self->fetch.messages[self->fetch.count - 1].id;
}

/* What a commit takes away has been read. */
static void mail_commit(game* from, redis_server* server, mail_reader* self, uint64_t epoch, uint64_t id)
{
    static bool before[BODIES], after[BODIES];
    stored(server, "gh:{mailbox:jeff}:m", before);
    assert_status(gh_mailbox_commit_begin(&self->commit, ON_MAILBOX(from->client, NAME), epoch, id), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->commit.op) != GH_PENDING);
    gh_status status = gh_op_poll(&self->commit.op);
    stored(server, "gh:{mailbox:jeff}:m", after);
    assert_true(status == GH_OK || status == GH_RESTARTED);
    for (unsigned i = 0; i < BODIES; i++)
        if (before[i] && !after[i] && (!self->has_heard[i] || status != GH_OK))
            fail_msg("%u goes unread, with a commit that is %s", i, gh_status_name(status));
}

static void commits_of_what_is_lost_take_nothing_new(void** state)
{
    (void)state;
    static bool there[BODIES];
    random_stream random = random_for_test("rounds");
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(a, history);
    mail_reader* reader = mail_reader_new(a, false);
    mail_reader* onlooker = mail_reader_new(a, true); /* never commits */
    for (int round = 0; round < ROUNDS; round++)
    {
        mail_push(a, told, (unsigned)random_between(&random, 1, 12));
        if (random_one_in(&random, 2)) mail_read(a, reader, told);
        if (round == 0 || random_one_in(&random, 2)) redis_server_do(server, "SAVE");
        mail_push(a, told, (unsigned)random_between(&random, 1, 12));
        mail_read(a, onlooker, told);
        mail_read(a, reader, told);
        uint64_t epoch = random_one_in(&random, 2) ? reader->fetch.epoch : reader->epoch;
        uint64_t id = reader->id;
        if (random_one_in(&random, 3)) mail_commit(a, server, reader, epoch, id);
        restart_with_what_was_saved(server);
        if (random_one_in(&random, 4)) mail_commit(a, server, reader, epoch, id);
        mail_push(a, told, (unsigned)random_between(&random, 1, 20));
        mail_commit(a, server, reader, epoch, id);
        mail_read(a, reader, told);
        mail_read(a, onlooker, told);
        stored(server, "gh:{mailbox:jeff}:m", there);
        for (unsigned i = 0; i < BODIES; i++)
            if (there[i] && (!reader->has_heard[i] || !onlooker->has_heard[i])) fail_msg("nobody hears %u", i);
        if (random_one_in(&random, 3))
        {
            mail_commit(a, server, reader, reader->epoch, reader->id);
            assert_status(gh_op_poll(&reader->commit.op), GH_OK);
            mail_commit(a, server, reader, reader->epoch, reader->id); /* once more */
            assert_status(gh_op_poll(&reader->commit.op), GH_OK);
        }
    }
}

/* Of the epoch before, all is there but the last message, and another one has its id now. */
static void commit_of_the_first_that_is_lost_takes_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(a, history);
    mail_reader* reader = mail_reader_new(a, false);
    mail_push(a, told, 3);
    redis_server_do(server, "SAVE");
    mail_push(a, told, 1);
    mail_read(a, reader, told);
    restart_with_what_was_saved(server);
    mail_push(a, told, 1);
    mail_commit(a, server, reader, reader->epoch, reader->id);
    assert_status(gh_op_poll(&reader->commit.op), GH_RESTARTED);
    mail_read(a, reader, told);
    assert_true(reader->has_heard[4]);
}

/* A restart that lost nothing: what is there keeps its names, and what was fetched before can be committed. */
static void restart_that_loses_nothing_renames_nothing(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(a, history);
    mail_reader* reader = mail_reader_new(a, false);
    mail_push(a, told, 5);
    mail_read(a, reader, told);
    uint64_t epoch = reader->fetch.epoch;
    restart_with_what_was_saved(server);
    mail_push(a, told, 5);
    mail_read(a, reader, told);
    assert_int_equal(reader->fetch.count, 10);
    assert_true(reader->fetch.epoch > epoch);
    assert_true(reader->fetch.messages[4].epoch == epoch);
    assert_true(reader->fetch.messages[5].epoch > epoch);
    mail_commit(a, server, reader, epoch, 3);
    assert_status(gh_op_poll(&reader->commit.op), GH_OK);
    assert_int_equal(reader->commit.unread, 7);
    mail_commit(a, server, reader, epoch, 6); /* is none of that epoch */
    assert_status(gh_op_poll(&reader->commit.op), GH_RESTARTED);
    mail_commit(a, server, reader, reader->fetch.epoch, 10);
    assert_status(gh_op_poll(&reader->commit.op), GH_OK);
    mail_commit(a, server, reader, epoch, 5); /* is gone, by a commit */
    assert_status(gh_op_poll(&reader->commit.op), GH_OK);
}

/* A push as if the store had been started anew before it: it begins an epoch. */
static void push_into_a_new_epoch(game* from, redis_server* server, history* told)
{
    redis_server_do(server, "HSET gh:{mailbox:jeff}:s g %llu",
                    (unsigned long long)gh_client_generation(from->client, 0) - 1);
    mail_push(from, told, 1);
}

/* What is older is told with the oldest epoch that is known; what came later is as it was. */
static void epoch_is_known_until_32_later_ones_have_ended(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(a, history);
    mail_reader* reader = mail_reader_new(a, false);
    mail_push(a, told, 1);
    for (unsigned i = 0; i < 32; i++) push_into_a_new_epoch(a, server, told);
    mail_read(a, reader, told); /* each has the name that its sender was told */
    push_into_a_new_epoch(a, server, told);
    assert_true(told->names[1].epoch > told->names[0].epoch);
    told->names[0].epoch = told->names[1].epoch;
    mail_read(a, reader, told);
    assert_int_equal(reader->fetch.count, 34);
}

/* Somebody who still knows the generation before does nothing under it: he brings the later one to the epoch, and goes
   on with that. */
static void stale_generations_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(a, history);
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    mail_push(a, told, 2);
    chat_say_numbers(a, "raid", "joe", 1, 0);
    unsigned long long generation = strtoull(redis_server_text(server, "HGET gh:{mailbox:jeff}:s g"), NULL, 10);
    assert_true(generation > 0);
    redis_server_do(server, "HSET gh:{mailbox:jeff}:s g %llu", generation + 7);
    mail_push(a, told, 1);
    assert_true(gh_client_generation(a->client, 0) == generation + 7);
    redis_server_do(server, "HSET gh:{chat:raid}:s g %llu", generation + 9);
    chat_say_numbers(a, "raid", "joe", 1, 1);
    assert_true(gh_client_generation(a->client, 0) == generation + 9);
    redis_server_do(server, "HSET gh:{chat:raid}:s g %llu", generation + 11);
    assert_status(chat_enter(a, "raid", "jenny", GH_CHAT_FROM_NOW), GH_OK);
    game* b = game_start_ready(redis_server_address(server));
    assert_true(gh_client_generation(b->client, 0) == generation + 11);
}

/* The clock goes back over a FLUSHALL: who comes new is told of a generation that is not later than the one that others
   still write down. */
static void clock_that_went_back_over_a_loss_stops_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(&(redis_server_options){.clock = true});
    redis_server_shift_clock(server, 0);
    game* old = game_start_ready(redis_server_address(server));
    history* told = GAME_NEW(old, history);
    redis_server_shift_clock(server, -60 * 1000000);
    redis_server_do(server, "FLUSHALL");
    game* one = game_start_ready(redis_server_address(server));
    assert_true(gh_client_generation(one->client, 0) < gh_client_generation(old->client, 0));
    mail_push(old, told, 1);
    mail_push(one, told, 1);
    assert_true(gh_client_generation(one->client, 0) >= gh_client_generation(old->client, 0));
    mail_push(old, told, 1);
    assert_status(chat_make(old, "raid", "joe", KEEP, MANY), GH_OK);
    game* two = game_start_ready(redis_server_address(server));
    chat_say_numbers(two, "raid", "joe", 1, 0);
    assert_int_equal(redis_server_integer(server, "LLEN gh:{mailbox:jeff}:m"), 3);
}

/* The epoch of a push under that generation to a mailbox with that one. */
static unsigned long long epoch_behind_a_loss(redis_server* server, const char* push, unsigned generation,
                                              const char* epoch_before)
{
    redis_server_do(server, "FLUSHDB");
    redis_server_do(server, "HSET gh:{mailbox:jeff}:s e %s n 7 g 1000", epoch_before);
    redisReply* reply = redis_server_command(
        server,
        "EVALSHA %s 4 gh:{mailbox:jeff}:s gh:{mailbox:jeff}:m gh:{mailbox:jeff}:h gh:{mailbox:jeff}:waa"
        " 00000000000000aa:0000000000000001 1 100 %u joe lost",
        push, generation);
    unsigned long long epoch = strtoull(store_rest(reply, 3), NULL, 10);
    assert_string_equal(redis_server_text(server, "HGET gh:{mailbox:jeff}:s n"), "8");
    freeReplyObject(reply);
    return epoch;
}

/* The clock went back, so the time tells nothing; and each of two losses takes the epoch of the other away. */
static void epochs_ahead_of_the_clock_differ_behind_each_loss(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    const char* push = store_script(server, "mailbox/mailbox_push");
    unsigned long long one = epoch_behind_a_loss(server, push, 2000, "9000000000000000");
    unsigned long long other = epoch_behind_a_loss(server, push, 3000, "9000000000000000");
    assert_true(one > 9000000000000000);
    assert_true(other > one);
}

/* However far apart the generations are: an epoch that is ahead of the clock would be met again behind FLUSHALL. */
static void epoch_is_the_time_while_the_clock_goes_on(void** state)
{
    (void)state;
    char before[32];
    redis_server* server = redis_server_start(NULL);
    const char* push = store_script(server, "mailbox/mailbox_push");
    (void)snprintf(before, sizeof before, "%llu", epoch_behind_a_loss(server, push, 2000, "1000"));
    unsigned long long behind = epoch_behind_a_loss(server, push, 2000000000, before);
    assert_true(behind > strtoull(before, NULL, 10));
    assert_true(epoch_behind_a_loss(server, push, 2000, "1000") > behind); /* the time */
}

/* ---- a chat -------------------------------------------------------------------------------------------- */

typedef struct chat_crowd
{
    game* from;
    history* told;
    chat_reader* both; /* joe and jeff */
    gh_chat_feed feed; /* jenny */
    gh_chat_player jenny;
    bool has_heard[3][BODIES];
} chat_crowd;

static void crowd_hears(chat_crowd* self, int who, const gh_chat_fetch* fetch, uint64_t from)
{
    for (uint32_t i = 0; i < fetch->count; i++)
    {
        const gh_message* message = &fetch->messages[i];
        history_note(self->told, message->epoch, message->id, body_of(message));
        if (message->id > from) self->has_heard[who][body_of(message)] = true;
    }
}

static void crowd_say(chat_crowd* self, unsigned count)
{
    gh_chat_send* send = GAME_NEW(self->from, gh_chat_send);
    gh_post* posts = talk_numbers(self->from, "joe", count, self->told->pushed);
    assert_true(self->told->pushed + count <= BODIES);
    assert_status(gh_chat_send_begin(send, ON_CHAT(self->from->client, gh_str_literal("raid")), posts, count), GH_OK);
    GAME_UNTIL(gh_op_poll(&send->op) != GH_PENDING);
    assert_status(gh_op_poll(&send->op), GH_OK);
    self->told->pushed += count;
    for (unsigned i = 0; i < count; i++)
        history_note(self->told, send->epoch, posts[i].id, self->told->pushed - count + i);
}

static void crowd_read(chat_crowd* self)
{
    gh_status status = chat_read(self->both);
    if (status == GH_EMPTY) return;
    assert_status(status, GH_OK);
    for (int i = 0; i < 2; i++) crowd_hears(self, i, &self->both->fetch, self->both->members[i].from);
}

static void crowd_listen(chat_crowd* self)
{
    gh_chat_line line;
    while (gh_chat_feed_line(&self->feed, &line))
    {
        unsigned body = body_of(line.message);
        history_note(self->told, line.message->epoch, line.message->id, body);
        self->has_heard[2][body] = true;
    }
}

static bool crowd_has_heard_all(chat_crowd* self, const bool there[BODIES])
{
    crowd_listen(self);
    for (unsigned i = 0; i < BODIES; i++)
        if (there[i] && !self->has_heard[2][i]) return false;
    return true;
}

static chat_crowd* crowd_new(game* from)
{
    chat_crowd* self = GAME_NEW(from, chat_crowd);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    self->from = from;
    self->told = GAME_NEW(from, history);
    self->both = chat_reader_new(from, "raid", "joe jeff");
    self->both->config.messages_max = 500;
    config.rooms = GAME_NEW(from, gh_chat_room);
    config.room_count = 1;
    config.seats = GAME_NEW(from, gh_chat_seat);
    config.seat_count = 1;
    config.buffer = GAME_NEW_ARRAY(from, char, FEED_ROOM);
    config.buffer_size = FEED_ROOM;
    config.list_us = SECOND_US;
    assert_status(gh_chat_feed_begin(&self->feed, from->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(&self->feed, &self->jenny, gh_str_literal("jenny")), GH_OK);
    return self;
}

static void readers_of_a_chat_hear_what_is_there(void** state)
{
    (void)state;
    static bool there[BODIES];
    random_stream random = random_for_test("rounds");
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff jenny", KEEP, MANY), GH_OK);
    chat_crowd* crowd = crowd_new(a);
    for (int round = 0; round < ROUNDS; round++)
    {
        crowd_say(crowd, (unsigned)random_between(&random, 1, 12));
        if (random_one_in(&random, 2)) crowd_read(crowd);
        if (round == 0 || random_one_in(&random, 2)) redis_server_do(server, "SAVE");
        crowd_say(crowd, (unsigned)random_between(&random, 1, 12));
        crowd_read(crowd);
        if (random_one_in(&random, 2)) crowd_listen(crowd);
        if (crowd->both->fetch.count > 0 && random_one_in(&random, 2)) chat_handle_all(crowd->both);
        restart_with_what_was_saved(server);
        crowd_say(crowd, (unsigned)random_between(&random, 1, 20));
        if (random_one_in(&random, 2)) crowd_listen(crowd);
        do crowd_read(crowd);
        while (gh_op_poll(&crowd->both->fetch.op) == GH_OK);
        (void)stored(server, "gh:{chat:raid}:m", there);
        for (int who = 0; who < 2; who++)
            for (unsigned i = 0; i < BODIES; i++)
                if (there[i] && !crowd->has_heard[who][i]) fail_msg("reader %d does not hear %u", who, i);
        GAME_UNTIL(crowd_has_heard_all(crowd, there));
    }
    gh_chat_feed_end(&crowd->feed);
}

/* What was handled before the store forgot it says nothing about what has its ids now. */
static void handled_of_what_is_lost_skips_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_reader* jeff = chat_reader_new(a, "raid", "jeff");
    gh_chat_commit* commit = GAME_NEW(a, gh_chat_commit);
    chat_say_numbers(a, "raid", "joe", 4, 0);
    redis_server_do(server, "SAVE");
    chat_say_numbers(a, "raid", "joe", 6, 4);
    assert_status(chat_read(jeff), GH_OK);
    uint64_t epoch = jeff->fetch.epoch;
    assert_int_equal(jeff->fetch.count, 10);
    restart_with_what_was_saved(server);
    chat_say_numbers(a, "raid", "joe", 8, 100); /* ids 5 to 12 again */
    jeff->members[0].handled = 10;
    gh_chat_member once = {.name = gh_str_literal("jeff"), .handled = 10};
    assert_status(gh_chat_commit_begin(commit, ON_CHAT(a->client, gh_str_literal("raid")), epoch, &once, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    assert_status(gh_op_poll(&commit->op), GH_RESTARTED);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 4);
    assert_status(chat_read(jeff), GH_OK);
    assert_numbers(jeff->fetch.messages, jeff->fetch.count, 100, 5);
    assert_int_equal(jeff->fetch.count, 8);
    assert_true(jeff->fetch.messages[0].epoch > epoch);
    assert_false(jeff->fetch.renewed);
    assert_int_equal(jeff->members[0].from, 4);
    assert_int_equal(jeff->members[0].handled, 4);
    jeff->members[0].handled = 10; /* somebody who has taken his time, and says of which epoch */
    jeff->members[0].handled_epoch = epoch;
    (void)chat_read(jeff);
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 4);
}

TEST_FILE(talk_epochs, cmocka_unit_test(commits_of_what_is_lost_take_nothing_new),
          cmocka_unit_test(commit_of_the_first_that_is_lost_takes_nothing),
          cmocka_unit_test(restart_that_loses_nothing_renames_nothing),
          cmocka_unit_test(epoch_is_known_until_32_later_ones_have_ended), cmocka_unit_test(stale_generations_are_told),
          cmocka_unit_test(clock_that_went_back_over_a_loss_stops_nobody),
          cmocka_unit_test(epochs_ahead_of_the_clock_differ_behind_each_loss),
          cmocka_unit_test(epoch_is_the_time_while_the_clock_goes_on),
          cmocka_unit_test(readers_of_a_chat_hear_what_is_there),
          cmocka_unit_test(handled_of_what_is_lost_skips_nothing));
