/* config.c -- a client's config: its defaults and its bounds. */

#include "client/refusal.h"
#include "client/state.h"
#include "client/topology.h"
#include "wire/name.h"

#define SECOND_US   1000000ull
#define TIME_MIN_US 1000ull
#define TIME_MAX_US (60 * SECOND_US)
#define BYTES_LEAST (16 * 1024)
#define BYTES_MOST  (64 * 1024 * 1024)

static const gh_bound client_rows[] = {
    GH_BOUND(gh_client_config, ops_capacity, 1024, 1, 4194304, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, requests_capacity, 512, 8, 65536, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, detached_capacity, 64, 0, 65536, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, out_bytes, 48 * 1024, BYTES_LEAST, BYTES_MOST, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, reply_bytes, 32 * 1024, BYTES_LEAST, BYTES_MOST, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, reply_nodes, 512, 64, 1048576, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, connect_timeout_us, 2 * SECOND_US, TIME_MIN_US, TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, request_timeout_us, 2 * SECOND_US, TIME_MIN_US, TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, backoff_min_us, 20 * 1000, TIME_MIN_US, TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, backoff_max_us, 1 * SECOND_US, TIME_MIN_US, TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, nodes_capacity, 32, 2, 1024, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, wake_channels, 256, 1, 65535, GH_INVALID_CAPACITY),
    GH_BOUND(gh_client_config, wait_us, 500 * 1000, TIME_MIN_US, TIME_MAX_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, wait_replicas, 0, 0, GH_REPLICAS_MAX, GH_INVALID_REPLICAS),
    GH_BOUND(gh_client_config, quarantine_us, 0, 0, 3600 * SECOND_US, GH_INVALID_TIMEOUT),
    GH_BOUND(gh_client_config, database, 0, 0, 1023, GH_INVALID_DATABASE)};
static const gh_bounds client_bounds = GH_BOUNDS(gh_client_config, client_rows);

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
    gh_bounds_fill(&client_bounds, config);
    config->version = version;
    config->client_name = gh_str_literal("guildhall");
    config->prefix = gh_str_literal("gh");
    config->wake = true;
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

gh_status gh_config_check_login(gh_str user, gh_str password)
{
    if (!is_str(user) || !is_str(password)) return GH_INVALID_BUFFER;
    if (user.size > 128 || (user.size > 0 && password.size == 0)) return GH_INVALID_USER;
    return password.size > 512 ? GH_INVALID_PASSWORD : GH_OK;
}

static gh_status check_strings(const gh_client_config* config)
{
    gh_status status;
    if (!is_str(config->address) || !is_str(config->user) || !is_str(config->password) ||
        !is_str(config->client_name) || !is_str(config->prefix) || !is_str(config->sentinel_name) ||
        !is_str(config->sentinel_user) || !is_str(config->sentinel_password))
        return GH_INVALID_BUFFER;
    status = config->topology == NULL ? gh_address_check(config, config->address) : config->topology->check(config);
    if (status != GH_OK) return status;
    status = gh_config_check_login(config->user, config->password);
    if (status != GH_OK) return status;
    if (!is_client_name(config->client_name)) return GH_INVALID_CLIENT_NAME;
    if (config->prefix.size == 0 || config->prefix.size > 32 || !gh_name_is_plain(config->prefix))
        return GH_INVALID_PREFIX;
    return GH_OK;
}

/* There is no client yet that could keep the words, so whoever listens to the log is told. */
static gh_status say_refused(const gh_client_config* config, gh_status status, gh_str words)
{
    if (config->hooks.log != NULL) config->hooks.log(config->hooks.context, GH_LOG_ERROR, words);
    return status;
}

static gh_status check_rows(const gh_client_config* config)
{
    char words[GH_INVALID_TEXT_MAX];
    uint64_t value;
    const gh_bound* row = gh_bounds_broken(&client_bounds, config, &value);
    if (row == NULL) return GH_OK;
    return say_refused(config, row->status, gh_str_make(words, gh_refusal_words(row, value, words, sizeof words)));
}

gh_status gh_config_check(const gh_client_config* config)
{
    gh_status status;
    if (config == NULL || config->struct_size != sizeof *config || !is_our_version(config->version))
        return GH_INVALID_CONFIG;
    status = check_strings(config);
    if (status == GH_OK && config->backoff_max_us < config->backoff_min_us) status = GH_INVALID_TIMEOUT;
    if (status == GH_OK && config->wait_replicas != 0 && config->replicas == NULL) status = GH_INVALID_REPLICAS;
    if (status != GH_OK) return say_refused(config, status, gh_str_of(gh_status_text(status)));
    return check_rows(config);
}
