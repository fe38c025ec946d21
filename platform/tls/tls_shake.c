/* tls_shake.c -- hand-shakes, a heavy step a tick. */

#include "tls_inside.h"

/* ---- the inner stream, for mbedTLS ------------------------------------------------------------------------------- */

static int note_inner_end(struct gh_tls* tls, int error)
{
    tls->why = tls_why_of_inner(tls->inner);
    tls->inner_failed = true;
    return error;
}

/* In a hand-shake a server that refuses says why and closes, while we are still sending: what it said is read then, as
   if all had left. */
static int shake_send(void* context, const unsigned char* bytes, size_t size)
{
    tls_stream* stream = (tls_stream*)context;
    const gh_platform* inner = stream->tls->inner;
    int64_t sent = inner->send(inner->context, stream->inner, bytes, size > TLS_RECORD_MAX * 2 ? TLS_RECORD_MAX : size);
    if (sent == GH_STREAM_WOULD_BLOCK) return MBEDTLS_ERR_SSL_WANT_WRITE;
    if (sent > 0) return (int)sent;
    return stream->state == TLS_SHAKING ? (int)size : note_inner_end(stream->tls, MBEDTLS_ERR_NET_CONN_RESET);
}

/* 0 is the end of the stream. */
static int shake_receive(void* context, unsigned char* bytes, size_t size)
{
    tls_stream* stream = (tls_stream*)context;
    const gh_platform* inner = stream->tls->inner;
    int64_t got =
        inner->receive(inner->context, stream->inner, bytes, size > TLS_RECORD_MAX * 2 ? TLS_RECORD_MAX : size);
    if (got == GH_STREAM_WOULD_BLOCK) return MBEDTLS_ERR_SSL_WANT_READ;
    return got > 0 ? (int)got : note_inner_end(stream->tls, 0);
}

/* ---- begin ------------------------------------------------------------------------------------------------------- */

/* Beside what mbedTLS looks at: a number must stand in the certificate as one. */
static int verify_number(void* context, mbedtls_x509_crt* certificate, int depth, uint32_t* flags)
{
    const tls_stream* stream = (const tls_stream*)context;
    if (depth == 0 && stream->name.number_size > 0 && !tls_name_is_of(&stream->name, certificate))
        *flags |= MBEDTLS_X509_BADCERT_CN_MISMATCH;
    return 0;
}

