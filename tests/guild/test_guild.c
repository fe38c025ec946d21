/* Tests of guildhall/guild.h against real servers: members, completion, pages. */

#include "support/scene/game.h"
#include "support/server/redis_server.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUILD     gh_str_literal("knights")
#define MEMBERS   "gh:{guild:knights}:m"
#define LIMIT_MAX 200

/* Everything that somebody who searches needs. */
typedef struct searcher
{
    gh_guild_search search;
    gh_guild_search_config config;
    gh_guild_config guild;
    _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(LIMIT_MAX)];
    char text[8192];
} searcher;

static searcher* searcher_new(game* from)
{
    searcher* self = GAME_NEW(from, searcher);
    self->guild = gh_guild_config_default();
    self->config = gh_guild_search_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    return self;
}

static gh_status settle_search(searcher* self)
{
    GAME_UNTIL(gh_op_poll(&self->search.op) != GH_PENDING);
    return gh_op_poll(&self->search.op);
}

/* The hits with blanks between them, and "+" behind them if there are more. */
static const char* hits(searcher* self)
{
    self->text[0] = 0;
    for (uint32_t i = 0; i < self->search.count; i++)
    {
        const gh_guild_hit* hit = &self->search.hits[i];
        size_t size = strlen(self->text);
        snprintf(self->text + size, sizeof(self->text) - size, "%s%.*s%s%.*s", i == 0 ? "" : " ", (int)hit->name.size,
                 hit->name.bytes, hit->id.size > 0 ? "#" : "", (int)hit->id.size, hit->id.bytes);
    }
    if (self->search.more) strcat(self->text, " +");
    return self->text;
}

static const char* completed(game* from, searcher* self, gh_str prefix)
{
    assert_status(
        gh_guild_complete_begin(&self->search, a_guild(from->client, GUILD, &self->guild), prefix, &self->config),
        GH_OK);
    gh_status status = settle_search(self);
    assert_status(status, self->search.count > 0 ? GH_OK : GH_EMPTY);
    return hits(self);
}

static const char* next_page(game* from, searcher* self)
{
    assert_status(gh_guild_next_begin(&self->search, a_guild(from->client, GUILD, NULL)), GH_OK);
    gh_status status = settle_search(self);
    assert_status(status, self->search.count > 0 ? GH_OK : GH_EMPTY);
    return hits(self);
}

