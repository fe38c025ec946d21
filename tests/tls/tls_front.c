/* tls_front.c -- the process, and mbedTLS as a server in it. */

#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include "tls/tls_front.h"

#include "support/cleanup.h"
#include "support/process.h"
#include "support/server/papers.h"
#include "support/server/stream.h"
#include "support/suite.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
#endif
#include <mbedtls/version.h>
#if MBEDTLS_VERSION_NUMBER < 0x03000000
#include <mbedtls/config.h>
#endif
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ssl.h>
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Both processes see it. */
typedef struct shared
{
    atomic_int what; /* tls_front_what; NOTHING once all has happened */
    atomic_int where;
    atomic_ullong at; /* bytes of answers, or steps of the hand-shake */
    atomic_ullong step;
    atomic_ullong last;
    atomic_ullong answered;
    atomic_uint steps;
} shared;

struct tls_front
{
    shared* shared;
    int listener;
    const char* behind;
    char address[32];
};

#if defined(MBEDTLS_SSL_SRV_C)
#define CAN_SERVE true

/* Of the child. */
typedef struct front_server
{
    mbedtls_ssl_config conf;
    mbedtls_ssl_context ssl;
    mbedtls_x509_crt certificate;
    mbedtls_pk_context key;
    mbedtls_ctr_drbg_context random;
    shared* shared;
    int client;
    int server;
} front_server;

/* ---- the child --------------------------------------------------------------------------------------------------- */

static int take_entropy(void* context, unsigned char* out, size_t size)
{
    FILE* source = fopen("/dev/urandom", "rb");
    (void)context;
    if (source == NULL) return -1;
    size_t got = fread(out, 1, size, source);
    fclose(source);
    return got == size ? 0 : -1;
}

static int front_send(void* context, const unsigned char* bytes, size_t size)
{
    const front_server* self = context;
    ssize_t sent = send(self->client, bytes, size, MSG_NOSIGNAL);
    return sent > 0 ? (int)sent : -1;
}

static int front_receive(void* context, unsigned char* bytes, size_t size)
{
    const front_server* self = context;
    ssize_t got = recv(self->client, bytes, size, 0);
    return got >= 0 ? (int)got : -1;
}

static int read_key(front_server* self)
{
    gh_str text = papers_read("server.key");
    const unsigned char* bytes = (const unsigned char*)text.bytes;
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    return mbedtls_pk_parse_key(&self->key, bytes, text.size + 1, NULL, 0, mbedtls_ctr_drbg_random, &self->random);
#else
    return mbedtls_pk_parse_key(&self->key, bytes, text.size + 1, NULL, 0);
#endif
}

static void front_prepare(front_server* self)
{
    gh_str text = papers_read("server.pem");
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    CHILD_CHECK(psa_crypto_init() == PSA_SUCCESS);
#endif
    mbedtls_ssl_config_init(&self->conf);
    mbedtls_x509_crt_init(&self->certificate);
    mbedtls_pk_init(&self->key);
    mbedtls_ctr_drbg_init(&self->random);
    CHILD_CHECK(mbedtls_ctr_drbg_seed(&self->random, take_entropy, NULL, NULL, 0) == 0);
    CHILD_CHECK(mbedtls_x509_crt_parse(&self->certificate, (const unsigned char*)text.bytes, text.size + 1) == 0);
    CHILD_CHECK(read_key(self) == 0);
    CHILD_CHECK(mbedtls_ssl_config_defaults(&self->conf, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM,
                                            MBEDTLS_SSL_PRESET_DEFAULT) == 0);
    mbedtls_ssl_conf_rng(&self->conf, mbedtls_ctr_drbg_random, &self->random);
    CHILD_CHECK(mbedtls_ssl_conf_own_cert(&self->conf, &self->certificate, &self->key) == 0);
#if defined(MBEDTLS_SSL_RENEGOTIATION)
    mbedtls_ssl_conf_renegotiation(&self->conf, MBEDTLS_SSL_RENEGOTIATION_ENABLED);
    mbedtls_ssl_conf_renegotiation_enforced(&self->conf, MBEDTLS_SSL_RENEGOTIATION_NOT_ENFORCED);
#endif
}

