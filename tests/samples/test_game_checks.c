/* Tests of what the sample's bots check: each check holds on a right history, and fails on a wrong one. */

#include "support/suite.h"

#include "bots/account.h"
#include "bots/ears.h"
#include "bots/letters.h"
#include "bots/names.h"
#include "bots/said.h"
#include "bots/sales.h"

#include <string.h>

/* ---- said ---------------------------------------------------------------------------------------------- */

static void only_what_was_unsure_may_be_missing(void** state)
{
    (void)state;
    said s = {0};
    assert_true(said_may_miss(&s, 1, 0));
    assert_false(said_may_miss(&s, 1, 1)); /* was never said */
    assert_int_equal(said_next(&s), 1);
    assert_int_equal(said_next(&s), 2);
    said_unsure(&s);
    assert_int_equal(said_next(&s), 3);
    said_unsure(&s);
    assert_int_equal(said_next(&s), 4);
    said_not(&s);
    assert_int_equal(said_next(&s), 4);
    assert_false(said_may_miss(&s, 1, 1));
    assert_true(said_may_miss(&s, 2, 3));
    assert_false(said_may_miss(&s, 1, 3));
    assert_false(said_may_miss(&s, 2, 4));
    assert_true(said_may_miss(&s, 5, 4));
}

static void what_was_unsure_is_forgotten_after_a_while(void** state)
{
    (void)state;
    said s = {0};
    said_next(&s);
    said_unsure(&s);
    for (uint32_t i = 2; i <= SAID_WINDOW; i++) said_next(&s);
    assert_true(said_may_miss(&s, 1, 1));
    assert_false(said_may_miss(&s, 1, 2));
    assert_int_equal(said_next(&s), SAID_WINDOW + 1); /* has the place of 1 */
    assert_false(said_may_miss(&s, SAID_WINDOW + 1, SAID_WINDOW + 1));
    assert_true(said_may_miss(&s, 1, 1)); /* too long ago to tell */
}

/* ---- ears ---------------------------------------------------------------------------------------------- */

enum
{
    MEMBERS = 3,
    EPOCH = 7
};

typedef struct chat_scene
{
    hall hall;
    ear ears[2];
} chat_scene;

static chat_scene* open_chat(bool stays)
{
    static chat_scene scene;
    memset(&scene, 0, sizeof(scene));
    assert_true(hall_open(&scene.hall, MEMBERS, stays));
    for (int i = 0; i < 2; i++)
    {
        assert_true(ear_open(&scene.ears[i], &scene.hall));
        ear_enter(&scene.ears[i]);
    }
    for (uint32_t i = 0; i < MEMBERS; i++)
        for (int k = 0; k < 10; k++) said_next(&scene.hall.said[i]);
    return &scene;
}

static void close_chat(chat_scene* scene)
{
    hall_close(&scene->hall);
    ear_close(&scene->ears[0]);
    ear_close(&scene->ears[1]);
}

static void a_right_chat_has_no_faults(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    for (int i = 0; i < 2; i++)
    {
        assert_int_equal(ear_hear(&c->ears[i], EPOCH, 5, 0, 1), 0);
        assert_int_equal(ear_hear(&c->ears[i], EPOCH, 6, 1, 4), 0);
        assert_int_equal(ear_hear(&c->ears[i], EPOCH, 7, 0, 2), 0);
    }
    ear_enter(&c->ears[0]); /* again from 6: that was not handled */
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 6, 1, 4), 0);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 7, 0, 2), 0);
    assert_true(ear_has_all(&c->ears[0]));
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 8, 0, 3), 0);
    assert_true(ear_has_all(&c->ears[0]));
    assert_false(ear_has_all(&c->ears[1])); /* 8 */
    close_chat(c);
}

