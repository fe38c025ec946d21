/* platform_fixture.c -- sockets of the test at the other end of a stream. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "support/scene/platform_fixture.h"

#include "support/wait.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fixture_next_descriptor(void)
{
    int descriptor = open("/dev/null", O_RDONLY);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    return descriptor;
}

int fixture_set_up(void** state)
{
    static stream_fixture fixture_of_this_test;
    stream_fixture* f = &fixture_of_this_test;
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    (void)snprintf(f->path, sizeof f->path, "%s/peer", folder);
    f->platform = gh_platform_default();
    f->listener = f->accepted = -1;
    f->stream = -1;
    f->first_free = fixture_next_descriptor();
    *state = f;
    return 0;
}

void fixture_close_stream(stream_fixture* f)
{
    if (f->stream >= 0) f->platform->close(f->platform->context, f->stream);
    f->stream = -1;
}

void fixture_close_accepted(stream_fixture* f)
{
    if (f->accepted >= 0) (void)close(f->accepted);
    f->accepted = -1;
}

void fixture_close_listener(stream_fixture* f)
{
    if (f->listener >= 0) (void)close(f->listener);
    f->listener = -1;
}

int fixture_tear_down(void** state)
{
    stream_fixture* f = *state;
    fixture_close_stream(f);
    fixture_close_accepted(f);
    fixture_close_listener(f);
    return fixture_next_descriptor() == f->first_free ? 0 : -1;
}

/* ---- The test's side of a connection ---- */

gh_address fixture_unix_address(const char* path)
{
    gh_address address = {0};
    address.kind = GH_ADDRESS_UNIX;
    address.path = gh_str_of(path);
    return address;
}

gh_address fixture_tcp_address(int family, uint16_t port)
{
    gh_address address = {0};
    address.kind = family == AF_INET ? GH_ADDRESS_IPV4 : GH_ADDRESS_IPV6;
    address.host = gh_str_of(family == AF_INET ? "127.0.0.1" : "::1");
    address.port = port;
    return address;
}

void fixture_bind_unix(stream_fixture* f)
{
    endpoint name;
    memset(&name, 0, sizeof name);
    name.local.sun_family = AF_UNIX;
    (void)snprintf(name.local.sun_path, sizeof name.local.sun_path, "%s", f->path);
    f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(f->listener >= 0);
    assert_int_equal(bind(f->listener, &name.any, (socklen_t)sizeof name.local), 0);
}

socklen_t fixture_loopback_name(int family, uint16_t port, endpoint* name)
{
    memset(name, 0, sizeof *name);
    if (family == AF_INET)
    {
        name->ipv4.sin_family = AF_INET;
        name->ipv4.sin_port = htons(port);
        name->ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return (socklen_t)sizeof name->ipv4;
    }
    name->ipv6.sin6_family = AF_INET6;
    name->ipv6.sin6_port = htons(port);
    name->ipv6.sin6_addr = in6addr_loopback;
    return (socklen_t)sizeof name->ipv6;
}

uint16_t fixture_bind_tcp(stream_fixture* f, int family)
{
    endpoint name;
    socklen_t size = fixture_loopback_name(family, 0, &name);
    f->listener = socket(family, SOCK_STREAM, 0);
    if (f->listener < 0 || bind(f->listener, &name.any, size) != 0) return 0;
    assert_int_equal(getsockname(f->listener, &name.any, &size), 0);
    return ntohs(family == AF_INET ? name.ipv4.sin_port : name.ipv6.sin6_port);
}

gh_status fixture_wait_connected(const gh_platform* platform, intptr_t stream, uint64_t end_us)
{
    gh_status status = platform->connected(platform->context, stream);
    while (status == GH_PENDING && wait_now_us() < end_us)
    {
        wait_briefly();
        status = platform->connected(platform->context, stream);
    }
    return status;
}

gh_status fixture_open_stream(stream_fixture* f, const gh_address* address)
{
    const gh_platform* platform = f->platform;
    intptr_t stream = -1;
    gh_status status = platform->open(platform->context, address, &stream);
    if (status != GH_OK && status != GH_PENDING)
    {
        assert_int_equal(stream, -1); /* a failure leaves no stream */
        return status;
    }
    f->stream = stream;
    if (status == GH_PENDING) status = fixture_wait_connected(platform, stream, wait_cap_us());
    if (status != GH_OK) fixture_close_stream(f);
    return status;
}

void fixture_wait_readable(int descriptor)
{
    struct pollfd waiting = {0};
    waiting.fd = descriptor;
    waiting.events = POLLIN;
    assert_int_equal(poll(&waiting, 1, 20000 * (int)suite_patience()), 1);
}

void fixture_accept_peer(stream_fixture* f)
{
    fixture_wait_readable(f->listener);
    f->accepted = accept(f->listener, NULL, NULL);
    assert_true(f->accepted >= 0);
}

void fixture_connect_unix(stream_fixture* f)
{
    fixture_bind_unix(f);
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = fixture_unix_address(f->path);
    assert_int_equal(fixture_open_stream(f, &address), GH_OK);
    fixture_accept_peer(f);
}

int64_t fixture_send_text(stream_fixture* f, const char* text)
{
    return f->platform->send(f->platform->context, f->stream, text, strlen(text));
}

int64_t fixture_receive_some(stream_fixture* f, void* bytes, size_t size)
{
    fixture_wait_readable((int)f->stream);
    return f->platform->receive(f->platform->context, f->stream, bytes, size);
}

void fixture_exchange(stream_fixture* f)
{
    char bytes[16] = {0};
    assert_int_equal(fixture_send_text(f, "PING"), 4);
    fixture_wait_readable(f->accepted);
    assert_int_equal(read(f->accepted, bytes, sizeof bytes), 4);
    assert_memory_equal(bytes, "PING", 4);
    assert_int_equal(write(f->accepted, "PONG!", 5), 5);
    assert_int_equal(fixture_receive_some(f, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "PONG!", 5);
}

bool fixture_option_is_on(intptr_t stream, int level, int option)
{
    int value = 0;
    socklen_t size = (socklen_t)sizeof value;
    assert_int_equal(getsockopt((int)stream, level, option, &value, &size), 0);
    return value != 0;
}

static volatile sig_atomic_t pipe_signals;

static void count_pipe_signal(int number)
{
    (void)number;
    pipe_signals = pipe_signals + 1;
}

/* Until the end is told: TCP takes a send or two before it knows. */
static int64_t send_until_closed(stream_fixture* f)
{
    uint64_t end_us = wait_cap_us();
    int64_t count = fixture_send_text(f, "anybody there?");
    while (count != GH_STREAM_CLOSED && wait_now_us() < end_us)
    {
        wait_briefly();
        count = fixture_send_text(f, "anybody there?");
    }
    return count;
}

void fixture_expect_closed_without_a_signal(stream_fixture* f)
{
    struct sigaction counting;
    struct sigaction before;
    memset(&counting, 0, sizeof counting);
    counting.sa_handler = count_pipe_signal;
    assert_int_equal(sigemptyset(&counting.sa_mask), 0);
    pipe_signals = 0;
    assert_int_equal(sigaction(SIGPIPE, &counting, &before), 0);
    int64_t first = send_until_closed(f);
    int64_t second = fixture_send_text(f, "hello?");
    (void)sigaction(SIGPIPE, &before, NULL);
    assert_int_equal(first, GH_STREAM_CLOSED);
    assert_int_equal(second, GH_STREAM_CLOSED);
    assert_int_equal(pipe_signals, 0);
}
