/* sentinel.c -- the master is where a sentinel says, if it says so itself: guildhall/sentinel.h has the drawing.

   Sentinels are asked one after the other, anew for each attempt to connect; all are listened to, and each is asked
   when its link is there. client->target is what they said last.

   A master that answers is not left for one answer that names another, as that may be an old one. Then all are asked,
   and more of them must name the other one than the one that is followed. */

#include "client/link.h"
#include "client/topology.h"
#include "sentinel/sentinel_link.h"

#include "base/least.h"
#include "wire/endpoint.h"

#define NAME_MAX_BYTES    128u
#define PATIENCE_US       250000ull  /* for an answer; then another is asked, too, or what came is counted */
#define PAUSE_US          250000ull  /* after an answer that was of no use                                 */
#define PROMOTION_US      3000000ull /* a replica becomes the master in this time, or it does not          */
#define PROMOTION_LOOK_US 20000ull

typedef enum sentinels_state
{
    SENTINELS_ASKING = 0,
    SENTINELS_FOUND,
    SENTINELS_PROMOTING
} sentinels_state;

typedef struct sentinels_text
{
    size_t size;
    char bytes[GH_ENDPOINT_TEXT_MAX];
} sentinels_text;

/* What a sentinel has answered since it was said that another is the master than the one that is followed. */
typedef enum sentinels_vote
{
    VOTE_NONE = 0,
    VOTE_STAY,
    VOTE_LEAVE,
    VOTE_NEITHER
} sentinels_vote;

typedef struct sentinels
{
    sentinels_state state;
    uint32_t count;
    uint32_t at;          /* who is asked next                                                            */
    uint32_t unknown;     /* a bit each: it has said that there is no such master, and none has named one */
    bool fresh;           /* what was heard has not been used for an attempt yet                          */
    uint64_t ask_us;      /* not asked before                                                             */
    uint64_t until_us;    /* PROMOTING: it has failed; FOUND: old is not believed before                  */
    sentinels_text now;   /* client->target                                                               */
    sentinels_text old;   /* who was the master before a promotion                                        */
    sentinels_text last;  /* who was found to be one last                                                 */
    sentinels_text other; /* FOUND: who is the master instead, as a sentinel says; empty: nobody says so  */
    uint64_t count_us;    /* and when the answers are counted                                             */
    sentinels_vote votes[GH_SENTINELS_MAX];
    gh_sentinel each[GH_SENTINELS_MAX];
} sentinels;

static sentinels* sentinels_of(const gh_client* client)
{
    return (sentinels*)client->topology;
}

/* ---- the config -------------------------------------------------------------------------------------------------- */

static bool is_master_name(gh_str name)
{
    size_t i;
    if (name.size == 0 || name.size > NAME_MAX_BYTES) return false;
    for (i = 0; i < name.size; i++)
        if (name.bytes[i] <= ' ' || name.bytes[i] > '~') return false;
    return true;
}

static gh_status sentinels_check(const gh_client_config* config)
{
    gh_str list = config->address;
    uint32_t count = 0;
    gh_status status = GH_OK;
    if (!is_master_name(config->sentinel_name) ||
        gh_config_check_login(config->sentinel_user, config->sentinel_password) != GH_OK)
        return GH_INVALID_SENTINEL;
    do
    {
        status = gh_address_check(config, gh_address_next(&list));
    } while (status == GH_OK && ++count < GH_SENTINELS_MAX && list.size > 0);
    return status == GH_OK && list.size > 0 ? GH_INVALID_ADDRESS : status;
}

static bool sentinels_carve(gh_arena* arena, gh_client* client, gh_str addresses)
{
    sentinels* made = (sentinels*)gh_arena_take(arena, sizeof(sentinels));
    uint32_t n = 0;
    bool fits;
    client->topology = made;
    do
    {
        gh_sentinel* sentinel = made == NULL ? NULL : &made->each[n];
        const gh_str address = gh_address_next(&addresses);
        fits = gh_sentinel_carve(sentinel, arena);
        n++;
        if (sentinel == NULL) continue;
        gh_target_parse(address, &sentinel->target);
        gh_link_init(&sentinel->link, GH_LOG_SENTINEL_LINK, "sentinel link: ", &sentinel->target);
        sentinel->login.user = client->config.sentinel_user;
        sentinel->login.password = client->config.sentinel_password;
        sentinel->link.login = &sentinel->login;
        made->count = n;
    } while (addresses.size > 0);
    return fits;
}

/* ---- where the master is ----------------------------------------------------------------------------------------- */

