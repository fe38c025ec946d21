/* name_server.c -- a DNS server of the tests' own. */

#include "resolver/name_server.h"

#include "support/cleanup.h"
#include "support/server/stream.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_MAX 1500
#define HELD_MAX    64
#define NAMES_MAX   8
#define TEXT_MAX    1024
#define PEERS_MAX   4
#define TYPE_A      1
#define TYPE_CNAME  5
#define TYPE_AAAA   28

typedef struct message
{
    unsigned char bytes[MESSAGE_MAX];
    size_t size;
} message;

typedef struct held_answer
{
    message answer;
    struct sockaddr_in to;
} held_answer;

struct name_server
{
    int udp;
    int tcp;
    int peers[PEERS_MAX];
    uint16_t port;
    char address[32];
    name_server_mood mood;
    struct
    {
        char name[64];
        char addresses[TEXT_MAX];
        bool exists;
    } names[NAMES_MAX];
    held_answer held[HELD_MAX];
    unsigned held_count;
    unsigned asked;
    unsigned asked_by_tcp;
};

/* ---- its sockets ------------------------------------------------------------------------------------------------- */

static bool open_udp(name_server* self)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(self->port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    self->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->udp >= 0 && bind(self->udp, (struct sockaddr*)&at, sizeof(at)) == 0) return true;
    if (self->udp >= 0) close(self->udp);
    self->udp = -1;
    return false;
}

static void close_all(name_server* self)
{
    int* sockets[2 + PEERS_MAX] = {&self->udp, &self->tcp};
    for (int i = 0; i < PEERS_MAX; i++) sockets[2 + i] = &self->peers[i];
    for (int i = 0; i < 2 + PEERS_MAX; i++)
    {
        if (*sockets[i] >= 0) close(*sockets[i]);
        *sockets[i] = -1;
    }
}

static void end_server(void* thing)
{
    close_all(thing);
    free(thing);
}

name_server* name_server_start(void)
{
    name_server* self = calloc(1, sizeof(*self));
    assert_non_null(self);
    self->udp = self->tcp = -1;
    for (int i = 0; i < PEERS_MAX; i++) self->peers[i] = -1;
    for (int i = 0; i < 20 && self->udp < 0; i++)
    {
        close_all(self);
        self->port = 0;
        self->tcp = stream_listen_tcp(false, &self->port);
        assert_true(self->tcp >= 0);
        open_udp(self);
    }
    assert_true(self->udp >= 0);
    snprintf(self->address, sizeof(self->address), "127.0.0.1:%u", self->port);
    cleanup_add(end_server, self);
    return self;
}

const char* name_server_address(const name_server* self)
{
    return self->address;
}

void name_server_die(name_server* self)
{
    close_all(self);
}

void name_server_come_back(name_server* self)
{
    self->tcp = stream_listen_tcp(false, &self->port);
    assert_true(self->tcp >= 0 && open_udp(self));
}

/* ---- what it says ------------------------------------------------------------------------------------------------ */

void name_server_say(name_server* self, const char* name, const char* addresses)
{
    for (int i = 0; i < NAMES_MAX; i++)
    {
        if (self->names[i].name[0] != '\0' && strcmp(self->names[i].name, name) != 0) continue;
        snprintf(self->names[i].name, sizeof(self->names[i].name), "%s", name);
        self->names[i].exists = addresses != NULL;
        snprintf(self->names[i].addresses, TEXT_MAX, "%s", addresses == NULL ? "" : addresses);
        return;
    }
    fail_msg("%s", "more names than there is room for");
}

void name_server_mood_of(name_server* self, name_server_mood mood)
{
    self->mood = mood;
}

static void put_number(message* to, unsigned value, int size)
{
    for (int i = size - 1; i >= 0; i--)
        if (to->size < MESSAGE_MAX) to->bytes[to->size++] = (unsigned char)(value >> (8 * i));
}

static void put_bytes(message* to, const void* bytes, size_t size)
{
    if (to->size + size > MESSAGE_MAX) fail_msg("%s", "an answer too long for the tests' name server");
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
}

