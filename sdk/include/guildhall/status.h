/* guildhall/status.h -- outcomes: a word that says what to do, and for a refused argument which one it was.

   What begins and polls answer is a gh_status. Its sign:

       0         GH_OK: done
       positive  not an error: still going, yours, nothing there, nothing to do
       negative  ended without success, always; the text names the knob to turn or the thing to look at

   Three kinds of failure must be told apart, because they call for different actions:
       not done      TIMEOUT, BUSY, NO_ROOM, TOO_LARGE, FULL, LIMITED, REFUSED, CANCELLED, INVALID: nothing happened,
                     begin again when you like; unless its header says otherwise, as of ops that take several steps or
                     carry several things
       done in part  CORRUPT: a key in the store is not of Guildhall's making; look at it with redis-cli
       not known     UNKNOWN: the request was sent, the link died and the deadline passed before an answer could be
                     had. Guildhall has asked again with the same id as long as it was allowed to, so nothing was
                     done twice; but whether it was done once, only a look at the store can tell.

   And four that sound alike:
       NO_ROOM    the client's ops_capacity is used up: try again in the next frame
       TOO_LARGE  it can never fit: not into out_bytes, not under the limit of a semaphore, not into its reader's buffer
       FULL       the thing itself has no place: a mailbox of unread messages, a chat of members
       LIMITED    a rate or a bound: the queue allows no more for now

   Only INVALID, and FULL of a table of places, have details: numbers of their own, such as GH_INVALID_LEASE, that name
   the field; gh_client_last_invalid says what stood in it. A switch over words says
   switch (gh_status_word(status)). */

#ifndef GUILDHALL_STATUS_H
#define GUILDHALL_STATUS_H

#include <stdbool.h>

/* X(name, number, text): the words. */
#define GH_STATUS_LIST(X)                                                                                             \
    X(OK, 0, "done")                                                                                                  \
    X(PENDING, 1, "in progress: keep calling gh_tick")                                                                \
    X(IDLE, 2, "not begun")                                                                                           \
    X(HELD, 3, "it is yours, and is kept: a lock, a permit")                                                          \
    X(EMPTY, 4, "nothing there")                                                                                      \
    X(EXISTS, 5, "it is there, or was dealt with, before: nothing was done")                                          \
    X(OLD, 6, "there, but older than was asked for: who keeps it fresh is late, or does not run")                     \
    X(SAME, 7, "as you have it already: the version is still the one that you gave")                                  \
    X(RUNNING, 8, "it runs: who has it was told to stop")                                                             \
    X(BUSY, -1, "somebody else holds it, and the config said not to wait")                                            \
    X(TIMEOUT, -2, "the time that was given ran out, and nothing was done")                                           \
    X(LOST, -3, "a lease ran out, or the store lost it: it is not yours any more")                                    \
    X(CANCELLED, -4, "cancelled as asked")                                                                            \
    X(UNKNOWN, -5, "sent, but no answer before the deadline: it may or may not have happened")                        \
    X(REFUSED, -6, "the server said no for good: look at its ACL, at the password and at its version")                \
    X(CORRUPT, -7, "a key does not have the shape of KEYS.md: something else wrote it")                               \
    X(FENCED, -8, "the lock's fence is no longer current: nothing was written")                                       \
    X(ERROR, -9, "the server answered with an error; the reply has its text")                                         \
    X(CLOSED, -10, "the client is draining or shut down: it takes no new work")                                       \
    X(NO_ROOM, -11, "the client has no room for another op now: end some, or raise ops_capacity")                     \
    X(TOO_LARGE, -12, "it can never fit: give less, or raise the bound that the comment of the function names")       \
    X(FULL, -13, "a capacity of the thing itself is used up: the function's comment says which")                      \
    X(LIMITED, -14,                                                                                                   \
       "a rate or a bound allows no more for now: the comment of the function says when to ask again")                \
    X(TOO_SMALL, -15, "done, but the answer did not fit the memory that was given for it")                            \
    X(GONE, -16, "there is no such thing: it was never made, or is over")                                             \
    X(DIFFERS, -17, "something of that name is there, and is another: nothing was done")                              \
    X(NOT_MEMBER, -18, "not a member, or not one of its readers")                                                     \
    X(RESTARTED, -19, "the ids began anew since that fetch: fetch again")                                             \
    X(DEAD, -20, "it lies among the dead letters: gh_tasks_requeue_begin gets it out")                                \
    X(SATURATED, -21, "a sum stands at its limit, 2^53 - 1 or minus that, and counts no further")                     \
    X(PAUSED, -22, "the queue is paused: gh_tasks_control_begin lets it go on")                                       \
    X(INVALID, -23, "an argument is not valid, and nothing was done")

