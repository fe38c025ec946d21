/* embedded.c -- a platform whose streams lead into a store of this process. */

#include "guildhall/embedded.h"

#include "store.h"

#include <stdlib.h>
#include <time.h>

#define CONFIG_VERSION 1u

struct gh_embedded
{
    gh_store* store;
    const gh_platform* inner;
    gh_platform platform;
    gh_embedded_config config;
    uint64_t restarts;
    bool is_down;
};

gh_embedded_config gh_embedded_config_default(void)
{
    gh_embedded_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.version = CONFIG_VERSION;
    return config;
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static uint64_t system_us(void* context)
{
    struct timespec now;
    (void)context;
    if (timespec_get(&now, TIME_UTC) == 0) return 0;
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void set_time(gh_embedded* embedded)
{
    gh_store_set_time(embedded->store, embedded->config.unix_us(embedded->config.context));
}

/* ---- the platform ------------------------------------------------------------------------------------------------ */

static uint64_t now_us(void* context)
{
    const gh_platform* inner = ((gh_embedded*)context)->inner;
    return inner->now_us(inner->context);
}

static bool entropy(void* context, void* bytes, size_t size)
{
    const gh_platform* inner = ((gh_embedded*)context)->inner;
    return inner->entropy(inner->context, bytes, size);
}

static gh_status open_stream(void* context, const gh_address* address, intptr_t* stream)
{
    gh_embedded* embedded = (gh_embedded*)context;
    (void)address;
    if (embedded->is_down) return GH_REFUSED;
    *stream = (intptr_t)gh_store_connect(embedded->store);
    return GH_OK;
}

static gh_status connected(void* context, intptr_t stream)
{
    (void)context;
    (void)stream;
    return GH_OK;
}

static int64_t send_bytes(void* context, intptr_t stream, const void* bytes, size_t size)
{
    gh_store_link* link = (gh_store_link*)stream;
    if (gh_store_is_closed(link)) return GH_STREAM_CLOSED;
    set_time((gh_embedded*)context);
    gh_store_feed(link, bytes, size);
    return (int64_t)size;
}

/* What the server has said before it closed the link may still be read. */
static int64_t receive(void* context, intptr_t stream, void* bytes, size_t size)
{
    gh_store_link* link = (gh_store_link*)stream;
    const size_t taken = gh_store_take(link, bytes, size);
    (void)context;
    if (taken > 0) return (int64_t)taken;
    return gh_store_is_closed(link) ? GH_STREAM_CLOSED : GH_STREAM_WOULD_BLOCK;
}

static void close_stream(void* context, intptr_t stream)
{
    (void)context;
    gh_store_disconnect((gh_store_link*)stream);
}

static int reason(void* context, const char** text)
{
    *text = ((gh_embedded*)context)->is_down ? "the embedded store is down" : NULL;
    return 0;
}

static void fill_platform(gh_embedded* embedded)
{
    gh_platform* platform = &embedded->platform;
    platform->context = embedded;
    platform->now_us = now_us;
    platform->entropy = entropy;
    platform->open = open_stream;
    platform->connected = connected;
    platform->send = send_bytes;
    platform->receive = receive;
    platform->close = close_stream;
    platform->reason = reason;
}

/* ---- the store --------------------------------------------------------------------------------------------------- */

gh_embedded* gh_embedded_new(const gh_embedded_config* config, const gh_platform* inner)
{
    const gh_embedded_config usual = gh_embedded_config_default();
    gh_store_config store = gh_store_config_default();
    gh_embedded* embedded;
    if (config == NULL) config = &usual;
    if (config->struct_size != sizeof *config || config->version != CONFIG_VERSION) return NULL;
    store.seed = config->seed;
    if (store.seed == 0 && !inner->entropy(inner->context, &store.seed, sizeof store.seed)) return NULL;
    embedded = (gh_embedded*)calloc(1, sizeof *embedded);
    if (embedded == NULL) return NULL;
    embedded->config = *config;
    embedded->inner = inner;
    if (embedded->config.unix_us == NULL) embedded->config.unix_us = system_us;
    embedded->store = gh_store_new(&store);
    fill_platform(embedded);
    set_time(embedded);
    return embedded;
}

void gh_embedded_free(gh_embedded* embedded)
{
    if (embedded == NULL) return;
    gh_store_free(embedded->store);
    free(embedded);
}

const gh_platform* gh_embedded_platform(const gh_embedded* embedded)
{
    return &embedded->platform;
}

void gh_embedded_flush(gh_embedded* embedded)
{
    gh_store_flush(embedded->store);
}

void gh_embedded_restart(gh_embedded* embedded)
{
    gh_store_restart(embedded->store, ++embedded->restarts);
}

void gh_embedded_set_down(gh_embedded* embedded, bool is_down)
{
    embedded->is_down = is_down;
    if (is_down) gh_embedded_restart(embedded);
}

gh_str gh_embedded_ask(gh_embedded* embedded, const gh_str* words, size_t count)
{
    if (count == 0) return gh_str_make("", 0);
    set_time(embedded);
    return gh_store_ask(embedded->store, words, count);
}
