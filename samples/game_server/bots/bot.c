/* bot.c -- the visits of a bot: it comes, waits in line, plays, leaves, and comes back on another server. */

#include "bots/crowd.h"

#define CONNECT_US    10000000ull
#define ANSWERS_US    30000000ull /* a request that takes longer is not answered at all           */
#define LEAVING_US    60000000ull
#define TURNS_AT_ONCE 20u /* ten are served in a request, and a place is told a bit later */

/* ---- Coming and going ---------------------------------------------------------------------------------- */

static void stay_away(crowd* c, bot* b, uint64_t us)
{
    b->state = BOT_AWAY;
    b->until_us = c->now_us + us;
    b->in = false;
    b->typing = 0;
}

static void come(crowd* c, bot* b)
{
    const options* o = c->options;
    random_source random = source_of(c, b, b->actions);
    if (!wire_connect(c->wire, b->number, o->ports[b->server % o->port_count])) return; /* soon again */
    bool short_run = o->seconds > 0 && o->seconds < 40;
    b->stay = short_run ? 4 + random_under(&random, 8) : 10 + random_under(&random, 30);
    b->state = BOT_CONNECTING;
    b->until_us = c->now_us + CONNECT_US;
}

static void leave(crowd* c, bot* b)
{
    wire_send(c->wire, b->number, &(message){.type = MESSAGE_LEAVE, .number = ++b->next_number});
    b->state = BOT_LEAVING;
    b->earned = b->account.earned;
    b->typing = 0;
    b->until_us = c->now_us + LEAVING_US;
}

/* The visit is over; soon, or at once if we are closing, the next begins on another server. */
static void visit_over(crowd* c, bot* b, bool with_farewell)
{
    random_source random = source_of(c, b, b->actions++);
    answers_never_come(c, b);
    if (with_farewell) b->farewells++;
    b->dropped = !with_farewell;
    b->server++;
    stay_away(c, b, c->closing ? 200000 : 500000 + random_under(&random, 3500) * UINT64_C(1000));
}

static void drop(crowd* c, bot* b)
{
    tally_add(c, TALLY_DROPS);
    wire_hang_up(c->wire, b->number, true);
    visit_over(c, b, false);
}

void bot_connected(crowd* c, bot* b)
{
    char name[PLAYER_NAME_SIZE];
    wire_send(c->wire, b->number,
              &(message){.type = MESSAGE_ENTER,
                         .number = ++b->next_number,
                         .values = {b->number},
                         .name = player_name(b->number, name)});
    b->state = BOT_IN_LINE;
    b->place = 0;
    b->earned = b->account.earned;
    account_enter(&b->account); /* mail and chats may come before WELCOME */
    box_enter(&b->box);
    for (int i = 0; i < CHATS; i++) ear_enter(&b->ears[i]);
}

void bot_lost(crowd* c, bot* b)
{
    if (b->in) crowd_trouble(c);
    if (b->state == BOT_CONNECTING) stay_away(c, b, 500000);
    else visit_over(c, b, false);
}

/* ---- In line, and in ----------------------------------------------------------------------------------- */

/* A place moves forward, with three exceptions. The line begins anew: 0 is told. Who is let sleep through its turn,
   by a store or a server that stands still, goes to the end; several have their turn at once. The store may have
   lost the line, for a while: then all begin again, in any order. */
static void queued(crowd* c, bot* b, uint32_t place)
{
    bool has_none = b->place == 0 || place == 0;
    bool forward = has_none || place < b->place;
    if (forward || (b->place > TURNS_AT_ONCE && crowd_is_calm(c)))
        check_that(c->row, CHECK_QUEUE, forward, "bot %u was %u in line and is %u", b->number, b->place, place);
    b->place = place;
}

static void loaded(crowd* c, bot* b)
{
    for (uint32_t i = 0; i < b->account.count; i++)
    {
        const thing* t = &b->account.things[i];
        if (t->state == THING_MAYBE_BOUGHT) sales_sure(&c->sales, t->item, t->version, b->number, false);
    }
    check_that(c->row, CHECK_ITEMS, account_settle(&b->account), "bot %u comes in and lacks something", b->number);
    b->state = BOT_PLAYING;
    b->until_us = c->now_us;
}

static void welcomed(crowd* c, bot* b, const message* m)
{
    check_that(c->row, CHECK_ANSWERS, m->values[0] == b->number, "bot %u is welcomed as %d", b->number,
               (int)m->values[0]);
    check_that(c->row, CHECK_QUEUE, true, "let in");
    check_that(c->row, CHECK_GOLD, account_fits_gold(&b->account, m->values[1], m->values[2], b->earned),
               "bot %u comes in with %d + %d gold, not %d", b->number, (int)m->values[1], (int)m->values[2],
               (int)b->account.gold);
    tally_add(c, TALLY_VISITS);
    b->visits++;
    b->in = true;
    b->touched = 0;
    b->state = BOT_LOADING;
    b->bag_to_come = m->values[3];
    if (b->bag_to_come == 0) loaded(c, b);
}

