/* cluster_hints.c -- which channels are listened to, and over which links: cluster_hints.h has the drawing. */

#include "cluster/cluster_hints.h"

#include "base/least.h"
#include "client/lend.h"
#include "wire/name.h"
#include "wire/redirect.h"
#include "wire/reply_class.h"

#define KEEP_US       30000000ull /* a channel of which nobody has asked for that long is left      */
#define SWEEP_US      1000000ull
#define SOON_US       2000ull     /* when the buffers are all in use                                */
#define LATER_US      50000ull    /* when the node is not there yet                                 */
#define REST_US       30000000ull /* a node that refuses is asked again so late                     */
#define IDLE_LOOK_US  1000ull     /* an idle stream is looked at once in this time, as the wake link */
#define RECEIVE_BYTES 2048u
#define RECEIVES_MAX  32u
#define TAG_MAX       216u /* of an object */
#define MOVES_MAX     3u   /* in a row; then the next question begins anew */

enum
{
    CHANNEL_FREE = 0,
    CHANNEL_WANTED,
    CHANNEL_ASKED,
    CHANNEL_HEARD,
    CHANNEL_LEFT
};

/* Of an object: "<prefix>:{<tag>}:wake:<client>". */
struct gh_cluster_channel
{
    uint64_t used_us; /* when something was asked last of its object */
    uint32_t next;    /* in its chain, or of those that are free: a number, plus 1; 0: none */
    uint16_t slot;
    uint16_t place; /* whose link it was asked over */
    uint8_t state;
    uint8_t moves; /* since the last sweep */
    uint8_t tag_size;
    char tag[TAG_MAX];
};

struct gh_cluster_listener
{
    gh_link link;
    uint32_t answers;  /* of its hand-shake that are still to come */
    uint32_t channels; /* counted by the sweep                     */
    uint64_t rest_us;  /* it refused: not before                   */
    uint64_t stuck_us; /* since when not all has left; 0: all has  */
};

static gh_cluster_hints* hints_of(const gh_client* client)
{
    return &gh_cluster_of(client)->hints;
}

