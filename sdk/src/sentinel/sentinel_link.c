/* sentinel_link.c -- what is said to one sentinel, and what it says. */

#include "sentinel/sentinel_link.h"

#include "base/least.h"

#define SENTINEL_OUT_BYTES     1536u /* AUTH with the longest user and password, the question, SUBSCRIBE, twice PING */
#define SENTINEL_REPLY_BYTES   1024u
#define SENTINEL_REPLY_NODES   8u
#define SENTINEL_LOOK_US       1000ull /* a stream on which nothing is awaited is looked at once in this time */
#define SENTINEL_RECEIVE_BYTES 2048u

#define SENTINEL_CHANNELS 4u
static const char* const sentinel_channels[SENTINEL_CHANNELS] = {"+switch-master", "+failover-state-send-slaveof-noone",
                                                                 "-failover-abort-no-good-slave",
                                                                 "-failover-abort-slave-timeout"};

bool gh_sentinel_carve(gh_sentinel* sentinel, gh_arena* arena)
{
    gh_inbox inbox;
    char* out = (char*)gh_arena_take(arena, SENTINEL_OUT_BYTES);
    bool fits;
    memset(&inbox, 0, sizeof inbox);
    fits = gh_inbox_take(&inbox, arena, SENTINEL_REPLY_BYTES, SENTINEL_REPLY_NODES);
    if (sentinel == NULL) return fits;
    gh_inbox_skip_long(&inbox); /* anybody who may PUBLISH there may say anything */
    sentinel->link.out = out;
    sentinel->link.out_capacity = SENTINEL_OUT_BYTES;
    sentinel->link.inbox = inbox;
    return fits;
}

