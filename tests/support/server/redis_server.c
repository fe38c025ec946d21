/* redis_server.c -- servers started, asked, frozen, killed and started again. */

#include "support/server/redis_server.h"

#include "support/cleanup.h"
#include "support/clock.h"
#include "support/server/doors.h"
#include "support/server/front.h"
#include "support/server/redis_process.h"
#include "support/scratch.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/wait.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ADDRESS_SIZE    128
#define START_ATTEMPTS  8
#define FRONT_WORDS_MAX 128 /* of one command to a fleet */

struct redis_server
{
    redis_server_options options;
    bool shared;        /* the server of --redis: not ours to stop */
    store_front* front; /* a fleet stands in its place, or NULL */
    bool frozen;
    pid_t pid; /* 0 when it does not run */
    uint16_t port;
    uint16_t tls_port; /* 0: none */
    char folder[SCRATCH_PATH_SIZE];
    char file[SCRATCH_PATH_SIZE + 16]; /* of its configuration, if it has one */
    char address[ADDRESS_SIZE];
    char tcp_address[ADDRESS_SIZE];
    char tcp6_address[ADDRESS_SIZE];
    char prefix[32];
    clock_offset* clock;
    redisContext* audit;
    redisReply* last; /* what redis_server_text gave out */
    size_t queued;    /* audits that are not sent        */
};

/* ---- The process ---- */

static void forget_audit(redis_server* server)
{
    if (server->last != NULL) freeReplyObject(server->last);
    if (server->audit != NULL) redisFree(server->audit);
    server->last = NULL;
    server->audit = NULL;
    server->queued = 0;
}

static void must_be_ours(const redis_server* server)
{
    if (server->shared) fail_msg("%s", "the server of --redis must not be stopped: use redis_server_start");
    if (server->front != NULL) suite_one_server("to stop a server");
}

static void end_process(redis_server* server, int signal_number)
{
    must_be_ours(server);
    forget_audit(server);
    if (server->pid == 0) return;
    if (server->frozen && signal_number != SIGKILL) kill(server->pid, SIGCONT);
    kill(server->pid, signal_number);
    uint64_t end_us = wait_cap_us();
    while (waitpid(server->pid, NULL, WNOHANG) == 0)
    {
        if (wait_now_us() >= end_us) kill(server->pid, SIGKILL);
        wait_briefly();
    }
    server->pid = 0;
    server->frozen = false;
}

/* One port for both families; asks the kernel for a free one, then hopes that nobody takes it in between (a
   server that then fails to start gets another one). */
static void choose_port(redis_server* server)
{
    uint16_t port = 0;
    int four = stream_listen_tcp(false, &port);
    if (four < 0) fail_msg("cannot listen on 127.0.0.1: %s", strerror(errno));
    int six = stream_listen_tcp(true, &port);
    close(four);
    if (six >= 0) close(six);
    server->port = port;
    snprintf(server->tcp_address, ADDRESS_SIZE, "127.0.0.1:%u", port);
    server->tcp6_address[0] = '\0';
    if (six >= 0) snprintf(server->tcp6_address, ADDRESS_SIZE, "[::1]:%u", port);
}

static void choose_tls_port(redis_server* server)
{
    char door[DOOR_SIZE];
    server->tls_port = 0;
    int listener = stream_listen_tcp(false, &server->tls_port);
    if (listener < 0) fail_msg("cannot listen on 127.0.0.1: %s", strerror(errno));
    close(listener);
    snprintf(door, sizeof(door), "127.0.0.1:%u", server->tls_port);
    doors_add(server->address, door);
    if (server->tcp_address[0] != '\0') doors_add(server->tcp_address, door);
    if (server->tcp6_address[0] != '\0') doors_add(server->tcp6_address, door);
}

static void remove_doors(const redis_server* server)
{
    doors_remove(server->address);
    doors_remove(server->tcp_address);
    doors_remove(server->tcp6_address);
}

