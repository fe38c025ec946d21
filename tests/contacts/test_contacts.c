/* Tests of guildhall/contacts.h against real servers. */

#include "support/scene/game.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER gh_str_literal("jason")
#define LIST  "gh:{contacts:jason}:l"
#define ZSET  "gh:{contacts:jason}:z"
#define MARKS "gh:{contacts:jason}:w"

static gh_contacts* mirror_of(game* from, uint32_t capacity)
{
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = capacity;
    config.timeout_us = 20 * SECOND_US;
    return mirrored_contacts(from, OWNER, &config);
}

static gh_status settle(const gh_contacts_change* change)
{
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

static void touch_on(game* from, gh_contacts* contacts, const char* name)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_touch_begin(change, contacts, gh_str_of(name)), GH_OK);
    assert_status(settle(change), GH_OK);
}

static void touch_with(game* from, const char* name, const gh_contacts_config* config)
{
    touch_on(from, some_contacts(from->client, OWNER, config), name);
}

static void touch(game* from, const char* name)
{
    touch_with(from, name, NULL);
}

static gh_status take_out(game* from, const char* name)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_remove_begin(change, some_contacts(from->client, OWNER, NULL), gh_str_of(name)), GH_OK);
    return settle(change);
}

static gh_status load_with(game* from, gh_contacts* mirror, bool blocked, uint32_t* stored)
{
    gh_contacts_load* load = GAME_NEW(from, gh_contacts_load);
    gh_contacts_load_config config = gh_contacts_load_config_default();
    config.blocked = blocked;
    assert_status(gh_contacts_load_begin(load, mirror, &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&load->op) != GH_PENDING);
    if (stored != NULL) *stored = load->stored;
    return gh_op_poll(&load->op);
}

/* What a fresh mirror knows after a load, with blanks between the names. */
static const char* loaded(game* from)
{
    static char text[8192];
    gh_contact found[100];
    gh_contacts* mirror = mirror_of(from, 100);
    size_t size = 0;
    assert_status(load_with(from, mirror, false, NULL), GH_OK);
    uint32_t count = gh_contacts_complete(mirror, gh_str_literal(""), found, 100);
    text[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%.*s", i == 0 ? "" : " ", (int)found[i].name.size,
                                 found[i].name.bytes);
    return text;
}

/* ---- the ordinary way ----------------------------------------------------------------------------------------- */

/* Ten contacts, one comes to the front, one goes, and the beginnings of names. */
static void are_newest_first_and_found_by_prefix(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 100);
    gh_contact found[10];
    for (int i = 0; i < 10; i++)
    {
        char name[32];
        snprintf(name, sizeof(name), "contact-%d-%d", i / 3, i);
        touch(a, name);
    }
    assert_string_equal(loaded(a), "contact-3-9 contact-2-8 contact-2-7 contact-2-6 contact-1-5 contact-1-4 "
                                   "contact-1-3 contact-0-2 contact-0-1 contact-0-0");
    touch(a, "contact-1-4");
    assert_status(load_with(a, mirror, false, NULL), GH_OK);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("C"), found, 10), 10);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("contact-1-4")));
    assert_status(take_out(a, "contact-2-6"), GH_OK);
    assert_status(load_with(a, mirror, false, NULL), GH_OK);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("c"), found, 10), 9);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("contact-2-"), found, 10), 2);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("contact-2-8")));
    assert_true(gh_str_equal(found[1].name, gh_str_literal("contact-2-7")));
}

static void capacity_is_kept_in_the_same_step(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_config config = gh_contacts_config_default();
    assert_int_equal(config.capacity, 100);
    for (int i = 1; i <= 102; i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "c%d", i);
        touch(a, name);
        assert_int_equal(redis_server_integer(server, "LLEN " LIST), i < 100 ? i : 100);
    }
    assert_string_equal(redis_server_text(server, "LINDEX " LIST " -1"), "c3");
    config.capacity = 4;
    touch_with(a, "c5", &config);
    assert_string_equal(loaded(a), "c5 c102 c101 c100");
    config.capacity = 1;
    touch_with(a, "c5", &config);
    assert_string_equal(loaded(a), "c5");
}

