/* Tests of the lines of a feed: each new message once for each player, in the order of the chat, whoever joins, leaves,
   or moves to another server, and whatever is lost in between. */

#include "support/random.h"
#include "support/scene/talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHAT    "raid"
#define KEEP    1000
#define MANY    1000
#define PLAYERS 4
#define ROUNDS  60

static const char* const names[PLAYERS] = {"jason", "jeff", "jenny", "joe"};

/* A player, and what it may hear next. Bodies are numbers, each of which is said once. */
typedef struct hearer
{
    gh_chat_player player;
    bool is_member;
    bool moved;    /* has another feed: what was not noted comes again */
    unsigned next; /* the number that it hears next                    */
    unsigned count;
    uint64_t missed;
} hearer;

typedef struct table
{
    game* from;
    gh_chat_feed feed;
    gh_chat_feed_config config;
    gh_chat_line line;
    hearer hearers[PLAYERS];
    unsigned said;
    unsigned lost[ROUNDS]; /* the number that was said next after each loss */
    unsigned losses;
} table;

static void table_listen(table* self, int who)
{
    hearer* one = &self->hearers[who];
    one->player.op.user = one;
    assert_status(gh_chat_feed_add(&self->feed, &one->player, gh_str_of(names[who])), GH_OK);
}

static table* table_new(game* from)
{
    table* self = GAME_NEW(from, table);
    self->from = from;
    self->config = gh_chat_feed_config_default();
    self->config.rooms = GAME_NEW_ARRAY(from, gh_chat_room, 2);
    self->config.room_count = 2;
    self->config.seats = GAME_NEW_ARRAY(from, gh_chat_seat, 2 * PLAYERS);
    self->config.seat_count = 2 * PLAYERS;
    self->config.buffer = GAME_NEW_ARRAY(from, char, 16384);
    self->config.buffer_size = 16384;
    self->config.messages_max = 7;
    self->config.list_us = SECOND_US;
    assert_status(gh_chat_feed_begin(&self->feed, from->client, &self->config), GH_OK);
    return self;
}

static unsigned number_of(const gh_message* message)
{
    char text[16];
    snprintf(text, sizeof(text), "%.*s", (int)message->body.size, message->body.bytes);
    return (unsigned)strtoul(text, NULL, 10);
}

/* What was said before a loss, and not heard by then, is lost; several may have come since. */
static bool table_may_jump(const table* self, const hearer* one, unsigned number)
{
    for (unsigned i = 0; i < self->losses; i++)
        if (self->lost[i] == number && number >= one->next) return true;
    return false;
}

static void table_hears(table* self)
{
    hearer* one = self->line.player->op.user;
    unsigned number = number_of(self->line.message);
    assert_true(gh_str_equal(self->line.room->name, gh_str_literal(CHAT)));
    if (one->moved && number <= one->next) one->next = number;
    one->moved = false;
    if (number != one->next && !table_may_jump(self, one, number))
        fail_msg("%.*s hears %u, not %u", (int)one->player.name.size, one->player.name.bytes, number, one->next);
    one->next = number + 1;
    one->count++;
    one->missed += self->line.missed;
}

/* As a frame would, with room for so many lines. */
static void table_frame(table* self, unsigned lines)
{
    for (; lines > 0 && gh_chat_feed_line(&self->feed, &self->line); lines--) table_hears(self);
}

static bool table_has_heard_all(table* self)
{
    table_frame(self, 5);
    for (int i = 0; i < PLAYERS; i++)
        if (self->hearers[i].is_member && self->hearers[i].next < self->said) return false;
    return true;
}

static void table_say(table* self, game* a, unsigned count)
{
    gh_post* posts = talk_numbers(a, "", count, self->said);
    assert_status(chat_say(a, CHAT, posts, count), GH_OK);
    self->said += count;
}

static void table_join_or_leave(table* self, game* a, int who)
{
    hearer* one = &self->hearers[who];
    if (one->is_member)
    {
        table_say(self, a, 1); /* who has lost some with the store hears of it by a later one */
        GAME_UNTIL(table_has_heard_all(self));
        assert_status(chat_quit(a, CHAT, names[who]), GH_OK);
    }
    else
    {
        assert_status(chat_enter(a, CHAT, names[who], GH_CHAT_FROM_NOW), GH_OK);
        one->next = self->said; /* a late joiner hears nothing of what was said before */
    }
    one->is_member = !one->is_member;
}

static void table_move(table* self, int who)
{
    hearer* one = &self->hearers[who];
    gh_chat_feed_remove(&self->feed, &one->player);
    one->moved = true;
    table_listen(self, who);
}

