/* nodes.c -- the truth about a Cluster, and how it gets about. */

#include "simulator/nodes_inside.h"

#include "simulator/events.h"
#include "simulator/network.h"
#include "simulator/replication.h"
#include "storm/history.h"
#include "storm/storm.h"

#include <stdlib.h>
#include <string.h>

enum
{
    NODE_TIMEOUT_US = 1000000,
    WRITABLE_US = 2000000,
    AGAIN_US = 300000
};

nodes_state nodes;

/* ---- slots ------------------------------------------------------------------------------------------------ */

static uint16_t crc_of_byte[256];

static void make_crc(void)
{
    for (unsigned byte = 0; byte < 256; byte++)
    {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 0x8000u) != 0 ? (crc << 1) ^ 0x1021u : crc << 1;
        crc_of_byte[byte] = (uint16_t)crc;
    }
}

/* CRC16 of XMODEM, of what is within the first braces if there is something. */
unsigned nodes_slot(const char* key, size_t size)
{
    const char* open = memchr(key, '{', size);
    const char* close = open == NULL ? NULL : memchr(open, '}', size - (size_t)(open - key));
    unsigned crc = 0;
    if (close != NULL && close > open + 1)
    {
        size = (size_t)(close - open) - 1;
        key = open + 1;
    }
    for (size_t i = 0; i < size; i++)
        crc = (crc << 8 & 0xffffu) ^ crc_of_byte[(crc >> 8 ^ (unsigned char)key[i]) & 0xffu];
    return crc % NODES_SLOTS;
}

unsigned nodes_owner(unsigned slot)
{
    return nodes.truth.owner[slot];
}

unsigned nodes_slot_count(unsigned node)
{
    return nodes.slot_counts[node];
}

int nodes_first_slot(unsigned node)
{
    const uint8_t* first = memchr(nodes.truth.owner, (int)node, sizeof nodes.truth.owner);
    return first == NULL ? -1 : (int)(first - nodes.truth.owner);
}

static void set_owner(unsigned slot, unsigned node)
{
    nodes.slot_counts[nodes.truth.owner[slot]]--;
    nodes.truth.owner[slot] = (uint8_t)node;
    nodes.slot_counts[node]++;
}

bool nodes_is_member(unsigned node)
{
    return nodes.truth.member[node];
}

bool nodes_is_master(unsigned node)
{
    return nodes.truth.member[node] && nodes.truth.master[node] < 0;
}

static bool runs(unsigned node)
{
    return !server_is_down(node) && !server_stands_still(node);
}

int nodes_replica(unsigned master)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes.truth.member[i] && nodes.truth.master[i] == (int)master && runs(i)) return (int)i;
    return -1;
}

long long nodes_epoch(void)
{
    return nodes.epoch;
}

/* ---- what gets about --------------------------------------------------------------------------------------- */

/* It does what it hears that it is. */
static void learn_now(unsigned node)
{
    cluster_node* n = &nodes.all[node];
    if (n->view.version != nodes.truth.version) n->view = nodes.truth;
    int master = nodes.truth.master[node];
    if (!nodes.truth.member[node] || master == replication_master(node)) return;
    if (master < 0) replication_promote(node);
    else
    {
        n->works_from_us = 0;
        replication_follow(node, (unsigned)master);
    }
}

static void learn(void* context, uint64_t life)
{
    cluster_node* n = context;
    unsigned node = (unsigned)(n - nodes.all);
    if (n->life == life && runs(node)) learn_now(node);
}

static void learn_later(unsigned node, uint64_t least_us, uint64_t most_us)
{
    uint64_t at_us = history_now() + random_between(&nodes.random, least_us, most_us);
    events_at(at_us, learn, &nodes.all[node], nodes.all[node].life);
}

static void spread(void)
{
    nodes.truth.version++;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes.truth.member[i]) learn_later(i, 1000, 250000);
}

