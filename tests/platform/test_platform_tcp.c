/* test_platform_tcp.c -- the streams of guildhall/platform.h over TCP, on loopback ports that the kernel draws. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "guildhall/platform.h"
#include "support/scene/platform_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- TCP ---- */

static void check_tcp(stream_fixture* f, int family)
{
    uint16_t port = fixture_bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = fixture_tcp_address(family, port);
    assert_int_equal(fixture_open_stream(f, &address), GH_OK);
    fixture_accept_peer(f);
    assert_true(fixture_option_is_on(f->stream, IPPROTO_TCP, TCP_NODELAY));
    assert_true(fixture_option_is_on(f->stream, SOL_SOCKET, SO_KEEPALIVE));
    assert_true((fcntl((int)f->stream, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl((int)f->stream, F_GETFD) & FD_CLOEXEC) != 0);
    fixture_exchange(f);
    fixture_close_accepted(f);
    char byte;
    assert_int_equal(fixture_receive_some(f, &byte, 1), GH_STREAM_CLOSED);
    fixture_expect_closed_without_a_signal(f);
}

static void tcp_over_ipv4(void** state)
{
    check_tcp(*state, AF_INET);
}

static void tcp_over_ipv6(void** state)
{
    check_tcp(*state, AF_INET6);
}

/* The port is taken, so that nobody else can begin to listen on it, and nobody listens. */
static void check_nobody_listens(stream_fixture* f, int family)
{
    uint16_t port = fixture_bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    gh_address address = fixture_tcp_address(family, port);
    assert_int_equal(fixture_open_stream(f, &address), GH_REFUSED);
}

static void a_port_without_a_listener_is_refused_over_ipv4(void** state)
{
    check_nobody_listens(*state, AF_INET);
}

static void a_port_without_a_listener_is_refused_over_ipv6(void** state)
{
    check_nobody_listens(*state, AF_INET6);
}

/* Linux leaves a SYN without an answer while the backlog is full, which looks like a server far away
   that is gone. */
static void connected_says_pending_and_does_not_wait(void** state)
{
    enum
    {
        STREAMS = 4
    };
    stream_fixture* f = *state;
    intptr_t streams[STREAMS] = {-1, -1, -1, -1};
    int pending = 0;
#if !defined(__linux__)
    suite_skip("only Linux leaves an attempt open while the backlog is full");
#endif
    uint16_t port = fixture_bind_tcp(f, AF_INET);
    assert_int_equal(listen(f->listener, 0), 0);
    gh_address address = fixture_tcp_address(AF_INET, port);
    uint64_t start = f->platform->now_us(f->platform->context);
    for (int i = 0; i < STREAMS; i++)
    {
        gh_status status = f->platform->open(f->platform->context, &address, &streams[i]);
        if (status == GH_PENDING) status = fixture_wait_connected(f->platform, streams[i], wait_now_us() + 20 * 1000);
        if (status == GH_PENDING) pending++;
    }
    uint64_t end = f->platform->now_us(f->platform->context);
    for (int i = 0; i < STREAMS; i++)
    {
        if (streams[i] >= 0) f->platform->close(f->platform->context, streams[i]);
    }
    assert_true(pending > 0);
    assert_true(end - start < 10 * 1000 * 1000); /* the kernel itself would wait for minutes */
}

static void a_host_that_is_no_number_is_an_invalid_address(void** state)
{
    static const char* const v4[] = {"",    "localhost", "127.1",       "127.0.0.1 ", "127.0.0.256",
                                     "::1", "1.2.3.4.5", "127.0.0.1:80"};
    static const char* const v6[] = {
        "",     "localhost",  "[::1]", "127.0.0.1",
        "::1 ", "fe80::1%lo", ":::",   "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd"};
    stream_fixture* f = *state;
    gh_address address = fixture_tcp_address(AF_INET, 1);
    for (size_t i = 0; i < sizeof v4 / sizeof v4[0]; i++)
    {
        address.host = gh_str_of(v4[i]);
        assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    }
    address.host = gh_str_literal("127.0.0.1\0.example");
    assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    address = fixture_tcp_address(AF_INET6, 1);
    for (size_t i = 0; i < sizeof v6 / sizeof v6[0]; i++)
    {
        address.host = gh_str_of(v6[i]);
        assert_int_equal(fixture_open_stream(f, &address), GH_INVALID_ADDRESS);
    }
}

static void a_host_needs_no_nul_behind_it(void** state)
{
    stream_fixture* f = *state;
    uint16_t port = fixture_bind_tcp(f, AF_INET);
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = fixture_tcp_address(AF_INET, port);
    address.host = gh_str_make("127.0.0.1:6379", 9);
    assert_int_equal(fixture_open_stream(f, &address), GH_OK);
}

/* The socket is bound to the port that it then connects to, which is what happens by chance to one that
   keeps trying a port of a server that is down. The kernel calls it connected; Guildhall must not. */
static void check_self_connect(stream_fixture* f, int family)
{
    uint16_t port = fixture_bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    endpoint name;
    socklen_t size = fixture_loopback_name(family, port, &name);
    assert_int_equal(connect(f->listener, &name.any, size), 0);
    assert_int_equal(write(f->listener, "echo", 4), 4); /* it is: what we say, we hear */
    fixture_wait_readable(f->listener);
    assert_int_equal(f->platform->connected(f->platform->context, f->listener), GH_REFUSED);
}

static void a_connection_to_itself_is_refused_over_ipv4(void** state)
{
    check_self_connect(*state, AF_INET);
}

static void a_connection_to_itself_is_refused_over_ipv6(void** state)
{
    check_self_connect(*state, AF_INET6);
}

TEST_FILE(platform_tcp, IN_FOLDER(tcp_over_ipv4), IN_FOLDER(tcp_over_ipv6),
          IN_FOLDER(a_port_without_a_listener_is_refused_over_ipv4),
          IN_FOLDER(a_port_without_a_listener_is_refused_over_ipv6),
          IN_FOLDER(connected_says_pending_and_does_not_wait),
          IN_FOLDER(a_host_that_is_no_number_is_an_invalid_address), IN_FOLDER(a_host_needs_no_nul_behind_it),
          IN_FOLDER(a_connection_to_itself_is_refused_over_ipv4),
          IN_FOLDER(a_connection_to_itself_is_refused_over_ipv6));
