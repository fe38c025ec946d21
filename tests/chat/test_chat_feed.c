/* Tests of the feed of guildhall/chat.h: all chats of all players of a server, each read once. */

#include "support/scene/talk.h"

#include <stdio.h>
#include <string.h>

#define KEEP 1000
#define MANY 1000

/* A feed with its memory, and what its players were handed out. */
typedef struct feeding
{
    gh_chat_feed feed;
    gh_chat_feed_config config;
    game* from;
} feeding;

static feeding* feeding_new(game* from, uint32_t rooms, uint32_t seats, size_t room_bytes, uint32_t messages_max)
{
    feeding* self = GAME_NEW(from, feeding);
    self->from = from;
    self->config = gh_chat_feed_config_default();
    self->config.rooms = GAME_NEW_ARRAY(from, gh_chat_room, rooms);
    self->config.room_count = rooms;
    self->config.seats = GAME_NEW_ARRAY(from, gh_chat_seat, seats);
    self->config.seat_count = seats;
    self->config.buffer = GAME_NEW_ARRAY(from, char, rooms* room_bytes);
    self->config.buffer_size = rooms * room_bytes;
    self->config.messages_max = messages_max;
    self->config.list_us = SECOND_US;
    memset(self->config.rooms, 0xa5, rooms * sizeof(gh_chat_room)); /* needs no set-up */
    memset(self->config.seats, 0xa5, seats * sizeof(gh_chat_seat));
    assert_status(gh_chat_feed_begin(&self->feed, from->client, &self->config), GH_OK);
    return self;
}

/* What a player has got: the last id per chat, for ids that come without a gap. */
typedef struct listener
{
    gh_chat_player player;
    unsigned count;
    struct
    {
        char chat[16];
        uint64_t last;
    } chats[16];
} listener;

static listener* listen(feeding* self, const char* name)
{
    listener* new = GAME_NEW(self->from, listener);
    new->player.op.user = new;
    assert_status(gh_chat_feed_add(&self->feed, &new->player, gh_str_of(name)), GH_OK);
    return new;
}

static uint64_t* last_of(listener* self, gh_str chat)
{
    for (int i = 0; i < 16; i++)
    {
        if (self->chats[i].chat[0] == '\0') snprintf(self->chats[i].chat, 16, "%.*s", (int)chat.size, chat.bytes);
        if (gh_str_equal(gh_str_of(self->chats[i].chat), chat)) return &self->chats[i].last;
    }
    fail_msg("more chats than a listener has room for");
    return NULL;
}

/* As a frame would; returns how many lines there were. */
static unsigned feed_frame(feeding* self)
{
    unsigned lines = 0;
    gh_chat_line line;
    for (; gh_chat_feed_line(&self->feed, &line); lines++)
    {
        listener* to = line.player->op.user;
        uint64_t* last = last_of(to, line.room->name);
        assert_true(*last == 0 || line.message->id == *last + 1);
        *last = line.message->id;
        to->count++;
    }
    return lines;
}

#define FEED_UNTIL(self, condition) GAME_UNTIL((feed_frame(self), (condition)))

static void pulls_all_chats_of_a_player(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 8; i++)
    {
        char chat[16];
        snprintf(chat, sizeof(chat), "c%d", i);
        assert_status(chat_make(a, chat, "joe jeff", KEEP, MANY), GH_OK);
        chat_say_numbers(a, chat, "joe", (size_t)i + 1, 0);
    }
    feeding* self = feeding_new(b, 8, 8, 8192, 64);
    listener* jeff = listen(self, "jeff");
    FEED_UNTIL(self, jeff->count == 36);
    assert_int_equal(jeff->player.chats, 8);
    assert_status(jeff->player.status, GH_OK);
    FEED_UNTIL(self, redis_server_integer(server, "ZSCORE gh:{chat:c7}:v jeff") == 8); /* handled is said by itself */
    chat_say_numbers(a, "c3", "joe", 2, 4);
    FEED_UNTIL(self, jeff->count == 38);
    gh_chat_feed_end(&self->feed);
    assert_int_equal(self->feed.rooms_used, 0);
}

