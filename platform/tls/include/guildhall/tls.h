/* guildhall/tls.h -- TLS around the streams of another platform, by mbedTLS. A library of its own, guildhall_tls;
   nothing in guildhall knows it.

       static unsigned char block[64 * 1024];
       gh_tls_config config = gh_tls_config_default();
       config.credentials.roots = gh_str_of(pem_of_the_provider);
       gh_tls* tls;
       gh_status status = gh_tls_init(block, sizeof block, &config, gh_platform_default(), &tls);
       ...
       status = gh_client_init(memory, size, &client_config, gh_tls_platform(tls), &client);
       ...
       gh_client_shutdown(client);
       gh_tls_shutdown(tls);

   How a stream stands, as a client sees it:

       open --> connected() PENDING: TCP, then the hand-shake --> connected() OK: encrypted --> CLOSED
                      |                                                                          ^
                      '--> REFUSED: certificate, name, client certificate, cut ---- close -------'

   Who is verified: that a root of yours has signed the server's certificate, that it is in date by the time of this
   machine (time() of C), not in a list of yours of revoked ones, and that it is for the name: server_name if that is
   set, else the host name of the address (which a resolver turns into a number, or which a node of a Cluster announces
   beside it; a dot at its end is no part of it), else the number itself, which must stand in the certificate as an IP
   address. A failure is a lost link
   like others, and says in the client's log what it was, with mbedTLS's number or, of a certificate, the flags of
   mbedtls/x509.h (1 expired, 4 another name, 8 no root of yours has signed it):

       command link: no connection: the server's certificate has expired (1), redis-1.game.example:6380

   Time     One heavy step of a hand-shake (a signature, a key exchange: 1 to 4 ms with Debian 12's mbedTLS, up to 2 ms
            with Debian 13's) is made in a tick, whatever the number of streams: a hand-shake takes 4 to 6 ticks, one
            that goes on from a ticket 2, and those of several streams stand in line. Raise steps_per_tick for a client
            of many nodes, and connect_timeout_us with it if ticks are far apart. The platform sees a tick by that
            connected() is asked a second time for the same stream. A tick's budget cannot cut a step, so it is exceeded
            by one step at most. Later 0.3 to 1.4 us a request, by its length and by how many go together: measured
            by ./bench/run.sh --tls.
   Memory   The block has the streams, their names and the tickets. What mbedTLS takes for itself depends on its build:
            With a build that has MBEDTLS_PLATFORM_MEMORY (premake5 --mbedtls=DIR) it comes out of the same block, the
            heap is never used, and gh_tls_memory says how much is needed; if it does not suffice for a hand-shake,
            that is what is said ("the memory of gh_tls_init is used up"). With the packages of Debian 12 and 13 it
            comes from the heap: 38 to 45 KB a link, and in each hand-shake some 10,000 to 30,000 blocks. None
            between hand-shakes, but for a ticket that a server of TLS 1.3 sends behind one.
   Waiting  gh_client_fd is the inner platform's handle. While a link connects it wants to write, so who waits with
            poll comes back at once, and hand-shakes go as fast as ticks: until connect_timeout_us, if the server says
            nothing.
   Ends     A server that says that it ends (close_notify), in the middle of an answer or of a hand-shake, has closed:
            the link is lost at once, also while TCP stays open. Another hand-shake in the middle (TLS 1.2) is
            declined, and the connection goes on. New keys in the middle (TLS 1.3) are not known to mbedTLS, and no
            Redis sends any: the link is lost, and made again.
   Fleets   Sentinels and the servers that they name, or all nodes of a Cluster, are spoken to through the one gh_tls,
            so all have to speak TLS, and to tell each other's TLS ports: sentinel.h and cluster.h say what is set for
            that. One whose certificate is for another name is, for what it has, as one that is away: it is told
            nothing, ops wait as long as they may, each attempt looks anew, and what the others have goes on. A
            failover takes a hand-shake more.
   Threads  A gh_tls belongs to the clients of one thread, two threads take two. mbedTLS has some state for the whole
            process: make the first gh_tls before other threads make theirs.
   Tests    TLS 1.2 and, if mbedTLS has it, 1.3; Redis 7.0 and 8.0 with OpenSSL 3; mbedTLS 2.28 and 3.6. */

#ifndef GUILDHALL_TLS_H
#define GUILDHALL_TLS_H

#include "guildhall/base.h"
#include "guildhall/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_tls gh_tls;

/* Each as PEM or DER, one or several behind one another as PEM, of at most 1 MiB; empty: none. Other words may stand
   around them; one that was cut is refused. Read by gh_tls_init and gh_tls_renew, and not needed afterwards. Give few
   roots: Debian's whole bundle costs 400 KB and 5 ms. */
typedef struct gh_tls_credentials
{
    gh_str roots;        /* certificates of authorities. Required unless insecure_skip_verification           */
    gh_str revoked;      /* lists of revoked certificates, signed by the authorities and in date: a list that is
                            not in date refuses all of its authority. Who has no list here is not asked for one  */
    gh_str certificate;  /* of this client, its own first, then those between it and the server's root         */
    gh_str key;          /* the private key of it; both or none                                                */
    gh_str key_password; /* of an encrypted PEM key                                                            */
} gh_tls_credentials;

