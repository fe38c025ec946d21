/* guildhall/base.h -- the words that every other header uses: outcomes, byte strings, hooks, version.

   Stand-alone: needs nothing of Guildhall, nothing of the operating system, and compiles as C11 and as C++. */

#ifndef GUILDHALL_BASE_H
#define GUILDHALL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GH_VERSION_MAJOR 0
#define GH_VERSION_MINOR 1
#define GH_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was linked, as major * 10000 + minor * 100 + patch. */
uint32_t gh_version(void);

/* ---------------------------------------------------------------------------------------------------------------
   Outcomes. One enum serves every system.

       0         done, or yours
       positive  not an error: still going, nothing there, somebody else has it
       negative  ended without success; the text names the knob to turn or the thing to look at

   Of an op, PENDING says that it goes on, and OK of a lock or a permit that it is held; everything else is its end,
   also a positive one, and poll says it again until the next begin.

   Three kinds of failure must be told apart, because they call for different actions:
       not done      TIMEOUT, BUSY, FULL, REFUSED, CANCELLED, INVALID_*: nothing happened, begin again when you like;
                     unless its header says otherwise, as of ops that take several steps or carry several things
       done in part  CORRUPT: a key in the store is not of Guildhall's making; look at it with redis-cli
       not known     UNKNOWN: the request was sent, the link died and the deadline passed before an answer could be
                     had. Guildhall has asked again with the same id as long as it was allowed to, so nothing was
                     done twice; but whether it was done once, only a look at the store can tell. */
