/* storm.h -- the storm: a fleet of game servers under faults, and the proof of what it was told.

      players (processes)                 wire (process)              store (process)
      +-------------------+            +------------------+        +------------------+
      | client  client  . | -- unix -> | cuts, holds,     | -----> | redis-server,    |
      | an actor for each | <- and --- | delivers late,   | <----- | or more of them: |
      | system: begin,    |    TCP     | splits, refuses  |        | store.h, fleet.h |
      | watch, write down |            +---------^--------+        +---^----------^---+
      +---------|---------+                      |                     |          | reads keys,
                |  kills, freezes         orders |  kills, freezes,    |          | writes nothing
                |  <---------------- nemesis (the first process) ------'     witness (process)
                v                                |                                |
      +-----------------------------------------------------------------------------------------+
      | history (shared memory): every op's begin and end, what was seen, every fault            |
      +-----------------------------------------------------------------------------------------+
                |  after the run: everything is healed, all ops end, all leases run out;
                v  an auditor reads what the store has in the end
      checkers, one or more a system: what the history and the store say, against the promises

   A system is one file storm_NAME.c, which alone knows the API of that system: begin a random op, watch it, write
   records. Its checkers lie in check_NAME.c, which sees records alone. To add a system: write both, and add it to
   STORM_SYSTEMS and premake5.lua finds it.

   Players may be of two builds of Guildhall: builds.h.

   Randomness comes from the one seed: the schedule of the faults, and for each actor the choice of its ops. Time is
   real, so two runs of one seed meet the same faults and ops at slightly other moments.

   An outcome has three values: done, not done, unknown; a checker takes each op at its word. Losses are excused by
   a mark of the nemesis alone (restart with older data, promotion of a lagging replica, FLUSHALL). In a fleet, that is
   a master replaced without its help, or by Sentinels, from the moment at which its replicas had everything; what a
   Cluster plans, slots that move, and nodes and Sentinels that come and go excuse nothing. */

#ifndef GUILDHALL_TESTS_STORM_STORM_H
#define GUILDHALL_TESTS_STORM_STORM_H

#include "guildhall/base.h"
#include "guildhall/client.h"
#include "storm/history.h"
#include "support/random.h"

#include <hiredis/hiredis.h>

#define STORM_SYSTEMS(X)                                                                                               \
    X(lock)                                                                                                            \
    X(semaphore) X(tasks) X(mailbox) X(chat) X(contacts) X(guild) X(counters) X(rows) X(files) X(aggregate) X(command)

enum
{
    STORM_CORE = 0, /* marks: of faults, links, stalls; systems are numbered from 1 */
#define STORM_SYSTEM_NUMBER(name) STORM_##name,
    STORM_SYSTEMS(STORM_SYSTEM_NUMBER)
#undef STORM_SYSTEM_NUMBER
        STORM_SYSTEM_END
};

enum
{
    STORM_PLAYERS_MAX = 8,
    STORM_CLIENTS = 4, /* in a process */
    STORM_SYSTEMS_MAX = 16,
    STORM_FAULTS_MAX = 1024,
    STORM_LATEST_US = 600000, /* behind the end of an op of a lease: so late a copy of its request may be granted */
    STORM_CLOCK_STEP_US = 4000000,           /* the server's clock moves by less at once */
    STORM_QUARANTINE_US = 900000,            /* the longest lease of the lock that all want */
    STORM_GHOST_US = 700000,                 /* well above the time after which a link without an answer is given up */
    STORM_IN_THE_END_US = 15000000 + 8000000 /* until all clients of before count as dead, and a turn or two */
};

/* One client of a player, and what its actors need. */
typedef struct storm_client
{
    gh_client* client;
    storm_who who;
    uint64_t now_us;   /* of the last tick */
    uint64_t clock_us; /* the same on the client's clock, which begins and goes as it likes */
    bool ready;
} storm_client;

/* A time on the client's clock, in the history's time; and whether two such times differ by more than what an uneven
   clock makes of one. */
uint64_t storm_time_of(const storm_client* me, uint64_t clock_us);
bool storm_time_moved(uint64_t before_us, uint64_t after_us);

/* Who looks at the store: the witness during the run, the auditor after it. The reply is NULL if the server did not
   answer; the caller frees it. */
typedef struct storm_look
{
    uint64_t limit_us;   /* of each answer */
    redisContext* redis; /* of a storm with one server */
    gh_client* client;   /* the auditor's; NULL for the witness */
    storm_who who;
} storm_look;

/* One command about that key, asked where the key is; NULL: anywhere. NULL if there was no answer. */
redisReply* storm_look_command(storm_look* look, const char* key, const char* format, ...);

/* Until the store answers: a script that keeps its server busy may go on for a while. */
void storm_look_await(storm_look* look);

/* Ticks the auditor's client once and pauses a little. False when it takes too long: give up. */
bool storm_look_turn(storm_look* look);

