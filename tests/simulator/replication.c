/* replication.c -- effects in a queue for each replica. */

#include "simulator/replication.h"

#include "simulator/events.h"
#include "simulator/network.h"
#include "simulator/server.h"
#include "storm/history.h"
#include "storm/storm.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum
{
    WORDS_MOST = 20000,
    NEVER = -1
};

/* The words of transactions, each word with its size before it, each command with its database and count, and each
   transaction with the time at which it arrives and the size of all that. */
typedef struct replica_feed
{
    int master; /* NEVER: none */
    bool synced;
    bool held;
    unsigned life; /* tells what was under way from what is */
    char* bytes;
    size_t begin;
    size_t end;
    size_t room;
    size_t open; /* where the transaction begins that is being told; SIZE_MAX: none is */
    random_stream random;
} replica_feed;

typedef struct transaction_head
{
    uint64_t at_us;
    size_t size;
} transaction_head;

static replica_feed feeds[SERVERS_MAX];

/* What is said on a channel of one node of a Cluster is heard on all. */
typedef struct bus_message
{
    unsigned from;
    size_t channel_size;
    size_t text_size;
    char bytes[];
} bus_message;

static struct
{
    bool on;
    bool hands_on; /* what is applied comes from the bus */
} bus;

/* ---- told by a master -------------------------------------------------------------------------------------- */

static void append(replica_feed* feed, const void* bytes, size_t size)
{
    if (feed->end + size > feed->room)
    {
        feed->room = (feed->end + size) * 2 + 4096;
        feed->bytes = realloc(feed->bytes, feed->room);
        if (feed->bytes == NULL) abort();
    }
    memcpy(feed->bytes + feed->end, bytes, size);
    feed->end += size;
}

static void append_number(replica_feed* feed, size_t number)
{
    append(feed, &number, sizeof number);
}

static void deliver(void* context, uint64_t life);

static void close_transaction(replica_feed* feed)
{
    transaction_head head = {history_now() + random_between(&feed->random, 30, 2000),
                             feed->end - feed->open - sizeof head};
    if (feed->open == SIZE_MAX) return;
    memcpy(feed->bytes + feed->open, &head, sizeof head);
    feed->open = SIZE_MAX;
    events_at(head.at_us, deliver, feed, feed->life);
}

static void tell(replica_feed* feed, uint32_t database, const gh_str* words, size_t count)
{
    transaction_head none = {0, 0};
    if (feed->begin == feed->end) feed->begin = feed->end = 0;
    if (feed->open == SIZE_MAX)
    {
        feed->open = feed->end;
        append(feed, &none, sizeof none);
    }
    append_number(feed, database);
    append_number(feed, count);
    for (size_t i = 0; i < count; i++)
    {
        append_number(feed, words[i].size);
        append(feed, words[i].bytes, words[i].size);
    }
}

static void hear_from_bus(void* context, uint64_t x)
{
    bus_message* message = context;
    gh_str words[] = {gh_str_literal("PUBLISH"), gh_str_make(message->bytes, message->channel_size),
                      gh_str_make(message->bytes + message->channel_size, message->text_size)};
    (void)x;
    bus.hands_on = true;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (i == message->from || server_is_down(i) || server_stands_still(i)) continue;
        gh_store_apply(server_store(i), 0, words, 3);
        network_collect(i);
    }
    bus.hands_on = false;
    free(message);
}

static void say_on_bus(replica_feed* from, const gh_str* words)
{
    bus_message* message = malloc(sizeof *message + words[1].size + words[2].size);
    if (message == NULL) abort();
    message->from = (unsigned)(from - feeds);
    message->channel_size = words[1].size;
    message->text_size = words[2].size;
    memcpy(message->bytes, words[1].bytes, words[1].size);
    memcpy(message->bytes + words[1].size, words[2].bytes, words[2].size);
    events_at(history_now() + random_between(&from->random, 30, 1000), hear_from_bus, message, 0);
}

static bool is_publish(const gh_str* words, size_t count)
{
    return count == 3 && words[0].size == 7 && strncasecmp(words[0].bytes, "PUBLISH", 7) == 0;
}

static void on_effect(void* context, uint32_t database, const gh_str* words, size_t count)
{
    unsigned master = (unsigned)((replica_feed*)context - feeds);
    if (bus.hands_on) return;
    if (bus.on && is_publish(words, count))
    {
        say_on_bus(context, words);
        return;
    }
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (feeds[i].master != (int)master || !feeds[i].synced) continue;
        if (count == 0) close_transaction(&feeds[i]);
        else tell(&feeds[i], database, words, count);
    }
}

/* ---- heard by a replica ------------------------------------------------------------------------------------ */

static size_t read_number(const char** at)
{
    size_t number;
    memcpy(&number, *at, sizeof number);
    *at += sizeof number;
    return number;
}