static void many_are_one_request(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 100);
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_str* names = GAME_NEW_ARRAY(a, gh_str, GH_CONTACTS_TOUCH_MAX);
    gh_contact found[GH_CONTACTS_TOUCH_MAX];
    for (int i = 0; i < GH_CONTACTS_TOUCH_MAX; i++)
    {
        char* text = GAME_NEW_ARRAY(a, char, 8);
        names[i] = gh_str_make(text, (size_t)snprintf(text, 8, "p%d", i % 60)); /* four come twice */
    }
    touch(a, "p7");
    long long before = redis_server_calls(server, "evalsha");
    assert_status(gh_contacts_touch_many_begin(change, mirror, names, GH_CONTACTS_TOUCH_MAX), GH_OK);
    assert_status(settle(change), GH_OK);
    assert_int_equal(redis_server_calls(server, "evalsha") - before, 1);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, GH_CONTACTS_TOUCH_MAX), 60);
    for (uint32_t i = 0; i < 60; i++)
    {
        char expected[8];
        snprintf(expected, sizeof(expected), "p%u", i < 4 ? 3 - i : 63 - i); /* as one after another */
        assert_true(gh_str_equal(found[i].name, gh_str_of(expected)));
        assert_string_equal(redis_server_text(server, "LINDEX " LIST " %d", (int)i), expected);
    }
    assert_int_equal(redis_server_integer(server, "LLEN " LIST), 60);
}

static void changes_of_one_tick_keep_their_order(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts_change* changes = GAME_NEW_ARRAY(a, gh_contacts_change, 6);
    static const char* const names[] = {"a", "b", "c", "a", "d", "b"};
    for (int i = 0; i < 6; i++)
    {
        if (i == 4)
            assert_status(
                gh_contacts_remove_begin(&changes[i], some_contacts(a->client, OWNER, NULL), gh_str_literal("c")),
                GH_OK);
        else
            assert_status(
                gh_contacts_touch_begin(&changes[i], some_contacts(a->client, OWNER, NULL), gh_str_of(names[i])),
                GH_OK);
    }
    for (int i = 0; i < 6; i++) assert_status(settle(&changes[i]), GH_OK);
    assert_string_equal(loaded(a), "b a");
}

static void blocked_stay_out(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 100);
    gh_contacts* blocked = mirror_of(a, 100);
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_contact found[4];
    touch_on(a, mirror, "troll");
    touch_on(a, mirror, "mia");
    assert_status(gh_contacts_block_begin(change, mirror, gh_str_literal("troll")), GH_OK);
    assert_status(settle(change), GH_OK);
    assert_int_equal(mirror->count, 1);
    assert_string_equal(loaded(a), "mia");
    static const gh_str names[3] = {{"bob", 3}, {"troll", 5}, {"ann", 3}};
    assert_status(gh_contacts_touch_many_begin(change, mirror, names, 3), GH_OK);
    assert_status(settle(change), GH_OK);
    assert_int_equal(change->blocked, 1);
    assert_int_equal(mirror->count, 3);
    assert_string_equal(loaded(a), "ann bob mia");
    assert_status(load_with(a, blocked, true, NULL), GH_OK);
    assert_int_equal(gh_contacts_complete(blocked, gh_str_literal(""), found, 4), 1);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("troll")));
    assert_true(found[0].time_us > UINT64_C(1500000000000000));
    assert_status(gh_contacts_unblock_begin(change, mirror, gh_str_literal("troll")), GH_OK);
    assert_status(settle(change), GH_OK);
    assert_string_equal(loaded(a), "ann bob mia");
    touch_on(a, mirror, "troll");
    assert_string_equal(loaded(a), "troll ann bob mia");
    assert_int_equal(mirror->count, 4);
}

static void blocked_are_bounded(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    for (int i = 0; i < GH_CONTACTS_BLOCKED_MAX - 1; i++)
        redis_server_do(server, "ZADD gh:{contacts:jason}:b 1 b%d", i);
    static const char* const names[] = {"last", "one too many", "last"};
    static const gh_status expected[] = {GH_OK, GH_FULL, GH_OK};
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_contacts_block_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_of(names[i])),
                      GH_OK);
        assert_status(settle(change), expected[i]);
        assert_int_equal(redis_server_integer(server, "ZCARD gh:{contacts:jason}:b"), GH_CONTACTS_BLOCKED_MAX);
    }
}

/* The answer of a block is lost; before it is asked for again, somebody else unblocks. Nobody has ever been full. */
static void full_is_not_said_of_a_block_that_was_undone(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_deaf(proxy_address(proxy));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    assert_status(gh_contacts_block_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("mia")), GH_OK);
    assert_status(settle(change), GH_OK); /* the script is known from now on */
    uint64_t fired = proxy_fired(proxy);
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    assert_status(gh_contacts_block_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("troll")),
                  GH_OK);
    GAME_UNTIL(proxy_fired(proxy) > fired);
    assert_int_equal(redis_server_integer(server, "ZREM gh:{contacts:jason}:b troll"), 1);
    proxy_set_mode(proxy, PROXY_PASS);
    assert_status(settle(change), GH_OK);
}

