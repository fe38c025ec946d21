/* platform_fixture.h -- a stream of the platform, and its other end in the hands of a test. */

#ifndef GUILDHALL_TESTS_PLATFORM_FIXTURE_H
#define GUILDHALL_TESTS_PLATFORM_FIXTURE_H

#include "guildhall/platform.h"
#include "support/scratch.h"
#include "support/suite.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

enum
{
    FIXTURE_PATH_SIZE = SCRATCH_PATH_SIZE + 8
};

/* What most tests need: a folder, a listener in it, and what must be closed whatever happens in between. */
typedef struct stream_fixture
{
    const gh_platform* platform;
    char path[FIXTURE_PATH_SIZE]; /* of the unix listener */
    int listener;                 /* -1: none             */
    int accepted;                 /* -1: none             */
    intptr_t stream;              /* -1: none             */
    int first_free; /* the descriptor that the kernel would give out next, to find leaks */
} stream_fixture;

typedef union endpoint
{
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
} endpoint;

/* Tears down as a failure when a descriptor was lost. */
int fixture_set_up(void** state);
int fixture_tear_down(void** state);

void fixture_close_stream(stream_fixture* f);
void fixture_close_accepted(stream_fixture* f);
void fixture_close_listener(stream_fixture* f);

gh_address fixture_unix_address(const char* path);
gh_address fixture_tcp_address(int family, uint16_t port);

void fixture_bind_unix(stream_fixture* f);

socklen_t fixture_loopback_name(int family, uint16_t port, endpoint* name);

/* Binds f->listener to a free port of the loopback and returns the port; 0 if there is no such loopback. */
uint16_t fixture_bind_tcp(stream_fixture* f, int family);

/* Asks connected() until it decides, or until the time is over. */
gh_status fixture_wait_connected(const gh_platform* platform, intptr_t stream, uint64_t end_us);

/* Opens as the link does, and closes again what did not come to be. */
gh_status fixture_open_stream(stream_fixture* f, const gh_address* address);

void fixture_wait_readable(int descriptor);

void fixture_accept_peer(stream_fixture* f);

/* A stream to a unix listener, accepted. */
void fixture_connect_unix(stream_fixture* f);

int64_t fixture_send_text(stream_fixture* f, const char* text);

/* Waits for bytes or for the end; what receive() then said. */
int64_t fixture_receive_some(stream_fixture* f, void* bytes, size_t size);

/* One word each way. */
void fixture_exchange(stream_fixture* f);

bool fixture_option_is_on(intptr_t stream, int level, int option);

/* The peer has closed: sending comes to say so, and no SIGPIPE is raised. */
void fixture_expect_closed_without_a_signal(stream_fixture* f);

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)

#endif