static uint32_t listener_place(const gh_client* client, const gh_cluster_listener* listener)
{
    return (uint32_t)(listener - hints_of(client)->listeners);
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

static char* channel_put(char* end, gh_str bytes)
{
    memcpy(end, bytes.bytes, bytes.size);
    return end + bytes.size;
}

/* "<prefix>:{<tag>}:wake:<client>"; one channel a command, as those of other slots would be refused together. */
static void request_channel(gh_request* request, const gh_client* client, gh_str command, gh_str tag)
{
    char plain[GH_CHANNEL_SIZE_MAX];
    char text[GH_CHANNEL_SIZE_MAX + TAG_MAX + 3];
    const gh_str whole = gh_wake_channel(client, plain);
    const gh_str prefix = client->config.prefix;
    char* end = channel_put(channel_put(channel_put(text, prefix), gh_str_literal(":{")), tag);
    *end++ = '}';
    end = channel_put(end, gh_str_make(whole.bytes + prefix.size, whole.size - prefix.size));
    gh_request_str(request, command);
    gh_request_str(request, gh_str_make(text, (size_t)(end - text)));
}

bool gh_cluster_hints_probe(gh_node* node, gh_request* request)
{
    char tag[GH_DECIMAL_SIZE_MAX];
    const gh_str digits = gh_str_make(tag, (size_t)(gh_decimal_encode(node->epoch_tag, tag) - tag));
    if (node->epoch == NULL) return false;
    gh_request_array(request, 3);
    request_channel(request, node->client, gh_str_literal("SPUBLISH"), digits);
    gh_request_str(request, gh_str_literal("-"));
    return true;
}

/* Others pass: who is sent elsewhere may say it. */
static bool is_refusal(gh_str error)
{
    const gh_reply_class reply_class = gh_reply_classify(error);
    return reply_class == GH_CLASS_OTHER || reply_class == GH_CLASS_REFUSED || reply_class == GH_CLASS_LOGIN;
}

static void warn_refused(gh_node* node, gh_str error)
{
    gh_node_warn(node, GH_WARNING_NOT_SHARDED, "hints go to all nodes of the Cluster, the server says: ", error);
}

void gh_cluster_hints_refused(gh_node* node, gh_str error)
{
    if (!is_refusal(error)) return;
    node->phantom = '-';
    warn_refused(node, error);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void channel_let_go(gh_cluster_hints* hints, gh_cluster_channel* channel)
{
    channel->state = CHANNEL_FREE;
    channel->next = hints->free;
    hints->free = (uint32_t)(channel - hints->channels) + 1;
}

/* Links have their buffers only while something is in them, as those to the nodes. */
static void listener_init(gh_cluster_listener* listener, const gh_client* client)
{
    gh_link_init(&listener->link, GH_LOG_WAKE_LINK, "shard's wake link: ", &client->target);
    listener->link.inbox = client->lent_inbox;
    listener->link.inbox.bytes = NULL;
    listener->link.out_capacity = client->config.out_bytes;
}

bool gh_cluster_hints_carve(gh_cluster_hints* hints, gh_arena* arena, const gh_client* client)
{
    const gh_client_config* config = &client->config;
    const uint32_t nodes = config->nodes_capacity;
    uint32_t chains = 1;
    uint32_t i;
    if (!config->wake || !config->wake_sharded) return true;
    while (chains < config->wake_channels) chains *= 2;
    hints->capacity = config->wake_channels;
    hints->chain_mask = chains - 1;
    hints->listeners = (gh_cluster_listener*)gh_arena_take(arena, nodes * sizeof(gh_cluster_listener));
    hints->channels = (gh_cluster_channel*)gh_arena_take(arena, hints->capacity * sizeof(gh_cluster_channel));
    hints->chains = (uint32_t*)gh_arena_take(arena, chains * sizeof(uint32_t));
    if (hints->chains == NULL) return false;
    for (i = hints->capacity; i-- > 0;) channel_let_go(hints, &hints->channels[i]);
    for (i = 0; i < nodes; i++) listener_init(&hints->listeners[i], client);
    return true;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static uint32_t* chain_of(const gh_cluster_hints* hints, uint16_t slot)
{
    return &hints->chains[slot & hints->chain_mask];
}

static gh_cluster_channel* channel_find(const gh_cluster_hints* hints, uint16_t slot, gh_str tag)
{
    uint32_t number = *chain_of(hints, slot);
    while (number != 0)
    {
        gh_cluster_channel* channel = &hints->channels[number - 1];
        if (channel->slot == slot && gh_str_equal(gh_str_make(channel->tag, channel->tag_size), tag)) return channel;
        number = channel->next;
    }
    return NULL;
}

static void channel_free(gh_cluster_hints* hints, gh_cluster_channel* channel)
{
    const uint32_t number = (uint32_t)(channel - hints->channels) + 1;
    uint32_t* link = chain_of(hints, channel->slot);
    while (*link != number) link = &hints->channels[*link - 1].next;
    *link = channel->next;
    if (channel->state == CHANNEL_WANTED) hints->wanted--;
    hints->used--;
    channel_let_go(hints, channel);
}

static void channel_want(gh_cluster_hints* hints, gh_cluster_channel* channel)
{
    if (channel->state == CHANNEL_WANTED) return;
    channel->state = CHANNEL_WANTED;
    hints->wanted++;
    hints->look_us = 0;
}

/* NULL: all are taken. */
static gh_cluster_channel* channel_make(gh_cluster_hints* hints, uint16_t slot, gh_str tag)
{
    gh_cluster_channel* channel;
    uint32_t* chain = chain_of(hints, slot);
    const uint32_t number = hints->free;
    if (number == 0) return NULL;
    channel = &hints->channels[number - 1];
    hints->free = channel->next;
    channel->next = *chain;
    *chain = number;
    channel->slot = slot;
    channel->moves = 0;
    channel->tag_size = (uint8_t)tag.size;
    memcpy(channel->tag, tag.bytes, tag.size);
    hints->used++;
    channel_want(hints, channel);
    return channel;
}

static bool is_asked_at(const gh_cluster_channel* channel, uint32_t place)
{
    return channel->state > CHANNEL_WANTED && channel->place == place;
}

/* Itself, or whoever has it ask. */
static bool is_listened_for(const gh_op* op)
{
    const gh_op* owner = op->kind->owner == NULL ? NULL : op->kind->owner(op);
    return ((op->flags | (owner == NULL ? 0 : owner->flags)) & GH_OP_LISTENING) != 0;
}

void gh_cluster_hints_want(const gh_op* op, gh_str key, uint16_t slot)
{
    gh_client* client = op->client;
    gh_cluster* cluster = gh_cluster_of(client);
    gh_cluster_hints* hints = &cluster->hints;
    gh_cluster_channel* channel;
    uint16_t owner;
    gh_str tag;
    if (!is_listened_for(op)) return;
    tag = gh_slot_tag(key);
    if (tag.size == key.size || tag.size > TAG_MAX) return;
    channel = channel_find(hints, slot, tag);
    if (channel == NULL) channel = channel_make(hints, slot, tag);
    if (channel == NULL) return;
    channel->used_us = client->now_us;
    if (channel->state == CHANNEL_LEFT || channel->state == CHANNEL_WANTED) return;
    owner = gh_slots_map_owner(&cluster->map, slot);
    if (channel->place != owner && owner < cluster->map.capacity) channel_want(hints, channel);
}

/* ---- what is said over a link ------------------------------------------------------------------------------------ */

static void listener_lose(gh_client* client, gh_cluster_listener* listener, gh_log_level level, const char* why)
{
    gh_cluster_hints* hints = hints_of(client);
    const uint32_t place = listener_place(client, listener);
    bool heard = false;
    uint32_t i;
    gh_link_lose(&listener->link, client, level, why);
    listener->stuck_us = 0;
    gh_lend_settle(client, &listener->link);
    for (i = 0; i < hints->capacity; i++)
    {
        gh_cluster_channel* channel = &hints->channels[i];
        if (!is_asked_at(channel, place)) continue;
        heard = heard || channel->state == CHANNEL_HEARD;
        if (channel->state == CHANNEL_LEFT) channel_free(hints, channel);
        else channel_want(hints, channel);
    }
    if (heard) gh_listeners_hint_all(client); /* what was said into it is gone */
}

/* False: there is no room now. */
static bool channel_say(gh_client* client, gh_cluster_listener* listener, const gh_cluster_channel* channel,
                        gh_str command)
{
    gh_request request;
    if (!gh_lend_out(client, &listener->link)) return false;
    request = gh_link_request(&listener->link);
    gh_request_array(&request, 2);
    request_channel(&request, client, command, gh_str_make(channel->tag, channel->tag_size));
    return gh_link_commit(&listener->link, &request);
}

static void channel_leave(gh_client* client, gh_cluster_channel* channel)
{
    gh_cluster_listener* listener = &hints_of(client)->listeners[channel->place];
    if (listener->link.state != GH_LINK_READY) return;
    if (channel_say(client, listener, channel, gh_str_literal("SUNSUBSCRIBE"))) channel->state = CHANNEL_LEFT;
}

/* ---- what is heard over it --------------------------------------------------------------------------------------- */

/* Hints may have been missed: let all ask whose object lies there, and those that have others ask. When one is told,
   any of them may leave its chain, but none joins. */
static void hint_slot(gh_client* client, uint16_t slot)
{
    uint32_t i;
    for (i = 0; i <= client->listener_mask; i++)
    {
        gh_op* op = client->listeners[i];
        while (op != NULL)
        {
            client->next_listener = op->wake_next;
            if (op->route == 0 || op->route == slot + 1u) gh_op_hint(op, 0);
            op = client->next_listener;
        }
    }
}

/* A sender who has not found us there yet has said it over all nodes. Unless that cannot be heard just now. */
static void channel_confirmed(gh_client* client, gh_cluster_channel* channel)
{
    const bool hears_all = gh_client_wake_healthy(client) && (gh_client_warnings(client) & GH_WARNING_NO_WAKE) == 0;
    channel->state = CHANNEL_HEARD;
    if (!hears_all) hint_slot(client, channel->slot);
}

/* Followed at once, but not again and again. */
static void channel_moved(gh_cluster_hints* hints, gh_cluster_channel* channel)
{
    if (channel->moves < UINT8_MAX) channel->moves++;
    channel_want(hints, channel);
}

/* Unasked it says that the slot has moved; to whom, the former owner knows best. */
static void channel_unsubscribed(gh_client* client, gh_cluster_channel* channel)
{
    gh_cluster* cluster = gh_cluster_of(client);
    if (channel->state != CHANNEL_LEFT)
    {
        cluster->wanted = true;
        channel_moved(&cluster->hints, channel);
        hint_slot(client, channel->slot);
    }
    else if (client->now_us - channel->used_us < KEEP_US) channel_want(&cluster->hints, channel);
    else channel_free(&cluster->hints, channel);
}

/* What waits in the queues goes on to where the map says now, as after a MOVED of an op. */
static void listener_moved(gh_client* client, gh_cluster_listener* listener, const gh_redirect* to)
{
    gh_cluster* cluster = gh_cluster_of(client);
    gh_cluster_hints* hints = &cluster->hints;
    const uint32_t place = listener_place(client, listener);
    const uint32_t chain = *chain_of(hints, to->slot);
    uint32_t number = chain;
    gh_slots_map_moved(&cluster->map, to->slot, to->endpoint, listener->link.target->address.host);
    cluster->wanted = true;
    cluster->moves += 2;
    while (number != 0)
    {
        gh_cluster_channel* channel = &hints->channels[number - 1];
        number = channel->next;
        if (channel->slot == to->slot && channel->state == CHANNEL_ASKED && channel->place == place)
            channel_moved(hints, channel);
    }
}

static void listener_refused(gh_client* client, gh_cluster_listener* listener, gh_str error)
{
    const gh_redirect to = gh_redirect_parse(error);
    if (to.kind == GH_REDIRECT_MOVED && listener->answers == 0)
    {
        listener_moved(client, listener, &to);
        return;
    }
    if (is_refusal(error))
    {
        listener->rest_us = gh_client_after(client, REST_US);
        warn_refused(&client->nodes[listener_place(client, listener)], error);
    }
    listener_lose(client, listener, GH_LOG_WARNING, "refused");
}

/* [kind, channel, ...]; anything else that is an array is a pong. */
static void listener_take(gh_client* client, gh_cluster_listener* listener, const gh_reply* reply)
{
    const gh_reply* kind = gh_reply_at(reply, 0);
    const gh_reply* name = gh_reply_at(reply, 1);
    const gh_reply* payload = gh_reply_at(reply, 2);
    gh_cluster_channel* channel;
    if (reply->type == GH_REPLY_ERROR)
    {
        listener_refused(client, listener, reply->text);
        return;
    }
    if (listener->answers > 0 && --listener->answers == 0)
    {
        listener->link.state = GH_LINK_READY;
        return;
    }
    if (kind == NULL || name == NULL || payload == NULL) return;
    if (gh_str_equal(kind->text, gh_str_literal("smessage")))
    {
        if (gh_wake_hear(client, payload->text)) client->stats.hints_sharded++;
        return;
    }
    channel = channel_find(hints_of(client), gh_slot_of_key(name->text), gh_slot_tag(name->text));
    if (channel == NULL || !is_asked_at(channel, listener_place(client, listener))) return;
    if (gh_str_equal(kind->text, gh_str_literal("sunsubscribe"))) channel_unsubscribed(client, channel);
    else if (gh_str_equal(kind->text, gh_str_literal("ssubscribe")) && channel->state == CHANNEL_ASKED)
        channel_confirmed(client, channel);
}

/* False: the link is lost. */
static bool listener_read(gh_client* client, gh_cluster_listener* listener)
{
    const gh_reply* reply = NULL;
    for (;;)
    {
        const gh_read read = gh_link_next(&listener->link, client, &reply);
        if (read == GH_READ_MORE) return true;
        if (read == GH_READ_REPLY) listener_take(client, listener, reply);
        else
        {
            /* Anybody may publish anything there, also what is larger than any answer. */
            if (read == GH_READ_BROKEN) client->stats.protocol_errors++;
            listener_lose(client, listener, GH_LOG_WARNING,
                          read == GH_READ_BROKEN ? "not RESP2" : "a hint is too large");
        }
        if (!listener->link.has_stream) return false;
    }
}

static void listener_receive(gh_client* client, gh_cluster_listener* listener)
{
    gh_link* link = &listener->link;
    gh_moved moved = GH_MOVED_MORE;
    uint32_t receives = 0;
    if (client->now_us < link->look_us && !client->watched) return;
    link->look_us = client->now_us + IDLE_LOOK_US;
    if (!gh_lend_in(client, link)) return;
    while (moved == GH_MOVED_MORE && receives++ < RECEIVES_MAX)
    {
        moved = gh_link_receive(link, client, RECEIVE_BYTES);
        if (moved == GH_MOVED_LOST)
        {
            listener_lose(client, listener, GH_LOG_WARNING, "closed by the server");
            return;
        }
        if (moved != GH_MOVED_NOTHING) link->look_us = client->now_us;
        if (!listener_read(client, listener)) return;
        if (!gh_client_budget_left(client)) return;
    }
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

/* PING is answered before all that is subscribed to, so the hand-shake has an end of its own. */
static void listener_connect(gh_client* client, gh_cluster_listener* listener)
{
    gh_link* link = &listener->link;
    if (gh_link_connect(link, client))
    {
        gh_request request = gh_link_request(link);
        gh_request_array(&request, 1);
        gh_request_str(&request, gh_str_literal("PING"));
        gh_link_commit(link, &request);
        listener->answers = link->secret_bytes > 0 ? 2 : 1;
    }
    if (link->state != GH_LINK_RESOLVING && link->state != GH_LINK_CONNECTING) hints_of(client)->look_us = 0;
    if (!gh_link_talks(link)) gh_lend_settle(client, link); /* also while it waits for its credentials */
}

/* 0: it talks; else when to look at it again. */
static uint64_t listener_call(gh_client* client, gh_cluster_listener* listener, const gh_node* node)
{
    gh_link* link = &listener->link;
    if (gh_link_talks(link)) return 0;
    if (gh_link_is_open(link)) return GH_FOREVER; /* it says itself when it is ready */
    if (node->link.state != GH_LINK_READY) return client->now_us + LATER_US;
    if (client->now_us < listener->rest_us) return listener->rest_us;
    if (!gh_link_is_due(link, client)) return link->due_us;
    link->target = node->link.target;
    listener_connect(client, listener);
    return gh_link_talks(link) ? 0 : link->due_us;
}

/* 0: it is asked for; else when to try again. */
static uint64_t channel_subscribe(gh_client* client, gh_cluster_channel* channel)
{
    gh_cluster* cluster = gh_cluster_of(client);
    const uint16_t owner = gh_slots_map_owner(&cluster->map, channel->slot);
    gh_cluster_listener* listener = &cluster->hints.listeners[owner < cluster->map.capacity ? owner : 0];
    uint64_t later_us;
    if (channel->moves > MOVES_MAX) return cluster->hints.sweep_us;
    if (owner >= cluster->map.capacity) return client->now_us + LATER_US;
    later_us = listener_call(client, listener, &client->nodes[owner]);
    if (later_us != 0) return later_us;
    if (!channel_say(client, listener, channel, gh_str_literal("SSUBSCRIBE"))) return client->now_us + SOON_US;
    channel->place = owner;
    channel->state = CHANNEL_ASKED;
    cluster->hints.wanted--;
    return 0;
}

static void channels_subscribe(gh_client* client)
{
    gh_cluster_hints* hints = hints_of(client);
    uint32_t left = hints->wanted;
    uint32_t i;
    if (left == 0 || client->now_us < hints->look_us) return;
    hints->look_us = GH_FOREVER;
    for (i = 0; i < hints->capacity && left > 0; i++)
    {
        uint64_t later_us;
        if (hints->channels[i].state != CHANNEL_WANTED) continue;
        left--;
        later_us = channel_subscribe(client, &hints->channels[i]);
        if (later_us != 0) hints->look_us = gh_least(hints->look_us, later_us);
    }
}

static void listener_end(gh_client* client, gh_cluster_listener* listener)
{
    gh_link_shut(&listener->link, client);
    gh_inbox_reset(&listener->link.inbox);
    gh_lend_settle(client, &listener->link);
}

/* What nobody has asked about for long is left, and a link that nothing is heard over is closed. */
static void hints_sweep(gh_client* client)
{
    gh_cluster_hints* hints = hints_of(client);
    uint32_t i;
    if (client->now_us < hints->sweep_us) return;
    hints->sweep_us = client->now_us + SWEEP_US;
    for (i = 0; i < client->config.nodes_capacity; i++) hints->listeners[i].channels = 0;
    for (i = 0; i < hints->capacity; i++)
    {
        gh_cluster_channel* channel = &hints->channels[i];
        const bool is_stale = client->now_us - channel->used_us >= KEEP_US;
        if (channel->state == CHANNEL_FREE) continue;
        channel->moves = 0;
        if (is_stale && channel->state == CHANNEL_WANTED) channel_free(hints, channel);
        else if (is_stale && channel->state == CHANNEL_HEARD) channel_leave(client, channel);
        if (channel->state > CHANNEL_WANTED) hints->listeners[channel->place].channels++;
    }
    for (i = 0; i < client->config.nodes_capacity; i++)
    {
        if (hints->listeners[i].link.state != GH_LINK_READY) continue;
        hints->listeners[i].link.failures = 0; /* not before: one that is lost as soon as it is ready gets its pause */
        if (hints->listeners[i].channels == 0) listener_end(client, &hints->listeners[i]);
    }
}

static void listener_hear(gh_client* client, gh_cluster_listener* listener)
{
    const gh_link_state state = listener->link.state;
    if (state == GH_LINK_RESOLVING || state == GH_LINK_CONNECTING) listener_connect(client, listener);
    if (gh_link_talks(&listener->link)) listener_receive(client, listener);
}

/* It holds what all links send from for as long as a request may stand still. */
static bool listener_is_stuck(const gh_client* client, const gh_cluster_listener* listener)
{
    return listener->stuck_us != 0 && client->now_us - listener->stuck_us >= client->config.request_timeout_us;
}

/* NULL: nothing is wrong with it. */
static const char* reason_to_lose(const gh_client* client, const gh_cluster_listener* listener)
{
    if (gh_link_is_silent(&listener->link, client)) return "no answer in time";
    if (gh_lend_is_held_up(client, &listener->link)) return "others wait for the end of what it says";
    return listener_is_stuck(client, listener) ? "it takes nothing that is sent" : NULL;
}

static void listener_send(gh_client* client, gh_cluster_listener* listener)
{
    gh_link* link = &listener->link;
    const char* why;
    if (!gh_link_talks(link)) return;
    why = reason_to_lose(client, listener);
    if (why != NULL)
    {
        listener_lose(client, listener, GH_LOG_WARNING, why);
        return;
    }
    if (client->now_us >= gh_link_listen_due(link, client) && gh_lend_out(client, link)) gh_link_ping(link, client);
    if (link->out != NULL && gh_link_flush(link, client) == GH_MOVED_LOST)
        listener_lose(client, listener, GH_LOG_WARNING, "closed by the server");
    if (gh_link_unsent(link) == 0) listener->stuck_us = 0;
    else if (listener->stuck_us == 0) listener->stuck_us = client->now_us;
    gh_lend_settle(client, link);
}

void gh_cluster_hints_move(gh_client* client)
{
    gh_cluster_hints* hints = hints_of(client);
    uint32_t i;
    if (hints->used == 0 && hints->open == 0) return;
    hints_sweep(client);
    for (i = 0; i < client->config.nodes_capacity; i++) listener_hear(client, &hints->listeners[i]);
    channels_subscribe(client);
    hints->open = 0;
    for (i = 0; i < client->config.nodes_capacity; i++)
    {
        listener_send(client, &hints->listeners[i]);
        if (gh_link_is_open(&hints->listeners[i].link)) hints->open++;
    }
}

uint64_t gh_cluster_hints_due(const gh_client* client)
{
    const gh_cluster_hints* hints = hints_of(client);
    uint64_t due_us = GH_FOREVER;
    uint32_t i;
    if (hints->used == 0 && hints->open == 0) return GH_FOREVER;
    for (i = 0; i < client->config.nodes_capacity; i++)
    {
        const gh_link* link = &hints->listeners[i].link;
        if (!gh_link_is_open(link)) continue;
        due_us = gh_least(due_us, gh_least(gh_link_listen_due(link, client), gh_lend_due(client, link)));
        if (hints->listeners[i].stuck_us != 0)
            due_us = gh_least(due_us, hints->listeners[i].stuck_us + client->config.request_timeout_us);
    }
    if (hints->wanted > 0) due_us = gh_least(due_us, hints->look_us);
    return gh_least(due_us, hints->sweep_us);
}

gh_link* gh_cluster_hints_link(gh_client* client, uint32_t n)
{
    gh_cluster_hints* hints = hints_of(client);
    return hints->listeners == NULL || n >= client->config.nodes_capacity ? NULL : &hints->listeners[n].link;
}

void gh_cluster_hints_forget(gh_client* client, uint32_t place)
{
    gh_cluster_hints* hints = hints_of(client);
    if (hints->listeners == NULL || hints->listeners[place].link.state == GH_LINK_IDLE) return;
    if (gh_link_is_open(&hints->listeners[place].link))
        listener_lose(client, &hints->listeners[place], GH_LOG_INFO, "the node is gone");
    listener_end(client, &hints->listeners[place]);
    hints->listeners[place].link.failures = 0;
    hints->listeners[place].rest_us = 0;
}
