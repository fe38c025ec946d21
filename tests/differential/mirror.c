/* mirror.c -- see mirror.h. */

#include "differential/mirror.h"

#include "differential/alike.h"
#include "store.h"
#include "support/server/redis_server.h"
#include "support/server/stream.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum
{
    SHOWN_MAX = 20, /* differences */
    SHOWN_BYTES = 700,
    STEPS_MAX = 1000000, /* of Lua; more is a script that was given an absurd number, and goes on for ever */
    ANSWER_MS = 20000,
    REPLICA_AHEAD_US = 777000
};

typedef struct bytes
{
    char* at;
    size_t size;
    size_t room;
} bytes;

typedef struct asked
{
    size_t request; /* where it begins in the batch */
    size_t size;
    size_t reply; /* the store's, in replies */
    size_t reply_size;
} asked;

static struct
{
    redis_server* server;
    gh_store_engine* engine;
    gh_store* store;
    gh_store* replica;
    gh_store_link* links[2]; /* of who may do all, and of a user */
    int streams[2];
    unsigned who;
    uint64_t now_us;
    asked batch[MIRROR_BATCH];
    uint32_t count;
    bytes requests;
    bytes replies;
    bytes answers; /* the server's */
    mirror_counts counts;
} mirror;

static void put(bytes* to, const void* from, size_t size)
{
    if (to->size + size > to->room)
    {
        to->room = (to->size + size) * 2;
        to->at = realloc(to->at, to->room);
        if (to->at == NULL) abort();
    }
    if (size > 0) memcpy(to->at + to->size, from, size);
    to->size += size;
}

/* ---- begin and end ----------------------------------------------------------------------------------------------- */

static void look_at_version(char version[16])
{
    const char* info = redis_server_text(mirror.server, "INFO server");
    const char* line = strstr(info, "redis_version:");
    size_t size = line == NULL ? 0 : strcspn(line + 14, "\r\n");
    if (size >= 16) size = 0;
    memcpy(version, line + 14, size);
    version[size] = '\0';
    if (strncmp(version, "7.0.", 4) == 0) return;
    printf("note: the store answers as 7.0 does, and the server here is %s: nothing was compared\n", version);
    printf("0 passed, 0 failed\n");
    exit(0);
}

static void apply_to_replica(void* context, uint32_t database, const gh_str* words, size_t count)
{
    (void)context;
    if (count > 0) gh_store_apply(mirror.replica, database, words, count);
}

/* The order of a large hash's fields is drawn by each server, so there the server keeps all as it keeps small ones. */
void mirror_open(uint64_t seed)
{
    static const char* const arguments[] = {"--maxmemory-policy",
                                            "noeviction",
                                            "--hash-max-listpack-entries",
                                            "1000000",
                                            "--hash-max-listpack-value",
                                            "1000000",
                                            NULL};
    const redis_server_options options = {.clock = true, .arguments = arguments};
    static char version[16];
    gh_store_config config = gh_store_config_default();
    mirror.server = redis_server_start(&options);
    look_at_version(version);
    config.version = version;
    config.seed = seed;
    config.draws_first = true;
    config.keeps_order = true;
    config.steps_max = STEPS_MAX;
    config.engine = mirror.engine = gh_store_engine_new();
    gh_store_engine_settle(mirror.engine); /* as the simulator has it */
    mirror.store = gh_store_new(&config);
    mirror.replica = gh_store_new(&config);
    gh_store_set_states(mirror.replica, GH_STORE_READ_ONLY);
    gh_store_set_log(mirror.store, apply_to_replica, NULL);
    for (unsigned i = 0; i < 2; i++)
    {
        mirror.links[i] = gh_store_connect(mirror.store);
        mirror.streams[i] = stream_connect(redis_server_address(mirror.server));
        if (mirror.streams[i] < 0) abort();
    }
}

void mirror_close(void)
{
    close(mirror.streams[0]);
    close(mirror.streams[1]);
    gh_store_free(mirror.store);
    gh_store_free(mirror.replica);
    gh_store_engine_free(mirror.engine);
    redis_server_end(mirror.server);
    free(mirror.requests.at);
    free(mirror.replies.at);
    free(mirror.answers.at);
}

void mirror_set_time(uint64_t unix_us)
{
    mirror.now_us = unix_us;
    gh_store_set_time(mirror.store, unix_us);
    gh_store_set_time(mirror.replica, unix_us + REPLICA_AHEAD_US); /* what it is told must not lean on its own clock */
    redis_server_hold_clock(mirror.server, (int64_t)unix_us);
}

void mirror_set_full(bool is_full)
{
    gh_store_set_states(mirror.store, is_full ? GH_STORE_FULL : 0);
    redis_server_do(mirror.server, "CONFIG SET maxmemory %s", is_full ? "1" : "0");
}

