/* tls_stream.c -- streams as clients see them. */

#include "tls_inside.h"

#define RECORDS_A_CALL 64 /* that a receive opens at most: a server may send them of a byte each */

static tls_stream* stream_of(const struct gh_tls* tls, intptr_t inner)
{
    uint32_t i;
    for (i = 0; i < tls->streams_capacity; i++)
        if (tls->streams[i].state != TLS_FREE && tls->streams[i].inner == inner) return &tls->streams[i];
    return NULL;
}

static tls_stream* stream_free(const struct gh_tls* tls)
{
    uint32_t i;
    for (i = 0; i < tls->streams_capacity; i++)
        if (tls->streams[i].state == TLS_FREE) return &tls->streams[i];
    return NULL;
}

static gh_status refuse(struct gh_tls* tls, const char* text)
{
    tls->why.number = -MBEDTLS_ERR_SSL_BAD_INPUT_DATA;
    tls->why.text = text;
    return GH_REFUSED;
}

gh_status tls_open(void* context, const gh_address* address, intptr_t* out)
{
    struct gh_tls* tls = (struct gh_tls*)context;
    tls_stream* stream = stream_free(tls);
    tls_name name;
    gh_status status;
    if (stream == NULL) return refuse(tls, "no room for another stream: see streams_capacity of gh_tls_config");
    if (!tls_name_of(tls->server_name, address, &name) && !tls->insecure)
        return refuse(tls, "the address has no name to verify: see server_name of gh_tls_config");
    status = tls->inner->open(tls->inner->context, address, out);
    if (status != GH_OK && status != GH_PENDING)
    {
        tls->why = tls_why_of_inner(tls->inner);
        return status;
    }
    memset(stream, 0, sizeof *stream);
    stream->state = TLS_CONNECTING;
    stream->inner = *out;
    stream->tls = tls;
    stream->name = name;
    stream->ticket_key = tls_key_of(address, &name);
    stream->tick = tls->tick - 1;
    tls->stats.streams++;
    return GH_PENDING;
}

static gh_status inner_connected(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    gh_status status = tls->inner->connected(tls->inner->context, stream->inner);
    if (status == GH_PENDING) return GH_PENDING;
    if (status == GH_OK) return tls_shake_begin(stream);
    tls->why = tls_why_of_inner(tls->inner);
    return GH_REFUSED;
}