static void sentinel_lose(gh_sentinel* sentinel, gh_client* client, gh_log_level level, const char* why)
{
    sentinel->asked = false;
    gh_link_lose(&sentinel->link, client, level, why);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void encode_channels(gh_request* request, const char* command)
{
    uint32_t i;
    gh_request_array(request, 1 + SENTINEL_CHANNELS);
    gh_request_str(request, gh_str_of(command));
    for (i = 0; i < SENTINEL_CHANNELS; i++) gh_request_str(request, gh_str_of(sentinel_channels[i]));
}

static void encode_question(gh_request* request, gh_str name)
{
    gh_request_array(request, 3);
    gh_request_str(request, gh_str_literal("SENTINEL"));
    gh_request_str(request, gh_str_literal("GET-MASTER-ADDR-BY-NAME"));
    gh_request_str(request, name);
}

/* It all goes in one piece, so nothing that happens in between is missed. */
static bool ask_and_listen(gh_sentinel* sentinel, const gh_client* client, gh_request* request)
{
    encode_question(request, client->config.sentinel_name);
    encode_channels(request, "SUBSCRIBE");
    if (!gh_link_commit(&sentinel->link, request)) return false;
    sentinel->asked = true;
    sentinel->asked_us = client->now_us;
    return true;
}

/* Who listens may ask nothing else, so it stops for that moment. */
bool gh_sentinel_ask(gh_sentinel* sentinel, gh_client* client)
{
    gh_request request = gh_link_request(&sentinel->link);
    if (sentinel->link.state != GH_LINK_READY) return false;
    encode_channels(&request, "UNSUBSCRIBE");
    return ask_and_listen(sentinel, client, &request);
}

/* What it has told while nobody listened can only be asked for. */
static void sentinel_greet(gh_sentinel* sentinel, gh_client* client)
{
    gh_request request = gh_link_request(&sentinel->link);
    GH_CHECKED(client, ask_and_listen(sentinel, client, &request)); /* SENTINEL_OUT_BYTES is the longest of it */
}

/* ---- what it says ------------------------------------------------------------------------------------------------ */

/* The words of an event, one after the other; empty when there is none left. */
static gh_str next_word(gh_str* text)
{
    size_t size = 0;
    gh_str word;
    while (size < text->size && text->bytes[size] != ' ') size++;
    word = gh_str_make(text->bytes, size);
    if (size < text->size) size++;
    text->bytes += size;
    text->size -= size;
    return word;
}

static gh_sentinel_news news_of(gh_sentinel_word word, gh_str host, gh_str port)
{
    gh_sentinel_news news;
    news.word = word;
    news.host = host;
    news.port = port;
    return news;
}

static gh_sentinel_news no_news(void)
{
    return news_of(GH_SENTINEL_NOTHING, gh_str_make(NULL, 0), gh_str_make(NULL, 0));
}

/* "<name> <old host> <old port> <host> <port>" */
static gh_sentinel_news take_switch(gh_str text, gh_str name)
{
    gh_str host;
    if (!gh_str_equal(next_word(&text), name)) return no_news();
    next_word(&text);
    next_word(&text);
    host = next_word(&text);
    return news_of(GH_SENTINEL_SWITCHED, host, next_word(&text));
}

/* "slave <its name> <host> <port> @ <master> <host> <port>", or "master <name> ..." */
static gh_sentinel_news take_instance(gh_str text, gh_str name, gh_sentinel_word word)
{
    const bool is_master = gh_str_equal(next_word(&text), gh_str_literal("master"));
    const gh_str its_name = next_word(&text);
    const gh_str host = next_word(&text);
    const gh_str port = next_word(&text);
    if (!is_master) next_word(&text);
    if (!gh_str_equal(is_master ? its_name : next_word(&text), name)) return no_news();
    return news_of(word, host, port);
}

static gh_sentinel_news take_event(gh_str channel, gh_str text, gh_str name)
{
    if (gh_str_equal(channel, gh_str_of(sentinel_channels[0]))) return take_switch(text, name);
    if (gh_str_equal(channel, gh_str_of(sentinel_channels[1]))) return take_instance(text, name, GH_SENTINEL_PROMOTING);
    return take_instance(text, name, GH_SENTINEL_GIVEN_UP);
}

static void sentinel_ready(gh_sentinel* sentinel, gh_client* client)
{
    if (sentinel->link.state != GH_LINK_HANDSHAKE) return;
    sentinel->link.state = GH_LINK_READY;
    sentinel->link.failures = 0;
    gh_log(client, GH_LOG_DEBUG, "sentinel link: ready");
}

/* To the question it answers an array of two strings, or of none; all else are arrays that say what they are. */
static gh_sentinel_news take_reply(gh_sentinel* sentinel, gh_client* client, const gh_reply* reply)
{
    const gh_reply* first = gh_reply_at(reply, 0);
    const gh_reply* second = gh_reply_at(reply, 1);
    const gh_reply* third = gh_reply_at(reply, 2);
    if (reply->type == GH_REPLY_ERROR)
    {
        const gh_str part = gh_str_literal("sentinel link: ");
        gh_log_limited(client, GH_LOG_SENTINEL_LINK, GH_LOG_WARNING, &part, 1, reply->text);
        sentinel_lose(sentinel, client, GH_LOG_WARNING, "refused");
        return no_news();
    }
    if (first != NULL && second != NULL && third != NULL)
    {
        if (gh_str_equal(first->text, gh_str_literal("message")))
            return take_event(second->text, third->text, client->config.sentinel_name);
        if (gh_str_equal(first->text, gh_str_literal("subscribe")) && third->integer == SENTINEL_CHANNELS)
            sentinel_ready(sentinel, client);
        return no_news();
    }
    if (!sentinel->asked || reply->type == GH_REPLY_STATUS) return no_news(); /* OK of AUTH, a pong */
    if (first != NULL && second != NULL && gh_str_equal(first->text, gh_str_literal("pong"))) return no_news();
    sentinel->asked = false;
    if (first == NULL || second == NULL)
        return news_of(GH_SENTINEL_UNKNOWN, gh_str_make(NULL, 0), gh_str_make(NULL, 0));
    return news_of(GH_SENTINEL_MASTER, first->text, second->text);
}

gh_sentinel_news gh_sentinel_next(gh_sentinel* sentinel, gh_client* client)
{
    const gh_reply* reply = NULL;
    gh_sentinel_news news = no_news();
    while (news.word == GH_SENTINEL_NOTHING && gh_link_talks(&sentinel->link))
    {
        const gh_read result = gh_link_next(&sentinel->link, client, &reply);
        if (result == GH_READ_MORE) break;
        if (result == GH_READ_REPLY)
        {
            news = take_reply(sentinel, client, reply);
            continue;
        }
        client->stats.protocol_errors++;
        sentinel_lose(sentinel, client, GH_LOG_ERROR, "not RESP2");
    }
    return news;
}

void gh_sentinel_receive(gh_sentinel* sentinel, gh_client* client)
{
    gh_link* link = &sentinel->link;
    if (!gh_link_talks(link)) return;
    if (client->now_us < link->look_us && !client->watched && !sentinel->asked) return;
    link->look_us = client->now_us + SENTINEL_LOOK_US;
    if (gh_link_receive(link, client, SENTINEL_RECEIVE_BYTES) == GH_MOVED_LOST)
        sentinel_lose(sentinel, client, GH_LOG_WARNING, "closed by the sentinel");
    if (link->unread) link->look_us = client->now_us;
}

/* ---- the link ---------------------------------------------------------------------------------------------------- */

static bool is_silent(const gh_sentinel* sentinel, const gh_client* client)
{
    if (sentinel->asked && client->now_us - sentinel->asked_us >= client->config.request_timeout_us) return true;
    return gh_link_is_silent(&sentinel->link, client);
}

void gh_sentinel_move(gh_sentinel* sentinel, gh_client* client)
{
    gh_link* link = &sentinel->link;
    if (gh_link_connect(link, client)) sentinel_greet(sentinel, client);
    if (!link->has_stream || link->state < GH_LINK_HANDSHAKE) return;
    if (is_silent(sentinel, client))
    {
        sentinel_lose(sentinel, client, GH_LOG_WARNING, "no answer in time");
        return;
    }
    gh_link_ping(link, client);
    if (gh_link_flush(link, client) == GH_MOVED_LOST)
        sentinel_lose(sentinel, client, GH_LOG_WARNING, "closed by the sentinel");
}

uint64_t gh_sentinel_due(const gh_sentinel* sentinel, const gh_client* client)
{
    const gh_link* link = &sentinel->link;
    if (link->state == GH_LINK_IDLE) return client->now_us;
    if (!sentinel->asked) return gh_link_listen_due(link, client);
    return gh_least(gh_link_listen_due(link, client), sentinel->asked_us + client->config.request_timeout_us);
}
