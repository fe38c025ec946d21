/* test_proxy.c -- support/proxy.h does to the byte what it was told, so that tests of the library can rely on
   it. */

#include "support/server/proxy.h"
#include "support/random.h"
#include "support/server/raw.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define MESSAGE      "abcdefghijklmnopqrst"
#define MESSAGE_SIZE 20u
#define LARGE_SIZE   (300u * 1024u)
#define SILENCE_US   15000u

/* A client, the proxy, and a server's end that the test holds itself. */
typedef struct scene
{
    chaos_proxy* proxy;
    int listener;
    int client;
    int server;
} scene;

static scene start_scene(bool tcp)
{
    scene made;
    char address[RAW_ADDRESS_SIZE];
    made.listener = raw_listen(tcp, address);
    made.proxy = proxy_start(address, tcp ? PROXY_TCP : PROXY_UNIX);
    made.client = made.server = -1;
    return made;
}

static void connect_both(scene* s)
{
    s->client = raw_connect(proxy_address(s->proxy));
    s->server = raw_accept(s->listener);
}

static void close_both(scene* s)
{
    raw_close(s->client);
    raw_close(s->server);
}

static int sender(const scene* s, proxy_direction direction)
{
    return direction == PROXY_REQUEST ? s->client : s->server;
}

static int receiver(const scene* s, proxy_direction direction)
{
    return direction == PROXY_REQUEST ? s->server : s->client;
}

static void check_that_it_passes(const scene* s)
{
    raw_say(s->client, "ping");
    raw_expect_text(s->server, "ping");
    raw_say(s->server, "pong");
    raw_expect_text(s->client, "pong");
}

/* Runs once on unix sockets and once on TCP. */
static void on_both(void (*check)(bool tcp))
{
    check(false);
    check(true);
}

/* ---- Passing on ---- */

static void check_passing(bool tcp)
{
    static char bytes[LARGE_SIZE];
    random_stream stream = random_for_test("bytes");
    random_fill(&stream, bytes, sizeof(bytes));
    scene s = start_scene(tcp);
    connect_both(&s);
    check_that_it_passes(&s);
    proxy_mark(s.proxy);
    assert_int_equal(raw_move(s.client, s.server, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(raw_move(s.server, s.client, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REQUEST), sizeof(bytes));
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REPLY), sizeof(bytes));
    assert_int_equal(proxy_fired(s.proxy), 0);
}

static void passes_all_bytes_both_ways(void** state)
{
    (void)state;
    on_both(check_passing);
}

static void check_half_close(bool tcp)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    raw_say(s.client, "last words");
    shutdown(s.client, SHUT_WR);
    raw_expect_text(s.server, "last words");
    assert_int_equal(raw_expect_end(s.server), RAW_FIN);
    raw_say(s.server, "answer");
    raw_expect_text(s.client, "answer");
    raw_close(s.server);
    assert_int_equal(raw_expect_end(s.client), RAW_FIN);
    WAIT_FOR(proxy_open_connections(s.proxy) == 0);
}

static void passes_on_that_one_side_said_its_last(void** state)
{
    (void)state;
    on_both(check_half_close);
}

static void counts_bytes_and_connections(void** state)
{
    (void)state;
    scene s = start_scene(false);
    connect_both(&s);
    check_that_it_passes(&s);
    int first_client = s.client, first_server = s.server;
    connect_both(&s);
    raw_say(s.client, "request");
    raw_expect_text(s.server, "request");
    assert_int_equal(proxy_connections(s.proxy), 2);
    assert_int_equal(proxy_open_connections(s.proxy), 2);
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REQUEST), 4 + 7);
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REPLY), 4);
    assert_int_equal(proxy_connection_bytes(s.proxy, 1, PROXY_REPLY), 4);
    assert_int_equal(proxy_connection_bytes(s.proxy, 2, PROXY_REQUEST), 7);
    assert_int_equal(proxy_connection_bytes(s.proxy, 3, PROXY_REQUEST), 0);

    raw_close(first_client);
    assert_int_equal(raw_expect_end(first_server), RAW_FIN);
    raw_close(first_server);
    WAIT_FOR(proxy_open_connections(s.proxy) == 1);
    assert_int_equal(proxy_connection_bytes(s.proxy, 1, PROXY_REQUEST), 4);
    proxy_mark(s.proxy);
    assert_int_equal(proxy_connection_bytes(s.proxy, 1, PROXY_REQUEST), 0);
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REQUEST), 0);
}

static void serves_more_connections_than_it_has_places(void** state)
{
    (void)state;
    scene s = start_scene(false);
    for (unsigned i = 1; i <= 150; i++)
    {
        connect_both(&s);
        check_that_it_passes(&s);
        close_both(&s);
        WAIT_FOR(proxy_open_connections(s.proxy) == 0);
        assert_int_equal(proxy_connections(s.proxy), i);
    }
}

