/* guildhall/command.h -- any command, or a script of your own, as an op; with a fence when a lock guards the data.

       begin --> QUEUED --> SENT --> ended: GH_OK, GH_ERROR, ...
                   ^          |
                   '-- again -'   after LOADING, BUSY, ... always (the server did not do it);
                                  after a lost link only as config.repeat allows

   Use it for what Guildhall has no header for. The purchase of the market sample is made of such scripts: each moves an
   item or money in one step, and the one that sells is carried out under the fence of the item's lock.

   Time     config.timeout_us bounds the op: it ends in the tick behind that time, one way or another.
   Memory   the op, the arguments, the script and the reply memory are yours and stay in place until the op ends.
   Threads  as its client.
   Failure  TIMEOUT: not carried out. UNKNOWN: sent, no answer. Under GH_REPEAT_NEVER a link that breaks after the
            request was sent ends the op UNKNOWN at once; under GH_REPEAT_SAFE and GH_REPEAT_ONCE it is sent again
            until the deadline. A link breaks at the latest when the client's request_timeout_us (2 s) has passed
            without an answer.

   Once     GH_REPEAT_ONCE is for what must be done and must not be done twice: a purchase, INCR. However often it is
            sent, it is carried out once, and a repeat gets the answer that was lost:

                sent --> the store has no receipt: writes one, carries it out, keeps the answer with it --> GH_OK
                  ^      the store has one: gives the answer that is kept there --------------------------> GH_OK
                  '----- lost link

            The receipt is a key beside the first key of the script, or beside the word behind a command's name:
            KEYS.md says how it is called. It takes some 200 bytes, and those of the answer if it has up to 4 KiB, and
            goes by itself a minute after the op's time. The user needs the rights +get and +set, and its pattern.
            Nothing is carried out any more when request_timeout_us has passed behind the end of the op, so what
            UNKNOWN left open can be read in the store then. What a store forgets in a failover it forgets together:
            what was done, and the receipt; and a clock of the store's that goes ahead by more than that minute, and
            back, forgets receipts alone. SCRIPT KILL cannot end a script that runs so: it has written its receipt. A
            command goes through a script, once or under a fence, so that a number beyond 2^53 is told rounded. On a
            Cluster the key has a tag, or no braces at all.

   Atomic   the server carries out one script at a time, and nothing else meanwhile: what one script reads and writes
            needs no lock, and is one round trip. A lock is for what takes longer than that, or lies elsewhere.
   Nesting  an answer of more than seven arrays within one another cannot be read, and costs the link, also that of all
            other ops.

   Use
       gh_command_line pay = {0};
       int64_t gold;
       gh_command_format(&pay, client, NULL, "HINCRBY player:%b gold %d", name, 5);
       ... each frame: gh_tick(...); until gh_op_poll(&pay.op) is not GH_PENDING any more; then
       if (gh_reply_int(gh_command_reply(&pay.command), &gold)) show(gold); */

#ifndef GUILDHALL_COMMAND_H
#define GUILDHALL_COMMAND_H

#include "guildhall/client.h"
#include "guildhall/reply.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_COMMAND_ARGUMENTS_MAX 128 /* keys and arguments together; a command's name counts as one */
#define GH_COMMAND_KEYS_MAX 64
#define GH_COMMAND_REPLY_INSIDE 32 /* bytes of an answer that need no reply_memory */
#define GH_COMMAND_LINE_SIZE 256   /* bytes of a formatted command: those of its words, and two for each */

typedef enum gh_repeat
{
    GH_REPEAT_NEVER = 0, /* INCR, LPUSH: twice is not the same as once                                            */
    GH_REPEAT_SAFE = 1,  /* GET, SET, a script that recognises its own id: twice is the same as once              */
    GH_REPEAT_ONCE = 2   /* anything that has a key: sent again as SAFE is, and done once, as "Once" above says   */
} gh_repeat;

/* A lock's grant, as a condition: the request is carried out only while this very grant is the current one by the
   store's clock. gh_lock_fence makes it. The lock and the keys must be on one server; on Cluster, in one slot: begin
   the keys with the text that gh_lock_tag gives. */
typedef struct gh_fence
{
    gh_str name;     /* of the lock; empty: no condition */
    uint64_t fence;
} gh_fence;

typedef struct gh_command_config
{
    size_t struct_size;  /* set by gh_command_config_default; leave it                                              */
    uint64_t timeout_us; /* 1 ms..1 h; default 5 s                                                                  */
    gh_repeat repeat;    /* default GH_REPEAT_NEVER                                                                 */
    gh_fence fence;      /* default none                                                                            */
    uint8_t wait_replicas; /* ends when so many replicas have what it did: replicas.h. 0..GH_REPLICAS_MAX; default
                              GH_REPLICAS_AS_CLIENT                                                                 */

    /* The reply is copied here: 48 bytes a value below the top, and the bytes of its strings, each rounded up to 8. Not
       needed for a reply that is an integer, nil, the line OK, or a string of up to GH_COMMAND_REPLY_INSIDE bytes: the
       op has room for that. NULL and 0 by default. Aligned to 8. */
    void* reply_memory;
    size_t reply_size;
} gh_command_config;

GH_API gh_command_config gh_command_config_default(void);

/* A script of yours, without a "#!" line. Zero it, set text, and zero it again before you set another text; keep it in
   place while an op uses it, and use it with one client. The text is sent once and its digest afterwards; NOSCRIPT is
   healed without a word. KEYS and ARGV are as in any Redis script, and have what its begin was given and no more. */
