/* Guilds as the store has them: the capacity, reads that write nothing, pages while members come and go, repeats, keys
   that are not ours, servers that compete, bad input. What is read here is read by the layout of KEYS.md. */

#include "support/server/foreign.h"
#include "support/scene/game.h"
#include "support/scene/keys.h"
#include "support/process.h"
#include "support/random.h"
#include "support/server/redis_server.h"
#include "support/server/store_script.h"
#include "support/scene/social.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUILD   gh_str_literal("knights")
#define MEMBERS "gh:{guild:knights}:m"
#define SHELF   "gh:{guild:knights}:w00" /* of the clients of run() */
#define LIMIT   10

typedef struct searcher
{
    gh_guild_search search;
    gh_guild_search_config config;
    _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(LIMIT)];
} searcher;

static searcher* searcher_new(game* from)
{
    searcher* self = GAME_NEW(from, searcher);
    self->config = gh_guild_search_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

static gh_status complete(game* from, searcher* self, const char* prefix)
{
    assert_status(
        gh_guild_complete_begin(&self->search, a_guild(from->client, GUILD, NULL), gh_str_of(prefix), &self->config),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&self->search.op) != GH_PENDING);
    return gh_op_poll(&self->search.op);
}

static gh_status next_page(game* from, searcher* self)
{
    assert_status(gh_guild_next_begin(&self->search, a_guild(from->client, GUILD, NULL)), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->search.op) != GH_PENDING);
    return gh_op_poll(&self->search.op);
}

static gh_guild_member* members_of(game* owner, const char* const* names, size_t count)
{
    gh_guild_member* members = GAME_NEW_ARRAY(owner, gh_guild_member, count);
    for (size_t i = 0; i < count; i++) members[i].name = gh_str_of(names[i]);
    return members;
}

static gh_guild_change* begin_change(game* from, gh_guild_member* members, size_t count, bool leave, uint32_t capacity)
{
    gh_guild_change* change = GAME_NEW(from, gh_guild_change);
    gh_guild_config config = gh_guild_config_default();
    config.capacity = capacity;
    assert_status(leave ? gh_guild_leave_begin(change, a_guild(from->client, GUILD, &config), members, count)
                        : gh_guild_join_begin(change, a_guild(from->client, GUILD, &config), members, count),
                  GH_OK);
    return change;
}

static gh_status settle(const gh_guild_change* change)
{
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    return gh_op_poll(&change->op);
}

static gh_status change_one(game* from, const char* name, bool leave, uint32_t capacity)
{
    gh_guild_member* member = members_of(from, &name, 1);
    gh_status status = settle(begin_change(from, member, 1, leave, capacity));
    return status == GH_OK ? member->status : status;
}

static uint32_t size_of(game* from)
{
    gh_guild_size* size = GAME_NEW(from, gh_guild_size);
    assert_status(gh_guild_size_begin(size, a_guild(from->client, GUILD, NULL)), GH_OK);
    GAME_UNTIL(gh_op_poll(&size->op) != GH_PENDING);
    assert_status(gh_op_poll(&size->op), GH_OK);
    return size->size;
}

/* ---- capacity ---------------------------------------------------------------------------------------------------- */

static void capacity_is_looked_at_in_the_same_step(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    assert_int_equal(size_of(a), 0);
    assert_status(change_one(a, "one", false, 3), GH_OK);
    assert_status(change_one(a, "two", false, 3), GH_OK);
    assert_status(change_one(a, "three", false, 3), GH_OK);
    assert_status(change_one(a, "four", false, 3), GH_FULL);
    assert_status(change_one(a, "two", false, 3), GH_EXISTS);
    assert_int_equal(size_of(a), 3);
    assert_status(change_one(a, "two", true, 3), GH_OK);
    static const char* const names[] = {"three", "four", "five", "four"};
    gh_guild_member* members = members_of(a, names, 4);
    gh_guild_change* change = begin_change(a, members, 4, false, 3);
    assert_status(settle(change), GH_FULL);
    static const gh_status expected[] = {GH_EXISTS, GH_OK, GH_FULL, GH_EXISTS};
    for (int i = 0; i < 4; i++) assert_status(members[i].status, expected[i]);
    assert_int_equal(change->size, 3);
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), 3);
    assert_status(change_one(a, "five", false, 4), GH_OK);
    assert_status(change_one(a, "six", false, 1), GH_FULL); /* a smaller capacity throws nobody out */
    assert_int_equal(size_of(a), 4);
}

