/* tls.c -- config, memory, beginning and end of a gh_tls. */

#include "tls_inside.h"

#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
#include <psa/crypto.h>
#endif

#define ARENA_BYTES_A_STREAM (48u * 1024u)
#define ARENA_BYTES_IN_ALL   (32u * 1024u)

/* ---- config ------------------------------------------------------------------------------------------------------ */

static bool is_our_version(uint32_t version)
{
    return version / 100 == GH_VERSION / 100;
}

void gh_tls_config_fill(gh_tls_config* config, size_t size, uint32_t version)
{
    if (config == NULL) return;
    memset(config, 0, size);
    if (size != sizeof *config || !is_our_version(version)) return;
    config->struct_size = size;
    config->version = version;
    config->streams_capacity = 2;
    config->tickets_capacity = 2;
    config->ticket_bytes = 3072;
    config->steps_per_tick = 1;
}

static gh_status say(const gh_tls_config* config, gh_log_level level, gh_status status, const char* words)
{
    if (config->hooks.log != NULL) config->hooks.log(config->hooks.context, level, gh_str_of(words));
    return status;
}

static const char* capacity_words(const gh_tls_config* config)
{
    if (config->streams_capacity < 1 || config->streams_capacity > 4096) return "streams_capacity: not within 1..4096";
    if (config->tickets_capacity > 4096) return "tickets_capacity: not within 0..4096";
    if (config->ticket_bytes < 512 || config->ticket_bytes > 16384) return "ticket_bytes: not within 512..16384";
    if (config->steps_per_tick < 1 || config->steps_per_tick > 64) return "steps_per_tick: not within 1..64";
    if (config->step_operations > 1000000) return "step_operations: not within 0..1000000";
    return NULL;
}

