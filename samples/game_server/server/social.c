/* social.c -- who is here, whose request it is, and who is looked at in a frame. */

#include "server/social.h"
#include "frame.h"
#include "server/social_chat.h"
#include "server/social_contacts.h"
#include "server/social_guild.h"
#include "server/social_look.h"
#include "server/social_mail.h"
#include "server/social_talk.h"
#include "server/social_whisper.h"

#include <stdio.h>
#include <stdlib.h>

#define HIT_MAX 1000

/* ---- Open and close ------------------------------------------------------------------------------------ */

static size_t round_up(size_t size)
{
    return (size + 63) & ~(size_t)63;
}

static void* cut(unsigned char** memory, size_t size)
{
    void* piece = *memory;
    *memory += round_up(size);
    return piece;
}

uint32_t social_ops(uint32_t players_max)
{
    const uint32_t each = 14; /* one for each op in social_player, that one player can have at once */
    return each * players_max + 2 * PLAYERS_MAX + GH_COUNTERS_OPS + PROMOTIONS_OPS;
}

/* False: no memory. */
static bool reserve(social* s)
{
    size_t feed_size = chat_feed_memory(s->players_max);
    size_t size = round_up(s->players_max * sizeof(social_player)) + round_up(s->players_max);
    size += s->players_max * round_up(gh_contacts_memory(NULL)) + round_up(TALKS * sizeof(talk));
    size += round_up(feed_size) + round_up(gh_counters_memory(NULL));
    unsigned char* memory = s->memory = aligned_alloc(64, size);
    if (memory == NULL) return false;
    memset(memory, 0, size); /* touched now, not in the first busy frame */

    s->players = cut(&memory, s->players_max * sizeof(social_player));
    s->active = cut(&memory, s->players_max);
    s->talks = cut(&memory, TALKS * sizeof(talk));
    s->counters_memory = cut(&memory, gh_counters_memory(NULL));
    s->mirror_size = round_up(gh_contacts_memory(NULL));
    s->mirrors = cut(&memory, s->players_max * s->mirror_size);
    return chat_open(s, cut(&memory, feed_size));
}

static bool open_counters(social* s)
{
    size_t size = gh_counters_memory(NULL);
    gh_status status = gh_counters_init(&s->counters, s->client, NULL, s->counters_memory, size);
    if (status != GH_OK) return false;
    return gh_counters_open(s->counters, gh_str_literal("hits"), &s->hits) == GH_OK &&
           gh_counters_open(s->counters, gh_str_literal("trades"), &s->trades) == GH_OK &&
           gh_counters_open(s->counters, gh_str_literal("logins"), &s->logins) == GH_OK &&
           gh_counters_open(s->counters, gh_str_literal("frames"), &s->frame_count) == GH_OK &&
           gh_counters_open(s->counters, gh_str_literal("frames.us"), &s->frame_us) == GH_OK;
}

static void open_tallies(social* s, board_row* row)
{
    static const char* const names[TALLIES] = {"chat.said", "chat.told", "chat.gaps",  "whispers",
                                               "mail.told", "names",     "promotions", "sorry.social"};
    for (int i = 0; i < TALLIES; i++) s->tallies[i] = board_count_of(row, names[i]);
}

social* social_open(const social_config* config)
{
    social* s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->client = config->client;
    s->network = config->network;
    s->log = config->log;
    s->players_max = config->players_max;
    s->on_market_letter = config->on_market_letter;
    s->context = config->context;
    s->now_us = frame_now_us();
    const char* trouble = NULL;
    if (!reserve(s)) trouble = "no memory for the players";
    else if (!open_counters(s)) trouble = "no counters: ops_capacity?";
    else if ((s->promotions = promotions_open(config->client, config->database)) == NULL) trouble = "no promotions";
    if (trouble != NULL)
    {
        fprintf(stderr, "social: %s\n", trouble);
        social_close(s);
        return NULL;
    }
    open_tallies(s, config->row);
    return s;
}

/* After the client was drained or shut down: nothing is under way any more. */
void social_close(social* s)
{
    if (s->promotions != NULL) promotions_close(s->promotions);
    gh_chat_feed_end(&s->feed);
    free(s->memory);
    free(s);
}