/* ---- Cutting ---- */

static void cut_after(bool tcp, proxy_direction direction, proxy_how how, size_t bytes)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    proxy_arm(s.proxy, direction, bytes, how);
    raw_say(sender(&s, direction), MESSAGE);
    raw_expect(receiver(&s, direction), MESSAGE, bytes);
    raw_end far_end = raw_expect_end(receiver(&s, direction));
    raw_end near_end = raw_expect_end(sender(&s, direction));
    bool reset = tcp && how == PROXY_RST; /* unix sockets know no reset but for bytes that nobody read */
    assert_int_equal(far_end, reset ? RAW_RESET : RAW_FIN);
    assert_int_equal(near_end, reset ? RAW_RESET : RAW_FIN);
    assert_int_equal(proxy_bytes(s.proxy, direction), bytes);
    assert_int_equal(proxy_fired(s.proxy), 1);
    assert_int_equal(proxy_open_connections(s.proxy), 0);
    close_both(&s);
    connect_both(&s); /* it happens once */
    check_that_it_passes(&s);
    proxy_end(s.proxy);
    close_both(&s);
    raw_close(s.listener);
}

static void check_cuts(bool tcp)
{
    for (size_t bytes = 0; bytes <= MESSAGE_SIZE; bytes++)
    {
        cut_after(tcp, PROXY_REQUEST, PROXY_FIN, bytes);
        cut_after(tcp, PROXY_REPLY, PROXY_FIN, bytes);
        cut_after(tcp, PROXY_REQUEST, PROXY_RST, bytes);
        cut_after(tcp, PROXY_REPLY, PROXY_RST, bytes);
    }
}

static void cuts_after_exactly_that_byte(void** state)
{
    (void)state;
    on_both(check_cuts);
}

static void check_large_cuts(bool tcp)
{
    static char bytes[LARGE_SIZE];
    random_stream stream = random_for_test(tcp ? "tcp" : "unix");
    random_fill(&stream, bytes, sizeof(bytes));
    for (int i = 0; i < 6; i++)
    {
        proxy_direction direction = random_one_in(&stream, 2) ? PROXY_REQUEST : PROXY_REPLY;
        uint64_t cut = random_below(&stream, sizeof(bytes));
        scene s = start_scene(tcp);
        connect_both(&s);
        proxy_arm(s.proxy, direction, cut, PROXY_FIN);
        assert_int_equal(raw_move(sender(&s, direction), receiver(&s, direction), bytes, sizeof(bytes)), cut);
        assert_int_equal(proxy_bytes(s.proxy, direction), cut);
    }
}

static void cuts_in_the_middle_of_much(void** state)
{
    (void)state;
    on_both(check_large_cuts);
}

static void does_armed_things_in_their_order(void** state)
{
    (void)state;
    static const size_t cuts[] = {3, 0, 7, 20};
    scene s = start_scene(false);
    for (size_t i = 0; i < 4; i++) proxy_arm(s.proxy, PROXY_REQUEST, cuts[i], PROXY_FIN);
    for (size_t i = 0; i < 4; i++)
    {
        connect_both(&s);
        raw_say(s.client, MESSAGE);
        raw_expect(s.server, MESSAGE, cuts[i]);
        raw_expect_end(s.server);
        assert_int_equal(proxy_fired(s.proxy), i + 1);
    }
    connect_both(&s);
    check_that_it_passes(&s);
}

static void counts_one_connection_alone_if_told_so(void** state)
{
    (void)state;
    scene s = start_scene(false);
    connect_both(&s);
    scene other = s;
    connect_both(&other);
    proxy_arm_connection(s.proxy, 2, PROXY_REQUEST, 5, PROXY_FIN);
    raw_say(s.client, MESSAGE); /* does not count */
    raw_expect_text(s.server, MESSAGE);
    raw_say(other.client, MESSAGE);
    raw_expect_text(other.server, "abcde");
    raw_expect_end(other.server);
    check_that_it_passes(&s);
}

static void forgets_what_is_armed(void** state)
{
    (void)state;
    scene s = start_scene(false);
    connect_both(&s);
    proxy_arm(s.proxy, PROXY_REQUEST, 5, PROXY_FIN);
    proxy_arm(s.proxy, PROXY_REQUEST, 5, PROXY_FIN);
    raw_say(s.client, "abc");
    raw_expect_text(s.server, "abc");
    proxy_disarm(s.proxy);
    raw_say(s.client, MESSAGE);
    raw_expect_text(s.server, MESSAGE);
    assert_int_equal(proxy_fired(s.proxy), 0);

    proxy_arm(s.proxy, PROXY_REQUEST, 5, PROXY_FIN); /* begins to count anew */
    raw_say(s.client, MESSAGE);
    raw_expect_text(s.server, "abcde");
    raw_expect_end(s.server);
}

