/* dns_inside.h -- what the sources of platform/resolver share.

       dns.c          config, memory, beginning and end
       dns_hosts.c    the hook: which name stands how, and when a lookup begins and is over
       dns_lookup.c   one lookup, moved by c-ares
       dns_sockets.c  how an older c-ares sends
       dns_turns.c    which of several addresses comes next
       dns_words.c    what c-ares says as a status, and for the log

   Each lookup has a channel of c-ares of its own: so it can be ended by itself, sees a resolv.conf that has changed,
   and leaves nothing on the heap and in no cache. */

#ifndef GUILDHALL_DNS_INSIDE_H
#define GUILDHALL_DNS_INSIDE_H

#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "guildhall/resolver.h"

#include <sys/select.h> /* ares.h needs it, and takes it from a few systems alone */

#include <ares.h>

#define DNS_NAME_MAX      253u /* bytes in a host name                            */
#define DNS_SERVERS_MAX   8u   /* of config.servers                               */
#define DNS_SERVERS_BYTES 512u
#define DNS_SOCKETS       16u  /* of a lookup: UDP and TCP for each server        */
#define DNS_ADDRESSES     16u  /* of a name; those behind them are not used       */
#define DNS_NUMERIC_SIZE  46u  /* the longest address as text, and a NUL          */

/* IPv4 in the first four bytes, the others 0. */
typedef struct dns_address
{
    unsigned char bytes[16];
    bool six;
} dns_address;

typedef struct dns_addresses
{
    uint32_t count;
    dns_address at[DNS_ADDRESSES];
} dns_addresses;

typedef struct dns_socket
{
    ares_socket_t socket;
    bool reads;
    bool writes; /* neither: the place is free */
} dns_socket;

typedef enum dns_state
{
    DNS_IDLE = 0,
    DNS_ASKING,  /* channel is there                            */
    DNS_ANSWERED /* outcome and found are there, for a moment   */
} dns_state;

/* A name that is or was asked for. */
typedef struct dns_host
{
    struct gh_dns* dns;
    char name[DNS_NAME_MAX + 1];
    uint32_t name_size; /* 0: the place is free */
    dns_state state;
    struct ares_channeldata* channel;
    dns_socket sockets[DNS_SOCKETS];
    bool over;   /* c-ares has called back */
    int outcome; /* a number of c-ares     */
    int told;    /* by the log, of the lookup before */
    uint64_t begun_us;
    uint64_t ended_us;
    uint64_t asked_us;
    uint64_t given_us;
    dns_addresses found; /* in the order in which they are to be given */
    dns_addresses given; /* of the present round                       */
} dns_host;

struct gh_dns
{
    uint32_t magic;
    gh_dns_families families;
    uint32_t hosts_capacity;
    int tries; /* rounds that c-ares makes */
    uint64_t timeout_us;
    uint64_t try_us;
    const gh_platform* platform;
    dns_host* hosts;
    gh_hooks hooks;
    gh_dns_stats stats;
    char servers[DNS_SERVERS_BYTES + 1];
    char numeric[DNS_NUMERIC_SIZE]; /* that was given last */
};

/* dns_hosts.c */
bool gh_dns_is_one(const struct gh_dns* dns);

/* dns_lookup.c. begin and move may set over; end ends it whatever it is at, and sets over and outcome. */
void gh_dns_lookup_begin(dns_host* host);
void gh_dns_lookup_move(dns_host* host);
void gh_dns_lookup_end(dns_host* host);

/* dns_sockets.c */
void gh_dns_use_sockets(struct ares_channeldata* channel);

/* dns_turns.c. next: of a list that is not empty. */
void gh_dns_order(dns_addresses* addresses, gh_dns_families families);
const dns_address* gh_dns_next(dns_host* host, uint64_t now_us);

/* dns_words.c */
gh_status gh_dns_status_of(int outcome);
void gh_dns_tell(dns_host* host);

#define DNS_MAGIC 0x6e736468u

#endif