static void who_was_no_member_does_not_count_as_one_who_left(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    static const char* const joining[] = {"one", "two", "three"};
    static const char* const leaving[] = {"two", "nobody", "two"};
    static const gh_status expected[] = {GH_OK, GH_NOT_MEMBER, GH_NOT_MEMBER};
    assert_status(settle(begin_change(a, members_of(a, joining, 3), 3, false, 3)), GH_OK);
    gh_guild_member* members = members_of(a, leaving, 3);
    gh_guild_change* change = begin_change(a, members, 3, true, 3);
    assert_status(settle(change), GH_OK);
    for (int i = 0; i < 3; i++) assert_status(members[i].status, expected[i]);
    assert_int_equal(change->size, 2);
    assert_int_equal(size_of(a), 2);
}

/* Two servers fill one guild at once: never more members than the capacity, and exactly those who were told so. */
typedef struct rival
{
    char address[128];
    unsigned number;
} rival;

#define RIVAL_NAMES    60
#define RIVAL_ROUNDS   400
#define RIVAL_CAPACITY 70

static int compete(void* context, int results)
{
    rival* self = context;
    char label[2] = {(char)('0' + self->number), 0};
    game_forget_all();
    random_stream random = random_for_test(label);
    game* server = game_start(self->address);
    gh_guild_change* change = GAME_NEW(server, gh_guild_change);
    gh_guild_config config = gh_guild_config_default();
    config.capacity = RIVAL_CAPACITY;
    for (unsigned i = 0; i < RIVAL_ROUNDS; i++)
    {
        char name[16];
        unsigned which = (unsigned)random_below(&random, RIVAL_NAMES);
        bool leaves = random_one_in(&random, 4);
        gh_guild_member member = {
            .name = gh_str_make(name, (size_t)snprintf(name, sizeof(name), "m%u-%u", self->number, which))};
        gh_status status = leaves ? gh_guild_leave_begin(change, a_guild(server->client, GUILD, &config), &member, 1)
                                  : gh_guild_join_begin(change, a_guild(server->client, GUILD, &config), &member, 1);
        CHILD_CHECK(status == GH_OK);
        while (gh_op_poll(&change->op) == GH_PENDING) game_tick_all();
        status = gh_op_poll(&change->op);
        CHILD_CHECK(status == GH_OK || status == GH_FULL);
        CHILD_CHECK(change->size <= RIVAL_CAPACITY);
        int32_t line[3] = {(int32_t)which, leaves, member.status};
        CHILD_CHECK(write(results, line, sizeof(line)) == sizeof(line));
    }
    return 0;
}

static void members_are_the_fold_of_the_histories(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    rival rivals[2];
    child_process* children[2];
    long long expected = 0;
    unsigned full = 0;
    for (unsigned i = 0; i < 2; i++)
    {
        snprintf(rivals[i].address, sizeof(rivals[i].address), "%s", redis_server_address(server));
        rivals[i].number = i;
        children[i] = child_start(compete, &rivals[i]);
    }
    for (unsigned i = 0; i < 2; i++)
    {
        bool in[RIVAL_NAMES] = {false};
        int32_t line[3];
        for (int round = 0; round < RIVAL_ROUNDS; round++)
        {
            assert_int_equal(child_read(children[i], line, sizeof(line)), sizeof(line));
            bool was_in = in[line[0]];
            if (line[1] != 0) assert_status((gh_status)line[2], was_in ? GH_OK : GH_NOT_MEMBER);
            else if (line[2] != GH_FULL) assert_status((gh_status)line[2], was_in ? GH_EXISTS : GH_OK);
            else assert_false(was_in);
            full += line[2] == GH_FULL;
            in[line[0]] = line[1] == 0 && line[2] != GH_FULL;
        }
        assert_int_equal(child_wait(children[i]), 0);
        for (int name = 0; name < RIVAL_NAMES; name++)
        {
            char member[16]; /* a name that is its own folded form is left out behind the two zero bytes */
            size_t size = (size_t)snprintf(member, sizeof(member), "m%u-%d", i, name) + 2;
            member[size - 1] = 0;
            assert_int_equal(redis_server_text(server, "ZSCORE " MEMBERS " %b", member, size) != NULL, in[name]);
            expected += in[name];
        }
    }
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), expected);
    assert_true(full > 0);
}

/* ---- reads ------------------------------------------------------------------------------------------------------- */

/* What MONITOR sees until it sees the end. */
static unsigned monitored_commands(redisContext* monitor, unsigned* reads)
{
    unsigned commands = 0;
    for (;;)
    {
        void* reply = NULL;
        assert_int_equal(redisGetReply(monitor, &reply), REDIS_OK);
        const char* line = ((redisReply*)reply)->str;
        bool ends = strstr(line, "\"ECHO\" \"that is all\"") != NULL;
        *reads += strstr(line, "\"ZRANGE\" ") != NULL || strstr(line, "\"ZCARD\" ") != NULL;
        freeReplyObject(reply);
        if (ends) return commands;
        commands++;
    }
}

