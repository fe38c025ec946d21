/* judge.c -- who still has to hear something, and what must hold when all have heard everything. */

#include "bots/crowd.h"

/* ---- Who has to come in once more ---------------------------------------------------------------------- */

static void want_readers_of(crowd* c, const bot* b)
{
    for (uint32_t i = 0; i < FRIENDS; i++)
        if (!thread_has_all(&c->threads[b->number * FRIENDS + i])) c->bots[b->friends[i]].wanted = true;
    uint32_t first = guild_first(b);
    for (uint32_t i = 0; i < guild_count(c, b); i++)
        if (round_is_missed_by(&c->rounds[b->number], i)) c->bots[first + i].wanted = true;
}

/* Of the guild's chat: in a zone there is nothing to come back for. */
static bool has_to_listen(const bot* b)
{
    const ear* guild = &b->ears[1];
    return !ear_has_all(guild) || !hall_has_all(guild->hall, b->number % GUILD_SIZE);
}

static void want_sellers(crowd* c)
{
    if (!sales_has_untold(&c->sales, UINT32_MAX)) return;
    for (uint32_t i = 0; i < c->sales.capacity; i++)
    {
        const sale* s = &c->sales.table[i];
        if (s->bought && !s->told && s->seller < c->count) c->bots[s->seller].wanted = true;
    }
}

void judge_wanted(crowd* c)
{
    for (uint32_t i = 0; i < c->count; i++) c->bots[i].wanted = has_to_listen(&c->bots[i]);
    for (uint32_t i = 0; i < c->count; i++) want_readers_of(c, &c->bots[i]);
    want_sellers(c);
}

/* ---- The end ------------------------------------------------------------------------------------------- */

static void judge_talk(crowd* c, bot* b)
{
    uint32_t member = b->number % GUILD_SIZE;
    const ear* guild = &b->ears[1];
    check_that(c->row, CHECK_CHAT_GAP, ear_has_all(guild), "bot %u has not heard all of its guild", b->number);
    check_that(c->row, CHECK_CHAT_GAP, hall_has_all(guild->hall, member), "bot %u was not heard by its guild",
               b->number);
    for (uint32_t i = 0; i < FRIENDS; i++)
    {
        const thread* t = &c->threads[b->number * FRIENDS + i];
        if (t->said.count > 0)
            check_that(c->row, CHECK_WHISPER, thread_has_all(t), "bot %u heard %u of %u whispers of bot %u",
                       b->friends[i], t->heard, t->said.count, b->number);
    }
    round* mails = &c->rounds[b->number];
    round_settle(mails);
    if (mails->said.count > 0)
        check_that(c->row, CHECK_GUILD_MAIL, mails->oldest > mails->said.count,
                   "mail %u of %u of bot %u has not reached all of its guild", mails->oldest, mails->said.count,
                   b->number);
}

static void judge_sales(crowd* c)
{
    for (uint32_t i = 0; i < c->sales.capacity; i++)
    {
        const sale* s = &c->sales.table[i];
        bool counts = false;
        bool holds = sales_is_told(&c->sales, i, &counts);
        if (counts)
            check_that(c->row, CHECK_SOLD_TOLD, holds, "bot %u does not know that bot %u bought its %u version %d",
                       s->seller, s->buyer, s->item, (int)s->version);
        holds = sales_has_buyer(&c->sales, i, &counts);
        if (counts)
            check_that(c->row, CHECK_ONE_BUYER, holds, "bot %u sold %u version %d to nobody", s->seller, s->item,
                       (int)s->version);
    }
}

void judge_all(crowd* c)
{
    for (uint32_t i = 0; i < c->count; i++)
    {
        bot* b = &c->bots[i];
        judge_talk(c, b);
        check_that(c->row, CHECK_FAREWELL, b->state == BOT_OVER && b->farewells > 0,
                   "bot %u is still in state %d after %u farewells", b->number, (int)b->state, b->farewells);
    }
    judge_sales(c);
}