static void carry_out(unsigned replica, const char* at, const char* end)
{
    static gh_str words[WORDS_MOST];
    server_set_time(replica);
    while (at < end)
    {
        uint32_t database = (uint32_t)read_number(&at);
        size_t count = read_number(&at);
        if (count > WORDS_MOST) abort();
        for (size_t i = 0; i < count; i++)
        {
            size_t size = read_number(&at);
            words[i] = gh_str_make(at, size);
            at += size;
        }
        gh_store_apply(server_store(replica), database, words, count);
    }
}

static void deliver_until(replica_feed* feed, uint64_t until_us)
{
    while (feed->begin < feed->end && feed->begin != feed->open)
    {
        transaction_head head;
        memcpy(&head, feed->bytes + feed->begin, sizeof head);
        if (head.at_us > until_us) return;
        const char* at = feed->bytes + feed->begin + sizeof head;
        feed->begin += sizeof head + head.size;
        carry_out((unsigned)(feed - feeds), at, at + head.size);
    }
}

/* Whoever stands still hears it later: with the next that comes, or when he is asked whether he has all. */
static void deliver(void* context, uint64_t life)
{
    replica_feed* feed = context;
    unsigned replica = (unsigned)(feed - feeds);
    if (feed->life != life || feed->held || server_is_down(replica) || server_stands_still(replica)) return;
    deliver_until(feed, history_now());
}

void replication_catch_up(unsigned replica)
{
    if (!server_is_down(replica)) deliver_until(&feeds[replica], UINT64_MAX);
}

/* ---- who follows whom --------------------------------------------------------------------------------------- */

static void forget(replica_feed* feed)
{
    feed->life++;
    feed->begin = feed->end = 0;
    feed->open = SIZE_MAX;
    feed->synced = feed->held = false;
}

void replication_open(bool with_bus)
{
    bus.on = with_bus;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        forget(&feeds[i]);
        feeds[i].master = NEVER;
        feeds[i].random = storm_random("replica", i, 0, 0);
        gh_store_set_log(server_store(i), on_effect, &feeds[i]);
    }
}

static void copy_all(void* context, uint64_t life)
{
    replica_feed* feed = context;
    unsigned replica = (unsigned)(feed - feeds);
    if (feed->life != life) return;
    if (server_is_down(replica) || server_stands_still(replica) || server_is_down((unsigned)feed->master) ||
        server_stands_still((unsigned)feed->master) || replication_master((unsigned)feed->master) != NEVER)
    {
        events_at(history_now() + 20000, copy_all, feed, life);
        return;
    }
    gh_store_copy(server_store(replica), server_store((unsigned)feed->master));
    gh_store_set_history(server_store(replica), gh_store_history(server_store((unsigned)feed->master)));
    feed->synced = true;
}

void replication_follow(unsigned replica, unsigned master)
{
    replica_feed* feed = &feeds[replica];
    forget(feed);
    feed->master = (int)master;
    server_set_state(replica, GH_STORE_READ_ONLY, true);
    events_at(history_now() + random_between(&feed->random, 5000, 120000), copy_all, feed, feed->life);
}

void replication_promote(unsigned replica)
{
    static const char digits[] = "0123456789abcdef";
    char history[41];
    replica_feed* feed = &feeds[replica];
    deliver(feed, feed->life);
    forget(feed);
    feed->master = NEVER;
    for (int i = 0; i < 40; i++) history[i] = digits[random_below(&feed->random, 16)];
    history[40] = '\0';
    gh_store_set_history(server_store(replica), history);
    server_set_state(replica, GH_STORE_READ_ONLY, false);
}

int replication_master(unsigned server)
{
    return feeds[server].master;
}

bool replication_is_fed(unsigned replica)
{
    const replica_feed* feed = &feeds[replica];
    return feed->master != NEVER && feed->synced && !feed->held && !server_is_down(replica);
}

bool replication_has_all(unsigned master)
{
    bool any = false;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (feeds[i].master != (int)master) continue;
        if (!replication_is_fed(i) || server_stands_still(i)) return false;
        deliver(&feeds[i], feeds[i].life);
        if (feeds[i].begin < feeds[i].end) return false;
        any = true;
    }
    return any;
}

void replication_hold(unsigned replica)
{
    feeds[replica].held = true;
}

/* ---- keys that move ------------------------------------------------------------------------------------------ */

static int replica_of(unsigned master)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (feeds[i].master == (int)master && feeds[i].synced && !server_is_down(i)) return (int)i;
    return NEVER;
}

/* What one replica has and the other lacks is copied anew. */
void replication_move_key(unsigned from, unsigned to, const char* key, unsigned size)
{
    gh_str name = gh_str_make(key, size);
    int giver = replica_of(from), taker = replica_of(to);
    if (giver != NEVER) replication_catch_up((unsigned)giver);
    if (taker != NEVER) replication_catch_up((unsigned)taker);
    (void)gh_store_move(server_store(to), server_store(from), 0, name);
    if (giver != NEVER && taker != NEVER)
        (void)gh_store_move(server_store((unsigned)taker), server_store((unsigned)giver), 0, name);
    else if (taker != NEVER) replication_follow((unsigned)taker, to);
    else if (giver != NEVER) replication_follow((unsigned)giver, from);
}
