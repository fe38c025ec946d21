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

   UNREPLICATED is none of them: it was done, and a failover now may lose it.

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
    X(HELD, 3, "it is yours, and is kept")                                                                            \
    X(EMPTY, 4, "nothing there")                                                                                      \
    X(EXISTS, 5, "it is there already: nothing was done")                                                             \
    X(OLD, 6, "there, but older than was asked for")                                                                  \
    X(SAME, 7, "the version is still the one that you gave")                                                          \
    X(RUNNING, 8, "it runs: who has it was told to stop")                                                             \
    X(BUSY, -1, "somebody else holds it, and there was no wait")                                                      \
    X(TIMEOUT, -2, "the time ran out, and nothing was done")                                                          \
    X(LOST, -3, "a lease ran out: it is not yours any more")                                                          \
    X(CANCELLED, -4, "cancelled as asked")                                                                            \
    X(UNKNOWN, -5, "sent, but not answered in time: it may have happened")                                            \
    X(REFUSED, -6, "the server said no: see its ACL, password, version")                                              \
    X(CORRUPT, -7, "a key is not as KEYS.md says: something else wrote it")                                           \
    X(FENCED, -8, "the lock's fence is not current: nothing was written")                                             \
    X(ERROR, -9, "the server answered with an error: see the reply")                                                  \
    X(CLOSED, -10, "the client is draining or shut down")                                                             \
    X(NO_ROOM, -11, "no room for another op now: see ops_capacity")                                                   \
    X(TOO_LARGE, -12, "it can never fit: give less, or raise the bound")                                              \
    X(FULL, -13, "a capacity of the thing itself is used up")                                                         \
    X(LIMITED, -14, "a rate or a bound allows no more for now")                                                       \
    X(TOO_SMALL, -15, "done, but the memory for the answer was too small")                                            \
    X(GONE, -16, "there is no such thing, or not any more")                                                           \
    X(DIFFERS, -17, "that name is taken by another: nothing was done")                                                \
    X(NOT_MEMBER, -18, "not a member, or not a reader")                                                               \
    X(RESTARTED, -19, "the ids began anew: fetch again")                                                              \
    X(DEAD, -20, "a dead letter: see gh_tasks_requeue_begin")                                                         \
    X(SATURATED, -21, "a sum is at its limit of 2^53 - 1")                                                            \
    X(PAUSED, -22, "the queue is paused: see gh_tasks_control_begin")                                                 \
    X(INVALID, -23, "an argument is not valid: nothing was done")                                                     \
    X(UNREPLICATED, -24, "done, but not known to be on so many replicas in time")