/* A hundred players of one guild on this server: each message is read once. */
static void one_fetch_serves_many_players(void** state)
{
    (void)state;
    enum
    {
        PLAYERS = 100
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    listener* players[PLAYERS];
    char(*names)[16] = (char(*)[16])GAME_NEW_ARRAY(b, char, 16 * PLAYERS);
    assert_status(chat_make(a, "guild", "joe", KEEP, MANY), GH_OK);
    feeding* self = feeding_new(b, 2, PLAYERS, 8192, 64);
    for (int i = 0; i < PLAYERS; i++)
    {
        snprintf(names[i], 16, "p%d", i);
        assert_status(chat_enter(a, "guild", names[i], GH_CHAT_FROM_NOW), GH_OK);
        players[i] = listen(self, names[i]);
    }
    FEED_UNTIL(self, self->feed.seats_used == PLAYERS && redis_server_integer(server, "ZCARD gh:{chat:guild}:h") == 1);
    chat_say_numbers(a, "guild", "joe", 50, 0);
    for (int i = 0; i < PLAYERS; i++) FEED_UNTIL(self, players[i]->count == 50);
    assert_int_equal(self->feed.rooms_used, 1);
    FEED_UNTIL(self, redis_server_integer(server, "ZCARD gh:{chat:guild}:h") == 1); /* it waits again */
    long long reads = redis_server_calls(server, "lrange");
    chat_say_numbers(a, "guild", "joe", 16, 50);
    FEED_UNTIL(self, players[0]->count == 66 && players[PLAYERS - 1]->count == 66);
    assert_int_equal(redis_server_calls(server, "lrange") - reads, 1); /* one chunk, for a hundred */
    for (int i = 0; i < PLAYERS; i++) assert_int_equal(players[i]->count, 66);
}

/* The noisy chat has 900 messages and a part of its own; the quiet one is not held up by them. */
static void noisy_chat_starves_nobody(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    unsigned rounds[2] = {0, 0};
    uint64_t most = 0;
    assert_status(chat_make(a, "noisy", "joe jeff", KEEP, MANY), GH_OK);
    assert_status(chat_make(a, "quiet", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "noisy", "joe", 900, 0);
    feeding* self = feeding_new(b, 4, 4, GH_CHAT_ROOM_SIZE_MIN, 10);
    listener* jeff = listen(self, "jeff");
    for (unsigned said = 0; *last_of(jeff, gh_str_literal("noisy")) < 900;)
    {
        gh_chat_room* room = gh_chat_feed_next(&self->feed);
        game_tick_all();
        if (room == NULL) continue;
        bool noisy = gh_str_equal(room->name, gh_str_literal("noisy"));
        if (room->fetch.count > most) most = room->fetch.count;
        rounds[noisy]++;
        *last_of(jeff, room->name) = room->fetch.messages[room->fetch.count - 1].id;
        gh_chat_feed_done(&self->feed, room, true);
        /* Whenever the noisy one has had its turn, the quiet one gets a message: it must have come before
         * long. */
        if (noisy && *last_of(jeff, gh_str_literal("quiet")) == said) chat_say_numbers(a, "quiet", "joe", 1, said++);
    }
    assert_int_equal(most, 10);
    assert_int_equal(rounds[1], 90);
    assert_true(rounds[0] >= 30);
}

static void follows_joins_and_leaves_of_other_servers(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    feeding* self = feeding_new(b, 4, 4, 8192, 64);
    listener* jeff = listen(self, "jeff");
    FEED_UNTIL(self, jeff->player.status == GH_OK);
    assert_int_equal(jeff->player.chats, 0);
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "raid", "joe", 3, 0);
    FEED_UNTIL(self, jeff->count == 3);
    assert_status(chat_quit(a, "raid", "jeff"), GH_OK);
    chat_say_numbers(a, "raid", "joe", 3, 3);
    FEED_UNTIL(self, jeff->player.chats == 0);
    assert_int_equal(jeff->count, 3); /* nothing after the leave */
    assert_int_equal(self->feed.rooms_used, 0);
    assert_status(chat_enter(a, "raid", "jeff", GH_CHAT_FROM_NOW), GH_OK);
    *last_of(jeff, gh_str_literal("raid")) = 6;
    chat_say_numbers(a, "raid", "joe", 2, 6);
    FEED_UNTIL(self, jeff->count == 5);
}

static void player_with_a_backlog_joins_a_room_that_is_read(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    feeding* self = feeding_new(b, 4, 4, 8192, 64);
    listener* joe = listen(self, "joe");
    FEED_UNTIL(self, joe->player.chats == 1);
    chat_say_numbers(a, "raid", "joe", 5, 0);
    FEED_UNTIL(self, joe->count == 5);
    listener* jeff = listen(self, "jeff");
    FEED_UNTIL(self, jeff->count == 5);
    assert_int_equal(joe->count, 5); /* nothing twice */
    gh_chat_feed_remove(&self->feed, &jeff->player);
    chat_say_numbers(a, "raid", "joe", 1, 5);
    FEED_UNTIL(self, joe->count == 6);
    assert_int_equal(jeff->count, 5);
    assert_int_equal(self->feed.seats_used, 1);
    gh_chat_feed_remove(&self->feed, &joe->player);
    assert_int_equal(self->feed.rooms_used, 0);
}

static void no_room_and_no_seat_say_full(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 4; i++)
    {
        char chat[16];
        snprintf(chat, sizeof(chat), "c%d", i);
        assert_status(chat_make(a, chat, "joe jeff", KEEP, MANY), GH_OK);
        chat_say_numbers(a, chat, "joe", 1, 0);
    }
    for (uint32_t rooms = 3; rooms <= 5; rooms++)
    {
        feeding* self = feeding_new(a, rooms, 5, 8192, 64);
        listener* jeff = listen(self, "jeff");
        FEED_UNTIL(self, jeff->count == (rooms < 4 ? rooms : 4));
        assert_status(jeff->player.status, rooms < 4 ? GH_FULL : GH_OK);
        gh_chat_feed_end(&self->feed);
        redis_server_do(server, "ZADD gh:{chat:c0}:v 0 jeff");
        self = feeding_new(a, 5, rooms, 8192, 64);
        jeff = listen(self, "joe");
        FEED_UNTIL(self, jeff->player.status != GH_PENDING);
        assert_status(jeff->player.status, rooms < 4 ? GH_FULL : GH_OK);
        gh_chat_feed_end(&self->feed);
        for (int i = 0; i < 4; i++) redis_server_do(server, "ZADD gh:{chat:c%d}:v 0 jeff", i);
    }
}