void mirror_be_user(bool is_user)
{
    mirror.who = is_user;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void put_line(bytes* to, char kind, size_t value)
{
    char line[32];
    put(to, line, (size_t)snprintf(line, sizeof line, "%c%zu\r\n", kind, value));
}

void mirror_add(const gh_str* words, uint32_t count)
{
    asked* one = &mirror.batch[mirror.count++];
    one->request = mirror.requests.size;
    put_line(&mirror.requests, '*', count);
    for (uint32_t i = 0; i < count; i++)
    {
        put_line(&mirror.requests, '$', words[i].size);
        put(&mirror.requests, words[i].bytes, words[i].size);
        put(&mirror.requests, "\r\n", 2);
    }
    one->size = mirror.requests.size - one->request;
}

static void ask_store(asked* one)
{
    size_t size;
    gh_store_feed(mirror.links[mirror.who], mirror.requests.at + one->request, one->size);
    size = gh_store_waiting(mirror.links[mirror.who]);
    one->reply = mirror.replies.size;
    one->reply_size = size;
    while (mirror.replies.room < mirror.replies.size + size)
    {
        mirror.replies.room = (mirror.replies.size + size) * 2;
        mirror.replies.at = realloc(mirror.replies.at, mirror.replies.room);
        if (mirror.replies.at == NULL) abort();
    }
    mirror.replies.size += gh_store_take(mirror.links[mirror.who], mirror.replies.at + mirror.replies.size, size);
}

/* ---- the server's answers ---------------------------------------------------------------------------------------- */

/* Behind the reply that begins there; NULL: not all of it is there yet. */
static const char* behind(const char* at, const char* end)
{
    const char* stop = memchr(at, '\n', (size_t)(end - at));
    long count;
    if (stop == NULL) return NULL;
    count = atol(at + 1);
    stop++;
    if (*at == '$') return count < 0 ? stop : end - stop < count + 2 ? NULL : stop + count + 2;
    if (*at != '*') return stop;
    for (; count > 0; count--)
    {
        if (stop == end) return NULL;
        stop = behind(stop, end);
        if (stop == NULL) return NULL;
    }
    return stop;
}

static void send_all(const char* from, size_t size)
{
    while (size > 0)
    {
        ssize_t sent = write(mirror.streams[mirror.who], from, size);
        if (sent <= 0) abort();
        from += sent;
        size -= (size_t)sent;
    }
}

static void receive_more(void)
{
    static char more[1 << 16];
    struct pollfd waiting = {.fd = mirror.streams[mirror.who], .events = POLLIN};
    ssize_t size = poll(&waiting, 1, ANSWER_MS) == 1 ? read(mirror.streams[mirror.who], more, sizeof more) : -1;
    if (size <= 0)
    {
        printf("the server does not answer; the last batch:\n%.*s\n", (int)mirror.requests.size, mirror.requests.at);
        exit(1);
    }
    put(&mirror.answers, more, (size_t)size);
}

/* ---- compared ---------------------------------------------------------------------------------------------------- */

static void show(const char* what, const char* from, size_t size)
{
    printf("    %s ", what);
    for (size_t i = 0; i < size && i < SHOWN_BYTES; i++)
    {
        if (from[i] == '\r') continue;
        if (from[i] == '\n') putchar(' ');
        else if ((unsigned char)from[i] < 32 || (unsigned char)from[i] > 126) printf("\\x%02x", (unsigned char)from[i]);
        else putchar(from[i]);
    }
    puts(size > SHOWN_BYTES ? " ..." : "");
}

static void compare(const asked* one, const char* answer, size_t size)
{
    const char* reply = mirror.replies.at + one->reply;
    mirror.counts.requests++;
    if (size == one->reply_size && memcmp(reply, answer, size) == 0)
    {
        if (*answer == '-') mirror.counts.errors++;
        return;
    }
    if (alike_of_scan(gh_str_make(mirror.requests.at + one->request, one->size), gh_str_make(reply, one->reply_size),
                      gh_str_make(answer, size)))
        return;
    if (mirror.counts.differences++ >= SHOWN_MAX) return;
    printf("difference %llu, of request %llu, at %llu us:\n", (unsigned long long)mirror.counts.differences,
           (unsigned long long)mirror.counts.requests, (unsigned long long)mirror.now_us);
    show("request", mirror.requests.at + one->request, one->size);
    show("store  ", reply, one->reply_size);
    show("server ", answer, size);
}

/* How many of them ended. What comes behind a script that does not, neither is asked for. */
static uint32_t ask_store_all(void)
{
    const uint64_t stopped = gh_store_get_counts(mirror.store).stopped;
    for (uint32_t i = 0; i < mirror.count; i++)
    {
        ask_store(&mirror.batch[i]);
        if (gh_store_get_counts(mirror.store).stopped > stopped) return i;
    }
    return mirror.count;
}

static void compare_all(uint32_t count)
{
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++)
    {
        const char* next;
        while (at == mirror.answers.size ||
               (next = behind(mirror.answers.at + at, mirror.answers.at + mirror.answers.size)) == NULL)
            receive_more();
        compare(&mirror.batch[i], mirror.answers.at + at, (size_t)(next - mirror.answers.at) - at);
        at = (size_t)(next - mirror.answers.at);
    }
}

