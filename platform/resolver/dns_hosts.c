/* dns_hosts.c -- the hook: which name stands how, when a lookup begins and when it is over.

       IDLE --begun--> ASKING --over, timeout_us--> ANSWERED --KEPT_US--> IDLE
                         '--- timeout_us, and nobody asks any more --------^

   A hook cannot tell one attempt from the next, nor one link from another: it sees names, and when they are asked for.
   So an answer is for all who ask within KEPT_US. And who has not asked for GONE_US may have given the attempt up: what
   ran out meanwhile is not its failure, and it begins anew. */

#include "dns_inside.h"

#include <arpa/inet.h>

#define KEPT_US 50000ull
#define GONE_US 250000ull

static bool is_host(gh_str host)
{
    size_t i;
    if (host.bytes == NULL || host.size == 0 || host.size > DNS_NAME_MAX) return false;
    for (i = 0; i < host.size; i++)
    {
        char c = host.bytes[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_letter && c != '-' && c != '.' && c != '_' && c != ':') return false;
    }
    return true;
}

/* An address is its own answer: c-ares 1.18 asks a name server for one of IPv4. True: it stands in dns->numeric. */
static bool is_number(struct gh_dns* dns, gh_str host)
{
    unsigned char address[16];
    if (host.size >= DNS_NUMERIC_SIZE) return false;
    memcpy(dns->numeric, host.bytes, host.size);
    dns->numeric[host.size] = '\0';
    return inet_pton(AF_INET, dns->numeric, address) == 1 || inet_pton(AF_INET6, dns->numeric, address) == 1;
}

static dns_host* find(struct gh_dns* dns, gh_str name)
{
    uint32_t i;
    for (i = 0; i < dns->hosts_capacity; i++)
        if (gh_str_equal(gh_str_make(dns->hosts[i].name, dns->hosts[i].name_size), name)) return &dns->hosts[i];
    return NULL;
}

/* A place that is free, or of that name of which nobody has asked for the longest time. NULL: all are looked up. */
static dns_host* take_place(struct gh_dns* dns, gh_str name)
{
    dns_host* place = NULL;
    uint32_t i;
    for (i = 0; i < dns->hosts_capacity; i++)
    {
        dns_host* each = &dns->hosts[i];
        if (each->state != DNS_ASKING && (place == NULL || each->asked_us < place->asked_us)) place = each;
    }
    if (place == NULL) return NULL;
    memset(place, 0, sizeof *place);
    place->dns = dns;
    memcpy(place->name, name.bytes, name.size);
    place->name_size = (uint32_t)name.size;
    return place;
}

static void count_outcome(gh_dns_stats* stats, gh_status status)
{
    if (status == GH_OK) stats->found++;
    else if (status == GH_GONE) stats->gone++;
    else if (status == GH_REFUSED) stats->refused++;
    else if (status == GH_TIMEOUT) stats->timeouts++;
    else stats->errors++;
}

static void end_lookup(dns_host* host, dns_state state, uint64_t now_us)
{
    gh_dns_lookup_end(host);
    host->state = state;
    host->ended_us = now_us;
    count_outcome(&host->dns->stats, gh_dns_status_of(host->outcome));
    if (state == DNS_ANSWERED) gh_dns_tell(host);
}

static bool is_late(const dns_host* host, uint64_t now_us)
{
    return host->state == DNS_ASKING && now_us - host->begun_us >= host->dns->timeout_us;
}

/* Those that nobody has asked for in time: their sockets are closed, and what may come is not heard. */
static void drop_late(struct gh_dns* dns, const dns_host* but, uint64_t now_us)
{
    uint32_t i;
    for (i = 0; i < dns->hosts_capacity; i++)
        if (&dns->hosts[i] != but && is_late(&dns->hosts[i], now_us)) end_lookup(&dns->hosts[i], DNS_IDLE, now_us);
}

static void move_host(dns_host* host, uint64_t now_us)
{
    bool was_away = now_us - host->asked_us >= GONE_US;
    host->asked_us = now_us;
    if (host->state == DNS_ANSWERED && now_us - host->ended_us >= KEPT_US) host->state = DNS_IDLE;
    if (is_late(host, now_us)) end_lookup(host, was_away ? DNS_IDLE : DNS_ANSWERED, now_us);
    else if (host->state == DNS_ASKING) gh_dns_lookup_move(host);
    if (host->state == DNS_IDLE)
    {
        host->state = DNS_ASKING;
        host->begun_us = now_us;
        gh_dns_lookup_begin(host);
    }
    if (host->state == DNS_ASKING && host->over) end_lookup(host, DNS_ANSWERED, now_us);
}

/* GH_OK: what the name is stands in dns->numeric. */
static gh_status look_up(struct gh_dns* dns, gh_str host)
{
    uint64_t now_us = dns->platform->now_us(dns->platform->context);
    dns_host* place = find(dns, host);
    const dns_address* address;
    drop_late(dns, place, now_us);
    if (place == NULL) place = take_place(dns, host);
    if (place == NULL) return GH_PENDING;
    move_host(place, now_us);
    if (place->state != DNS_ANSWERED) return GH_PENDING;
    if (place->outcome != ARES_SUCCESS) return gh_dns_status_of(place->outcome);
    address = gh_dns_next(place, now_us);
    if (inet_ntop(address->six ? AF_INET6 : AF_INET, address->bytes, dns->numeric, DNS_NUMERIC_SIZE) == NULL)
        return GH_ERROR;
    return GH_OK;
}

gh_status gh_dns_resolve(void* context, gh_str host, gh_str* numeric)
{
    struct gh_dns* dns = (struct gh_dns*)context;
    gh_status status;
    if (!gh_dns_is_one(dns)) return GH_INVALID_CLIENT;
    if (numeric == NULL) return GH_INVALID_OUT;
    if (!is_host(host)) return GH_INVALID_ADDRESS;
    status = is_number(dns, host) ? GH_OK : look_up(dns, host);
    if (status == GH_OK) *numeric = gh_str_of(dns->numeric);
    return status;
}