typedef struct storm_system
{
    const char* name;
    const char* const* whats; /* names of its ops and events */
    size_t actor_size;
    void (*start)(void* actor, storm_client* me, random_stream random);
    void (*turn)(void* actor, bool may_begin); /* after each tick: looks at its ops, perhaps begins one */
    bool (*idle)(const void* actor);           /* nothing is going on, and nothing is kept */
    void (*witness)(storm_look* look);         /* NULL: none */
    void (*audit)(storm_look* look);           /* NULL: none */
    void (*check)(void);
} storm_system;

#define STORM_SYSTEM_DECLARE(name) extern const storm_system storm_##name;
STORM_SYSTEMS(STORM_SYSTEM_DECLARE)
#undef STORM_SYSTEM_DECLARE

/* NULL for STORM_CORE. */
const storm_system* storm_system_of(uint8_t number);
bool storm_system_is_on(uint8_t number);

/* Turns on those of a list with commas. NULL, or where the list names one that there is not. */
const char* storm_choose_systems(const char* names);

/* ---- marks: records of STORM_CORE ---------------------------------------------------------------------- */

typedef enum storm_mark
{
    MARK_NONE = 0,
    MARK_LINK,      /* a = 1: a client's command link became ready; 0: it is not any more      */
    MARK_SHAKEN,    /* a client of a Cluster has been connected to a node                      */
    MARK_STALL,     /* a process stood still from a to the record's time                       */
    MARK_LOSS,      /* the store may have lost what was done since a                           */
    MARK_CLOCK,     /* the server's clock was moved to an offset of a (int64_t) microseconds   */
    MARK_KILLED,    /* of a player: object                                                     */
    MARK_CALM,      /* everything is healed                                                    */
    MARK_ASSERTION, /* an assertion hook was called                                            */
    MARK_BUILD,     /* of a player, when its life begins: a = its gh_version()                 */
    MARK_FAULT      /* from here on: the nemesis' faults, MARK_FAULT + kind, begin to end      */
} storm_mark;

const char* storm_mark_name(uint8_t what);

/* ---- the run ------------------------------------------------------------------------------------------- */

typedef enum storm_store
{
    STORM_ONE = 1,     /* a server with its data on disk */
    STORM_PAIR = 2,    /* a primary and its replica      */
    STORM_CLUSTER = 4, /* see fleet.h                    */
    STORM_SENTINEL = 8
} storm_store;

typedef struct storm_options
{
    uint64_t seed;
    unsigned seconds;
    unsigned players;
    bool small; /* clients have room for the largest message, and for little beside it */
    bool on[STORM_SYSTEMS_MAX];
    storm_store store;
    unsigned failovers;   /* so many, one after the other, and nothing else; 0: the weather */
    bool losses;          /* of this run: see storm.c */
    bool ancient;         /* bytes of dead links may come minutes later: of the simulator's virtual time alone */
    const char* faults;   /* NULL: all */
    unsigned pace;        /* ops are begun so many times more seldom; 0: as 1 */
    unsigned haste;       /* faults come so many times faster; 0: as 1 */
    uint64_t gap_us;      /* between two of them, on average; 0: as a storm has it */
    uint64_t store_start_us; /* the store's clock when the history's was 0, by no fault moved; 0: not known */
    const bool* left_out; /* the first, second, ... fault, of STORM_FAULTS_MAX; NULL: none is */
    const char* redis;    /* NULL: from the PATH */
    const char* history;  /* a file for all records; NULL: none */
    const char* other;    /* another build of this program, for a part of the players; NULL: none */
    bool verbose;
} storm_options;

extern storm_options storm;

/* Of all clients. Every fourth run with one server at a time has one: behind a FLUSHALL, too, nobody is told that a
   lock is his while another still is. */
static inline uint64_t storm_quarantine_us(void)
{
    bool one = storm.store == STORM_ONE || storm.store == STORM_PAIR;
    return one && storm.seed % 4 == 2 ? STORM_QUARANTINE_US : 0;
}

typedef enum storm_stage
{
    STAGE_RUN = 0,
    STAGE_CALM, /* begin nothing, let everything end */
    STAGE_STOP
} storm_stage;

storm_stage storm_stage_now(void);
void storm_set_stage(storm_stage stage);

/* For actors: true once in so many turns, and more seldom by storm.pace. */
static inline bool storm_is_time(random_stream* random, uint64_t odds)
{
    return storm.pace > 1 ? random_one_in(random, odds * storm.pace) : random_one_in(random, odds);
}

/* A stream for a label and three numbers, from the run's seed. */
random_stream storm_random(const char* label, uint64_t x, uint64_t y, uint64_t z);

/* The body of a player process. */
int player_run(void* context, int results);

/* What every outcome means for those ops that follow base.h. */
storm_outcome storm_outcome_of(gh_status status);

#endif
