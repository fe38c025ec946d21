/* dns.c -- config, memory, beginning and end of a gh_dns. */

#include "dns_inside.h"

#include <arpa/inet.h>

#define DNS_MS    1000ull
#define DNS_ALIGN 16u

/* ---- config ------------------------------------------------------------------------------------------------------ */

static bool is_our_version(uint32_t version)
{
    return version / 100 == GH_VERSION / 100;
}

void gh_dns_config_fill(gh_dns_config* config, size_t size, uint32_t version)
{
    if (config == NULL) return;
    memset(config, 0, size);
    if (size != sizeof *config || !is_our_version(version)) return;
    config->struct_size = size;
    config->version = version;
    config->hosts_capacity = 8;
    config->timeout_us = 1500 * DNS_MS;
    config->try_us = 400 * DNS_MS;
}

/* 1..65535, and nothing else. */
static bool is_port(const char* text)
{
    unsigned long value = 0;
    size_t size = strlen(text);
    size_t i;
    if (size == 0 || size > 5) return false;
    for (i = 0; i < size; i++)
    {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + (unsigned long)(text[i] - '0');
    }
    return value >= 1 && value <= 65535;
}

/* "A.B.C.D", "A.B.C.D:PORT", "[IPV6]" or "[IPV6]:PORT"; the text is cut into pieces. */
static bool is_server(char* text)
{
    unsigned char address[16];
    char* end = text[0] == '[' ? strchr(text, ']') : strchr(text, ':');
    if (text[0] == '[')
    {
        if (end == NULL || (end[1] != '\0' && end[1] != ':')) return false;
        *end++ = '\0';
        if (*end == ':' && !is_port(end + 1)) return false;
        return inet_pton(AF_INET6, text + 1, address) == 1;
    }
    if (end != NULL)
    {
        *end = '\0';
        if (!is_port(end + 1)) return false;
    }
    return inet_pton(AF_INET, text, address) == 1;
}

static bool are_servers(gh_str servers)
{
    char text[DNS_SERVERS_BYTES + 1];
    char* at = text;
    uint32_t count = 0;
    if (servers.size == 0) return true;
    if (servers.size > DNS_SERVERS_BYTES || memchr(servers.bytes, 0, servers.size) != NULL) return false;
    memcpy(text, servers.bytes, servers.size);
    text[servers.size] = '\0';
    while (at != NULL)
    {
        char* comma = strchr(at, ',');
        if (comma != NULL) *comma++ = '\0';
        if (++count > DNS_SERVERS_MAX || !is_server(at)) return false;
        at = comma;
    }
    return true;
}

static gh_status refuse(const gh_dns_config* config, gh_status status, const char* words)
{
    if (config->hooks.log != NULL) config->hooks.log(config->hooks.context, GH_LOG_ERROR, gh_str_of(words));
    return status;
}

static gh_status config_check(const gh_dns_config* config)
{
    if (config == NULL || config->struct_size != sizeof *config || !is_our_version(config->version))
        return GH_INVALID_CONFIG;
    if ((unsigned)config->families > GH_DNS_IPV6_ONLY)
        return refuse(config, GH_INVALID_CONFIG, "families: none of gh_dns_families");
    if (config->servers.bytes == NULL && config->servers.size > 0)
        return refuse(config, GH_INVALID_BUFFER, "servers: NULL with a size");
    if (!are_servers(config->servers))
        return refuse(config, GH_INVALID_ADDRESS, "servers: not up to 8 of A.B.C.D:PORT or [IPV6]:PORT with commas");
    if (config->hosts_capacity < 1 || config->hosts_capacity > 1024)
        return refuse(config, GH_INVALID_CAPACITY, "hosts_capacity: not within 1..1024");
    if (config->timeout_us < 10 * DNS_MS || config->timeout_us > 60000 * DNS_MS)
        return refuse(config, GH_INVALID_TIMEOUT, "timeout_us: not within 10000..60000000");
    if (config->try_us < 10 * DNS_MS || config->try_us > 10000 * DNS_MS || config->try_us > config->timeout_us)
        return refuse(config, GH_INVALID_TIMEOUT, "try_us: not within 10000..10000000, or longer than timeout_us");
    return GH_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t aligned(size_t size)
{
    return (size + DNS_ALIGN - 1) / DNS_ALIGN * DNS_ALIGN;
}

size_t gh_dns_memory(const gh_dns_config* config)
{
    if (config_check(config) != GH_OK) return 0;
    return aligned(sizeof(struct gh_dns)) + sizeof(dns_host) * config->hosts_capacity;
}

/* So many rounds, each twice as long as the one before, that c-ares does not give up before timeout_us. */
static int tries_of(const gh_dns_config* config)
{
    uint64_t round_us = config->try_us;
    uint64_t all_us = round_us;
    int tries = 1;
    while (all_us < config->timeout_us)
    {
        round_us *= 2;
        all_us += round_us;
        tries++;
    }
    return tries;
}

gh_status gh_dns_init(void* memory, size_t size, const gh_dns_config* config, const gh_platform* platform, gh_dns** dns)
{
    struct gh_dns* made = (struct gh_dns*)memory;
    gh_status status = config_check(config);
    uint32_t i;
    if (status != GH_OK) return status;
    if (platform == NULL || platform->now_us == NULL) return GH_INVALID_PLATFORM;
    if (dns == NULL) return GH_INVALID_OUT;
    if (memory == NULL || (uintptr_t)memory % DNS_ALIGN != 0 || size < gh_dns_memory(config)) return GH_INVALID_MEMORY;

    memset(memory, 0, gh_dns_memory(config));
    made->families = config->families;
    made->hosts_capacity = config->hosts_capacity;
    made->tries = tries_of(config);
    made->timeout_us = config->timeout_us;
    made->try_us = config->try_us;
    made->platform = platform;
    made->hooks = config->hooks;
    if (config->servers.size > 0) memcpy(made->servers, config->servers.bytes, config->servers.size);
    made->hosts = (dns_host*)(void*)((char*)memory + aligned(sizeof *made));
    for (i = 0; i < made->hosts_capacity; i++) made->hosts[i].dns = made;
    made->magic = DNS_MAGIC;
    *dns = made;
    return GH_OK;
}

bool gh_dns_is_one(const struct gh_dns* dns)
{
    return dns != NULL && dns->magic == DNS_MAGIC;
}

gh_dns_stats gh_dns_get_stats(const gh_dns* dns)
{
    gh_dns_stats none;
    memset(&none, 0, sizeof none);
    return gh_dns_is_one(dns) ? dns->stats : none;
}

void gh_dns_shutdown(gh_dns* dns)
{
    uint32_t i;
    if (!gh_dns_is_one(dns)) return;
    for (i = 0; i < dns->hosts_capacity; i++)
        if (dns->hosts[i].state == DNS_ASKING) gh_dns_lookup_end(&dns->hosts[i]);
    dns->magic = 0;
}