static void choose_ports(redis_server* server)
{
    remove_doors(server);
    if (server->options.tcp) choose_port(server);
    if (suite_tls() && server->options.tls == NULL) choose_tls_port(server);
}

static void spawn(redis_server* server)
{
    redis_process_plan plan = {0};
    plan.folder = server->folder;
    plan.file = server->options.configuration == NULL ? NULL : server->file;
    plan.sentinel = server->options.sentinel;
    plan.append_only = server->options.append_only;
    plan.port = server->options.tcp && server->options.tls == NULL ? server->port : (uint16_t)0;
    plan.six = server->tcp6_address[0] != '\0';
    plan.tls_port = server->options.tls == NULL ? server->tls_port : server->port;
    plan.certificate = server->options.tls;
    plan.clock = server->clock;
    plan.arguments = server->options.arguments;
    server->pid = redis_process_spawn(&plan);
}

/* True when any reply but LOADING came: with a password set, NOAUTH is a sign of life too. */
static bool answers(redis_server* server)
{
    int descriptor = stream_connect(server->address);
    if (descriptor < 0) return false;
    bool result = false;
    struct timeval cap = {1, 0};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &cap, sizeof(cap));
    char reply[64] = "";
    if (send(descriptor, "PING\r\n", 6, MSG_NOSIGNAL) == 6 && recv(descriptor, reply, sizeof(reply) - 1, 0) > 0)
    {
        result = strncmp(reply, "-LOADING", 8) != 0;
    }
    close(descriptor);
    return result;
}

/* False when the process ended before it answered. */
static bool wait_until_it_answers(redis_server* server)
{
    uint64_t end_us = wait_cap_us();
    while (!answers(server))
    {
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid)
        {
            server->pid = 0;
            return false;
        }
        if (wait_now_us() >= end_us)
        {
            redis_process_show_log(server->folder);
            fail_msg("%s", "the server runs but does not answer");
        }
        wait_briefly();
    }
    return true;
}

static void start_process(redis_server* server, bool may_change_port)
{
    for (int attempt = 0; attempt < START_ATTEMPTS; attempt++)
    {
        if (may_change_port) choose_ports(server);
        spawn(server);
        if (wait_until_it_answers(server)) return;
        if (!server->options.tcp && !suite_tls()) break; /* nothing that a second attempt would change */
        wait_briefly();
    }
    redis_process_show_log(server->folder);
    fail_msg("%s", "the server did not start; its log is above");
}

static void remove_front(redis_server* server)
{
    front_way_remove(server->address);
    front_way_remove(server->tcp_address);
    forget_audit(server);
    front_give_back(server->front);
    scratch_remove(server->folder);
}

static void end_thing(void* thing)
{
    redis_server* server = thing;
    if (server->front != NULL) remove_front(server);
    else if (server->shared)
    {
        static const char script[] =
            "local n = '0' repeat local r = redis.call('SCAN', n, 'MATCH', ARGV[1], 'COUNT', 1000) n = r[1]"
            " for _, k in ipairs(r[2]) do redis.call('DEL', k) end until n == '0'";
        redisReply* reply = redis_server_command(server, "EVAL %s 0 %s:*", script, server->prefix);
        freeReplyObject(reply);
        forget_audit(server);
    }
    else
    {
        end_process(server, SIGKILL);
        scratch_remove(server->folder);
    }
    remove_doors(server);
    clock_close(server->clock);
    free(server);
}

static redis_server* new_server(const redis_server_options* options)
{
    redis_server* server = calloc(1, sizeof(*server));
    if (server == NULL) abort();
    if (options != NULL) server->options = *options;
    return server;
}

static void write_configuration(const redis_server* server)
{
    if (server->options.configuration == NULL) return;
    FILE* file = fopen(server->file, "w");
    if (file == NULL || fputs(server->options.configuration, file) < 0 || fclose(file) != 0)
        fail_msg("cannot write %s", server->file);
}