/* The answer of a touch that kept somebody out is lost, and somebody unblocks before it is asked for again. */
static void touch_that_was_kept_out_is_told_so_again(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_deaf(proxy_address(proxy));
    game* other = game_start_ready(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_contacts_change* pardon = GAME_NEW(other, gh_contacts_change);
    for (int clients = 0; clients < 2; clients++) /* its mark lies in :w, then on a shelf */
    {
        redis_server_do(server, "FLUSHALL");
        for (int i = 0; i < 8 * clients; i++) redis_server_do(server, "HSET gh:{contacts:jason}:w %016x 64", i + 1);
        if (clients == 1) redis_server_do(server, "HSET gh:{contacts:jason}:w %s v", "");
        redis_server_do(server, "ZADD gh:{contacts:jason}:b 1 troll");
        assert_status(gh_contacts_touch_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("mia")),
                      GH_OK);
        assert_status(settle(change), GH_OK); /* the script is known from now on */
        uint64_t fired = proxy_fired(proxy);
        proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
        proxy_set_mode(proxy, PROXY_REFUSE);
        assert_status(gh_contacts_touch_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("troll")),
                      GH_OK);
        GAME_UNTIL(proxy_fired(proxy) > fired);
        assert_status(
            gh_contacts_unblock_begin(pardon, some_contacts(other->client, OWNER, NULL), gh_str_literal("troll")),
            GH_OK);
        assert_status(settle(pardon), GH_OK);
        proxy_set_mode(proxy, PROXY_PASS);
        assert_status(settle(change), GH_OK);
        assert_int_equal(change->blocked, 1);
        assert_int_equal(redis_server_integer(server, "LLEN gh:{contacts:jason}:l"), 1);
        assert_int_equal(redis_server_integer(server, "HEXISTS gh:{contacts:jason}:w %016llx",
                                              (unsigned long long)gh_client_id(a->client)),
                         clients == 0);
    }
}

/* A touch is told that its contact stays out: it is in no list any more, whatever the mirror has had. */
static void mirror_lets_go_of_whom_another_has_blocked(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 100);
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_contact found[4];
    touch_on(a, mirror, "troll");
    touch_on(a, mirror, "mia");
    assert_status(gh_contacts_block_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("troll")),
                  GH_OK);
    assert_status(settle(change), GH_OK);
    assert_int_equal(mirror->count, 2); /* not begun on it, as by another server: it does not know yet */
    touch_on(a, mirror, "troll");
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, 4), 1);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("mia")));
}

/* ---- times, and more names than a list takes ------------------------------------------------------------------- */

static void times_are_those_of_the_store(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* other = mirror_of(a, 100);
    gh_contacts_config config = gh_contacts_config_default();
    gh_contact found[4];
    touch(a, "before");
    touch(a, "again");
    config.times = true;
    gh_contacts* own = mirrored_contacts(a, OWNER, &config);
    a->ahead_us = 3600 * (int64_t)SECOND_US; /* our clock does not matter */
    game_tick(a);
    touch_on(a, own, "mia");
    touch_on(a, own, "again");
    assert_int_equal(redis_server_integer(server, "EXISTS " LIST), 0);
    assert_status(load_with(a, other, false, NULL), GH_OK);
    assert_int_equal(gh_contacts_complete(other, gh_str_literal(""), found, 4), 3);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("again")));
    assert_true(gh_str_equal(found[1].name, gh_str_literal("mia")));
    assert_true(gh_str_equal(found[2].name, gh_str_literal("before"))); /* of the list that it was */
    assert_int_equal(found[2].time_us, 0);
    redisReply* time = redis_server_command(server, "TIME");
    uint64_t now_us = strtoull(time->element[0]->str, NULL, 10) * SECOND_US;
    freeReplyObject(time);
    assert_true(found[0].time_us > found[1].time_us);
    assert_in_range(found[1].time_us, now_us - 60 * SECOND_US, now_us + 60 * SECOND_US);
    assert_int_equal(gh_contacts_complete(own, gh_str_literal("again"), found + 1, 1), 1);
    assert_int_equal(found[1].time_us, found[0].time_us);
    touch(a, "later"); /* without times it stays what it is */
    assert_string_equal(loaded(a), "later again mia before");
    assert_string_equal(redis_server_text(server, "TYPE " ZSET), "zset");
}