bool nodes_have_settled(void)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        const cluster_node* n = &nodes.all[i];
        if (!nodes.truth.member[i]) continue;
        if (!runs(i) || nodes.lost[i] || n->view.version != nodes.truth.version) return false;
        if (history_now() < n->works_from_us) return false;
        if (nodes.truth.master[i] >= 0 && !replication_is_fed(i)) return false;
    }
    return true;
}

/* ---- elections --------------------------------------------------------------------------------------------- */

static void make_master(unsigned node, unsigned former)
{
    nodes.epoch++;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes.truth.master[i] == (int)former) nodes.truth.master[i] = (int)node;
    nodes.truth.master[former] = (int)node;
    nodes.truth.master[node] = -1;
    for (unsigned i = 0; i < NODES_SLOTS; i++)
        if (nodes.truth.owner[i] == former) set_owner(i, node);
    nodes.lost[former] = false;
    spread();
    learn_now(node);
}

static void elect(void* context, uint64_t life)
{
    cluster_node* n = context;
    unsigned node = (unsigned)(n - nodes.all);
    if (n->life != life || runs(node) || !nodes_is_master(node))
    {
        nodes.lost[node] = false;
        return;
    }
    int heir = nodes_replica(node);
    if (heir >= 0 && replication_is_fed((unsigned)heir)) make_master((unsigned)heir, node);
    else events_at(history_now() + AGAIN_US, elect, n, life);
}

static void miss(void* context, uint64_t life)
{
    cluster_node* n = context;
    unsigned node = (unsigned)(n - nodes.all);
    if (n->life != life || runs(node) || !nodes_is_master(node) || nodes_slot_count(node) == 0) return;
    nodes.lost[node] = true;
    events_at(history_now() + random_between(&nodes.random, 100000, 700000), elect, n, life);
}

void nodes_note_lost(unsigned node)
{
    cluster_node* n = &nodes.all[node];
    n->life++;
    events_at(history_now() + NODE_TIMEOUT_US + random_below(&nodes.random, 100000), miss, n, n->life);
}

/* Replicas of one that comes back from the dead begin anew. */
static void feed_anew(unsigned master)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes.truth.member[i] && replication_master(i) == (int)master) replication_follow(i, master);
}

void nodes_note_started(unsigned node)
{
    cluster_node* n = &nodes.all[node];
    n->life++;
    nodes.lost[node] = false;
    if (replication_master(node) >= 0) replication_follow(node, (unsigned)replication_master(node));
    else n->works_from_us = history_now() + WRITABLE_US;
    feed_anew(node);
    learn_later(node, 20000, 400000);
}

void nodes_note_thawed(unsigned node)
{
    nodes.all[node].life++;
    nodes.lost[node] = false;
    learn_later(node, 1000, 150000);
}

static void take_over(void* context, uint64_t planned)
{
    cluster_node* n = context;
    unsigned master = (unsigned)(n - nodes.all);
    int heir = nodes_replica(master);
    if (!nodes_is_master(master) || heir < 0 || !replication_is_fed((unsigned)heir)) return;
    if (planned != 0 && !runs(master)) return;
    if (planned != 0) replication_catch_up((unsigned)heir);
    make_master((unsigned)heir, master);
    if (planned != 0) learn_now(master);
}

void nodes_replace(unsigned master, bool planned)
{
    uint64_t at_us = history_now() + random_between(&nodes.random, 1000, 200000);
    events_at(at_us, take_over, &nodes.all[master], planned ? 1 : 0);
}

/* ---- slots on their way ------------------------------------------------------------------------------------ */

void nodes_open_slot(unsigned slot, unsigned to)
{
    nodes.opened[slot] = (uint8_t)to;
}

void nodes_close_slot(unsigned slot)
{
    nodes.opened[slot] = NODES_NOBODY;
}