/* X(name, its word, number, text): the details, a block of 32 for each system. */
#define GH_DETAIL_LIST(X)                                                                                             \
    X(INVALID_CLIENT, INVALID, 1, "the client is NULL or was not initialised")                                        \
    X(INVALID_OP, INVALID, 2, "the op is NULL, or is still busy: poll it to its end first")                           \
    X(INVALID_CONFIG, INVALID, 3, "the config is NULL or was not made by its default function")                       \
    X(INVALID_MEMORY, INVALID, 4,                                                                                     \
       "the memory is NULL, not aligned or too small: see its _memory function; or a wrong table")                    \
    X(INVALID_PLATFORM, INVALID, 5, "the platform is NULL, lacks a function, or gave no random bytes")                \
    X(INVALID_OUT, INVALID, 6, "the pointer for the result is NULL")                                                  \
    X(INVALID_ADDRESS, INVALID, 7,                                                                                    \
       "the address is not unix:PATH, A.B.C.D:PORT or [IPV6]:PORT, and there is no resolver")                         \
    X(INVALID_USER, INVALID, 8, "the user name is too long, or stands without a password")                            \
    X(INVALID_PASSWORD, INVALID, 9, "the password is longer than 512 bytes")                                          \
    X(INVALID_DATABASE, INVALID, 10, "the database number is not within 0..1023")                                     \
    X(INVALID_CLIENT_NAME, INVALID, 11, "the client name has spaces or control bytes, or is longer than 64")          \
    X(INVALID_PREFIX, INVALID, 12,                                                                                    \
       "the key prefix is empty, longer than 32, or not made of letters, digits, _ . and -")                          \
    X(INVALID_CAPACITY, INVALID, 13, "a capacity in the config is outside its range")                                 \
    X(INVALID_TIMEOUT, INVALID, 14, "a time-out or back-off is outside its range")                                    \
    X(INVALID_NAME, INVALID, 15, "the name is empty, or longer than GH_NAME_SIZE_MAX")                                \
    X(INVALID_NAMES, INVALID, 16, "the list of names is NULL, empty, too long, or names something twice")             \
    X(INVALID_LEASE, INVALID, 17, "the lease is outside its range")                                                   \
    X(INVALID_WAIT, INVALID, 18, "the wait is longer than its range")                                                 \
    X(INVALID_HOLD, INVALID, 19, "the hold is longer than its range")                                                 \
    X(INVALID_ARGUMENTS, INVALID, 20, "the arguments are NULL, none, too many, or not as their format says")           \
    X(INVALID_KEYS, INVALID, 21, "the keys are NULL with a count, or too many")                                       \
    X(INVALID_SCRIPT, INVALID, 22, "the script is NULL, empty, or too large for out_bytes")                           \
    X(INVALID_FENCE, INVALID, 23, "the fence is 0, or its lock's name is not valid")                                  \
    X(INVALID_BUFFER, INVALID, 24, "a buffer is NULL although its size is not 0")                                     \
    X(INVALID_REPEAT, INVALID, 25, "the repeat field is not one of its enum's values")                                \
    X(INVALID_REENTRY, INVALID, 26, "gh_tick was called while it was already running on this client")                 \
    X(INVALID_OBJECT, INVALID, 27, "what the op is to be begun on is NULL or was not made by its init")               \
    X(INVALID_PERMITS, INVALID, 33, "the number of permits is 0, or more than the limit in the config")               \
    X(INVALID_TASKS, INVALID, 65,                                                                                     \
       "the tasks are NULL, none, more than GH_TASKS_BATCH_MAX, or none of them has an action")                       \
    X(INVALID_TASK_ID, INVALID, 66, "an id is missing, longer than GH_TASK_ID_SIZE_MAX, or has a NUL in it")          \
    X(INVALID_TASK_HANDLER, INVALID, 67, "a handler's name is longer than GH_NAME_SIZE_MAX, or NULL with a size")     \
    X(INVALID_TASK_PAYLOAD, INVALID, 68, "a payload is larger than GH_TASK_PAYLOAD_SIZE_MAX, or NULL with a size")    \
    X(INVALID_TASK_DELAY, INVALID, 69, "a delay is longer than GH_TASKS_DELAY_MAX_US")                                \
    X(INVALID_TASK_CLASS, INVALID, 70, "a class is not within 0..GH_TASKS_CLASSES - 1")                               \
    X(INVALID_TASK_ATTEMPTS, INVALID, 71, "the attempts are not within 1..GH_TASKS_ATTEMPTS_MAX")                     \
    X(INVALID_TASK_RESULT, INVALID, 72, "a result is larger than GH_TASK_RESULT_SIZE_MAX, or NULL with a size")       \
    X(INVALID_TASK_ACTION, INVALID, 73, "an action is not one of its enum's values")                                  \
    X(INVALID_TASK_CAPACITY, INVALID, 74, "a capacity or a limit of the queue is outside its range")                  \
    X(INVALID_TASK_WEIGHTS, INVALID, 75, "the weights are neither all 0 nor all within 1..GH_TASKS_WEIGHT_MAX")       \
    X(INVALID_TASK_KEEP, INVALID, 76, "keep_us is outside its range")                                                 \
    X(INVALID_TASK_BACKOFF, INVALID, 77, "the back-off is outside its range, or its minimum above its maximum")       \
    X(INVALID_TASK_QUEUES, INVALID, 78,                                                                               \
       "the worker's queues are none, too many, not valid names, or one is there twice")                              \
    X(INVALID_TASK_HANDLERS, INVALID, 79,                                                                             \
       "the handlers are none, too many, without a function, or one is there twice")                                  \
    X(INVALID_TASK_SLOTS, INVALID, 80, "the worker's slots are NULL, none or too many, or their memory is too small") \
    X(INVALID_TASK_GROUP, INVALID, 81,                                                                                \
       "a group is longer than GH_TASK_GROUP_SIZE_MAX, NULL with a size, or has a NUL")                               \
    X(INVALID_TASK_RATE, INVALID, 82, "the queue's rate is outside its range: see gh_tasks_rules")                    \
    X(INVALID_TASK_UNIQUE, INVALID, 83, "unique is none of its enum's values")                                        \
    X(INVALID_MESSAGES, INVALID, 97, "the messages are NULL, none, too many, or too long, one or all together")       \
    X(INVALID_MEMBERS, INVALID, 98, "the members are NULL, none, too many, or one is not a valid name")               \
    X(INVALID_EPOCH, INVALID, 99, "the epoch is 0: take it from a fetch")                                             \
    X(INVALID_ID, INVALID, 100, "the id of the message is 0, or 2^53 or more")                                        \
    X(INVALID_LIMIT, INVALID, 101, "a limit in the config is outside its range")                                      \
    X(INVALID_FROM, INVALID, 102, "where a joiner begins is none of gh_chat_from's values")                           \
    X(INVALID_ROW_PERIOD, INVALID, 129, "the period is not within GH_ROWS_PERIOD_MIN_US.._MAX_US")                    \
    X(INVALID_ROW_AGE, INVALID, 130, "max_age_us is shorter than the period, or longer than GH_ROWS_AGE_MAX_US")      \
    X(INVALID_ROW_LOADER, INVALID, 131, "the loader's function is NULL")                                              \
    X(INVALID_ROW_SLOTS, INVALID, 132,                                                                                \
       "the refresher's slots are NULL, none or too many, or their memory is too small")                              \
    X(INVALID_ROW_BACKOFF, INVALID, 133,                                                                              \
       "the back-off of a row is outside its range, or its minimum above its maximum")                                \
    X(INVALID_ROW_VALUE, INVALID, 134, "the value is larger than GH_ROW_SIZE_MAX, or NULL with a size")               \
    X(INVALID_ROW_LOAD, INVALID, 135, "no load of this refresher, or completed already")                              \
    X(INVALID_CONTACTS, INVALID, 161,                                                                                 \
       "the contacts are NULL, none, more than one call takes, or one is not a valid name")                           \
    X(INVALID_CONTACTS_CAPACITY, INVALID, 162, "the capacity is not within 1..GH_CONTACTS_CAPACITY_MAX")              \
    X(INVALID_CONTACTS_IDLE, INVALID, 163, "idle_us is longer than GH_CONTACTS_IDLE_MAX_US")                          \
    X(INVALID_CONTACTS_MIRROR, INVALID, 164, "there is no mirror: gh_contacts_init was given no memory")              \
    X(INVALID_GUILD_CAPACITY, INVALID, 193, "the capacity of the guild is not within 1..GH_GUILD_CAPACITY_MAX")       \
    X(INVALID_GUILD_PREFIX, INVALID, 194,                                                                             \
       "the beginning to complete is longer than GH_NAME_SIZE_MAX, or NULL with a size")                              \
    X(INVALID_GUILD_CURSOR, INVALID, 195, "the cursor is not one that a page of this guild ended with")               \
    X(INVALID_COUNTERS, INVALID, 225, "the counters are NULL, were not initialised, or have ended")                   \
    X(INVALID_COUNTER, INVALID, 226, "the counter was closed, or is none of these: take it from gh_counters_open")    \
    X(INVALID_PRECISION, INVALID, 227, "the precisions are none, too many, not rising, or one is outside its range")  \
    X(INVALID_SAMPLES, INVALID, 228, "the samples are NULL, none, or more than GH_COUNTERS_SAMPLES_MAX")              \
    X(INVALID_COUNTERS_MAX, INVALID, 229, "counters_max or fleet_max is outside its range")                           \
    X(INVALID_FLUSH, INVALID, 230, "flush_us is outside its range")                                                   \
    X(INVALID_CLEAN, INVALID, 231, "clean_us is neither 0 nor within its range")                                      \
    X(INVALID_CHANNEL, INVALID, 257,                                                                                  \
       "the channel is longer than GH_NAME_SIZE_MAX, NULL with a size, or needed and empty")                          \
    X(INVALID_READERS, INVALID, 258,                                                                                  \
       "the readers are NULL, none, too many, one is there twice, or one is not a valid name")                        \
    X(INVALID_CAP, INVALID, 259, "cap_bytes or channel_bytes is outside its range")                                   \
    X(INVALID_CHUNK, INVALID, 260, "chunk_bytes or lanes is outside its range")                                       \
    X(INVALID_TICK_BYTES, INVALID, 261, "tick_bytes is outside its range")                                            \
    X(INVALID_ABANDONED, INVALID, 262, "abandoned_us or keep_us is outside its range")                                \
    X(INVALID_FORMAT, INVALID, 263, "the format is none of its enum's values, or gzip in a library without zlib")     \
    X(INVALID_LINE, INVALID, 264, "line_bytes is outside its range")                                                  \
    X(INVALID_AGGREGATE, INVALID, 289,                                                                                \
       "the aggregate is NULL or was not initialised, or a file of it is being flushed")                              \
    X(INVALID_TABLE, INVALID, 290, "the table of places is NULL or not sealed")                                       \
    X(INVALID_DAY, INVALID, 291, "the day is not a date from 2000-01-01 to 2099-12-31")                               \
    X(INVALID_LEVEL, INVALID, 292, "the level is none of its enum's values")                                          \
    X(INVALID_TOTALS, INVALID, 293, "the totals are NULL, none, or too many, or their names have too little room")    \
    X(FULL_IPV4, FULL, 321, "the table has no room for another IPv4 range: raise ipv4_capacity")                      \
    X(FULL_IPV6, FULL, 322, "the table has no room for another IPv6 range: raise ipv6_capacity")                      \
    X(FULL_NODES, FULL, 323, "the table has no room for another country, region or city: raise nodes_capacity")       \
    X(FULL_TEXT, FULL, 324, "the table has no room for the name of another place: raise text_bytes")

typedef enum gh_status
{
#define GH_STATUS_ENUM(name, value, text) GH_##name = value,
    GH_STATUS_LIST(GH_STATUS_ENUM)
#undef GH_STATUS_ENUM
#define GH_DETAIL_ENUM(name, word, value, text) GH_##name = GH_##word - 256 * value,
    GH_DETAIL_LIST(GH_DETAIL_ENUM)
#undef GH_DETAIL_ENUM
} gh_status;

/* The word of a status: of a detail the one that it belongs to, GH_INVALID or GH_FULL; else itself. */
static inline gh_status gh_status_word(gh_status status)
{
    if (status > -256) return status;
    return status % 256 == GH_INVALID ? GH_INVALID : GH_FULL;
}

/* True for every outcome that an op can end with, false for GH_PENDING and GH_HELD: those go on. */
static inline bool gh_status_is_over(gh_status status)
{
    return status != GH_PENDING && status != GH_HELD;
}

/* True for GH_INVALID and its details: the call was refused, named its field and changed nothing. */
static inline bool gh_status_is_invalid(gh_status status)
{
    return gh_status_word(status) == GH_INVALID;
}

#endif
