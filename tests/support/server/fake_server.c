/* fake_server.c -- a thread that reads requests and says what it was given to say. */

#include "support/server/fake_server.h"

#include "support/buffer.h"
#include "support/cleanup.h"
#include "support/server/fake_default.h"
#include "support/server/resp.h"
#include "support/scratch.h"
#include "support/server/stream.h"
#include "support/suite.h"
#include "support/scene/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PEER_CAPACITY     32
#define ARGUMENT_CAPACITY 4096
#define ADDRESS_SIZE      128
#define GREETING_SIZE     256

typedef struct fake_peer
{
    bool open;
    uint64_t number;
    int descriptor;
    int server; /* a connection to the real server, made when first needed; -1 before */
    byte_buffer in;
    byte_buffer out;
    bool endless; /* when out is empty, endless_byte comes again and again */
    char endless_byte;
    bool closing; /* when out is empty */
} fake_peer;

struct fake_server
{
    worker_thread worker;
    fake_answer answer;
    void* context;
    char address[ADDRESS_SIZE];
    char server_address[ADDRESS_SIZE]; /* empty: none */
    char greeting[GREETING_SIZE];
    bool greeting_closes;
    int listener;
    uint64_t connections;
    uint64_t requests;
    uint64_t malformed;
    fake_peer peers[PEER_CAPACITY];
};

struct fake_reply
{
    fake_server* fake;
    fake_peer* peer;
    const fake_request* request;
    size_t begin; /* of this reply, in the peer's out */
};

/* ---- Composing a reply ---- */

void fake_reply_bytes(fake_reply* reply, const void* bytes, size_t size)
{
    buffer_add(&reply->peer->out, bytes, size);
}

void fake_reply_text(fake_reply* reply, const char* text)
{
    fake_reply_bytes(reply, text, strlen(text));
}

void fake_reply_format(fake_reply* reply, const char* format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fake_reply_text(reply, text);
}

void fake_reply_bulk(fake_reply* reply, const char* format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fake_reply_format(reply, "$%d\r\n%s\r\n", size, text);
}

void fake_reply_fill(fake_reply* reply, char byte, size_t count)
{
    if (count == 0) return;
    memset(buffer_reserve(&reply->peer->out, count), byte, count);
    reply->peer->out.size += count;
}

void fake_reply_endless(fake_reply* reply, char byte)
{
    reply->peer->endless = true;
    reply->peer->endless_byte = byte;
}

void fake_reply_close(fake_reply* reply)
{
    reply->peer->closing = true;
}

char* fake_reply_so_far(fake_reply* reply, size_t* size)
{
    *size = reply->peer->out.size - reply->begin;
    return buffer_reserve(&reply->peer->out, 1) - *size;
}

void fake_reply_cut(fake_reply* reply, size_t size)
{
    if (reply->begin + size < reply->peer->out.size) reply->peer->out.size = reply->begin + size;
}

/* Sends the request on and takes exactly one reply back, waiting for it. */
static bool ask_server(fake_reply* reply)
{
    fake_peer* peer = reply->peer;
    struct timeval cap = {10, 0};
    if (peer->server < 0) peer->server = stream_connect(reply->fake->server_address);
    if (peer->server < 0) return false;
    setsockopt(peer->server, SOL_SOCKET, SO_RCVTIMEO, &cap, sizeof(cap));
    if (send(peer->server, reply->request->raw, reply->request->raw_size, MSG_NOSIGNAL) < 0) return false;

    byte_buffer answer = {0};
    ssize_t whole = 0;
    while (whole == 0)
    {
        char* room = buffer_reserve(&answer, 16384);
        ssize_t size = recv(peer->server, room, 16384, 0);
        if (size < 0 && errno == EINTR) continue; /* the process was stopped for a moment */
        if (size <= 0) break;
        answer.size += (size_t)size;
        whole = resp_reply_size(answer.bytes, answer.size);
    }
    if (whole > 0) buffer_add(&peer->out, answer.bytes, (size_t)whole);
    buffer_free(&answer);
    return whole > 0;
}

void fake_reply_default(fake_reply* reply)
{
    if (reply->fake->server_address[0] == '\0')
    {
        fake_default_answer(reply->request, reply);
        return;
    }
    if (!ask_server(reply)) fake_reply_close(reply);
}

/* ---- Requests ---- */

static bool same_word(const fake_argument* argument, const char* word, size_t size)
{
    return argument->size == size && strncasecmp(argument->bytes, word, size) == 0;
}

