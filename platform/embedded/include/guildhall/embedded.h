/* guildhall/embedded.h -- a store in your own process: a game's tests, an editor, a single player without a server. A
   library of its own, guildhall_embedded; nothing in guildhall knows it.

       gh_embedded* store = gh_embedded_new(NULL, gh_platform_default());
       gh_client_config config = gh_client_config_default();
       config.address = gh_str_literal("127.0.0.1:6379");   whatever it is, it leads there
       status = gh_client_init(memory, size, &config, gh_embedded_platform(store), &client);
       ...
       gh_client_shutdown(client);
       gh_embedded_free(store);

   Everything of Guildhall works with it as with a server, since it is one: it speaks RESP2, runs the same scripts with
   the same Lua 5.1, has the commands that Guildhall uses and the plain ones around them, and answers as Redis 7.0.15
   does, byte by byte; a test compares the two over millions of random requests. Clients of one process meet in it: two
   of them compete for a lock, one posts and the other fetches.

   What it is not:

     durable     It lives in memory and ends with the process. There is no file, no AOF, no snapshot. Who plays alone
                 and wants to keep something keeps it in his own file.
     shared      No other process sees it. A second game on the same machine has another store.
     a server    It listens to no port. redis-cli cannot look into it; gh_embedded_ask does.
     complete    MULTI, streams, geo, blocking commands, functions, and of Lua cjson, struct and bit are not in it. A
                 script or command of your own that needs one of these is told "unknown command", or that there is no
                 such global variable; one that overwrites what Lua has under a name, or adds to it by rawset, is not
                 stopped from it, and all scripts behind it meet that. HELLO is told that there is no other protocol.
                 Scripts do not begin with "#!lua", and find of redis call, pcall, log, sha1hex, setresp, set_repl
                 and the two replies, not what it knows of versions, rights and debugging. Lua reads and writes
                 fractions as LC_NUMERIC of the process says: leave that at "C". ACL is there as far as users,
                 commands, keys and channels go. A line of words, as a person types it, has no quotes.
     bounded     It takes from the heap what its keys need, and evicts nothing. Without memory it ends the program. A
                 client that is not ticked is cut off when 32 MiB of hints have come for it, as by a server.

   Time     A request is carried out while the client sends it, at the time of config.unix_us; a reply is there at once.
            So an op of one request is done one tick later. Tests hand in a clock of their own, and need not wait for
            leases to run out.
   Threads  A store, its clients and all calls of it belong to one thread at a time.
   Memory   The heap, here alone: some 100 KB for Lua and the scripts, and then the keys. */

#ifndef GUILDHALL_EMBEDDED_H
#define GUILDHALL_EMBEDDED_H

#include "guildhall/base.h"
#include "guildhall/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_embedded gh_embedded;

/* Begin with gh_embedded_config_default() and change what you need. gh_embedded_new copies what it keeps. */
typedef struct gh_embedded_config
{
    size_t struct_size; /* both set by gh_embedded_config_default; leave them */
    uint32_t version;

    /* The store's clock: microseconds since 1970. NULL, the default: that of the system. */
    uint64_t (*unix_us)(void* context);
    void* context;

    uint64_t seed; /* of its ids and draws, so that a test can be repeated; 0, the default: from the inner platform */
} gh_embedded_config;

GH_API gh_embedded_config gh_embedded_config_default(void);

/* config: NULL for the default. The inner platform gives clients their clock and entropy, and is asked for no stream;
   it must outlive the store. NULL if the struct is of another version or there is no entropy. */
GH_API gh_embedded* gh_embedded_new(const gh_embedded_config* config, const gh_platform* inner);

/* Behind the shutdown of its clients. NULL is fine. */
GH_API void gh_embedded_free(gh_embedded* embedded);

/* For gh_client_init. Lives as long as the store. */
GH_API const gh_platform* gh_embedded_platform(const gh_embedded* embedded);

/* ---- for tests ----------------------------------------------------------------------------------------- */

/* As FLUSHALL: all keys are gone, and clients notice. */
GH_API void gh_embedded_flush(gh_embedded* embedded);

/* As a server that is restarted: its links are cut, its scripts unknown; the keys stay. */
GH_API void gh_embedded_restart(gh_embedded* embedded);

/* While it is down its links are cut and new ones refused; the keys stay. */
GH_API void gh_embedded_set_down(gh_embedded* embedded, bool is_down);

/* Carries out a command with every right, such as {"HGETALL", "gh:{lock:door}:c"}, in database 0. The reply in RESP2,
   as it would be on the wire; it stays until the next call is over, whose words may be pieces of it. Empty without
   words. */
GH_API gh_str gh_embedded_ask(gh_embedded* embedded, const gh_str* words, size_t count);

#ifdef __cplusplus
}
#endif

#endif