static void bag_told(crowd* c, bot* b, const message* m)
{
    news_bag(c, b, m);
    if (b->state == BOT_LOADING && --b->bag_to_come == 0) loaded(c, b);
}

static void farewell(crowd* c, bot* b, const message* m)
{
    const int64_t* v = m->values;
    if (b->state != BOT_LEAVING) crowd_trouble(c); /* the server has lost the seat or the player */
    if (b->in)
    {
        check_that(c->row, CHECK_GOLD, account_fits_gold(&b->account, v[0], v[1], b->earned),
                   "bot %u leaves with %d + %d gold, not %d", b->number, (int)v[0], (int)v[1], (int)b->account.gold);
        check_that(c->row, CHECK_ITEMS, account_fits_items(&b->account, v[2]), "bot %u leaves with %d of %u items",
                   b->number, (int)v[2], b->account.count);
        if (crowd_is_calm(c))
            check_that(c->row, CHECK_ITEMS, !account_awaits_bag(&b->account),
                       "bot %u leaves, and what has come back was not in its bag", b->number);
    }
    wire_hang_up(c->wire, b->number, true);
    visit_over(c, b, b->in);
}

void bot_message(crowd* c, bot* b, const message* m)
{
    switch ((int)m->type)
    {
    case MESSAGE_QUEUED: queued(c, b, (uint32_t)m->values[0]); break;
    case MESSAGE_WELCOME: welcomed(c, b, m); break;
    case MESSAGE_BAG: bag_told(c, b, m); break;
    case MESSAGE_CHAT: news_chat(c, b, m); break;
    case MESSAGE_CHAT_GAP: news_gap(c, b, m); break;
    case MESSAGE_MAIL: news_mail(c, b, m); break;
    case MESSAGE_FAREWELL: farewell(c, b, m); break;
    case MESSAGE_SORRY:
        if (!b->in) stay_away(c, b, 1000000); /* not let in; the server hangs up */
        else answers_take(c, b, m);
        break;
    default: answers_take(c, b, m); break;
    }
}

/* ---- The frame ----------------------------------------------------------------------------------------- */

static bool is_done(const crowd* c, const bot* b)
{
    return c->closing && c->settled && !b->wanted;
}

static bool has_said_farewell(const bot* b)
{
    return b->farewells > 0 && !b->dropped;
}

static bool waits_in_vain(const crowd* c, const bot* b)
{
    for (int i = 0; i < REQUESTS_MAX; i++)
        if (b->requests[i].number != 0 && c->now_us - b->requests[i].asked_us > ANSWERS_US) return true;
    return false;
}

/* Who has done what it came for waits for its answers, and goes; some just hang up. */
static void go(crowd* c, bot* b)
{
    random_source random = source_of(c, b, b->actions);
    bool in_vain = waits_in_vain(c, b);
    if (in_vain) check_that(c->row, CHECK_ANSWERS, !crowd_is_calm(c), "bot %u is not answered", b->number);
    if (!c->closing && random_under(&random, 8) == 0)
    {
        drop(c, b);
        return;
    }
    if (request_is_open(b) && !in_vain) return;
    if (c->closing || random_under(&random, 4) > 0) tell_handled(c, b);
    leave(c, b);
}

static void play(crowd* c, bot* b)
{
    type_on(c, b);
    if (c->closing)
    {
        if (is_done(c, b)) go(c, b);
    }
    else if (c->now_us >= b->until_us)
    {
        if (b->stay == 0) go(c, b);
        else wish(c, b);
    }
}

void bot_frame(crowd* c, bot* b)
{
    switch (b->state)
    {
    case BOT_AWAY:
        if (is_done(c, b) && has_said_farewell(b)) b->state = BOT_OVER;
        else if (c->now_us >= b->until_us && (!c->closing || c->settled)) come(c, b);
        break;
    case BOT_CONNECTING:
        if (c->now_us < b->until_us) break;
        wire_hang_up(c->wire, b->number, true);
        stay_away(c, b, 1000000);
        break;
    case BOT_IN_LINE:
        if (is_done(c, b) && has_said_farewell(b)) leave(c, b);
        break;
    case BOT_LOADING: break;
    case BOT_PLAYING: play(c, b); break;
    case BOT_LEAVING:
        if (c->now_us >= b->until_us) drop(c, b);
        break;
    case BOT_OVER:
        if (b->wanted) b->state = BOT_AWAY; /* something has come for it after all */
        break;
    }
}