#define GH_STATUS_LIST(X)                                                                                            \
    X(OK, 0, "done")                                                                                                 \
    X(PENDING, 1, "in progress: keep calling gh_tick")                                                               \
    X(IDLE, 2, "not begun, or given back")                                                                           \
    X(BUSY, 3, "somebody else holds it, and the config said not to wait")                                            \
    X(EMPTY, 4, "nothing there")                                                                                     \
    X(FULL, -1, "a capacity is used up: the function's comment says which, and what to do")                          \
    X(TIMEOUT, -2, "the time that was given ran out, and nothing was done")                                          \
    X(LOST, -3, "a lease ran out, or the store lost it: it is not yours any more")                                   \
    X(REFUSED, -4, "the server said no for good: look at its ACL, at the password and at its version")               \
    X(CORRUPT, -5, "a key does not have the shape of KEYS.md: something else wrote it")                              \
    X(CANCELLED, -6, "cancelled as asked")                                                                           \
    X(UNKNOWN, -7, "sent, but no answer before the deadline: it may or may not have happened")                       \
    X(FENCED, -8, "the lock's fence is no longer current: nothing was written")                                      \
    X(ERROR, -9, "the server answered with an error; the reply has its text")                                        \
    X(TOO_SMALL, -10, "done, but the answer did not fit the memory that was given for it")                           \
    X(CLOSED, -11, "the client is draining or shut down: it takes no new work")                                      \
    X(REENTRANT, -12, "gh_tick was called while it was already running on this client")                              \
    X(NO_ENTROPY, -13, "the platform gave no random bytes")                                                          \
    X(FULL_IPV4, -20, "the table has no room for another IPv4 range: raise ipv4_capacity")                           \
    X(FULL_IPV6, -21, "the table has no room for another IPv6 range: raise ipv6_capacity")                           \
    X(FULL_NODES, -22, "the table has no room for another country, region or city: raise nodes_capacity")            \
    X(FULL_TEXT, -23, "the table has no room for the name of another place: raise text_bytes")                       \
    X(INVALID_CLIENT, -100, "the client is NULL or was not initialised")                                             \
    X(INVALID_OP, -101, "the op is NULL, or is still busy: poll it to its end first")                                \
    X(INVALID_CONFIG, -102, "the config is NULL or was not made by its default function")                            \
    X(INVALID_MEMORY, -103,                                                                                          \
      "the memory is NULL, not aligned or too small: see its _memory function; or a wrong table")                    \
    X(INVALID_PLATFORM, -104, "the platform is NULL or lacks a function")                                            \
    X(INVALID_OUT, -105, "the pointer for the result is NULL")                                                       \
    X(INVALID_ADDRESS, -106, "the address is not unix:PATH, A.B.C.D:PORT or [IPV6]:PORT, and there is no resolver")  \
    X(INVALID_USER, -107, "the user name is too long, or stands without a password")                                 \
    X(INVALID_PASSWORD, -108, "the password is longer than 512 bytes")                                               \
    X(INVALID_DATABASE, -109, "the database number is not within 0..1023")                                           \
    X(INVALID_CLIENT_NAME, -110, "the client name has spaces or control bytes, or is longer than 64")                \
    X(INVALID_PREFIX, -111, "the key prefix is empty, longer than 32, or not made of letters, digits, _ . and -")    \
    X(INVALID_CAPACITY, -112, "a capacity in the config is outside its range")                                       \
    X(INVALID_TIMEOUT, -113, "a time-out or back-off is outside its range")                                          \
    X(INVALID_NAME, -114, "the name is empty, or longer than GH_NAME_SIZE_MAX")                                      \
    X(INVALID_NAMES, -115, "the list of names is NULL, empty, too long, or names something twice")                   \
    X(INVALID_LEASE, -116, "the lease is outside its range")                                                         \
    X(INVALID_WAIT, -117, "the wait is longer than its range")                                                       \
    X(INVALID_HOLD, -118, "the hold is longer than its range")                                                       \
    X(INVALID_ARGUMENTS, -119, "the arguments are NULL, none, or too many")                                          \
    X(INVALID_KEYS, -120, "the keys are NULL with a count, or too many")                                             \
    X(INVALID_SCRIPT, -121, "the script is NULL, empty, or too large for out_bytes")                                 \
    X(INVALID_FENCE, -122, "the fence is 0, or its lock's name is not valid")                                        \
    X(INVALID_BUFFER, -123, "a buffer is NULL although its size is not 0")                                           \
    X(INVALID_REPEAT, -124, "the repeat field is not one of its enum's values")                                      \
    X(ROW_OLD, 21, "there, but older than its max_age_us: the refreshers are late, or none is running")              \
    X(ROW_MISSING, 22, "not there: the row is not scheduled, or was not loaded yet")                                 \
    X(ROW_SAME, 23, "as you have it already: the version is still the one that you gave")                            \
    X(INVALID_ROW_PERIOD, -171, "the period is not within GH_ROWS_PERIOD_MIN_US.._MAX_US")                           \
    X(INVALID_ROW_AGE, -172, "max_age_us is shorter than the period, or longer than GH_ROWS_AGE_MAX_US")             \
    X(INVALID_ROW_LOADER, -173, "the loader's function is NULL")                                                     \
    X(INVALID_ROW_SLOTS, -174, "the refresher's slots are NULL, none or too many, or their memory is too small")     \
    X(INVALID_ROW_BACKOFF, -175, "the back-off of a row is outside its range, or its minimum above its maximum")     \
    X(INVALID_ROW_VALUE, -176, "the value is larger than GH_ROW_SIZE_MAX, or NULL with a size")                      \
    X(INVALID_ROW_LOAD, -177, "no load of this refresher, or completed already")                                     \
    X(OVER_LIMIT, 20, "more permits at once than the semaphore's limit: ask for fewer, or raise the limit")          \
    X(INVALID_PERMITS, -170, "the number of permits is 0, or more than the limit in the config")                     \
    X(EXISTS, 15, "there is one of that name already: join it, or choose another name")                              \
    X(NOT_MEMBER, 16, "the player is not a member")                                                                  \
    X(GONE, 17, "there is no such chat: it was never created, or its last member has left")                          \
    X(RESTARTED, 18, "the ids began anew since that fetch: fetch again")                                             \
    X(INVALID_MESSAGES, -150, "the messages are NULL, none, too many, or too long, one or all together")             \
    X(INVALID_MEMBERS, -151, "the members are NULL, none, too many, or one is not a valid name")                     \
    X(INVALID_EPOCH, -152, "the epoch is 0: take it from a fetch")                                                   \
    X(INVALID_ID, -153, "the id of the message is 0, or 2^53 or more")                                               \
    X(INVALID_LIMIT, -154, "a limit in the config is outside its range")                                             \
    X(TASK_EXISTS, 10, "a task of that id is there, or was within keep_us: nothing was done")                        \
    X(TASK_DIFFERS, 11, "a task of that id is there with another handler, payload, class or group: nothing done")    \
    X(TASK_PAUSED, 12, "the queue is paused: gh_tasks_control_begin lets it go on")                                  \
    X(TASK_DEAD, 13, "the task lies among the dead letters: gh_tasks_requeue_begin gets it out")                     \
    X(TASK_RUNNING, 14, "the task runs: its worker was told to stop")                                                \
    X(TASK_LIMITED, 19, "the queue's rate or running_max allows no more for now: next_us says when to ask again")    \
    X(INVALID_TASKS, -130, "the tasks are NULL, none, more than GH_TASKS_BATCH_MAX, or none of them has an action")  \
    X(INVALID_TASK_ID, -131, "an id is missing, longer than GH_TASK_ID_SIZE_MAX, or has a NUL in it")                \
    X(INVALID_TASK_HANDLER, -132, "a handler's name is longer than GH_NAME_SIZE_MAX, or NULL with a size")           \
    X(INVALID_TASK_PAYLOAD, -133, "a payload is larger than GH_TASK_PAYLOAD_SIZE_MAX, or NULL with a size")          \
    X(INVALID_TASK_DELAY, -134, "a delay is longer than GH_TASKS_DELAY_MAX_US")                                      \
    X(INVALID_TASK_CLASS, -135, "a class is not within 0..GH_TASKS_CLASSES - 1")                                     \
    X(INVALID_TASK_ATTEMPTS, -136, "the attempts are not within 1..GH_TASKS_ATTEMPTS_MAX")                           \
    X(INVALID_TASK_RESULT, -137, "a result is larger than GH_TASK_RESULT_SIZE_MAX, or NULL with a size")             \
    X(INVALID_TASK_ACTION, -138, "an action is not one of its enum's values")                                        \
    X(INVALID_TASK_CAPACITY, -139, "a capacity or a limit of the queue is outside its range")                        \
    X(INVALID_TASK_WEIGHTS, -140, "the weights are neither all 0 nor all within 1..GH_TASKS_WEIGHT_MAX")             \
    X(INVALID_TASK_KEEP, -141, "keep_us is outside its range")                                                       \
    X(INVALID_TASK_BACKOFF, -142, "the back-off is outside its range, or its minimum above its maximum")             \
    X(INVALID_TASK_QUEUES, -143, "the worker's queues are none, too many, not valid names, or one is there twice")   \
    X(INVALID_TASK_HANDLERS, -144, "the handlers are none, too many, without a function, or one is there twice")     \
    X(INVALID_TASK_SLOTS, -145, "the worker's slots are NULL, none or too many, or their memory is too small")       \
    X(INVALID_TASK_GROUP, -146, "a group is longer than GH_TASK_GROUP_SIZE_MAX, NULL with a size, or has a NUL")     \
    X(INVALID_TASK_RATE, -147, "the queue's rate is outside its range: see gh_tasks_rules")                          \
    X(INVALID_CONTACTS, -190, "the contacts are NULL, none, more than one call takes, or one is not a valid name")   \
    X(INVALID_CONTACTS_CAPACITY, -191, "the capacity is not within 1..GH_CONTACTS_CAPACITY_MAX")                     \
    X(INVALID_CONTACTS_IDLE, -192, "idle_us is longer than GH_CONTACTS_IDLE_MAX_US")                                 \
    X(INVALID_CONTACTS_MIRROR, -193, "the mirror is NULL or was not made by gh_contacts_init")                       \
    X(INVALID_CONTACTS_MEMORY, -194, "the memory is NULL, not aligned to 8, or smaller than gh_contacts_memory says")\
    X(INVALID_GUILD_CAPACITY, -195, "the capacity of the guild is not within 1..GH_GUILD_CAPACITY_MAX")              \
    X(INVALID_GUILD_PREFIX, -196, "the beginning to complete is longer than GH_NAME_SIZE_MAX, or NULL with a size")  \
    X(INVALID_GUILD_CURSOR, -197, "the cursor is not one that a page of this guild ended with")                      \
    X(SATURATED, 30, "a sum stands at its limit, 2^53 - 1 or minus that, and counts no further")                     \
    X(INVALID_COUNTERS, -210, "the counters are NULL, were not initialised, or have ended")                          \
    X(INVALID_COUNTER, -211, "the counter was closed, or is none of these: take it from gh_counters_open")           \
    X(INVALID_PRECISION, -212, "the precisions are none, too many, not rising, or one is outside its range")         \
    X(INVALID_SAMPLES, -213, "the samples are NULL, none, or more than GH_COUNTERS_SAMPLES_MAX")                     \
    X(INVALID_COUNTERS_MAX, -214, "counters_max or fleet_max is outside its range")                                  \
    X(INVALID_FLUSH, -215, "flush_us is outside its range")                                                          \
    X(INVALID_CLEAN, -216, "clean_us is neither 0 nor within its range")                                             \
    X(FILE_DONE, 33, "this reader was done with the file before: nothing to do")                                     \
    X(FILE_DIFFERS, 34, "something of that name is there with other content: use another name")                      \
    X(FILE_GONE, 35, "there is no such file: all have read it, it was abandoned, or it was removed")                 \
    X(FILE_NOT_READER, 36, "the sender did not name this reader")                                                    \
    X(DUPLICATE, 37, "the file was counted before: nothing was added")                                               \
    X(INVALID_CHANNEL, -220, "the channel is longer than GH_NAME_SIZE_MAX, NULL with a size, or needed and empty")   \
    X(INVALID_READERS, -221, "the readers are NULL, none, too many, one is there twice, or one is not a valid name") \
    X(INVALID_CAP, -222, "cap_bytes or channel_bytes is outside its range")                                          \
    X(INVALID_CHUNK, -223, "chunk_bytes or lanes is outside its range")                                              \
    X(INVALID_TICK_BYTES, -224, "tick_bytes is outside its range")                                                   \
    X(INVALID_ABANDONED, -225, "abandoned_us or keep_us is outside its range")                                       \
    X(INVALID_FORMAT, -226, "the format is none of its enum's values, or gzip in a library without zlib")            \
    X(INVALID_LINE, -227, "line_bytes is outside its range")                                                         \
    X(INVALID_AGGREGATE, -230, "the aggregate is NULL or was not initialised, or a file of it is being flushed")     \
    X(INVALID_TABLE, -231, "the table of places is NULL or not sealed")                                              \
    X(INVALID_DAY, -232, "the day is not a date from 2000-01-01 to 2099-12-31")                                      \
    X(INVALID_LEVEL, -233, "the level is none of its enum's values")                                                 \
    X(INVALID_TOTALS, -234, "the totals are NULL, none, or too many, or their names have too little room")