/* One that keeps its data is one that is killed, and one with words of its own is looked at as it is. */
static bool fleet_serves(const redis_server_options* options)
{
    if (suite_store() == SUITE_ONE_SERVER) return false;
    if (options == NULL) return true;
    if (options->configuration != NULL) return false; /* a node of a fleet */
    if (options->append_only || options->tls != NULL || options->user != NULL || options->password != NULL ||
        options->arguments != NULL)
        suite_one_server("a server with settings of its own");
    return true;
}

/* Who asks a master by another way, as redis-cli does, finds it at the server's own path. */
static void start_front(redis_server* server)
{
    server->front = front_take(server->options.clock);
    const char* master = front_only_master(server->front);
    if (master != NULL && symlink(master + strlen("unix:"), server->address + strlen("unix:")) != 0)
        fail_msg("cannot link %s", server->address);
    front_way_add(server->address, server->front);
    if (server->options.tcp) choose_port(server);
    if (server->options.tcp) front_way_add(server->tcp_address, server->front);
}

redis_server* redis_server_start(const redis_server_options* options)
{
    redis_server* server = new_server(options);
    char data[SCRATCH_PATH_SIZE + 8];
    scratch_folder(server->folder);
    snprintf(data, sizeof(data), "%s/data", server->folder);
    mkdir(data, 0700);
    snprintf(server->file, sizeof(server->file), "%s/server.conf", server->folder);
    snprintf(server->address, ADDRESS_SIZE, "unix:%s/redis.sock", server->folder);
    snprintf(server->prefix, sizeof(server->prefix), "gh");
    if (fleet_serves(options))
    {
        start_front(server);
        cleanup_add(end_thing, server);
        return server;
    }
    cleanup_add(end_thing, server);
    if (server->options.clock) server->clock = clock_open(server->folder);
    write_configuration(server);
    start_process(server, true);
    return server;
}

redis_server* redis_server_any(void)
{
    if (suite_redis_address() == NULL) return redis_server_start(NULL);
    redis_server* server = new_server(NULL);
    server->shared = true;
    snprintf(server->address, ADDRESS_SIZE, "%s", suite_redis_address());
    /* Not from the seed: a run that is repeated must not meet what a crashed one left behind. */
    snprintf(server->prefix, sizeof(server->prefix), "t%llx-%lx", (unsigned long long)wait_now_us() & 0xffffffffffffu,
             (unsigned long)getpid());
    cleanup_add(end_thing, server);
    return server;
}

redis_server* redis_server_cluster_node(void)
{
    static const char* const arguments[] = {"--cluster-enabled", "yes", NULL};
    static redis_server* node;
    if (node == NULL)
    {
        size_t mark = cleanup_mark();
        redis_server* started = redis_server_start(&(redis_server_options){.tcp = true, .arguments = arguments});
        redis_server_do(started, "CLUSTER ADDSLOTSRANGE 0 16383");
        WAIT_FOR(strstr(redis_server_text(started, "CLUSTER INFO"), "cluster_state:ok") != NULL);
        cleanup_keep(mark);
        node = started;
    }
    redis_server_do(node, "FLUSHALL");
    redis_server_do(node, "SCRIPT FLUSH");
    return node;
}

void redis_server_await_epoch(redis_server* taker, redis_server* giver)
{
    long long epoch = redis_server_told(giver, "CLUSTER INFO", "cluster_my_epoch:");
    assert_true(epoch >= 0);
    WAIT_FOR(redis_server_told(taker, "CLUSTER INFO", "cluster_current_epoch:") >= epoch);
}

static bool knows_all_slots(redis_server* node)
{
    const char* info = redis_server_text(node, "CLUSTER INFO");
    return strstr(info, "cluster_state:ok") != NULL && strstr(info, "cluster_slots_ok:16384") != NULL &&
           strstr(info, "cluster_known_nodes:2") != NULL;
}