static void a_gap_in_a_chat_is_seen(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    ear* e = &c->ears[0];
    assert_int_equal(ear_hear(e, EPOCH, 5, 0, 1), 0);
    assert_int_equal(ear_hear(e, EPOCH, 7, 1, 1), EAR_GAP);
    ear_enter(e);
    assert_int_equal(ear_hear(e, EPOCH, 9, 1, 2), EAR_GAP);  /* 8 may not be left out while away */
    assert_int_equal(ear_hear(e, EPOCH, 10, 0, 3), EAR_GAP); /* the ids are fine, but 2 is missing */
    assert_int_equal(ear_hear(e, EPOCH + 1, 11, 0, 4), 0);   /* the store was started anew, and lost nothing */
    ear_enter(e);
    assert_int_equal(ear_hear(e, EPOCH + 2, 11, 0, 5) & EAR_GAP, EAR_GAP); /* it has forgotten 11 */
    close_chat(c);
}

static void what_was_unsure_is_no_gap(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    said_next(&c->hall.said[0]); /* 11 */
    said_unsure(&c->hall.said[0]);
    said_next(&c->hall.said[0]);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 1, 0, 10), 0);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 2, 0, 12), 0);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 3, 0, 11), EAR_TWICE); /* not any more */
    close_chat(c);
}

static void a_gap_that_is_told_is_none(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    ear* e = &c->ears[0];
    assert_int_equal(ear_hear(e, EPOCH, 1, 0, 1), 0);
    assert_int_equal(ear_skip(e, EPOCH, 2, 20), 0);
    assert_int_equal(ear_hear(e, EPOCH, 21, 0, 5), 0);
    assert_int_equal(ear_skip(e, EPOCH, 23, 25), EAR_GAP); /* 22 */
    assert_int_equal(ear_skip(e, EPOCH, 27, 26), EAR_NONSENSE);
    close_chat(c);
}

static void what_comes_twice_is_seen(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    ear* e = &c->ears[0];
    assert_int_equal(ear_hear(e, EPOCH, 5, 0, 1), 0);
    assert_int_equal(ear_hear(e, EPOCH, 5, 0, 1), EAR_TWICE);
    assert_int_equal(ear_hear(e, EPOCH, 6, 0, 1), EAR_TWICE); /* under another id */
    assert_int_equal(ear_hear(e, EPOCH, 7, 0, 3), EAR_GAP);
    assert_int_equal(ear_hear(e, EPOCH, 8, 0, 2), EAR_TWICE); /* out of order */
    close_chat(c);
}

static void all_hear_the_same(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 5, 0, 1), 0);
    assert_int_equal(ear_hear(&c->ears[1], EPOCH, 5, 1, 1), EAR_DIFFERENT);
    assert_int_equal(ear_hear(&c->ears[1], EPOCH, 6, 2, 1), 0);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 6, 2, 2), EAR_DIFFERENT);
    close_chat(c);
}

static void what_nobody_said_is_nonsense(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 1, MEMBERS, 1), EAR_NONSENSE);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 1, 0, 11), EAR_NONSENSE);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 1, 0, 0), EAR_NONSENSE);
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 0, 0, 1), EAR_NONSENSE);
    close_chat(c);
}

static void a_zone_begins_anew_in_each_session(void** state)
{
    (void)state;
    chat_scene* c = open_chat(false);
    ear* e = &c->ears[0];
    assert_int_equal(ear_hear(e, EPOCH, 5, 0, 1), 0);
    ear_enter(e);
    assert_true(ear_has_all(e));
    assert_int_equal(ear_hear(e, EPOCH, 9, 0, 4), 0);
    assert_int_equal(ear_hear(e, EPOCH, 11, 1, 1), EAR_GAP);
    assert_int_equal(ear_hear(&c->ears[1], EPOCH + 1, 1, 1, 2), 0); /* all had left it meanwhile */
    assert_int_equal(ear_hear(e, EPOCH, 12, 1, 3), EAR_GAP);        /* had they? */
    assert_int_equal(ear_hear(&c->ears[1], EPOCH + 2, 2, 1, 3), EAR_GAP);
    close_chat(c);
}

