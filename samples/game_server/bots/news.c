/* news.c -- what servers tell by themselves: chats, mail and the bag. */

#include "bots/crowd.h"

#include <inttypes.h>
#include <stdio.h>

/* The text as a string; what is said here is short. */
static const char* string_of(gh_str text, char out[128])
{
    size_t size = text.size < 127 ? text.size : 127;
    if (size > 0) memcpy(out, text.bytes, size);
    out[size] = '\0';
    return out;
}

/* ---- Chats --------------------------------------------------------------------------------------------- */

static ear* ear_of(bot* b, gh_str chat, bool* zone)
{
    char names[CHATS][24];
    snprintf(names[0], sizeof names[0], "zone-%" PRIu32, b->number % ZONE_COUNT);
    snprintf(names[1], sizeof names[1], "guild-%" PRIu32, b->number / GUILD_SIZE);
    for (int i = 0; i < CHATS; i++)
    {
        *zone = i == 0;
        if (gh_str_equal(chat, gh_str_of(names[i]))) return &b->ears[i];
    }
    return NULL;
}

static void check_faults(crowd* c, const bot* b, unsigned faults, const message* m)
{
    static const struct
    {
        check what;
        unsigned faults;
    } checks[] = {
        {CHECK_CHAT_GAP, EAR_GAP}, {CHECK_CHAT_TWICE, EAR_TWICE}, {CHECK_CHAT_SAME, EAR_DIFFERENT | EAR_NONSENSE}};
    char text[128];
    for (int i = 0; i < 3; i++)
        check_that(c->row, checks[i].what, (faults & checks[i].faults) == 0, "bot %u hears %.*s %d: %s", b->number,
                   (int)m->name.size, m->name.bytes, (int)m->values[1], string_of(m->text, text));
}

void news_chat(crowd* c, bot* b, const message* m)
{
    char text[128];
    uint32_t sender = 0;
    uint32_t count = 0;
    bool zone = false;
    ear* e = ear_of(b, m->name, &zone);
    bool read = sscanf(string_of(m->text, text), "%" SCNu32 " %" SCNu32, &sender, &count) == 2;
    uint32_t member = zone ? sender / ZONE_COUNT : sender % GUILD_SIZE;
    bool here = zone ? sender % ZONE_COUNT == b->number % ZONE_COUNT : sender / GUILD_SIZE == b->number / GUILD_SIZE;
    unsigned faults = EAR_NONSENSE;
    if (e != NULL && read && here && sender == m->values[2])
        faults = ear_hear(e, (uint64_t)m->values[0], (uint64_t)m->values[1], member, count);
    tally_add(c, TALLY_HEARD);
    check_faults(c, b, faults, m);
}

void news_gap(crowd* c, bot* b, const message* m)
{
    bool zone = false;
    ear* e = ear_of(b, m->name, &zone);
    unsigned faults = EAR_NONSENSE;
    if (e != NULL) faults = ear_skip(e, (uint64_t)m->values[0], (uint64_t)m->values[1], (uint64_t)m->values[2]);
    tally_add(c, TALLY_GAPS_TOLD);
    check_faults(c, b, faults, m);
}

/* ---- Mail ---------------------------------------------------------------------------------------------- */

/* NULL: nobody of us. */
static const bot* bot_of(const crowd* c, gh_str name)
{
    char own[PLAYER_NAME_SIZE];
    uint32_t number = 0;
    for (size_t i = 0; i < name.size; i++)
    {
        bool digit = name.bytes[i] >= '0' && name.bytes[i] <= '9';
        number = digit ? number * 10 + (uint32_t)(name.bytes[i] - '0') : 0;
    }
    bool right = number < c->count && gh_str_equal(player_name(number, own), name);
    return right ? &c->bots[number] : NULL;
}

static void whispered(crowd* c, const bot* b, const bot* sender, uint32_t friend, uint32_t count)
{
    bool to_me = friend < FRIENDS && sender->friends[friend] == b->number;
    unsigned faults = LETTER_NONSENSE;
    if (to_me) faults = thread_hear(&c->threads[sender->number * FRIENDS + friend], count);
    check_that(c->row, CHECK_WHISPER, faults == 0, "bot %u whispers %u to bot %u: fault %u", sender->number, count,
               b->number, faults);
}

static void guild_wrote(crowd* c, const bot* b, const bot* sender, uint32_t count)
{
    bool to_me = guild_first(sender) == guild_first(b);
    bool again = false;
    unsigned faults = LETTER_NONSENSE;
    if (to_me) faults = round_hear(&c->rounds[sender->number], count, b->number - guild_first(b), &again);
    if (again) tally_add(c, TALLY_AGAIN);
    check_that(c->row, CHECK_GUILD_MAIL, faults == 0, "bot %u gets mail %u of bot %u: fault %u", b->number, count,
               sender->number, faults);
}

