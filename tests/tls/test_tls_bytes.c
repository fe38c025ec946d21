/* Tests of guildhall/tls.h on a network that cuts, dribbles and changes bytes. */

#include "tls/tls_scene.h"

#include "support/server/proxy.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_OF_LINK_US UINT64_C(1000000)

/* Every so many bytes. GUILDHALL_STRIDE=1: all of them, in two minutes; a larger number is a longer stride. */
static uint64_t stride(uint64_t ordinary)
{
    const char* text = getenv("GUILDHALL_STRIDE");
    const int wanted = text == NULL ? 0 : atoi(text);
    return wanted == 1 || wanted > (int)ordinary ? (uint64_t)wanted : ordinary;
}

/* Of both directions. */
static void hand_shakes_cut_anywhere_are_made_again(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    chaos_proxy* proxy = proxy_start(server.address, PROXY_TCP);
    uint64_t sizes[2];
    tls_scene* whole = tls_scene_new(proxy_address(proxy));
    whole->client_config.wake = false;
    tls_scene_start(whole);
    TLS_UNTIL(whole, gh_tls_get_stats(whole->tls).handshakes == 1);
    for (int i = 0; i < 2; i++) sizes[i] = proxy_bytes(proxy, (proxy_direction)i);
    tls_scene_end(whole);
    for (int direction = 0; direction < 2; direction++)
        for (uint64_t at = 0; at < sizes[direction]; at += stride(23))
        {
            uint64_t fired = proxy_fired(proxy);
            tls_scene* self = tls_scene_new(proxy_address(proxy));
            self->client_config.wake = false;
            self->client_config.backoff_min_us = self->client_config.backoff_max_us = 1000;
            proxy_arm(proxy, (proxy_direction)direction, at, PROXY_FIN);
            tls_scene_start(self);
            TLS_UNTIL(self, proxy_fired(proxy) > fired);
            tls_scene_ready(self);
            tls_scene_use(self);
            assert_int_equal(gh_tls_get_stats(self->tls).streams, 1);
            tls_scene_end(self);
        }
}

/* An inner platform that moves a byte at a time, and nothing every second time. */
typedef struct miser
{
    gh_platform platform;
    const gh_platform* real;
    unsigned sends, receives;
} miser;

static int64_t miser_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    miser* self = context;
    if (size == 0 || ++self->sends % 2 == 0) return GH_STREAM_WOULD_BLOCK;
    return self->real->send(self->real->context, stream, bytes, 1);
}

static int64_t miser_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    miser* self = context;
    if (size == 0 || ++self->receives % 2 == 0) return GH_STREAM_WOULD_BLOCK;
    return self->real->receive(self->real->context, stream, bytes, 1);
}

static gh_status miser_open(void* context, const gh_address* address, intptr_t* stream)
{
    const miser* self = context;
    return self->real->open(self->real->context, address, stream);
}

static gh_status miser_connected(void* context, intptr_t stream)
{
    const miser* self = context;
    return self->real->connected(self->real->context, stream);
}

static void bytes_that_come_one_by_one(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    tls_scene* self = tls_scene_new(server.address);
    static miser inner; /* the scene's end uses it, also when an assertion has jumped out of here */
    inner = (miser){.platform = *gh_platform_default(), .real = gh_platform_default()};
    inner.platform.context = &inner;
    inner.platform.send = miser_send;
    inner.platform.receive = miser_receive;
    inner.platform.open = miser_open;
    inner.platform.connected = miser_connected;
    self->inner = &inner.platform;
    self->client_config.wake = false;
    self->client_config.connect_timeout_us = self->client_config.request_timeout_us = 60000000;
    tls_scene_start(self);
    (void)gh_client_fd(self->client, GH_LINK_COMMANDS, NULL); /* it reads in every tick */
    while (!gh_client_ready(self->client)) tls_scene_tick(self);
    assert_int_equal(gh_tls_get_stats(self->tls).handshakes, 1); /* also if the server's tickets come in pieces */
    gh_lock lock = GH_ZERO;
    assert_int_equal(gh_lock_begin(&lock, self->client, gh_str_literal("sword"), NULL), GH_OK);
    while (gh_op_poll(&lock.op) == GH_PENDING) tls_scene_tick(self);
    assert_int_equal(gh_op_poll(&lock.op), GH_HELD);
    assert_int_equal(gh_tls_get_stats(self->tls).failed, 0);
    tls_scene_end(self); /* before what it stands on */
}

/* An inner platform that changes a bit of one byte that comes, once. */
typedef struct liar
{
    gh_platform platform;
    const gh_platform* real;
    uint64_t at, received;
} liar;

static int64_t liar_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    liar* self = context;
    int64_t got = self->real->receive(self->real->context, stream, bytes, size);
    if (got <= 0) return got;
    if (self->at >= self->received && self->at < self->received + (uint64_t)got)
        ((unsigned char*)bytes)[self->at - self->received] ^= (unsigned char)(1u << self->at % 8);
    self->received += (uint64_t)got;
    return got;
}