/* Begin with gh_tls_config_default() and change what you need. gh_tls_init copies what it keeps. */
typedef struct gh_tls_config
{
    size_t struct_size; /* both set by gh_tls_config_default; leave them */
    uint32_t version;

    gh_tls_credentials credentials;

    /* The name that certificates must be for, whatever the address says: for endpoints whose certificate has another
       name than they have, proxies, addresses that are numbers. A host name, or an IP address. Also told to the server
       (SNI). At most 253 bytes, default empty. An address without a name (unix:PATH) needs it. */
    gh_str server_name;

    uint32_t streams_capacity; /* connections at once, of all clients together; 1..4096, default 2. A client of one
                                  server has 2; behind Sentinels one more for each of these. One more with
                                  config.replicas, one less without wake. Of a Cluster nodes_capacity and 2, with
                                  config.replicas nodes_capacity more, with wake_sharded once more so many: one that
                                  has no room for a node waits                                                       */
    uint32_t tickets_capacity; /* addresses whose next hand-shake is short; 0..4096, default 2: the oldest goes. Of a
                                  Cluster as many as there are nodes, Sentinels are addresses, too                   */
    uint32_t ticket_bytes;     /* for each of them; a longer one is not kept. 512..16384, default 3072: the ticket,
                                  and with TLS 1.2 the server's certificate                                          */
    uint32_t steps_per_tick;   /* heavy steps of hand-shakes in a tick, all streams together; 1..64, default 1       */

    /* Elliptic-curve operations in a step, in an mbedTLS that has MBEDTLS_ECP_RESTARTABLE, with TLS 1.2 and ECDSA:
       200 makes steps of 0.2 ms, 70 in a hand-shake. It counts for the whole process. 0..1000000, default 0: whole
       steps. */
    uint32_t step_operations;

    /* No certificate is looked at: whoever can reach the connection can read and change what passes. For tests. Said as
       a warning in the log. Default false. */
    bool insecure_skip_verification;

    gh_hooks hooks; /* log alone is used: what is wrong with a config, and insecure_skip_verification */
} gh_tls_config;

/* As gh_client_config_fill does. */
GH_API void gh_tls_config_fill(gh_tls_config* config, size_t size, uint32_t version);

static inline gh_tls_config gh_tls_config_default(void)
{
    gh_tls_config config;
    gh_tls_config_fill(&config, sizeof config, GH_VERSION);
    return config;
}

/* The size of the block for this config, in bytes; 0 if the config is not valid. Exact where mbedTLS uses the heap.
   Where it does not, with 48 KiB a stream and 32 KiB, and five times the size of the credentials: enough for two
   hand-shakes at once with ordinary certificates; more is used if it is there, and less is tried. */
GH_API size_t gh_tls_memory(const gh_tls_config* config);

/* Makes one in your memory, which must be aligned to 16 bytes and stay where it is until gh_tls_shutdown. inner must
   outlive it. GH_OK, or
     GH_INVALID_MEMORY       too small, NULL, not aligned
     GH_INVALID_CONFIG       not made by its default function
     GH_INVALID_PLATFORM     inner lacks a function, or gives no random bytes
     GH_INVALID_OUT          tls is NULL
     GH_INVALID_CAPACITY     a capacity or one of the numbers is out of range
     GH_INVALID_NAME         server_name is too long, or has a NUL
     GH_INVALID_BUFFER       a string is NULL with a size
     GH_INVALID_CREDENTIALS  roots are missing; something is no certificate, list or key, or the key is not that of the
                             certificate; its password is wrong; the log says which */
GH_API gh_status gh_tls_init(void* memory, size_t size, const gh_tls_config* config, const gh_platform* inner,
                             gh_tls** tls);

/* What clients are given. Lives as long as tls. */
GH_API const gh_platform* gh_tls_platform(gh_tls* tls);

/* Other credentials for all connections from the next on, without a restart; those that are up stay. Tickets are
   forgotten, so the next hand-shakes are whole ones. GH_OK; GH_INVALID_BUFFER or GH_INVALID_CREDENTIALS: the old ones
   stay; GH_INVALID_MEMORY: so they do, as the block has no room for both, where mbedTLS uses it; GH_NO_ROOM: a
   hand-shake with the ones before these is under way; try again in a later frame. Reading certificates takes some
   0.1 ms each. */
GH_API gh_status gh_tls_renew(gh_tls* tls, const gh_tls_credentials* credentials);

typedef struct gh_tls_stats
{
    uint64_t handshakes;     /* that came to their end                                               */
    uint64_t resumed;        /* of these: short ones, by a ticket                                    */
    uint64_t failed;         /* refused by either side, or cut; those that a client gave up, too     */
    uint64_t steps;          /* heavy steps                                                          */
    uint32_t streams;        /* open now                                                             */
    uint32_t tickets;        /* kept now                                                             */
    uint64_t arena_bytes;    /* of the block, for mbedTLS; 0: it uses the heap                       */
    uint64_t arena_used;     /* of these, now                                                        */
    uint64_t arena_most;     /* at most, so far                                                      */
} gh_tls_stats;

GH_API gh_tls_stats gh_tls_get_stats(const gh_tls* tls);

/* Gives back what mbedTLS has, and wipes keys and tickets. The clients must have been shut down: their streams are
   closed. NULL is fine. The memory is yours again. */
GH_API void gh_tls_shutdown(gh_tls* tls);

#ifdef __cplusplus
}
#endif

#endif