/* Twice: where something of the hand-shake had not left yet, the first call sends that and nothing else. */
static bool say_end(front_server* self)
{
    bool said = true;
    for (int i = 0; i < 2; i++)
        said = mbedtls_ssl_send_alert_message(&self->ssl, MBEDTLS_SSL_ALERT_LEVEL_WARNING,
                                              MBEDTLS_SSL_ALERT_MSG_CLOSE_NOTIFY) == 0 &&
               said;
    return said;
}

/* True: the connection goes on. One that is left open is so until this process ends; where nothing could be said it
   is cut. */
static bool do_planned(front_server* self)
{
    const tls_front_what what = (tls_front_what)atomic_load(&self->shared->what);
    const bool said = (what == TLS_FRONT_SAYS_END || what == TLS_FRONT_ENDS) && say_end(self);
#if defined(MBEDTLS_SSL_RENEGOTIATION)
    if (what == TLS_FRONT_SHAKES) (void)mbedtls_ssl_renegotiate(&self->ssl);
#endif
    if (what == TLS_FRONT_SAYS_END && said) self->client = -1;
    const uint64_t next = atomic_load(&self->shared->at) + atomic_load(&self->shared->step);
    atomic_store(&self->shared->at, next);
    if (next > atomic_load(&self->shared->last)) atomic_store(&self->shared->what, TLS_FRONT_NOTHING);
    return what == TLS_FRONT_SHAKES;
}

static bool is_planned(const front_server* self, tls_front_where where, uint64_t at)
{
    return atomic_load(&self->shared->what) != TLS_FRONT_NOTHING && atomic_load(&self->shared->where) == (int)where &&
           at >= atomic_load(&self->shared->at);
}

static bool shake_hands(front_server* self)
{
    unsigned steps = 0;
    int error = 0;
    while (error == 0)
    {
        atomic_store(&self->shared->steps, steps);
        if (is_planned(self, TLS_FRONT_IN_HAND_SHAKE, steps)) return do_planned(self);
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
        if (mbedtls_ssl_is_handshake_over(&self->ssl)) return true;
#else
        if (self->ssl.state == MBEDTLS_SSL_HANDSHAKE_OVER) return true;
#endif
        error = mbedtls_ssl_handshake_step(&self->ssl);
        steps++;
    }
    return false;
}

static bool write_all(front_server* self, const unsigned char* bytes, size_t size)
{
    while (size > 0)
    {
        int written = mbedtls_ssl_write(&self->ssl, bytes, size);
        if (written <= 0) return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* True: the connection goes on. */
static bool pass_answer(front_server* self)
{
    unsigned char bytes[16384];
    uint64_t answered = atomic_load(&self->shared->answered);
    ssize_t got = recv(self->server, bytes, sizeof(bytes), 0);
    if (got <= 0 && is_planned(self, TLS_FRONT_WHEN_KILLED, 0)) (void)do_planned(self);
    if (got <= 0) return false;
    size_t size = (size_t)got, before = size;
    const uint64_t at = atomic_load(&self->shared->at);
    const bool now = is_planned(self, TLS_FRONT_IN_ANSWERS, answered + size);
    if (now) before = at > answered ? (size_t)(at - answered) : 0;
    if (!write_all(self, bytes, before)) return false;
    if (now && !do_planned(self)) return false;
    if (!write_all(self, bytes + before, size - before)) return false;
    atomic_store(&self->shared->answered, answered + size);
    return true;
}

static bool pass_request(front_server* self)
{
    unsigned char bytes[16384];
    int got = mbedtls_ssl_read(&self->ssl, bytes, sizeof(bytes));
    if (got == MBEDTLS_ERR_SSL_WANT_READ) return true;
    return got > 0 && send(self->server, bytes, (size_t)got, MSG_NOSIGNAL) == got;
}

static void pass_both(front_server* self)
{
    for (;;)
    {
        struct pollfd ends[2] = {{self->client, POLLIN, 0}, {self->server, POLLIN, 0}};
        const bool has_more = mbedtls_ssl_get_bytes_avail(&self->ssl) > 0;
        if (poll(ends, 2, has_more ? 0 : -1) < 0 && errno != EINTR) return;
        if ((has_more || ends[0].revents != 0) && !pass_request(self)) return;
        if (ends[1].revents != 0 && !pass_answer(self)) return;
    }
}

/* A hand-shake in the middle is of TLS 1.2 alone. */
static void choose_version(front_server* self)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_SSL_PROTO_TLS1_3)
    const bool shakes = atomic_load(&self->shared->what) == TLS_FRONT_SHAKES;
    mbedtls_ssl_conf_max_tls_version(&self->conf, shakes ? MBEDTLS_SSL_VERSION_TLS1_2 : MBEDTLS_SSL_VERSION_TLS1_3);
#else
    (void)self;
#endif
}