void redis_server_cluster_pair(redis_server* nodes[2])
{
    static const char* const arguments[] = {"--cluster-enabled", "yes", NULL};
    static redis_server* pair[2];
    if (pair[0] == NULL)
    {
        redis_server_options options = {.tcp = true, .arguments = arguments};
        size_t mark = cleanup_mark();
        redis_server* first = redis_server_start(&options);
        redis_server* second = redis_server_start(&options);
        redis_server_do(first, "CLUSTER ADDSLOTSRANGE 0 16383");
        redis_server_do(first, "CLUSTER MEET 127.0.0.1 %s", strrchr(redis_server_tcp_address(second), ':') + 1);
        WAIT_FOR(knows_all_slots(first) && knows_all_slots(second));
        cleanup_keep(mark);
        pair[0] = first;
        pair[1] = second;
    }
    for (int i = 0; i < 2; i++) redis_server_do(nodes[i] = pair[i], "FLUSHALL");
}

const char* redis_server_address(const redis_server* server)
{
    return server->address;
}

const char* redis_server_tcp_address(const redis_server* server)
{
    return server->tcp_address[0] == '\0' ? NULL : server->tcp_address;
}

const char* redis_server_tcp6_address(const redis_server* server)
{
    return server->tcp6_address[0] == '\0' ? NULL : server->tcp6_address;
}

const char* redis_server_prefix(const redis_server* server)
{
    return server->prefix;
}

const char* redis_server_folder(const redis_server* server)
{
    return server->folder;
}

pid_t redis_server_pid(const redis_server* server)
{
    return server->pid;
}

bool redis_server_runs(const redis_server* server)
{
    return server->pid != 0 && !server->frozen;
}

void redis_server_stop(redis_server* server)
{
    end_process(server, SIGTERM);
}

void redis_server_kill9(redis_server* server)
{
    end_process(server, SIGKILL);
}

void redis_server_restart(redis_server* server)
{
    end_process(server, SIGKILL);
    start_process(server, false);
}

void redis_server_restart_empty(redis_server* server)
{
    char data[SCRATCH_PATH_SIZE + 8];
    end_process(server, SIGKILL);
    snprintf(data, sizeof(data), "%s/data", server->folder);
    scratch_remove(data);
    mkdir(data, 0700);
    write_configuration(server);
    start_process(server, false);
}

void redis_server_freeze(redis_server* server)
{
    int status = 0;
    must_be_ours(server);
    if (server->pid == 0) fail_msg("%s", "the server does not run");
    kill(server->pid, SIGSTOP);
    if (waitpid(server->pid, &status, WUNTRACED) != server->pid || !WIFSTOPPED(status))
    {
        server->pid = 0;
        fail_msg("%s", "the server ended instead of standing still");
    }
    server->frozen = true;
}

void redis_server_thaw(redis_server* server)
{
    must_be_ours(server);
    if (server->pid != 0) kill(server->pid, SIGCONT);
    server->frozen = false;
}

void redis_server_end(redis_server* server)
{
    cleanup_forget(server);
    end_thing(server);
}

void redis_server_shift_clock(redis_server* server, int64_t offset_us)
{
    if (server->front != NULL)
    {
        front_shift_clock(server->front, offset_us);
        return;
    }
    if (server->clock == NULL) fail_msg("%s", "start the server with options.clock");
    if (!clock_is_attached(server->clock)) fail_msg("%s", "the server did not load the clock shim");
    clock_shift(server->clock, offset_us);
}

void redis_server_hold_clock(redis_server* server, int64_t moment_us)
{
    if (server->clock == NULL) fail_msg("%s", "start the server with options.clock");
    if (!clock_is_attached(server->clock)) fail_msg("%s", "the server did not load the clock shim");
    clock_hold(server->clock, moment_us);
}

/* ---- Audits ---- */

/* The peer closed while no reply was due: the connection is of no use, and nothing was sent on it in vain. */
static bool is_stale(const redisContext* audit)
{
    char byte;
    ssize_t size = recv(audit->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR);
}

