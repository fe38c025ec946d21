/* test_platform.c -- platform/platform.h as this system implements it, against sockets that the tests
   make themselves.

   Only unix sockets in a temporary folder and loopback addresses with ports that the kernel draws. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif

#include "platform.h"
#include "support/heap.h"
#include "support/scratch.h"
#include "support/suite.h"
#include "support/wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum
{
    PATH_SIZE = SCRATCH_PATH_SIZE + 8
};

/* What most tests need: a folder, a listener in it, and what must be closed whatever happens in between. */
typedef struct fixture
{
    const gh_platform* platform;
    char path[PATH_SIZE]; /* of the unix listener */
    int listener;         /* -1: none             */
    int accepted;         /* -1: none             */
    intptr_t stream;      /* -1: none             */
    int first_free;       /* the descriptor that the kernel would give out next, to find leaks */
} fixture;

typedef union endpoint
{
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} endpoint;

static int next_descriptor(void)
{
    int descriptor = open("/dev/null", O_RDONLY);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    return descriptor;
}

static int set_up(void** state)
{
    static fixture fixture_of_this_test;
    fixture* f = &fixture_of_this_test;
    char folder[SCRATCH_PATH_SIZE];
    scratch_folder(folder);
    (void)snprintf(f->path, sizeof f->path, "%s/peer", folder);
    f->platform = gh_platform_default();
    f->listener = f->accepted = -1;
    f->stream = -1;
    f->first_free = next_descriptor();
    *state = f;
    return 0;
}

static void close_stream(fixture* f)
{
    if (f->stream >= 0) f->platform->close(f->platform->context, f->stream);
    f->stream = -1;
}

static void close_accepted(fixture* f)
{
    if (f->accepted >= 0) (void)close(f->accepted);
    f->accepted = -1;
}

static void close_listener(fixture* f)
{
    if (f->listener >= 0) (void)close(f->listener);
    f->listener = -1;
}

static int tear_down(void** state)
{
    fixture* f = *state;
    close_stream(f);
    close_accepted(f);
    close_listener(f);
    return next_descriptor() == f->first_free ? 0 : -1;
}

/* -----------------------------------------------------------------------------------------------------------
   The test's side of a connection */

static gh_address unix_address(const char* path)
{
    gh_address address = {0};
    address.kind = GH_ADDRESS_UNIX;
    address.path = gh_str_of(path);
    return address;
}

static gh_address tcp_address(int family, uint16_t port)
{
    gh_address address = {0};
    address.kind = family == AF_INET ? GH_ADDRESS_IPV4 : GH_ADDRESS_IPV6;
    address.host = gh_str_of(family == AF_INET ? "127.0.0.1" : "::1");
    address.port = port;
    return address;
}

static void bind_unix(fixture* f)
{
    endpoint name;
    memset(&name, 0, sizeof name);
    name.local.sun_family = AF_UNIX;
    (void)snprintf(name.local.sun_path, sizeof name.local.sun_path, "%s", f->path);
    f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(f->listener >= 0);
    assert_int_equal(bind(f->listener, &name.any, (socklen_t)sizeof name.local), 0);
}

static socklen_t loopback(int family, uint16_t port, endpoint* name)
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

/* Binds f->listener to a free port of the loopback and returns the port; 0 if there is no such loopback. */
static uint16_t bind_tcp(fixture* f, int family)
{
    endpoint name;
    socklen_t size = loopback(family, 0, &name);
    f->listener = socket(family, SOCK_STREAM, 0);
    if (f->listener < 0 || bind(f->listener, &name.any, size) != 0) return 0;
    assert_int_equal(getsockname(f->listener, &name.any, &size), 0);
    return ntohs(family == AF_INET ? name.ipv4.sin_port : name.ipv6.sin6_port);
}

/* Asks connected() until it decides, or until the time is over. */
static gh_status wait_connected(const gh_platform* platform, intptr_t stream, uint64_t end_us)
{
    gh_status status = platform->connected(platform->context, stream);
    while (status == GH_PENDING && wait_now_us() < end_us)
    {
        wait_briefly();
        status = platform->connected(platform->context, stream);
    }
    return status;
}