static void conf_set_versions(mbedtls_ssl_config* conf)
{
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    mbedtls_ssl_conf_min_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
#if defined(MBEDTLS_PLATFORM_MEMORY)
    /* PSA, which TLS 1.3 needs, keeps things for the whole process: they must not come from one's arena. */
    mbedtls_ssl_conf_max_tls_version(conf, MBEDTLS_SSL_VERSION_TLS1_2);
#elif defined(MBEDTLS_SSL_PROTO_TLS1_3) && defined(MBEDTLS_SSL_SESSION_TICKETS) && MBEDTLS_VERSION_NUMBER >= 0x03060100
    mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(conf,
                                                             MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
#endif
#else
    mbedtls_ssl_conf_min_version(conf, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
#endif
}

static int conf_fill(tls_stream* stream)
{
    mbedtls_ssl_config* conf = &stream->conf;
    struct gh_tls* tls = stream->tls;
    tls_set* set = stream->set;
    int error = mbedtls_ssl_config_defaults(conf, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM,
                                            MBEDTLS_SSL_PRESET_DEFAULT);
    if (error != 0) return error;
    conf_set_versions(conf);
    mbedtls_ssl_conf_rng(conf, mbedtls_ctr_drbg_random, &tls->random);
    mbedtls_ssl_conf_authmode(conf, tls->insecure ? MBEDTLS_SSL_VERIFY_NONE : MBEDTLS_SSL_VERIFY_REQUIRED);
    mbedtls_ssl_conf_verify(conf, verify_number, stream);
    if (set->has_roots) mbedtls_ssl_conf_ca_chain(conf, &set->roots, set->has_revoked ? &set->revoked : NULL);
    return set->has_certificate ? mbedtls_ssl_conf_own_cert(conf, &set->certificate, &set->key) : 0;
}

gh_status tls_shake_begin(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    int error;
    mbedtls_ssl_init(&stream->ssl);
    mbedtls_ssl_config_init(&stream->conf);
    stream->has_ssl = true;
    stream->set = tls->set;
    stream->renewal = tls->renewal;
    stream->set->hand_shakes++;
    stream->state = TLS_SHAKING;
    tls->arena.ran_out = tls->inner_failed = false;
    error = conf_fill(stream);
    if (error == 0) error = mbedtls_ssl_setup(&stream->ssl, &stream->conf);
    if (error == 0)
        error = mbedtls_ssl_set_hostname(&stream->ssl, stream->name.text[0] == 0 ? NULL : stream->name.text);
    if (error == 0)
    {
        mbedtls_ssl_set_bio(&stream->ssl, stream, shake_send, shake_receive, NULL);
        tls_ticket_use(stream);
        return GH_OK;
    }
    tls->why = tls_why_of(stream, error);
    return GH_REFUSED;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Without a signature or a key exchange. What is not known is heavy. */
static bool is_light(int state)
{
    switch (state)
    {
#if MBEDTLS_VERSION_NUMBER >= 0x03000000
    case MBEDTLS_SSL_ENCRYPTED_EXTENSIONS:
#else
    case MBEDTLS_SSL_CLIENT_HELLO: /* TLS 1.3 makes a key in it */
    case MBEDTLS_SSL_SERVER_HELLO:
#endif
    case MBEDTLS_SSL_HELLO_REQUEST:
    case MBEDTLS_SSL_CERTIFICATE_REQUEST:
    case MBEDTLS_SSL_SERVER_HELLO_DONE:
    case MBEDTLS_SSL_CLIENT_CERTIFICATE:
    case MBEDTLS_SSL_CLIENT_CHANGE_CIPHER_SPEC:
    case MBEDTLS_SSL_CLIENT_FINISHED:
    case MBEDTLS_SSL_SERVER_CHANGE_CIPHER_SPEC:
    case MBEDTLS_SSL_SERVER_FINISHED:
    case MBEDTLS_SSL_FLUSH_BUFFERS:
    case MBEDTLS_SSL_HANDSHAKE_WRAPUP: return true;
    default: return false;
    }
}

/* Each stream that shakes hands asks once a tick. So when one asks that has asked in this tick, another has begun. The
   stream that does is the first in the client's order, and goes on until it is done or must wait for the network. */
static void see_tick(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    if (stream->tick == tls->tick)
    {
        tls->tick++;
        tls->steps_left = tls->steps_per_tick;
    }
    stream->tick = tls->tick;
}

static int shake_step(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    const int state = stream->ssl.TLS_OF(state);
    int error;
    if (!is_light(state) && tls->steps_left == 0) return MBEDTLS_ERR_SSL_WANT_READ;
    error = mbedtls_ssl_handshake_step(&stream->ssl);
    if (is_light(state) || error == MBEDTLS_ERR_SSL_WANT_READ) return error; /* it has only looked for bytes */
    if (state == MBEDTLS_SSL_SERVER_CERTIFICATE) stream->saw_certificate = true;
    tls->steps_left--;
    tls->stats.steps++;
    return error;
}

static void shake_done(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    tls->stats.handshakes++;
    if (!stream->saw_certificate) tls->stats.resumed++;
    if (strcmp(mbedtls_ssl_get_version(&stream->ssl), "TLSv1.2") == 0) tls_ticket_keep(stream); /* 1.3: comes later */
    tls_shake_over(stream, true);
}

gh_status tls_shake_on(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    int error = 0;
    see_tick(stream);
    tls->arena.ran_out = tls->inner_failed = false;
    while (error == 0 && stream->ssl.TLS_OF(state) != MBEDTLS_SSL_HANDSHAKE_OVER) error = shake_step(stream);
    if (error == 0)
    {
        shake_done(stream);
        return GH_OK;
    }
    if (tls_is_later(error) && !tls->arena.ran_out) return GH_PENDING;
    tls->why = tls_why_of(stream, error);
    return GH_REFUSED;
}

/* The certificates are not looked at again: renegotiation is off, and sessions have what they need of them. */
void tls_shake_over(tls_stream* stream, bool well)
{
    if (stream->set == NULL) return;
    stream->set->hand_shakes--;
    if (stream->set->hand_shakes == 0 && stream->set != stream->tls->set) tls_set_free(stream->set);
    stream->set = NULL;
    mbedtls_ssl_conf_ca_chain(&stream->conf, NULL, NULL);
    if (well)
    {
        stream->state = TLS_READY;
        return;
    }
    stream->state = TLS_BROKEN;
    stream->tls->stats.failed++;
    if (stream->used_ticket) tls_ticket_drop(stream->tls, stream->ticket_key); /* the next one is a whole one */
}