typedef enum gh_status
{
#define GH_STATUS_ENUM(name, value, text) GH_##name = value,
    GH_STATUS_LIST(GH_STATUS_ENUM)
#undef GH_STATUS_ENUM
} gh_status;

/* The sentence for a status; for a number that is none, a sentence that says so. Never NULL; static. */
const char* gh_status_text(gh_status status);

/* The name of a status without its prefix, such as "TIMEOUT". Never NULL; static. */
const char* gh_status_name(gh_status status);

/* True for every outcome that an op can end with: it does not go on any more. False for PENDING alone. Mind that OK of
   a lock or a permit says that it is held: it goes on, too, until poll says something else. */
static inline bool gh_status_is_over(gh_status status)
{
    return status != GH_PENDING;
}

/* True for the INVALID_ family: the call was refused, named its field and changed nothing. */
static inline bool gh_status_is_invalid(gh_status status)
{
    return (int)status <= -100;
}

/* ---------------------------------------------------------------------------------------------------------------
   Byte strings. Any byte is allowed, NUL too; the length travels with the pointer. A gh_str never owns its bytes. */
typedef struct gh_str
{
    const char* bytes;
    size_t size; /* in bytes */
} gh_str;

static inline gh_str gh_str_make(const char* bytes, size_t size)
{
    gh_str str;
    str.bytes = bytes;
    str.size = size;
    return str;
}

