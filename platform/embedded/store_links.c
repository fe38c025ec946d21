/* store_links.c -- links: bytes in, requests, bytes out. */

#include "store_inside.h"

#include <stdlib.h>

#define ENDLESS_MAX (64 * 1024) /* bytes of a line */

/* Of those who have not said who they are. */
#define UNKNOWN_WORDS 10
#define UNKNOWN_BULK  16384

gh_store_link* gh_store_connect(gh_store* store)
{
    gh_store_link* link = (gh_store_link*)gh_store_heap_resize(NULL, sizeof *link);
    store_user* user = gh_store_user_find(store, gh_str_literal("default"));
    memset(link, 0, sizeof *link);
    link->store = store;
    link->id = ++store->link_ids;
    link->previous = store->last_link;
    if (store->last_link != NULL) store->last_link->next = link;
    else store->first_link = link;
    store->last_link = link;
    store->link_count++;
    if (user->is_on && user->needs_no_password) link->user = user;
    if (store->link_count <= store->config.links_max) return link;
    gh_store_put_line(&link->out, '-', gh_str_literal("ERR max number of clients reached"));
    gh_store_link_close(link);
    return link;
}

void gh_store_disconnect(gh_store_link* link)
{
    gh_store* store = link->store;
    gh_store_listen_to_nothing(link);
    if (link->previous != NULL) link->previous->next = link->next;
    else store->first_link = link->next;
    if (link->next != NULL) link->next->previous = link->previous;
    else store->last_link = link->previous;
    store->link_count--;
    gh_store_blob_free(store->pool, link->name);
    gh_store_buffer_end(&link->in);
    gh_store_buffer_end(&link->out);
    free(link);
}