static gh_status change_members(game* from, gh_guild_member* members, size_t count, bool leave, uint32_t capacity,
                                gh_fold fold, uint32_t* size)
{
    gh_guild_change* change = GAME_NEW(from, gh_guild_change);
    gh_guild_config config = gh_guild_config_default();
    config.capacity = capacity;
    config.fold = fold;
    const gh_guild* guild = a_guild(from->client, GUILD, &config);
    gh_status status = leave ? gh_guild_leave_begin(change, guild, members, count)
                             : gh_guild_join_begin(change, guild, members, count);
    assert_status(status, GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    if (size != NULL) *size = change->size;
    return gh_op_poll(&change->op);
}

/* One member; the status is that of the member. */
static gh_status change_one(game* from, const char* name, const char* id, bool leave)
{
    gh_guild_member* member = GAME_NEW(from, gh_guild_member);
    member->name = gh_str_of(name);
    member->id = gh_str_of(id);
    assert_status(change_members(from, member, 1, leave, 1000, gh_fold_ascii, NULL), GH_OK);
    return member->status;
}

static void join_all(game* from, const char* const* names, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_status(change_one(from, names[i], NULL, false), GH_OK);
}

/* prefix0000, prefix0001, ... */
static void join_numbered(game* from, const char* prefix, unsigned count)
{
    gh_guild_member* members = GAME_NEW_ARRAY(from, gh_guild_member, GH_GUILD_MEMBERS_MAX);
    char(*texts)[24] = game_new(from, 24 * GH_GUILD_MEMBERS_MAX);
    for (unsigned done = 0; done < count;)
    {
        unsigned part = 0;
        for (; part < GH_GUILD_MEMBERS_MAX && done < count; part++, done++)
            members[part].name = gh_str_make(texts[part], (size_t)snprintf(texts[part], 24, "%s%04u", prefix, done));
        assert_status(change_members(from, members, part, false, GH_GUILD_CAPACITY_MAX, gh_fold_ascii, NULL), GH_OK);
    }
}

/* ---- the ordinary way ----------------------------------------------------------------------------------------- */

/* Four members, three of them begin with je, and two when one has left. */
static void members_are_found_by_their_beginnings_while_they_are_in(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    static const char* const names[] = {"jeff", "jenny", "jack", "jennifer"};
    assert_string_equal(completed(a, self, gh_str_literal("je")), "");
    join_all(a, names, 4);
    assert_string_equal(completed(a, self, gh_str_literal("je")), "jeff jennifer jenny");
    assert_status(change_one(a, "jeff", NULL, true), GH_OK);
    assert_string_equal(completed(a, self, gh_str_literal("je")), "jennifer jenny");
}

static void display_form_is_kept_and_the_fold_is_searched(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    static const char* const names[] = {"JEFF", "jeff", "Jenny", "_x", "42", "Jörg"};
    join_all(a, names, 6);
    assert_string_equal(completed(a, self, gh_str_literal("J")), "jeff JEFF Jenny Jörg");
    assert_string_equal(completed(a, self, gh_str_literal("jEF")), "jeff JEFF");
    assert_string_equal(completed(a, self, gh_str_literal("")), "42 _x jeff JEFF Jenny Jörg");
    assert_status(change_one(a, "Jeff", NULL, true), GH_NOT_MEMBER); /* another player */
    assert_status(change_one(a, "JEFF", NULL, true), GH_OK);
    assert_string_equal(completed(a, self, gh_str_literal("jeff")), "jeff");
    gh_guild_member* member = GAME_NEW(a, gh_guild_member);
    member->name = gh_str_literal("ÄGIR");
    assert_status(change_members(a, member, 1, false, 1000, gh_fold_utf8, NULL), GH_OK);
    self->guild.fold = gh_fold_utf8;
    assert_string_equal(completed(a, self, gh_str_literal("ä")), "ÄGIR");
    assert_string_equal(completed(a, self, gh_str_literal("Äg")), "ÄGIR");
    self->guild.fold = NULL;
    assert_string_equal(completed(a, self, gh_str_literal("Ä")), "");
}

static void id_comes_back_with_the_hit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    assert_status(change_one(a, "Jenny", "1001", false), GH_OK);
    assert_status(change_one(a, "Jenny", "1000", false), GH_OK);
    assert_status(change_one(a, "jenny", "7", false), GH_OK);
    assert_status(change_one(a, "Jenny", "1001", false), GH_EXISTS);
    assert_status(change_one(a, "Jenny", NULL, true), GH_NOT_MEMBER);
    assert_string_equal(completed(a, self, gh_str_literal("jenn")), "jenny#7 Jenny#1000 Jenny#1001");
    assert_status(change_one(a, "Jenny", "1000", true), GH_OK);
    assert_string_equal(completed(a, self, gh_str_literal("jenn")), "jenny#7 Jenny#1001");
}

/* ---- any byte --------------------------------------------------------------------------------------------------- */

/* The naive way knows a to z: digits, capitals, signs and other scripts fall out of its ranges, names with
   a brace are dropped. */
static void every_byte_can_be_completed(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    char(*names)[2] = game_new(a, 512);
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, 256);
    self->guild.fold = NULL;
    for (int i = 0; i < 256; i++)
    {
        names[i][0] = (char)i;
        names[i][1] = (char)(255 - i);
        members[i].name = gh_str_make(names[i], 2);
    }
    for (int i = 0; i < 256; i += 64) assert_status(change_members(a, members + i, 64, false, 1000, NULL, NULL), GH_OK);
    for (int i = 0; i < 256; i++)
    {
        for (size_t size = 1; size <= 2; size++)
        {
            completed(a, self, gh_str_make(names[i], size));
            assert_int_equal(self->search.count, 1);
            assert_false(self->search.more);
            assert_true(gh_str_equal(self->search.hits[0].name, members[i].name));
        }
    }
    self->config.limit = LIMIT_MAX;
    completed(a, self, gh_str_literal(""));
    assert_int_equal(self->search.count, LIMIT_MAX);
    for (int i = 0; i < LIMIT_MAX; i++) assert_true(gh_str_equal(self->search.hits[i].name, members[i].name));
}