/* A sorted set has the times also where nobody asked for them, as its capacity is large: a mirror that says them behind
   a load says them behind a touch. */
static void mirror_has_the_times_that_the_store_has(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* large = mirror_of(a, GH_CONTACTS_LIST_MAX + 1);
    gh_contact found[1];
    touch_on(a, large, "mia");
    assert_int_equal(gh_contacts_complete(large, gh_str_literal(""), found, 1), 1);
    const uint64_t touched_us = found[0].time_us;
    assert_status(load_with(a, large, false, NULL), GH_OK);
    assert_int_equal(gh_contacts_complete(large, gh_str_literal(""), found, 1), 1);
    assert_true(found[0].time_us > 0);
    assert_int_equal(touched_us, found[0].time_us);
    redis_server_do(server, "FLUSHALL");
    gh_contacts* small = mirror_of(a, GH_CONTACTS_LIST_MAX);
    touch_on(a, small, "mia");
    assert_int_equal(gh_contacts_complete(small, gh_str_literal(""), found, 1), 1);
    assert_int_equal(found[0].time_us, 0);
}

/* Fills the list by hand: names n0, n1, ..., the last is the newest. */
static void fill_zset(redis_server* server, unsigned count)
{
    redis_server_do(server, "EVAL %s 1 " ZSET " %u",
                    "for i = 1, tonumber(ARGV[1]) do "
                    "redis.call('ZADD', KEYS[1], 1795000000000000 + i, 'n' .. (i - 1)) end",
                    count);
}

static void ten_thousand_names(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* all = mirror_of(a, GH_CONTACTS_CAPACITY_MAX);
    gh_contacts* newest = mirror_of(a, 5);
    gh_contacts_config config = gh_contacts_config_default();
    gh_contact found[12];
    uint32_t stored = 0;
    config.capacity = GH_CONTACTS_CAPACITY_MAX;
    fill_zset(server, GH_CONTACTS_CAPACITY_MAX - 1);
    touch_with(a, "at capacity", &config);
    assert_int_equal(redis_server_integer(server, "ZCARD " ZSET), GH_CONTACTS_CAPACITY_MAX);
    touch_with(a, "beyond", &config);
    assert_int_equal(redis_server_integer(server, "ZCARD " ZSET), GH_CONTACTS_CAPACITY_MAX);
    assert_null(redis_server_text(server, "ZSCORE " ZSET " n0"));
    assert_status(load_with(a, all, false, &stored), GH_OK);
    assert_int_equal(stored, GH_CONTACTS_CAPACITY_MAX);
    assert_int_equal(all->count, GH_CONTACTS_CAPACITY_MAX);
    assert_int_equal(gh_contacts_complete(all, gh_str_literal("N999"), found, 12), 10);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("n9998")));
    assert_int_equal(gh_contacts_complete(all, gh_str_literal("n1"), found, 12), 12);
    assert_status(load_with(a, newest, false, &stored), GH_OK);
    assert_int_equal(stored, GH_CONTACTS_CAPACITY_MAX);
    assert_int_equal(newest->count, 5);
    assert_int_equal(gh_contacts_complete(newest, gh_str_literal(""), found, 12), 5);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("beyond")));
    assert_true(gh_str_equal(found[4].name, gh_str_literal("n9996")));
}

/* A load of many pages, while another server keeps changing the list: it ends with one state of it, never a mixture. */
static void load_is_of_one_instant(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 3000);
    gh_contacts_load* load = GAME_NEW(a, gh_contacts_load);
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 3000;
    fill_zset(server, 3000);
    assert_status(gh_contacts_load_begin(load, mirror, NULL), GH_OK);
    for (int i = 0; i < 6; i++) /* the oldest comes to the front when some pages are read */
    {
        char name[16];
        uint64_t replies = game_stats(a).replies;
        GAME_UNTIL(game_stats(a).replies >= replies + 2);
        assert_status(gh_op_poll(&load->op), GH_PENDING);
        snprintf(name, sizeof(name), "n%d", i);
        a->asleep = true;
        touch_with(b, name, &config);
        a->asleep = false;
    }
    GAME_UNTIL(gh_op_poll(&load->op) != GH_PENDING);
    assert_status(gh_op_poll(&load->op), GH_OK);
    gh_contact* found = GAME_NEW_ARRAY(a, gh_contact, 3000);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, 3000), 3000);
    for (int i = 0; i < 3000; i++)
    {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i < 6 ? 5 - i : 3005 - i);
        assert_true(gh_str_equal(found[i].name, gh_str_of(name)));
    }
}