static void what_nobody_has_heard_is_missed(void** state)
{
    (void)state;
    chat_scene* c = open_chat(true);
    assert_false(hall_has_all(&c->hall, 0));
    assert_int_equal(ear_hear(&c->ears[0], EPOCH, 1, 0, 10), 0);
    assert_true(hall_has_all(&c->hall, 0));
    said_next(&c->hall.said[0]);
    assert_false(hall_has_all(&c->hall, 0));
    said_unsure(&c->hall.said[0]);
    assert_true(hall_has_all(&c->hall, 0));
    close_chat(c);
}

/* ---- letters ------------------------------------------------------------------------------------------- */

static void a_mailbox_has_no_gap_and_repeats_only_in_a_new_session(void** state)
{
    (void)state;
    box b = {0};
    bool again = true;
    box_enter(&b);
    assert_int_equal(box_take(&b, EPOCH, 1, &again), 0);
    assert_false(again);
    assert_int_equal(box_take(&b, EPOCH, 2, &again), 0);
    assert_int_equal(box_take(&b, EPOCH, 2, &again), LETTER_TWICE);
    assert_int_equal(box_take(&b, EPOCH, 4, &again), LETTER_GAP);
    box_enter(&b);
    assert_int_equal(box_take(&b, EPOCH, 2, &again), 0);
    assert_true(again);
    assert_int_equal(box_take(&b, EPOCH, 3, &again), 0);
    assert_int_equal(box_take(&b, EPOCH, 4, &again), 0);
    assert_int_equal(box_take(&b, EPOCH, 5, &again), 0);
    assert_false(again);
    box_enter(&b);
    assert_int_equal(box_take(&b, EPOCH, 7, &again), LETTER_GAP);
    assert_int_equal(box_take(&b, EPOCH + 1, 8, &again), 0); /* the store was started anew, and lost nothing */
    box_enter(&b);
    assert_int_equal(box_take(&b, EPOCH + 2, 8, &again), LETTER_GAP); /* it has forgotten 8 */
    box late = {0};
    assert_int_equal(box_take(&late, EPOCH, 2, &again), LETTER_GAP); /* a world begins with 1 */
}

static void whispers_come_once_and_in_order(void** state)
{
    (void)state;
    thread t = {0};
    assert_int_equal(thread_hear(&t, 1), LETTER_NONSENSE);
    for (int i = 0; i < 5; i++) said_next(&t.said);
    assert_int_equal(thread_hear(&t, 1), 0);
    assert_int_equal(thread_hear(&t, 1), LETTER_TWICE);
    assert_int_equal(thread_hear(&t, 3), LETTER_GAP);
    assert_int_equal(thread_hear(&t, 2), LETTER_TWICE);
    assert_int_equal(thread_hear(&t, 4), 0);
    assert_false(thread_has_all(&t));
    said_unsure(&t.said);
    assert_true(thread_has_all(&t));
    said_next(&t.said);
    assert_false(thread_has_all(&t));
    assert_int_equal(thread_hear(&t, 6), 0); /* 5 was unsure */
    assert_true(thread_has_all(&t));
}

static void hears(round* r, uint32_t count, uint32_t member, bool had_it)
{
    bool again = !had_it;
    assert_int_equal(round_hear(r, count, member, &again), 0);
    assert_int_equal(again, had_it);
}

static void all_of_the_guild_get_all_of_its_mail(void** state)
{
    (void)state;
    round r = {0};
    bool again = false;
    assert_int_equal(round_hear(&r, 1, 0, &again), LETTER_NONSENSE);
    assert_int_equal(round_write(&r, 7), 1);
    assert_int_equal(round_write(&r, 6), 2);
    hears(&r, 2, 1, false);
    hears(&r, 2, 1, true);
    hears(&r, 1, 0, false);
    hears(&r, 1, 1, false);
    assert_true(round_is_missed_by(&r, 2));
    assert_false(round_is_missed_by(&r, 1));
    assert_int_equal(round_settle(&r), 0);
    hears(&r, 1, 2, false);
    assert_int_equal(round_settle(&r), 1);
    hears(&r, 1, 2, true);
    assert_true(round_is_missed_by(&r, 2));
    said_unsure(&r.said);
    assert_false(round_is_missed_by(&r, 2));
    assert_int_equal(round_settle(&r), 1);
    uint32_t written = 0;
    while (round_has_room(&r)) written += round_write(&r, 1) > 0;
    assert_int_equal(written, ROUND_WINDOW);
}

