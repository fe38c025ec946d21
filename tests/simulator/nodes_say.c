/* nodes_say.c -- what a node of a Cluster says to clients: who serves a key, and CLUSTER SLOTS. */

#include "simulator/nodes_inside.h"

#include "simulator/replication.h"
#include "storm/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum
{
    SLOTS_REPLY_SIZE = 1024 * 1024
};

/* ---- keys -------------------------------------------------------------------------------------------------- */

static const char* say(const char* format, const char* word, unsigned slot, unsigned node)
{
    static char text[128];
    (void)snprintf(text, sizeof text, format, word, slot, SERVER_PORT + node);
    return text;
}

static size_t count_missing(unsigned node, const gh_store_asked* asked)
{
    size_t missing = 0;
    for (size_t i = 0; i < asked->count; i++) missing += gh_store_has(server_store(node), 0, asked->keys[i]) ? 0 : 1;
    return missing;
}

static bool is_whole(unsigned node)
{
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (nodes.lost[i]) return false;
    return history_now() >= nodes.all[node].works_from_us;
}

static const char* try_again = "TRYAGAIN Multiple keys request during rehashing of slot";

/* Of one that has the slot, or is about to get it. */
static const char* judge_open_slot(unsigned node, unsigned slot, unsigned to, const gh_store_asked* asked)
{
    size_t missing = count_missing(node, asked);
    if (to == node) return asked->count > 1 && missing > 0 ? try_again : NULL;
    if (missing == 0) return NULL;
    if (missing < asked->count) return try_again;
    return say("%s %u 127.0.0.1:%u", "ASK", slot, to);
}

static const char* judge_keys(unsigned node, const gh_store_asked* asked)
{
    const node_view* view = &nodes.all[node].view;
    unsigned slot = nodes_slot(asked->keys[0].bytes, asked->keys[0].size);
    for (size_t i = 1; i < asked->count; i++)
        if (nodes_slot(asked->keys[i].bytes, asked->keys[i].size) != slot)
            return "CROSSSLOT Keys in request don't hash to the same slot";
    if (!is_whole(node)) return "CLUSTERDOWN The cluster is down";
    unsigned owner = view->owner[slot], to = nodes.opened[slot];
    if (owner == node && replication_master(node) < 0 && to != NODES_NOBODY)
        return judge_open_slot(node, slot, to, asked);
    if (owner == node && replication_master(node) < 0) return NULL;
    if (to == node && asked->is_asking) return judge_open_slot(node, slot, to, asked);
    bool follows = replication_master(node) == (int)owner;
    if (follows && !asked->writes && asked->link != NULL && gh_store_link_reads(asked->link)) return NULL;
    if (owner == NODES_NOBODY) return "CLUSTERDOWN Hash slot not served";
    return say("%s %u 127.0.0.1:%u", "MOVED", slot, owner);
}

/* What a script asks for is judged again, one command after the other. */
static const char* gate(void* context, const gh_store_asked* asked)
{
    unsigned node = (unsigned)((cluster_node*)context - nodes.all);
    if (asked->count == 0) return NULL;
    const char* error = judge_keys(node, asked);
    if (error == NULL || !asked->in_script) return error;
    if (strncmp(error, "CLUSTERDOWN", 11) == 0) return error;
    return "ERR Script attempted to access a non local key in a cluster node";
}

/* ---- CLUSTER SLOTS ----------------------------------------------------------------------------------------- */

typedef struct slots_reply
{
    char* bytes;
    size_t size;
} slots_reply;

static void put(slots_reply* reply, const char* format, unsigned long x, unsigned long y)
{
    size_t room = SLOTS_REPLY_SIZE - reply->size;
    int size = snprintf(reply->bytes + reply->size, room, format, x, y);
    if (size < 0 || (size_t)size >= room) abort();
    reply->size += (size_t)size;
}

static void put_node(slots_reply* reply, unsigned node)
{
    put(reply, "*4\r\n$9\r\n127.0.0.1\r\n:%lu\r\n$40\r\n%040lx\r\n*0\r\n", (unsigned long)SERVER_PORT + node,
        node + 1ul);
}

static bool is_shown(const node_view* view, unsigned replica, unsigned master)
{
    return view->member[replica] && view->master[replica] == (int)master && !server_is_down(replica);
}

static void put_range(slots_reply* reply, const node_view* view, unsigned first, unsigned last)
{
    unsigned master = view->owner[first], replicas = 0;
    for (unsigned i = 0; i < SERVERS_MAX; i++) replicas += is_shown(view, i, master) ? 1 : 0;
    put(reply, "*%lu\r\n", 3ul + replicas, 0);
    put(reply, ":%lu\r\n:%lu\r\n", first, last);
    put_node(reply, master);
    for (unsigned i = 0; i < SERVERS_MAX; i++)
        if (is_shown(view, i, master)) put_node(reply, i);
}

static unsigned end_of_range(const node_view* view, unsigned first)
{
    uint8_t same[64];
    unsigned last = first;
    memset(same, view->owner[first], sizeof same);
    while (last + sizeof same < NODES_SLOTS && memcmp(&view->owner[last + 1], same, sizeof same) == 0)
        last += (unsigned)sizeof same;
    while (last + 1 < NODES_SLOTS && view->owner[last + 1] == view->owner[first]) last++;
    return last;
}

static void say_slots(unsigned node, gh_store_link* link)
{
    static char bytes[SLOTS_REPLY_SIZE];
    slots_reply reply = {bytes, 0};
    const node_view* view = &nodes.all[node].view;
    unsigned long ranges = 0;
    for (unsigned i = 0; i < NODES_SLOTS; i = end_of_range(view, i) + 1)
        ranges += view->owner[i] == NODES_NOBODY ? 0 : 1;
    put(&reply, "*%lu\r\n", ranges, 0);
    for (unsigned i = 0; i < NODES_SLOTS; i = end_of_range(view, i) + 1)
        if (view->owner[i] != NODES_NOBODY) put_range(&reply, view, i, end_of_range(view, i));
    gh_store_say(link, reply.bytes, reply.size);
}

static bool is_word(gh_str word, const char* text)
{
    return word.size == strlen(text) && strncasecmp(word.bytes, text, word.size) == 0;
}

static bool answer(void* context, gh_store_link* link, const gh_str* words, size_t count)
{
    unsigned node = (unsigned)((cluster_node*)context - nodes.all);
    if (count != 2 || !is_word(words[0], "CLUSTER") || !is_word(words[1], "SLOTS")) return false;
    say_slots(node, link);
    return true;
}

void nodes_answer_clients(unsigned node)
{
    gh_store_set_gate(server_store(node), gate, &nodes.all[node]);
    server_set_other(node, answer, &nodes.all[node]);
}