/* The store loses everything, and the chat is made anew. */
static void table_lose(table* self, redis_server* server, game* a)
{
    char members[64] = "";
    redis_server_restart_empty(server);
    for (int i = 0; i < PLAYERS; i++)
        if (self->hearers[i].is_member) strcat(strcat(members, names[i]), " ");
    self->lost[self->losses++] = self->said;
    assert_status(chat_make(a, CHAT, members, KEEP, MANY), GH_OK);
}

static void table_turn(table* self, redis_server* server, game* a, random_stream* random)
{
    int who = (int)random_below(random, PLAYERS);
    switch (random_below(random, 10))
    {
    case 0:
        if (who > 0) table_join_or_leave(self, a, who); /* one stays, and so does the chat */
        break;
    case 1: table_move(self, who); break;
    case 2:
        if (random_one_in(random, 3)) table_lose(self, server, a);
        break;
    default: table_say(self, a, (unsigned)random_between(random, 1, 12));
    }
    for (uint64_t frames = random_below(random, 20); frames > 0; frames--)
    {
        game_tick_all();
        table_frame(self, (unsigned)random_below(random, 6));
    }
}

static void each_hears_each_message_once_in_order(void** state)
{
    (void)state;
    random_stream random = random_for_test("rounds");
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(game_start_ready(redis_server_address(server)));
    assert_status(chat_make(a, CHAT, "jason jeff", KEEP, MANY), GH_OK);
    self->hearers[0].is_member = self->hearers[1].is_member = true;
    for (int i = 0; i < PLAYERS; i++) table_listen(self, i);
    for (int round = 0; round < ROUNDS; round++) table_turn(self, server, a, &random);
    table_say(self, a, 1);
    GAME_UNTIL(table_has_heard_all(self));
    for (int i = 0; i < PLAYERS; i++)
        if (self->hearers[i].is_member)
            GAME_UNTIL(
                (table_frame(self, 1), redis_server_integer(server, "ZSCORE gh:{chat:raid}:v %s", names[i]) ==
                                           strtoll(redis_server_text(server, "HGET gh:{chat:raid}:s n"), NULL, 10)));
    gh_chat_feed_end(&self->feed);
}