/* ---- Players ------------------------------------------------------------------------------------------- */

void social_enter(social* s, uint32_t slot, uint32_t player, gh_str name)
{
    social_player* p = &s->players[slot];
    memset(p, 0, sizeof *p);
    p->here = true;
    p->slot = slot;
    p->player = player;
    memcpy(p->name_bytes, name.bytes, name.size);
    p->name = gh_str_make(p->name_bytes, name.size);
    chat_enter(s, p);
    mail_enter(s, p);
    contacts_enter(s, p);
    guild_enter(s, p);
}

bool social_is_in(const social* s, uint32_t slot)
{
    return s->players[slot].here && s->players[slot].in_frame != 0;
}

void social_leave(social* s, uint32_t slot)
{
    social_player* p = &s->players[slot];
    if (!p->here) return;
    p->here = false;
    chat_leave(s, p);
    mail_leave(s, p);
    contacts_leave(s, p);
    guild_leave(s, p);
    look_leave(s, p);
}

bool social_is_busy(const social* s, uint32_t slot)
{
    return s->players[slot].here || s->active[slot] != 0;
}

/* A player's word, not a number of ours. */
static void hit(social* s, const social_player* p, int64_t how_hard)
{
    if (how_hard > 0 && how_hard <= HIT_MAX) social_count(s, p->player, SOCIAL_HIT, how_hard);
}

bool social_message(social* s, uint32_t slot, const message* m)
{
    social_player* p = &s->players[slot];
    if (!social_is_in(s, slot)) return false;
    switch ((int)m->type)
    {
    case MESSAGE_SAY: talk_say(s, p, m); return true;
    case MESSAGE_HEARD: talk_heard(s, p, m); return true;
    case MESSAGE_WHISPER: whisper_to(s, p, m); return true;
    case MESSAGE_READ: mail_read(s, p, m); return true;
    case MESSAGE_FIND_CONTACT: contacts_find(s, p, m); return true;
    case MESSAGE_FIND_MEMBER: guild_find(s, p, m); return true;
    case MESSAGE_MAIL_GUILD: guild_mail(s, p, m); return true;
    case MESSAGE_LOOK: look_at(s, p, m); return true;
    case MESSAGE_HIT: hit(s, p, m->values[0]); return true;
    default: return false;
    }
}

/* ---- Frames -------------------------------------------------------------------------------------------- */

void social_count(social* s, uint32_t player, social_event event, int64_t amount)
{
    const struct
    {
        const char* name;
        gh_counter counter;
    } events[] = {{"hit", s->hits}, {"trade", s->trades}, {"login", s->logins}};
    gh_counters_add(s->counters, events[event].counter, amount);
    event_log_add(s->log, player, events[event].name);
}

/* What a part's frame wakes, itself included, is looked at again. */
static void player_frame(social* s, social_player* p)
{
    static const struct
    {
        uint8_t part;
        bool (*frame)(social*, social_player*);
    } parts[] = {{PART_CHAT, chat_frame},         {PART_MAIL, mail_frame},   {PART_WHISPER, whisper_frame},
                 {PART_CONTACTS, contacts_frame}, {PART_GUILD, guild_frame}, {PART_LOOK, look_frame}};
    uint8_t* active = &s->active[p->slot];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    {
        if ((*active & parts[i].part) == 0) continue;
        *active &= (uint8_t)~parts[i].part;
        if (parts[i].frame(s, p)) *active |= parts[i].part;
    }
    bool in = chat_is_in(p) && p->guild.joined && p->contacts.loaded;
    if (in && p->in_frame == 0) p->in_frame = s->frames;
}

void social_frame(social* s, uint64_t now_us, uint64_t frame_us)
{
    s->now_us = now_us;
    s->frames++;
    gh_counters_add(s->counters, s->frame_count, 1);
    gh_counters_add(s->counters, s->frame_us, (int64_t)frame_us);
    for (uint32_t slot = 0; slot < s->players_max; slot++)
    {
        if (s->active[slot] != 0) player_frame(s, &s->players[slot]);
    }
    talk_frame(s);
    promotions_frame(s->promotions, now_us);
}