bool fake_request_is(const fake_request* request, const char* command)
{
    size_t first = strcspn(command, " ");
    if (!same_word(&request->arguments[0], command, first)) return false;
    if (command[first] == '\0') return true;
    const char* second = command + first + 1;
    return request->count > 1 && same_word(&request->arguments[1], second, strlen(second));
}

static void answer_request(fake_server* fake, fake_peer* peer, const fake_request* request)
{
    fake_reply reply = {fake, peer, request, peer->out.size};
    if (fake->answer == NULL) fake_reply_default(&reply);
    else fake->answer(fake->context, request, &reply);
}

/* Takes the request at the front apart. Returns its size, 0 if it is not complete, -1 if it is none. */
static ssize_t parse_request(const char* bytes, size_t size, fake_argument* arguments, size_t* count)
{
    long long number = 0;
    ssize_t at = resp_header(bytes, size, '*', &number);
    if (at <= 0) return at;
    if (number < 1 || number > ARGUMENT_CAPACITY) return -1;
    *count = (size_t)number;
    for (size_t i = 0; i < *count; i++)
    {
        long long length = 0;
        ssize_t header = resp_header(bytes + at, size - (size_t)at, '$', &length);
        if (header <= 0) return header;
        if (length < 0) return -1;
        at += header;
        if ((size_t)at + (size_t)length + 2 > size) return 0;
        arguments[i].bytes = bytes + at;
        arguments[i].size = (size_t)length;
        at += (ssize_t)length + 2;
        if (bytes[at - 2] != '\r' || bytes[at - 1] != '\n') return -1;
    }
    return at;
}

static void serve_requests(fake_server* fake, fake_peer* peer)
{
    fake_argument arguments[ARGUMENT_CAPACITY];
    while (peer->open && !peer->closing && !peer->endless)
    {
        fake_request request = {peer->number, fake->requests, 0, arguments, peer->in.bytes, 0};
        ssize_t size = parse_request(peer->in.bytes, peer->in.size, arguments, &request.count);
        if (size == 0) return;
        if (size < 0)
        {
            fake->malformed++;
            peer->closing = true;
            return;
        }
        request.raw_size = (size_t)size;
        fake->requests++;
        answer_request(fake, peer, &request);
        buffer_consume(&peer->in, (size_t)size);
    }
}

/* ---- Peers ---- */

static void close_peer(fake_peer* peer)
{
    if (!peer->open) return;
    peer->open = false;
    close(peer->descriptor);
    if (peer->server >= 0) close(peer->server);
    buffer_free(&peer->in);
    buffer_free(&peer->out);
}

static void read_some(fake_peer* peer)
{
    char* room = buffer_reserve(&peer->in, 16384);
    ssize_t size = recv(peer->descriptor, room, 16384, MSG_DONTWAIT);
    if (size > 0) peer->in.size += (size_t)size;
    else if (size == 0 || (errno != EAGAIN && errno != EINTR)) close_peer(peer);
}

static void send_some(fake_peer* peer)
{
    /* A bounded number at a time: others want to be served while somebody drinks from an endless reply. */
    for (int burst = 0; peer->open && burst < 16; burst++)
    {
        if (peer->out.size == 0 && peer->endless)
        {
            memset(buffer_reserve(&peer->out, 16384), peer->endless_byte, 16384);
            peer->out.size = 16384;
        }
        if (peer->out.size == 0) break;
        ssize_t sent = send(peer->descriptor, peer->out.bytes, peer->out.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (sent < 0) close_peer(peer);
        else buffer_consume(&peer->out, (size_t)sent);
    }
    if (peer->open && peer->closing && peer->out.size == 0) close_peer(peer);
}

static void accept_one(fake_server* fake, int descriptor)
{
    fake->connections++;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < PEER_CAPACITY; i++)
    {
        fake_peer* peer = &fake->peers[i];
        if (peer->open) continue;
        memset(peer, 0, sizeof(*peer));
        peer->open = true;
        peer->number = fake->connections;
        peer->descriptor = descriptor;
        peer->server = -1;
        buffer_add(&peer->out, fake->greeting, strlen(fake->greeting));
        peer->closing = fake->greeting_closes;
        return;
    }
    close(descriptor);
}

