/* The wake link: hints shorten waiting, and nothing that comes over it can do any harm. */

#include "support/scene/game.h"
#include "support/server/redis_server.h"
#include "support/server/scripted.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000)

/* The peer keeps the lock's asker waiting, far back in the queue, and remembers what it was asked with. */
typedef struct queue_keeper
{
    unsigned asked;
    char channel[80];  /* that the client listens to   */
    char sequence[17]; /* of the op that asked last    */
    bool grants;
    bool is_late; /* the answer is kept back */
    char answer[256];
} queue_keeper;

static bool keep_waiting(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    queue_keeper* self = world->context;
    if (gh_str_equal(words[0], gh_str_literal("SUBSCRIBE")))
        snprintf(self->channel, sizeof(self->channel), "%.*s", (int)words[1].size, words[1].bytes);
    if (!gh_str_equal(words[0], gh_str_literal("EVALSHA")) || count != 13) return false;
    self->asked++;
    snprintf(self->sequence, sizeof(self->sequence), "%.16s", words[6].bytes + 17);
    if (self->grants) return false;
    char text[64];
    int text_size =
        snprintf(text, sizeof(text), "%.*s 1 0 9000000 40 1000000000000000", (int)words[7].size, words[7].bytes);
    int size = snprintf(self->answer, sizeof(self->answer), "$%d\r\n%s\r\n", text_size, text);
    if (!self->is_late) buffer_add(reply, self->answer, (size_t)size);
    return true;
}

static bool wake_is_ready(const scripted* world)
{
    return gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_READY;
}

/* A client with both links, and a lock that waits; it would ask by itself only after seconds. */
static gh_lock* start_waiting(scripted** made)
{
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    world->context = SCRIPTED_NEW(world, queue_keeper);
    world->answer = keep_waiting;
    scripted_start_ready(world, &config);
    SCRIPTED_UNTIL(world, wake_is_ready(world), MS, SECOND_US);
    gh_lock* lock = scripted_want(world, "sword", 60 * SECOND_US, 600 * SECOND_US);
    SCRIPTED_UNTIL(world, lock->position == 40, MS, SECOND_US);
    *made = world;
    return lock;
}

static void say_on(scripted* world, gh_link_name link, const char* text)
{
    intptr_t stream = gh_client_fd(world->client, link, NULL);
    assert_true(stream >= 0);
    buffer_add(&world->streams[stream].replies, text, strlen(text));
}

static void say_on_the_wake_link(scripted* world, const char* text)
{
    say_on(world, GH_LINK_WAKE, text);
}

static void say_message(scripted* world, const char* channel, const char* payload)
{
    char text[256];
    snprintf(text, sizeof(text), "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(channel), channel,
             strlen(payload), payload);
    say_on_the_wake_link(world, text);
}

static void hint_makes_the_waiter_ask(void** state)
{
    (void)state;
    scripted* world;
    gh_lock* lock = start_waiting(&world);
    queue_keeper* peer = world->context;
    unsigned asked = peer->asked;
    say_message(world, peer->channel, peer->sequence);
    for (int i = 0; i < 3; i++) scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked + 1);
    assert_int_equal(scripted_stats(world).hints, 1);
    peer->grants = true;
    say_message(world, peer->channel, peer->sequence);
    for (int i = 0; i < 3; i++) scripted_tick(world, MS);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

/* The store hints between the answer and its arrival: what the answer says is old by then. */
static void hint_that_overtakes_the_answer_is_heard_behind_it(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    queue_keeper* peer = world->context;
    peer->is_late = true;
    say_message(world, peer->channel, peer->sequence);
    for (int i = 0; i < 3; i++) scripted_tick(world, MS);
    unsigned asked = peer->asked;
    for (int i = 0; i < 5; i++) say_message(world, peer->channel, peer->sequence);
    for (int i = 0; i < 3; i++) scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked);
    peer->is_late = false;
    say_on(world, GH_LINK_COMMANDS, peer->answer);
    for (int i = 0; i < 9; i++) scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked + 1);
}

static void channel_is_the_clients_own(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    char expected[80];
    snprintf(expected, sizeof(expected), "gh:wake:%016llx", (unsigned long long)gh_client_id(world->client));
    assert_string_equal(((queue_keeper*)world->context)->channel, expected);
}

