/* social_chat.c -- the chat of the player's zone and that of its guild. One feed reads all chats of this
   server, each once; what players say in a chat meanwhile goes out in one request.

   A zone is left with the game, so that nobody comes back to an hour of shouting. What a guild says while one
   is away is read at the next login. */

#include "server/social_parts.h"

#include <inttypes.h>
#include <stdio.h>

#define TELLS_A_FRAME 4000u /* messages to players; what is more waits for the next frame */

/* ---- Open ---------------------------------------------------------------------------------------------- */

static uint32_t guild_count(const social_config* c)
{
    return (PLAYERS_MAX + c->guild_size - 1) / c->guild_size;
}

/* Rooms: all zones, and the guilds that the players here can be of. */
static uint32_t room_count(const social_config* c)
{
    return c->zone_count + (guild_count(c) < c->players_max ? guild_count(c) : c->players_max);
}

size_t chat_feed_memory(const social_config* c)
{
    size_t rooms = room_count(c) * (sizeof(gh_chat_room) + CHAT_ROOM_BYTES);
    return rooms + c->players_max * CHATS_EACH * sizeof(gh_chat_seat);
}

bool chat_open(social* s, void* memory)
{
    const social_config* c = &s->config;
    for (uint32_t i = 0; i < s->talk_count; i++)
    {
        talk* t = &s->talks[i];
        if (i < c->zone_count)
            snprintf(t->name_text, sizeof t->name_text, "zone-%" PRIu32, i);
        else
            snprintf(t->name_text, sizeof t->name_text, "guild-%" PRIu32, i - c->zone_count);
        t->name = gh_str_of(t->name_text);
    }
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.room_count = room_count(c);
    config.seat_count = c->players_max * CHATS_EACH;
    config.buffer_size = (size_t)config.room_count * CHAT_ROOM_BYTES;
    config.buffer = memory;
    config.rooms = (gh_chat_room*)(void*)((char*)memory + config.buffer_size);
    config.seats = (gh_chat_seat*)(void*)(config.rooms + config.room_count);
    return gh_chat_feed_begin(&s->feed, c->client, &config) == GH_OK;
}

/* ---- Membership ---------------------------------------------------------------------------------------- */

static gh_chat_config chat_config(uint64_t timeout_us)
{
    gh_chat_config config = gh_chat_config_default();
    config.timeout_us = timeout_us;
    config.members_max = GH_CHAT_MEMBERS_MAX;
    return config;
}

static void pause_membership(const social* s, membership* m)
{
    m->talk->asked = false;
    m->state = MEMBER_PAUSING;
    m->again_us = s->now_us + RETRY_US;
}

/* All the players of a server come at once when it starts; only one of them makes the chat. */
static void join(social* s, const social_player* p, membership* m)
{
    gh_chat_config config = chat_config(PATIENT_US);
    if (!m->talk->is_there && m->talk->asked)
    {
        m->state = MEMBER_PAUSING;
        m->again_us = s->now_us;
        return;
    }
    m->talk->asked = true;
    gh_status status = gh_chat_join_begin(&m->change, s->config.client, m->talk->name, p->name, &config);
    m->state = MEMBER_JOINING;
    if (status != GH_OK) pause_membership(s, m);
}

static void create(social* s, const social_player* p, membership* m)
{
    gh_chat_config config = chat_config(PATIENT_US);
    m->talk->asked = true;
    gh_status status =
        gh_chat_create_begin(&m->change, s->config.client, m->talk->name, &p->name, 1, NULL, &config);
    m->state = MEMBER_CREATING;
    if (status != GH_OK) pause_membership(s, m);
}

static void leave(social* s, const social_player* p, membership* m)
{
    gh_chat_config config = chat_config(LEAVING_US);
    gh_status status = gh_chat_leave_begin(&m->change, s->config.client, m->talk->name, p->name, &config);
    m->state = status == GH_OK ? MEMBER_LEAVING : MEMBER_NOT;
}

static void joined(social* s, social_player* p, membership* m)
{
    bool anew = m->epoch != m->change.epoch;
    m->state = MEMBER_IN;
    m->epoch = m->change.epoch;
    if (anew) m->told = m->heard = 0;
    gh_chat_feed_refresh(&s->feed, &p->chat.reader);
}

/* True: look again in the next frame. */
static bool membership_frame(social* s, social_player* p, membership* m)
{
    gh_status status = gh_chat_change_poll(&m->change);
    if (status == GH_PENDING) return true;
    switch (m->state)
    {
    case MEMBER_JOINING:
    case MEMBER_CREATING:
        m->talk->asked = false;
        m->talk->is_there = status == GH_OK || status == GH_EXISTS;
        if (!p->here)
            m->state = MEMBER_NOT;
        else if (status == GH_OK)
            joined(s, p, m);
        else if (status == GH_GONE)
            create(s, p, m);
        else if (status == GH_EXISTS)
            join(s, p, m); /* somebody else was faster */
        else
            pause_membership(s, m);
        break;
    case MEMBER_PAUSING:
        if (!p->here)
            m->state = MEMBER_NOT;
        else if (s->now_us >= m->again_us)
            join(s, p, m);
        break;
    case MEMBER_LEAVING: m->state = MEMBER_NOT; break;
    case MEMBER_NOT:
    case MEMBER_IN: break;
    }
    return m->state != MEMBER_NOT && m->state != MEMBER_IN;
}