/* Of who knew all else, it is this one slot: thousands move in a run. */
static void learn_slot(unsigned node, unsigned slot)
{
    node_view* view = &nodes.all[node].view;
    if (view->version + 1 == nodes.truth.version)
    {
        view->owner[slot] = nodes.truth.owner[slot];
        view->version = nodes.truth.version;
    }
    learn_now(node);
}

/* The two of them and all other masters are told. */
void nodes_give_slot(unsigned slot, unsigned to)
{
    nodes.opened[slot] = NODES_NOBODY;
    set_owner(slot, to);
    nodes.truth.version++;
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (!nodes.truth.member[i]) continue;
        if (nodes.truth.master[i] < 0 && runs(i)) learn_slot(i, slot);
        else learn_later(i, 1000, 100000);
    }
}

typedef struct key_list
{
    unsigned slot;
    size_t count;
    size_t most;
    gh_str keys[64];
} key_list;

static bool gather(void* context, uint32_t database, gh_str key)
{
    key_list* list = context;
    (void)database;
    if (nodes_slot(key.bytes, key.size) != list->slot) return true;
    if (list->count < list->most) list->keys[list->count] = key;
    list->count++;
    return true;
}

size_t nodes_move_keys(unsigned slot, unsigned from, unsigned to, size_t most)
{
    static char name[64 * 1024];
    for (;; most--)
    {
        key_list list = {.slot = slot, .most = 1};
        gh_store_each_key(server_store(from), gather, &list);
        if (list.count == 0 || most == 0) return list.count;
        if (list.keys[0].size > sizeof name) abort();
        memcpy(name, list.keys[0].bytes, list.keys[0].size); /* the key goes, and its name with it */
        replication_move_key(from, to, name, (unsigned)list.keys[0].size);
    }
}

static bool count_key(void* context, uint32_t database, gh_str key)
{
    uint16_t* counts = context;
    (void)database;
    counts[nodes_slot(key.bytes, key.size)]++;
    return true;
}

void nodes_count_keys(unsigned node, uint16_t counts[NODES_SLOTS])
{
    memset(counts, 0, NODES_SLOTS * sizeof counts[0]);
    gh_store_each_key(server_store(node), count_key, counts);
}

/* ---- nodes that come and go -------------------------------------------------------------------------------- */

int nodes_add(void)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
    {
        if (nodes.truth.member[i]) continue;
        if (server_is_down(i)) server_start(i);
        gh_store_flush(server_store(i));
        if (replication_master(i) >= 0) replication_promote(i);
        nodes.truth.member[i] = true;
        nodes.truth.master[i] = -1;
        nodes.all[i].life++;
        nodes.all[i].works_from_us = 0;
        nodes_answer_clients(i);
        spread();
        learn_now(i);
        return (int)i;
    }
    return -1;
}

void nodes_remove(unsigned node)
{
    nodes.truth.member[node] = false;
    nodes.all[node].life++;
    server_kill(node);
    spread();
}

/* ---- a run ------------------------------------------------------------------------------------------------- */

void nodes_open(unsigned masters)
{
    memset(&nodes, 0, sizeof nodes);
    memset(nodes.opened, NODES_NOBODY, sizeof nodes.opened);
    nodes.random = storm_random("nodes", 0, 0, 0);
    nodes.truth.version = 1; /* nobody has heard of it yet */
    nodes.slot_counts[0] = NODES_SLOTS;
    make_crc();
    nodes.epoch = (long long)masters;
    for (unsigned i = 0; i < SERVERS_MAX; i++) nodes.truth.master[i] = -1;
    for (unsigned i = 0; i < NODES_SLOTS; i++) set_owner(i, i * masters / NODES_SLOTS);
    for (unsigned i = 0; i < masters; i++)
    {
        nodes.truth.member[i] = nodes.truth.member[masters + i] = true;
        nodes.truth.master[masters + i] = (int)i;
    }
    for (unsigned i = 0; i < 2 * masters; i++)
    {
        nodes_answer_clients(i);
        learn_now(i);
    }
}