static gh_status config_check(const gh_tls_config* config)
{
    const char* words;
    gh_status status;
    if (config == NULL || config->struct_size != sizeof *config || !is_our_version(config->version))
        return GH_INVALID_CONFIG;
    words = capacity_words(config);
    if (words != NULL) return say(config, GH_LOG_ERROR, GH_INVALID_CAPACITY, words);
    if (config->server_name.bytes == NULL && config->server_name.size > 0)
        return say(config, GH_LOG_ERROR, GH_INVALID_BUFFER, "server_name: NULL with a size");
    if (config->server_name.size > TLS_NAME_MAX ||
        (config->server_name.size > 0 && memchr(config->server_name.bytes, 0, config->server_name.size) != NULL))
        return say(config, GH_LOG_ERROR, GH_INVALID_NAME, "server_name: longer than 253 bytes, or with a NUL");
    status = tls_credentials_check(&config->credentials, config->insecure_skip_verification, &words);
    return status == GH_OK ? GH_OK : say(config, GH_LOG_ERROR, status, words);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t aligned(size_t size)
{
    return (size + TLS_BLOCK_ALIGN - 1) / TLS_BLOCK_ALIGN * TLS_BLOCK_ALIGN;
}

static size_t ticket_room(const gh_tls_config* config)
{
    return aligned(config->ticket_bytes);
}

/* Without what mbedTLS takes. */
static size_t fixed_bytes(const gh_tls_config* config)
{
    return aligned(sizeof(struct gh_tls)) + aligned(sizeof(tls_stream) * config->streams_capacity) +
           aligned(sizeof(tls_ticket) * config->tickets_capacity) + ticket_room(config) * config->tickets_capacity;
}

size_t gh_tls_memory(const gh_tls_config* config)
{
    const gh_tls_credentials* all = config == NULL ? NULL : &config->credentials;
    if (config_check(config) != GH_OK) return 0;
    if (!TLS_HAS_ARENA) return fixed_bytes(config);
    return fixed_bytes(config) + (size_t)ARENA_BYTES_A_STREAM * config->streams_capacity + ARENA_BYTES_IN_ALL +
           aligned(5 * (all->roots.size + all->revoked.size + all->certificate.size + all->key.size));
}

/* The block is zeroed as far as it is cut here. */
static struct gh_tls* cut(void* memory, size_t size, const gh_tls_config* config)
{
    struct gh_tls* tls = (struct gh_tls*)memory;
    char* at = (char*)memory + aligned(sizeof *tls);
    size_t fixed = fixed_bytes(config);
    uint32_t i;
    memset(memory, 0, fixed);
    tls->streams = (tls_stream*)at;
    at += aligned(sizeof(tls_stream) * config->streams_capacity);
    tls->tickets = (tls_ticket*)at;
    at += aligned(sizeof(tls_ticket) * config->tickets_capacity);
    for (i = 0; i < config->tickets_capacity; i++) tls->tickets[i].bytes = (unsigned char*)at + ticket_room(config) * i;
    if (TLS_HAS_ARENA) tls_arena_make(&tls->arena, (char*)memory + fixed, size - fixed);
    return tls;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static int take_entropy(void* context, unsigned char* out, size_t size)
{
    const gh_platform* inner = (const gh_platform*)context;
    return inner->entropy(inner->context, out, size) ? 0 : MBEDTLS_ERR_CTR_DRBG_ENTROPY_SOURCE_FAILED;
}

static uint64_t tls_now_us(void* context)
{
    const struct gh_tls* tls = (const struct gh_tls*)context;
    return tls->inner->now_us(tls->inner->context);
}

static bool tls_entropy(void* context, void* bytes, size_t size)
{
    const struct gh_tls* tls = (const struct gh_tls*)context;
    return tls->inner->entropy(tls->inner->context, bytes, size);
}

static int tls_reason(void* context, const char** text)
{
    const struct gh_tls* tls = (const struct gh_tls*)context;
    *text = tls->why.text;
    return tls->why.number;
}

static bool is_platform(const gh_platform* inner)
{
    return inner != NULL && inner->now_us != NULL && inner->entropy != NULL && inner->open != NULL &&
           inner->connected != NULL && inner->send != NULL && inner->receive != NULL && inner->close != NULL;
}

static void fill_platform(struct gh_tls* tls)
{
    tls->platform.context = tls;
    tls->platform.now_us = tls_now_us;
    tls->platform.entropy = tls_entropy;
    tls->platform.open = tls_open;
    tls->platform.connected = tls_connected;
    tls->platform.send = tls_send;
    tls->platform.receive = tls_receive;
    tls->platform.close = tls_close;
    tls->platform.reason = tls_reason;
}

static void fill_from(struct gh_tls* tls, const gh_tls_config* config, const gh_platform* inner)
{
    fill_platform(tls);
    tls->inner = inner;
    tls->streams_capacity = config->streams_capacity;
    tls->tickets_capacity = config->tickets_capacity;
    tls->ticket_bytes = config->ticket_bytes;
    tls->steps_per_tick = tls->steps_left = config->steps_per_tick;
    tls->insecure = config->insecure_skip_verification;
    tls->hooks = config->hooks;
    if (config->server_name.size > 0) memcpy(tls->server_name, config->server_name.bytes, config->server_name.size);
    tls->stats.arena_bytes = tls->arena.size;
}

/* What mbedTLS has for the whole process. */
static void begin_mbedtls(const gh_tls_config* config)
{
    tls_arena_hook();
#if MBEDTLS_VERSION_NUMBER >= 0x03000000 && defined(MBEDTLS_PSA_CRYPTO_C)
    (void)psa_crypto_init(); /* of TLS 1.3; a hand-shake fails without it, and says so */
#endif
#if defined(MBEDTLS_ECP_RESTARTABLE)
    if (config->step_operations > 0) mbedtls_ecp_set_max_ops(config->step_operations);
#endif
    (void)config;
}

static gh_status begin_inside(struct gh_tls* tls, const gh_tls_config* config)
{
    const char* words = NULL;
    gh_status status;
    mbedtls_ctr_drbg_init(&tls->random);
    if (mbedtls_ctr_drbg_seed(&tls->random, take_entropy, (void*)(uintptr_t)tls->inner, NULL, 0) != 0)
        return tls->arena.ran_out ? GH_INVALID_MEMORY : GH_INVALID_PLATFORM;
    tls->set = &tls->sets[0];
    status = tls_set_make(tls->set, tls, &config->credentials, &words);
    return status == GH_OK ? GH_OK : say(config, GH_LOG_ERROR, status, words);
}

gh_status gh_tls_init(void* memory, size_t size, const gh_tls_config* config, const gh_platform* inner, gh_tls** out)
{
    gh_status status = config_check(config);
    tls_arena* before;
    struct gh_tls* tls;
    if (out == NULL) return GH_INVALID_OUT;
    *out = NULL;
    if (status != GH_OK) return status;
    if (!is_platform(inner)) return GH_INVALID_PLATFORM;
    if (memory == NULL || (uintptr_t)memory % TLS_BLOCK_ALIGN != 0 || size < fixed_bytes(config))
        return GH_INVALID_MEMORY;
    begin_mbedtls(config);
    tls = cut(memory, size, config);
    fill_from(tls, config, inner);
    before = tls_arena_enter(&tls->arena);
    status = begin_inside(tls, config);
    if (status != GH_OK) mbedtls_ctr_drbg_free(&tls->random);
    tls_arena_leave(before);
    if (status != GH_OK) return status;
    if (tls->insecure)
        say(config, GH_LOG_WARNING, GH_OK, "TLS without verification: insecure_skip_verification is set");
    *out = tls;
    return GH_OK;
}

const gh_platform* gh_tls_platform(gh_tls* tls)
{
    return tls == NULL ? NULL : &tls->platform;
}

static gh_status renew_inside(struct gh_tls* tls, const gh_tls_credentials* credentials, const char** words)
{
    tls_set* old = tls->set;
    tls_set* fresh = old == &tls->sets[0] ? &tls->sets[1] : &tls->sets[0];
    gh_status status;
    if (fresh->hand_shakes > 0) return GH_NO_ROOM;
    status = tls_set_make(fresh, tls, credentials, words);
    if (status != GH_OK) return status;
    tls->set = fresh;
    tls->renewal++;
    if (old->hand_shakes == 0) tls_set_free(old);
    tls_tickets_forget(tls);
    return GH_OK;
}

gh_status gh_tls_renew(gh_tls* tls, const gh_tls_credentials* credentials)
{
    const char* words = NULL;
    tls_arena* before;
    gh_status status;
    if (tls == NULL || credentials == NULL) return GH_INVALID_CREDENTIALS;
    status = tls_credentials_check(credentials, tls->insecure, &words);
    if (status == GH_OK)
    {
        before = tls_arena_enter(&tls->arena);
        status = renew_inside(tls, credentials, &words);
        tls_arena_leave(before);
    }
    if (words != NULL && tls->hooks.log != NULL) tls->hooks.log(tls->hooks.context, GH_LOG_ERROR, gh_str_of(words));
    return status;
}

gh_tls_stats gh_tls_get_stats(const gh_tls* tls)
{
    gh_tls_stats stats = tls->stats;
    stats.arena_used = tls->arena.used;
    stats.arena_most = tls->arena.most;
    return stats;
}

void gh_tls_shutdown(gh_tls* tls)
{
    tls_arena* before;
    uint32_t i;
    if (tls == NULL) return;
    before = tls_arena_enter(&tls->arena);
    for (i = 0; i < tls->streams_capacity; i++)
        if (tls->streams[i].state != TLS_FREE) tls_stream_end(&tls->streams[i]);
    tls_tickets_forget(tls);
    tls_set_free(&tls->sets[0]);
    tls_set_free(&tls->sets[1]);
    mbedtls_ctr_drbg_free(&tls->random);
    tls_arena_leave(before);
    mbedtls_platform_zeroize(tls, sizeof *tls);
}