static long long changes_since_save(redis_server* server)
{
    long long count = redis_server_told(server, "INFO persistence", "rdb_changes_since_last_save:");
    assert_true(count >= 0);
    return count;
}

/* The naive way puts two members in for every search, and watches the guild. */
static void reads_write_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    searcher* self = searcher_new(a);
    static const char* const names[] = {"jack", "jeff", "jenny", "je{"};
    assert_status(settle(begin_change(a, members_of(a, names, 4), 4, false, 100)), GH_OK);
    long long changes = changes_since_save(server);
    long long scripts = redis_server_calls(server, "evalsha");
    long long ranges = redis_server_calls(server, "zrange"); /* the hand-shake tries it too */
    redisContext* monitor = redisConnectUnix(redis_server_address(server) + strlen("unix:"));
    assert_true(monitor != NULL && monitor->err == 0);
    freeReplyObject(redisCommand(monitor, "MONITOR"));
    for (int i = 0; i < 50; i++) assert_status(complete(a, self, "je"), GH_OK);
    for (int i = 0; i < 50; i++) assert_int_equal(size_of(a), 4);
    redis_server_do(server, "ECHO %s", "that is all");
    unsigned reads = 0;
    assert_int_equal(monitored_commands(monitor, &reads), 100);
    assert_int_equal(reads, 100);
    redisFree(monitor);
    assert_int_equal(redis_server_calls(server, "zrange"), ranges + 50);
    assert_int_equal(redis_server_calls(server, "evalsha"), scripts);
    assert_int_equal(changes_since_save(server), changes);
    assert_int_equal(redis_server_calls(server, "watch") + redis_server_calls(server, "multi"), 0);
}

/* A user who may only read can search. */
static void reader_needs_no_right_to_write(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    static const char* const names[] = {"jenny"};
    assert_status(settle(begin_change(a, members_of(a, names, 1), 1, false, 100)), GH_OK);
    redis_server_do(server, "ACL SETUSER guest on >guest ~gh:{guild:* %%R~gh:* resetchannels -@all +info "
                            "+zrange +zcard +evalsha +script|load +get +time +set ~gh:epoch");
    gh_client_config config = game_config(redis_server_address(server));
    config.user = gh_str_literal("guest");
    config.password = gh_str_literal("guest");
    config.wake = false;
    game* guest = game_start_with(&config);
    searcher* self = searcher_new(guest);
    assert_status(complete(guest, self, "je"), GH_OK);
    assert_int_equal(self->search.count, 1);
    assert_int_equal(size_of(guest), 1);
}

