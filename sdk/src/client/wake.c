/* wake.c -- the second link: it subscribes to "<prefix>:wake:<client>" and passes hints on.

   A hint says "the op with this sequence should ask now". It is a rumour: lost ones cost time, never truth, because
   waiters also ask by themselves. When the link is lost, everybody who listens is told to ask once, since hints may
   have been missed, and asks more often until it is back. */

#include "client/link.h"
#include "client/state.h"
#include "wire/name.h"

#define WAKE_LOOK_US       1000ull /* an idle stream is looked at once in this time, however often the tick runs */
#define WAKE_RECEIVE_BYTES 2048u
#define WAKE_RECEIVES_MAX  32u /* of a tick: whoever floods the channel costs no more than this */

static void wake_lose(gh_client* client, gh_log_level level, const char* why)
{
    bool was_ready = client->wake.state == GH_LINK_READY;
    gh_link_lose(&client->wake, client, level, why);
    if (was_ready) gh_listeners_hint_all(client);
}

/* Any node will do, as hints reach them all; one that is there. */
static const gh_target* wake_target(const gh_client* client)
{
    const gh_node* node = client->nodes;
    while (node < client->nodes_end && node->link.state != GH_LINK_READY) node++;
    return node == client->nodes_end ? client->wake.target : node->link.target;
}

void gh_wake_leave(gh_client* client)
{
    if (gh_link_is_open(&client->wake)) wake_lose(client, GH_LOG_INFO, "it goes elsewhere");
}

gh_str gh_wake_channel(const gh_client* client, char* out)
{
    const gh_str prefix = client->config.prefix;
    memcpy(out, prefix.bytes, prefix.size);
    memcpy(out + prefix.size, ":wake:", 6);
    gh_hex_encode(client->id, out + prefix.size + 6);
    return gh_str_make(out, prefix.size + 22);
}

static void wake_subscribe(gh_client* client)
{
    gh_link* link = &client->wake;
    gh_request request = gh_link_request(link);
    char channel[GH_CHANNEL_SIZE_MAX];
    GH_INVARIANT(client, link->state == GH_LINK_HANDSHAKE);
    client->wake_answers = link->secret_bytes > 0 ? 2 : 1; /* AUTH's stands in front */
    gh_request_array(&request, 2);
    gh_request_str(&request, gh_str_literal("SUBSCRIBE"));
    gh_request_str(&request, gh_wake_channel(client, channel));
    if (!gh_link_commit(link, &request)) wake_lose(client, GH_LOG_ERROR, "no room to subscribe");
}

bool gh_wake_hear(gh_client* client, gh_str hint)
{
    uint64_t sequence;
    char letter = 0;
    if (hint.size == 17) letter = hint.bytes[--hint.size];
    if (!gh_hex_decode(hint, &sequence)) return false;
    client->stats.hints++;
    gh_listeners_hint(client, sequence, letter);
    return true;
}

/* ["message", channel, "<sequence, 16 hex digits>" and perhaps a letter];
   anything else that is an array is a confirmation or a pong. */
static void wake_take(gh_client* client, const gh_reply* reply)
{
    const gh_reply* kind = gh_reply_at(reply, 0);
    const gh_reply* payload = gh_reply_at(reply, 2);
    if (reply->type == GH_REPLY_ERROR)
    {
        const gh_str part = gh_str_literal("wake link: ");
        gh_log_limited(client, GH_LOG_WAKE_LINK, GH_LOG_WARNING, &part, 1, reply->text);
        wake_lose(client, GH_LOG_WARNING, "refused");
        return;
    }
    if (client->wake_answers > 0 && --client->wake_answers == 0)
    {
        client->wake.state = GH_LINK_READY;
        client->wake.failures = 0;
        gh_log(client, GH_LOG_DEBUG, "wake link: ready");
        return;
    }
    if (kind == NULL || payload == NULL || !gh_str_equal(kind->text, gh_str_literal("message"))) return;
    gh_wake_hear(client, payload->text);
}

/* False: the link is lost. */
static bool wake_read(gh_client* client)
{
    const gh_reply* reply = NULL;
    for (;;)
    {
        switch (gh_link_next(&client->wake, client, &reply))
        {
        case GH_READ_MORE: return true;
        case GH_READ_REPLY:
            wake_take(client, reply);
            if (!client->wake.has_stream) return false;
            break;
        case GH_READ_TOO_LARGE:
        case GH_READ_BROKEN:
            client->stats.protocol_errors++;
            wake_lose(client, GH_LOG_ERROR, "not RESP2");
            return false;
        }
    }
}

static void wake_receive(gh_client* client)
{
    gh_link* link = &client->wake;
    gh_moved moved = GH_MOVED_MORE;
    uint32_t receives = 0;
    if (client->now_us < link->look_us && !client->watched) return;
    link->look_us = client->now_us + WAKE_LOOK_US;
    while (moved == GH_MOVED_MORE)
    {
        moved = gh_link_receive(link, client, WAKE_RECEIVE_BYTES);
        if (moved == GH_MOVED_LOST)
        {
            wake_lose(client, GH_LOG_WARNING, "closed by the server");
            return;
        }
        if (moved != GH_MOVED_NOTHING) link->look_us = client->now_us; /* where one hint is, the next may be near */
        if (!wake_read(client)) return;
        if (++receives == WAKE_RECEIVES_MAX || (moved == GH_MOVED_MORE && !gh_client_budget_left(client))) return;
    }
}

void gh_wake_move(gh_client* client)
{
    gh_link* link = &client->wake;
    if (!client->config.wake) return;
    if (link->state == GH_LINK_IDLE && !gh_client_ready(client)) return; /* one at a time */
    if (gh_link_is_due(link, client)) link->target = wake_target(client);
    if (gh_link_connect(link, client)) wake_subscribe(client);
    if (!link->has_stream || link->state < GH_LINK_HANDSHAKE) return;
    wake_receive(client);
    if (!link->has_stream) return;
    if (gh_link_is_silent(link, client))
    {
        wake_lose(client, GH_LOG_WARNING, "no answer in time");
        return;
    }
    gh_link_ping(link, client);
    if (gh_link_flush(link, client) == GH_MOVED_LOST) wake_lose(client, GH_LOG_WARNING, "closed by the server");
}

/* When the link has something to do even if no byte arrives. */
uint64_t gh_wake_due(const gh_client* client)
{
    const gh_link* link = &client->wake;
    if (!client->config.wake || link->state == GH_LINK_IDLE) return GH_FOREVER;
    return gh_link_listen_due(link, client);
}