/* As much of it as there is room for. */
static void text_add(sentinels_text* text, gh_str piece)
{
    const size_t room = sizeof text->bytes - text->size;
    if (piece.size > room) piece.size = room;
    memcpy(text->bytes + text->size, piece.bytes, piece.size);
    text->size += piece.size;
}

static gh_str text_str(const sentinels_text* text)
{
    return gh_str_make(text->bytes, text->size);
}

/* "HOST:PORT", an IPv6 host with brackets. One that is too long is cut, and no address. */
static sentinels_text text_of(gh_str host, gh_str port)
{
    const bool braced = host.size > 0 && memchr(host.bytes, ':', host.size) != NULL;
    sentinels_text text;
    text.size = 0;
    if (braced) text_add(&text, gh_str_literal("["));
    if (host.size > 0) text_add(&text, host);
    text_add(&text, braced ? gh_str_literal("]:") : gh_str_literal(":"));
    if (port.size > 0) text_add(&text, port);
    return text;
}

static bool text_is(const sentinels_text* a, const sentinels_text* b)
{
    return gh_str_equal(text_str(a), text_str(b));
}

/* What a sentinel says is looked at as any other address: nothing goes to what is none. */
static bool sentinels_place(sentinels* self, gh_client* client, const sentinels_text* text)
{
    if (text_is(text, &self->now)) return true;
    if (gh_address_check(&client->config, text_str(text)) != GH_OK)
    {
        const gh_str part = gh_str_literal("sentinel link: no address of a master: ");
        gh_log_limited(client, GH_LOG_SENTINEL_LINK, GH_LOG_WARNING, &part, 1, text_str(text));
        return false;
    }
    self->now = *text;
    gh_target_parse(text_str(&self->now), &client->target);
    return true;
}

static void sentinels_ask(sentinels* self, gh_client* client)
{
    uint32_t i;
    if (client->now_us < self->ask_us) return;
    for (i = 0; i < self->count; i++)
    {
        gh_sentinel* sentinel = &self->each[(self->at + i) % self->count];
        if (sentinel->asked || !gh_sentinel_ask(sentinel, client)) continue;
        self->at = (self->at + i + 1) % self->count;
        self->ask_us = gh_client_after(client, PATIENCE_US);
        return;
    }
}

static bool sentinels_find(gh_node* node)
{
    gh_client* client = node->client;
    sentinels* self = sentinels_of(client);
    if (self->state == SENTINELS_PROMOTING) return true;
    if (self->fresh)
    {
        self->fresh = false;
        return true;
    }
    self->state = SENTINELS_ASKING;
    self->other.size = 0;
    sentinels_ask(self, client);
    return false;
}

/* ---- another is the master --------------------------------------------------------------------------------------- */

/* To who is in self->now. */
static void sentinels_turn(sentinels* self, gh_client* client)
{
    gh_node* node = client->nodes;
    self->state = SENTINELS_FOUND;
    self->fresh = true;
    self->old.size = self->other.size = 0;
    if (gh_link_is_open(&node->link)) gh_pipeline_lose(node, GH_LOG_WARNING, "the sentinels have another master");
    gh_wake_leave(client);
}

static uint32_t votes_for(const sentinels* self, sentinels_vote vote)
{
    uint32_t count = 0;
    uint32_t i;
    for (i = 0; i < self->count; i++) count += self->votes[i] == vote;
    return count;
}

/* Most of all have said so; or the time is up, and more of those that could be asked. */
static void votes_count(sentinels* self, gh_client* client)
{
    const uint32_t leave = votes_for(self, VOTE_LEAVE);
    const sentinels_text other = self->other;
    if (leave <= self->count / 2 && client->now_us < self->count_us) return;
    self->other.size = 0;
    if (leave > votes_for(self, VOTE_STAY) && sentinels_place(self, client, &other)) sentinels_turn(self, client);
}

static void votes_ask(sentinels* self, gh_client* client)
{
    uint32_t i;
    for (i = 0; i < self->count; i++)
        if (self->votes[i] == VOTE_NONE && !self->each[i].asked) gh_sentinel_ask(&self->each[i], client);
}

static sentinels_vote vote_of(const sentinels* self, const gh_client* client, const sentinels_text* text)
{
    if (client->now_us < self->until_us && text_is(text, &self->old)) return VOTE_NEITHER;
    if (text_is(text, &self->now)) return VOTE_STAY;
    return self->other.size == 0 || text_is(text, &self->other) ? VOTE_LEAVE : VOTE_NEITHER;
}

