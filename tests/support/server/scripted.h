/* scripted.h -- an operating system that a test makes up: time is a number, streams are bytes in memory,
   and the peer is a function of the test's. Nothing in it depends on the machine.

       scripted* world = scripted_new();
       world->open_status = GH_REFUSED;
       scripted_start(world, &config);
       scripted_tick(world, 16000);     // 16 ms later
       assert_int_equal(world->opens, 1);

   The peer reads each request and answers it at once, as a server would in a hand-shake, and as if every lock were
   free and one replica had all; `answer` comes first where it is set. What is in `silent` or `send_max` makes it slow,
   deaf or dumb. */

#ifndef GUILDHALL_TESTS_SCRIPTED_H
#define GUILDHALL_TESTS_SCRIPTED_H

#include "support/buffer.h"
#include "support/suite.h"

#include "guildhall/guildhall.h"

#define SCRIPTED_WORDS_MAX 160
#define SCRIPTED_STREAMS_MAX 128
#define SCRIPTED_HOST_SIZE   256
#define SCRIPTED_OPENS_MAX 512

typedef struct scripted scripted;

/* True: the request was taken care of, with whatever was added to the reply, which may be nothing. */
typedef bool (*scripted_answer)(scripted* world, const gh_str* words, size_t count, byte_buffer* reply);

/* Whether somebody is there: GH_OK, GH_PENDING, or GH_REFUSED. */
typedef gh_status (*scripted_door)(scripted* world, const gh_address* address);

typedef struct scripted_stream
{
    bool open;
    uint16_t port;
    char host[SCRIPTED_HOST_SIZE]; /* where it goes                          */
    char name[SCRIPTED_HOST_SIZE]; /* and for which name TLS would verify it */
    bool ended;           /* the peer has closed it */
    byte_buffer requests; /* not yet answered */
    byte_buffer replies;  /* not yet received */
} scripted_stream;

struct scripted
{
    gh_platform platform; /* what the client gets */
    gh_client* client;
    uint64_t now_us;      /* the caller's clock; scripted_tick moves it */
    uint64_t start_us;    /* what it was at scripted_start */
    uint64_t budget_us;   /* of scripted_tick */

    uint64_t clock_us;      /* what platform.now_us says ...              */
    uint64_t clock_step_us; /* ... and how much later it is at each look  */
    uint64_t store_birth_us; /* of the epoch; another one: the store has lost its data */
    uint64_t entropy;       /* the numbers that are drawn; 0: it fails    */
    gh_status open_status;  /* GH_OK at first                             */
    gh_status connected_status;
    bool silent;        /* the peer takes requests and does not answer          */
    size_t send_max;    /* bytes that one send takes; 0: it would block         */
    size_t receive_max; /* bytes that one receive gives; 0: it would block      */
    size_t streams_max; /* that may be open at once; 4 at first                 */
    scripted_answer answer;
    scripted_door door;           /* NULL: open_status, wherever it goes           */
    const scripted_stream* asked; /* while answer runs: on which stream            */
    void* context;                /* for answer and door                           */

    uint64_t opens;
    uint64_t closes;
    uint64_t sends;
    uint64_t receives;
    uint64_t opened_at_us[SCRIPTED_OPENS_MAX]; /* now_us of the first ones */
    gh_address_kind opened_kind;               /* where the last one went  */
    uint16_t opened_port;
    char opened_host[SCRIPTED_HOST_SIZE];
    char opened_name[SCRIPTED_HOST_SIZE];
    byte_buffer log; /* "E text\n", "W ...", "I ...", "D ..."; unless the config has hooks of its own */

    scripted_stream streams[SCRIPTED_STREAMS_MAX];
    struct scripted_object* objects;
};

/* Ended after the test by itself, its client before it. */
scripted* scripted_new(void);

/* What tests begin with: a numeric address, no wake link. */
gh_client_config scripted_config(void);

/* Makes the client; NULL: with scripted_config. */
void scripted_start(scripted* world, const gh_client_config* config);

/* Started, and ticked until it is ready. */
void scripted_start_ready(scripted* world, const gh_client_config* config);

/* One tick, that much later. */
void scripted_tick(scripted* world, uint64_t later_us);

/* The peer says something of its own accord, on every open stream. */
void scripted_say(scripted* world, const char* text);

/* Answers what was left unanswered while it was silent. */
void scripted_speak(scripted* world);

/* Zeroed memory that lives as long as the client. */
#define SCRIPTED_NEW(world, type) ((type*)scripted_keep((world), sizeof(type)))
void* scripted_keep(scripted* world, size_t size);

/* Of a request's words, as `answer` gets them: the number that one is, and whether they run a script whose first key
   begins like that. */
long long scripted_number(gh_str word);
bool scripted_runs_on(const gh_str* words, size_t count, const char* key);

/* Whether they are the hand-shake's question for an epoch. */
bool scripted_asks_epoch(const gh_str* words, size_t count);

/* A command of one word, the answer to which is of no interest but for its coming. */
gh_command* scripted_ask(scripted* world, const char* word, uint64_t timeout_us, gh_repeat repeat);
gh_lock* scripted_want(scripted* world, const char* name, uint64_t lease_us, uint64_t wait_us);

bool scripted_logged(const scripted* world, const char* text);
unsigned scripted_times_logged(const scripted* world, const char* text);
gh_client_stats scripted_stats(const scripted* world);

/* Ticks every step_us until the condition holds; fails the test when that takes longer than most_us. */
#define SCRIPTED_UNTIL(world, condition, step_us, most_us)                                                   \
    do                                                                                                       \
    {                                                                                                        \
        uint64_t scripted_end_us = (world)->now_us + (most_us);                                              \
        while (!(condition))                                                                                 \
        {                                                                                                    \
            if ((world)->now_us >= scripted_end_us) fail_msg("waited too long for: %s", #condition);         \
            scripted_tick((world), (step_us));                                                               \
        }                                                                                                    \
    } while (0)

#endif
