/* reply_class.c -- the servers' error phrases, and what each of them calls for. */

#include "wire/reply_class.h"

#include "base/texts.h"

/* X(how the text of an error begins, its class). Seen on Redis 7.0 and 8, Valkey 8 unless noted. The first row that
   fits counts, so the longer text stands before the shorter. Whole phrases, because a caller's script may answer errors
   of its own that begin with the same word. */
#define CLASS_ROWS(X)                                                                                                  \
    X("NOSCRIPT No matching script", GH_CLASS_NOSCRIPT)                                                                \
    X("BUSY Redis is busy", GH_CLASS_RETRY) /* another script runs for longer than busy-reply-threshold */             \
    X("BUSY Valkey is busy", GH_CLASS_RETRY)                                                                           \
    X("LOADING Redis is loading", GH_CLASS_RETRY) /* reads its data set */                                             \
    X("LOADING Valkey is loading", GH_CLASS_RETRY)                                                                     \
    X("TRYAGAIN Multiple keys request", GH_CLASS_SLOT)                                                                 \
    X("CLUSTERDOWN The cluster is down", GH_CLASS_SLOT)                                                                \
    X("CLUSTERDOWN Hash slot not served", GH_CLASS_SLOT)                                                               \
    X("ERR max number of clients", GH_CLASS_RETRY)                                                                     \
    X("ERR Error running script (call to", GH_CLASS_OTHER) /* 6.2: the cause stands inside, see below */               \
    X("OOM ", GH_CLASS_HEALTH)                                                                                         \
    X("MISCONF ", GH_CLASS_HEALTH) /* cannot save, and was told to stop writes then */                                 \
    X("NOREPLICAS ", GH_CLASS_HEALTH)                                                                                  \
    X("READONLY You can't write", GH_CLASS_RECONNECT)    /* became a replica */                                        \
    X("MASTERDOWN Link with MASTER", GH_CLASS_RECONNECT) /* a replica without its master */                            \
    X("NOAUTH Authentication required", GH_CLASS_LOGIN)                                                                \
    X("NOPERM ", GH_CLASS_REFUSED)                                                                                     \
    X("WRONGPASS ", GH_CLASS_REFUSED)                                                                                  \
    X("ERR invalid password", GH_CLASS_REFUSED)              /* before 6.0 */                                          \
    X("ERR The user executing the script", GH_CLASS_STOPPED) /* the ACL, from inside a script: 7.0 */                  \
    X("ERR ACL failure in script", GH_CLASS_STOPPED)         /* and since 7.2 */                                       \
    X("ERR unknown command", GH_CLASS_REFUSED)                                                                         \
    X("ERR Unknown Redis command called from", GH_CLASS_STOPPED)                                                       \
    X("ERR Script attempted to access a non local key", GH_CLASS_HALF)                                                 \
    X("ERR Unable to execute command", GH_CLASS_HALF) /* the same, Valkey 8.1 and later */                             \
    X("CROSSSLOT ", GH_CLASS_REFUSED)                                                                                  \
    X("MOVED ", GH_CLASS_MOVED) /* a Cluster node, and the key lives on another one */                                 \
    X("ASK ", GH_CLASS_SLOT)    /* its slot is moving, and not yet there */                                            \
    X("EXECABORT ", GH_CLASS_REFUSED)                                                                                  \
    X("WRONGTYPE ", GH_CLASS_WRONGTYPE)                                                                                \
    X("FENCED the lock is not held with this fence", GH_CLASS_FENCED)                                                  \
    X("LAYOUT ", GH_CLASS_REFUSED) /* epoch.lua */                                                                     \
    X("STALE ", GH_CLASS_STALE)    /* scripts of ours: see op.h, gh_op_generation */                                   \
    X("LATE ", GH_CLASS_LATE)      /* the same: see mark.lua */                                                        \
    X("CORRUPT the lock is not of the form", GH_CLASS_LOCK_CORRUPT)                                                    \
    X("CORRUPT the receipt is not of the form", GH_CLASS_LOCK_CORRUPT)                                                 \
    X("CORRUPT ", GH_CLASS_CORRUPT) /* scripts of ours, before they have written anything */

static const char class_begins[] =
#define CLASS_BEGIN(begin, reply_class) begin "\0"
    CLASS_ROWS(CLASS_BEGIN)
#undef CLASS_BEGIN
    ;

static const uint8_t class_values[] = {
#define CLASS_VALUE(begin, reply_class) reply_class,
    CLASS_ROWS(CLASS_VALUE)
#undef CLASS_VALUE
};

/* Redis 6.2 wraps an error from inside a script: "ERR Error running script (call to f_...): @user_script:3:
   @user_script: 3: -OOM command not allowed". The cause stands behind the last ": -". */
static gh_str unwrap(gh_str error)
{
    size_t i;
    for (i = error.size; i >= 3; i--)
        if (memcmp(error.bytes + i - 3, ": -", 3) == 0) return gh_str_make(error.bytes + i, error.size - i);
    return error;
}

static gh_reply_class class_of(gh_str error)
{
    const char* begin = class_begins;
    size_t i;
    for (i = 0; i < sizeof class_values / sizeof class_values[0]; i++, begin = gh_texts_next(begin))
        if (gh_text_begins(error, begin)) return (gh_reply_class)class_values[i];
    return GH_CLASS_OTHER;
}

/* What is refused from inside a script, is refused after what the script did before. */
gh_reply_class gh_reply_classify(gh_str error)
{
    gh_reply_class inside;
    if (!gh_text_begins(error, "ERR Error running script (call to")) return class_of(error);
    inside = class_of(unwrap(error));
    return inside == GH_CLASS_REFUSED ? GH_CLASS_STOPPED : inside;
}
