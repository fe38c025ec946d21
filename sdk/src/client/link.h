/* link.h -- one connection: a stream, the bytes that wait to be sent, an inbox for those that come.

       IDLE -> RESOLVING -> CONNECTING -> HANDSHAKE -> READY      RESOLVING: a hook is asked, also behind CONNECTING,
                   ^            |             |          |                   for the credentials
                   |            v             v          v
                   '-------- BACKOFF <------- lost, refused, timed out, broken

   A link knows nothing of ops: its owner (pipeline.c, wake.c) encodes into it and takes replies from it. */

#ifndef GH_LINK_H
#define GH_LINK_H

#include "client/state.h"

#define GH_RESOLVER_PAUSE_US 20000ull /* for those who sleep: how often a hook that is not ready is asked */
#define GH_FLUSH_BYTES 65536u /* of a send: copying more at once would break the tick's budget */

/* What came of a step that moves bytes. */
typedef enum gh_moved
{
    GH_MOVED_NOTHING = 0,
    GH_MOVED_SOME, /* and nothing more is there */
    GH_MOVED_MORE, /* and more may be there     */
    GH_MOVED_LOST  /* the peer closed it        */
} gh_moved;

/* topic and title are for the log: "command link: ". */
void gh_link_init(gh_link* link, gh_log_topic topic, const char* title, const gh_target* target);

/* Advances RESOLVING, CONNECTING and BACKOFF. True when HANDSHAKE begins: the stream is connected, and AUTH stands in
   the out bytes, if there is a password (secret_bytes). */
bool gh_link_connect(gh_link* link, gh_client* client);

/* Closes the stream and goes to BACKOFF; why is logged, with the platform's reason and the address. */
void gh_link_lose(gh_link* link, gh_client* client, gh_log_level level, const char* why);
void gh_link_shut(gh_link* link, gh_client* client);

/* A request that writes at the end of the out bytes;
   commit keeps it and returns true, or takes it back if it was full. */
gh_request gh_link_request(gh_link* link);
bool gh_link_commit(gh_link* link, const gh_request* request);

gh_moved gh_link_flush(gh_link* link, gh_client* client);

/* Receives at most so many bytes into the inbox, from which all replies were taken. */
gh_moved gh_link_receive(gh_link* link, gh_client* client, uint32_t most);

/* The next reply; see inbox.h. It lives until one of any link of the client is asked for, or this link receives. */
gh_read gh_link_next(gh_link* link, gh_client* client, const gh_reply** reply);

/* Of a link that listens: what is asked of it must be answered, and a peer that is silent is asked whether it is there.
   is_silent: it has not answered in time, or its hand-shake does not end. ping: asks, when that is due, and notes when.
   listen_due: when one of both is to be looked at; of a link that was begun. */
bool gh_link_is_silent(const gh_link* link, const gh_client* client);
void gh_link_ping(gh_link* link, gh_client* client);
uint64_t gh_link_listen_due(const gh_link* link, const gh_client* client);

/* Or about to be: neither IDLE nor in BACKOFF. */
static inline bool gh_link_is_open(const gh_link* link)
{
    return link->state != GH_LINK_IDLE && link->state != GH_LINK_BACKOFF;
}

/* There is a peer, who is asked and answers. */
static inline bool gh_link_talks(const gh_link* link)
{
    return link->state == GH_LINK_READY || link->state == GH_LINK_HANDSHAKE;
}

/* For its next attempt. */
static inline bool gh_link_is_due(const gh_link* link, const gh_client* client)
{
    return link->state == GH_LINK_IDLE || (link->state == GH_LINK_BACKOFF && client->now_us >= link->due_us);
}

/* Where the byte behind the last one encoded stands in the connection's stream. */
static inline uint64_t gh_link_written(const gh_link* link)
{
    return link->sent_bytes + gh_link_unsent(link);
}

#endif