static void connect_audit(redis_server* server)
{
    if (server->audit != NULL && server->audit->err == 0 && !is_stale(server->audit)) return;
    forget_audit(server);
    int descriptor = stream_connect(server->address);
    if (descriptor < 0) fail_msg("cannot connect to %s: %s", server->address, strerror(errno));
    struct timeval cap = {(time_t)(30 * suite_patience()), 0};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &cap, sizeof(cap));
    server->audit = redisConnectFd(descriptor);
    if (server->audit == NULL) abort();
    if (server->options.password == NULL) return;

    redisReply* reply = server->options.user == NULL
                            ? redisCommand(server->audit, "AUTH %s", server->options.password)
                            : redisCommand(server->audit, "AUTH %s %s", server->options.user, server->options.password);
    if (reply != NULL) freeReplyObject(reply);
}

static void begin_audit(redis_server* server)
{
    if (server->last != NULL) freeReplyObject(server->last);
    server->last = NULL;
    if (server->front == NULL) connect_audit(server);
}

/* A command as hiredis would send it, "*2\r\n$3\r\nGET\r\n...", given to the fleet word by word. */
static redisReply* ask_front(const redis_server* server, const char* format, va_list arguments)
{
    const char* words[FRONT_WORDS_MAX];
    size_t sizes[FRONT_WORDS_MAX];
    char* bytes = NULL;
    if (redisvFormatCommand(&bytes, format, arguments) < 0) abort();
    const char* at = bytes;
    const size_t count = (size_t)strtoul(at + 1, NULL, 10);
    if (count > FRONT_WORDS_MAX) fail_msg("%s", "too many words for a fleet");
    for (size_t i = 0; i < count; i++)
    {
        at = strchr(at, '$');
        sizes[i] = (size_t)strtoul(at + 1, NULL, 10);
        words[i] = strchr(at, '\n') + 1;
        at = words[i] + sizes[i];
    }
    redisReply* reply = front_ask(server->front, words, sizes, count);
    redisFreeCommand(bytes);
    return reply;
}

/* NULL where the connection broke. */
static redisReply* try_audit(redis_server* server, const char* format, va_list arguments)
{
    if (server->shared && strncasecmp(format, "FLUSH", 5) == 0) fail_msg("%s", "never flush the server of --redis");
    begin_audit(server);
    if (server->front != NULL) return ask_front(server, format, arguments);

    /* hiredis writes without MSG_NOSIGNAL; the code under test keeps its own SIGPIPE manners, so only for
       now. */
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    redisReply* reply = redisvCommand(server->audit, format, arguments);
    signal(SIGPIPE, handler);
    return reply;
}

static redisReply* audit(redis_server* server, const char* format, va_list arguments)
{
    redisReply* reply = try_audit(server, format, arguments);
    if (reply == NULL) fail_msg("audit \"%s\": %s", format, server->audit->errstr);
    return reply;
}

redisReply* redis_server_try(redis_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = try_audit(server, format, arguments);
    va_end(arguments);
    return reply;
}

void redis_server_queue(redis_server* server, const char* format, ...)
{
    va_list arguments;
    if (server->queued == 0) begin_audit(server);
    va_start(arguments, format);
    if (server->front != NULL) freeReplyObject(ask_front(server, format, arguments));
    else if (redisvAppendCommand(server->audit, format, arguments) != REDIS_OK) abort();
    va_end(arguments);
    server->queued++;
}

void redis_server_drain(redis_server* server)
{
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    for (; server->queued > 0; server->queued--)
    {
        void* got = NULL;
        if (server->front != NULL) continue;
        if (redisGetReply(server->audit, &got) != REDIS_OK) fail_msg("queued audits: %s", server->audit->errstr);
        redisReply* reply = got;
        if (reply->type == REDIS_REPLY_ERROR) fail_msg("a queued audit: %s", reply->str);
        freeReplyObject(reply);
    }
    signal(SIGPIPE, handler);
}