/* Anybody may publish anything. */
static void whatever_is_no_hint_is_no_matter(void** state)
{
    (void)state;
    scripted* world;
    gh_lock* lock = start_waiting(&world);
    queue_keeper* peer = world->context;
    unsigned asked = peer->asked;
    const char* const payloads[] = {"",
                                    "-",
                                    "1",
                                    "0000000000000000",
                                    "ffffffffffffffff",
                                    "FFFFFFFFFFFFFFFF",
                                    "000000000000000g",
                                    "0x00000000000001",
                                    "00000000000000001",
                                    "                "};
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) say_message(world, peer->channel, payloads[i]);
    say_on_the_wake_link(world, "*2\r\n$7\r\nmessage\r\n$1\r\nx\r\n*1\r\n$7\r\nmessage\r\n*0\r\n*-1\r\n");
    say_on_the_wake_link(world, "+OK\r\n:1\r\n$-1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n:5\r\n");
    say_on_the_wake_link(world, "*3\r\n:1\r\n:2\r\n:3\r\n*3\r\n*0\r\n*0\r\n*0\r\n");
    say_on_the_wake_link(world, "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nx\r\n$16\r\n0000000000000001\r\n");
    for (int i = 0; i < 5; i++) scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked);
    assert_true(wake_is_ready(world));
    assert_int_equal(scripted_stats(world).links_lost, 0);
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
}

/* A thousand hints for the same op in one tick: it asks, and asks no more than it must. */
static void flood_of_hints_is_one_question(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    queue_keeper* peer = world->context;
    unsigned asked = peer->asked;
    for (int i = 0; i < 1000; i++) say_message(world, peer->channel, peer->sequence);
    for (int i = 0; i < 5; i++) scripted_tick(world, MS);
    assert_in_range(peer->asked - asked, 1, 5);
    assert_int_equal(scripted_stats(world).hints, 1000);
}

/* "Look after the one in front of you" makes a pause shorter, like any hint, however often it is said: whoever may
   PUBLISH there keeps nobody from asking. */
static void hints_to_look_after_another_make_no_pause_longer(void** state)
{
    (void)state;
    scripted* world;
    gh_lock* lock = start_waiting(&world);
    queue_keeper* peer = world->context;
    unsigned asked = peer->asked;
    char watch[18];
    for (int i = 0; i < 300; i++)
    {
        snprintf(watch, sizeof(watch), "%sw", peer->sequence);
        say_message(world, peer->channel, watch);
        for (int j = 0; j < 10; j++) scripted_tick(world, 10 * MS);
    }
    assert_int_equal(scripted_stats(world).hints, 300);
    assert_in_range(peer->asked - asked, 5, 300); /* every 5 s without them */
    assert_status(gh_op_poll(&lock->op), GH_PENDING);
}

static void hint_for_an_op_that_has_ended_is_no_matter(void** state)
{
    (void)state;
    scripted* world;
    gh_lock* lock = start_waiting(&world);
    queue_keeper* peer = world->context;
    char sequence[17];
    memcpy(sequence, peer->sequence, sizeof(sequence));
    gh_op_cancel(&lock->op);
    SCRIPTED_UNTIL(world, gh_op_poll(&lock->op) == GH_CANCELLED, MS, SECOND_US);
    unsigned asked = peer->asked;
    memset(lock, 0xa5, sizeof(*lock)); /* its memory is another's by now */
    say_message(world, peer->channel, sequence);
    for (int i = 0; i < 5; i++) scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked);
}

static void link_that_connects_slowly_subscribes_once(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    config.wake = true;
    scripted_start(world, &config);
    scripted_tick(world, MS);
    world->open_status = world->connected_status = GH_PENDING;
    SCRIPTED_UNTIL(world, gh_client_link_state(world->client, GH_LINK_WAKE) == GH_LINK_CONNECTING, MS, SECOND_US);
    uint64_t sent = scripted_stats(world).bytes_sent;
    for (int i = 0; i < 1000; i++) scripted_tick(world, MS);
    assert_int_equal(scripted_stats(world).bytes_sent, sent);
    world->connected_status = GH_OK;
    SCRIPTED_UNTIL(world, wake_is_ready(world), MS, 10 * MS);
    assert_int_equal(world->opens, 2);
    assert_in_range(scripted_stats(world).bytes_sent - sent, 1, 100);
}

/* ---- when the link is lost ----------------------------------------------------------------------------- */

static void lost_wake_link_makes_everybody_ask_once(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    queue_keeper* peer = world->context;
    unsigned asked = peer->asked;
    world->streams[gh_client_fd(world->client, GH_LINK_WAKE, NULL)].ended = true;
    SCRIPTED_UNTIL(world, !wake_is_ready(world), MS, 10 * MS);
    scripted_tick(world, MS);
    assert_int_equal(peer->asked, asked + 1);
    SCRIPTED_UNTIL(world, wake_is_ready(world), MS, SECOND_US);
    assert_true(gh_client_ready(world->client));
    assert_int_equal(scripted_stats(world).links_lost, 0); /* that counts the command link */
}

