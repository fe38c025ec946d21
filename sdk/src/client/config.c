/* config.c -- a client's config: its defaults and its bounds. */

#include "client/state.h"
#include "wire/name.h"

#define SECOND_US 1000000ull
#define TIME_MIN_US 1000ull
#define TIME_MAX_US (60 * SECOND_US)

/* The patch number tells nothing that a header could differ in. */
static bool is_our_version(uint32_t version)
{
    return version / 100 == GH_VERSION / 100;
}

void gh_client_config_fill(gh_client_config* config, size_t size, uint32_t version)
{
    if (config == NULL) return;
    memset(config, 0, size);
    if (size != sizeof *config || !is_our_version(version)) return;
    config->struct_size = size;
    config->version = version;
    config->client_name = gh_str_literal("guildhall");
    config->prefix = gh_str_literal("gh");
    config->ops_capacity = 1024;
    config->requests_capacity = 512;
    config->detached_capacity = 64;
    config->out_bytes = 48 * 1024;
    config->reply_bytes = 32 * 1024;
    config->reply_nodes = 512;
    config->connect_timeout_us = 2 * SECOND_US;
    config->request_timeout_us = 2 * SECOND_US;
    config->backoff_min_us = 20 * 1000;
    config->backoff_max_us = 1 * SECOND_US;
    config->wake = true;
}

static bool is_within(uint64_t value, uint64_t least, uint64_t most)
{
    return value >= least && value <= most;
}

static bool is_str(gh_str str)
{
    return str.bytes != NULL || str.size == 0;
}

/* CLIENT SETNAME takes printable ASCII without spaces. */
static bool is_client_name(gh_str name)
{
    size_t i;
    if (name.size > 64) return false;
    for (i = 0; i < name.size; i++)
        if (name.bytes[i] < '!' || name.bytes[i] > '~') return false;
    return true;
}

static gh_status check_strings(const gh_client_config* config)
{
    gh_address address;
    gh_status status;
    if (!is_str(config->address) || !is_str(config->user) || !is_str(config->password) ||
        !is_str(config->client_name) || !is_str(config->prefix))
        return GH_INVALID_BUFFER;
    status = gh_address_parse(config->address, &address);
    if (status != GH_OK && !(status == GH_PENDING && config->resolver != NULL)) return GH_INVALID_ADDRESS;
    if (config->user.size > 128 || (config->user.size > 0 && config->password.size == 0)) return GH_INVALID_USER;
    if (config->password.size > 512) return GH_INVALID_PASSWORD;
    if (config->database > 1023) return GH_INVALID_DATABASE;
    if (!is_client_name(config->client_name)) return GH_INVALID_CLIENT_NAME;
    if (!is_within(config->prefix.size, 1, 32) || !gh_name_is_plain(config->prefix)) return GH_INVALID_PREFIX;
    return GH_OK;
}

gh_status gh_config_check(const gh_client_config* config)
{
    const uint32_t least = 16 * 1024;
    const uint32_t most = 64 * 1024 * 1024;
    gh_status status;
    if (config == NULL || config->struct_size != sizeof *config || !is_our_version(config->version))
        return GH_INVALID_CONFIG;
    status = check_strings(config);
    if (status != GH_OK) return status;
    if (!is_within(config->ops_capacity, 1, 4194304) || !is_within(config->requests_capacity, 8, 65536) ||
        !is_within(config->out_bytes, least, most) || !is_within(config->reply_bytes, least, most) ||
        !is_within(config->reply_nodes, 64, 1048576) || config->detached_capacity > 65536)
        return GH_INVALID_CAPACITY;
    if (!is_within(config->connect_timeout_us, TIME_MIN_US, TIME_MAX_US) ||
        !is_within(config->request_timeout_us, TIME_MIN_US, TIME_MAX_US) ||
        !is_within(config->backoff_min_us, TIME_MIN_US, TIME_MAX_US) ||
        !is_within(config->backoff_max_us, config->backoff_min_us, TIME_MAX_US) ||
        config->quarantine_us > 3600 * SECOND_US)
        return GH_INVALID_TIMEOUT;
    return GH_OK;
}
