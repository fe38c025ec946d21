/* wishes.c -- what a bot does next. The seed, its number and the number of its actions decide what it wishes;
   what becomes of the wish depends on the world. */

#include "bots/crowd.h"

#include <inttypes.h>
#include <stdio.h>

#define STROKE_US 120000ull

random_source source_of(const crowd* c, const bot* b, uint32_t action)
{
    return random_seeded(c->options->seed, (uint64_t)b->number << 32 | action);
}

/* ---- Talk ---------------------------------------------------------------------------------------------- */

static const char* some_words(random_source* random)
{
    static const char* const words[] = {"hello",       "who sells a lantern?", "to the tower!",
                                        "wait for me", "the bridge is out",    "gr\xc3\xbc\xc3\x9f dich",
                                        "ha",          "where are you all?"};
    return words[random_under(random, sizeof words / sizeof words[0])];
}

static void say(crowd* c, bot* b, random_source* random, uint32_t chat)
{
    char name[24];
    char text[96];
    request* r = request_begin(b, MESSAGE_SAY);
    if (r == NULL) return;
    bool zone = chat == 0;
    uint32_t member = zone ? b->number / ZONE_COUNT : b->number % GUILD_SIZE;
    snprintf(name, sizeof name, zone ? "zone-%" PRIu32 : "guild-%" PRIu32,
             zone ? b->number % ZONE_COUNT : b->number / GUILD_SIZE);
    r->which = chat;
    r->count = said_next(&b->ears[chat].hall->said[member]);
    snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32 " %s", b->number, r->count, some_words(random));
    request_send(c, b, r, &(message){.name = gh_str_of(name), .text = gh_str_of(text)});
}

static void whisper(crowd* c, bot* b, random_source* random)
{
    char name[PLAYER_NAME_SIZE];
    char text[96];
    uint32_t friend = random_under(random, FRIENDS);
    request* r = request_begin(b, MESSAGE_WHISPER);
    if (r == NULL) return;
    r->which = friend;
    r->count = said_next(&c->threads[b->number * FRIENDS + friend].said);
    snprintf(text, sizeof text, "w %" PRIu32 " %" PRIu32 " %s", friend, r->count, some_words(random));
    request_send(c, b, r, &(message){.name = player_name(b->friends[friend], name), .text = gh_str_of(text)});
}

/* Those must get it of whom the guild is known to know. */
static void mail_guild(crowd* c, bot* b, random_source* random)
{
    char text[96];
    round* mails = &c->rounds[b->number];
    uint32_t first = guild_first(b);
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < guild_count(c, b); i++)
        if (c->bots[first + i].joined && first + i != b->number) wanted |= UINT32_C(1) << i;
    request* r = request_begin(b, MESSAGE_MAIL_GUILD);
    if (r == NULL) return;
    round_settle(mails);
    if (!round_has_room(mails)) return;
    r->count = round_write(mails, wanted);
    snprintf(text, sizeof text, "g %" PRIu32 " %s", r->count, some_words(random));
    request_send(c, b, r, &(message){.text = gh_str_of(text)});
}

/* ---- Typing names -------------------------------------------------------------------------------------- */

static void begin_typing(crowd* c, bot* b, random_source* random, message_type type)
{
    uint32_t friend = random_under(random, FRIENDS);
    uint32_t mate = guild_first(b) + random_under(random, guild_count(c, b));
    bool contact = type == MESSAGE_FIND_CONTACT;
    if (b->typing != 0) return;
    player_name(contact ? b->friends[friend] : mate, b->name);
    b->must_be_there = contact ? (b->touched >> friend & 1) != 0 : c->bots[mate].joined;
    b->typing = type;
    b->typed = 0;
    b->stroke_us = c->now_us;
}

/* Three letters, then the name is chosen. */
void type_on(crowd* c, bot* b)
{
    if (b->typing == 0 || c->now_us < b->stroke_us) return;
    request* r = request_begin(b, b->typing);
    if (r == NULL) return;
    size_t size = strlen(b->name);
    b->typed = b->typed < 3 ? b->typed + 1 : size;
    b->stroke_us = c->now_us + STROKE_US;
    r->prefix_size = b->typed;
    memcpy(r->prefix, b->name, b->typed);
    if (b->typed == size)
    {
        if (b->must_be_there) memcpy(r->wanted, b->name, size);
        b->typing = 0;
    }
    request_send(c, b, r, &(message){.text = gh_str_make(r->prefix, r->prefix_size)});
}