typedef struct gh_script
{
    gh_str text; /* yours: Lua source, at most config.out_bytes - 2 KiB; - 4 KiB with GH_REPEAT_ONCE */

    /* private */
    const struct gh_script_text* own;    /* a text of Guildhall's, in place of yours       */
    const struct gh_script_text* front;  /* what is sent in front of it: a fence's check   */
    const struct gh_script_text* behind; /* what is sent behind it, and runs it: once      */
    char digest[40];
    uint32_t loaded; /* the connection that has it, 0: none */
    bool known;      /* the digest is set */
    uint8_t number;  /* which one of the client's own it is, plus 1; 0: it is yours */
    bool used;       /* by an op, once; one of the client's own: it will be, by something that is held */
} gh_script;

typedef struct gh_command
{
    gh_op op;

    /* read-only */
    gh_reply reply;     /* after GH_OK, GH_UNREPLICATED or GH_ERROR                                              */
    size_t reply_needed; /* after GH_TOO_SMALL: the reply_size that would have done                               */

    /* private */
    const gh_str* arguments;
    const gh_str* keys;
    gh_script* script;
    gh_name fence_name;
    uint8_t replicas; /* that must have it; 0: none */
    uint64_t fence;
    uint64_t once_until_us; /* by the store's clock: later no copy is carried out; 0: none was made */
    void* reply_memory;
    uint32_t reply_size;
    uint16_t argument_count;
    uint16_t key_count;
    const char* line; /* the words of a gh_command_line, in place of arguments */
    uint64_t inside[GH_COMMAND_REPLY_INSIDE / 8];
} gh_command;

/* A command with room for its words. */
typedef struct gh_command_line
{
    union
    {
        gh_op op;
        gh_command command; /* for gh_command_reply */
    };

    /* private */
    char words[GH_COMMAND_LINE_SIZE];
} gh_command_line;

/* Queues a command: arguments[0] is its name. Refused (GH_INVALID_ARGUMENTS) are those that would block the shared
   connection, make it something else, or get no answer: SUBSCRIBE, MULTI, BLPOP, SELECT, ASKING, REPLCONF and their
   like; do not use XREAD with BLOCK or CLIENT REPLY either. With config->fence, or once, the arguments are carried out
   by a script, so the command must be one that scripts may call, and the server's ACL must allow it there. Once, it
   needs a word behind its name (GH_INVALID_ARGUMENTS), which is the key that the receipt lies beside; commands that
   have another word there, as BITOP and XGROUP, belong into a script on Cluster, and where the ACL names keys.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_TOO_LARGE (the request would not fit out_bytes); GH_CLOSED; GH_INVALID_OP,
   _CLIENT, _CONFIG, _ARGUMENTS, _TIMEOUT, _FENCE, _BUFFER, _REPEAT, _REPLICAS. config may be NULL for the defaults. */
GH_API gh_status gh_command_begin(gh_command* op, gh_client* client, const gh_str* arguments, size_t argument_count,
                                  const gh_command_config* config);

/* Queues a command that is written as one would type it: words with blanks between them, and values in them as
   gh_name_format has them. Only blanks of the format end a word: a value is never split, whatever is in it, and an
   empty one is an empty argument. There are no quotes: a blank that belongs into a word comes as a value. The bytes are
   copied into the op, so that values may go at once.
   As gh_command_begin; and GH_INVALID_ARGUMENTS (the format is NULL, or names no such value), GH_TOO_LARGE (over
   GH_COMMAND_LINE_SIZE: use gh_command_begin). */
GH_API gh_status gh_command_format(gh_command_line* op, gh_client* client, const gh_command_config* config,
                                   const char* format, ...);

/* Queues a run of your script. Everything as above, and GH_INVALID_SCRIPT, GH_INVALID_KEYS: once, it needs a key. A
   script that is used with a fence is used with one always (GH_INVALID_FENCE), and one that is used with
   GH_REPEAT_ONCE with that always (GH_INVALID_REPEAT). */
GH_API gh_status gh_script_begin(gh_command* op, gh_client* client, gh_script* script, const gh_str* keys,
                                 size_t key_count, const gh_str* arguments, size_t argument_count,
                                 const gh_command_config* config);

/* How it ends:
   GH_OK        carried out; gh_command_reply has the answer
   GH_UNREPLICATED as GH_OK, but in wait_us not so many replicas were known to have it as were asked for: a failover
                now may lose it
   GH_ERROR     the server or the script answered an error: gh_command_reply()->text. A command that errs has changed
                nothing; a script may have written before it erred. Once, that is an answer as any other: it is over,
                and a repeat gets the same error. An error that begins with a word of the servers', as "ASK the
                innkeeper", and is none of their phrases, is the script's own
   GH_TOO_SMALL carried out, but the answer needs reply_needed bytes; if that is 0, it was larger than the client's
                reply_bytes or reply_nodes, and cost the connection; or, once, it was lost with a link and too large
                for the receipt (4 KiB), or of more than six arrays within one another
   GH_FENCED    the fence was not the current one: nothing was written
   GH_TIMEOUT   not carried out in time: the link was down, or the server kept saying that it is busy
   GH_UNKNOWN   sent, no answer: look at the store before you do it again, or make it repeatable. Once, it was done
                once or not at all; also if the receipt says that it was begun and was stopped
   GH_REFUSED   the server's ACL or version says no; once, what it says of a single command is a GH_ERROR
   GH_CORRUPT   with a fence: the lock's key is not of Guildhall's making; once: the receipt is not
   GH_CANCELLED cancelled before it was sent */

/* The answer after GH_OK, GH_UNREPLICATED or GH_ERROR, else NULL. Lives in op and reply_memory until the next begin. */
GH_API const gh_reply* gh_command_reply(const gh_command* op);

#ifdef __cplusplus
}
#endif

#endif