redisReply* redis_server_words(redis_server* server, const char* const* words, const size_t* sizes, size_t count)
{
    begin_audit(server);
    if (server->front != NULL) return front_ask(server->front, words, sizes, count);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    redisReply* reply = redisCommandArgv(server->audit, (int)count, (const char**)words, sizes);
    signal(SIGPIPE, handler);
    if (reply == NULL) fail_msg("audit of %zu words: %s", count, server->audit->errstr);
    return reply;
}

redisReply* redis_server_command(redis_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = audit(server, format, arguments);
    va_end(arguments);
    return reply;
}

size_t redis_server_numbers(const redisReply* reply, long long* numbers, size_t most)
{
    size_t count = 0;
    const char* at = reply->type == REDIS_REPLY_STRING ? reply->str : "";
    for (; count < most && *at >= '0' && *at <= '9'; count++)
    {
        char* end;
        numbers[count] = strtoll(at, &end, 10);
        at = *end == ' ' ? end + 1 : "";
    }
    const size_t elements = reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
    for (; count < most && count < elements && reply->element[count]->type == REDIS_REPLY_INTEGER; count++)
        numbers[count] = reply->element[count]->integer;
    return count;
}

long long redis_server_integer(redis_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = audit(server, format, arguments);
    va_end(arguments);

    long long value = reply->integer;
    bool good = reply->type == REDIS_REPLY_INTEGER;
    if (reply->type == REDIS_REPLY_STRING)
    {
        char* end = NULL;
        value = strtoll(reply->str, &end, 10);
        good = reply->len > 0 && *end == '\0';
    }
    server->last = reply;
    if (!good)
    {
        fail_msg("audit \"%s\": no integer but type %d %s", format, reply->type, reply->str == NULL ? "" : reply->str);
    }
    return value;
}

const char* redis_server_text(redis_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = audit(server, format, arguments);
    va_end(arguments);

    server->last = reply;
    if (reply->type == REDIS_REPLY_NIL) return NULL;
    if (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_STATUS)
    {
        fail_msg("audit \"%s\": no text but type %d %s", format, reply->type, reply->str == NULL ? "" : reply->str);
    }
    return reply->str;
}

size_t redis_server_text_size(const redis_server* server)
{
    return server->last == NULL || server->last->str == NULL ? 0 : (size_t)server->last->len;
}

void redis_server_do(redis_server* server, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    redisReply* reply = audit(server, format, arguments);
    va_end(arguments);
    server->last = reply;
    if (reply->type == REDIS_REPLY_ERROR) fail_msg("audit \"%s\": %s", format, reply->str);
}

long long redis_server_told(redis_server* server, const char* command, const char* word)
{
    const char* text = redis_server_text(server, command);
    const char* at = text == NULL ? NULL : strstr(text, word);
    return at == NULL ? -1 : strtoll(at + strlen(word), NULL, 10);
}

long long redis_server_calls(redis_server* server, const char* command)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "\ncmdstat_%s:calls=", command);
    long long calls = 0;
    const char* at = redis_server_text(server, "INFO commandstats");
    while (at != NULL && (at = strstr(at, wanted)) != NULL) calls += strtoll(at += strlen(wanted), NULL, 10);
    return calls;
}

long long redis_server_keys(redis_server* server)
{
    if (server->front != NULL) return front_keys(server->front);
    if (!server->shared) return redis_server_integer(server, "DBSIZE");
    static const char script[] = "local c, n = 0, '0' repeat local r = redis.call('SCAN', n, 'MATCH', ARGV[1], 'COUNT',"
                                 " 1000) n = r[1] c = c + #r[2] until n == '0' return c";
    return redis_server_integer(server, "EVAL %s 0 %s:*", script, server->prefix);
}

void redis_server_await_replicas(redis_server* server, size_t count)
{
    redis_server_do(server, "PING");
    assert_int_equal(redis_server_integer(server, "WAIT %d 60000", (int)count), count);
}