/* ---- Trade --------------------------------------------------------------------------------------------- */

static void browse(crowd* c, bot* b, random_source* random)
{
    uint32_t any = (uint32_t)random_draw(random);
    request* r = request_begin(b, MESSAGE_BROWSE);
    if (r == NULL) return;
    r->any = any;
    request_send(c, b, r, &(message){0});
}

/* A third is for sale now and for good, a third later, a third not for long. */
static void sell(crowd* c, bot* b, random_source* random)
{
    const thing* t = account_pick(&b->account, (uint32_t)random_draw(random));
    int64_t price = 10 + random_under(random, 290);
    uint32_t how = random_under(random, 3);
    int64_t opens_ms = how == 1 ? 200 + random_under(random, 1800) : 0;
    int64_t ends_ms = how == 2 ? 1000 + random_under(random, 4000) : 0;
    request* r = t == NULL ? NULL : request_begin(b, MESSAGE_SELL);
    if (r == NULL) return;
    r->trade = (sale){.item = t->item, .price = price};
    request_send(c, b, r, &(message){.values = {t->item, price, opens_ms, ends_ms}});
}

/* ---- The rest ------------------------------------------------------------------------------------------ */

static void hit(crowd* c, bot* b, random_source* random)
{
    int64_t how_hard = 1 + random_under(random, 20);
    tally_add(c, TALLY_HITS);
    wire_send(c->wire, b->number, &(message){.type = MESSAGE_HIT, .number = ++b->next_number, .values = {how_hard}});
}

static void look(crowd* c, bot* b, random_source* random)
{
    uint32_t which = random_under(random, PROMOTIONS);
    request* r = request_begin(b, MESSAGE_LOOK);
    if (r == NULL) return;
    r->which = which;
    request_send(c, b, r, &(message){.values = {which}});
}

/* What it has heard and read need not be told again. */
void tell_handled(crowd* c, bot* b)
{
    char name[24];
    if (b->box.heard > b->box.read)
    {
        b->box.read = b->box.heard;
        wire_send(c->wire, b->number,
                  &(message){.type = MESSAGE_READ, .values = {(int64_t)b->box.epoch, (int64_t)b->box.read}});
    }
    for (uint32_t chat = 0; chat < CHATS; chat++)
    {
        const ear* e = &b->ears[chat];
        if (e->epoch == 0) continue;
        snprintf(name, sizeof name, chat == 0 ? "zone-%" PRIu32 : "guild-%" PRIu32,
                 chat == 0 ? b->number % ZONE_COUNT : b->number / GUILD_SIZE);
        wire_send(c->wire, b->number,
                  &(message){.type = MESSAGE_HEARD,
                             .values = {(int64_t)e->epoch, (int64_t)e->heard},
                             .name = gh_str_of(name)});
    }
}

void wish(crowd* c, bot* b)
{
    random_source random = source_of(c, b, b->actions++);
    uint32_t kind = random_under(&random, 100);
    b->until_us = c->now_us + (700 + random_under(&random, 1400)) * UINT64_C(1000);
    b->stay--;
    if (random_under(&random, 2) == 0) tell_handled(c, b);

    if (kind < 4) say(c, b, &random, 0);
    else if (kind < 14) say(c, b, &random, 1);
    else if (kind < 30) whisper(c, b, &random);
    else if (kind < 36) begin_typing(c, b, &random, MESSAGE_FIND_CONTACT);
    else if (kind < 42) begin_typing(c, b, &random, MESSAGE_FIND_MEMBER);
    else if (kind < 60) browse(c, b, &random);
    else if (kind < 74) sell(c, b, &random);
    else if (kind < 76) mail_guild(c, b, &random);
    else if (kind < 90) hit(c, b, &random);
    else look(c, b, &random);
}