void chat_begin(social* s, social_player* p)
{
    p->chat.chats[CHAT_ZONE].talk = &s->talks[p->player % s->config.zone_count];
    p->chat.chats[CHAT_GUILD].talk = &s->talks[s->config.zone_count + p->player / s->config.guild_size];
    p->chat.reader.user = p;
    for (int i = 0; i < CHATS_EACH; i++) join(s, p, &p->chat.chats[i]);
    social_wake(s, p, PART_CHAT);
}

bool chat_is_in(const social_player* p)
{
    return p->chat.chats[CHAT_ZONE].state == MEMBER_IN && p->chat.chats[CHAT_GUILD].state == MEMBER_IN;
}

/* What the player has heard in its guild is noted, so that it does not come again. */
static void note_heard(social* s, social_player* p, const membership* m)
{
    if (m->heard == 0) return;
    p->chat.commit_member = (gh_chat_member){.name = p->name, .handled = m->heard};
    gh_chat_commit_begin(&p->chat.commit, s->config.client, m->talk->name, m->epoch, &p->chat.commit_member,
                         1, LEAVING_US); /* if it cannot be begun, the player hears it once more */
}

void chat_end(social* s, social_player* p)
{
    membership* zone = &p->chat.chats[CHAT_ZONE];
    membership* guild = &p->chat.chats[CHAT_GUILD];
    gh_chat_feed_remove(&s->feed, &p->chat.reader);
    gh_chat_change_cancel(&zone->change);
    gh_chat_change_cancel(&guild->change);
    if (zone->state == MEMBER_IN) leave(s, p, zone);
    note_heard(s, p, guild);
    social_wake(s, p, PART_CHAT);
}

bool chat_frame(social* s, social_player* p)
{
    bool still = p->chat.speaking || gh_chat_commit_poll(&p->chat.commit) == GH_PENDING;
    for (int i = 0; i < CHATS_EACH; i++) still |= membership_frame(s, p, &p->chat.chats[i]);
    if (!p->here || p->chat.reader.name.size > 0) return still;
    if (social_is_told(s, p)) gh_chat_feed_add(&s->feed, &p->chat.reader, p->name);
    return true;
}

/* ---- Saying -------------------------------------------------------------------------------------------- */

static membership* own_chat_of(social_player* p, gh_str name)
{
    for (int i = 0; i < CHATS_EACH; i++)
    {
        if (gh_str_equal(p->chat.chats[i].talk->name, name)) return &p->chat.chats[i];
    }
    return NULL;
}

static void wait_to_speak(social* s, social_player* p, talk* t)
{
    uint32_t place = p->slot + 1;
    if (t->last_waiting == 0)
        t->first_waiting = place;
    else
        s->players[t->last_waiting - 1].chat.next_waiting = place;
    t->last_waiting = place;
    p->chat.next_waiting = 0;
}

void chat_say(social* s, social_player* p, const message* m)
{
    chat_part* c = &p->chat;
    membership* where = own_chat_of(p, m->name);
    if (where == NULL)
        social_sorry(s, p, m->number, SORRY_NO_SUCH, "you are not in that chat");
    else if (c->speaking)
        social_sorry(s, p, m->number, SORRY_BUSY, "one at a time");
    if (where == NULL || c->speaking) return;
    c->speaking = true;
    c->where = (own_chat)(where - c->chats);
    c->number = m->number;
    c->give_up_us = s->now_us + ANSWER_US;
    c->words_size = m->text.size;
    memcpy(c->words, m->text.bytes, m->text.size);
    wait_to_speak(s, p, where->talk);
    social_wake(s, p, PART_CHAT);
}

/* The first of those who wait is taken out. */
static social_player* next_speaker(social* s, talk* t)
{
    social_player* p = &s->players[t->first_waiting - 1];
    t->first_waiting = p->chat.next_waiting;
    if (t->first_waiting == 0) t->last_waiting = 0;
    return p;
}

static void spoke(social* s, social_player* p, const talk* t, gh_status status)
{
    membership* m = &p->chat.chats[p->chat.where];
    p->chat.speaking = false;
    if (status == GH_OK)
    {
        social_tally_add(s, TALLY_SAID, 1);
        social_tell(s, p,
                    &(message){.type = MESSAGE_SAID,
                               .number = p->chat.number,
                               .name = t->name,
                               .values = {(int64_t)t->send.epoch}});
        return;
    }
    social_sorry_status(s, p, p->chat.number, status);
    bool outside = status == GH_GONE || status == GH_NOT_MEMBER;
    if (outside && p->here && m->state == MEMBER_IN) join(s, p, m); /* the store has lost it */
}