static void check_cut_now(bool tcp)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    scene other = s;
    connect_both(&other);
    check_that_it_passes(&s);
    check_that_it_passes(&other);
    proxy_cut_now(s.proxy, PROXY_RST);
    assert_false(raw_is_silent(s.client, 0)); /* it has happened when the call returns */
    assert_false(raw_is_silent(s.server, 0));
    assert_int_equal(raw_expect_end(s.client), tcp ? RAW_RESET : RAW_FIN);
    assert_int_equal(raw_expect_end(s.server), tcp ? RAW_RESET : RAW_FIN);
    assert_int_equal(raw_expect_end(other.client), tcp ? RAW_RESET : RAW_FIN);
    connect_both(&s);
    check_that_it_passes(&s);
    proxy_cut_now(s.proxy, PROXY_FIN);
    assert_false(raw_is_silent(s.client, 0));
    assert_false(raw_is_silent(s.server, 0));
    assert_int_equal(raw_expect_end(s.client), RAW_FIN);
    assert_int_equal(raw_expect_end(s.server), RAW_FIN);
}

static void cuts_all_at_once(void** state)
{
    (void)state;
    on_both(check_cut_now);
}

/* ---- Holding ---- */

static void check_hold(bool tcp)
{
    for (int i = 0; i < 2; i++)
    {
        proxy_direction direction = i == 0 ? PROXY_REQUEST : PROXY_REPLY;
        proxy_direction back = i == 0 ? PROXY_REPLY : PROXY_REQUEST;
        scene s = start_scene(tcp);
        connect_both(&s);
        proxy_arm(s.proxy, direction, 5, PROXY_HOLD);
        raw_say(sender(&s, direction), MESSAGE);
        raw_expect_text(receiver(&s, direction), "abcde");
        assert_true(raw_is_silent(receiver(&s, direction), SILENCE_US));
        raw_say(sender(&s, back), MESSAGE); /* the other way is open */
        raw_expect_text(receiver(&s, back), MESSAGE);
        assert_int_equal(proxy_bytes(s.proxy, direction), 5);
        proxy_release(s.proxy);
        raw_expect_text(receiver(&s, direction), &MESSAGE[5]);
        check_that_it_passes(&s);
    }
}

static void holds_bytes_back_until_released(void** state)
{
    (void)state;
    on_both(check_hold);
}

/* The client gives up and asks again on a new connection; then the old request arrives after the new one. */
static void check_zombie(bool tcp)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    proxy_arm(s.proxy, PROXY_REQUEST, 0, PROXY_HOLD);
    raw_say(s.client, "old");
    WAIT_FOR(proxy_fired(s.proxy) == 1);
    raw_close(s.client);
    scene fresh = s;
    connect_both(&fresh);
    raw_say(fresh.client, "new");
    raw_expect_text(fresh.server, "new");
    assert_true(raw_is_silent(s.server, SILENCE_US));
    proxy_release(s.proxy);
    raw_expect_text(s.server, "old");
    assert_int_equal(raw_expect_end(s.server), RAW_FIN);
}

static void keeps_a_request_alive_whose_client_is_gone(void** state)
{
    (void)state;
    on_both(check_zombie);
}

static void holds_everything_at_once(void** state)
{
    (void)state;
    scene s = start_scene(false);
    connect_both(&s);
    proxy_cut_now(s.proxy, PROXY_HOLD);
    raw_say(s.client, "request");
    raw_say(s.server, "reply");
    assert_true(raw_is_silent(s.server, SILENCE_US));
    assert_true(raw_is_silent(s.client, SILENCE_US));
    proxy_release(s.proxy);
    raw_expect_text(s.server, "request");
    raw_expect_text(s.client, "reply");
}

/* ---- Chopping ---- */

static void check_pieces(proxy_direction direction, size_t piece)
{
    char got[64];
    size_t at = 0;
    scene s = start_scene(false);
    connect_both(&s);
    proxy_chop(s.proxy, direction, piece, 0);
    raw_say(sender(&s, direction), MESSAGE);
    while (at < MESSAGE_SIZE)
    {
        size_t due = MESSAGE_SIZE - at < piece ? MESSAGE_SIZE - at : piece;
        assert_int_equal(raw_read(receiver(&s, direction), got, sizeof(got)), due);
        assert_memory_equal(got, &MESSAGE[at], due);
        at += due;
    }
    proxy_chop(s.proxy, direction, 0, 0);
    check_that_it_passes(&s);
}

static void hands_out_pieces_one_by_one(void** state)
{
    (void)state;
    for (size_t piece = 1; piece <= MESSAGE_SIZE; piece += 3)
    {
        check_pieces(PROXY_REQUEST, piece);
        check_pieces(PROXY_REPLY, piece);
    }
}

