/* world.h -- a client, and all that it knows of the world: time is a number, streams are bytes in memory, and the peer
   is whoever reads the requests.

       world_start(&world, &config, input) --> [ world_tick ]* --> world_end

   How streams behave (pieces, delays, losses) is drawn from the dice, which are a part of a fuzzer's input; when they
   are used up, all goes well. Each request is taken apart by resp.h, looked at, and given to `answer`; what that leaves
   alone is answered as a good server would: the hand-shake, the epoch, and OK. */

#ifndef GUILDHALL_TESTS_FUZZ_WORLD_H
#define GUILDHALL_TESTS_FUZZ_WORLD_H

#include "fuzz.h"
#include "resp.h"

#include "client/script_text.h"
#include "guildhall/guildhall.h"

#define WORLD_STREAMS    12
#define WORLD_BYTES      65536u
#define WORLD_STORE_US   UINT64_C(1700000000000000) /* of the store's clock, when ours is at 0 */
#define WORLD_SECOND_US  UINT64_C(1000000)

typedef struct world world;

typedef struct world_stream
{
    bool open;
    bool connecting;
    bool ended;      /* by the peer                        */
    bool subscribed; /* it takes hints, or what Sentinels say */
    uint32_t opened; /* how many were before it */
    size_t in_size;
    size_t out_at;
    size_t out_size;
    char host[64];
    uint16_t port;
    char in[WORLD_BYTES];  /* requests, not answered yet  */
    char out[WORLD_BYTES]; /* replies, not received yet   */
} world_stream;

typedef struct world_request
{
    gh_str bytes; /* all of it */
    const gh_str* words;
    size_t count;
    const gh_script_text* script; /* of the library; NULL: none of them           */
    bool once;                    /* a caller's, behind which command_once stands */
    size_t keys;                  /* of EVALSHA, from words[3] on                 */
    uint64_t sequence;            /* that it names; 0: none                       */
    world_stream* stream;
} world_request;

/* True: it was answered, or is never to be. */
typedef bool world_answer(world* self, const world_request* request, resp_text* reply);

struct world
{
    gh_platform platform;
    gh_client* client; /* NULL: it was shut down */
    void* memory;
    size_t memory_size;
    uint64_t now_us;
    uint64_t entropy;
    fuzz_input dice;
    world_answer* answer; /* NULL: all are answered well                                     */
    bool (*door)(world* self, const gh_address* address); /* whether anybody is there; NULL: always            */
    void* context;        /* of whoever set it                                               */
    bool silent;          /* requests stay unread                                            */
    bool checks_words;    /* what is neither the client's own nor a script must be a command */
    bool confuses;        /* answers do not stand where they belong, so digests may be mixed up      */
    bool clustered;       /* it is the one node of a Cluster                                         */
    uint64_t birth_us;    /* of the epoch */
    uint64_t generation;
    uint64_t requests;
    uint64_t scripts;     /* of these: that ran a script of the library */
    uint32_t opens;
    world_stream streams[WORLD_STREAMS];
};

/* With small capacities, so that they are used up now and then. No wake link. */
gh_client_config world_config(void);

/* False: the config is not valid, and there is no client. The memory has exactly the size that was asked for. */
bool world_start(world* self, const gh_client_config* config, gh_str dice);

/* The peer reads what has come, then there is a tick, so much later. */
void world_tick(world* self, uint64_t later_us);

/* Until the client is ready. False: it does not come to be. */
bool world_tick_until_ready(world* self);

/* Shuts the client down. Nobody may look into its memory from here on; world_forget lets another one have it. */
void world_end(world* self);
void world_forget(world* self);

/* The time of the store. */
uint64_t world_store_us(const world* self);

/* What a good server says to that; the default answer. */
void world_answer_well(world* self, const world_request* request, resp_text* reply);

/* The peer says something, asked or not. */
void world_say(world_stream* stream, gh_str bytes);
resp_text world_reply_of(world_stream* stream);
void world_said(world_stream* stream, const resp_text* reply);

gh_client_stats world_stats(const world* self);

#endif