/* The question's name as text; where it ends, behind type and class, or 0: it is none. */
static size_t read_question(const unsigned char* bytes, size_t size, char name[256], unsigned* type)
{
    size_t at = 12;
    size_t used = 0;
    while (at < size && bytes[at] != 0)
    {
        size_t label = bytes[at++];
        if (label > 63 || at + label >= size || used + label + 1 > 254) return 0;
        if (used > 0) name[used++] = '.';
        memcpy(name + used, bytes + at, label);
        used += label;
        at += label;
    }
    name[used] = '\0';
    if (at + 5 > size) return 0;
    *type = (unsigned)(bytes[at + 1] << 8 | bytes[at + 2]);
    return at + 5;
}

static void put_record(message* to, unsigned type, const void* data, size_t size, bool lies)
{
    put_number(to, 0xc00c, 2); /* the name of the question */
    put_number(to, type, 2);
    put_number(to, 1, 2);
    put_number(to, 0, 4); /* seconds that it may be kept */
    put_number(to, (unsigned)size + (lies ? 500 : 0), 2);
    put_bytes(to, data, size);
}

/* All addresses of that type; how many. */
static unsigned put_addresses(message* to, const char* text, unsigned type, bool lies)
{
    unsigned count = 0;
    char copy[TEXT_MAX];
    snprintf(copy, sizeof(copy), "%s", text);
    for (char* word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
    {
        unsigned char number[16];
        bool six = strchr(word, ':') != NULL;
        if (six != (type == TYPE_AAAA)) continue;
        assert_int_equal(inet_pton(six ? AF_INET6 : AF_INET, word, number), 1);
        put_record(to, type, number, six ? 16 : 4, lies);
        count++;
    }
    return count;
}

static int index_of(const name_server* self, const char* name)
{
    for (int i = 0; i < NAMES_MAX; i++)
        if (self->names[i].exists && strcmp(self->names[i].name, name) == 0) return i;
    return -1;
}

static void build_answer(const name_server* self, const unsigned char* question, size_t size, message* answer,
                         bool by_tcp)
{
    char name[256];
    unsigned type = 0, code = 0, count = 0;
    bool is_cut = (self->mood == NAMES_TRUNCATED || self->mood == NAMES_HANGS_UP) && !by_tcp;
    size_t end = read_question(question, size, name, &type);
    int index = index_of(self, name);
    answer->size = 0;
    if (end == 0 || (type != TYPE_A && type != TYPE_AAAA)) return;
    put_bytes(answer, question, end);
    if (index < 0) code = 3;
    if (self->mood == NAMES_SERVFAIL) code = 2;
    if (self->mood == NAMES_REFUSED) code = 5;
    answer->bytes[2] = (unsigned char)(0x81 | (is_cut ? 2 : 0)); /* an answer, recursion desired */
    answer->bytes[3] = (unsigned char)(0x80 | code);
    memset(answer->bytes + 4, 0, 8);
    answer->bytes[5] = 1; /* question */
    if (code == 0 && !is_cut && self->mood == NAMES_LOOP)
    {
        put_record(answer, TYPE_CNAME, "\xc0\x0c", 2, false);
        count = 1;
    }
    else if (code == 0 && !is_cut)
        count = put_addresses(answer, self->names[index].addresses, type, self->mood == NAMES_LYING_LENGTH);
    answer->bytes[7] = (unsigned char)count;
}

/* ---- how it says it ---------------------------------------------------------------------------------------------- */

static void send_to(name_server* self, const message* answer, size_t size, const struct sockaddr_in* to)
{
    (void)!sendto(self->udp, answer->bytes, size, 0, (const struct sockaddr*)to, sizeof(*to));
}

static void send_forged(name_server* self, message* answer, const struct sockaddr_in* to)
{
    answer->bytes[0] ^= 0x55;
    send_to(self, answer, answer->size, to);
    answer->bytes[0] ^= 0x55;
    answer->bytes[13] ^= 0x01; /* a letter of the question's name */
    send_to(self, answer, answer->size, to);
}

static void send_garbage(name_server* self, const message* answer, const struct sockaddr_in* to)
{
    message noise = {.size = 200};
    uint64_t random = suite_seed() + self->asked;
    for (unsigned round = 0; round < 8; round++)
    {
        for (size_t i = 0; i < noise.size; i++)
        {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            noise.bytes[i] = (unsigned char)(random >> 56);
        }
        if (round % 2 == 0) memcpy(noise.bytes, answer->bytes, 2); /* the id of the question */
        send_to(self, &noise, noise.size, to);
    }
}

/* Of the question that stands in front of an answer. */
static unsigned type_of(const message* answer)
{
    char name[256];
    unsigned type = 0;
    read_question(answer->bytes, answer->size, name, &type);
    return type;
}

static void hold(name_server* self, const message* answer, const struct sockaddr_in* to)
{
    if (self->held_count == HELD_MAX) return;
    self->held[self->held_count].answer = *answer;
    self->held[self->held_count++].to = *to;
}

static void answer_udp(name_server* self, const message* answer, const struct sockaddr_in* to)
{
    message changed = *answer;
    switch (self->mood)
    {
    case NAMES_SILENT: return;
    case NAMES_SILENT_SIX:
        if (type_of(answer) == TYPE_AAAA) return;
        break;
    case NAMES_HANGS_UP:
        if (type_of(answer) == TYPE_AAAA)
        {
            hold(self, answer, to);
            return;
        }
        break;
    case NAMES_GARBAGE: send_garbage(self, answer, to); return;
    case NAMES_TORN:
        for (size_t size = 0; size < answer->size; size++) send_to(self, answer, size, to);
        return;
    case NAMES_FORGED: send_forged(self, &changed, to); return;
    case NAMES_HELD: hold(self, answer, to); return;
    case NAMES_ANSWERS:
    case NAMES_SERVFAIL:
    case NAMES_REFUSED:
    case NAMES_TRUNCATED:
    case NAMES_LYING_LENGTH:
    case NAMES_LOOP: break;
    }
    send_to(self, answer, answer->size, to);
}

static void serve_udp(name_server* self)
{
    unsigned char question[MESSAGE_MAX];
    struct sockaddr_in from;
    message answer;
    for (;;)
    {
        socklen_t from_size = sizeof(from);
        ssize_t got = recvfrom(self->udp, question, sizeof(question), 0, (struct sockaddr*)&from, &from_size);
        if (got < 0) return;
        self->asked++;
        build_answer(self, question, (size_t)got, &answer, false);
        if (answer.size > 0) answer_udp(self, &answer, &from);
    }
}

/* A question that lies there whole; else it waits for the next call. */
static void serve_peer(name_server* self, int* peer)
{
    unsigned char question[MESSAGE_MAX];
    unsigned char length[2];
    message answer;
    ssize_t got = recv(*peer, question, sizeof(question), MSG_PEEK | MSG_DONTWAIT);
    if (got == 0)
    {
        close(*peer);
        *peer = -1;
    }
    if (got < 2 || got < 2 + (question[0] << 8 | question[1])) return;
    got = recv(*peer, question, (size_t)(2 + (question[0] << 8 | question[1])), 0);
    self->asked++;
    self->asked_by_tcp++;
    build_answer(self, question + 2, (size_t)got - 2, &answer, true);
    length[0] = (unsigned char)(answer.size >> 8);
    length[1] = (unsigned char)answer.size;
    (void)!send(*peer, length, 2, MSG_NOSIGNAL);
    (void)!send(*peer, answer.bytes, answer.size, MSG_NOSIGNAL);
}

/* Its end first, and then a reset: whoever writes to it now is told EPIPE. */
static void hang_up(name_server* self, int* peer)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    shutdown(*peer, SHUT_WR);
    setsockopt(*peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(*peer);
    *peer = -1;
    name_server_release(self);
}

void name_server_serve(name_server* self)
{
    if (self->udp < 0) return;
    serve_udp(self);
    for (int i = 0; i < PEERS_MAX; i++)
    {
        if (self->peers[i] < 0) self->peers[i] = accept(self->tcp, NULL, NULL);
        if (self->peers[i] >= 0 && self->mood == NAMES_HANGS_UP) hang_up(self, &self->peers[i]);
        if (self->peers[i] >= 0) serve_peer(self, &self->peers[i]);
    }
}

unsigned name_server_release(name_server* self)
{
    unsigned count = self->held_count;
    for (unsigned i = 0; i < count; i++)
        send_to(self, &self->held[i].answer, self->held[i].answer.size, &self->held[i].to);
    self->held_count = 0;
    return count;
}

unsigned name_server_asked(const name_server* self)
{
    return self->asked;
}

unsigned name_server_asked_by_tcp(const name_server* self)
{
    return self->asked_by_tcp;
}
