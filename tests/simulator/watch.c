/* watch.c -- who is the master, who knows it, and how that changes. */

#include "simulator/watch.h"

#include "simulator/events.h"
#include "simulator/network.h"
#include "simulator/replication.h"
#include "simulator/server.h"
#include "storm/history.h"
#include "storm/storm.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum
{
    DOWN_AFTER_US = 1000000,
    AGAIN_US = 300000,
    TEXT_SIZE = 256
};

static struct
{
    const char* name;
    unsigned master;
    long long epoch;
    unsigned life[WATCH_SERVERS + WATCH_SENTINELS]; /* tells what is planned for it from what was */
    unsigned told[WATCH_SENTINELS];                 /* whom each Sentinel takes for the master */
    random_stream random;
} watch;

unsigned watch_master(void)
{
    return watch.master;
}

long long watch_epoch(void)
{
    return watch.epoch;
}

static bool runs(unsigned server)
{
    return !server_is_down(server) && !server_stands_still(server);
}

bool watch_has_settled(void)
{
    for (unsigned i = 0; i < WATCH_SERVERS; i++)
    {
        if (!runs(i)) return false;
        if (i == watch.master && replication_master(i) >= 0) return false;
        if (i != watch.master && (replication_master(i) != (int)watch.master || !replication_is_fed(i))) return false;
    }
    for (unsigned i = 0; i < WATCH_SENTINELS; i++)
        if (runs(WATCH_FIRST_SENTINEL + i) && watch.told[i] != watch.master) return false;
    return true;
}

/* ---- Sentinels --------------------------------------------------------------------------------------------- */

static bool is_word(gh_str word, const char* text)
{
    return word.size == strlen(text) && strncasecmp(word.bytes, text, word.size) == 0;
}

static bool answer(void* context, gh_store_link* link, const gh_str* words, size_t count)
{
    const unsigned* told = context;
    char text[TEXT_SIZE];
    if (count != 3 || !is_word(words[0], "SENTINEL") || !is_word(words[1], "GET-MASTER-ADDR-BY-NAME")) return false;
    int size = snprintf(text, sizeof text, "*2\r\n$9\r\n127.0.0.1\r\n$4\r\n%u\r\n", SERVER_PORT + *told);
    if (!is_word(words[2], watch.name)) size = snprintf(text, sizeof text, "*-1\r\n");
    gh_store_say(link, text, (size_t)size);
    return true;
}

static void say(unsigned sentinel, const char* channel, const char* text)
{
    gh_str words[] = {gh_str_literal("PUBLISH"), gh_str_of(channel), gh_str_of(text)};
    (void)gh_store_ask(server_store(WATCH_FIRST_SENTINEL + sentinel), words, 3);
    network_collect(WATCH_FIRST_SENTINEL + sentinel);
}

/* The Sentinel that hears of it tells it to all who listen. */
static void hear(void* context, uint64_t sentinel)
{
    char text[TEXT_SIZE];
    unsigned former = watch.told[sentinel];
    (void)context;
    if (!runs(WATCH_FIRST_SENTINEL + (unsigned)sentinel) || former == watch.master) return;
    watch.told[sentinel] = watch.master;
    (void)snprintf(text, sizeof text, "%s 127.0.0.1 %u 127.0.0.1 %u", watch.name, SERVER_PORT + former,
                   SERVER_PORT + watch.master);
    say((unsigned)sentinel, "+switch-master", text);
}

/* The one that leads a failover says whom it is about to promote. */
static void announce(unsigned heir)
{
    char text[TEXT_SIZE];
    (void)snprintf(text, sizeof text, "slave 127.0.0.1:%u 127.0.0.1 %u @ %s 127.0.0.1 %u", SERVER_PORT + heir,
                   SERVER_PORT + heir, watch.name, SERVER_PORT + watch.master);
    for (unsigned i = 0; i < WATCH_SENTINELS; i++)
    {
        if (!runs(WATCH_FIRST_SENTINEL + i)) continue;
        say(i, "+failover-state-send-slaveof-noone", text);
        return;
    }
}

static uint64_t later(uint64_t least_us, uint64_t most_us)
{
    return history_now() + random_between(&watch.random, least_us, most_us);
}

/* ---- servers ----------------------------------------------------------------------------------------------- */

