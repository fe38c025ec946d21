/* social_chat.c -- being in chats: that of the player's zone and that of its guild.

   A zone is left with the game, so that nobody comes back to an hour of shouting. What a guild says while one
   is away is read at the next login. */

#include "server/social_chat.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Open ---------------------------------------------------------------------------------------------- */

/* Rooms: all zones, and the guilds that the players here can be of. */
static uint32_t room_count(uint32_t players_max)
{
    return ZONE_COUNT + (GUILD_COUNT < players_max ? GUILD_COUNT : players_max);
}

size_t chat_feed_memory(uint32_t players_max)
{
    size_t rooms = room_count(players_max) * (sizeof(gh_chat_room) + CHAT_ROOM_BYTES);
    return rooms + players_max * CHATS_EACH * sizeof(gh_chat_seat);
}

bool chat_open(social* s, void* memory)
{
    for (uint32_t i = 0; i < TALKS; i++)
    {
        talk* t = &s->talks[i];
        if (i < ZONE_COUNT) snprintf(t->name_text, sizeof t->name_text, "zone-%" PRIu32, i);
        else snprintf(t->name_text, sizeof t->name_text, "guild-%" PRIu32, i - ZONE_COUNT);
        t->name = gh_str_of(t->name_text);
    }
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.room_count = room_count(s->players_max);
    config.seat_count = s->players_max * CHATS_EACH;
    config.buffer_size = (size_t)config.room_count * CHAT_ROOM_BYTES;
    config.buffer = memory;
    config.rooms = (gh_chat_room*)(void*)((char*)memory + config.buffer_size);
    config.seats = (gh_chat_seat*)(void*)(config.rooms + config.room_count);
    return gh_chat_feed_begin(&s->feed, s->client, &config) == GH_OK;
}

/* ---- Membership ---------------------------------------------------------------------------------------- */

static void pause_membership(const social* s, membership* m)
{
    m->talk->asked = false;
    m->state = MEMBER_PAUSING;
    m->again_us = s->now_us + RETRY_US;
}

/* All the players of a server come at once when it starts; only one of them makes the chat. */
static void join(social* s, const social_player* p, membership* m)
{
    gh_chat chat = chat_within(s, m->talk, PATIENT_US);
    if (!m->talk->is_there && m->talk->asked)
    {
        m->state = MEMBER_PAUSING;
        m->again_us = s->now_us;
        return;
    }
    m->talk->asked = true;
    gh_status status = gh_chat_join_begin(&m->change, &chat, p->name, GH_CHAT_FROM_NOW);
    m->state = MEMBER_JOINING;
    if (status != GH_OK) pause_membership(s, m);
}

static void create(social* s, const social_player* p, membership* m)
{
    gh_chat chat = chat_within(s, m->talk, PATIENT_US);
    m->talk->asked = true;
    gh_status status = gh_chat_create_begin(&m->change, &chat, &p->name, 1, NULL);
    m->state = MEMBER_CREATING;
    if (status != GH_OK) pause_membership(s, m);
}

static void leave(social* s, const social_player* p, membership* m)
{
    gh_chat chat = chat_within(s, m->talk, ANSWER_US);
    gh_status status = gh_chat_leave_begin(&m->change, &chat, p->name);
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
    gh_status status = gh_op_poll(&m->change.op);
    if (status == GH_PENDING) return true;
    switch (m->state)
    {
    case MEMBER_JOINING:
    case MEMBER_CREATING:
        m->talk->asked = false;
        m->talk->is_there = status == GH_OK || status == GH_EXISTS;
        if (!p->here) m->state = MEMBER_NOT;
        else if (status == GH_OK) joined(s, p, m);
        else if (status == GH_GONE) create(s, p, m);
        else if (status == GH_EXISTS) join(s, p, m); /* somebody else was faster */
        else pause_membership(s, m);
        break;
    case MEMBER_PAUSING:
        if (!p->here) m->state = MEMBER_NOT;
        else if (s->now_us >= m->again_us) join(s, p, m);
        break;
    case MEMBER_LEAVING: m->state = MEMBER_NOT; break;
    case MEMBER_NOT:
    case MEMBER_IN: break;
    }
    return m->state != MEMBER_NOT && m->state != MEMBER_IN;
}

void chat_join_again(social* s, social_player* p, membership* m)
{
    if (!p->here || m->state != MEMBER_IN) return;
    join(s, p, m);
    social_wake(s, p, PART_CHAT);
}

void chat_enter(social* s, social_player* p)
{
    p->chat.chats[CHAT_ZONE].talk = &s->talks[p->player % ZONE_COUNT];
    p->chat.chats[CHAT_GUILD].talk = &s->talks[ZONE_COUNT + p->player / GUILD_SIZE];
    p->chat.reader.op.user = p;
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
    gh_chat chat = chat_within(s, m->talk, ANSWER_US);
    if (m->heard == 0) return;
    p->chat.commit_member = (gh_chat_member){.name = p->name, .handled = m->heard};
    gh_chat_commit_begin(&p->chat.commit, &chat, m->epoch, &p->chat.commit_member,
                         1); /* if it cannot be begun, the player hears it once more */
}

void chat_leave(social* s, social_player* p)
{
    membership* zone = &p->chat.chats[CHAT_ZONE];
    membership* guild = &p->chat.chats[CHAT_GUILD];
    gh_chat_feed_remove(&s->feed, &p->chat.reader);
    gh_op_cancel(&zone->change.op);
    gh_op_cancel(&guild->change.op);
    if (zone->state == MEMBER_IN) leave(s, p, zone);
    note_heard(s, p, guild);
    social_wake(s, p, PART_CHAT);
}

bool chat_frame(social* s, social_player* p)
{
    bool still = p->chat.speaking || gh_op_poll(&p->chat.commit.op) == GH_PENDING;
    for (int i = 0; i < CHATS_EACH; i++) still |= membership_frame(s, p, &p->chat.chats[i]);
    if (!p->here || p->chat.reader.name.size > 0) return still;
    if (social_is_told(s, p)) gh_chat_feed_add(&s->feed, &p->chat.reader, p->name);
    return true;
}