/* A view of a NUL-terminated string; NULL gives the empty one. */
static inline gh_str gh_str_of(const char* text)
{
    return gh_str_make(text, text == NULL ? 0 : strlen(text));
}

/* A view of a string literal, its length known to the compiler. */
#define gh_str_literal(literal) gh_str_make("" literal, sizeof(literal) - 1)

/* The same for tables of constants: static const gh_str zones[] = {GH_STR_INIT("castle"), GH_STR_INIT("moor")}; */
#define GH_STR_INIT(literal) {"" literal, sizeof(literal) - 1}

#define GH_FOREVER UINT64_MAX /* "no time is set", where a comment allows it */

#define GH_NAME_SIZE_MAX 64 /* bytes in the name of a lock, a queue, a chat, a player, ...; any byte may be in it */

static inline bool gh_str_equal(gh_str a, gh_str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* ---------------------------------------------------------------------------------------------------------------
   Hooks. Each client has its own; every one may be NULL. They run on the thread that called Guildhall, inside that
   call, and must not call back into the same client. */
typedef enum gh_log_level
{
    GH_LOG_ERROR = 1, /* something must be mended by a person: wrong password, wrong type in a key       */
    GH_LOG_WARNING,   /* works, but not as well or as safely as it should: eviction policy, lost link    */
    GH_LOG_INFO,      /* link states, sanity check, store reset: a few lines per connection              */
    GH_LOG_DEBUG      /* each retry                                                                      */
} gh_log_level;

/* What the trace hook is told. One event per op begun, request sent, reply taken, op ended. */
typedef enum gh_trace_kind
{
    GH_TRACE_BEGIN = 1, /* an op was accepted                                                            */
    GH_TRACE_SENT,      /* one request of it was put into the out buffer                                 */
    GH_TRACE_REPLY,     /* the answer arrived; elapsed_us counts from the send                           */
    GH_TRACE_END        /* the op ended with status                                                      */
} gh_trace_kind;

typedef struct gh_trace_event
{
    gh_trace_kind kind;
    const char* system;  /* "lock", "command", ...; static                                               */
    const void* op;      /* which op; an address to compare, not to follow                               */
    uint64_t now_us;     /* the tick's time, on your clock; 0 before the first tick                      */
    uint64_t elapsed_us; /* GH_TRACE_REPLY only, else 0                                                  */
    gh_status status;    /* GH_TRACE_END only, else GH_PENDING                                           */
} gh_trace_event;

typedef struct gh_hooks
{
    void* context; /* handed to each of them */

    /* text is not NUL-terminated; it lives until the hook returns. It is printable ASCII; any other byte stands there
       as \xNN, so that nobody forges a line. Never holds a password or a payload: of what a server says only the
       beginning is shown, up to what it may have from a request (in quotes but for a command's name, escaped, "with
       args", any four bytes of the password or the user), with [...] for the rest. What can come in floods (lost
       links, refused requests) comes at most a few times a second, with the count of what was left out. */
    void (*log)(void* context, gh_log_level level, gh_str text);

    /* An invariant of Guildhall or of its use is broken. Return true to break here (a trap instruction), false to
       go on: every place that asserts has a checked path behind it. Without a hook nothing stops. */
    bool (*assertion)(void* context, const char* file, int line, const char* expression);

    void (*trace)(void* context, const gh_trace_event* event);
} gh_hooks;

#ifdef __cplusplus
}
#endif

#endif
