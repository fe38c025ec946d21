/* test_platform.c -- guildhall/platform.h as this system implements it, against sockets that the tests
   make themselves. test_platform_tcp.c has those over TCP.

   Only unix sockets in a temporary folder and loopback addresses with ports that the kernel draws. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "guildhall/platform.h"
#include "support/faults/heap.h"
#include "support/scene/platform_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- Table, clock, entropy ---- */

static void the_default_table_is_complete(void** state)
{
    (void)state;
    const gh_platform* platform = gh_platform_default();
    assert_non_null(platform);
    assert_true(platform->now_us != NULL);
    assert_true(platform->entropy != NULL);
    assert_true(platform->open != NULL);
    assert_true(platform->connected != NULL);
    assert_true(platform->send != NULL);
    assert_true(platform->receive != NULL);
    assert_true(platform->close != NULL);
    assert_ptr_equal(platform, gh_platform_default());
}

static void the_clock_grows_in_microseconds(void** state)
{
    (void)state;
    const gh_platform* platform = gh_platform_default();
    uint64_t own_start = wait_now_us();
    uint64_t start = platform->now_us(platform->context);
    uint64_t last = start;
    for (int i = 0; i < 10000; i++)
    {
        uint64_t now = platform->now_us(platform->context);
        assert_true(now >= last);
        last = now;
    }
    struct timespec pause = {0, 20 * 1000 * 1000};
    (void)nanosleep(&pause, NULL);
    uint64_t elapsed = platform->now_us(platform->context) - start;
    uint64_t own_elapsed = wait_now_us() - own_start; /* around the other, so it is the longer one */
    assert_true(elapsed >= 20 * 1000);
    assert_true(elapsed <= own_elapsed + 1000);
}

