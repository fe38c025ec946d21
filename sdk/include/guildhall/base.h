/* guildhall/base.h -- the words that every other header uses: outcomes, byte strings, hooks, version.

   Stand-alone: needs nothing of Guildhall but status.h, nothing of the operating system, and compiles as C11 and as
   C++. */

#ifndef GUILDHALL_BASE_H
#define GUILDHALL_BASE_H

#include "guildhall/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GH_VERSION_MAJOR 0
#define GH_VERSION_MINOR 2
#define GH_VERSION_PATCH 0

#define GH_VERSION (GH_VERSION_MAJOR * 10000u + GH_VERSION_MINOR * 100u + GH_VERSION_PATCH)

/* An op or a config of zeros, without a warning in C or C++: gh_lock lock = GH_ZERO; */
#ifdef __cplusplus
#define GH_ZERO {}
#else
#define GH_ZERO {0}
#endif

/* Stands before every function that a program may call. Guildhall as a DLL: define GH_DLL_EXPORTS where it is compiled,
   GH_DLL where it is used. Elsewhere the name stays visible when the rest is compiled with -fvisibility=hidden. */
#if defined(GH_DLL_EXPORTS)
#define GH_API __declspec(dllexport)
#elif defined(GH_DLL)
#define GH_API __declspec(dllimport)
#elif defined(__GNUC__)
#define GH_API __attribute__((visibility("default")))
#else
#define GH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was linked, as major * 10000 + minor * 100 + patch. */
GH_API uint32_t gh_version(void);

/* For bindings: the bytes of a struct of these headers, such as "gh_lock", as the library has it; 0: there is none of
   that name. What is in them stands in api.json, which is generated beside the scripts. */
GH_API size_t gh_sizeof(const char* name);

/* The sentence for a status; for a number that is none, a sentence that says so. Never NULL; static. In a library that
   was compiled with GH_NO_STATUS_TEXT it is the name. */
GH_API const char* gh_status_text(gh_status status);

/* The name of a status without its prefix, such as "TIMEOUT". Never NULL; static. */
GH_API const char* gh_status_name(gh_status status);

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

/* For printf and its like: printf("%.*s\n", GH_STR_ARG(name)); the argument is evaluated more than once. */
#define GH_STR_ARG(str) (int)(str).size, (str).size == 0 ? "" : (str).bytes

#define GH_FOREVER UINT64_MAX /* "no time is set", where a comment allows it */

#define GH_NAME_SIZE_MAX 64 /* bytes in the name of a lock, a queue, a chat, a player, ...; any byte may be in it */

/* A name that is kept with what it names. */
typedef struct gh_name
{
    uint8_t size;
    char bytes[GH_NAME_SIZE_MAX];
} gh_name;

static inline gh_str gh_name_str(const gh_name* name)
{
    return gh_str_make(name->bytes, name->size);
}

/* Makes a name of parts: gh_name_format(&name, "item:%u", id). Returns it as gh_name_str does. What is longer than
   GH_NAME_SIZE_MAX, or is not as below, leaves an empty name, which a begin refuses (GH_INVALID_NAME).

   A format knows these and no others: no widths, no flags.
       %s    a NUL-terminated const char*, not NULL       %b    a gh_str, by value: any bytes
       %d    int                    %u    unsigned        %%    a %
       %lld  long long              %llu  unsigned long long: cast a uint64_t, which may be another type
   No compiler holds the values against the format, as gcc's attribute does not know %b: a value of another type than
   its letters say is as wrong as it is with printf. Letters that are not in this list, and a string that is NULL, are
   found; the values behind them are not read. */
GH_API gh_str gh_name_format(gh_name* name, const char* format, ...);

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

/* What the trace hook is told. One event per op begun, request sent, reply taken, op ended, and one per attempt of a
   task, as soon as the store has taken how it ended. */
typedef enum gh_trace_kind
{
    GH_TRACE_BEGIN = 1, /* an op was accepted                                                            */
    GH_TRACE_SENT,      /* one request of it was put into the out buffer                                 */
    GH_TRACE_REPLY,     /* the answer arrived; elapsed_us counts from the send                           */
    GH_TRACE_END,       /* the op ended with status                                                      */
    GH_TRACE_TASK       /* a task is done, failed or died: see below, and tasks.h                        */
} gh_trace_kind;

typedef struct gh_trace_event
{
    gh_trace_kind kind;
    const char* system;  /* "lock", "command", ...; static                                               */
    const void* op;      /* which op; an address to compare, not to follow                               */
    uint64_t now_us;     /* the tick's time, on your clock; 0 before the first tick                      */
    uint64_t elapsed_us; /* GH_TRACE_REPLY only, else 0                                                  */
    gh_status status;    /* GH_TRACE_END, GH_TRACE_TASK, else GH_PENDING                                 */

    /* GH_TRACE_TASK only, else empty. What they show lives until the hook returns, and may be any bytes. */
    gh_str queue;
    gh_str handler;
    gh_str id;
    gh_str result;       /* of a task that is done; of others, why they failed                           */
    uint32_t attempt;    /* 1, 2, 3, ...                                                                 */
} gh_trace_event;

typedef struct gh_hooks
{
    void* context; /* handed to each of them */

    /* text is not NUL-terminated; it lives until the hook returns. It is printable ASCII; any other byte stands there
       as \xNN, so that nobody forges a line. Never holds a password or a payload: of what a server says only the
       beginning is shown, up to what it may have from a request (in quotes but for a command's name, escaped, "with
       args", any four bytes of the password or the user; in a hand-shake with a credentials hook, all but the word
       that an error begins with), with [...] for the rest. What can come in floods (lost links, refused requests)
       comes at most a few times a second, with the count of what was left out. */
    void (*log)(void* context, gh_log_level level, gh_str text);

    /* It was used as it must not be; or an invariant of its own is broken, which it looks at where NDEBUG is not
       defined. expression says what does not hold, and lives until the hook returns. With a hook, and only then, what
       busy ops have borrowed is looked at (op.h), by a second reading for each request: of bytes that were changed,
       expression is a sentence, "mailbox: what ...". Return true to break here (a trap instruction), false to go on:
       behind a wrong use there is a checked path, behind a broken invariant there may be none. Without a hook nothing
       stops. */
    bool (*assertion)(void* context, const char* file, int line, const char* expression);

    void (*trace)(void* context, const gh_trace_event* event);
} gh_hooks;

#ifdef __cplusplus
}
#endif

#endif