void gh_store_link_close(gh_store_link* link)
{
    gh_store_listen_to_nothing(link);
    link->is_closed = true;
    link->store->told++;
    gh_store_buffer_end(&link->in);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

typedef enum read_result
{
    READ_WHOLE = 0,
    READ_MORE, /* the rest is not there yet */
    READ_BAD,  /* said so */
    READ_LONG, /* a line without an end */
    READ_EMPTY /* nothing was asked */
} read_result;

static read_result protocol_error(gh_store_link* link, const char* text)
{
    gh_store_put_line(&link->out, '-', gh_str_of(text));
    return READ_BAD;
}

/* A line's number; *AT goes behind it. */
static read_result read_number(const char** at, const char* end, int64_t* value)
{
    const char* line = *at;
    const char* stop;
    if (end - line > 3 && line[0] >= '1' && line[0] <= '9' && (line[1] == '\r' || line[2] == '\r'))
    {
        const bool is_short = line[1] == '\r'; /* one digit or two, as nearly always */
        *value = is_short ? line[0] - '0' : (line[0] - '0') * 10 + (line[1] - '0');
        *at = line + (is_short ? 3 : 4);
        return is_short || (line[1] >= '0' && line[1] <= '9') ? READ_WHOLE : READ_BAD;
    }
    stop = (const char*)memchr(line, '\r', (size_t)(end - line));
    if (stop == NULL) return end - line >= ENDLESS_MAX ? READ_LONG : READ_MORE;
    if (stop + 1 >= end) return READ_MORE;
    *at = stop + 2;
    return gh_store_text_integer(gh_str_make(line, (size_t)(stop - line)), value) ? READ_WHOLE : READ_BAD;
}

static gh_str* word_room(gh_store_engine* engine, uint32_t count)
{
    if (count <= engine->word_room) return engine->words;
    engine->word_room = count + 64;
    engine->words = (gh_str*)gh_store_heap_resize(engine->words, engine->word_room * sizeof *engine->words);
    return engine->words;
}

static read_result read_bulk(gh_store_link* link, const char** at, const char* end, gh_str* word)
{
    int64_t size;
    read_result result;
    if (*at == end) return READ_MORE;
    if (**at != '$')
    {
        char text[] = "ERR Protocol error: expected '$', got ' '";
        text[sizeof text - 3] = **at;
        return protocol_error(link, text);
    }
    (*at)++;
    result = read_number(at, end, &size);
    if (result == READ_MORE) return READ_MORE;
    if (result == READ_LONG) return protocol_error(link, "ERR Protocol error: too big bulk count string");
    if (result == READ_BAD || size < 0 || (size_t)size > STORE_TEXT_MAX)
        return protocol_error(link, "ERR Protocol error: invalid bulk length");
    if (link->user == NULL && size > UNKNOWN_BULK)
        return protocol_error(link, "ERR Protocol error: unauthenticated bulk length");
    if (end - *at < size + 2) return READ_MORE;
    *word = gh_str_make(*at, (size_t)size);
    *at += size + 2;
    return READ_WHOLE;
}

/* The words lie where they came. */
static read_result read_array(gh_store_link* link, const char** at, const char* end, uint32_t* count)
{
    int64_t words;
    uint32_t i;
    read_result result;
    (*at)++;
    result = read_number(at, end, &words);
    if (result == READ_MORE) return READ_MORE;
    if (result == READ_LONG) return protocol_error(link, "ERR Protocol error: too big mbulk count string");
    if (result == READ_BAD || words > INT32_MAX)
        return protocol_error(link, "ERR Protocol error: invalid multibulk length");
    if (link->user == NULL && words > UNKNOWN_WORDS)
        return protocol_error(link, "ERR Protocol error: unauthenticated multibulk length");
    if (words <= 0) return READ_EMPTY;
    *count = (uint32_t)words;
    for (i = 0; i < *count; i++)
    {
        gh_str* room = word_room(link->store->engine, i + 1);
        result = read_bulk(link, at, end, &room[i]);
        if (result != READ_WHOLE) return result;
    }
    return READ_WHOLE;
}

/* A line of words between blanks, as a person types it. */
static read_result read_line(gh_store_link* link, const char** at, const char* end, uint32_t* count)
{
    const char* from = *at;
    const char* stop = (const char*)memchr(from, '\n', (size_t)(end - from));
    if (stop == NULL)
        return end - from > ENDLESS_MAX ? protocol_error(link, "ERR Protocol error: too big inline request")
                                        : READ_MORE;
    *at = stop + 1;
    if (stop > from && stop[-1] == '\r') stop--;
    *count = 0;
    while (from < stop)
    {
        const char* word = from;
        while (from < stop && *from != ' ') from++;
        if (from > word)
        {
            gh_str* room = word_room(link->store->engine, *count + 1);
            room[(*count)++] = gh_str_make(word, (size_t)(from - word));
        }
        from++;
    }
    return *count == 0 ? READ_EMPTY : READ_WHOLE;
}

/* ---- carried out ------------------------------------------------------------------------------------------------- */

/* Calls from inside the request use the engine's words too, so it takes them along. */
static void run(gh_store_link* link, uint32_t count)
{
    gh_store* store = link->store;
    gh_store_engine* engine = store->engine;
    gh_str* words = engine->words;
    const uint32_t room = engine->word_room;
    store_answer answer;
    answer.lua = NULL;
    answer.bytes = &link->out;
    answer.depth = 0;
    answer.has_failed = false;
    engine->words = engine->spare_words;
    engine->word_room = engine->spare_room;
    store->link = link;
    store->user = link->user;
    store->database = link->database;
    store->keys = &store->databases[link->database];
    store->answer = &answer;
    gh_store_run_request(store, words, count);
    store->link = NULL;
    store->user = NULL;
    store->answer = NULL;
    engine->spare_words = engine->words;
    engine->spare_room = engine->word_room;
    engine->words = words;
    engine->word_room = room;
}

/* Replies before it have not been taken perhaps, and are in front of it. */
static void run_and_tell(gh_store_link* link, const char* from, const char* behind, uint32_t count)
{
    const store_hooks* hooks = &link->store->hooks;
    const size_t before = gh_store_waiting(link);
    run(link, count);
    if (hooks->tap == NULL) return;
    hooks->tap(hooks->tap_context, link, gh_str_make(from, (size_t)(behind - from)),
               gh_str_make(link->out.bytes == NULL ? "" : link->out.bytes + link->out.at + before,
                           gh_store_waiting(link) - before));
}

static size_t run_all(gh_store_link* link, const char* bytes, size_t size)
{
    const char* at = bytes;
    const char* end = bytes + size;
    while (at < end && !link->is_closed && !link->is_blocked)
    {
        const char* from = at;
        uint32_t count = 0;
        const read_result result = *at == '*' ? read_array(link, &at, end, &count) : read_line(link, &at, end, &count);
        if (result == READ_MORE) return (size_t)(from - bytes);
        if (result == READ_BAD)
        {
            gh_store_link_close(link);
            return size;
        }
        if (result == READ_WHOLE) run_and_tell(link, from, at, count);
    }
    return (size_t)(at - bytes);
}

/* What is whole is carried out where it is; only a rest is kept. */
void gh_store_feed(gh_store_link* link, const void* bytes, size_t size)
{
    store_buffer in;
    size_t used;
    if (link->is_closed) return;
    gh_store_sweep(link->store);
    if (gh_store_buffer_left(&link->in) == 0)
    {
        used = run_all(link, (const char*)bytes, size);
        if (used < size && !link->is_closed) gh_store_put(&link->in, (const char*)bytes + used, size - used);
        return;
    }
    gh_store_put(&link->in, bytes, size);
    in = link->in;
    memset(&link->in, 0, sizeof link->in); /* closing the link must not take it away meanwhile */
    used = run_all(link, in.bytes + in.at, gh_store_buffer_left(&in));
    gh_store_buffer_drop(&in, used);
    if (link->is_closed) gh_store_buffer_end(&in);
    else link->in = in;
}

void gh_store_block(gh_store_link* link)
{
    link->is_blocked = true;
}

void gh_store_unblock(gh_store_link* link)
{
    link->is_blocked = false;
    link->store->told++;
    gh_store_feed(link, "", 0);
}

void gh_store_say(gh_store_link* link, const void* bytes, size_t size)
{
    if (link->is_closed) return;
    gh_store_put(&link->out, bytes, size);
    if (link->store->link != link) link->store->told++;
}

size_t gh_store_take(gh_store_link* link, void* bytes, size_t size)
{
    const size_t left = gh_store_buffer_left(&link->out);
    if (size > left) size = left;
    if (size == 0) return 0;
    memcpy(bytes, link->out.bytes + link->out.at, size);
    gh_store_buffer_drop(&link->out, size);
    return size;
}

uint64_t gh_store_told(const gh_store* store)
{
    return store->told;
}

size_t gh_store_waiting(const gh_store_link* link)
{
    return gh_store_buffer_left(&link->out);
}

bool gh_store_is_closed(const gh_store_link* link)
{
    return link->is_closed;
}

uint64_t gh_store_link_id(const gh_store_link* link)
{
    return link->id;
}

gh_store* gh_store_of(const gh_store_link* link)
{
    return link->store;
}

bool gh_store_link_reads(const gh_store_link* link)
{
    return link->reads;
}

void* gh_store_link_data(const gh_store_link* link)
{
    return link->data;
}

void gh_store_link_set_data(gh_store_link* link, void* data)
{
    link->data = data;
}