/* The last line of all is not handled before it is asked for one more. */
static void line_is_handled_when_the_next_is_asked_for(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(game_start_ready(redis_server_address(server)));
    assert_status(chat_make(a, CHAT, "jason jeff", KEEP, MANY), GH_OK);
    table_say(self, a, 3);
    table_listen(self, 1);
    for (unsigned heard = 0; heard < 3; heard++)
    {
        gh_chat_line* line = &self->line;
        GAME_UNTIL(gh_chat_feed_line(&self->feed, line));
        gh_chat_seat* seat = gh_chat_room_seat(line->room, NULL);
        assert_int_equal(line->message->id, heard + 1);
        assert_int_equal(seat->member.handled, heard);
        for (int i = 0; i < 20; i++) game_tick_all();
    }
    assert_int_equal(redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff"), 0);
    gh_chat_feed_end(&self->feed);
    assert_false(gh_chat_feed_line(&self->feed, &self->line));
    assert_status(gh_chat_feed_begin(&self->feed, self->from->client, &self->config), GH_OK);
    table_listen(self, 1);
    GAME_UNTIL((table_frame(self, 9), self->hearers[1].count == 3)); /* again */
    GAME_UNTIL((table_frame(self, 9), redis_server_integer(server, "ZSCORE gh:{chat:raid}:v jeff") == 3));
}

/* Whoever goes between two lines hears no more, and the others each line once; also when nobody is left. */
static void players_go_between_lines(void** state)
{
    (void)state;
    enum
    {
        SAID = 2
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    for (unsigned when = 1; when <= PLAYERS * SAID; when++)
        for (unsigned gone = 1; gone < 1u << PLAYERS; gone++)
        {
            table* self = table_new(b);
            unsigned before[PLAYERS];
            redis_server_do(server, "FLUSHDB");
            assert_status(chat_make(a, CHAT, "jason jeff jenny joe", KEEP, MANY), GH_OK);
            for (int i = 0; i < PLAYERS; i++) table_listen(self, i);
            table_say(self, a, SAID);
            GAME_UNTIL(self->feed.seats_used == PLAYERS); /* all sit down before the first line is asked for */
            for (unsigned lines = 0; lines < when; lines++)
            {
                GAME_UNTIL(gh_chat_feed_line(&self->feed, &self->line));
                table_hears(self);
            }
            for (int i = 0; i < PLAYERS; i++)
            {
                before[i] = self->hearers[i].count;
                if ((gone >> i & 1) != 0) gh_chat_feed_remove(&self->feed, &self->hearers[i].player);
            }
            for (int i = 0; i < 4; i++)
            {
                table_frame(self, 9);
                game_tick_all();
            }
            for (int i = 0; i < PLAYERS; i++)
                GAME_UNTIL((table_frame(self, 9), self->hearers[i].count == ((gone >> i & 1) != 0 ? before[i] : SAID)));
            gh_chat_feed_end(&self->feed);
        }
}

/* One fetch brings what is old to one and new to the other. */
static void late_joiner_hears_nothing_old(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(game_start_ready(redis_server_address(server)));
    assert_status(chat_make(a, CHAT, "jason", KEEP, MANY), GH_OK);
    table_say(self, a, 3);
    assert_status(chat_enter(a, CHAT, "jeff", GH_CHAT_FROM_NOW), GH_OK);
    self->hearers[1].next = 3;
    table_say(self, a, 2);
    table_listen(self, 0);
    table_listen(self, 1);
    GAME_UNTIL(self->feed.seats_used == 2);
    GAME_UNTIL((table_frame(self, 9), self->hearers[0].count == 5));
    assert_int_equal(self->hearers[1].count, 2);
}

/* The place of one who goes between two lines is taken by another before the next is asked for. */
static void who_takes_the_seat_of_another_has_handled_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(game_start_ready(redis_server_address(server)));
    assert_status(chat_make(a, CHAT, "jason jeff", KEEP, MANY), GH_OK);
    table_say(self, a, 3);
    table_listen(self, 0);
    GAME_UNTIL(gh_chat_feed_line(&self->feed, &self->line));
    gh_chat_feed_remove(&self->feed, &self->hearers[0].player);
    table_listen(self, 1);
    GAME_UNTIL(self->feed.seats_used == 1);
    GAME_UNTIL((table_frame(self, 9), self->hearers[1].count == 3));
}

static void gap_is_told_with_the_line_behind_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(game_start_ready(redis_server_address(server)));
    hearer* jeff = &self->hearers[1];
    assert_status(chat_make(a, CHAT, "jason jeff", 5, MANY), GH_OK);
    table_say(self, a, 9);
    self->lost[self->losses++] = 4;
    table_listen(self, 1);
    GAME_UNTIL(gh_chat_feed_line(&self->feed, &self->line));
    table_hears(self);
    assert_int_equal(jeff->missed, 4);
    table_frame(self, 9);
    assert_int_equal(jeff->count, 5);
    assert_int_equal(jeff->missed, 4);
}

/* What is over and not given up yet keeps its players: a begin of it is refused, and told as the end of its op. */
static void begin_of_a_feed_that_is_not_given_up_is_an_outcome(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    table* self = table_new(a);
    assert_status(chat_make(a, CHAT, "jason jeff", KEEP, MANY), GH_OK);
    table_listen(self, 1);
    GAME_UNTIL(self->feed.seats_used == 1);
    self->feed.op.tag = 7;
    assert_status(gh_chat_feed_begin(&self->feed, a->client, &self->config), GH_INVALID_OP);
    assert_status(gh_op_poll(&self->feed.op), GH_PENDING); /* a busy one stays as it is */
    gh_op_cancel(&self->feed.op);
    assert_status(gh_op_poll(&self->feed.op), GH_CANCELLED);
    assert_status(gh_chat_feed_begin(&self->feed, a->client, &self->config), GH_INVALID_OP);
    assert_status(gh_op_poll(&self->feed.op), GH_INVALID_OP);
    game_tick(a);
    assert_ptr_equal(gh_client_next(a->client), &self->feed.op);
    assert_int_equal(self->feed.seats_used, 1);
    assert_status(gh_chat_feed_add(&self->feed, &self->hearers[0].player, gh_str_of(names[0])), GH_CLOSED);
    gh_op_detach(&self->feed.op); /* gives its player up */
    assert_null(self->hearers[1].player.feed);
    assert_status(gh_chat_feed_begin(&self->feed, a->client, &self->config), GH_OK);
    gh_chat_feed_end(&self->feed);
}

TEST_FILE(chat_lines, cmocka_unit_test(each_hears_each_message_once_in_order),
          cmocka_unit_test(line_is_handled_when_the_next_is_asked_for), cmocka_unit_test(players_go_between_lines),
          cmocka_unit_test(late_joiner_hears_nothing_old),
          cmocka_unit_test(who_takes_the_seat_of_another_has_handled_nothing),
          cmocka_unit_test(gap_is_told_with_the_line_behind_it),
          cmocka_unit_test(begin_of_a_feed_that_is_not_given_up_is_an_outcome));