/* Those who are not members yet wait on, for a while. */
static void gather(social* s, talk* t)
{
    size_t bytes = 0;
    uint32_t last = t->last_waiting;
    bool more = t->first_waiting != 0;
    t->count = 0;
    while (more && t->count < CHAT_POSTS && bytes < CHAT_POSTS_BYTES)
    {
        more = t->first_waiting != last;
        social_player* p = next_speaker(s, t);
        chat_part* c = &p->chat;
        bool member = c->chats[c->where].state == MEMBER_IN;
        bool late = s->now_us >= c->give_up_us || !p->here;
        if (member)
        {
            t->speakers[t->count] = p->slot;
            t->posts[t->count++] = (gh_post){.sender = p->name, .body = gh_str_make(c->words, c->words_size)};
            bytes += c->words_size;
        }
        else if (late)
            spoke(s, p, t, GH_TIMEOUT);
        else
            wait_to_speak(s, p, t);
    }
}

static void all_spoke(social* s, talk* t, gh_status status)
{
    for (uint32_t i = 0; i < t->count; i++)
    {
        gh_status own = status == GH_OK ? t->posts[i].status : status;
        spoke(s, &s->players[t->speakers[i]], t, own);
    }
    t->count = 0;
}

static void talk_frame(social* s, talk* t)
{
    if (t->count > 0)
    {
        gh_status status = gh_chat_send_poll(&t->send);
        if (status == GH_PENDING) return;
        all_spoke(s, t, status);
    }
    if (t->first_waiting == 0) return;
    gather(s, t);
    if (t->count == 0) return;
    gh_status status = gh_chat_send_begin(&t->send, s->config.client, t->name, t->posts, t->count, ANSWER_US);
    if (status != GH_OK) all_spoke(s, t, status);
}

/* ---- Hearing ------------------------------------------------------------------------------------------- */

void chat_heard(social* s, social_player* p, const message* m)
{
    membership* chat = own_chat_of(p, m->name);
    (void)s;
    if (chat == NULL || (uint64_t)m->values[0] != chat->epoch || m->values[1] <= 0) return;
    uint64_t id = (uint64_t)m->values[1];
    if (id > chat->heard && id <= chat->told) chat->heard = id; /* goes out with the chat's next round */
}

static void tell_gap(social* s, const social_player* p, const membership* m, uint64_t first, uint64_t last)
{
    social_tally_add(s, TALLY_GAPS, 1);
    social_tell(s, p,
                &(message){.type = MESSAGE_CHAT_GAP,
                           .name = m->talk->name,
                           .values = {(int64_t)m->epoch, (int64_t)first, (int64_t)last}});
}

static void tell_message(social* s, const social_player* p, const membership* m, const gh_message* said)
{
    gh_str words = said->body;
    if (words.size > MESSAGE_TEXT_MAX) words.size = MESSAGE_TEXT_MAX;
    social_tell(s, p,
                &(message){.type = MESSAGE_CHAT,
                           .name = m->talk->name,
                           .text = words,
                           .values = {(int64_t)m->epoch, (int64_t)said->id, social_player_of(said->sender)}});
}

/* The number of messages that went to the player. */
static uint32_t tell_room(social* s, const gh_chat_room* room, gh_chat_seat* seat)
{
    const gh_chat_fetch* fetch = &room->fetch;
    social_player* p = seat->player->user;
    membership* m = own_chat_of(p, room->name);
    if (m == NULL || seat->member.status != GH_OK) return 0;
    if (m->epoch != fetch->epoch) m->told = m->heard = 0;
    m->epoch = fetch->epoch;
    if (m->told < seat->member.seen) m->told = seat->member.seen;

    uint32_t count = 0;
    uint64_t first = fetch->messages[0].id;
    if (seat->member.missed > 0 && first > m->told + 1) tell_gap(s, p, m, m->told + 1, first - 1);
    for (uint32_t i = 0; i < fetch->count; i++)
    {
        if (fetch->messages[i].id <= m->told || fetch->messages[i].id <= seat->member.from) continue;
        tell_message(s, p, m, &fetch->messages[i]);
        m->told = fetch->messages[i].id;
        count++;
    }
    if (seat->member.handled < m->heard) seat->member.handled = m->heard;
    return count;
}

void chat_frame_all(social* s)
{
    for (uint32_t i = 0; i < s->talk_count; i++) talk_frame(s, &s->talks[i]);

    gh_chat_room* room = NULL;
    uint32_t told = 0;
    while (told < TELLS_A_FRAME && (room = gh_chat_feed_next(&s->feed)) != NULL)
    {
        gh_chat_seat* seat = NULL;
        while ((seat = gh_chat_room_seat(room, seat)) != NULL) told += tell_room(s, room, seat);
        gh_chat_feed_done(&s->feed, room, false);
    }
    social_tally_add(s, TALLY_CHAT, told);
}
