/* drill.h -- every op of every system on an object in an ordinary state, written once, for tests that do something
   terrible to the object in between.

       prepare (once a state) -> [ restore -> arm -> (the harm) -> run -> what must hold ]*

   All objects have the name DRILL_NAME. A state is prepared with clients of its own, which are gone when it is kept;
   then it is restored as often as one likes, in one step of the server. Nothing in here asserts once the harm is done:
   whoever does the harm judges. */

#ifndef GUILDHALL_TESTS_DRILL_H
#define GUILDHALL_TESTS_DRILL_H

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#define DRILL_NAME   "thing"
#define DRILL_PLAYER "mia"
#define DRILL_DAY    "2011-10-10"
#define DRILL_SET    "thing.2011-10-10"
#define DRILL_HOUR   (3600 * SECOND_US)

struct drill_system;
struct drill_case;
typedef struct drill_case drill_case;

typedef struct drill
{
    const struct drill_system* system;
    redis_server* server;
    const char* seeds;      /* of the Cluster that the server is a node of, and its games follow; NULL: they do not */
    const char* user;       /* of the game, with the password of KEYS.md; NULL: the default one */
    game* game;             /* whose ops are run; without the wake link   */
    uint64_t end_us;        /* then an op that is not over is given up    */
    void* bag;              /* for arm and run to share; zero before arm  */
    char* memory;           /* of DRILL_NEW, zeroed before arm            */
    size_t used;
    uint64_t within_us;     /* how long an op may take                    */
    uint64_t progress_us;   /* of those that end if they get no further   */
    const drill_case* current;
    bool has_clock;
    void (*between)(struct drill* self); /* NULL, or called between two ticks of a run */
    void* context;                       /* of whoever set it */
    bool repeated;          /* heal: the request of the case has been carried out once as a whole */
    bool later;             /* heal: all leases are over                  */
    const void* states[16]; /* by database: the prepare that made it      */
} drill;

/* One op. `run` ends it, and whatever else was begun, or says GH_PENDING: it would not end. */
struct drill_case
{
    const char* name;
    void (*prepare)(game* one, game* two);
    void (*arm)(drill* self); /* NULL: nothing. What has to be begun before the harm; must succeed */
    gh_status (*run)(drill* self);
    gh_status healthy; /* how it ends where nobody did any harm  */
    bool times_out;    /* TIMEOUT is a true answer: it waits     */
    uint32_t requests; /* that it may send; 0: a common number   */
};

typedef struct drill_system
{
    const char* name;
    const char* kinds; /* of its keys: "chat chats" of "gh:{chat:<name>}:s" and "gh:{chats:<player>}:l" */
    const drill_case* cases;
    size_t count;

    /* Uses the object as anybody would, and audits what is in the store then. False: something is wrong, and `why`
       says what. */
    bool (*heal)(drill* self, char why[256]);
    bool leases; /* something in it is had for a time */
} drill_system;

extern const drill_system drill_lock, drill_semaphore, drill_mailbox, drill_chat, drill_contacts, drill_guild,
    drill_tasks, drill_rows, drill_counters, drill_files, drill_aggregate;

#define DRILL_SYSTEMS(X)                                                                                             \
    X(lock) X(semaphore) X(mailbox) X(chat) X(contacts) X(guild) X(tasks) X(rows) X(counters) X(files) X(aggregate)

/* A server of its own, and a game. With a clock, drill_let_leases_end works. */
drill* drill_start(const drill_system* system);
drill* drill_start_with_clock(const drill_system* system);

/* On that server, where only drill_prepare works: it empties it, prepares the case's state anew, and arms. */
drill* drill_start_on(const drill_system* system, redis_server* server);
/* The same on a node of a Cluster, whose games follow that. */
drill* drill_start_in_cluster(const drill_system* system, redis_server* server, const char* seeds);
/* Its game from now on; states are prepared by the default user all the same. */
void drill_set_user(drill* self, const char* user);
void drill_prepare(drill* self, const drill_case* of);

/* The store as the case's prepare left it, and an empty bag; then arm. */
void drill_restore(drill* self, const drill_case* of);

/* Runs it; at most within_us. */
gh_status drill_run(drill* self, const drill_case* of);

/* As often as one likes after a run. */
bool drill_heal(drill* self, char why[256]);

/* An hour and more goes by, for the store as for the game. All states are prepared anew then. */
void drill_let_leases_end(drill* self);

/* After an op that would not end: another server process, another game; all states are prepared anew. */
void drill_recover(drill* self);

/* Another game, because something in the old one would not end. */
void drill_new_game(drill* self);

/* Zeroed memory that is good until the next drill_restore. */
#define DRILL_NEW(self, type) ((type*)drill_new((self), sizeof(type)))
#define DRILL_NEW_ARRAY(self, type, count) ((type*)drill_new((self), sizeof(type) * (count)))
void* drill_new(drill* self, size_t size);

/* Ticks the game until it is so, or the time is over. */
#define DRILL_UNTIL(self, condition)                                                                                 \
    do                                                                                                               \
    {                                                                                                                \
        while (!(condition) && drill_goes_on(self)) continue;                                                        \
    } while (0)
bool drill_goes_on(drill* self);

/* Until all that this game has begun is asked, and answered. */
void drill_await_answers(const game* asker);

/* Puts the game's clock forward, at a moment when no request is on the wire that would be given up for it. */
void drill_jump(drill* self, uint64_t us);

/* Ticks for that long. */
void drill_tick_for(drill* self, uint64_t us);

/* The literal key of a row of KEYS.md's table, valid until the next call. */
const char* drill_key(const char* row);

/* True if the row's key is of one of the system's kinds. */
bool drill_has_row(const drill_system* system, const char* row);

#endif