static void serve(front_server* self, const char* behind)
{
    const int one = 1;
    self->server = stream_connect(behind);
    setsockopt(self->client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    choose_version(self);
    mbedtls_ssl_init(&self->ssl);
    CHILD_CHECK(mbedtls_ssl_setup(&self->ssl, &self->conf) == 0);
    mbedtls_ssl_set_bio(&self->ssl, self, front_send, front_receive, NULL);
    atomic_store(&self->shared->answered, 0);
    if (self->server >= 0 && shake_hands(self)) pass_both(self);
    mbedtls_ssl_free(&self->ssl);
    if (self->server >= 0) close(self->server);
    if (self->client >= 0) close(self->client);
}

static int run_front(void* context, int results)
{
    const tls_front* front = context;
    front_server self = {.shared = front->shared};
    (void)results;
    front_prepare(&self);
    while (getppid() != 1)
    {
        struct pollfd knock = {front->listener, POLLIN, 0};
        if (poll(&knock, 1, -1) <= 0) continue;
        self.client = accept(front->listener, NULL, NULL);
        if (self.client >= 0) serve(&self, front->behind);
    }
    return 0;
}

#else
#define CAN_SERVE false

static int run_front(void* context, int results)
{
    (void)context, (void)results;
    return 1;
}

#endif

/* ---- the test ---------------------------------------------------------------------------------------------------- */

static void end_thing(void* thing)
{
    tls_front* self = thing;
    close(self->listener);
    munmap(self->shared, sizeof(shared));
    free(self);
}

tls_front* tls_front_start(redis_server* behind)
{
    uint16_t port = 0;
    if (!CAN_SERVE) suite_skip("this mbedTLS is for clients alone");
    tls_front* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->shared = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(self->shared, MAP_FAILED);
    self->listener = stream_listen_tcp(false, &port);
    assert_true(self->listener >= 0);
    self->behind = redis_server_address(behind);
    snprintf(self->address, sizeof(self->address), "127.0.0.1:%u", port);
    cleanup_add(end_thing, self);
    (void)papers_read("server.pem"), (void)papers_read("server.key"); /* made here, and not in the child */
    child_start(run_front, self);
    return self;
}

const char* tls_front_address(const tls_front* self)
{
    return self->address;
}

void tls_front_plan(tls_front* self, tls_front_what what, tls_front_where where, uint64_t first, uint64_t step,
                    uint64_t last)
{
    atomic_store(&self->shared->what, TLS_FRONT_NOTHING);
    atomic_store(&self->shared->where, (int)where);
    atomic_store(&self->shared->at, first);
    atomic_store(&self->shared->step, step);
    atomic_store(&self->shared->last, last);
    atomic_store(&self->shared->what, (int)what);
}

bool tls_front_has_done(const tls_front* self)
{
    return atomic_load(&self->shared->what) == TLS_FRONT_NOTHING;
}

uint64_t tls_front_answered(const tls_front* self)
{
    return atomic_load(&self->shared->answered);
}

unsigned tls_front_steps(const tls_front* self)
{
    return atomic_load(&self->shared->steps);
}
