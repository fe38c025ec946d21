/* reader.c -- replies, by hiredis' reader, in memory that was taken before; no other file sees hiredis. */

#include "wire/reader.h"

#include "base/wipe.h"
#include "wire/flat.h"

#include <hiredis/read.h>
#include <hiredis/sds.h>

#ifdef REDIS_REPLY_MAP /* since 1.0 */
#define GH_HIREDIS_1 1
#include <hiredis/alloc.h>
#if !defined(_MSC_VER)
#include <stdatomic.h>
#endif
typedef size_t gh_element_count;
#else
#define GH_HIREDIS_1 0
typedef int gh_element_count;
#endif

#define READER_KEPT_MAX 1024u   /* hiredis drops consumed bytes once they are this many          */
#define READER_HEADER_MAX 64u   /* "$<digits>\r\n" and the "\r\n" behind the string              */
#define READER_SKIP_MAX 1073741824u /* a longer string is not dropped: no server sends one              */
#define READER_OBJECTS_MAX 4096u /* hiredis 1.x: all of a reader but its buffer; 752 bytes up to 1.4 */
#define READER_BUFFER_MORE 35u   /* hiredis 1.x: its header, 17 at most; a NUL; 2 of doubling; 15 to align it */

struct gh_reader
{
    redisReader* hiredis;
    gh_values values;
    uint32_t reply_bytes_max;
    size_t fed_max; /* how far the buffer was ever used; strings of replies use no more of theirs */
    uint64_t skip; /* bytes still to come of a string that was dropped */
    bool skips;     /* strings that are too long are dropped, and given as empty ones */
    bool broken;
    bool too_large; /* broken, and this is why */
#if GH_HIREDIS_1
    gh_arena objects;
#endif
};

/* ---- where hiredis' memory comes from ---------------------------------------------------------------------------- */

#if GH_HIREDIS_1

#if defined(_MSC_VER)
#define GH_THREAD_LOCAL __declspec(thread)
#else
#define GH_THREAD_LOCAL _Thread_local
#endif

static GH_THREAD_LOCAL gh_arena* reader_arena; /* set while this thread is inside a reader of ours */
static hiredisAllocFuncs reader_previous;

static bool reader_owns(const void* pointer)
{
    const char* at = (const char*)pointer;
    return reader_arena != NULL && at >= reader_arena->base && at < reader_arena->base + reader_arena->size;
}

static void* reader_malloc(size_t size)
{
    return reader_arena == NULL ? reader_previous.mallocFn(size) : gh_arena_take(reader_arena, size);
}

static void* reader_calloc(size_t count, size_t size)
{
    if (reader_arena == NULL) return reader_previous.callocFn(count, size);
    if (size != 0 && count > SIZE_MAX / size) return NULL;
    return gh_arena_take(reader_arena, count * size); /* comes zeroed */
}

/* The buffer has its full size from the start, so inside our reader only something over a bound wants to grow. */
static void* reader_realloc(void* pointer, size_t size)
{
    return reader_arena == NULL ? reader_previous.reallocFn(pointer, size) : NULL;
}

static char* reader_strdup(const char* text)
{
    return reader_arena == NULL ? reader_previous.strdupFn(text) : NULL;
}

static void reader_free(void* pointer)
{
    if (!reader_owns(pointer)) reader_previous.freeFn(pointer);
}

static void reader_hook(void)
{
    hiredisAllocFuncs ours;
    reader_previous = hiredisAllocFns;
    ours.mallocFn = reader_malloc;
    ours.callocFn = reader_calloc;
    ours.reallocFn = reader_realloc;
    ours.strdupFn = reader_strdup;
    ours.freeFn = reader_free;
    hiredisSetAllocators(&ours);
}

/* Threads may begin their first clients at the same moment. One of them hooks, and the others wait until it has: if two
   did, ours would be the previous ones, and call themselves for ever. */
enum
{
    READER_HOOK_NONE,
    READER_HOOK_BEGUN,
    READER_HOOK_DONE
};