static void broken_wake_link_is_made_again(void** state)
{
    (void)state;
    const char* const texts[] = {
        "HTTP/1.1 200 OK\r\n\r\n",       "$2000000000\r\n", "*9\r\n", "-ERR no\r\n", ">1\r\n+a\r\n",
        "*3\r\n$7\r\nmessage\r\n$1x\r\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    {
        scripted* world;
        start_waiting(&world);
        say_on_the_wake_link(world, texts[i]);
        SCRIPTED_UNTIL(world, !wake_is_ready(world), MS, 10 * MS);
        SCRIPTED_UNTIL(world, wake_is_ready(world), MS, SECOND_US);
        assert_int_equal(scripted_stats(world).links_lost, 0);
        assert_int_equal(scripted_stats(world).protocol_errors, texts[i][0] == '-' ? 0 : 1);
    }
}

/* Anybody may publish anything, of any size: it is passed over, and hints behind it are heard. */
static void long_message_does_not_cost_the_link(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    queue_keeper* peer = world->context;
    static char payload[1 << 20];
    memset(payload, '\r', sizeof(payload));
    const size_t sizes[] = {
        400, 457, 458, 500, 511, 512, 513, 600, 2000, 2048, 4096, 5700, 6000, 70000, sizeof(payload)};
    for (size_t step = 1; step < 5000; step = step * 5 + 2)
    {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        {
            if (sizes[i] / step > 10000) continue;
            uint64_t hints = scripted_stats(world).hints;
            intptr_t stream = gh_client_fd(world->client, GH_LINK_WAKE, NULL);
            char head[128];
            int head_size = snprintf(head, sizeof(head), "*3\r\n$7\r\nmessage\r\n$%zu\r\n%s\r\n$%zu\r\n",
                                     strlen(peer->channel), peer->channel, sizes[i]);
            buffer_add(&world->streams[stream].replies, head, (size_t)head_size);
            buffer_add(&world->streams[stream].replies, payload, sizes[i]);
            say_on_the_wake_link(world, "\r\n");
            say_message(world, peer->channel, peer->sequence);
            world->receive_max = step;
            SCRIPTED_UNTIL(world, scripted_stats(world).hints > hints, MS, 60 * SECOND_US);
            world->receive_max = SIZE_MAX;
            assert_int_equal(scripted_stats(world).hints, hints + 1);
        }
    }
    assert_true(wake_is_ready(world));
    assert_int_equal(scripted_stats(world).protocol_errors, 0);
}

/* Faster than it can be read: a tick reads a part of it, and all else goes on. */
static void flood_on_the_channel_is_read_in_parts(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    static char flood[4 << 20];
    memset(flood, '0', sizeof(flood));
    intptr_t stream = gh_client_fd(world->client, GH_LINK_WAKE, NULL);
    say_on_the_wake_link(world, "*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$4194304\r\n");
    buffer_add(&world->streams[stream].replies, flood, sizeof(flood));
    size_t left = world->streams[stream].replies.size;
    while (left > 0)
    {
        scripted_tick(world, MS);
        size_t now_left = world->streams[stream].replies.size;
        assert_in_range(left - now_left, 1, 64 * 1024);
        left = now_left;
        if (left > 0) assert_true(gh_next_deadline(world->client) <= world->now_us); /* a handle may not show it */
    }
    assert_true(wake_is_ready(world));
    gh_command* op = scripted_ask(world, "A", SECOND_US, GH_REPEAT_NEVER);
    SCRIPTED_UNTIL(world, gh_op_poll(&op->op) == GH_OK, MS, 10 * MS);
}

static bool deaf_to_pings(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    if (gh_str_equal(words[0], gh_str_literal("PING"))) return true;
    return keep_waiting(world, words, count, reply);
}

/* Half a connection: nothing is heard, nothing breaks. It is asked whether it is there, and given up. */
static void silent_wake_link_is_given_up(void** state)
{
    (void)state;
    scripted* world;
    start_waiting(&world);
    for (int i = 0; i < 30000; i++) scripted_tick(world, MS);
    assert_true(wake_is_ready(world)); /* pings keep it */
    uint64_t opens = world->opens;
    world->answer = deaf_to_pings;
    uint64_t begin_us = world->now_us;
    SCRIPTED_UNTIL(world, !wake_is_ready(world), MS, 20 * SECOND_US);
    assert_in_range(world->now_us - begin_us, 2 * SECOND_US, 8 * SECOND_US);
    world->answer = keep_waiting;
    SCRIPTED_UNTIL(world, wake_is_ready(world), MS, SECOND_US);
    assert_int_equal(world->opens, opens + 1);
    assert_true(gh_client_ready(world->client));
}

