/* peers.c -- which peers take part: those that were asked for and are there. Two of them are programs of
   their own, which are started when they are first needed and asked line by line:

       bench/peers/peer_listing.py       the ways of the listings, over Python's redis module
       bench/peers/bullmq/peer.js        BullMQ on node

   They are asked "<work> <seconds>", and answer "ok <operations> <seconds>" or "no <why>". */

#include "harness/bench.h"

#include <stdlib.h>
#include <unistd.h>

enum
{
    START_WITHIN_US = 20 * 1000 * 1000,
    ANSWER_WITHIN_US = 120 * 1000 * 1000
};

static const char* const peer_names[BENCH_PEERS] = {
    [BENCH_PEER_HIREDIS] = "hiredis", [BENCH_PEER_REDIS_BENCHMARK] = "redis-benchmark",
    [BENCH_PEER_PYTHON] = "python",   [BENCH_PEER_BULLMQ] = "bullmq",
    [BENCH_PEER_MEMCPY] = "memcpy",
};

static bool names_peer(const char* text, size_t size, size_t peer)
{
    return strlen(peer_names[peer]) == size && memcmp(peer_names[peer], text, size) == 0;
}

/* Is the peer in "a,b,c"? */
static bool in_list(const char* list, bench_peer peer)
{
    while (*list != 0)
    {
        size_t size = strcspn(list, ",");
        if (names_peer(list, size, peer))
        {
            return true;
        }
        list += size + (list[size] == ',');
    }
    return false;
}

bool bench_peers_check(const char* list)
{
    while (list != NULL && *list != 0)
    {
        size_t size = strcspn(list, ",");
        bool known = false;
        for (size_t i = 0; i < BENCH_PEERS; i++)
        {
            known |= names_peer(list, size, i);
        }
        if (!known)
        {
            fprintf(stderr,
                    "--peers: no peer is called '%.*s'; there are hiredis, redis-benchmark, python, "
                    "bullmq, memcpy\n",
                    (int)size, list);
            return false;
        }
        list += size + (list[size] == ',');
    }
    return true;
}

/* --- the programs --------------------------------------------------------------------------------------- */

static const char* address_of(const bench* self, char* out, size_t capacity)
{
    const char* path = bench_server_path(self->server);
    if (path != NULL)
    {
        snprintf(out, capacity, "unix:%s", path);
    }
    else
    {
        snprintf(out, capacity, "%s:%d", bench_server_host(self->server), bench_server_port(self->server));
    }
    return out;
}

static bool greet(bench* self, bench_peer peer, char* const* arguments)
{
    char answer[160] = "";
    struct bench_talker* talker = bench_talker_open(arguments);
    char* missing = self->missing[peer];
    if (talker == NULL)
    {
        snprintf(missing, sizeof self->missing[peer], "no process could be started");
        return false;
    }
    bool answered = bench_talker_ask(talker, "hello 0", answer, sizeof answer, START_WITHIN_US);
    if (!answered || strncmp(answer, "ok", 2) != 0)
    {
        snprintf(missing, sizeof self->missing[peer], "%.120s",
                 answered ? answer + strcspn(answer, " ") : "does not run here");
        bench_talker_close(talker);
        return false;
    }
    self->talkers[peer] = talker;
    return true;
}

/* Debian's own Python has the module that Debian packages; another one in front of it may not. */
static void start_python(bench* self)
{
    static const char* const pythons[] = {"python3", "/usr/bin/python3"};
    char program[32];
    char script[1024];
    char address[256];
    char* arguments[] = {program, script, (char*)address, NULL};
    char* import[] = {program, (char[]){"-c"}, (char[]){"import redis"}, NULL};
    char output[256];
    (void)address_of(self, address, sizeof address);
    snprintf(script, sizeof script, "%s/peer_listing.py",
             self->options.scripts != NULL ? self->options.scripts : "bench/peers");
    snprintf(self->missing[BENCH_PEER_PYTHON], sizeof self->missing[0],
             "not installed (packages python3 and python3-redis)");
    for (size_t i = 0; i < sizeof pythons / sizeof pythons[0]; i++)
    {
        snprintf(program, sizeof program, "%s", pythons[i]);
        if (bench_program(import, output, sizeof output))
        {
            if (greet(self, BENCH_PEER_PYTHON, arguments))
            {
                self->missing[BENCH_PEER_PYTHON][0] = 0;
            }
            return;
        }
    }
}

static void start_bullmq(bench* self)
{
    char script[1024];
    char address[256];
    char* arguments[] = {(char[]){"node"}, script, (char*)address, NULL};
    if (self->options.node == NULL)
    {
        snprintf(self->missing[BENCH_PEER_BULLMQ], sizeof self->missing[0],
                 "not installed (needs node, npm and a registry of packages that answers)");
        return;
    }
    (void)address_of(self, address, sizeof address);
    snprintf(script, sizeof script, "%s/peer.js", self->options.node);
    (void)greet(self, BENCH_PEER_BULLMQ, arguments);
}

static void look_for(bench* self, bench_peer peer)
{
    if (self->options.peers != NULL && !in_list(self->options.peers, peer))
    {
        snprintf(self->missing[peer], sizeof self->missing[0], "not asked for (--peers)");
    }
    else if (peer == BENCH_PEER_REDIS_BENCHMARK && !bench_redis_benchmark_installed())
    {
        snprintf(self->missing[peer], sizeof self->missing[0], "not installed (package redis-tools)");
    }
    else if (peer == BENCH_PEER_PYTHON)
    {
        start_python(self);
    }
    else if (peer == BENCH_PEER_BULLMQ)
    {
        start_bullmq(self);
    }
}

const char* bench_peer_missing(bench* self, bench_peer peer)
{
    if (!self->looked[peer])
    {
        self->looked[peer] = true;
        look_for(self, peer);
    }
    return self->missing[peer][0] != 0 ? self->missing[peer] : NULL;
}

bool bench_asked_run(void* asked_side, uint64_t duration_us, bench_sample* sample)
{
    const bench_asked_side* side = asked_side;
    char question[128];
    char answer[256] = "no answer in time";
    double operations = 0.0;
    double seconds = 0.0;
    snprintf(question, sizeof question, "%s %.3f", side->work, (double)duration_us / 1e6);
    if (!bench_talker_ask(side->owner->talkers[side->peer], question, answer, sizeof answer, ANSWER_WITHIN_US) ||
        sscanf(answer, "ok %lf %lf", &operations, &seconds) != 2 || seconds <= 0.0)
    {
        fprintf(stderr, "  %s, %s: %s\n", peer_names[side->peer], side->work, answer);
        return false;
    }
    sample->cycles = operations;
    sample->wall_us = seconds * 1e6;
    return true;
}

void bench_peers_forget(bench* self)
{
    char answer[256];
    for (size_t i = 0; i < BENCH_PEERS; i++)
    {
        if (self->talkers[i] != NULL)
        {
            (void)bench_talker_ask(self->talkers[i], "forget 0", answer, sizeof answer, ANSWER_WITHIN_US);
        }
    }
}

void bench_peers_close(bench* self)
{
    for (size_t i = 0; i < BENCH_PEERS; i++)
    {
        bench_talker_close(self->talkers[i]);
        self->talkers[i] = NULL;
    }
}