#if defined(_MSC_VER) /* whose C11 has no atomics without an option; these two the compiler knows by itself */
long _InterlockedCompareExchange(long volatile* target, long value, long expected);
long _InterlockedExchange(long volatile* target, long value);
static volatile long reader_hook_state;
#define READER_HOOK_CLAIM()                                                                                          \
    (_InterlockedCompareExchange(&reader_hook_state, READER_HOOK_BEGUN, READER_HOOK_NONE) == READER_HOOK_NONE)
#define READER_HOOK_SET() ((void)_InterlockedExchange(&reader_hook_state, READER_HOOK_DONE))
#define READER_HOOK_IS_SET() (_InterlockedCompareExchange(&reader_hook_state, 0, 0) == READER_HOOK_DONE)
#else
static atomic_int reader_hook_state;
static bool reader_hook_claim(void)
{
    int none = READER_HOOK_NONE;
    return atomic_compare_exchange_strong(&reader_hook_state, &none, READER_HOOK_BEGUN);
}
#define READER_HOOK_CLAIM() reader_hook_claim()
#define READER_HOOK_SET() atomic_store(&reader_hook_state, READER_HOOK_DONE)
#define READER_HOOK_IS_SET() (atomic_load(&reader_hook_state) == READER_HOOK_DONE)
#endif

static void reader_hook_once(void)
{
    if (READER_HOOK_CLAIM())
    {
        reader_hook();
        READER_HOOK_SET();
    }
    while (!READER_HOOK_IS_SET()) {} /* a few assignments of another thread */
}

#define READER_ENTER(reader) (reader_arena = &(reader)->objects)
#define READER_LEAVE() (reader_arena = NULL)
#else
#define READER_ENTER(reader) ((void)(reader))
#define READER_LEAVE() ((void)0)
#endif

#if GH_HIREDIS_1
/* What hiredis takes for a reader that has no buffer yet: that is of its version, so one is made to measure. Later only
   the buffer is added, and nothing grows. */
static size_t reader_objects_size(void)
{
    _Alignas(GH_ARENA_ALIGNMENT) char block[READER_OBJECTS_MAX];
    gh_arena arena = gh_arena_make(block, sizeof block);
    redisReader* hiredis;
    reader_arena = &arena;
    hiredis = redisReaderCreateWithFunctions(NULL);
    if (hiredis != NULL) redisReaderFree(hiredis);
    READER_LEAVE();
    return arena.used;
}
#endif

/* ---- our objects ------------------------------------------------------------------------------------------------- */

static void* reader_refuse(gh_reader* reader)
{
    reader->too_large = true;
    return NULL;
}

static gh_reply* reader_value(const redisReadTask* task, gh_reply_type type)
{
    gh_reader* reader = (gh_reader*)task->privdata;
    gh_values* values = &reader->values;
    gh_value* node;
    if (task->parent == NULL)
    {
        values->node_count = 0;
        values->text_used = 0;
    }
    if (values->node_count == values->node_capacity) return reader_refuse(reader);
    node = &values->nodes[values->node_count++];
    memset(node, 0, sizeof *node);
    node->reply.type = type;
    if (task->parent != NULL)
    {
        gh_value* parent = (gh_value*)task->parent->obj;
        if (parent->last == NULL)
            parent->reply.first = &node->reply;
        else
            parent->last->next = &node->reply;
        parent->last = &node->reply;
    }
    return &node->reply;
}

static void* reader_string(const redisReadTask* task, char* bytes, size_t size)
{
    gh_reader* reader = (gh_reader*)task->privdata;
    gh_reply_type type = task->type == REDIS_REPLY_STRING   ? GH_REPLY_STRING
                         : task->type == REDIS_REPLY_STATUS ? GH_REPLY_STATUS
                                                            : GH_REPLY_ERROR;
    gh_reply* value;
    if (task->type != REDIS_REPLY_STRING && task->type != REDIS_REPLY_STATUS && task->type != REDIS_REPLY_ERROR)
        return NULL;
    value = reader_value(task, type);
    if (value == NULL) return NULL;
    if (gh_values_keep(&reader->values, value, bytes, size)) return value;
    if (!reader->skips || type != GH_REPLY_STRING) return reader_refuse(reader);
    value->text = gh_str_make("", 0);
    return value;
}