/* ---- with a real server -------------------------------------------------------------------------------- */

/* Without the wake link, or without its right, waiting takes longer, and that is all. */
static void waiting_works_without_hints(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    redis_server_do(server, "ACL SETUSER default resetchannels"); /* neither PUBLISH nor SUBSCRIBE */
    gh_client_config config = game_config(redis_server_address(server));
    game* a = game_start_ready(redis_server_address(server));
    config.wake = false;
    game* b = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(b->client));
    gh_lock* locks[2] = {GAME_NEW(a, gh_lock), GAME_NEW(b, gh_lock)};
    assert_status(gh_lock_begin(locks[0], a->client, gh_str_literal("sword"), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&locks[0]->op) == GH_HELD);
    for (int round = 0; round < 6; round++)
    {
        gh_lock* mine = locks[round % 2];
        gh_lock* other = locks[(round + 1) % 2];
        assert_status(gh_lock_begin(other, (round % 2 == 0 ? b : a)->client, gh_str_literal("sword"), NULL), GH_OK);
        GAME_UNTIL(other->position == 1);
        gh_lock_release(mine);
        GAME_UNTIL(gh_op_poll(&mine->op) == GH_OK && gh_op_poll(&other->op) == GH_HELD);
    }
    assert_int_equal(game_stats(a).hints + game_stats(b).hints, 0);
    assert_true((game_stats(a).warnings & GH_WARNING_NO_WAKE) != 0);
    assert_int_not_equal(gh_client_link_state(a->client, GH_LINK_WAKE), GH_LINK_READY);
}

static void published_nonsense_does_not_reach_the_game(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    GAME_UNTIL(gh_client_link_state(a->client, GH_LINK_WAKE) == GH_LINK_READY);
    char channel[40];
    char large[5000];
    snprintf(channel, sizeof(channel), "gh:wake:%016llx", (unsigned long long)gh_client_id(a->client));
    memset(large, '0', sizeof(large));
    assert_int_equal(redis_server_integer(server, "PUBLISH %s %s", channel, "FLUSHALL"), 1);
    assert_int_equal(redis_server_integer(server, "PUBLISH %s %b", channel, "\0\r\n", (size_t)3), 1);
    for (int i = 0; i < 50; i++) game_tick_all();
    assert_int_equal(gh_client_link_state(a->client, GH_LINK_WAKE), GH_LINK_READY);
    for (size_t size = 1; size <= sizeof(large); size += size / 8 + 1)
        assert_int_equal(redis_server_integer(server, "PUBLISH %s %b", channel, large, size), 1);
    assert_int_equal(redis_server_integer(server, "PUBLISH %s %s", channel, "00000000000000ff"), 1);
    GAME_UNTIL(game_stats(a).hints == 2); /* the last, and one of 16 zeros */
    assert_int_equal(gh_client_link_state(a->client, GH_LINK_WAKE), GH_LINK_READY);
    assert_int_equal(game_stats(a).protocol_errors, 0);
    assert_int_equal(redis_server_integer(server, "CLIENT KILL TYPE pubsub"), 1); /* it was the first still */
}

TEST_FILE(wake, cmocka_unit_test(hint_makes_the_waiter_ask), cmocka_unit_test(channel_is_the_clients_own),
          cmocka_unit_test(hint_that_overtakes_the_answer_is_heard_behind_it),
          cmocka_unit_test(whatever_is_no_hint_is_no_matter), cmocka_unit_test(flood_of_hints_is_one_question),
          cmocka_unit_test(hints_to_look_after_another_make_no_pause_longer),
          cmocka_unit_test(hint_for_an_op_that_has_ended_is_no_matter),
          cmocka_unit_test(link_that_connects_slowly_subscribes_once),
          cmocka_unit_test(lost_wake_link_makes_everybody_ask_once), cmocka_unit_test(broken_wake_link_is_made_again),
          cmocka_unit_test(silent_wake_link_is_given_up), cmocka_unit_test(long_message_does_not_cost_the_link),
          cmocka_unit_test(flood_on_the_channel_is_read_in_parts), cmocka_unit_test(waiting_works_without_hints),
          cmocka_unit_test(published_nonsense_does_not_reach_the_game));