static size_t collect_wanted(const fake_server* fake, struct pollfd* wanted)
{
    size_t count = 2;
    wanted[0] = (struct pollfd){fake->worker.poke_out, POLLIN, 0};
    wanted[1] = (struct pollfd){fake->listener, POLLIN, 0};
    for (size_t i = 0; i < PEER_CAPACITY; i++)
    {
        const fake_peer* peer = &fake->peers[i];
        short events = peer->out.size > 0 || peer->endless ? POLLIN | POLLOUT : POLLIN;
        if (peer->open) wanted[count++] = (struct pollfd){peer->descriptor, events, 0};
    }
    return count;
}

static void step(void* context)
{
    fake_server* fake = context;
    struct pollfd wanted[2 + PEER_CAPACITY];
    pthread_mutex_lock(&fake->worker.lock);
    size_t count = collect_wanted(fake, wanted);
    pthread_mutex_unlock(&fake->worker.lock);

    poll(wanted, (nfds_t)count, -1);

    pthread_mutex_lock(&fake->worker.lock);
    worker_was_poked(&fake->worker);
    int descriptor = accept(fake->listener, NULL, NULL);
    if (descriptor >= 0) accept_one(fake, descriptor);
    for (size_t i = 0; i < PEER_CAPACITY; i++)
    {
        fake_peer* peer = &fake->peers[i];
        if (peer->open) read_some(peer);
        if (peer->open) serve_requests(fake, peer);
        if (peer->open) send_some(peer);
    }
    pthread_mutex_unlock(&fake->worker.lock);
}

/* ---- Controls ---- */

static void end_thing(void* thing)
{
    fake_server* fake = thing;
    worker_stop(&fake->worker);
    close(fake->listener);
    for (size_t i = 0; i < PEER_CAPACITY; i++) close_peer(&fake->peers[i]);
    free(fake);
}

fake_server* fake_server_start(fake_answer answer, void* context, const char* server_address)
{
    char folder[SCRATCH_PATH_SIZE];
    suite_one_server("a fake server");
    fake_server* fake = calloc(1, sizeof(*fake));
    if (fake == NULL) abort();
    scratch_folder(folder);
    fake->answer = answer;
    fake->context = context;
    snprintf(fake->address, ADDRESS_SIZE, "unix:%s/fake.sock", folder);
    snprintf(fake->server_address, ADDRESS_SIZE, "%s", server_address == NULL ? "" : server_address);
    fake->listener = stream_listen_unix(fake->address + strlen("unix:"));
    if (fake->listener < 0) fail_msg("the fake server cannot listen: %s", strerror(errno));
    worker_start(&fake->worker, step, fake);
    cleanup_add(end_thing, fake);
    return fake;
}

void fake_server_end(fake_server* fake)
{
    cleanup_forget(fake);
    end_thing(fake);
}

const char* fake_server_address(const fake_server* fake)
{
    return fake->address;
}

void fake_server_greet(fake_server* fake, const char* text, bool then_close)
{
    pthread_mutex_lock(&fake->worker.lock);
    snprintf(fake->greeting, GREETING_SIZE, "%s", text == NULL ? "" : text);
    fake->greeting_closes = then_close;
    pthread_mutex_unlock(&fake->worker.lock);
}

static uint64_t read_count(fake_server* fake, const uint64_t* count)
{
    pthread_mutex_lock(&fake->worker.lock);
    uint64_t value = *count;
    pthread_mutex_unlock(&fake->worker.lock);
    return value;
}

uint64_t fake_server_connections(fake_server* fake)
{
    return read_count(fake, &fake->connections);
}

uint64_t fake_server_requests(fake_server* fake)
{
    return read_count(fake, &fake->requests);
}

uint64_t fake_server_malformed(fake_server* fake)
{
    return read_count(fake, &fake->malformed);
}

/* ---- Rules ---- */

static bool rule_fits(fake_rule* rule, const fake_request* request)
{
    if (rule->command != NULL && !fake_request_is(request, rule->command)) return false;
    unsigned seen = rule->seen++;
    return seen >= rule->skip && (rule->times == 0 || seen - rule->skip < rule->times);
}

void fake_answer_by_rules(void* context, const fake_request* request, fake_reply* reply)
{
    fake_rules* table = context;
    for (size_t i = 0; i < table->count; i++)
    {
        fake_rule* rule = &table->rules[i];
        if (!rule_fits(rule, request)) continue;
        if (rule->execute)
        {
            fake_reply_default(reply);
            fake_reply_cut(reply, 0);
        }
        if (rule->text != NULL) fake_reply_bytes(reply, rule->text, rule->size == 0 ? strlen(rule->text) : rule->size);
        if (rule->close) fake_reply_close(reply);
        return;
    }
    fake_reply_default(reply);
}
