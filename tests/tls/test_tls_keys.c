/* A server of TLS 1.3 that takes new keys in the middle, as openssl s_server does when it is told to. The test stands
   between that and a plain server:

       client --- TLS 1.3 ---> openssl s_server --- its stdin and stdout ---> test ---> redis-server */

#include "tls/tls_scene.h"

#include "support/cleanup.h"
#include "support/server/stream.h"

#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER < 0x03000000
#include <mbedtls/config.h>
#endif

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAYS_DONE "SSL_do_handshake -> 1\n" /* s_server, among what the client has said */

#if defined(MBEDTLS_SSL_PROTO_TLS1_3) && !defined(MBEDTLS_PLATFORM_MEMORY)
#define SPEAKS_1_3 true
#else
#define SPEAKS_1_3 false
#endif

typedef struct key_server
{
    pid_t pid;
    uint16_t port;
    int own;   /* its stdin and stdout */
    int plain; /* redis-server; -1: nobody has asked yet */
    const char* behind;
    char said[65536]; /* by the client, and by itself in between */
    size_t size;
    unsigned updates; /* that it says to have made */
} key_server;

static void end_thing(void* thing)
{
    key_server* self = thing;
    kill(self->pid, SIGKILL);
    while (waitpid(self->pid, NULL, 0) < 0) continue;
    close(self->own);
    if (self->plain >= 0) close(self->plain);
    free(self);
}

static void become_s_server(int end, uint16_t port)
{
    char text[8];
    snprintf(text, sizeof(text), "%u", port);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(end, 0);
    dup2(end, 1);
    execlp("openssl", "openssl", "s_server", "-accept", text, "-cert", papers_path("server.pem"), "-key",
           papers_path("server.key"), "-tls1_3", (char*)NULL);
    _exit(127);
}

static key_server* key_server_start(redis_server* behind)
{
    int ends[2];
    key_server* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    int listener = stream_listen_tcp(false, &self->port);
    assert_true(listener >= 0);
    close(listener);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    self->behind = redis_server_address(behind);
    self->plain = -1;
    self->own = ends[0];
    (void)papers_path("server.pem"), (void)papers_path("server.key"); /* made here, and not in the child */
    fflush(NULL);
    self->pid = fork();
    assert_true(self->pid >= 0);
    if (self->pid == 0) become_s_server(ends[1], self->port);
    close(ends[1]);
    stream_set_nonblocking(self->own);
    cleanup_add(end_thing, self);
    return self;
}

static void drop(key_server* self, size_t size)
{
    self->size -= size;
    memmove(self->said, self->said + size, self->size + 1);
}

/* What s_server says of itself, and of the keys, in front of the next request. */
static void drop_words(key_server* self)
{
    static const char done[] = SAYS_DONE;
    size_t at = 0;
    while (at + 1 < self->size && !(self->said[at] == '*' && self->said[at + 1] >= '1' && self->said[at + 1] <= '9'))
    {
        if (strncmp(self->said + at, done, sizeof(done) - 1) == 0) self->updates++;
        at++;
    }
    drop(self, at);
}

/* The size of the request that stands in front, of RESP: "*2\r\n$3\r\nGET\r\n$1\r\na\r\n". 0: not all of it is there.
 */
static size_t request_size(const key_server* self)
{
    char* at = NULL;
    if (self->size == 0 || self->said[0] != '*') return 0;
    for (unsigned long words = strtoul(self->said + 1, &at, 10); words > 0; words--)
    {
        if (at + 3 > self->said + self->size || at[2] != '$') return 0;
        unsigned long size = strtoul(at + 3, &at, 10);
        if (at + 2 + size + 2 > self->said + self->size) return 0;
        at += 2 + size;
    }
    return (size_t)(at + 2 - self->said);
}

static void pass_request_on(key_server* self, size_t size)
{
    if (self->plain < 0)
    {
        self->plain = stream_connect(self->behind);
        assert_true(self->plain >= 0);
        stream_set_nonblocking(self->plain);
    }
    assert_int_equal(send(self->plain, self->said, size, MSG_NOSIGNAL), size);
    drop(self, size);
}

/* Both ways, what there is. */
static void pass_on(key_server* self)
{
    char bytes[16384];
    ssize_t got = read(self->own, self->said + self->size, sizeof(self->said) - 1 - self->size);
    if (got > 0) self->size += (size_t)got;
    self->said[self->size] = '\0';
    drop_words(self);
    for (size_t size; (size = request_size(self)) > 0;)
    {
        pass_request_on(self, size);
        drop_words(self);
    }
    if (self->plain < 0) return;
    got = recv(self->plain, bytes, sizeof(bytes), 0);
    if (got > 0) assert_int_equal(write(self->own, bytes, (size_t)got), got);
}

#define KEYS_UNTIL(condition) TLS_UNTIL(scene, (pass_on(server), condition))

static void use(tls_scene* scene, key_server* server)
{
    gh_lock lock = GH_ZERO;
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 60000000;
    assert_int_equal(gh_lock_begin(&lock, scene->client, gh_str_literal("sword"), &config), GH_OK);
    KEYS_UNTIL(gh_op_poll(&lock.op) == GH_HELD);
    gh_lock_release(&lock);
    KEYS_UNTIL(!gh_op_is_busy(&lock.op));
    assert_int_equal(gh_op_poll(&lock.op), GH_OK);
}

/* mbedTLS knows none of it: the link is lost, in words, and what was asked is asked again over another. */
static void new_keys_in_the_middle_are_a_lost_link(void** state)
{
    (void)state;
    if (!SPEAKS_1_3) suite_skip("this mbedTLS does not speak TLS 1.3");
    char address[32];
    key_server* server = key_server_start(redis_server_start(NULL));
    snprintf(address, sizeof(address), "127.0.0.1:%u", server->port);
    tls_scene* scene = tls_scene_new(address);
    scene->client_config.wake = false;
    tls_scene_start(scene);
    KEYS_UNTIL(gh_client_ready(scene->client));
    use(scene, server);
    assert_int_equal(write(server->own, "k\n", 2), 2);
    KEYS_UNTIL(server->updates == 1);
    KEYS_UNTIL(strstr(scene->log, "TLS failed") != NULL);
    close(server->plain);
    server->plain = -1;
    server->size = 0;
    KEYS_UNTIL(gh_client_ready(scene->client));
    use(scene, server);
}

TEST_FILE(tls_keys, cmocka_unit_test(new_keys_in_the_middle_are_a_lost_link));