/* The number of replies. Where a script was stopped in the middle, both begin anew. */
uint32_t mirror_send(void)
{
    uint32_t ended;
    bool is_stopped;
    mirror.replies.size = 0;
    mirror.answers.size = 0;
    ended = ask_store_all();
    is_stopped = ended < mirror.count;
    send_all(mirror.requests.at, is_stopped ? mirror.batch[ended].request : mirror.requests.size);
    compare_all(ended);
    mirror.count = 0;
    mirror.requests.size = 0;
    if (!is_stopped) return ended;
    mirror.counts.stopped++;
    mirror_flush();
    return 0;
}

gh_str mirror_reply(uint32_t number)
{
    return gh_str_make(mirror.replies.at + mirror.batch[number].reply, mirror.batch[number].reply_size);
}

mirror_counts mirror_get_counts(void)
{
    return mirror.counts;
}

/* ---- all keys ---------------------------------------------------------------------------------------------------- */

static void add_about(const char* command, gh_str key, const char* more, const char* most)
{
    const gh_str words[5] = {gh_str_of(command), key, gh_str_of(more), gh_str_of(most), gh_str_literal("WITHSCORES")};
    uint32_t count = more == NULL ? 2 : most == NULL ? 3 : 4;
    mirror_add(words, strcmp(command, "ZRANGE") == 0 ? 5 : count);
}

/* In whole, as the store and its replica tell it. */
static void compare_with_replica(gh_str key)
{
    static const char* const commands[] = {"TYPE", "PEXPIRETIME", "GET", "HGETALL", "LRANGE", "ZRANGE"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    {
        const gh_str words[5] = {gh_str_of(commands[i]), key, gh_str_literal("0"), gh_str_literal("-1"),
                                 gh_str_literal("WITHSCORES")};
        const size_t count = i < 4 ? 2 : i;
        const gh_str ours = gh_store_ask(mirror.store, words, count);
        const gh_str theirs = gh_store_ask(mirror.replica, words, count);
        if (gh_str_equal(ours, theirs) || mirror.counts.differences++ >= SHOWN_MAX) continue;
        printf("difference %llu, of the replica: %s of %.*s\n", (unsigned long long)mirror.counts.differences,
               commands[i], GH_STR_ARG(key));
        show("store  ", ours.bytes, ours.size);
        show("replica", theirs.bytes, theirs.size);
    }
}

static bool count_key(void* context, uint32_t database, gh_str key)
{
    (void)database;
    (void)key;
    ++*(size_t*)context;
    return true;
}

static void compare_counts(void)
{
    size_t ours = 0;
    size_t theirs = 0;
    gh_store_each_key(mirror.store, count_key, &ours);
    gh_store_each_key(mirror.replica, count_key, &theirs);
    if (ours == theirs || mirror.counts.differences++ >= SHOWN_MAX) return;
    printf("difference %llu: the store has %zu keys, its replica %zu\n", (unsigned long long)mirror.counts.differences,
           ours, theirs);
}

/* What is not of that type is an error of both. */
static bool compare_key(void* context, uint32_t database, gh_str key)
{
    (void)context;
    (void)database;
    compare_with_replica(key);
    mirror.counts.keys++;
    add_about("TYPE", key, NULL, NULL);
    add_about("PEXPIRETIME", key, NULL, NULL);
    add_about("GET", key, NULL, NULL);
    add_about("HGETALL", key, NULL, NULL);
    add_about("LRANGE", key, "0", "-1");
    add_about("ZRANGE", key, "0", "-1");
    if (mirror.count + 6 > MIRROR_BATCH) mirror_send();
    return true;
}

/* A server counts what has ended and is not swept yet, so each is asked for those that are. */
void mirror_compare_keys(void)
{
    const unsigned who = mirror.who;
    static const char count_keys[] = "local n = 0 for _, key in ipairs(redis.call('KEYS', '*')) do "
                                     "if redis.call('EXISTS', key) == 1 then n = n + 1 end end return n";
    const gh_str words[3] = {gh_str_literal("EVAL"), gh_str_of(count_keys), gh_str_literal("0")};
    mirror_send();
    mirror.who = 0;
    gh_store_set_time(mirror.replica, mirror.now_us);
    compare_counts();
    gh_store_each_key(mirror.store, compare_key, NULL);
    gh_store_set_time(mirror.replica, mirror.now_us + REPLICA_AHEAD_US);
    mirror_add(words, 3);
    mirror_send();
    mirror.who = who;
}

void mirror_flush(void)
{
    const gh_str words[1] = {gh_str_literal("FLUSHALL")};
    const unsigned who = mirror.who;
    mirror.who = 0;
    mirror_add(words, 1);
    mirror_send();
    mirror.who = who;
}