/* Opens as the link does, and closes again what did not come to be. */
static gh_status open_stream(fixture* f, const gh_address* address)
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
    if (status == GH_PENDING) status = wait_connected(platform, stream, wait_cap_us());
    if (status != GH_OK) close_stream(f);
    return status;
}

static void wait_readable(int descriptor)
{
    struct pollfd waiting = {0};
    waiting.fd = descriptor;
    waiting.events = POLLIN;
    assert_int_equal(poll(&waiting, 1, 20000 * (int)suite_patience()), 1);
}

static void accept_peer(fixture* f)
{
    wait_readable(f->listener);
    f->accepted = accept(f->listener, NULL, NULL);
    assert_true(f->accepted >= 0);
}

/* A stream to a unix listener, accepted. */
static void connect_unix(fixture* f)
{
    bind_unix(f);
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = unix_address(f->path);
    assert_int_equal(open_stream(f, &address), GH_OK);
    accept_peer(f);
}

static int64_t send_text(fixture* f, const char* text)
{
    return f->platform->send(f->platform->context, f->stream, text, strlen(text));
}

/* Waits for bytes or for the end; what receive() then said. */
static int64_t receive_some(fixture* f, void* bytes, size_t size)
{
    wait_readable((int)f->stream);
    return f->platform->receive(f->platform->context, f->stream, bytes, size);
}