static void goes_on_after_the_store_was_away(void** state)
{
    (void)state;
    redis_server_options options = {.append_only = true};
    redis_server* server = redis_server_start(&options);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "raid", "joe jeff", KEEP, MANY), GH_OK);
    feeding* self = feeding_new(b, 4, 4, 8192, 64);
    listener* jeff = listen(self, "jeff");
    chat_say_numbers(a, "raid", "joe", 5, 0);
    FEED_UNTIL(self, jeff->count == 5);
    redis_server_kill9(server);
    for (int i = 0; i < 20; i++)
    {
        game_tick_all();
        feed_frame(self);
    }
    redis_server_restart(server);
    chat_say_numbers(a, "raid", "joe", 5, 5);
    FEED_UNTIL(self, jeff->count == 10);
    assert_status(gh_client_drain(b->client, SECOND_US), GH_OK);
    GAME_UNTIL(gh_client_drained(b->client));
    feed_frame(self);
    gh_chat_feed_end(&self->feed);
}

/* A feed that is not begun, a player of no feed, a room that was not handed out. */
static void calls_without_a_feed_do_nothing(void** state)
{
    (void)state;
    game* a = game_start("unix:/nowhere");
    gh_chat_feed* idle = GAME_NEW(a, gh_chat_feed);
    feeding* self = feeding_new(a, 1, 1, 8192, 64);
    gh_chat_feed* const feeds[] = {NULL, idle, &self->feed};
    gh_chat_player* player = GAME_NEW(a, gh_chat_player);
    gh_chat_room* room = GAME_NEW(a, gh_chat_room);
    gh_chat_line line;
    for (int i = 0; i < 3; i++)
    {
        gh_chat_feed_remove(feeds[i], NULL);
        gh_chat_feed_remove(feeds[i], player);
        gh_chat_feed_refresh(feeds[i], NULL);
        gh_chat_feed_refresh(feeds[i], player);
        gh_chat_feed_done(feeds[i], NULL, true);
        gh_chat_feed_done(feeds[i], room, true);
        assert_null(gh_chat_feed_next(feeds[i]));
        assert_false(gh_chat_feed_line(feeds[i], &line));
        assert_false(gh_chat_feed_line(feeds[i], NULL));
        gh_chat_feed_end(feeds[i]);
    }
    assert_null(gh_chat_room_seat(NULL, NULL));
    assert_null(gh_chat_room_seat(room, NULL));
    assert_int_equal(game_stats(a).ops_begun, 1); /* the feed itself */
}