/* Whoever stays is on exactly one page, and whoever is on a page was a member. */
static void pages_stay_right_while_members_come_and_go(void** state)
{
    (void)state;
    enum
    {
        STAY = 200
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    searcher* self = searcher_new(a);
    unsigned seen[STAY] = {0};
    unsigned guests_seen = 0;
    random_stream random = random_for_test("churn");
    for (int i = 0; i < STAY; i++)
        redis_server_do(server, "ZADD " MEMBERS " 0 %b",
                        (char[]){'s', (char)('0' + i / 100), (char)('0' + i / 10 % 10), (char)('0' + i % 10), 0, 0},
                        (size_t)6);
    gh_status status = complete(a, self, "s");
    while (status == GH_OK)
    {
        for (uint32_t i = 0; i < self->search.count; i++)
        {
            gh_str name = self->search.hits[i].name;
            if (name.size == 4) seen[atoi((char[]){name.bytes[1], name.bytes[2], name.bytes[3], 0})]++;
            else guests_seen++;
        }
        /* Guests are everywhere: in front of the cursor, behind it, and the cursor itself. */
        for (int i = 0; i < 20; i++)
        {
            char guest[8];
            size_t size = (size_t)snprintf(guest, sizeof(guest), "s%03ux", (unsigned)random_below(&random, STAY)) + 2;
            guest[size - 1] = 0;
            redis_server_do(server, random_one_in(&random, 3) ? "ZREM " MEMBERS " %b" : "ZADD " MEMBERS " 0 %b", guest,
                            size);
        }
        if (!self->search.more) break;
        if (self->search.cursor.size == 7)
            redis_server_do(server, "ZREM " MEMBERS " %b", self->search.cursor.bytes, (size_t)7);
        status = next_page(a, self);
    }
    for (int i = 0; i < STAY; i++) assert_int_equal(seen[i], 1);
    assert_true(guests_seen > 0);
}

/* ---- repeats ----------------------------------------------------------------------------------------------------- */

static long long run(redis_server* server, const char* digest, unsigned client, unsigned sequence, const char* rest,
                     char* letters)
{
    char line[512];
    snprintf(line, sizeof(line), "EVALSHA %s 2 " MEMBERS " " SHELF " %016x:%016x %u %s", digest, client, sequence,
             sequence, rest);
    redisReply* reply = redis_server_command(server, line);
    snprintf(letters, 8, "%s", store_rest(reply, 3));
    return store_code(reply, sequence);
}

static void repeats_and_zombies_change_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char join[FOREIGN_DIGEST_SIZE], leave[FOREIGN_DIGEST_SIZE], letters[8];
    foreign_load(server, join, "guild/guild_join.lua");
    foreign_load(server, leave, "guild/guild_leave.lua");
    assert_int_equal(run(server, join, 1, 7, "2 mia mia 1 bob bob 2 ann ann 3", letters), 0);
    assert_string_equal(letters, "jjf");
    assert_int_equal(run(server, leave, 2, 1, "bob bob 2 ann ann 3", letters), 0);
    assert_string_equal(letters, "ln");
    assert_int_equal(run(server, join, 1, 7, "2 mia mia 1 bob bob 2 ann ann 3", letters), 0);
    assert_string_equal(letters, "jjf"); /* the same answer, and nobody came back */
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), 1);
    assert_int_equal(run(server, leave, 1, 6, "mia mia 1", letters), 1);
    assert_int_equal(run(server, join, 1, 6, "9 eve eve 4", letters), 1);
    assert_int_equal(run(server, leave, 1, 8, "mia mia 1", letters), 0);
    assert_int_equal(run(server, join, 2, 2, "9 mia mia 1", letters), 0);
    assert_int_equal(run(server, leave, 1, 8, "mia mia 1", letters), 0);
    assert_string_equal(letters, "l");
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), 1); /* mia joined again since */
}

#define WRITERS 10000

/* 10,000 clients within ten minutes: nobody is refused, a late request of each is known, and the marks are
   few bytes. */
static void writers_know_no_bound(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    char join[FOREIGN_DIGEST_SIZE];
    unsigned long long bytes = 0;
    foreign_load(server, join, "guild/guild_join.lua");
    for (unsigned i = 0; i < WRITERS * 2; i++)
    {
        unsigned long long client = (i % WRITERS + 1) * 0x9e3779b97f4a7c15ull;
        redisReply* reply = redis_server_command(
            server, "EVALSHA %s 2 " MEMBERS " gh:{guild:knights}:w%02x %016llx:%016x %d 20000 p%u p%u x", join,
            (unsigned)(client >> 56), client, 7, i < WRITERS ? 7 : 6, i, i);
        assert_int_equal(store_code(reply, i < WRITERS ? 7 : 6), i < WRITERS ? 0 : 1);
    }
    assert_int_equal(redis_server_integer(server, "ZCARD " MEMBERS), WRITERS);
    for (unsigned i = 0; i < 256; i++)
    {
        char line[80];
        snprintf(line, sizeof(line), "PTTL gh:{guild:knights}:w%02x", i);
        assert_in_range(redis_server_integer(server, line), 1, 1200000);
        snprintf(line, sizeof(line), "MEMORY USAGE gh:{guild:knights}:w%02x SAMPLES 0", i);
        bytes += (unsigned long long)redis_server_integer(server, line);
    }
    assert_in_range(bytes, 1, 1200000);
    keys_must_be_on_the_page(server, "gh:{guild:");
}

static void changes_of_one_tick_keep_their_order(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    static const char* const names[] = {"mia", "mia", "mia", "bob", "bob"};
    gh_guild_member* members = members_of(a, names, 5);
    gh_guild_change* changes[5];
    for (int i = 0; i < 5; i++) changes[i] = begin_change(a, &members[i], 1, i % 2 == 1, 100);
    static const gh_status expected[] = {GH_OK, GH_OK, GH_OK, GH_NOT_MEMBER, GH_OK};
    for (int i = 0; i < 5; i++)
    {
        assert_status(settle(changes[i]), GH_OK);
        assert_status(members[i].status, expected[i]);
    }
    assert_int_equal(size_of(a), 2);
}

/* ---- keys that are not ours -------------------------------------------------------------------------------------- */