/* ---- account ------------------------------------------------------------------------------------------- */

static account new_account(void)
{
    account a;
    account_open(&a, 40, 3, 1000); /* items 40, 41 and 42 */
    return a;
}

static void welcome(account* a, uint32_t item_count, const uint32_t* items, const int64_t* versions, bool fits)
{
    bool all = true;
    account_enter(a);
    for (uint32_t i = 0; i < item_count; i++) all &= account_bag(a, items[i], versions[i]);
    all &= account_settle(a);
    assert_int_equal(all, fits);
}

static void an_account_without_trade_is_exact(void** state)
{
    (void)state;
    account a = new_account();
    welcome(&a, 3, (uint32_t[]){40, 41, 42}, (int64_t[]){1, 1, 1}, true);
    assert_true(account_is_exact(&a));
    assert_true(account_fits_gold(&a, 1000, 0, 0));
    assert_false(account_fits_gold(&a, 999, 0, 0));
    assert_false(account_fits_gold(&a, 1001, 0, 0));
    assert_false(account_fits_gold(&a, 1001, -1, 0));
    assert_true(account_fits_items(&a, 3));
    assert_false(account_fits_items(&a, 2));
    assert_false(account_fits_items(&a, 4));
}

static void a_sale_is_a_range_until_the_mail(void** state)
{
    (void)state;
    account a = new_account();
    assert_true(account_listed(&a, 41, 2, 70));
    assert_false(account_listed(&a, 41, 4, 70)); /* is on sale already */
    assert_false(account_listed(&a, 99, 2, 70));
    assert_false(account_is_exact(&a));
    assert_true(account_fits_gold(&a, 1000, 0, 0));
    assert_true(account_fits_gold(&a, 1070, 0, 0));
    assert_false(account_fits_gold(&a, 1071, 0, 0));
    assert_true(account_fits_items(&a, 2));
    assert_true(account_fits_items(&a, 3));
    assert_false(account_sold(&a, 41, 4, 70));
    assert_false(account_sold(&a, 41, 2, 71));
    assert_false(account_sold(&a, 40, 2, 70));
    assert_true(account_sold(&a, 41, 2, 70));
    assert_false(account_sold(&a, 41, 2, 70));
    assert_true(account_is_exact(&a));
    assert_true(account_fits_gold(&a, 1070, 0, 70));
    assert_false(account_fits_gold(&a, 1000, 0, 70));
    assert_true(account_fits_items(&a, 2));
    assert_false(account_fits_items(&a, 3));
}

static void what_nobody_bought_is_back(void** state)
{
    (void)state;
    account a = new_account();
    assert_true(account_listed(&a, 41, 2, 70));
    assert_false(account_back(&a, 41, 4));
    assert_true(account_back(&a, 41, 2));
    assert_true(account_is_exact(&a));
    assert_true(account_fits_items(&a, 2));
    assert_true(account_fits_items(&a, 3));
    assert_true(account_awaits_bag(&a));
    assert_true(account_bag(&a, 41, 3));
    assert_false(account_awaits_bag(&a));
    assert_false(account_fits_items(&a, 2));
    assert_true(account_back(&a, 41, 2)); /* told once more */
    assert_true(account_listed(&a, 41, 4, 50));
    assert_true(account_back(&a, 41, 2));
    assert_false(account_is_exact(&a));
    assert_true(account_bag(&a, 41, 5)); /* BAG before the mail */
    assert_true(account_back(&a, 41, 4));
    assert_true(account_is_exact(&a));
    assert_false(account_back(&a, 77, 2));
}

static void a_purchase_costs_its_price(void** state)
{
    (void)state;
    account a = new_account();
    assert_true(account_may_buy(&a, 7));
    assert_false(account_may_buy(&a, 40));
    assert_true(account_bought(&a, 7, 6, 300));
    assert_false(account_bought(&a, 7, 6, 300));
    assert_true(account_fits_gold(&a, 700, 0, 0));
    assert_true(account_fits_gold(&a, 400, 300, 0));
    assert_false(account_fits_gold(&a, 1000, 0, 0));
    assert_true(account_fits_items(&a, 4));
    assert_int_equal(account_thing(&a, 7)->version, 6);
}