/* A change of ours that ends between two pages is not lost or doubled either. */
static void load_and_own_changes_agree(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 3000);
    gh_contacts_load* load = GAME_NEW(a, gh_contacts_load);
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_contact found[3];
    fill_zset(server, 3000);
    assert_status(gh_contacts_load_begin(load, mirror, NULL), GH_OK);
    uint64_t replies = game_stats(a).replies;
    GAME_UNTIL(game_stats(a).replies >= replies + 2);
    assert_status(gh_contacts_touch_begin(change, mirror, gh_str_literal("n3")), GH_OK);
    GAME_UNTIL(gh_op_poll(&load->op) != GH_PENDING && gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&load->op), GH_OK);
    assert_int_equal(mirror->count, 3000);
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, 1), 1);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("n3")));
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("n2999"), found, 3), 1);
}

/* A name that the mirror shows may be touched, although the touch changes the mirror. */
static void completed_contact_may_be_touched(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts* mirror = mirror_of(a, 2);
    gh_contacts_change* changes = GAME_NEW_ARRAY(a, gh_contacts_change, 2);
    gh_contact found[2];
    touch_on(a, mirror, "mia");
    touch_on(a, mirror, "bob");
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal("m"), found, 2), 1);
    assert_status(gh_contacts_touch_begin(&changes[0], mirror, gh_str_literal("ann")), GH_OK);
    assert_status(gh_contacts_touch_begin(&changes[1], mirror, found[0].name), GH_OK);
    assert_status(settle(&changes[1]), GH_OK);
    assert_string_equal(loaded(a), "mia ann"); /* of two at most */
    assert_int_equal(gh_contacts_complete(mirror, gh_str_literal(""), found, 2), 2);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("mia")));
    assert_true(gh_str_equal(found[1].name, gh_str_literal("ann")));
}

static void idle_lists_are_forgotten(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_config config = gh_contacts_config_default();
    touch(a, "mia");
    assert_int_equal(redis_server_integer(server, "PTTL " LIST), -1);
    config.idle_us = 90 * SECOND_US;
    touch_with(a, "bob", &config);
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 60000, 90000);
    touch(a, "ann"); /* leaves it */
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 30000, 90000);
    assert_in_range(redis_server_integer(server, "PTTL " MARKS), 1000000, 1200000);
    config.times = true;
    touch_with(a, "bob", &config);
    assert_in_range(redis_server_integer(server, "PTTL " ZSET), 60000, 90000);
}

/* Somebody has said by hand, or by an earlier config, how long a list lives: no touch takes that back. */
static void time_to_live_is_left_where_none_is_given(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts_config config = gh_contacts_config_default();
    touch_with(a, "mia", &config);
    redis_server_do(server, "PEXPIRE " LIST " 100000");
    touch_with(a, "mia", &config); /* the only one: without it there is no list */
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 30000, 100000);
    touch_with(a, "bob", &config);
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 30000, 100000);
    touch_with(a, "mia", &config);
    touch_with(a, "bob", &config);
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 30000, 100000);
    assert_int_equal(redis_server_integer(server, "LLEN " LIST), 2);
}

TEST_FILE(contacts, cmocka_unit_test(are_newest_first_and_found_by_prefix),
          cmocka_unit_test(capacity_is_kept_in_the_same_step), cmocka_unit_test(many_are_one_request),
          cmocka_unit_test(changes_of_one_tick_keep_their_order), cmocka_unit_test(blocked_stay_out),
          cmocka_unit_test(blocked_are_bounded), cmocka_unit_test(full_is_not_said_of_a_block_that_was_undone),
          cmocka_unit_test(touch_that_was_kept_out_is_told_so_again),
          cmocka_unit_test(mirror_lets_go_of_whom_another_has_blocked), cmocka_unit_test(times_are_those_of_the_store),
          cmocka_unit_test(mirror_has_the_times_that_the_store_has), cmocka_unit_test(ten_thousand_names),
          cmocka_unit_test(load_is_of_one_instant), cmocka_unit_test(load_and_own_changes_agree),
          cmocka_unit_test(completed_contact_may_be_touched), cmocka_unit_test(idle_lists_are_forgotten),
          cmocka_unit_test(time_to_live_is_left_where_none_is_given));
