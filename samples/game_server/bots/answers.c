/* answers.c -- what the answers say, and whether it can be so; an answer may lead to the next request. */

#include "bots/crowd.h"
#include "bots/names.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- What was asked ------------------------------------------------------------------------------------ */

static said* said_by(crowd* c, const bot* b, const request* r)
{
    if (r->type == MESSAGE_WHISPER) return &c->threads[b->number * FRIENDS + r->which].said;
    if (r->type == MESSAGE_MAIL_GUILD) return &c->rounds[b->number].said;
    if (r->type != MESSAGE_SAY) return NULL;
    bool zone = r->which == 0;
    uint32_t member = zone ? b->number / ZONE_COUNT : b->number % GUILD_SIZE;
    return &b->ears[r->which].hall->said[member];
}

/* ---- Trade --------------------------------------------------------------------------------------------- */

static void buy(crowd* c, bot* b, const sale* offer)
{
    request* r = request_begin(b, MESSAGE_BUY);
    if (r == NULL) return;
    r->trade = *offer;
    request_send(c, b, r, &(message){.values = {offer->item, offer->version, offer->price, offer->seller}});
}

/* One of those that are worth asking for. A bot in eight does not count its coins first. */
static void offers(crowd* c, bot* b, const request* r, const message* m)
{
    char text[MESSAGE_TEXT_MAX + 1];
    sale wanted[32];
    uint32_t wanted_count = 0;
    uint32_t lines = 0;
    int size = 0;
    memcpy(text, m->text.bytes, m->text.size);
    text[m->text.size] = '\0';
    for (const char* at = text; *at != '\0'; at += size)
    {
        sale o = {.buyer = b->number};
        if (sscanf(at, "%" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNu32 "%n", &o.item, &o.version, &o.price, &o.seller,
                   &size) != 4)
            break;
        while (at[size] == '\n') size++;
        lines++;
        bool pays = o.price <= b->account.gold || r->any % 8 == 0;
        bool useful = pays && o.seller != b->number && account_may_buy(&b->account, o.item);
        if (useful && wanted_count < 32) wanted[wanted_count++] = o;
    }
    check_that(c->row, CHECK_ANSWERS, lines == m->values[0], "bot %u reads %u of %d offers", b->number, lines,
               (int)m->values[0]);
    if (wanted_count > 0 && !c->closing) buy(c, b, &wanted[r->any / 8 % wanted_count]);
}

static void listed(crowd* c, bot* b, const request* r, const message* m)
{
    bool fits = m->values[0] == r->trade.item;
    if (!r->told) fits = fits && account_listed(&b->account, r->trade.item, m->values[1], r->trade.price);
    tally_add(c, TALLY_LISTED);
    check_that(c->row, CHECK_ITEMS, fits, "bot %u lists %u as version %d", b->number, r->trade.item, (int)m->values[1]);
}

static void bought(crowd* c, bot* b, const request* r, const message* m)
{
    const int64_t* v = m->values;
    const sale* s = &r->trade;
    bool fits = v[0] == s->item && v[1] > s->version && v[2] == s->price;
    unsigned faults = sales_bought(&c->sales, s);
    tally_add(c, TALLY_BOUGHT);
    check_that(c->row, CHECK_ONE_BUYER, fits && faults == 0, "bot %u bought %u version %d: fault %u", b->number,
               s->item, (int)s->version, faults);
    bool is_new = account_bought(&b->account, s->item, v[1], s->price);
    check_that(c->row, CHECK_ITEMS, is_new, "bot %u bought %u, which it has", b->number, s->item);
    check_that(c->row, CHECK_GOLD, account_fits_gold(&b->account, v[3], 0, r->earned),
               "bot %u has %d gold left, not %d", b->number, (int)v[3], (int)b->account.gold);
}

static void unsure(crowd* c, bot* b, const request* r)
{
    said* s = said_by(c, b, r);
    if (s != NULL) said_unsure(s);
    if (r->type == MESSAGE_SELL && !r->told) account_list_unsure(&b->account, r->trade.item, r->trade.price);
    if (r->type != MESSAGE_BUY) return;
    const sale* t = &r->trade;
    if (account_buy_unsure(&b->account, t->item, t->version, t->price)) sales_unsure(&c->sales, t);
}

/* ---- Names and promotions ------------------------------------------------------------------------------ */

static void names(crowd* c, bot* b, const request* r, const message* m)
{
    gh_str prefix = gh_str_make(r->prefix, r->prefix_size);
    bool right = names_are_right(prefix, m->text, m->values[0], gh_str_of(r->wanted));
    check_that(c->row, CHECK_NAMES, right, "bot %u asks for %.*s: %d names", b->number, (int)prefix.size, prefix.bytes,
               (int)m->values[0]);
    if (r->type == MESSAGE_FIND_MEMBER) b->joined = true;
}

static void promotion(crowd* c, const bot* b, const request* r, const message* m)
{
    const int64_t* v = m->values;
    bool fresh = v[2] == GH_OK || v[2] == GH_OLD;
    check_that(c->row, CHECK_PROMOTION, v[0] == r->which && v[1] >= 0 && fresh && m->text.size > 0,
               "bot %u looks at %u: %d, %d ms old, status %d", b->number, r->which, (int)v[0], (int)v[1], (int)v[2]);
    c->promotions_seen[r->which] = true;
}