/* Zero bytes and 255s at the ends, where the next string is not one byte away. */
static void prefixes_end_in_any_byte(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    static const gh_str names[] = {
        {"a", 1},         {"a\0", 2},    {"a\0\0", 3}, {"a\0\xff", 3},  {"a\x01", 2},        {"a\xff", 2},
        {"a\xff\xff", 3}, {"b", 1},      {"\xff", 1},  {"\xff\xff", 2}, {"\xff\xff\xff", 3}, {"\0", 1},
        {"\0\0", 2},      {"\0\xff", 2}, {"{", 1}};
    enum
    {
        COUNT = sizeof(names) / sizeof(names[0])
    };
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, COUNT);
    for (int i = 0; i < COUNT; i++)
    {
        members[i].name = names[i];
        members[i].id = i % 2 == 0 ? gh_str_make("\0\xff\0\0", (size_t)(i % 5)) : gh_str_literal("");
    }
    assert_status(change_members(a, members, COUNT, false, 1000, gh_fold_ascii, NULL), GH_OK);
    for (int i = 0; i < COUNT; i++)
    {
        uint32_t expected = 0;
        for (int j = 0; j < COUNT; j++)
            expected += names[j].size >= names[i].size && memcmp(names[j].bytes, names[i].bytes, names[i].size) == 0;
        self->config.limit = 100;
        completed(a, self, names[i]);
        assert_int_equal(self->search.count, expected);
        for (uint32_t at = 0; at < expected; at++)
        {
            const gh_guild_hit* hit = &self->search.hits[at];
            bool known = false;
            for (int j = 0; j < COUNT; j++)
                known = known || (gh_str_equal(hit->name, names[j]) && gh_str_equal(hit->id, members[j].id));
            assert_true(known);
            assert_memory_equal(hit->name.bytes, names[i].bytes, names[i].size);
        }
    }
    assert_status(change_members(a, members, COUNT, true, 1000, gh_fold_ascii, NULL), GH_OK);
    for (int i = 0; i < COUNT; i++) assert_status(members[i].status, GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS " MEMBERS), 0);
}

static void longest_names_fit(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    char zeros[GH_NAME_SIZE_MAX] = {0};
    char grows[GH_NAME_SIZE_MAX];
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, 2);
    for (size_t i = 0; i < sizeof(grows); i += 2) memcpy(grows + i, "Ⱥ", 2);
    members[0].name = gh_str_make(zeros, sizeof(zeros));
    members[0].id = gh_str_make(grows, sizeof(grows));
    members[1].name = gh_str_make(grows, sizeof(grows));
    members[1].id = gh_str_make(zeros, sizeof(zeros));
    assert_status(change_members(a, members, 2, false, 2, gh_fold_utf8, NULL), GH_OK);
    self->guild.fold = gh_fold_utf8;
    self->config.limit = 1;
    for (int i = 0; i < 2; i++)
    {
        completed(a, self, members[i].name);
        assert_int_equal(self->search.count, 1);
        assert_false(self->search.more);
        assert_true(gh_str_equal(self->search.hits[0].name, members[i].name));
        assert_true(gh_str_equal(self->search.hits[0].id, members[i].id));
        assert_true(self->search.cursor.size <= GH_GUILD_CURSOR_SIZE_MAX);
        completed(a, self, gh_str_make(members[i].name.bytes, 1));
        assert_int_equal(self->search.count, i == 0 ? 1 : 0); /* half a character, which its fold does not begin with */
    }
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void limit_is_ten_and_next_goes_on(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    searcher* self = searcher_new(a);
    assert_int_equal(self->config.limit, 10);
    join_numbered(a, "p", 30);
    join_numbered(a, "q", 1);
    assert_string_equal(completed(a, self, gh_str_literal("P")),
                        "p0000 p0001 p0002 p0003 p0004 p0005 p0006 p0007 p0008 p0009 +");
    assert_string_equal(next_page(a, self), "p0010 p0011 p0012 p0013 p0014 p0015 p0016 p0017 p0018 p0019 +");
    assert_status(gh_guild_next_begin(&self->search, NULL), GH_INVALID_OBJECT); /* costs no page */
    assert_string_equal(next_page(a, self), "p0020 p0021 p0022 p0023 p0024 p0025 p0026 p0027 p0028 p0029");
    assert_string_equal(next_page(a, self), "");
    assert_status(gh_guild_next_begin(&self->search, a_guild(a->client, GUILD, NULL)), GH_INVALID_GUILD_CURSOR);
    self->config.limit = 29;
    completed(a, self, gh_str_literal("p"));
    assert_int_equal(self->search.count, 29);
    assert_true(self->search.more);
    self->config.limit = 30;
    completed(a, self, gh_str_literal("p"));
    assert_int_equal(self->search.count, 30);
    assert_false(self->search.more);
}