/* An answer while a master is followed. For some time behind its promotion others know of the old one alone. */
static void hear_vote(sentinels* self, gh_client* client, uint32_t from, const sentinels_text* text)
{
    const sentinels_vote vote = vote_of(self, client, text);
    if (self->other.size == 0)
    {
        if (vote != VOTE_LEAVE) return;
        self->other = *text;
        self->count_us = gh_client_after(client, PATIENCE_US);
        memset(self->votes, 0, sizeof self->votes);
    }
    self->votes[from] = vote;
    votes_ask(self, client);
    votes_count(self, client);
}

/* ---- what they say ----------------------------------------------------------------------------------------------- */

static void hear_master(sentinels* self, gh_client* client, uint32_t from, const sentinels_text* text)
{
    self->unknown = 0;
    if (self->state == SENTINELS_FOUND) hear_vote(self, client, from, text);
    if (self->state != SENTINELS_ASKING) return;
    if ((client->now_us < self->until_us && text_is(text, &self->old)) || !sentinels_place(self, client, text))
    {
        self->ask_us = gh_client_after(client, gh_client_jitter(client, PAUSE_US));
        return;
    }
    self->state = SENTINELS_FOUND;
    self->fresh = true;
    self->ask_us = 0;
}

/* Whether each has said so that can be asked, or may be soon. */
static bool all_know_of_none(const sentinels* self)
{
    uint32_t i;
    for (i = 0; i < self->count; i++)
        if (gh_link_is_open(&self->each[i].link) && (self->unknown >> i & 1u) == 0) return false;
    return true;
}

/* Who waits is told only when all have said so, as one may have been set up anew. */
static void hear_unknown(sentinels* self, gh_client* client, uint32_t from)
{
    const gh_str part = gh_str_literal("sentinel link: no master is known by the name ");
    self->votes[from] = VOTE_NEITHER;
    gh_log_limited(client, GH_LOG_SENTINEL_LINK, GH_LOG_ERROR, &part, 1, client->config.sentinel_name);
    if (self->state != SENTINELS_ASKING) return;
    self->ask_us = gh_client_after(client, gh_client_jitter(client, PAUSE_US));
    self->unknown |= 1u << from;
    if (!all_know_of_none(self)) return;
    self->unknown = 0;
    gh_pipeline_refuse(client->nodes, GH_REASON_REFUSED);
}

static void hear_switch(sentinels* self, gh_client* client, const sentinels_text* text)
{
    const bool is_known = text_is(text, &self->now);
    if (!sentinels_place(self, client, text)) return;
    if (!is_known) sentinels_turn(self, client);
    if (self->state != SENTINELS_ASKING) return;
    self->state = SENTINELS_FOUND;
    self->fresh = true;
    self->old.size = 0;
}

/* The old master answers as before, for seconds, and what it does is lost as soon as the other one is master: in some
   tens of milliseconds, or before this was heard. So no answer of it counts any more, not even one that has arrived. */
static void hear_promotion(sentinels* self, gh_client* client, const sentinels_text* text)
{
    const sentinels_text old = self->now;
    gh_node* node = client->nodes;
    if (text_is(text, &self->now) || !sentinels_place(self, client, text)) return;
    self->old = old;
    self->other.size = 0;
    self->state = SENTINELS_PROMOTING;
    self->until_us = gh_client_after(client, PROMOTION_US);
    if (gh_link_is_open(&node->link)) gh_pipeline_lose(node, GH_LOG_WARNING, "another server is to become the master");
    gh_wake_leave(client);
}

/* Who is being connected to just now may yet say that it is the master, and is then followed as any other. */
static void promotion_failed(sentinels* self, const gh_client* client)
{
    self->state = gh_link_is_open(&client->nodes->link) ? SENTINELS_FOUND : SENTINELS_ASKING;
    self->fresh = false;
    self->ask_us = 0;
    self->until_us = 0;
}

static void sentinels_hear(sentinels* self, gh_client* client, uint32_t from, const gh_sentinel_news* news)
{
    const sentinels_text text = text_of(news->host, news->port);
    switch (news->word)
    {
    case GH_SENTINEL_NOTHING: return;
    case GH_SENTINEL_MASTER: hear_master(self, client, from, &text); return;
    case GH_SENTINEL_UNKNOWN: hear_unknown(self, client, from); return;
    case GH_SENTINEL_SWITCHED: hear_switch(self, client, &text); return;
    case GH_SENTINEL_PROMOTING: hear_promotion(self, client, &text); return;
    case GH_SENTINEL_GIVEN_UP:
        if (self->state == SENTINELS_PROMOTING) promotion_failed(self, client);
        return;
    }
}