static void* reader_array(const redisReadTask* task, gh_element_count count)
{
    gh_reader* reader = (gh_reader*)task->privdata;
    gh_reply* value;
    if (task->type != REDIS_REPLY_ARRAY) return NULL;
    if ((uint64_t)count > reader->values.node_capacity) return reader_refuse(reader);
    value = reader_value(task, GH_REPLY_ARRAY);
    if (value != NULL) value->count = (uint32_t)count;
    return value;
}

static void* reader_integer(const redisReadTask* task, long long number)
{
    gh_reply* value = reader_value(task, GH_REPLY_INTEGER);
    if (value != NULL) value->integer = number;
    return value;
}

static void* reader_nil(const redisReadTask* task)
{
    /* RESP2 writes nil as a string or an array of size -1; "_" is RESP3, and so is a push or a map of size -1. */
    if (task->type != REDIS_REPLY_STRING && task->type != REDIS_REPLY_ARRAY) return NULL;
    return reader_value(task, GH_REPLY_NIL);
}

static void reader_drop(void* value)
{
    (void)value; /* the next reply takes its place */
}

#if GH_HIREDIS_1
/* RESP3 was not asked for: whoever sends it is broken. */
static void* reader_double(const redisReadTask* task, double number, char* text, size_t size)
{
    (void)task, (void)number, (void)text, (void)size;
    return NULL;
}

static void* reader_bool(const redisReadTask* task, int number)
{
    (void)task, (void)number;
    return NULL;
}

static redisReplyObjectFunctions reader_functions = {reader_string, reader_array, reader_integer, reader_double,
                                                     reader_nil,    reader_bool,  reader_drop};
#else
static redisReplyObjectFunctions reader_functions = {reader_string, reader_array, reader_integer, reader_nil,
                                                     reader_drop};
#endif

/* ---- the reader -------------------------------------------------------------------------------------------------- */

static size_t reader_capacity(uint32_t reply_bytes)
{
    return (size_t)reply_bytes + READER_HEADER_MAX + READER_KEPT_MAX + GH_READER_FEED_MAX;
}

/* hiredis asks for twice the room that it needs, and for 1 MiB more above that: ask for less to get just enough. */
static size_t reader_room(size_t capacity)
{
    const size_t doubling_max = 1024 * 1024;
    return capacity / 2 + 1 < doubling_max ? capacity / 2 + 1 : capacity - doubling_max + 1;
}

static bool reader_open(gh_reader* reader)
{
    char* buffer;
    READER_ENTER(reader);
    reader->hiredis = redisReaderCreateWithFunctions(&reader_functions);
    if (reader->hiredis == NULL)
    {
        READER_LEAVE();
        return false;
    }
    reader->hiredis->privdata = reader;
    reader->hiredis->maxbuf = 0; /* never give the buffer back */
    buffer = sdsMakeRoomFor(reader->hiredis->buf, reader_room(reader_capacity(reader->values.text_capacity)));
    READER_LEAVE();
    if (buffer == NULL) return false;
    reader->hiredis->buf = buffer;
    reader->broken = reader->too_large = false;
    reader->skip = 0;
    return true;
}

