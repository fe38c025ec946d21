/* tree.c -- replies as trees, by hiredis' reader, in memory that was taken before; no other file sees hiredis. */

#include "wire/reader.h"
#include "wire/scan.h"

#include <hiredis/read.h>

#include <string.h>

#ifdef REDIS_REPLY_MAP /* since 1.0 */
#define TREE_HIREDIS_1 1
typedef size_t reader_count;
#else
#define TREE_HIREDIS_1 0
typedef int reader_count;
#endif

#define HIREDIS_MORE_SIZE 64u
#define TREE_TASKS        9 /* as many as hiredis makes by itself; with seven arrays within one another it uses eight */

/* hiredis' reader for one reply. */
typedef struct tree_reader
{
    redisReader hiredis;
    char hiredis_more[HIREDIS_MORE_SIZE]; /* fields that a library has which is newer than its header here: zeros */
#if TREE_HIREDIS_1
    redisReadTask tasks[TREE_TASKS];
    redisReadTask* task_table[TREE_TASKS];
#endif
    gh_values* values;
    const gh_reply* root;
    const gh_reply** links[GH_SCAN_DEPTH_MAX + 1]; /* by depth: where the next value there is to be linked */
} tree_reader;

/* ---- our objects ------------------------------------------------------------------------------------------------- */

/* For hiredis each object is the reader: it asks for no more than one that is not NULL, and gives it back to be freed.
   The values come in their order, so that they can be linked without it. */

static size_t reader_depth(const tree_reader* reader, const redisReadTask* task)
{
#if TREE_HIREDIS_1
    return (size_t)(task - reader->tasks);
#else
    return (size_t)(task - reader->hiredis.rstack);
#endif
}

static gh_reply* reader_add(const redisReadTask* task, gh_reply_type type)
{
    tree_reader* reader = (tree_reader*)task->privdata;
    const size_t depth = reader_depth(reader, task);
    gh_reply* value = depth > GH_SCAN_DEPTH_MAX ? NULL : gh_values_add(reader->values, type);
    if (value == NULL) return NULL;
    *reader->links[depth] = value;
    reader->links[depth] = &value->next;
    return value;
}

static void* reader_string(const redisReadTask* task, char* bytes, size_t size)
{
    tree_reader* reader = (tree_reader*)task->privdata;
    gh_reply_type type = task->type == REDIS_REPLY_STRING   ? GH_REPLY_STRING
                         : task->type == REDIS_REPLY_STATUS ? GH_REPLY_STATUS
                                                            : GH_REPLY_ERROR;
    gh_reply* value = reader_add(task, type);
    return value != NULL && gh_values_text(reader->values, value, bytes, size) ? reader : NULL;
}

static void* reader_array(const redisReadTask* task, reader_count count)
{
    tree_reader* reader = (tree_reader*)task->privdata;
    const size_t depth = reader_depth(reader, task);
    gh_reply* value = depth == GH_SCAN_DEPTH_MAX ? NULL : reader_add(task, GH_REPLY_ARRAY);
    if (value == NULL) return NULL;
    value->count = (uint32_t)count;
    reader->links[depth + 1] = &value->first;
    return reader;
}

static void* reader_integer(const redisReadTask* task, long long number)
{
    gh_reply* value = reader_add(task, GH_REPLY_INTEGER);
    if (value == NULL) return NULL;
    value->integer = number;
    return task->privdata;
}

static void* reader_nil(const redisReadTask* task)
{
    return reader_add(task, GH_REPLY_NIL) == NULL ? NULL : task->privdata;
}

/* Called after an error, for which hiredis has no cause. Its next step is to free the bytes, which are not its own. */
static void reader_free(void* object)
{
    ((tree_reader*)object)->hiredis.buf = NULL;
}

#if TREE_HIREDIS_1
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
#endif

static const redisReplyObjectFunctions reader_functions = {
    .createString = reader_string,
    .createArray = reader_array,
    .createInteger = reader_integer,
    .createNil = reader_nil,
#if TREE_HIREDIS_1
    .createDouble = reader_double,
    .createBool = reader_bool,
#endif
    .freeObject = reader_free,
};

/* ---- the reader -------------------------------------------------------------------------------------------------- */

/* What redisReaderCreateWithFunctions does, without the heap. The rest of it is zero. */
static void tree_reader_make(tree_reader* reader, gh_values* values)
{
    redisReader* hiredis = &reader->hiredis;
#if TREE_HIREDIS_1
    int i;
    for (i = 0; i < TREE_TASKS; i++) reader->task_table[i] = &reader->tasks[i];
    hiredis->task = reader->task_table;
    hiredis->tasks = TREE_TASKS;
#endif
    hiredis->fn = (redisReplyObjectFunctions*)(uintptr_t)&reader_functions;
    hiredis->privdata = reader;
    hiredis->ridx = -1;
    hiredis->reply = reader; /* so that reader_free is called whatever comes */
    reader->values = values;
    reader->links[0] = &reader->root;
}

/* In front of its bytes hiredis expects the header of a string of its own kind. Type 0 has a header of one byte; the
   length in it is 0, so that hiredis leaves the bytes where they are when it has read many. */
const gh_reply* gh_tree_read(gh_values* values, char* bytes, size_t from, size_t to)
{
    tree_reader reader;
    void* object = NULL;
    memset(&reader, 0, sizeof reader);
    tree_reader_make(&reader, values);
    values->node_count = values->text_used = 0;
    bytes[-1] = 0;
    reader.hiredis.buf = bytes;
    reader.hiredis.pos = from;
    reader.hiredis.len = to;
    if (redisReaderGetReply(&reader.hiredis, &object) != REDIS_OK || object == NULL) return NULL;
    return reader.root;
}