gh_status tls_connected(void* context, intptr_t handle)
{
    struct gh_tls* tls = (struct gh_tls*)context;
    tls_stream* stream = stream_of(tls, handle);
    tls_arena* before;
    gh_status status = GH_OK;
    if (stream == NULL || stream->state == TLS_BROKEN) return GH_REFUSED;
    if (stream->state == TLS_READY) return GH_OK;
    before = tls_arena_enter(&tls->arena);
    if (stream->state == TLS_CONNECTING) status = inner_connected(stream);
    if (status == GH_OK) status = tls_shake_on(stream);
    if (status == GH_REFUSED) tls_shake_over(stream, false);
    tls_arena_leave(before);
    return status;
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static int64_t stream_break(tls_stream* stream, int error)
{
    stream->why = tls_why_of(stream, error);
    stream->state = TLS_BROKEN;
    return GH_STREAM_CLOSED;
}

/* A server of TLS 1.3 sends tickets behind the hand-shake, and mbedTLS stops at each to say so: reading, and writing
   too if one has come in part. */
static bool takes_ticket(tls_stream* stream, int result)
{
#if defined(MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET)
    if (result != MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) return false;
    tls_ticket_keep(stream);
    stream->tls->arena.ran_out = false; /* without it, then */
    return true;
#else
    (void)stream, (void)result;
    return false;
#endif
}

/* What is left of a record goes first: mbedTLS takes the next call for a repetition of the one that it could not end,
   and looks at nothing but that something is left. It goes within what mbedTLS does before, too, so each turn looks
   anew. False: it did not go whole, and *result says what then. */
static bool flush_record(tls_stream* stream, const void* bytes, int64_t* result)
{
    int turns, written;
    *result = GH_STREAM_WOULD_BLOCK;
    for (turns = 0; turns < RECORDS_A_CALL; turns++)
    {
        if (stream->ssl.TLS_OF(out_left) == 0) return true;
        written = mbedtls_ssl_write(&stream->ssl, (const unsigned char*)bytes, 0);
        if (written >= 0 || takes_ticket(stream, written)) continue;
        if (!tls_is_later(written)) *result = stream_break(stream, written);
        return false;
    }
    return false;
}

/* One that has nothing left of a record. */
static int write_record(tls_stream* stream, const void* bytes, size_t size)
{
    int turns, written;
    for (turns = 0; turns < RECORDS_A_CALL; turns++)
    {
        written = mbedtls_ssl_write(&stream->ssl, (const unsigned char*)bytes, size);
        if (!takes_ticket(stream, written)) return written;
    }
    return MBEDTLS_ERR_SSL_WANT_WRITE;
}

/* Bytes that lie in a record are told to the caller when the whole record has left, since only then can the server read
   them; until then it is told that nothing moved, and comes again with the same bytes and perhaps more. */
static int64_t send_some(tls_stream* stream, const void* bytes, size_t size)
{
    int64_t result;
    size_t most = (size_t)mbedtls_ssl_get_max_out_record_payload(&stream->ssl);
    int written;
    if (!flush_record(stream, bytes, &result)) return result;
    if (stream->owed > 0)
    {
        result = (int64_t)(size < stream->owed ? size : stream->owed);
        stream->owed -= (uint32_t)result;
        return result;
    }
    if (most > TLS_RECORD_MAX) most = TLS_RECORD_MAX;
    if (size > most) size = most;
    written = write_record(stream, bytes, size);
    if (written >= 0) return written;
    if (!tls_is_later(written)) return stream_break(stream, written);
    if (stream->ssl.TLS_OF(out_left) > 0) stream->owed = (uint32_t)size;
    return GH_STREAM_WOULD_BLOCK;
}

/* True: go on. */
static bool receive_one(tls_stream* stream, unsigned char* bytes, size_t size, size_t* got)
{
    int result = mbedtls_ssl_read(&stream->ssl, bytes + *got, size - *got);
    if (result > 0)
    {
        *got += (size_t)result;
        return true;
    }
    if (takes_ticket(stream, result)) return true;
    if (!tls_is_later(result)) stream_break(stream, result);
    return false;
}

static int64_t receive_some(tls_stream* stream, void* bytes, size_t size)
{
    size_t got = 0;
    int records = 0;
    while (got < size && records++ < RECORDS_A_CALL && receive_one(stream, (unsigned char*)bytes, size, &got))
    {
    }
    if (got > 0) return (int64_t)got; /* what broke it behind that is told by the next call */
    if (stream->state != TLS_BROKEN) return GH_STREAM_WOULD_BLOCK;
    stream->tls->why = stream->why;
    return GH_STREAM_CLOSED;
}

int64_t tls_send(void* context, intptr_t handle, const void* bytes, size_t size)
{
    struct gh_tls* tls = (struct gh_tls*)context;
    tls_stream* stream = stream_of(tls, handle);
    tls_arena* before;
    int64_t result = GH_STREAM_CLOSED;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    if (stream == NULL) return GH_STREAM_CLOSED;
    before = tls_arena_enter(&tls->arena);
    tls->arena.ran_out = tls->inner_failed = false;
    if (stream->state == TLS_READY) result = send_some(stream, bytes, size);
    if (result == GH_STREAM_CLOSED) tls->why = stream->why;
    tls_arena_leave(before);
    return result;
}

int64_t tls_receive(void* context, intptr_t handle, void* bytes, size_t size)
{
    struct gh_tls* tls = (struct gh_tls*)context;
    tls_stream* stream = stream_of(tls, handle);
    tls_arena* before;
    int64_t result = GH_STREAM_CLOSED;
    if (size == 0) return GH_STREAM_WOULD_BLOCK;
    if (stream == NULL) return GH_STREAM_CLOSED;
    before = tls_arena_enter(&tls->arena);
    tls->arena.ran_out = tls->inner_failed = false;
    if (stream->state == TLS_READY) result = receive_some(stream, bytes, size);
    else tls->why = stream->why;
    tls_arena_leave(before);
    return result;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void tls_stream_end(tls_stream* stream)
{
    struct gh_tls* tls = stream->tls;
    if (stream->state == TLS_SHAKING) tls_shake_over(stream, false);
    if (stream->state == TLS_READY) (void)mbedtls_ssl_close_notify(&stream->ssl); /* if it goes at once */
    if (stream->has_ssl)
    {
        mbedtls_ssl_free(&stream->ssl);
        mbedtls_ssl_config_free(&stream->conf);
    }
    tls->inner->close(tls->inner->context, stream->inner);
    memset(stream, 0, sizeof *stream);
    tls->stats.streams--;
}

void tls_close(void* context, intptr_t handle)
{
    struct gh_tls* tls = (struct gh_tls*)context;
    tls_stream* stream = stream_of(tls, handle);
    tls_arena* before;
    if (stream == NULL) return;
    before = tls_arena_enter(&tls->arena);
    tls_stream_end(stream);
    tls_arena_leave(before);
}
