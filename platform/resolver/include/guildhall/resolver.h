/* guildhall/resolver.h -- host names for gh_client_config.resolver, by c-ares, without blocking. A library of its own,
   guildhall_resolver; nothing in guildhall knows it.

       static _Alignas(16) unsigned char block[16 * 1024];
       gh_dns_config config = gh_dns_config_default();
       gh_dns* dns;
       gh_status status = gh_dns_init(block, sizeof block, &config, gh_platform_default(), &dns);
       ...
       client_config.address = gh_str_literal("redis:6379");
       client_config.resolver = gh_dns_resolve;
       client_config.resolver_context = dns;
       status = gh_client_init(memory, size, &client_config, gh_platform_default(), &client);
       ...
       gh_client_shutdown(client);
       gh_dns_shutdown(dns);

   How a name stands, as a link that connects sees it:

       not asked for --begin--> looked up (PENDING) --answer--> OK, an address -----------------.
           ^                                          |                                         |
           |                                          '-------> GONE, REFUSED, TIMEOUT, ERROR --+
           '---------------------- 50 ms later: the next attempt looks up anew <----------------'

   Fail-over Each attempt to connect looks the name up anew, whatever its time to live says: a name that has moved is
             followed by the next attempt. An answer serves all who ask within 50 ms, so that many may share a gh_dns.
   Addresses Of a name with several, each attempt is given one, each of them once before any is given twice: a dead one
             costs one attempt, not for ever. Whoever has not asked for 130 s begins with the first again. Both links of
             a client ask, and may be given different addresses, so all addresses of a name should lead to one store.
   Order     That of RFC 6724: a family that this machine has no way for stands last. families prefers or forbids one.
   Sources   As the machine's resolv.conf, nsswitch.conf and hosts file say: short names ("redis" of a container) are
             completed by the search domains there. They are read again for each lookup. For localhost, and what ends
             in .localhost, nobody is asked: it is this machine.
   Blocking  It never waits for the network. A tick in which a lookup begins reads those small files: 0.1 to 0.2 ms;
             each other one looks at the sockets of the name that is asked for. A name server that is dead costs try_us
             before the next is asked; where it is the only one, the link tries again after its back-off, as when a
             store is away. Tick more often than timeout_us, or no answer is ever in time.
   Memory    The block has the names and what is known of them. c-ares itself uses the heap, but from the beginning of a
             lookup to its end alone: 70 calls with c-ares 1.18, 800 with 1.34. None while nothing is looked up.
   Threads   A gh_dns belongs to the clients of one thread; it starts none, and has nothing that is global.
   Secrets   DNS is not signed: who can forge its answers decides to whom the password goes. TLS looks at names.
   Tests     c-ares 1.18 and 1.34, POSIX systems. There is none for Windows yet. */

#ifndef GUILDHALL_RESOLVER_H
#define GUILDHALL_RESOLVER_H

#include "guildhall/base.h"
#include "guildhall/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_dns gh_dns;

typedef enum gh_dns_families
{
    GH_DNS_ANY = 0, /* IPv4 and IPv6, in the order of RFC 6724 */
    GH_DNS_IPV4_FIRST,
    GH_DNS_IPV6_FIRST,
    GH_DNS_IPV4_ONLY, /* IPv6 is not even asked for: for name servers that never answer when they are */
    GH_DNS_IPV6_ONLY
} gh_dns_families;

/* Begin with gh_dns_config_default() and change what you need. gh_dns_init copies everything. */
typedef struct gh_dns_config
{
    size_t struct_size; /* both set by gh_dns_config_default; leave them */
    uint32_t version;

    /* Name servers, in the order in which they are asked: "10.0.0.2,127.0.0.1:5353,[2001:db8::2]:53"; at most 8, and
       512 bytes. Default empty: the machine's. */
    gh_str servers;

    gh_dns_families families; /* default GH_DNS_ANY                                                                 */

    uint32_t hosts_capacity;  /* names that are looked up at once; who asks for one more stays PENDING. Of as many it is
                                 known which addresses were given. About 1 KB each. 1..1024, default 8              */
    uint64_t timeout_us;      /* a lookup with all its tries; give less than the connect_timeout_us of clients, or it is
                                 they who say that it took too long. 10 ms..60 s, default 1.5 s                     */
    uint64_t try_us;          /* one name server, the first time; the double in each round. 10 ms..10 s, and not more
                                 than timeout_us; default 400 ms                                                    */

    gh_hooks hooks; /* log alone is used: what is wrong with a config, and why a name was not found, once as long as it
                       is for the same reason */
} gh_dns_config;

/* As gh_client_config_fill does. */
GH_API void gh_dns_config_fill(gh_dns_config* config, size_t size, uint32_t version);

static inline gh_dns_config gh_dns_config_default(void)
{
    gh_dns_config config;
    gh_dns_config_fill(&config, sizeof config, GH_VERSION);
    return config;
}

/* The exact size of the block for this config, in bytes; 0 if the config is not valid. */
GH_API size_t gh_dns_memory(const gh_dns_config* config);

/* Makes one in your memory, which must be aligned to 16 bytes and stay where it is until gh_dns_shutdown. Of platform
   the clock is used; it must outlive dns. GH_OK, or
     GH_INVALID_MEMORY    too small, NULL, not aligned
     GH_INVALID_CONFIG    not made by its default function, or families is none of them
     GH_INVALID_PLATFORM  it is NULL or has no clock
     GH_INVALID_OUT       dns is NULL
     GH_INVALID_ADDRESS   servers is no such list
     GH_INVALID_CAPACITY  hosts_capacity is out of range
     GH_INVALID_TIMEOUT   one of the times is out of range
     GH_INVALID_BUFFER    servers is NULL with a size */
GH_API gh_status gh_dns_init(void* memory, size_t size, const gh_dns_config* config, const gh_platform* platform,
                             gh_dns** dns);

/* A gh_resolver; context is a gh_dns. Clients call it. GH_OK: *numeric is an address of host, and its bytes stay until
   the next call. GH_PENDING: ask again. Else there is none, and the next call looks anew:
     GH_GONE             there is no such name, or it has no address of a family that is asked for
     GH_REFUSED          no name server wants to answer, or none is there
     GH_TIMEOUT          no name server has answered within timeout_us
     GH_ERROR            an answer is not readable, or the machine has no room for a lookup; the log says which
     GH_INVALID_ADDRESS  host is empty, longer than 253 bytes, or has bytes that are in no name
     GH_INVALID_CLIENT   context is NULL or was shut down
     GH_INVALID_OUT      numeric is NULL */
GH_API gh_status gh_dns_resolve(void* context, gh_str host, gh_str* numeric);

typedef struct gh_dns_stats
{
    uint64_t lookups;  /* begun                                                                    */
    uint64_t found;    /* of these: with an address                                                */
    uint64_t gone;     /* no such name                                                             */
    uint64_t refused;
    uint64_t timeouts; /* not answered, and those whose client had gone meanwhile                  */
    uint64_t errors;
    uint32_t under_way;
} gh_dns_stats;

GH_API gh_dns_stats gh_dns_get_stats(const gh_dns* dns);

/* Ends what is looked up. The clients must have been shut down. NULL is fine. The memory is yours again. */
GH_API void gh_dns_shutdown(gh_dns* dns);

#ifdef __cplusplus
}
#endif

#endif