/* ---- Answers ------------------------------------------------------------------------------------------- */

static void tally_sorry(crowd* c, int64_t reason)
{
    static const tally tallies[] = {
        [SORRY_BUSY] = TALLY_BUSY,     [SORRY_STORE] = TALLY_STORE,    [SORRY_UNSURE] = TALLY_UNSURE,
        [SORRY_TOO_LATE] = TALLY_LATE, [SORRY_NO_FUNDS] = TALLY_POOR,  [SORRY_NOT_YOURS] = TALLY_OTHER,
        [SORRY_NO_SUCH] = TALLY_OTHER, [SORRY_NONSENSE] = TALLY_OTHER,
    };
    bool known = reason >= SORRY_BUSY && reason <= SORRY_NONSENSE;
    tally_add(c, known ? tallies[reason] : TALLY_OTHER);
}

/* Some refusals are lies if all that was told before is true. */
static void check_refusal(crowd* c, const bot* b, const request* r, int64_t reason)
{
    if (reason == SORRY_NO_FUNDS)
        check_that(c->row, CHECK_GOLD, !account_could_pay(&b->account, r->trade.price, r->earned),
                   "bot %u has %d gold and cannot pay %d", b->number, (int)b->account.gold, (int)r->trade.price);
    check_that(c->row, CHECK_ANSWERS, reason != SORRY_NONSENSE, "bot %u: request %d is no nonsense", b->number,
               (int)r->type);
    check_that(c->row, CHECK_ITEMS, reason != SORRY_NOT_YOURS, "bot %u cannot sell its %u", b->number, r->trade.item);
    if (r->type == MESSAGE_LOOK && reason == SORRY_NO_SUCH)
        check_that(c->row, CHECK_PROMOTION, !c->promotions_seen[r->which], "bot %u: no promotion %u", b->number,
                   r->which);
}

static void refused(crowd* c, bot* b, const request* r, const message* m)
{
    int64_t reason = m->values[0];
    said* s = said_by(c, b, r);
    tally_sorry(c, reason);
    check_refusal(c, b, r, reason);
    if (reason == SORRY_STORE || reason == SORRY_UNSURE) crowd_trouble(c);
    if (reason == SORRY_UNSURE) unsure(c, b, r);
    else if (s != NULL) said_not(s);
}

static bool is_answer_to(const request* r, message_type answer)
{
    switch ((int)answer)
    {
    case MESSAGE_SORRY: return true;
    case MESSAGE_SAID: return r->type == MESSAGE_SAY;
    case MESSAGE_SENT: return r->type == MESSAGE_WHISPER || r->type == MESSAGE_MAIL_GUILD;
    case MESSAGE_NAMES: return r->type == MESSAGE_FIND_CONTACT || r->type == MESSAGE_FIND_MEMBER;
    case MESSAGE_OFFERS: return r->type == MESSAGE_BROWSE;
    case MESSAGE_LISTED: return r->type == MESSAGE_SELL;
    case MESSAGE_BOUGHT: return r->type == MESSAGE_BUY;
    case MESSAGE_PROMOTION: return r->type == MESSAGE_LOOK;
    default: return false;
    }
}

static void take_answer(crowd* c, bot* b, const request* r, const message* m)
{
    switch ((int)m->type)
    {
    case MESSAGE_SORRY: refused(c, b, r, m); break;
    case MESSAGE_SENT:
        if (r->type == MESSAGE_WHISPER) b->touched |= UINT32_C(1) << r->which;
        break;
    case MESSAGE_NAMES: names(c, b, r, m); break;
    case MESSAGE_OFFERS: offers(c, b, r, m); break;
    case MESSAGE_LISTED: listed(c, b, r, m); break;
    case MESSAGE_BOUGHT: bought(c, b, r, m); break;
    case MESSAGE_PROMOTION: promotion(c, b, r, m); break;
    default: break;
    }
}

void answers_take(crowd* c, bot* b, const message* m)
{
    for (int i = 0; i < REQUESTS_MAX; i++)
    {
        request asked = b->requests[i];
        if (m->number == 0 || asked.number != m->number) continue;
        b->requests[i].number = 0; /* before the answer leads to the next request */
        tally_add(c, TALLY_ANSWERED);
        bool fits = is_answer_to(&asked, m->type);
        check_that(c->row, CHECK_ANSWERS, fits, "bot %u asked %d and is answered %d", b->number, (int)asked.type,
                   (int)m->type);
        if (fits) take_answer(c, b, &asked, m);
        return;
    }
    check_that(c->row, CHECK_ANSWERS, false, "bot %u gets an answer %d to nothing it asked", b->number, (int)m->type);
}

void answers_never_come(crowd* c, bot* b)
{
    for (int i = 0; i < REQUESTS_MAX; i++)
    {
        request* r = &b->requests[i];
        if (r->number != 0) unsure(c, b, r);
        r->number = 0;
    }
}