/* X(name, its word, number, text): the details, a block of 32 for each system. */
#define GH_DETAIL_LIST(X)                                                                                             \
    X(INVALID_CLIENT, INVALID, 1, "the client is NULL or was not initialised")                                        \
    X(INVALID_OP, INVALID, 2, "the op is NULL, or still busy")                                                        \
    X(INVALID_CONFIG, INVALID, 3, "the config was not made by its default function")                                  \
    X(INVALID_MEMORY, INVALID, 4, "the memory is NULL, not aligned or too small")                                     \
    X(INVALID_PLATFORM, INVALID, 5, "the platform is NULL, lacks a function or random bytes")                         \
    X(INVALID_OUT, INVALID, 6, "the pointer for the result is NULL")                                                  \
    X(INVALID_ADDRESS, INVALID, 7, "an address is not unix:PATH, A.B.C.D:PORT or [IPV6]:PORT, or there are too many") \
    X(INVALID_USER, INVALID, 8, "the user name is too long, or has no password")                                      \
    X(INVALID_PASSWORD, INVALID, 9, "the password is too long")                                                       \
    X(INVALID_DATABASE, INVALID, 10, "the database is not within 0..1023")                                            \
    X(INVALID_CLIENT_NAME, INVALID, 11, "the client name has spaces, or is too long")                                 \
    X(INVALID_PREFIX, INVALID, 12, "the prefix is empty, too long, or has odd letters")                               \
    X(INVALID_CAPACITY, INVALID, 13, "a capacity is out of range")                                                    \
    X(INVALID_TIMEOUT, INVALID, 14, "a time-out or back-off is out of range")                                         \
    X(INVALID_NAME, INVALID, 15, "the name is empty or too long")                                                     \
    X(INVALID_NAMES, INVALID, 16, "the names are NULL, none, too many, or one is twice there")                        \
    X(INVALID_LEASE, INVALID, 17, "the lease is out of range")                                                        \
    X(INVALID_WAIT, INVALID, 18, "the wait is too long")                                                              \
    X(INVALID_HOLD, INVALID, 19, "the hold is too long")                                                              \
    X(INVALID_ARGUMENTS, INVALID, 20, "the arguments are NULL, none, too many, or do not fit")                        \
    X(INVALID_KEYS, INVALID, 21, "the keys are NULL or too many")                                                     \
    X(INVALID_SCRIPT, INVALID, 22, "the script is NULL, empty, or too large")                                         \
    X(INVALID_FENCE, INVALID, 23, "the fence is 0, or its lock's name not valid")                                     \
    X(INVALID_BUFFER, INVALID, 24, "a buffer is NULL and its size is not 0")                                          \
    X(INVALID_REPEAT, INVALID, 25, "repeat is none of its values")                                                    \
    X(INVALID_REENTRY, INVALID, 26, "gh_tick was called inside itself, a drain or a shutdown")                        \
    X(INVALID_OBJECT, INVALID, 27, "what it is begun on was not made by its init")                                    \
    X(INVALID_SENTINEL, INVALID, 28, "the sentinels' master has no name, or that, user or password is too long")      \
    X(INVALID_REPLICAS, INVALID, 29, "wait_replicas is out of range, or config.replicas is NULL")                     \
    X(INVALID_PERMITS, INVALID, 33, "the permits are 0, or more than the limit")                                      \
    X(INVALID_TASKS, INVALID, 65, "the tasks are NULL, none, too many, or without action")                            \
    X(INVALID_TASK_ID, INVALID, 66, "an id is missing, too long, or has a NUL")                                       \
    X(INVALID_TASK_HANDLER, INVALID, 67, "a handler's name is NULL or too long")                                      \
    X(INVALID_TASK_PAYLOAD, INVALID, 68, "a payload is NULL or too large")                                            \
    X(INVALID_TASK_DELAY, INVALID, 69, "a delay is too long")                                                         \
    X(INVALID_TASK_CLASS, INVALID, 70, "a class is out of range")                                                     \
    X(INVALID_TASK_ATTEMPTS, INVALID, 71, "the attempts are out of range")                                            \
    X(INVALID_TASK_RESULT, INVALID, 72, "a result is NULL or too large")                                              \
    X(INVALID_TASK_ACTION, INVALID, 73, "an action is none of its values")                                            \
    X(INVALID_TASK_CAPACITY, INVALID, 74, "a capacity or limit of the queue is out of range")                         \
    X(INVALID_TASK_WEIGHTS, INVALID, 75, "the weights are out of range, or some are 0")                               \
    X(INVALID_TASK_KEEP, INVALID, 76, "keep_us is out of range")                                                      \
    X(INVALID_TASK_BACKOFF, INVALID, 77, "the back-off is out of range")                                              \
    X(INVALID_TASK_QUEUES, INVALID, 78, "the queues are none, too many, or one is bad or twice there")                \
    X(INVALID_TASK_HANDLERS, INVALID, 79, "the handlers are none, too many, or one is bad or twice there")            \
    X(INVALID_TASK_SLOTS, INVALID, 80, "the worker's slots or their memory are NULL or too small")                    \
    X(INVALID_TASK_GROUP, INVALID, 81, "a group is NULL, too long, or has a NUL")                                     \
    X(INVALID_TASK_RATE, INVALID, 82, "the rate is out of range: see gh_tasks_rules")                                 \
    X(INVALID_TASK_UNIQUE, INVALID, 83, "unique is none of its values")                                               \
    X(INVALID_MESSAGES, INVALID, 97, "the messages are NULL, none, too many or too long")                             \
    X(INVALID_MEMBERS, INVALID, 98, "the members are NULL, none, too many, or one is bad")                            \
    X(INVALID_EPOCH, INVALID, 99, "the epoch is 0, or 2^53 or more: take it from a fetch")                            \
    X(INVALID_ID, INVALID, 100, "the message's id is 0, or 2^53 or more")                                             \
    X(INVALID_LIMIT, INVALID, 101, "a limit is out of range")                                                         \
    X(INVALID_FROM, INVALID, 102, "where a joiner begins is none of its values")                                      \
    X(INVALID_ROW_PERIOD, INVALID, 129, "the period is out of range")                                                 \
    X(INVALID_ROW_AGE, INVALID, 130, "max_age_us is shorter than the period, or too long")                            \
    X(INVALID_ROW_LOADER, INVALID, 131, "the loader's function is NULL")                                              \
    X(INVALID_ROW_SLOTS, INVALID, 132, "the refresher's slots or their memory are NULL or too small")                 \
    X(INVALID_ROW_BACKOFF, INVALID, 133, "the row's back-off is out of range")                                        \
    X(INVALID_ROW_VALUE, INVALID, 134, "the value is NULL or too large")                                              \
    X(INVALID_ROW_LOAD, INVALID, 135, "no load of this refresher, or over already")                                   \
    X(INVALID_CONTACTS, INVALID, 161, "the contacts are NULL, none, too many, or one is bad")                         \
    X(INVALID_CONTACTS_CAPACITY, INVALID, 162, "the mirror's capacity is out of range")                               \
    X(INVALID_CONTACTS_IDLE, INVALID, 163, "idle_us is too long")                                                     \
    X(INVALID_CONTACTS_MIRROR, INVALID, 164, "there is no mirror: init was given no memory")                          \
    X(INVALID_GUILD_CAPACITY, INVALID, 193, "the guild's capacity is out of range")                                   \
    X(INVALID_GUILD_PREFIX, INVALID, 194, "the beginning is NULL or too long")                                        \
    X(INVALID_GUILD_CURSOR, INVALID, 195, "the cursor is not from a page of this guild")                              \
    X(INVALID_COUNTERS, INVALID, 225, "the counters were not initialised, or have ended")                             \
    X(INVALID_COUNTER, INVALID, 226, "the counter was closed, or is none of these")                                   \
    X(INVALID_PRECISION, INVALID, 227, "the precisions are none, too many, not rising, or out of range")              \
    X(INVALID_SAMPLES, INVALID, 228, "the samples are NULL, none, or too many")                                       \
    X(INVALID_COUNTERS_MAX, INVALID, 229, "counters_max or fleet_max is out of range")                                \
    X(INVALID_FLUSH, INVALID, 230, "flush_us is out of range")                                                        \
    X(INVALID_CLEAN, INVALID, 231, "clean_us is out of range")                                                        \
    X(INVALID_CHANNEL, INVALID, 257, "the channel is NULL, empty or too long")                                        \
    X(INVALID_READERS, INVALID, 258, "the readers are NULL, none, too many, or one is bad or twice there")            \
    X(INVALID_CAP, INVALID, 259, "cap_bytes or channel_bytes is out of range")                                        \
    X(INVALID_CHUNK, INVALID, 260, "chunk_bytes or lanes is out of range")                                            \
    X(INVALID_TICK_BYTES, INVALID, 261, "tick_bytes is out of range")                                                 \
    X(INVALID_ABANDONED, INVALID, 262, "abandoned_us or keep_us is out of range")                                     \
    X(INVALID_FORMAT, INVALID, 263, "the format is unknown, or gzip without zlib")                                    \
    X(INVALID_LINE, INVALID, 264, "line_bytes is out of range")                                                       \
    X(INVALID_AGGREGATE, INVALID, 289, "the aggregate is NULL, not initialised, or being flushed")                    \
    X(INVALID_TABLE, INVALID, 290, "the table of places is NULL or not sealed")                                       \
    X(INVALID_DAY, INVALID, 291, "the day is not within 2000-01-01..2099-12-31")                                      \
    X(INVALID_LEVEL, INVALID, 292, "the level is none of its values")                                                 \
    X(INVALID_TOTALS, INVALID, 293, "the totals are NULL, none, too many, or lack room")                              \
    X(FULL_IPV4, FULL, 321, "no room for another IPv4 range: see ipv4_capacity")                                      \
    X(FULL_IPV6, FULL, 322, "no room for another IPv6 range: see ipv6_capacity")                                      \
    X(FULL_NODES, FULL, 323, "no room for another place: see nodes_capacity")                                         \
    X(FULL_TEXT, FULL, 324, "no room for the name of another place: see text_bytes")                                  \
    X(INVALID_CREDENTIALS, INVALID, 353, "bad certificate or key")

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
