/* dns_lookup.c -- one lookup: a channel of c-ares, its sockets, its answer. */

#include "dns_inside.h"

#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>

#define MOVES_MAX 4u /* of a call: an answer by TCP comes in two pieces, and a truncated one before it */

/* c-ares tells for each socket what it waits for, and neither of both when it closes it. One that has no place is not
   looked at, and its server counts as silent. */
static void note_socket(void* context, ares_socket_t socket, int reads, int writes)
{
    dns_host* host = (dns_host*)context;
    dns_socket* place = NULL;
    uint32_t i;
    for (i = 0; i < DNS_SOCKETS; i++)
    {
        dns_socket* each = &host->sockets[i];
        bool is_used = each->reads || each->writes;
        if (is_used && each->socket == socket)
        {
            place = each;
            break;
        }
        if (!is_used && place == NULL) place = each;
    }
    if (place == NULL) return;
    place->socket = socket;
    place->reads = reads != 0;
    place->writes = writes != 0;
}

static void add_address(dns_addresses* list, const struct sockaddr* address)
{
    dns_address* to = &list->at[list->count];
    if (list->count == DNS_ADDRESSES || address == NULL) return;
    memset(to, 0, sizeof *to);
    if (address->sa_family == AF_INET6)
    {
        to->six = true;
        memcpy(to->bytes, &((const struct sockaddr_in6*)(const void*)address)->sin6_addr, 16);
    }
    else if (address->sa_family == AF_INET)
        memcpy(to->bytes, &((const struct sockaddr_in*)(const void*)address)->sin_addr, 4);
    else return;
    list->count++;
}

/* Called once for each lookup, by whatever function of c-ares. */
static void take_answer(void* context, int outcome, int timeouts, struct ares_addrinfo* answer)
{
    dns_host* host = (dns_host*)context;
    const struct ares_addrinfo_node* node = answer == NULL ? NULL : answer->nodes;
    (void)timeouts;
    for (; node != NULL; node = node->ai_next) add_address(&host->found, node->ai_addr);
    if (answer != NULL) ares_freeaddrinfo(answer);
    gh_dns_order(&host->found, host->dns->families);
    host->outcome = outcome == ARES_SUCCESS && host->found.count == 0 ? ARES_ENODATA : outcome;
    host->over = true;
}

/* "localhost", or a name below it, whole with a dot at its end or not. Nobody is asked for it, with a file of hosts or
   without: RFC 6761, 6.3. */
static bool is_localhost(const dns_host* host)
{
    static const char localhost[] = "localhost";
    const size_t size = sizeof localhost - 1;
    const size_t dot = host->name[host->name_size - 1] == '.' ? 1 : 0;
    const size_t before = host->name_size < size + dot ? 0 : host->name_size - size - dot;
    return host->name_size >= size + dot && strncasecmp(host->name + before, localhost, size) == 0 &&
           (before == 0 || host->name[before - 1] == '.');
}

static void take_localhost(dns_host* host)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    memset(&four, 0, sizeof four);
    memset(&six, 0, sizeof six);
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    if (host->dns->families != GH_DNS_IPV6_ONLY) add_address(&host->found, (const struct sockaddr*)(void*)&four);
    if (host->dns->families != GH_DNS_IPV4_ONLY) add_address(&host->found, (const struct sockaddr*)(void*)&six);
    gh_dns_order(&host->found, host->dns->families);
    host->outcome = ARES_SUCCESS;
    host->over = true;
}

static int open_channel(dns_host* host)
{
    const struct gh_dns* dns = host->dns;
    struct ares_options options;
    int outcome;
    memset(&options, 0, sizeof options);
    options.flags = ARES_FLAG_NOALIASES; /* no file of a variable of the environment */
    options.timeout = (int)(dns->try_us / 1000);
    options.tries = dns->tries;
    options.sock_state_cb = note_socket;
    options.sock_state_cb_data = host;
    outcome = ares_init_options(&host->channel, &options,
                                ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    if (outcome != ARES_SUCCESS)
    {
        host->channel = NULL;
        return outcome;
    }
    gh_dns_use_sockets(host->channel);
    return dns->servers[0] == '\0' ? ARES_SUCCESS : ares_set_servers_ports_csv(host->channel, dns->servers);
}

static int family_of(gh_dns_families families)
{
    if (families == GH_DNS_IPV4_ONLY) return AF_INET;
    return families == GH_DNS_IPV6_ONLY ? AF_INET6 : AF_UNSPEC;
}

void gh_dns_lookup_begin(dns_host* host)
{
    struct ares_addrinfo_hints hints;
    int outcome;
    memset(host->sockets, 0, sizeof host->sockets);
    host->found.count = 0;
    host->over = false;
    host->dns->stats.lookups++;
    host->dns->stats.under_way++;
    if (is_localhost(host))
    {
        take_localhost(host);
        return;
    }
    outcome = open_channel(host);
    if (outcome != ARES_SUCCESS)
    {
        host->outcome = outcome;
        host->over = true;
        return;
    }
    memset(&hints, 0, sizeof hints);
    hints.ai_family = family_of(host->dns->families);
    hints.ai_socktype = SOCK_STREAM;
    ares_getaddrinfo(host->channel, host->name, NULL, &hints, take_answer, host);
}

/* Sockets of the lookup that have something to do; the number of them. */
static uint32_t ready_sockets(const dns_host* host, struct pollfd ready[DNS_SOCKETS])
{
    nfds_t count = 0;
    uint32_t kept = 0;
    uint32_t i;
    for (i = 0; i < DNS_SOCKETS; i++)
    {
        const dns_socket* each = &host->sockets[i];
        if (!each->reads && !each->writes) continue;
        ready[count].fd = each->socket;
        ready[count].events = (short)((each->reads ? POLLIN : 0) | (each->writes ? POLLOUT : 0));
        ready[count].revents = 0;
        count++;
    }
    if (count == 0 || poll(ready, count, 0) <= 0) return 0;
    for (i = 0; i < count; i++)
        if (ready[i].revents != 0) ready[kept++] = ready[i];
    return kept;
}

void gh_dns_lookup_move(dns_host* host)
{
    struct pollfd ready[DNS_SOCKETS];
    uint32_t moves;
    for (moves = 0; moves < MOVES_MAX && !host->over; moves++)
    {
        uint32_t count = ready_sockets(host, ready);
        uint32_t i;
        for (i = 0; i < count && !host->over; i++)
        {
            bool reads = (ready[i].revents & ~POLLOUT) != 0;
            bool writes = (ready[i].revents & ~POLLIN) != 0;
            ares_process_fd(host->channel, reads ? ready[i].fd : ARES_SOCKET_BAD,
                            writes ? ready[i].fd : ARES_SOCKET_BAD);
        }
        if (count > 0) continue;
        ares_process_fd(host->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD); /* its times */
        return;
    }
}

/* What ends in the middle is told ARES_EDESTRUCTION, or what is known of the one family while the other is awaited. */
void gh_dns_lookup_end(dns_host* host)
{
    if (host->channel != NULL) ares_destroy(host->channel);
    host->channel = NULL;
    host->dns->stats.under_way--;
}