static void entropy_differs_between_calls(void** state)
{
    (void)state;
    const gh_platform* platform = gh_platform_default();
    unsigned char a[16] = {0};
    unsigned char b[16] = {0};
    assert_true(platform->entropy(platform->context, a, sizeof a));
    assert_true(platform->entropy(platform->context, b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
}

/* 700 bytes, because some generators give at most 256 in one call. */
static void entropy_fills_all_and_nothing_else(void** state)
{
    (void)state;
    enum
    {
        SIZE = 700,
        GUARD = 8
    };
    const gh_platform* platform = gh_platform_default();
    unsigned char bytes[GUARD + SIZE + GUARD] = {0};
    assert_true(platform->entropy(platform->context, bytes + GUARD, SIZE));
    for (int i = 0; i < GUARD; i++)
    {
        assert_int_equal(bytes[i], 0);
        assert_int_equal(bytes[GUARD + SIZE + i], 0);
    }
    for (int i = GUARD; i + 20 <= GUARD + SIZE; i += 20) /* 20 zeros in a row: once in 2^160 calls */
    {
        static const unsigned char zeros[20];
        assert_memory_not_equal(bytes + i, zeros, sizeof zeros);
    }
    assert_true(platform->entropy(platform->context, bytes, 0));
    assert_int_equal(bytes[0], 0);
}

/* ---- Unix sockets ---- */

static void a_unix_stream_carries_bytes_both_ways(void** state)
{
    stream_fixture* f = *state;
    fixture_connect_unix(f);
    assert_int_equal(f->platform->connected(f->platform->context, f->stream), GH_OK);
    fixture_exchange(f);
}

static void a_stream_never_blocks_and_is_not_inherited(void** state)
{
    stream_fixture* f = *state;
    fixture_connect_unix(f);
    assert_true((fcntl((int)f->stream, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl((int)f->stream, F_GETFD) & FD_CLOEXEC) != 0);
}

static void receive_would_block_while_nothing_came(void** state)
{
    stream_fixture* f = *state;
    char byte = 0;
    fixture_connect_unix(f);
    assert_int_equal(f->platform->receive(f->platform->context, f->stream, &byte, 1), GH_STREAM_WOULD_BLOCK);
    fixture_exchange(f); /* and it is still of use */
}

static void no_bytes_asked_for_is_not_the_end(void** state)
{
    stream_fixture* f = *state;
    const gh_platform* platform = f->platform;
    char byte = 0;
    fixture_connect_unix(f);
    assert_int_equal(platform->send(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(platform->receive(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(write(f->accepted, "x", 1), 1); /* with a byte waiting, recv of none returns 0 */
    fixture_wait_readable((int)f->stream);
    assert_int_equal(platform->receive(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(fixture_receive_some(f, &byte, 1), 1);
    fixture_exchange(f);
}

/* Fills every buffer between us and a peer that does not read, then lets it read: not one byte is lost
   or repeated. */
static void send_would_block_while_the_peer_does_not_read(void** state)
{
    stream_fixture* f = *state;
    static char chunk[64 * 1024];
    fixture_connect_unix(f);
    int64_t sent = 0;
    int64_t count = 1;
    for (int i = 0; i < 100000 && count > 0; i++)
    {
        count = f->platform->send(f->platform->context, f->stream, chunk, sizeof chunk);
        assert_true(count <= (int64_t)sizeof chunk);
        if (count > 0) sent += count;
    }
    assert_int_equal(count, GH_STREAM_WOULD_BLOCK);
    assert_true(sent > 0);

    while (sent > 0)
    {
        fixture_wait_readable(f->accepted);
        ssize_t taken = read(f->accepted, chunk, sizeof chunk);
        assert_true(taken > 0);
        sent -= taken;
    }
    assert_int_equal(sent, 0);
    fixture_exchange(f);
}

static void receive_hands_out_the_last_bytes_before_closed(void** state)
{
    stream_fixture* f = *state;
    char bytes[8];
    fixture_connect_unix(f);
    assert_int_equal(write(f->accepted, "bye", 3), 3);
    fixture_close_accepted(f);
    assert_int_equal(fixture_receive_some(f, bytes, sizeof bytes), 3);
    assert_int_equal(fixture_receive_some(f, bytes, sizeof bytes), GH_STREAM_CLOSED);
    assert_int_equal(fixture_receive_some(f, bytes, sizeof bytes), GH_STREAM_CLOSED);
}

static void send_to_a_closed_peer_is_closed_and_no_signal(void** state)
{
    stream_fixture* f = *state;
    fixture_connect_unix(f);
    fixture_close_accepted(f);
    fixture_expect_closed_without_a_signal(f);
}

static void a_missing_socket_file_is_refused(void** state)
{
    stream_fixture* f = *state;
    gh_address address = fixture_unix_address(f->path);
    assert_int_equal(fixture_open_stream(f, &address), GH_REFUSED);
}

/* What a server that was killed leaves behind. */
static void a_socket_file_without_a_listener_is_refused(void** state)
{
    stream_fixture* f = *state;
    gh_address address = fixture_unix_address(f->path);
    fixture_bind_unix(f);
    assert_int_equal(fixture_open_stream(f, &address), GH_REFUSED);
    fixture_close_listener(f);
    assert_int_equal(fixture_open_stream(f, &address), GH_REFUSED);
}

static void a_file_that_is_no_socket_is_refused(void** state)
{
    stream_fixture* f = *state;
    gh_address address = fixture_unix_address(f->path);
    int file = open(f->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    (void)close(file);
    assert_int_equal(fixture_open_stream(f, &address), GH_REFUSED);
}

/* By open() itself: nothing is under way then, so GH_PENDING would promise what never comes. */
static void a_full_unix_backlog_is_refused_until_there_is_room(void** state)
{
    enum
    {
        STREAMS = 64
    };
    stream_fixture* f = *state;
    const gh_platform* platform = f->platform;
    intptr_t streams[STREAMS];
    int count = 0;
    gh_status status = GH_OK;
    fixture_bind_unix(f);
    assert_int_equal(listen(f->listener, 0), 0);
    gh_address address = fixture_unix_address(f->path);
    while (count < STREAMS)
    {
        status = platform->open(platform->context, &address, &streams[count]);
        if (status != GH_OK) break;
        count++;
    }
    for (int i = 0; i < count; i++)
    {
        platform->close(platform->context, streams[i]);
        fixture_accept_peer(f);
        fixture_close_accepted(f);
    }
    assert_int_equal(status, GH_REFUSED);
    assert_int_equal(fixture_open_stream(f, &address), GH_OK);
    fixture_accept_peer(f);
    fixture_exchange(f);
}

static void a_path_that_no_socket_can_have_is_an_invalid_address(void** state)
{
    stream_fixture* f = *state;
    char bytes[256];
    memset(bytes, 'a', sizeof bytes);
    gh_address address = fixture_unix_address("");
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_make(bytes, sizeof bytes);
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_literal("/tmp/a\0b");
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_literal("\0abstract");
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    address.kind = (gh_address_kind)0;
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
}

/* The view ends where it says, although other bytes follow. */
static void a_path_needs_no_nul_behind_it(void** state)
{
    stream_fixture* f = *state;
    char longer[FIXTURE_PATH_SIZE + 8];
    fixture_bind_unix(f);
    assert_int_equal(listen(f->listener, 4), 0);
    (void)snprintf(longer, sizeof longer, "%s.other", f->path);
    gh_address address = fixture_unix_address(f->path);
    address.path = gh_str_make(longer, strlen(f->path));
    assert_int_equal(fixture_open_stream(f, &address), GH_OK);
}

/* ---- Close ---- */

static void close_frees_the_descriptor_and_the_peer_is_told(void** state)
{
    stream_fixture* f = *state;
    char byte;
    fixture_connect_unix(f);
    int descriptor = (int)f->stream;
    fixture_close_stream(f);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    fixture_wait_readable(f->accepted);
    assert_int_equal(read(f->accepted, &byte, 1), 0);
}

/* The whole life of a connection, and a refused one, without one call of the heap. */
static void nothing_is_allocated(void** state)
{
    stream_fixture* f = *state;
    const gh_platform* platform = f->platform;
    if (!heap_watch_works()) suite_skip("this binary was linked without the counters of the heap");
    char bytes[16];
    intptr_t stream = -1;
    fixture_bind_unix(f);
    gh_address address = fixture_unix_address(f->path);
    gh_address invalid = fixture_tcp_address(AF_INET, 1);
    invalid.host = gh_str_literal("localhost");

    heap_watch_begin();
    (void)platform->now_us(platform->context);
    bool filled = platform->entropy(platform->context, bytes, sizeof bytes);
    gh_status refused = platform->open(platform->context, &address, &stream);
    gh_status no_number = platform->open(platform->context, &invalid, &stream);
    int listening = listen(f->listener, 4);
    gh_status opened = platform->open(platform->context, &address, &stream);
    gh_status connected = platform->connected(platform->context, stream);
    int64_t sent = platform->send(platform->context, stream, "PING", 4);
    int64_t received = platform->receive(platform->context, stream, bytes, sizeof bytes);
    platform->close(platform->context, stream);
    heap_counts counts = heap_watch_end();

    assert_true(filled);
    assert_int_equal(refused, GH_REFUSED);
    assert_int_equal(no_number, GH_INVALID_ADDRESS);
    assert_int_equal(listening, 0);
    assert_int_equal(opened, GH_OK);
    assert_int_equal(connected, GH_OK);
    assert_int_equal(sent, 4);
    assert_int_equal(received, GH_STREAM_WOULD_BLOCK);
    assert_int_equal(counts.total, 0);
}

TEST_FILE(platform, cmocka_unit_test(the_default_table_is_complete), cmocka_unit_test(the_clock_grows_in_microseconds),
          cmocka_unit_test(entropy_differs_between_calls), cmocka_unit_test(entropy_fills_all_and_nothing_else),
          IN_FOLDER(a_unix_stream_carries_bytes_both_ways), IN_FOLDER(a_stream_never_blocks_and_is_not_inherited),
          IN_FOLDER(receive_would_block_while_nothing_came), IN_FOLDER(no_bytes_asked_for_is_not_the_end),
          IN_FOLDER(send_would_block_while_the_peer_does_not_read),
          IN_FOLDER(receive_hands_out_the_last_bytes_before_closed),
          IN_FOLDER(send_to_a_closed_peer_is_closed_and_no_signal), IN_FOLDER(a_missing_socket_file_is_refused),
          IN_FOLDER(a_socket_file_without_a_listener_is_refused), IN_FOLDER(a_file_that_is_no_socket_is_refused),
          IN_FOLDER(a_full_unix_backlog_is_refused_until_there_is_room),
          IN_FOLDER(a_path_that_no_socket_can_have_is_an_invalid_address), IN_FOLDER(a_path_needs_no_nul_behind_it),
          IN_FOLDER(close_frees_the_descriptor_and_the_peer_is_told), IN_FOLDER(nothing_is_allocated));