static void check_pause(bool tcp)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    proxy_chop(s.proxy, PROXY_REPLY, 4, 2000);
    uint64_t begin_us = wait_now_us();
    raw_say(s.server, MESSAGE);
    raw_expect_text(s.client, MESSAGE);
    assert_true(wait_now_us() - begin_us >= 4 * 2000);
    assert_int_equal(proxy_bytes(s.proxy, PROXY_REPLY), MESSAGE_SIZE);
}

static void pauses_between_pieces(void** state)
{
    (void)state;
    on_both(check_pause);
}

static void cuts_what_it_chops(void** state)
{
    (void)state;
    scene s = start_scene(false);
    connect_both(&s);
    proxy_chop(s.proxy, PROXY_REPLY, 3, 0);
    proxy_arm(s.proxy, PROXY_REPLY, 7, PROXY_FIN);
    raw_say(s.server, MESSAGE);
    raw_expect_text(s.client, "abcdefg");
    raw_expect_end(s.client);
}

/* ---- Modes ---- */

static void check_modes(bool tcp)
{
    scene s = start_scene(tcp);
    connect_both(&s);
    proxy_set_mode(s.proxy, PROXY_REFUSE);
    int refused = stream_connect(proxy_address(s.proxy));
    assert_int_equal(refused, -1);
    assert_int_equal(errno, ECONNREFUSED);
    check_that_it_passes(&s); /* those who are there stay */

    proxy_set_mode(s.proxy, PROXY_CLOSE);
    int closed = raw_connect(proxy_address(s.proxy));
    assert_int_equal(raw_expect_end(closed), RAW_FIN);

    proxy_set_mode(s.proxy, PROXY_SWALLOW);
    int swallowed = raw_connect(proxy_address(s.proxy));
    raw_say(swallowed, MESSAGE);
    assert_true(raw_is_silent(swallowed, SILENCE_US));
    assert_false(raw_has_caller(s.listener));

    proxy_set_mode(s.proxy, PROXY_PASS);
    connect_both(&s);
    check_that_it_passes(&s);
    raw_close(swallowed);
    WAIT_FOR(proxy_open_connections(s.proxy) == 2);
}

static void refuses_closes_and_swallows(void** state)
{
    (void)state;
    on_both(check_modes);
}

static void leads_new_connections_to_another_server(void** state)
{
    (void)state;
    char address[RAW_ADDRESS_SIZE];
    scene s = start_scene(false);
    scene other = s;
    connect_both(&s);
    other.listener = raw_listen(true, address);
    proxy_set_server(s.proxy, address);
    connect_both(&other);
    check_that_it_passes(&other);
    check_that_it_passes(&s);
    assert_false(raw_has_caller(s.listener));
}

static void closes_on_clients_while_no_server_is_there(void** state)
{
    (void)state;
    scene s = start_scene(false);
    raw_close(s.listener);
    s.client = raw_connect(proxy_address(s.proxy));
    assert_int_equal(raw_expect_end(s.client), RAW_FIN);
}

static void is_gone_when_ended(void** state)
{
    (void)state;
    scene s = start_scene(false);
    char address[RAW_ADDRESS_SIZE];
    strcpy(address, proxy_address(s.proxy));
    connect_both(&s);
    proxy_end(s.proxy);
    assert_int_equal(raw_expect_end(s.client), RAW_FIN);
    assert_int_equal(raw_expect_end(s.server), RAW_FIN);
    assert_int_equal(stream_connect(address), -1);
}

TEST_FILE(proxy, cmocka_unit_test(passes_all_bytes_both_ways), cmocka_unit_test(passes_on_that_one_side_said_its_last),
          cmocka_unit_test(counts_bytes_and_connections), cmocka_unit_test(serves_more_connections_than_it_has_places),
          cmocka_unit_test(cuts_after_exactly_that_byte), cmocka_unit_test(cuts_in_the_middle_of_much),
          cmocka_unit_test(does_armed_things_in_their_order), cmocka_unit_test(counts_one_connection_alone_if_told_so),
          cmocka_unit_test(forgets_what_is_armed), cmocka_unit_test(cuts_all_at_once),
          cmocka_unit_test(holds_bytes_back_until_released),
          cmocka_unit_test(keeps_a_request_alive_whose_client_is_gone), cmocka_unit_test(holds_everything_at_once),
          cmocka_unit_test(hands_out_pieces_one_by_one), cmocka_unit_test(pauses_between_pieces),
          cmocka_unit_test(cuts_what_it_chops), cmocka_unit_test(refuses_closes_and_swallows),
          cmocka_unit_test(leads_new_connections_to_another_server),
          cmocka_unit_test(closes_on_clients_while_no_server_is_there), cmocka_unit_test(is_gone_when_ended));
