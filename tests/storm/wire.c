/* wire.c -- one loop that carries bytes, and does to them what it is ordered to do. */

#define _GNU_SOURCE

#include "storm/wire.h"

#include "storm/history.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum
{
    PAIRS_MAX = 512,
    LISTENERS = 3 + WIRE_DOORS,
    PIECE = 16 * 1024,
    HELD_MAX = 8 * 1024 * 1024
};

/* One direction of a connection. */
typedef struct wire_flow
{
    int from;
    int to;
    bool ended;   /* nothing more comes */
    bool told;    /* the other side knows */
    bool swallow; /* what is held will not be passed on */
    uint64_t held_until_us;
    size_t begin;
    size_t end;
    size_t capacity;
    char* bytes;
} wire_flow;

typedef struct wire_pair
{
    bool used;
    bool replica;
    bool nameless; /* came through a door, and has not said anything yet */
    uint16_t listener;
    int client; /* -1: severed */
    int server;
    uint64_t sever_at_us; /* 0: not */
    wire_flow flows[2];
} wire_pair;

static struct
{
    int orders[2];            /* the nemesis' end, the wire's end */
    int listeners[LISTENERS]; /* unix, TCP, replica, doors */
    char addresses[2][WIRE_PATH_SIZE + 8];
    char door_addresses[WIRE_DOORS][24];
    uint16_t door_ports[WIRE_DOORS];
    uint16_t door_upstreams[WIRE_DOORS];
    uint16_t replica_port;
    uint16_t replica_upstream;
    char server[WIRE_PATH_SIZE];
    wire_pair pairs[PAIRS_MAX];
    uint64_t now_us;
    uint64_t shut_until_us;
    uint64_t chop_until_us;
    uint64_t lag_until_us;
    uint32_t chop_size;
} wire;

/* ---- connections --------------------------------------------------------------------------------------- */

static void close_descriptor(int* descriptor, bool abrupt)
{
    if (*descriptor < 0) return;
    struct linger now = {1, 0};
    if (abrupt) (void)setsockopt(*descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)close(*descriptor);
    *descriptor = -1;
}

static void end_pair(wire_pair* pair, bool abrupt)
{
    close_descriptor(&pair->client, abrupt);
    close_descriptor(&pair->server, abrupt);
    for (int i = 0; i < 2; i++) free(pair->flows[i].bytes);
    memset(pair, 0, sizeof *pair);
}

static int connect_unix(const char* path)
{
    struct sockaddr_un name;
    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr*)&name, sizeof name) == 0) return descriptor;
    (void)close(descriptor);
    return -1;
}

static int connect_port(uint16_t port)
{
    struct sockaddr_in name;
    memset(&name, 0, sizeof name);
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr*)&name, sizeof name) == 0 || errno == EINPROGRESS) return descriptor;
    (void)close(descriptor);
    return -1;
}

static wire_pair* free_pair(void)
{
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        if (!wire.pairs[i].used) return &wire.pairs[i];
    }
    return NULL;
}

static int connect_upstream(int which)
{
    if (which == 2) return connect_port(wire.replica_upstream);
    return which > 2 ? connect_port(wire.door_upstreams[which - 3]) : connect_unix(wire.server);
}