gh_reader* gh_reader_take(gh_arena* arena, uint32_t reply_bytes, uint32_t reply_nodes)
{
    gh_reader* reader = (gh_reader*)gh_arena_take(arena, sizeof(gh_reader));
    gh_value* nodes = (gh_value*)gh_arena_take(arena, sizeof(gh_value) * reply_nodes);
    char* text = (char*)gh_arena_take(arena, reply_bytes);
#if GH_HIREDIS_1
    {
        size_t size = reader_capacity(reply_bytes) + READER_BUFFER_MORE;
        void* objects;
        reader_hook_once();
        size += reader_objects_size();
        objects = gh_arena_take(arena, size);
        if (objects != NULL) reader->objects = gh_arena_make(objects, size);
    }
#endif
    if (arena->base == NULL || arena->used > arena->size) return NULL;
    reader->values.nodes = nodes;
    reader->values.node_capacity = reply_nodes;
    reader->values.text = text;
    reader->values.text_capacity = reply_bytes;
    return reader_open(reader) ? reader : NULL;
}

void gh_reader_skip_long(gh_reader* reader)
{
    reader->skips = true;
}

void gh_reader_close(gh_reader* reader)
{
    if (reader->hiredis == NULL) return;
    READER_ENTER(reader);
    redisReaderFree(reader->hiredis);
    READER_LEAVE();
    reader->hiredis = NULL;
}

/* Emptied in place, without the heap. Only after an error of its own has hiredis given its buffer away. */
bool gh_reader_reset(gh_reader* reader)
{
    redisReader* hiredis = reader->hiredis;
    if (hiredis != NULL && hiredis->err == 0)
    {
        sdsclear(hiredis->buf);
        hiredis->len = 0;
        hiredis->pos = 0;
        hiredis->ridx = -1;
        hiredis->reply = NULL;
        reader->broken = reader->too_large = false;
        reader->skip = 0;
        return true;
    }
    gh_reader_close(reader);
#if GH_HIREDIS_1
    reader->objects.used = 0;
#endif
    return reader_open(reader);
}

void gh_reader_feed(gh_reader* reader, const char* bytes, size_t size)
{
    const size_t skipped = reader->skip < size ? (size_t)reader->skip : size;
    reader->skip -= skipped;
    bytes += skipped;
    size -= skipped;
    if (reader->broken || size == 0) return;
    if (size > GH_READER_FEED_MAX || reader->hiredis->len + size > reader_capacity(reader->values.text_capacity))
    {
        reader->broken = reader->too_large = true;
        return;
    }
    READER_ENTER(reader);
    redisReaderFeed(reader->hiredis, bytes, size);
    READER_LEAVE();
    if (reader->hiredis->len > reader->fed_max) reader->fed_max = reader->hiredis->len;
}

void gh_reader_wipe(gh_reader* reader)
{
    const size_t text_capacity = reader->values.text_capacity;
    if (reader->hiredis != NULL && reader->hiredis->err == 0) gh_wipe(reader->hiredis->buf, reader->fed_max);
    gh_wipe(reader->values.text, reader->fed_max < text_capacity ? reader->fed_max : text_capacity);
    reader->fed_max = 0;
}

/* Of the element whose type byte was taken and whose rest is not all there; -1: none. */
static int reader_type_in_work(const redisReader* hiredis)
{
    if (hiredis->ridx < 0) return -1;
#if GH_HIREDIS_1
    return hiredis->task[hiredis->ridx]->type;
#else
    return hiredis->rstack[hiredis->ridx].type;
#endif
}

/* A string that is announced longer than we take is refused at its first line, not when the buffer is full. */
static bool announces_too_much(const gh_reader* reader)
{
    const redisReader* hiredis = reader->hiredis;
    const char* at = hiredis->buf + hiredis->pos;
    const char* end = hiredis->buf + hiredis->len;
    const uint64_t most = reader->skips ? READER_SKIP_MAX : reader->values.text_capacity;
    uint64_t size = 0;
    if (reader_type_in_work(hiredis) != REDIS_REPLY_STRING) /* a line: no longer than a string may be */
        return (size_t)(end - at) > (size_t)reader->values.text_capacity + READER_HEADER_MAX;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
    {
        size = size * 10 + (uint64_t)(*at - '0');
        if (size >= most) return true;
    }
    return false;
}