static void mail_may_tell_more_than_the_server_knew(void** state)
{
    (void)state;
    account a = new_account();
    assert_true(account_listed(&a, 41, 2, 70));
    assert_true(account_sold(&a, 41, 2, 70));
    assert_true(account_fits_gold(&a, 1000, 0, 0)); /* asked before the mail came */
    assert_true(account_fits_gold(&a, 1070, 0, 0));
    assert_false(account_could_pay(&a, 1001, 0));
    assert_false(account_fits_gold(&a, 1000, 0, 70));
    assert_true(account_could_pay(&a, 1070, 70));
    account_enter(&a);
    assert_true(account_listed(&a, 42, 2, 70));
    assert_true(account_back(&a, 42, 2)); /* after the server has looked into the bag */
    assert_true(account_bag(&a, 40, 1));
    assert_true(account_settle(&a));
}

static void an_unsure_purchase_is_settled_by_the_bag(void** state)
{
    (void)state;
    for (int bought = 0; bought < 2; bought++)
    {
        account a = new_account();
        assert_true(account_buy_unsure(&a, 7, 4, 300));
        assert_true(account_fits_gold(&a, 1000, 0, 0));
        assert_true(account_fits_gold(&a, 700, 0, 0));
        assert_true(account_fits_gold(&a, 700, 300, 0));
        assert_false(account_fits_gold(&a, 699, 0, 0));
        assert_true(account_could_pay(&a, 700, 0));
        assert_false(account_could_pay(&a, 701, 0));
        assert_true(account_fits_items(&a, 3));
        assert_true(account_fits_items(&a, 4));
        welcome(&a, bought == 1 ? 4 : 3, (uint32_t[]){40, 41, 42, 7}, (int64_t[]){1, 1, 1, 6}, true);
        assert_true(account_is_exact(&a));
        assert_int_equal(account_fits_gold(&a, 700, 0, 0), bought == 1);
        assert_int_equal(account_fits_gold(&a, 1000, 0, 0), bought == 0);
    }
}

static void an_unsure_sale_is_settled_by_the_bag_or_by_mail(void** state)
{
    (void)state;
    account a = new_account();
    welcome(&a, 3, (uint32_t[]){40, 41, 42}, (int64_t[]){1, 1, 1}, true);
    assert_true(account_list_unsure(&a, 41, 70));
    assert_false(account_list_unsure(&a, 41, 70));
    assert_true(account_fits_items(&a, 2));
    assert_true(account_fits_items(&a, 3));
    assert_true(account_fits_gold(&a, 1070, 0, 0));
    account b = a;
    account c = a;
    account d = a;
    welcome(&a, 3, (uint32_t[]){40, 41, 42}, (int64_t[]){1, 1, 1}, true);
    account late = a;
    assert_false(account_is_exact(&a));
    assert_true(account_back(&late, 41, 2));
    assert_true(account_is_exact(&late));
    welcome(&a, 3, (uint32_t[]){40, 41, 42}, (int64_t[]){1, 1, 1}, true);
    assert_true(account_is_exact(&a));
    assert_false(account_back(&a, 41, 2));
    welcome(&d, 3, (uint32_t[]){40, 41, 42}, (int64_t[]){1, 3, 1}, true); /* was on sale, and is back */
    assert_true(account_is_exact(&d));
    welcome(&b, 2, (uint32_t[]){40, 42}, (int64_t[]){1, 1}, true);
    assert_false(account_is_exact(&b));
    assert_true(account_sold(&b, 41, 2, 70));
    assert_true(account_is_exact(&b));
    assert_true(account_back(&c, 41, 2));
    assert_true(account_is_exact(&c));
}