/* Ends when the client has used what it connected to, in the first connection or in the next. True: not in the first.
 */
static bool byte_is_noticed(const char* address, uint64_t at, uint64_t* size)
{
    tls_scene* self = tls_scene_new(address);
    static liar inner;
    inner = (liar){.platform = *gh_platform_default(), .real = gh_platform_default(), .at = at};
    inner.platform.context = &inner;
    inner.platform.receive = liar_receive;
    self->inner = &inner.platform;
    self->client_config.wake = false;
    self->client_config.backoff_min_us = self->client_config.backoff_max_us = 1000;
    /* A length that was changed makes it wait for what never comes. */
    if (at != UINT64_MAX) self->client_config.connect_timeout_us = SECOND_OF_LINK_US * suite_patience();
    tls_scene_start(self);
    TLS_UNTIL(self, gh_tls_get_stats(self->tls).handshakes > 0);
    if (*size == 0) *size = inner.received;
    tls_scene_ready(self);
    tls_scene_use(self);
    const bool noticed = gh_tls_get_stats(self->tls).failed > 0 || gh_tls_get_stats(self->tls).handshakes > 1;
    tls_scene_end(self);
    return noticed;
}

/* The version in front of a record is all that nobody must look at. */
static void changed_bytes_are_noticed(void** state)
{
    (void)state;
    tls_server server = tls_server_start("server", false);
    uint64_t size = 0, tried = 0, noticed = 0;
    assert_false(byte_is_noticed(server.address, UINT64_MAX, &size));
    assert_true(size > 500);
    for (uint64_t at = 0; at < size; at += stride(13), tried++)
        if (byte_is_noticed(server.address, at, &size)) noticed++;
    assert_in_range(noticed, tried * 9 / 10, tried);
}

/* ---- what is said first ------------------------------------------------------------------------------------------ */

/* An inner platform to which nobody answers. */
typedef struct listener
{
    gh_platform platform;
    char said[4096];
    size_t size;
} listener;

static gh_status listener_open(void* context, const gh_address* address, intptr_t* stream)
{
    (void)context, (void)address;
    *stream = 7;
    return GH_OK;
}

static gh_status listener_connected(void* context, intptr_t stream)
{
    (void)context, (void)stream;
    return GH_OK;
}

static int64_t listener_send(void* context, intptr_t stream, const void* bytes, size_t size)
{
    listener* self = context;
    (void)stream;
    assert_true(size < sizeof self->said - self->size);
    memcpy(self->said + self->size, bytes, size);
    self->size += size;
    return (int64_t)size;
}

static int64_t listener_receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    (void)context, (void)stream, (void)bytes, (void)size;
    return GH_STREAM_WOULD_BLOCK;
}

static void listener_close(void* context, intptr_t stream)
{
    (void)context, (void)stream;
}

/* What lies on the stack of who is called next. */
static void leave_on_stack(char letter)
{
    volatile char bytes[4096];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = letter;
}

/* Without verification an address needs no name, and then a server is told none: nothing of this process's memory. */
static void address_without_a_name_tells_none(void** state)
{
    (void)state;
    gh_address address = {.kind = GH_ADDRESS_UNIX, .path = gh_str_literal("/run/redis.sock")};
    static listener inner;
    inner = (listener){.platform = *gh_platform_default()};
    inner.platform.context = &inner;
    inner.platform.open = listener_open;
    inner.platform.connected = listener_connected;
    inner.platform.send = listener_send;
    inner.platform.receive = listener_receive;
    inner.platform.close = listener_close;
    tls_scene* self = tls_scene_new("unix:/run/redis.sock");
    self->inner = &inner.platform;
    self->config.insecure_skip_verification = true;
    assert_int_equal(tls_scene_init(self), GH_OK);
    const gh_platform* platform = gh_tls_platform(self->tls);
    intptr_t stream;
    leave_on_stack('a');
    assert_int_equal(platform->open(platform->context, &address, &stream), GH_PENDING);
    for (int i = 0; i < 100 && inner.size <= 100; i++) /* the steps of some hand-shakes are for the ticks to come */
        assert_int_equal(platform->connected(platform->context, stream), GH_PENDING);
    assert_true(inner.size > 100);
    for (size_t i = 0; i + 8 <= inner.size; i++) assert_int_not_equal(memcmp(inner.said + i, "aaaaaaaa", 8), 0);
    platform->close(platform->context, stream);
    tls_scene_end(self);
}

TEST_FILE(tls_bytes, cmocka_unit_test(hand_shakes_cut_anywhere_are_made_again),
          cmocka_unit_test(bytes_that_come_one_by_one), cmocka_unit_test(changed_bytes_are_noticed),
          cmocka_unit_test(address_without_a_name_tells_none));