/* The string in work, of which the first line and some bytes are here, becomes an empty one, and what is still to come
   of it is dropped. False: it is no such string, or its first line is not all there. */
static bool reader_skip_string(gh_reader* reader)
{
    static const char empty[] = "0\r\n\r\n";
    const size_t empty_size = sizeof empty - 1;
    redisReader* hiredis = reader->hiredis;
    char* at = hiredis->buf + hiredis->pos;
    const size_t here = hiredis->len - hiredis->pos;
    uint64_t size = 0;
    size_t head = 0;
    if (!reader->skips || reader_type_in_work(hiredis) != REDIS_REPLY_STRING) return false;
    for (; head < here && at[head] >= '0' && at[head] <= '9'; head++) size = size * 10 + (uint64_t)(at[head] - '0');
    head += 2;
    if (size < reader->values.text_capacity || size >= READER_SKIP_MAX) return false;
    if (head < empty_size || head > here) return false;
    reader->skip = head + size + 2 - here;
    memcpy(at, empty, empty_size);
    sdsIncrLen(hiredis->buf, -(int)(here - empty_size));
    hiredis->len -= here - empty_size;
    return true;
}

/* Only at the beginning of a reply: hiredis remembers what it has read of one. */
static const gh_reply* reader_next_flat(gh_reader* reader)
{
    redisReader* hiredis = reader->hiredis;
    size_t size = gh_flat_read(&reader->values, hiredis->buf + hiredis->pos, hiredis->len - hiredis->pos);
    hiredis->pos += size;
    return size == 0 ? NULL : &reader->values.nodes[0].reply;
}

/* All bytes are used up. hiredis is not asked, since it would begin a reply before the first byte of it is here. */
static void reader_empty(redisReader* hiredis)
{
    sdsclear(hiredis->buf);
    hiredis->len = 0;
    hiredis->pos = 0;
}

static int reader_ask(gh_reader* reader, void** value)
{
    int result;
    READER_ENTER(reader);
    result = redisReaderGetReply(reader->hiredis, value);
    READER_LEAVE();
    return result;
}

/* NULL: more bytes are needed, or the reader broke. */
static const gh_reply* reader_next_any(gh_reader* reader)
{
    void* value = NULL;
    int result = reader_ask(reader, &value);
    if (result == REDIS_OK && value == NULL && reader_skip_string(reader)) result = reader_ask(reader, &value);
    if (result == REDIS_OK && value == NULL && announces_too_much(reader)) reader_refuse(reader);
    reader->broken = result != REDIS_OK || reader->too_large;
    return reader->broken ? NULL : (const gh_reply*)value;
}

gh_read gh_reader_next(gh_reader* reader, const gh_reply** reply)
{
    redisReader* hiredis = reader->hiredis;
    const gh_reply* value = NULL;
    uint32_t size;
    if (!reader->broken && hiredis->ridx < 0)
    {
        if (hiredis->pos == hiredis->len)
        {
            reader_empty(hiredis);
            return GH_READ_MORE;
        }
        value = reader_next_flat(reader);
    }
    if (!reader->broken && value == NULL) value = reader_next_any(reader);
    if (reader->broken) return reader->too_large ? GH_READ_TOO_LARGE : GH_READ_BROKEN;
    if (value == NULL) return GH_READ_MORE;
    size = reader->values.text_used + reader->values.node_count * 32;
    if (size > reader->reply_bytes_max) reader->reply_bytes_max = size;
    *reply = value;
    return GH_READ_REPLY;
}

uint32_t gh_reader_reply_bytes_max(const gh_reader* reader)
{
    return reader->reply_bytes_max;
}

const gh_reply* gh_reply_at(const gh_reply* reply, uint32_t i)
{
    const gh_reply* value;
    if (reply == NULL || reply->type != GH_REPLY_ARRAY) return NULL;
    for (value = reply->first; value != NULL && i > 0; i--) value = value->next;
    return value;
}