/* One word each way. */
static void exchange(fixture* f)
{
    char bytes[16] = {0};
    assert_int_equal(send_text(f, "PING"), 4);
    wait_readable(f->accepted);
    assert_int_equal(read(f->accepted, bytes, sizeof bytes), 4);
    assert_memory_equal(bytes, "PING", 4);
    assert_int_equal(write(f->accepted, "PONG!", 5), 5);
    assert_int_equal(receive_some(f, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "PONG!", 5);
}

static bool option_is_on(intptr_t stream, int level, int option)
{
    int value = 0;
    socklen_t size = (socklen_t)sizeof value;
    assert_int_equal(getsockopt((int)stream, level, option, &value, &size), 0);
    return value != 0;
}

/* -----------------------------------------------------------------------------------------------------------
   Table, clock, entropy */

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

/* -----------------------------------------------------------------------------------------------------------
   Unix sockets */

static void a_unix_stream_carries_bytes_both_ways(void** state)
{
    fixture* f = *state;
    connect_unix(f);
    assert_int_equal(f->platform->connected(f->platform->context, f->stream), GH_OK);
    exchange(f);
}

static void a_stream_never_blocks_and_is_not_inherited(void** state)
{
    fixture* f = *state;
    connect_unix(f);
    assert_true((fcntl((int)f->stream, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl((int)f->stream, F_GETFD) & FD_CLOEXEC) != 0);
}

static void receive_would_block_while_nothing_came(void** state)
{
    fixture* f = *state;
    char byte = 0;
    connect_unix(f);
    assert_int_equal(f->platform->receive(f->platform->context, f->stream, &byte, 1), GH_STREAM_WOULD_BLOCK);
    exchange(f); /* and it is still of use */
}

static void no_bytes_asked_for_is_not_the_end(void** state)
{
    fixture* f = *state;
    const gh_platform* platform = f->platform;
    char byte = 0;
    connect_unix(f);
    assert_int_equal(platform->send(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(platform->receive(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(write(f->accepted, "x", 1), 1); /* with a byte waiting, recv of none returns 0 */
    wait_readable((int)f->stream);
    assert_int_equal(platform->receive(platform->context, f->stream, &byte, 0), GH_STREAM_WOULD_BLOCK);
    assert_int_equal(receive_some(f, &byte, 1), 1);
    exchange(f);
}

/* Fills every buffer between us and a peer that does not read, then lets it read: not one byte is lost
   or repeated. */
static void send_would_block_while_the_peer_does_not_read(void** state)
{
    fixture* f = *state;
    static char chunk[64 * 1024];
    connect_unix(f);
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
        wait_readable(f->accepted);
        ssize_t taken = read(f->accepted, chunk, sizeof chunk);
        assert_true(taken > 0);
        sent -= taken;
    }
    assert_int_equal(sent, 0);
    exchange(f);
}

static void receive_hands_out_the_last_bytes_before_closed(void** state)
{
    fixture* f = *state;
    char bytes[8];
    connect_unix(f);
    assert_int_equal(write(f->accepted, "bye", 3), 3);
    close_accepted(f);
    assert_int_equal(receive_some(f, bytes, sizeof bytes), 3);
    assert_int_equal(receive_some(f, bytes, sizeof bytes), GH_STREAM_CLOSED);
    assert_int_equal(receive_some(f, bytes, sizeof bytes), GH_STREAM_CLOSED);
}

static volatile sig_atomic_t pipe_signals;

static void count_pipe_signal(int number)
{
    (void)number;
    pipe_signals = pipe_signals + 1;
}

/* Until the end is told: TCP takes a send or two before it knows. */
static int64_t send_until_closed(fixture* f)
{
    uint64_t end_us = wait_cap_us();
    int64_t count = send_text(f, "anybody there?");
    while (count != GH_STREAM_CLOSED && wait_now_us() < end_us)
    {
        wait_briefly();
        count = send_text(f, "anybody there?");
    }
    return count;
}

static void expect_closed_without_a_signal(fixture* f)
{
    struct sigaction counting;
    struct sigaction before;
    memset(&counting, 0, sizeof counting);
    counting.sa_handler = count_pipe_signal;
    assert_int_equal(sigemptyset(&counting.sa_mask), 0);
    pipe_signals = 0;
    assert_int_equal(sigaction(SIGPIPE, &counting, &before), 0);
    int64_t first = send_until_closed(f);
    int64_t second = send_text(f, "hello?");
    (void)sigaction(SIGPIPE, &before, NULL);
    assert_int_equal(first, GH_STREAM_CLOSED);
    assert_int_equal(second, GH_STREAM_CLOSED);
    assert_int_equal(pipe_signals, 0);
}

static void send_to_a_closed_peer_is_closed_and_no_signal(void** state)
{
    fixture* f = *state;
    connect_unix(f);
    close_accepted(f);
    expect_closed_without_a_signal(f);
}

static void a_missing_socket_file_is_refused(void** state)
{
    fixture* f = *state;
    gh_address address = unix_address(f->path);
    assert_int_equal(open_stream(f, &address), GH_REFUSED);
}

/* What a server that was killed leaves behind. */
static void a_socket_file_without_a_listener_is_refused(void** state)
{
    fixture* f = *state;
    gh_address address = unix_address(f->path);
    bind_unix(f);
    assert_int_equal(open_stream(f, &address), GH_REFUSED);
    close_listener(f);
    assert_int_equal(open_stream(f, &address), GH_REFUSED);
}

static void a_file_that_is_no_socket_is_refused(void** state)
{
    fixture* f = *state;
    gh_address address = unix_address(f->path);
    int file = open(f->path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(file >= 0);
    (void)close(file);
    assert_int_equal(open_stream(f, &address), GH_REFUSED);
}

/* By open() itself: nothing is under way then, so GH_PENDING would promise what never comes. */
static void a_full_unix_backlog_is_refused_until_there_is_room(void** state)
{
    enum
    {
        STREAMS = 64
    };
    fixture* f = *state;
    const gh_platform* platform = f->platform;
    intptr_t streams[STREAMS];
    int count = 0;
    gh_status status = GH_OK;
    bind_unix(f);
    assert_int_equal(listen(f->listener, 0), 0);
    gh_address address = unix_address(f->path);
    while (count < STREAMS)
    {
        status = platform->open(platform->context, &address, &streams[count]);
        if (status != GH_OK) break;
        count++;
    }
    for (int i = 0; i < count; i++)
    {
        platform->close(platform->context, streams[i]);
        accept_peer(f);
        close_accepted(f);
    }
    assert_int_equal(status, GH_REFUSED);
    assert_int_equal(open_stream(f, &address), GH_OK);
    accept_peer(f);
    exchange(f);
}

static void a_path_that_no_socket_can_have_is_an_invalid_address(void** state)
{
    fixture* f = *state;
    char bytes[256];
    memset(bytes, 'a', sizeof bytes);
    gh_address address = unix_address("");
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_make(bytes, sizeof bytes);
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_literal("/tmp/a\0b");
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    address.path = gh_str_literal("\0abstract");
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    address.kind = (gh_address_kind)0;
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
}

/* The view ends where it says, although other bytes follow. */
static void a_path_needs_no_nul_behind_it(void** state)
{
    fixture* f = *state;
    char longer[PATH_SIZE + 8];
    bind_unix(f);
    assert_int_equal(listen(f->listener, 4), 0);
    (void)snprintf(longer, sizeof longer, "%s.other", f->path);
    gh_address address = unix_address(f->path);
    address.path = gh_str_make(longer, strlen(f->path));
    assert_int_equal(open_stream(f, &address), GH_OK);
}

/* -----------------------------------------------------------------------------------------------------------
   TCP */

static void check_tcp(fixture* f, int family)
{
    uint16_t port = bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = tcp_address(family, port);
    assert_int_equal(open_stream(f, &address), GH_OK);
    accept_peer(f);
    assert_true(option_is_on(f->stream, IPPROTO_TCP, TCP_NODELAY));
    assert_true(option_is_on(f->stream, SOL_SOCKET, SO_KEEPALIVE));
    assert_true((fcntl((int)f->stream, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl((int)f->stream, F_GETFD) & FD_CLOEXEC) != 0);
    exchange(f);
    close_accepted(f);
    char byte;
    assert_int_equal(receive_some(f, &byte, 1), GH_STREAM_CLOSED);
    expect_closed_without_a_signal(f);
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
static void check_nobody_listens(fixture* f, int family)
{
    uint16_t port = bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    gh_address address = tcp_address(family, port);
    assert_int_equal(open_stream(f, &address), GH_REFUSED);
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
    fixture* f = *state;
    intptr_t streams[STREAMS] = {-1, -1, -1, -1};
    int pending = 0;
#if !defined(__linux__)
    suite_skip("only Linux leaves an attempt open while the backlog is full");
#endif
    uint16_t port = bind_tcp(f, AF_INET);
    assert_int_equal(listen(f->listener, 0), 0);
    gh_address address = tcp_address(AF_INET, port);
    uint64_t start = f->platform->now_us(f->platform->context);
    for (int i = 0; i < STREAMS; i++)
    {
        gh_status status = f->platform->open(f->platform->context, &address, &streams[i]);
        if (status == GH_PENDING) status = wait_connected(f->platform, streams[i], wait_now_us() + 20 * 1000);
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
    static const char* const v4[] = {"", "localhost", "127.1", "127.0.0.1 ", "127.0.0.256", "::1",
                                     "1.2.3.4.5", "127.0.0.1:80"};
    static const char* const v6[] = {"", "localhost", "[::1]", "127.0.0.1", "::1 ", "fe80::1%lo", ":::",
                                     "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd"};
    fixture* f = *state;
    gh_address address = tcp_address(AF_INET, 1);
    for (size_t i = 0; i < sizeof v4 / sizeof v4[0]; i++)
    {
        address.host = gh_str_of(v4[i]);
        assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    }
    address.host = gh_str_literal("127.0.0.1\0.example");
    assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    address = tcp_address(AF_INET6, 1);
    for (size_t i = 0; i < sizeof v6 / sizeof v6[0]; i++)
    {
        address.host = gh_str_of(v6[i]);
        assert_int_equal(open_stream(f, &address), GH_INVALID_ADDRESS);
    }
}

static void a_host_needs_no_nul_behind_it(void** state)
{
    fixture* f = *state;
    uint16_t port = bind_tcp(f, AF_INET);
    assert_int_equal(listen(f->listener, 4), 0);
    gh_address address = tcp_address(AF_INET, port);
    address.host = gh_str_make("127.0.0.1:6379", 9);
    assert_int_equal(open_stream(f, &address), GH_OK);
}

/* The socket is bound to the port that it then connects to, which is what happens by chance to one that
   keeps trying a port of a server that is down. The kernel calls it connected; Guildhall must not. */
static void check_self_connect(fixture* f, int family)
{
    uint16_t port = bind_tcp(f, family);
    if (port == 0) suite_skip("this machine has no such loopback address");
    endpoint name;
    socklen_t size = loopback(family, port, &name);
    assert_int_equal(connect(f->listener, &name.any, size), 0);
    assert_int_equal(write(f->listener, "echo", 4), 4); /* it is: what we say, we hear */
    wait_readable(f->listener);
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

/* -----------------------------------------------------------------------------------------------------------
   Close */

static void close_frees_the_descriptor_and_the_peer_is_told(void** state)
{
    fixture* f = *state;
    char byte;
    connect_unix(f);
    int descriptor = (int)f->stream;
    close_stream(f);
    assert_int_equal(fcntl(descriptor, F_GETFD), -1);
    assert_int_equal(errno, EBADF);
    wait_readable(f->accepted);
    assert_int_equal(read(f->accepted, &byte, 1), 0);
}

/* The whole life of a connection, and a refused one, without one call of the heap. */
static void nothing_is_allocated(void** state)
{
    fixture* f = *state;
    const gh_platform* platform = f->platform;
    if (!heap_watch_works()) suite_skip("this binary was linked without the counters of the heap");
    char bytes[16];
    intptr_t stream = -1;
    bind_unix(f);
    gh_address address = unix_address(f->path);
    gh_address invalid = tcp_address(AF_INET, 1);
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

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

TEST_FILE(platform,
          cmocka_unit_test(the_default_table_is_complete),
          cmocka_unit_test(the_clock_grows_in_microseconds),
          cmocka_unit_test(entropy_differs_between_calls),
          cmocka_unit_test(entropy_fills_all_and_nothing_else),
          IN_FOLDER(a_unix_stream_carries_bytes_both_ways),
          IN_FOLDER(a_stream_never_blocks_and_is_not_inherited),
          IN_FOLDER(receive_would_block_while_nothing_came),
          IN_FOLDER(no_bytes_asked_for_is_not_the_end),
          IN_FOLDER(send_would_block_while_the_peer_does_not_read),
          IN_FOLDER(receive_hands_out_the_last_bytes_before_closed),
          IN_FOLDER(send_to_a_closed_peer_is_closed_and_no_signal),
          IN_FOLDER(a_missing_socket_file_is_refused),
          IN_FOLDER(a_socket_file_without_a_listener_is_refused),
          IN_FOLDER(a_file_that_is_no_socket_is_refused),
          IN_FOLDER(a_full_unix_backlog_is_refused_until_there_is_room),
          IN_FOLDER(a_path_that_no_socket_can_have_is_an_invalid_address),
          IN_FOLDER(a_path_needs_no_nul_behind_it),
          IN_FOLDER(tcp_over_ipv4),
          IN_FOLDER(tcp_over_ipv6),
          IN_FOLDER(a_port_without_a_listener_is_refused_over_ipv4),
          IN_FOLDER(a_port_without_a_listener_is_refused_over_ipv6),
          IN_FOLDER(connected_says_pending_and_does_not_wait),
          IN_FOLDER(a_host_that_is_no_number_is_an_invalid_address),
          IN_FOLDER(a_host_needs_no_nul_behind_it),
          IN_FOLDER(a_connection_to_itself_is_refused_over_ipv4),
          IN_FOLDER(a_connection_to_itself_is_refused_over_ipv6),
          IN_FOLDER(close_frees_the_descriptor_and_the_peer_is_told),
          IN_FOLDER(nothing_is_allocated));
