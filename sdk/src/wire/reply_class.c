/* reply_class.c -- the servers' error phrases, and what each of them calls for. */

#include "wire/reply_class.h"

typedef struct class_row
{
    const char* begins; /* the error's text begins so */
    gh_reply_class reply_class;
} class_row;

/* Seen on Redis 7.0 and 8, Valkey 8 unless noted. The first row that fits counts, so the longer text stands before the
   shorter. Whole phrases, because a caller's script may answer errors of its own that begin with the same word. */
static const class_row class_rows[] = {
    {"NOSCRIPT No matching script", GH_CLASS_NOSCRIPT},
    {"BUSY Redis is busy", GH_CLASS_RETRY}, /* another script runs for longer than busy-reply-threshold */
    {"BUSY Valkey is busy", GH_CLASS_RETRY},
    {"LOADING Redis is loading", GH_CLASS_RETRY}, /* reads its data set */
    {"LOADING Valkey is loading", GH_CLASS_RETRY},
    {"TRYAGAIN Multiple keys request", GH_CLASS_RETRY},
    {"CLUSTERDOWN The cluster is down", GH_CLASS_RETRY},
    {"CLUSTERDOWN Hash slot not served", GH_CLASS_RETRY},
    {"ERR max number of clients", GH_CLASS_RETRY},
    {"ERR Error running script (call to", GH_CLASS_OTHER}, /* 6.2: the cause stands inside, see below */
    {"OOM ", GH_CLASS_HEALTH},
    {"MISCONF ", GH_CLASS_HEALTH}, /* cannot save, and was told to stop writes then */
    {"NOREPLICAS ", GH_CLASS_HEALTH},
    {"READONLY You can't write", GH_CLASS_RECONNECT},  /* became a replica */
    {"MASTERDOWN Link with MASTER", GH_CLASS_RECONNECT}, /* a replica without its master */
    {"NOAUTH Authentication required", GH_CLASS_LOGIN},
    {"NOPERM ", GH_CLASS_REFUSED},
    {"WRONGPASS ", GH_CLASS_REFUSED},
    {"ERR invalid password", GH_CLASS_REFUSED}, /* before 6.0 */
    {"ERR The user executing the script", GH_CLASS_STOPPED}, /* the ACL, from inside a script: 7.0 */
    {"ERR ACL failure in script", GH_CLASS_STOPPED},         /* and since 7.2 */
    {"ERR unknown command", GH_CLASS_REFUSED},
    {"ERR Unknown Redis command called from", GH_CLASS_STOPPED},
    {"ERR Script attempted to access a non local key", GH_CLASS_HALF},
    {"ERR Unable to execute command", GH_CLASS_HALF}, /* the same, Valkey 8.1 and later */
    {"CROSSSLOT ", GH_CLASS_REFUSED},
    {"MOVED ", GH_CLASS_REFUSED}, /* a Cluster node, and the key lives on another one */
    {"ASK ", GH_CLASS_RETRY}, /* its slot is moving, and not yet there */
    {"EXECABORT ", GH_CLASS_REFUSED},
    {"WRONGTYPE ", GH_CLASS_WRONGTYPE},
    {"FENCED the lock is not held with this fence", GH_CLASS_FENCED},
    {"LAYOUT ", GH_CLASS_REFUSED},  /* epoch.lua                                            */
    {"STALE ", GH_CLASS_STALE},     /* scripts of ours: see op.h, gh_client_generation     */
    {"CORRUPT the lock is not of the form", GH_CLASS_LOCK_CORRUPT},
    {"CORRUPT ", GH_CLASS_CORRUPT}, /* scripts of ours, before they have written anything  */
};

static bool begins_with(gh_str text, const char* begin)
{
    size_t size = strlen(begin);
    return text.size >= size && memcmp(text.bytes, begin, size) == 0;
}

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
    size_t i;
    for (i = 0; i < sizeof class_rows / sizeof class_rows[0]; i++)
        if (begins_with(error, class_rows[i].begins)) return class_rows[i].reply_class;
    return GH_CLASS_OTHER;
}

/* What is refused from inside a script, is refused after what the script did before. */
gh_reply_class gh_reply_classify(gh_str error)
{
    gh_reply_class inside;
    if (!begins_with(error, "ERR Error running script (call to")) return class_of(error);
    inside = class_of(unwrap(error));
    return inside == GH_CLASS_REFUSED ? GH_CLASS_STOPPED : inside;
}