/* An offer ends, or finds its buyer, where other servers of the store keep it than those that its seller still waits
   for. So mail may come before the answer to SELL, and tells as much. */
static void hear_of_offer(bot* b, uint32_t item, int64_t version)
{
    const thing* offered = account_thing(&b->account, item);
    for (int i = 0; i < REQUESTS_MAX && offered != NULL && offered->version < version; i++)
    {
        request* r = &b->requests[i];
        if (r->number == 0 || r->type != MESSAGE_SELL || r->trade.item != item || r->told) continue;
        r->told = account_list_unsure(&b->account, item, r->trade.price);
    }
}

static void was_sold(crowd* c, bot* b, const sale* sold)
{
    bool again = false;
    hear_of_offer(b, sold->item, sold->version);
    unsigned faults = sales_told(&c->sales, sold, &again);
    bool fits = again || account_sold(&b->account, sold->item, sold->version, sold->price);
    check_that(c->row, CHECK_SOLD_TOLD, fits && faults == 0, "bot %u is told that %u version %d is sold: fault %u",
               b->number, sold->item, (int)sold->version, faults);
}

/* version: of the thing now; it was offered as the one before. */
static void came_back(crowd* c, bot* b, uint32_t item, int64_t version)
{
    bool again = false;
    const sale offer = {.item = item, .version = version - 1, .seller = b->number};
    unsigned faults = version < 2 ? SALE_DIFFERS : sales_back(&c->sales, &offer, &again);
    hear_of_offer(b, item, version - 1);
    bool fits = again || account_back(&b->account, item, version - 1);
    check_that(c->row, CHECK_ONE_BUYER, faults == 0, "bot %u has %u version %d back: fault %u", b->number, item,
               (int)version, faults);
    check_that(c->row, CHECK_ITEMS, fits, "bot %u did not offer %u, which is back as version %d", b->number, item,
               (int)version);
}

static void read_mail(crowd* c, bot* b, const message* m)
{
    char text[128];
    uint32_t friend = 0;
    uint32_t count = 0;
    const bot* sender = bot_of(c, m->name);
    sale traded = {.seller = b->number};
    string_of(m->text, text);
    if (sender != NULL && sscanf(text, "w %" SCNu32 " %" SCNu32, &friend, &count) == 2)
        whispered(c, b, sender, friend, count);
    else if (sender != NULL && sscanf(text, "g %" SCNu32, &count) == 1) guild_wrote(c, b, sender, count);
    else if (sender == NULL &&
             sscanf(text, "sold %" SCNu32 " %" SCNd64 " %" SCNd64, &traded.item, &traded.version, &traded.price) == 3)
        was_sold(c, b, &traded);
    else if (sender == NULL && sscanf(text, "back %" SCNu32 " %" SCNd64, &traded.item, &traded.version) == 2)
        came_back(c, b, traded.item, traded.version);
    else check_that(c->row, CHECK_MAIL_GAP, false, "bot %u gets mail of nobody: %s", b->number, text);
}

void news_mail(crowd* c, bot* b, const message* m)
{
    bool again = false;
    unsigned faults = box_take(&b->box, (uint64_t)m->values[0], (uint64_t)m->values[1], &again);
    check_that(c->row, CHECK_MAIL_GAP, faults == 0, "bot %u gets mail %d in epoch %d", b->number, (int)m->values[1],
               (int)m->values[0]);
    tally_add(c, again ? TALLY_AGAIN : TALLY_MAILS);
    if (!again) read_mail(c, b, m);
}

/* ---- The bag ------------------------------------------------------------------------------------------- */

/* The offer before has come back, whether mail has said so already or not. */
static void check_offer(crowd* c, const bot* b, const thing* t)
{
    bool again = false;
    const sale offer = {.item = t->item, .version = t->version, .price = t->price, .seller = b->number};
    unsigned faults = sales_back(&c->sales, &offer, &again);
    check_that(c->row, CHECK_ONE_BUYER, faults == 0, "bot %u has %u in its bag, on sale as version %d: fault %u",
               b->number, t->item, (int)t->version, faults);
}

void news_bag(crowd* c, bot* b, const message* m)
{
    uint32_t item = (uint32_t)m->values[0];
    const thing* t = account_thing(&b->account, item);
    bool was_on_sale = t != NULL && t->state == THING_ON_SALE && m->values[1] == t->version + 1;
    if (was_on_sale && t->version > 0) check_offer(c, b, t);
    bool doubtful = t != NULL && t->state == THING_MAYBE_BOUGHT;
    if (doubtful) sales_sure(&c->sales, item, t->version, b->number, true);
    check_that(c->row, CHECK_ITEMS, account_bag(&b->account, item, m->values[1]), "bot %u has %u version %d in its bag",
               b->number, item, (int)m->values[1]);
}