/* Who joined is in, byte for byte as the join wrote it: with an id, with zero bytes, folded; and nobody else. */
static void has_finds_what_joined(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    char longest[GH_NAME_SIZE_MAX];
    memset(longest, 0, sizeof(longest));
    const gh_str names[] = {gh_str_literal("jeff"), gh_str_literal("Jeff"), gh_str_make("a\0b", 3),
                            gh_str_make(longest, sizeof(longest)), gh_str_literal("\xc3\x84RGER")};
    const gh_str ids[] = {gh_str_literal(""), gh_str_literal("17"), gh_str_make("\0\0", 2),
                          gh_str_make(longest, sizeof(longest))};
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, 20);
    for (int i = 0; i < 20; i++) members[i].name = names[i / 4], members[i].id = ids[i % 4];
    gh_guild_config config = gh_guild_config_default();
    config.fold = gh_fold_utf8;
    gh_guild_has* has = GAME_NEW(a, gh_guild_has);
    for (uint32_t joined = 0; joined <= 20; joined += 10)
    {
        gh_guild_change* change = GAME_NEW(a, gh_guild_change);
        if (joined > 0)
        {
            assert_status(gh_guild_join_begin(change, a_guild(a->client, GUILD, &config), members, joined), GH_OK);
            assert_status(settle(change), GH_OK);
        }
        assert_status(gh_guild_has_begin(has, a_guild(a->client, GUILD, &config), members, 20), GH_OK);
        GAME_UNTIL(gh_op_poll(&has->op) != GH_PENDING);
        assert_status(gh_op_poll(&has->op), GH_OK);
        assert_int_equal(has->found, joined);
        for (uint32_t i = 0; i < 20; i++) assert_status(members[i].status, i < joined ? GH_OK : GH_NOT_MEMBER);
    }
    redis_server_do(server, "SET " MEMBERS " x");
    assert_status(gh_guild_has_begin(has, a_guild(a->client, GUILD, &config), members, 20), GH_OK);
    GAME_UNTIL(gh_op_poll(&has->op) != GH_PENDING);
    assert_status(gh_op_poll(&has->op), GH_CORRUPT);
}

static void foreign_keys_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    searcher* self = searcher_new(a);
    gh_guild_size* size = GAME_NEW(a, gh_guild_size);
    char shelf[64];
    snprintf(shelf, sizeof(shelf), "gh:{guild:knights}:w%02x", (unsigned)(gh_client_id(a->client) >> 56));
    for (int i = 0; i < 3; i++)
    {
        redis_server_do(server, "FLUSHALL");
        if (i < 2) redis_server_do(server, "SET %s x", i == 0 ? MEMBERS : shelf);
        else redis_server_do(server, "HSET %s %016llx nonsense", shelf, (unsigned long long)gh_client_id(a->client));
        assert_status(change_one(a, "mia", false, 100), GH_CORRUPT);
        assert_status(change_one(a, "mia", true, 100), GH_CORRUPT);
        assert_int_equal(redis_server_keys(server), 1); /* nothing was written */
    }
    redis_server_do(server, "SET " MEMBERS " x");
    assert_status(complete(a, self, ""), GH_CORRUPT);
    assert_status(gh_guild_size_begin(size, a_guild(a->client, GUILD, NULL)), GH_OK);
    GAME_UNTIL(gh_op_poll(&size->op) != GH_PENDING);
    assert_status(gh_op_poll(&size->op), GH_CORRUPT);
    char longest[GH_NAME_SIZE_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    const gh_str plants[] = {{"a\0b", 3},     {"", 0}, {"\0\0", 2}, {longest, GH_NAME_SIZE_MAX + 1},
                             {"a\0\0b\0", 5}, {"x", 1}};
    for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
    {
        redis_server_do(server, "DEL " MEMBERS);
        redis_server_do(server, "ZADD " MEMBERS " 0 %b", plants[i].bytes, plants[i].size);
        assert_status(complete(a, self, ""), i == 5 ? GH_OK : GH_CORRUPT); /* a plain name will do */
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

TEST_FILE(guild_store, cmocka_unit_test(capacity_is_looked_at_in_the_same_step),
          cmocka_unit_test(who_was_no_member_does_not_count_as_one_who_left),
          cmocka_unit_test(members_are_the_fold_of_the_histories), cmocka_unit_test(reads_write_nothing),
          cmocka_unit_test(reader_needs_no_right_to_write),
          cmocka_unit_test(pages_stay_right_while_members_come_and_go),
          cmocka_unit_test(repeats_and_zombies_change_nothing), cmocka_unit_test(writers_know_no_bound),
          cmocka_unit_test(changes_of_one_tick_keep_their_order), cmocka_unit_test(has_finds_what_joined),
          cmocka_unit_test(foreign_keys_are_corrupt));