/* ---- the tick ---------------------------------------------------------------------------------------------------- */

/* The replica is asked again and again what it is: the hand-shake ends at "a replica" until it is the master. */
static void promotion_move(sentinels* self, gh_client* client)
{
    gh_node* node = client->nodes;
    const uint64_t look_us = gh_client_after(client, PROMOTION_LOOK_US);
    if (node->link.state == GH_LINK_READY)
    {
        self->state = SENTINELS_FOUND;
        self->until_us = gh_client_after(client, PROMOTION_US);
    }
    else if (client->now_us >= self->until_us) promotion_failed(self, client);
    else if (node->link.state == GH_LINK_BACKOFF && node->link.due_us > look_us) node->link.due_us = look_us;
}

/* When a server that does not answer has been silent for so long that the sentinels are asked, too: one that is frozen
   says nothing, and who takes its place may not have been heard of. */
static uint64_t silence_due(const gh_client* client)
{
    uint64_t due_us = GH_FOREVER;
    const gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++)
        if (node->sent_count > 0)
            due_us = gh_least(due_us, gh_slots_oldest(node)->sent_us + client->config.request_timeout_us / 2);
    return due_us;
}

static void found_move(sentinels* self, gh_client* client)
{
    if (self->other.size == 0 && client->now_us >= silence_due(client)) sentinels_ask(self, client);
    if (self->other.size == 0) return;
    votes_ask(self, client);
    votes_count(self, client);
}

/* The hand-shake has said that the server is a master. */
static void note_failover(sentinels* self, gh_client* client)
{
    if (client->nodes->link.state != GH_LINK_READY || text_is(&self->now, &self->last)) return;
    if (self->last.size > 0) client->stats.failovers++;
    self->last = self->now;
}

static void sentinels_move(gh_client* client)
{
    sentinels* self = sentinels_of(client);
    uint32_t i;
    for (i = 0; i < self->count; i++)
    {
        gh_sentinel_news news;
        gh_sentinel_receive(&self->each[i], client);
        do
        {
            news = gh_sentinel_next(&self->each[i], client);
            sentinels_hear(self, client, i, &news);
        } while (news.word != GH_SENTINEL_NOTHING);
        gh_sentinel_move(&self->each[i], client);
    }
    if (self->state == SENTINELS_PROMOTING) promotion_move(self, client);
    if (self->state == SENTINELS_FOUND) found_move(self, client);
    note_failover(self, client);
}

static uint64_t promotion_due(const sentinels* self, const gh_node* node)
{
    return node->link.state == GH_LINK_BACKOFF ? gh_least(node->link.due_us, self->until_us) : self->until_us;
}

static uint64_t found_due(const sentinels* self, const gh_client* client)
{
    const uint64_t due_us = silence_due(client);
    return due_us > self->ask_us ? due_us : self->ask_us;
}

static uint64_t sentinels_due(const gh_client* client)
{
    const sentinels* self = sentinels_of(client);
    uint64_t due_us = GH_FOREVER;
    bool can_ask = false;
    uint32_t i;
    for (i = 0; i < self->count; i++)
    {
        due_us = gh_least(due_us, gh_sentinel_due(&self->each[i], client));
        can_ask = can_ask || (self->each[i].link.state == GH_LINK_READY && !self->each[i].asked);
    }
    if (self->state == SENTINELS_PROMOTING) return gh_least(due_us, promotion_due(self, client->nodes));
    if (self->state == SENTINELS_FOUND && self->other.size > 0) due_us = gh_least(due_us, self->count_us);
    else if (self->state == SENTINELS_FOUND && can_ask) due_us = gh_least(due_us, found_due(self, client));
    if (!gh_link_is_due(&client->nodes->link, client)) return due_us;
    if (self->fresh) return client->now_us;
    return can_ask ? gh_least(due_us, self->ask_us) : due_us;
}

static uint32_t sentinels_known(const gh_client* client)
{
    return sentinels_of(client)->now.size > 0;
}

static gh_link* sentinels_link(gh_client* client, uint32_t n)
{
    sentinels* self = sentinels_of(client);
    return n < self->count ? &self->each[n].link : NULL;
}

const struct gh_topology* gh_topology_sentinel(void)
{
    static const struct gh_topology topology = {.name = "sentinel",
                                                .check = sentinels_check,
                                                .carve = sentinels_carve,
                                                .move = sentinels_move,
                                                .due_us = sentinels_due,
                                                .find = sentinels_find,
                                                .known = sentinels_known,
                                                .link = sentinels_link};
    return &topology;
}