static void accept_one(int which)
{
    int client = accept4(wire.listeners[which], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    wire_pair* pair = free_pair();
    bool replica = which == 2;
    bool shut = wire.now_us < wire.shut_until_us && !replica;
    int server = pair == NULL || shut ? -1 : connect_upstream(which);
    if (server < 0)
    {
        (void)close(client);
        return;
    }
    int on = 1;
    if (which != 0) (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (which > 2) (void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    memset(pair, 0, sizeof *pair);
    pair->used = true;
    pair->replica = replica;
    pair->nameless = which > 2;
    pair->listener = (uint16_t)which;
    pair->client = client;
    pair->server = server;
    pair->flows[WIRE_REQUESTS].from = pair->flows[WIRE_REPLIES].to = client;
    pair->flows[WIRE_REQUESTS].to = pair->flows[WIRE_REPLIES].from = server;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static bool is_held(const wire_pair* pair, int way)
{
    if (pair->replica && way == WIRE_REPLIES && wire.now_us < wire.lag_until_us) return true;
    return wire.now_us < pair->flows[way].held_until_us;
}

static bool wants_more(const wire_pair* pair, int way)
{
    const wire_flow* flow = &pair->flows[way];
    size_t most = is_held(pair, way) ? (size_t)HELD_MAX : (size_t)PIECE * 4;
    return flow->from >= 0 && !flow->ended && flow->end - flow->begin < most;
}

static void take_bytes(wire_flow* flow)
{
    if (flow->begin > 0)
    {
        memmove(flow->bytes, flow->bytes + flow->begin, flow->end - flow->begin);
        flow->end -= flow->begin;
        flow->begin = 0;
    }
    if (flow->capacity - flow->end < PIECE)
    {
        flow->capacity = flow->capacity * 2 + PIECE * 2;
        flow->bytes = realloc(flow->bytes, flow->capacity);
        if (flow->bytes == NULL) abort();
    }
    ssize_t count = recv(flow->from, flow->bytes + flow->end, flow->capacity - flow->end, MSG_DONTWAIT);
    if (count > 0) flow->end += (size_t)count;
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) flow->ended = true;
}

/* Who begins with PING is a replica: players log in first. */
static void name(wire_pair* pair)
{
    static const char word[] = "*1\r\n$4\r\nPING";
    const wire_flow* requests = &pair->flows[WIRE_REQUESTS];
    if (requests->end < sizeof word - 1) return;
    pair->replica = memcmp(requests->bytes, word, sizeof word - 1) == 0;
    pair->nameless = false;
}

/* False when the receiver is gone. */
static bool pass_bytes(wire_flow* flow)
{
    size_t size = flow->end - flow->begin;
    bool chopped = wire.now_us < wire.chop_until_us;
    if (chopped && size > wire.chop_size) size = wire.chop_size;
    if (size == 0) return true;
    ssize_t count = send(flow->to, flow->bytes + flow->begin, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) flow->begin += (size_t)count;
    return count > 0 || errno == EAGAIN || errno == EINTR;
}

/* The client's side goes; what it has sent stays under way. */
static void sever(wire_pair* pair)
{
    wire_flow* requests = &pair->flows[WIRE_REQUESTS];
    while (!requests->ended)
    {
        size_t before = requests->end - requests->begin;
        take_bytes(requests);
        if (requests->end - requests->begin == before) break;
    }
    close_descriptor(&pair->client, false);
    requests->from = -1;
    requests->ended = true;
    pair->flows[WIRE_REPLIES].to = -1;
    pair->flows[WIRE_REPLIES].held_until_us = 0;
    pair->sever_at_us = 0;
}

static void move_flow(wire_pair* pair, int way)
{
    wire_flow* flow = &pair->flows[way];
    if (is_held(pair, way)) return;
    if (flow->swallow)
    {
        end_pair(pair, true);
        return;
    }
    if (flow->to < 0) flow->begin = flow->end; /* nobody listens any more */
    else if (!pass_bytes(flow))
    {
        if (way == WIRE_REPLIES) sever(pair); /* the client has gone; what it has sent is still under way */
        else end_pair(pair, false);
        return;
    }
    if (flow->ended && flow->begin == flow->end && !flow->told)
    {
        flow->told = true;
        if (way == WIRE_REPLIES) end_pair(pair, false); /* the server has closed */
        else (void)shutdown(flow->to, SHUT_WR);         /* it hears the end behind the last byte, and closes */
    }
}

static void move_pair(wire_pair* pair)
{
    if (pair->nameless) name(pair);
    if (pair->sever_at_us != 0 && wire.now_us >= pair->sever_at_us) sever(pair);
    for (int way = 0; way < 2 && pair->used; way++) move_flow(pair, way);
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static void hold(wire_pair* pair, const wire_order* order)
{
    for (int way = 0; way < 2; way++)
    {
        if (order->way != WIRE_BOTH && (int)order->way != way) continue;
        pair->flows[way].held_until_us = wire.now_us + order->for_us;
        pair->flows[way].swallow = order->what == WIRE_SWALLOW;
    }
    if (order->sever_us != 0) pair->sever_at_us = wire.now_us + order->sever_us;
}

static void to_some(const wire_order* order)
{
    random_stream random = random_from_seed(order->seed);
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        wire_pair* pair = &wire.pairs[i];
        bool chosen = random_below(&random, 1000) < order->share;
        if (!chosen || !pair->used || pair->replica || pair->client < 0) continue;
        if (order->what == WIRE_CUT) end_pair(pair, order->abrupt);
        else hold(pair, order);
    }
}

static void heal(void)
{
    wire.shut_until_us = wire.chop_until_us = wire.lag_until_us = 0;
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        for (int way = 0; way < 2; way++) wire.pairs[i].flows[way].held_until_us = 0;
    }
}

/* All connections go, and with them what they hold. */
static void cut_all(bool replicas)
{
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        if (wire.pairs[i].used && wire.pairs[i].replica == replicas) end_pair(&wire.pairs[i], false);
    }
}

static void lead_door_to(uint16_t door, uint16_t port)
{
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        if (wire.pairs[i].used && wire.pairs[i].listener == 3 + door) end_pair(&wire.pairs[i], false);
    }
    wire.door_upstreams[door] = port;
}