/* A cursor is bytes: another server can go on with it. Under another prefix it says as much as it can. */
static void cursor_travels(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    game* b = game_start(redis_server_address(server));
    searcher* one = searcher_new(a);
    searcher* two = searcher_new(b);
    char cursor[GH_GUILD_CURSOR_SIZE_MAX];
    join_numbered(a, "p", 8);
    join_numbered(a, "q", 3);
    one->config.limit = 4;
    assert_string_equal(completed(a, one, gh_str_literal("p")), "p0000 p0001 p0002 p0003 +");
    memcpy(cursor, one->search.cursor.bytes, one->search.cursor.size);
    two->config.after = gh_str_make(cursor, one->search.cursor.size);
    assert_string_equal(completed(b, two, gh_str_literal("p")), "p0004 p0005 p0006 p0007");
    assert_string_equal(completed(b, two, gh_str_literal("q")), "q0000 q0001 q0002");
    assert_string_equal(completed(b, two, gh_str_literal("a")), "");
    one->config.after = one->search.cursor; /* in the very buffer that is filled again */
    assert_string_equal(completed(a, one, gh_str_literal("p")), "p0004 p0005 p0006 p0007");
}

/* More hits than one reply can take: the op asks until it has them. */
static void large_pages_take_several_requests(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config small = game_config(redis_server_address(server));
    small.reply_bytes = 16 * 1024;
    small.reply_nodes = 64;
    game* a = game_start_with(&small);
    searcher* self = searcher_new(a);
    char expected[8];
    join_numbered(a, "p", LIMIT_MAX + 1);
    for (uint32_t limit = 1; limit <= LIMIT_MAX; limit += limit < 90 ? 1 : 55)
    {
        self->config.limit = limit;
        completed(a, self, gh_str_literal("p"));
        assert_int_equal(self->search.count, limit);
        assert_true(self->search.more);
        snprintf(expected, sizeof(expected), "p%04u", limit - 1);
        assert_true(gh_str_equal(self->search.hits[limit - 1].name, gh_str_of(expected)));
        assert_true(gh_str_equal(self->search.hits[0].name, gh_str_literal("p0000")));
        snprintf(expected, sizeof(expected), "p%04u", limit);
        self->config.limit = 1;
        next_page(a, self);
        assert_true(gh_str_equal(self->search.hits[0].name, gh_str_of(expected)));
    }
    assert_int_equal(game_stats(a).links_lost, 0);
}

/* For each key-stroke the same op: the older question is taken back. */
static void newer_key_stroke_replaces_the_older(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    searcher* self = searcher_new(a);
    char typed[3] = "";
    static const char* const names[] = {"jack", "jeff", "jenny"};
    join_all(a, names, 3);
    long long before = redis_server_calls(server, "zrange");
    for (size_t i = 0; i < 3; i++) /* one frame */
    {
        typed[i] = "jen"[i];
        gh_op_cancel(&self->search.op);
        assert_status(gh_guild_complete_begin(&self->search, a_guild(a->client, GUILD, NULL), gh_str_make(typed, i + 1),
                                              &self->config),
                      GH_OK);
    }
    memset(typed, 'x', sizeof(typed)); /* a prefix is copied */
    assert_status(settle_search(self), GH_OK);
    assert_string_equal(hits(self), "jenny");
    assert_int_equal(redis_server_calls(server, "zrange") - before, 1);
    assert_status(
        gh_guild_complete_begin(&self->search, a_guild(a->client, GUILD, NULL), gh_str_literal("ja"), &self->config),
        GH_OK);
    game_tick(a); /* it is on the wire */
    gh_op_cancel(&self->search.op);
    assert_status(gh_op_poll(&self->search.op), GH_CANCELLED);
    assert_string_equal(completed(a, self, gh_str_literal("jef")), "jeff");
}

TEST_FILE(guild, cmocka_unit_test(members_are_found_by_their_beginnings_while_they_are_in),
          cmocka_unit_test(display_form_is_kept_and_the_fold_is_searched), cmocka_unit_test(id_comes_back_with_the_hit),
          cmocka_unit_test(every_byte_can_be_completed), cmocka_unit_test(prefixes_end_in_any_byte),
          cmocka_unit_test(longest_names_fit), cmocka_unit_test(limit_is_ten_and_next_goes_on),
          cmocka_unit_test(cursor_travels), cmocka_unit_test(large_pages_take_several_requests),
          cmocka_unit_test(newer_key_stroke_replaces_the_older));
