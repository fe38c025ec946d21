/* Contacts as the store has them: repeats, marks, memory, keys that are not ours, servers that compete, bad input. What
   is read here is read by the layout of KEYS.md, with plain commands. */

#include "support/server/foreign.h"
#include "support/scene/game.h"
#include "support/scene/keys.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"
#include "support/server/store_script.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWNER   gh_str_literal("jason")
#define LIST    "gh:{contacts:jason}:l"
#define ZSET    "gh:{contacts:jason}:z"
#define MARKS   "gh:{contacts:jason}:w"
#define BLOCKED "gh:{contacts:jason}:b"
#define SHELF   "gh:{contacts:jason}:w00" /* of the clients of run() */
#define KEYS    "5 " LIST " " ZSET " " MARKS " " BLOCKED " " SHELF

static gh_status touch_on(game* from, gh_contacts* contacts, const char* name)
{
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    assert_status(gh_contacts_touch_begin(change, contacts, gh_str_of(name)), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

static gh_status touch(game* from, const char* name)
{
    return touch_on(from, some_contacts(from->client, OWNER, NULL), name);
}

/* The list with blanks between the names, by LRANGE alone. */
static const char* stored(redis_server* server)
{
    static char text[1024];
    redisReply* list = redis_server_command(server, "LRANGE " LIST " 0 -1");
    text[0] = 0;
    for (size_t i = 0; i < list->elements; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i == 0 ? "" : " ", list->element[i]->str);
    freeReplyObject(list);
    return text;
}

/* ---- repeats ---------------------------------------------------------------------------------------------------- */

static long long run(redis_server* server, const char* digest, unsigned client, unsigned sequence, const char* rest)
{
    char line[512];
    snprintf(line, sizeof(line), "EVALSHA %s " KEYS " %016x:%016x %u %s", digest, client, sequence, sequence, rest);
    return store_code(redis_server_command(server, line), sequence);
}

/* A request that is repeated, and one from the past that runs late, change nothing. */
static void repeats_and_zombies_change_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char touching[FOREIGN_DIGEST_SIZE], removing[FOREIGN_DIGEST_SIZE];
    foreign_load(server, touching, "contacts/contacts_touch.lua");
    foreign_load(server, removing, "contacts/contacts_remove.lua");
    assert_int_equal(run(server, touching, 1, 7, "100 l 0 mia"), 0);
    assert_int_equal(run(server, touching, 2, 1, "100 l 0 bob"), 0);
    assert_int_equal(run(server, touching, 1, 7, "100 l 0 mia"), 0); /* not to the front again */
    assert_string_equal(stored(server), "bob mia");
    assert_int_equal(run(server, touching, 1, 6, "100 l 0 ann"), 1);
    assert_int_equal(run(server, removing, 1, 6, "r bob"), 1);
    assert_string_equal(stored(server), "bob mia");
    assert_int_equal(run(server, removing, 1, 8, "r mia"), 0);
    assert_int_equal(run(server, touching, 2, 2, "100 l 0 mia"), 0);
    assert_int_equal(run(server, removing, 1, 8, "r mia"), 0); /* touched again since: it stays */
    assert_string_equal(stored(server), "mia bob");
    assert_int_equal(run(server, removing, 1, 9, "b mia"), 0);
    assert_int_equal(run(server, removing, 1, 10, "u mia"), 0);
    assert_int_equal(run(server, removing, 1, 9, "b mia"), 1); /* a late block does not block again */
    assert_int_equal(redis_server_integer(server, "EXISTS " BLOCKED), 0);
    assert_int_equal(run(server, touching, 1, 11, "100 z 0 ann"), 0);
    assert_int_equal(run(server, touching, 2, 3, "100 z 0 bob"), 0);
    assert_int_equal(run(server, touching, 1, 11, "100 z 0 ann"), 0);
    assert_int_equal(redis_server_integer(server, "ZREVRANK " ZSET " bob"), 0);
}

/* Eight have their marks beside the list; whoever comes then has one on a shelf, and nobody's is dropped for it. */
static void ninth_writer_drops_nobodys_mark(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char touching[FOREIGN_DIGEST_SIZE];
    foreign_load(server, touching, "contacts/contacts_touch.lua");
    for (unsigned i = 1; i <= 8; i++) assert_int_equal(run(server, touching, i, 5, "100 l 0 mia"), 0);
    assert_int_equal(redis_server_integer(server, "HLEN " MARKS), 8 + 1); /* and the note */
    assert_int_equal(redis_server_integer(server, "EXISTS " SHELF), 0);
    for (unsigned i = 9; i <= 12; i++) assert_int_equal(run(server, touching, i, 5, "100 l 0 bob"), 0);
    assert_int_equal(redis_server_integer(server, "HLEN " MARKS), 8 + 1);
    assert_int_equal(redis_server_integer(server, "HLEN " SHELF), 4);
    for (unsigned i = 1; i <= 12; i++) assert_int_equal(run(server, touching, i, 4, "100 l 0 ann"), 1);
    for (unsigned i = 1; i <= 12; i++) assert_int_equal(run(server, touching, i, 5, "100 l 0 mia"), 0);
    assert_string_equal(stored(server), "bob mia");
    assert_in_range(redis_server_integer(server, "PTTL " MARKS), 1, 1200000);
    assert_in_range(redis_server_integer(server, "PTTL " SHELF), 1, 1200000);
}

/* Shifts the server's clock to so many seconds behind the first second of the minute in which it began. */
static void wait_until(redis_server* server, int64_t begun_s, int64_t seconds)
{
    const int64_t to_the_minute = 60 - begun_s % 60;
    redis_server_shift_clock(server, (to_the_minute + seconds) * (int64_t)SECOND_US);
}

/* A client changes the same list twice, 64 minutes apart, and another one now and then. The second change is asked for
   twice, as its answer is lost: whose turn it was in the same minute of 64 is no reason to let its mark go early. */
static void mark_lives_from_its_change_on(void** state)
{
    (void)state;
    const redis_server_options options = {.clock = true};
    redis_server* server = redis_server_start(&options);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    game* a = game_start_deaf(proxy_address(proxy));
    game* other = game_start_ready(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    const int64_t begun_s = redis_server_integer(server, "EVAL %s 0", "return tonumber(redis.call('TIME')[1])");
    wait_until(server, begun_s, 5);
    assert_status(touch(a, "mia"), GH_OK);
    for (int minute = 14; minute <= 44; minute += 15) /* it keeps all marks */
    {
        wait_until(server, begun_s, minute * 60 + 30);
        assert_status(touch(other, "bob"), GH_OK);
    }
    wait_until(server, begun_s, 64 * 60 + 5);
    uint64_t fired = proxy_fired(proxy);
    proxy_arm(proxy, PROXY_REPLY, 0, PROXY_FIN);
    proxy_set_mode(proxy, PROXY_REFUSE);
    assert_status(gh_contacts_touch_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("mia")), GH_OK);
    GAME_UNTIL(proxy_fired(proxy) > fired);
    wait_until(server, begun_s, 64 * 60 + 55);
    assert_status(touch(other, "ann"), GH_OK);
    proxy_set_mode(proxy, PROXY_PASS);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    assert_string_equal(stored(server), "ann mia bob"); /* not to the front again */
}

#define WRITERS 10000

/* 10,000 clients within ten minutes: a late request of each is known, and the marks are few bytes. */
static void writers_know_no_bound(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char touching[FOREIGN_DIGEST_SIZE];
    unsigned long long bytes = 0;
    foreign_load(server, touching, "contacts/contacts_touch.lua");
    for (unsigned i = 0; i < WRITERS * 2; i++)
    {
        unsigned long long client = (i % WRITERS + 1) * 0x9e3779b97f4a7c15ull;
        redisReply* reply = redis_server_command(server,
                                                 "EVALSHA %s 5 " LIST " " ZSET " " MARKS " " BLOCKED
                                                 " gh:{contacts:jason}:w%02x %016llx:%016x %d 100 l 0 n%u",
                                                 touching, (unsigned)(client >> 56), client, 7, i < WRITERS ? 7 : 6, i);
        assert_int_equal(store_code(reply, i < WRITERS ? 7 : 6), i < WRITERS ? 0 : 1);
    }
    assert_int_equal(redis_server_integer(server, "LLEN " LIST), 100);
    assert_int_equal(redis_server_integer(server, "HLEN " MARKS), 8 + 1);
    for (unsigned i = 0; i < 256; i++)
    {
        char line[80];
        snprintf(line, sizeof(line), "PTTL gh:{contacts:jason}:w%02x", i);
        assert_in_range(redis_server_integer(server, line), 1, 1200000);
        snprintf(line, sizeof(line), "MEMORY USAGE gh:{contacts:jason}:w%02x SAMPLES 0", i);
        bytes += (unsigned long long)redis_server_integer(server, line);
    }
    assert_in_range(bytes, 1, 1200000);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* 100 names by 8 game servers: at most 1.25 times of the bare list of the same names. */
static void memory_is_little_more_than_a_bare_list(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* games[8];
    for (int i = 0; i < 8; i++) games[i] = game_start_ready(redis_server_address(server));
    for (int i = 0; i < 240; i++)
    {
        char name[24];
        snprintf(name, sizeof(name), "player_%04d", i % 120);
        assert_status(touch(games[i % 8], name), GH_OK);
    }
    redisReply* list = redis_server_command(server, "LRANGE " LIST " 0 -1");
    assert_int_equal(list->elements, 100);
    for (size_t i = 0; i < list->elements; i++) redis_server_do(server, "RPUSH recent:jason %s", list->element[i]->str);
    freeReplyObject(list);
    assert_int_equal(redis_server_integer(server, "HLEN " MARKS), 8 + 1);
    long long ours = redis_server_integer(server, "MEMORY USAGE " LIST " SAMPLES 0") +
                     redis_server_integer(server, "MEMORY USAGE " MARKS " SAMPLES 0");
    long long bare = redis_server_integer(server, "MEMORY USAGE recent:jason SAMPLES 0");
    if (ours * 100 > bare * 125) fail_msg("%lld bytes, and %lld for the bare list", ours, bare);
}

static void keys_are_those_of_the_page(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_contacts_config config = gh_contacts_config_default();
    assert_status(touch(a, "mia"), GH_OK);
    assert_status(gh_contacts_block_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("bob")), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    config.times = true;
    assert_status(gh_contacts_touch_begin(change, some_contacts(a->client, gh_str_literal("mia {a}"), &config),
                                          gh_str_literal("x")),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    for (int i = 0; i < 8; i++) assert_status(touch(game_start(redis_server_address(server)), "mia"), GH_OK);
    keys_must_be_on_the_page(server, "gh:{contacts:");
}

/* ---- keys that are not ours -------------------------------------------------------------------------------------- */

static void foreign_keys_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    static const char* const plants[] = {
        "SET " LIST " x", "SET " ZSET " x", "SET " MARKS " x", "SET " BLOCKED " x", "ZADD " ZSET " inf x",
    };
    gh_contacts_change* removal = GAME_NEW(a, gh_contacts_change);
    for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
    {
        redis_server_do(server, "FLUSHALL");
        redis_server_do(server, plants[i]);
        assert_status(touch(a, "mia"), GH_CORRUPT);
        assert_int_equal(redis_server_keys(server), 1); /* nothing was written */
        assert_status(gh_contacts_remove_begin(removal, some_contacts(a->client, OWNER, NULL), gh_str_literal("mia")),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&removal->op) != GH_PENDING);
        assert_status(gh_op_poll(&removal->op), i == 4 ? GH_OK : GH_CORRUPT);
    }
    redis_server_do(server, "FLUSHALL");
    redis_server_do(server, "HSET " MARKS " %016llx x", (unsigned long long)gh_client_id(a->client));
    assert_status(touch(a, "mia"), GH_CORRUPT);
    assert_int_equal(redis_server_keys(server), 1);
}

/* 300,000 entries that somebody planted: nothing runs through them. */
static void crowded_keys_are_corrupt_at_once(void** state)
{
    (void)state;
    static const char* const plants[] = {"RPUSH', KEYS[1], i", "ZADD', KEYS[1], i, i", "HSET', KEYS[1], i, 1"};
    static const char* const keys[] = {LIST, ZSET, MARKS};
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    for (int i = 0; i < 3; i++)
    {
        char plant[200];
        snprintf(plant, sizeof(plant), "for i = ARGV[1] + 1, ARGV[1] + 10000 do redis.call('%s) end", plants[i]);
        redis_server_do(server, "FLUSHALL");
        for (int from = 0; from < 300000; from += 10000) /* in pieces, so that nobody waits long for the server */
            redis_server_do(server, "EVAL %s 1 %s %d", plant, keys[i], from);
        game_tick(a); /* a time-out counts from here: planting can take a slow machine longer than that */
        assert_status(touch(a, "mia"), i < 2 ? GH_CORRUPT : GH_OK);
        assert_status(gh_contacts_remove_begin(change, some_contacts(a->client, OWNER, NULL), gh_str_literal("mia")),
                      GH_OK);
        GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
        assert_status(gh_op_poll(&change->op), i == 0 ? GH_CORRUPT : GH_OK);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* One capacity for both; also of a batch, part of which is in the list already. */
static void mirror_lets_go_what_the_store_lets_go(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contact found[8];
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 3;
    gh_contacts* contacts = mirrored_contacts(a, OWNER, &config);
    static const char* const names[] = {"ann", "bob", "mia", "eve", "joe"};
    for (int i = 0; i < 5; i++) assert_status(touch_on(a, contacts, names[i]), GH_OK);
    assert_string_equal(stored(server), "joe eve mia");
    assert_int_equal(gh_contacts_complete(contacts, gh_str_literal(""), found, 8), 3);
    assert_int_equal(gh_contacts_complete(contacts, gh_str_literal("ann"), found, 8), 0);
    static const gh_str batch[] = {GH_STR_INIT("zoe"), GH_STR_INIT("mia"), GH_STR_INIT("kim"), GH_STR_INIT("zoe")};
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    assert_status(gh_contacts_touch_many_begin(change, contacts, batch, 4), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    assert_string_equal(stored(server), "zoe kim mia");
    assert_int_equal(gh_contacts_complete(contacts, gh_str_literal(""), found, 8), 3);
    for (int i = 0; i < 3; i++) assert_true(gh_str_equal(found[i].name, batch[3 - i]));
}

static void foreign_names_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_contacts* mirror = mirrored_contacts(a, OWNER, NULL);
    gh_contacts_load* load = GAME_NEW(a, gh_contacts_load);
    char name[GH_NAME_SIZE_MAX + 2];
    memset(name, 'x', sizeof(name));
    name[GH_NAME_SIZE_MAX + 1] = 0;
    for (int i = 0; i < 3; i++)
    {
        redis_server_do(server, "FLUSHALL");
        if (i < 2) redis_server_do(server, "RPUSH " LIST " good %s", i == 0 ? name : name + 1);
        else redis_server_do(server, "ZADD " ZSET " 1.5 name");
        assert_status(gh_contacts_load_begin(load, mirror, NULL), GH_OK);
        GAME_UNTIL(gh_op_poll(&load->op) != GH_PENDING);
        assert_status(gh_op_poll(&load->op), i == 1 ? GH_OK : GH_CORRUPT);
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* ---- servers that compete ---------------------------------------------------------------------------------------- */

#define ROUNDS 300
#define NAMES  40

typedef struct rival
{
    char address[128];
    char letter;
} rival;

/* Touches and removes names of its own, and says what it did last with each. */
static int compete(void* context, int results)
{
    rival* self = context;
    char seed[2] = {self->letter, 0};
    game_forget_all();
    random_stream random = random_for_test(seed);
    game* server = game_start(self->address);
    gh_contacts_change* change = GAME_NEW(server, gh_contacts_change);
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 2 * NAMES;
    for (uint32_t i = 0; i < ROUNDS; i++)
    {
        char name[8];
        uint32_t which = (uint32_t)random_below(&random, NAMES);
        bool touches = !random_one_in(&random, 5);
        snprintf(name, sizeof(name), "%c%u", self->letter, which);
        gh_status status =
            touches ? gh_contacts_touch_begin(change, some_contacts(server->client, OWNER, &config), gh_str_of(name))
                    : gh_contacts_remove_begin(change, some_contacts(server->client, OWNER, &config), gh_str_of(name));
        CHILD_CHECK(status == GH_OK);
        while (gh_op_poll(&change->op) == GH_PENDING) game_tick_all();
        CHILD_CHECK(gh_op_poll(&change->op) == GH_OK);
        uint32_t line[2] = {which, touches ? i + 1 : 0};
        CHILD_CHECK(write(results, line, sizeof(line)) == sizeof(line));
    }
    return 0;
}

/* The list is what the histories say: each name once, touched ones there, removed ones not, and of each server the
   newer touch in front. */
static void lists_of_rivals_are_the_fold_of_their_histories(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    rival rivals[2];
    child_process* children[2];
    uint32_t last[2][NAMES];
    uint32_t newest[2] = {UINT32_MAX, UINT32_MAX};
    size_t expected = 0;
    memset(last, 0, sizeof(last));
    for (int i = 0; i < 2; i++)
    {
        snprintf(rivals[i].address, sizeof(rivals[i].address), "%s", redis_server_address(server));
        rivals[i].letter = "ab"[i];
        children[i] = child_start(compete, &rivals[i]);
    }
    for (int i = 0; i < 2; i++)
    {
        uint32_t line[2];
        for (int round = 0; round < ROUNDS; round++)
        {
            assert_int_equal(child_read(children[i], line, sizeof(line)), sizeof(line));
            last[i][line[0]] = line[1];
        }
        assert_int_equal(child_wait(children[i]), 0);
        for (int name = 0; name < NAMES; name++) expected += last[i][name] > 0;
    }
    redisReply* list = redis_server_command(server, "LRANGE " LIST " 0 -1");
    assert_int_equal(list->elements, expected);
    for (size_t i = 0; i < list->elements; i++)
    {
        int who = list->element[i]->str[0] - 'a';
        uint32_t touched = last[who][atoi(list->element[i]->str + 1)];
        assert_in_range(touched, 1, newest[who] - 1);
        newest[who] = touched;
    }
    freeReplyObject(list);
    assert_int_equal(redis_server_integer(server, "HLEN " MARKS), 2 + 1);
}

TEST_FILE(contacts_store, cmocka_unit_test(repeats_and_zombies_change_nothing),
          cmocka_unit_test(ninth_writer_drops_nobodys_mark), cmocka_unit_test(mark_lives_from_its_change_on),
          cmocka_unit_test(writers_know_no_bound), cmocka_unit_test(memory_is_little_more_than_a_bare_list),
          cmocka_unit_test(keys_are_those_of_the_page), cmocka_unit_test(foreign_keys_are_corrupt),
          cmocka_unit_test(crowded_keys_are_corrupt_at_once), cmocka_unit_test(mirror_lets_go_what_the_store_lets_go),
          cmocka_unit_test(foreign_names_are_corrupt),
          cmocka_unit_test(lists_of_rivals_are_the_fold_of_their_histories));