static void obey(const wire_order* order)
{
    switch (order->what)
    {
    case WIRE_CUT:
    case WIRE_HOLD:
    case WIRE_SWALLOW: to_some(order); break;
    case WIRE_CHOP:
        wire.chop_until_us = wire.now_us + order->for_us;
        wire.chop_size = order->size;
        break;
    case WIRE_SHUT: wire.shut_until_us = wire.now_us + order->for_us; break;
    case WIRE_SERVER:
        (void)snprintf(wire.server, sizeof wire.server, "%s", order->path);
        cut_all(false);
        break;
    case WIRE_LAG: wire.lag_until_us = wire.now_us + order->for_us; break;
    case WIRE_UPSTREAM_OF_REPLICA:
        cut_all(true);
        wire.lag_until_us = 0;
        wire.replica_upstream = order->port;
        break;
    case WIRE_UPSTREAM_OF_DOOR: lead_door_to(order->door, order->port); break;
    case WIRE_HEAL: heal(); break;
    }
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static struct pollfd polled[1 + LISTENERS + PAIRS_MAX * 2];
static wire_flow* polled_flow[1 + LISTENERS + PAIRS_MAX * 2];

static nfds_t add_flow(nfds_t count, wire_pair* pair, int way)
{
    wire_flow* flow = &pair->flows[way];
    int descriptor = way == WIRE_REQUESTS ? pair->client : pair->server;
    wire_flow* out = &pair->flows[1 - way];
    bool out_waits = out->end > out->begin && !is_held(pair, 1 - way) && out->to >= 0;
    if (descriptor < 0) return count;
    short events = (short)((wants_more(pair, way) ? POLLIN : 0) | (out_waits ? POLLOUT : 0));
    if (events == 0) return count;
    polled[count].fd = descriptor;
    polled[count].events = events;
    polled_flow[count] = flow;
    return count + 1;
}

static nfds_t gather(void)
{
    nfds_t count = 0;
    for (int i = 0; i < 1 + LISTENERS; i++)
    {
        polled[count].fd = i == 0 ? wire.orders[1] : wire.listeners[i - 1];
        polled[count].events = POLLIN;
        polled_flow[count++] = NULL;
    }
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        if (!wire.pairs[i].used) continue;
        count = add_flow(count, &wire.pairs[i], WIRE_REQUESTS);
        count = add_flow(count, &wire.pairs[i], WIRE_REPLIES);
    }
    return count;
}

static void turn(void)
{
    nfds_t count = gather();
    if (poll(polled, count, 5) < 0) return;
    wire.now_us = history_now();
    for (nfds_t i = 1 + LISTENERS; i < count; i++)
    {
        if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && (polled[i].events & POLLIN) != 0)
            take_bytes(polled_flow[i]);
    }
    for (int i = 0; i < PAIRS_MAX; i++)
    {
        if (wire.pairs[i].used) move_pair(&wire.pairs[i]);
    }
    for (int i = 0; i < LISTENERS; i++)
    {
        if ((polled[1 + i].revents & POLLIN) != 0) accept_one(i);
    }
    wire_order order;
    while (recv(wire.orders[1], &order, sizeof order, MSG_DONTWAIT) == (ssize_t)sizeof order) obey(&order);
}

static int wire_run(void* context, int results)
{
    (void)context;
    (void)results;
    (void)close(wire.orders[0]);
    wire.now_us = history_now();
    while (getppid() != 1) turn(); /* it is killed with its parent */
    return 0;
}

/* ---- the nemesis' side --------------------------------------------------------------------------------- */

void wire_start(const char* server_path, const char* folder)
{
    uint16_t port = 0;
    char path[WIRE_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s/wire.sock", folder);
    (void)snprintf(wire.server, sizeof wire.server, "%s", server_path);
    (void)snprintf(wire.addresses[0], sizeof wire.addresses[0], "unix:%s", path);
    wire.listeners[0] = stream_listen_unix(path);
    wire.listeners[1] = stream_listen_tcp(false, &port);
    (void)snprintf(wire.addresses[1], sizeof wire.addresses[1], "127.0.0.1:%u", port);
    wire.listeners[2] = stream_listen_tcp(false, &wire.replica_port);
    for (unsigned i = 0; i < WIRE_DOORS; i++)
    {
        wire.listeners[3 + i] = stream_listen_tcp(false, &wire.door_ports[i]);
        (void)snprintf(wire.door_addresses[i], sizeof wire.door_addresses[i], "127.0.0.1:%u", wire.door_ports[i]);
    }
    bool listening = true;
    for (int i = 0; i < LISTENERS; i++) listening = listening && wire.listeners[i] >= 0;
    if (!listening || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, wire.orders) != 0)
    {
        perror("storm: the wire cannot listen");
        exit(2);
    }
    (void)child_start(wire_run, NULL);
    for (int i = 0; i < LISTENERS; i++) (void)close(wire.listeners[i]);
    (void)close(wire.orders[1]);
}

void wire_do(wire_order order)
{
    if (send(wire.orders[0], &order, sizeof order, MSG_NOSIGNAL) < 0) perror("storm: the wire is gone");
}

const char* wire_address(bool tcp)
{
    return wire.addresses[tcp ? 1 : 0];
}

uint16_t wire_replica_port(void)
{
    return wire.replica_port;
}

const char* wire_door_address(unsigned door)
{
    return wire.door_addresses[door];
}

uint16_t wire_door_port(unsigned door)
{
    return wire.door_ports[door];
}