/* Without hints, and long before the list is read again by itself. */
static void list_is_read_when_the_caller_wants_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_deaf(redis_server_address(server));
    feeding* self = feeding_new(b, 1, 1, 8192, 64);
    self->feed.config.list_us = 600 * SECOND_US;
    GAME_UNTIL(gh_client_ready(b->client));
    const uint64_t before = game_stats(b).requests;
    listener* jeff = listen(self, "jeff");
    FEED_UNTIL(self, game_stats(b).requests > before && game_stats(b).requests_sent == 0);
    assert_status(chat_make(a, "c", "jeff", KEEP, MANY), GH_OK);
    for (int i = 0; i < 100; i++) FEED_UNTIL(self, true);
    assert_int_equal(jeff->player.chats, 0);
    gh_chat_feed_refresh(&self->feed, &jeff->player);
    FEED_UNTIL(self, jeff->player.chats == 1);
}

/* A room's fetch is an op more. */
static void room_waits_until_there_is_room_for_an_op(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    assert_status(chat_make(a, "c", "jeff", KEEP, MANY), GH_OK);
    chat_say_numbers(a, "c", "jeff", 2, 0);
    gh_client_config config = game_config(redis_server_address(server));
    config.ops_capacity = 16;
    game* b = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(b->client));
    feeding* self = feeding_new(b, 1, 1, 8192, 64);
    listener* jeff = listen(self, "jeff");
    gh_lock* locks = GAME_NEW_ARRAY(b, gh_lock, 16);
    gh_lock_config wish = gh_lock_config_default();
    unsigned busy = 0;
    while (gh_lock_begin(&locks[busy], b->client, gh_str_literal("sword"), &wish) == GH_OK) busy++;
    assert_in_range(busy, 10, 15);
    FEED_UNTIL(self, self->feed.rooms_used == 1);
    for (int i = 0; i < 100; i++) FEED_UNTIL(self, true);
    assert_int_equal(jeff->count, 0);
    for (unsigned i = 0; i < busy; i++) gh_op_cancel(&locks[i].op);
    FEED_UNTIL(self, jeff->count == 2);
}

TEST_FILE(chat_feed, cmocka_unit_test(list_is_read_when_the_caller_wants_it),
          cmocka_unit_test(room_waits_until_there_is_room_for_an_op), cmocka_unit_test(calls_without_a_feed_do_nothing),
          cmocka_unit_test(pulls_all_chats_of_a_player), cmocka_unit_test(one_fetch_serves_many_players),
          cmocka_unit_test(noisy_chat_starves_nobody), cmocka_unit_test(follows_joins_and_leaves_of_other_servers),
          cmocka_unit_test(player_with_a_backlog_joins_a_room_that_is_read),
          cmocka_unit_test(no_room_and_no_seat_say_full), cmocka_unit_test(goes_on_after_the_store_was_away));