static void a_lost_or_a_strange_thing_is_seen(void** state)
{
    (void)state;
    account a = new_account();
    welcome(&a, 2, (uint32_t[]){40, 42}, (int64_t[]){1, 1}, false);
    a = new_account();
    welcome(&a, 4, (uint32_t[]){40, 41, 42, 43}, (int64_t[]){1, 1, 1, 1}, false);
    a = new_account();
    assert_true(account_bag(&a, 40, 5));
    assert_false(account_bag(&a, 40, 4)); /* versions only grow */
    assert_true(account_listed(&a, 41, 2, 70));
    assert_false(account_bag(&a, 41, 2)); /* is on sale in this version */
}

/* ---- sales --------------------------------------------------------------------------------------------- */

static sale sale_of(uint32_t item, int64_t version, uint32_t buyer)
{
    return (sale){.item = item, .version = version, .seller = 1, .buyer = buyer, .price = 70};
}

static bool all_sales(const sales* s, bool (*holds)(const sales*, uint32_t, bool*), uint32_t* count)
{
    bool all = true;
    *count = 0;
    for (uint32_t i = 0; i < s->capacity; i++)
    {
        bool counts = false;
        bool held = holds(s, i, &counts);
        *count += counts;
        all &= held;
    }
    return all;
}

static void an_offer_has_one_buyer(void** state)
{
    (void)state;
    sales s;
    assert_true(sales_open(&s));
    sale first = sale_of(5, 2, 8);
    sale next = sale_of(5, 4, 9);
    sale twice = sale_of(5, 2, 9);
    sale dear = sale_of(5, 4, 9);
    dear.price = 71;
    bool again = false;
    assert_int_equal(sales_bought(&s, &first), 0);
    assert_int_equal(sales_bought(&s, &next), 0);
    assert_int_equal(sales_bought(&s, &twice), SALE_TWICE);
    assert_int_equal(sales_told(&s, &dear, &again), SALE_DIFFERS);
    sales_close(&s);
}

static void every_sale_is_told(void** state)
{
    (void)state;
    sales s;
    assert_true(sales_open(&s));
    bool again = true;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3000; i++) /* it grows */
    {
        sale sold = sale_of(i, 2, 8);
        assert_int_equal(sales_bought(&s, &sold), 0);
        if (i == 7) continue;
        assert_int_equal(sales_told(&s, &sold, &again), 0);
        assert_false(again);
        assert_int_equal(sales_told(&s, &sold, &again), 0);
        assert_true(again);
    }
    assert_true(sales_has_untold(&s, 1));
    assert_true(sales_has_untold(&s, UINT32_MAX));
    assert_false(sales_has_untold(&s, 2));
    assert_false(all_sales(&s, sales_is_told, &count));
    assert_int_equal(count, 3000);
    sale forgotten = sale_of(7, 2, 8);
    assert_int_equal(sales_told(&s, &forgotten, &again), 0);
    assert_true(all_sales(&s, sales_is_told, &count));
    assert_false(sales_has_untold(&s, UINT32_MAX));
    sales_close(&s);
}

static void who_is_paid_has_a_buyer(void** state)
{
    (void)state;
    sales s;
    assert_true(sales_open(&s));
    bool again = false;
    uint32_t count = 0;
    sale sold = sale_of(7, 2, 8);
    assert_int_equal(sales_told(&s, &sold, &again), 0);
    assert_false(all_sales(&s, sales_has_buyer, &count));
    assert_int_equal(count, 1);
    assert_int_equal(sales_unsure(&s, &sold), 0);
    assert_true(all_sales(&s, sales_has_buyer, &count));
    assert_int_equal(sales_sure(&s, 7, 2, 8, false), 0);
    assert_false(all_sales(&s, sales_has_buyer, &count));
    assert_int_equal(sales_unsure(&s, &sold), 0);
    assert_int_equal(sales_sure(&s, 7, 2, 8, true), 0);
    assert_true(all_sales(&s, sales_has_buyer, &count));
    assert_int_equal(sales_bought(&s, &sold), SALE_TWICE);
    assert_int_equal(sales_sure(&s, 7, 4, 8, true), SALE_DIFFERS); /* nobody was unsure about that */
    sales_close(&s);
}