/* Whoever makes a master or a replica of a server closes its links, so that clients ask anew who the master is. */
static void close_links(unsigned server)
{
    (void)server_do(server, "CLIENT KILL TYPE normal"); /* a server that is busy does neither */
    (void)server_do(server, "CLIENT KILL TYPE pubsub");
}

static void reconfigure(void* context, uint64_t life)
{
    unsigned* own = context;
    unsigned server = (unsigned)(own - watch.life);
    if (*own != life || !runs(server) || server == watch.master) return;
    if (replication_master(server) == (int)watch.master) return;
    replication_follow(server, watch.master);
    close_links(server);
}

static void reconfigure_later(unsigned server, uint64_t least_us, uint64_t most_us)
{
    events_at(later(least_us, most_us), reconfigure, &watch.life[server], watch.life[server]);
}

static void make_master(unsigned heir)
{
    replication_promote(heir);
    close_links(heir);
    watch.master = heir;
    watch.epoch++;
    for (unsigned i = 0; i < WATCH_SENTINELS; i++) events_at(later(1000, 800000), hear, NULL, i);
    for (unsigned i = 0; i < WATCH_SERVERS; i++)
        if (i != heir) reconfigure_later(i, 5000, 1000000);
}

static int find_heir(void)
{
    for (unsigned i = 0; i < WATCH_SERVERS; i++)
        if (i != watch.master && runs(i) && replication_is_fed(i)) return (int)i;
    return -1;
}

static bool most_sentinels_run(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < WATCH_SENTINELS; i++) count += runs(WATCH_FIRST_SENTINEL + i) ? 1 : 0;
    return count * 2 > WATCH_SENTINELS;
}

static void promote(void* context, uint64_t heir)
{
    (void)context;
    if (runs((unsigned)heir) && heir != watch.master) make_master((unsigned)heir);
}

static void elect(void* context, uint64_t life)
{
    unsigned* own = context;
    unsigned server = (unsigned)(own - watch.life);
    if (*own != life || runs(server) || server != watch.master) return;
    int heir = most_sentinels_run() ? find_heir() : -1;
    if (heir < 0)
    {
        events_at(history_now() + AGAIN_US, elect, own, life);
        return;
    }
    announce((unsigned)heir);
    events_at(later(1000, 100000), promote, NULL, (uint64_t)heir);
}

void watch_note_lost(unsigned server)
{
    watch.life[server]++;
    if (server < WATCH_SERVERS)
        events_at(later(DOWN_AFTER_US, DOWN_AFTER_US + 700000), elect, &watch.life[server], watch.life[server]);
}

void watch_note_started(unsigned server)
{
    watch.life[server]++;
    if (server >= WATCH_SERVERS)
    {
        server_set_other(server, answer, &watch.told[server - WATCH_FIRST_SENTINEL]);
        events_at(later(20000, 800000), hear, NULL, server - WATCH_FIRST_SENTINEL);
        return;
    }
    if (replication_master(server) >= 0) replication_follow(server, (unsigned)replication_master(server));
    for (unsigned i = 0; i < WATCH_SERVERS; i++)
        if (replication_master(i) == (int)server) replication_follow(i, server);
    reconfigure_later(server, 500000, 4000000);
}

void watch_note_thawed(unsigned server)
{
    watch.life[server]++;
    if (server < WATCH_SERVERS) reconfigure_later(server, 500000, 4000000);
    else events_at(later(1000, 500000), hear, NULL, server - WATCH_FIRST_SENTINEL);
}

void watch_replace(void)
{
    int heir = find_heir();
    if (heir < 0 || !most_sentinels_run()) return;
    announce((unsigned)heir);
    events_at(later(1000, 300000), promote, NULL, (uint64_t)heir);
}

void watch_make_replica(unsigned server)
{
    if (server < WATCH_SERVERS) reconfigure(&watch.life[server], watch.life[server]);
}

void watch_open(const char* name)
{
    memset(&watch, 0, sizeof watch);
    watch.name = name;
    watch.random = storm_random("watch", 0, 0, 0);
    for (unsigned i = 1; i < WATCH_SERVERS; i++) replication_follow(i, 0);
    for (unsigned i = 0; i < WATCH_SENTINELS; i++) server_set_other(WATCH_FIRST_SENTINEL + i, answer, &watch.told[i]);
}