static void an_offer_is_sold_or_comes_back_not_both(void** state)
{
    (void)state;
    sales s;
    assert_true(sales_open(&s));
    bool again = true;
    sale first = sale_of(5, 2, 8);
    sale other = sale_of(6, 2, 8);
    assert_int_equal(sales_back(&s, &first, &again), 0);
    assert_false(again);
    assert_int_equal(sales_back(&s, &first, &again), 0);
    assert_true(again);
    assert_int_equal(sales_bought(&s, &first), SALE_TWICE);
    assert_int_equal(sales_bought(&s, &other), 0);
    assert_int_equal(sales_back(&s, &other, &again), SALE_TWICE);
    assert_int_equal(sales_told(&s, &other, &again), SALE_TWICE);
    sale strange = sale_of(7, 2, 8);
    assert_int_equal(sales_back(&s, &strange, &again), 0);
    strange.seller = 2;
    assert_int_equal(sales_back(&s, &strange, &again), SALE_DIFFERS);
    sales_close(&s);
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void names_begin_with_the_prefix_and_have_whom_we_know(void** state)
{
    (void)state;
    gh_str none = gh_str_literal("");
    gh_str ru = gh_str_literal("ru");
    gh_str names = gh_str_literal("Runa0007\nRudolf0001");
    assert_true(names_are_right(ru, names, 2, none));
    assert_true(names_are_right(ru, names, 2, gh_str_literal("Runa0007")));
    assert_true(names_are_right(ru, none, 0, none));
    assert_false(names_are_right(ru, names, 3, none));
    assert_false(names_are_right(ru, names, 1, none));
    assert_false(names_are_right(ru, names, 2, gh_str_literal("Runa0008")));
    assert_false(names_are_right(ru, names, 2, gh_str_literal("Runa")));
    assert_false(names_are_right(gh_str_literal("run"), names, 2, none));
    assert_false(names_are_right(ru, gh_str_literal("Runa0007\nRuna0007"), 2, none));
    assert_false(names_are_right(ru, gh_str_literal("Runa0007\n\nRudolf0001"), 3, none));
}

TEST_FILE(game_checks, cmocka_unit_test(only_what_was_unsure_may_be_missing),
          cmocka_unit_test(what_was_unsure_is_forgotten_after_a_while), cmocka_unit_test(a_right_chat_has_no_faults),
          cmocka_unit_test(a_gap_in_a_chat_is_seen), cmocka_unit_test(what_was_unsure_is_no_gap),
          cmocka_unit_test(a_gap_that_is_told_is_none), cmocka_unit_test(what_comes_twice_is_seen),
          cmocka_unit_test(all_hear_the_same), cmocka_unit_test(what_nobody_said_is_nonsense),
          cmocka_unit_test(a_zone_begins_anew_in_each_session), cmocka_unit_test(what_nobody_has_heard_is_missed),
          cmocka_unit_test(a_mailbox_has_no_gap_and_repeats_only_in_a_new_session),
          cmocka_unit_test(whispers_come_once_and_in_order), cmocka_unit_test(all_of_the_guild_get_all_of_its_mail),
          cmocka_unit_test(an_account_without_trade_is_exact), cmocka_unit_test(a_sale_is_a_range_until_the_mail),
          cmocka_unit_test(what_nobody_bought_is_back), cmocka_unit_test(a_purchase_costs_its_price),
          cmocka_unit_test(mail_may_tell_more_than_the_server_knew),
          cmocka_unit_test(an_unsure_purchase_is_settled_by_the_bag),
          cmocka_unit_test(an_unsure_sale_is_settled_by_the_bag_or_by_mail),
          cmocka_unit_test(a_lost_or_a_strange_thing_is_seen), cmocka_unit_test(an_offer_has_one_buyer),
          cmocka_unit_test(every_sale_is_told), cmocka_unit_test(who_is_paid_has_a_buyer),
          cmocka_unit_test(an_offer_is_sold_or_comes_back_not_both),
          cmocka_unit_test(names_begin_with_the_prefix_and_have_whom_we_know));
