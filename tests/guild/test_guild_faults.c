/* Every fault of support/fault.h over every operation of the guild. The store is audited by the layout of KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <string.h>

#define PAGE 100 /* more than one reply of a default client can take */

/* A name that is its own folded form: two zero bytes behind it. */
static bool is_member(fault_scene* scene, const char* name)
{
    char member[32];
    size_t size = (size_t)snprintf(member, sizeof(member), "%s", name) + 2;
    member[size - 1] = 0;
    return redis_server_text(scene->server, "ZSCORE gh:{guild:%s}:m %b", scene->name, member, size) != NULL;
}

static void plant(fault_scene* scene, const char* name)
{
    char member[32];
    size_t size = (size_t)snprintf(member, sizeof(member), "%s", name) + 2;
    member[size - 1] = 0;
    redis_server_do(scene->server, "ZADD gh:{guild:%s}:m 0 %b", scene->name, member, size);
}

static void prepare(fault_scene* scene)
{
    plant(scene, "jack");
    plant(scene, "jeff");
}

/* The opposite, by another server: nothing that was sent before may come behind it. */
static void undo(fault_scene* scene, const char* name, bool leave)
{
    gh_guild_change* change = GAME_NEW(scene->other, gh_guild_change);
    gh_guild_member* member = GAME_NEW(scene->other, gh_guild_member);
    member->name = gh_str_of(name);
    assert_status(leave
                      ? gh_guild_leave_begin(change, a_guild(scene->other->client, fault_name(scene), NULL), member, 1)
                      : gh_guild_join_begin(change, a_guild(scene->other->client, fault_name(scene), NULL), member, 1),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    assert_int_equal(is_member(scene, name), !leave);
}

/* ---- join: two, one of them with the last free place ------------------------------------------------------------- */

static void begin_join(fault_scene* scene)
{
    gh_guild_member* members = scene->more;
    gh_guild_config config = gh_guild_config_default();
    config.capacity = 4;
    members[0].name = gh_str_literal("jack");
    members[1].name = gh_str_literal("jenny");
    members[2].name = gh_str_literal("jim");
    assert_status(gh_guild_join_begin(scene->op, a_guild(scene->game->client, fault_name(scene), &config), members, 3),
                  GH_OK);
}

static void audit_join(fault_scene* scene, gh_status status)
{
    const gh_guild_member* members = scene->more;
    const gh_guild_change* change = scene->op;
    bool done = is_member(scene, "jenny");
    assert_int_equal(is_member(scene, "jim"), done);
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{guild:%s}:m", scene->name), done ? 4 : 2);
    if (status == GH_OK)
    {
        assert_true(done);
        assert_int_equal(change->size, 4);
        assert_status(members[0].status, GH_EXISTS);
        assert_status(members[1].status, GH_OK);
        assert_status(members[2].status, GH_OK); /* a repeat is told what the first was, though they are members now */
    }
    undo(scene, "jenny", true);
}

static const fault_operation join = {"join",
                                     sizeof(gh_guild_change),
                                     3 * sizeof(gh_guild_member),
                                     3,
                                     prepare,
                                     begin_join,
                                     fault_poll_op,
                                     NULL,
                                     fault_cancel_op,
                                     audit_join};

/* ---- leave ------------------------------------------------------------------------------------------------------- */

static void begin_leave(fault_scene* scene)
{
    gh_guild_member* members = scene->more;
    members[0].name = gh_str_literal("jeff");
    members[1].name = gh_str_literal("nobody");
    assert_status(gh_guild_leave_begin(scene->op, a_guild(scene->game->client, fault_name(scene), NULL), members, 2),
                  GH_OK);
}

static void audit_leave(fault_scene* scene, gh_status status)
{
    const gh_guild_member* members = scene->more;
    assert_true(is_member(scene, "jack"));
    if (status == GH_OK)
    {
        assert_false(is_member(scene, "jeff"));
        assert_status(members[0].status, GH_OK);
        assert_status(members[1].status, GH_NOT_MEMBER);
    }
    undo(scene, "jeff", false);
}

static const fault_operation leave = {"leave",
                                      sizeof(gh_guild_change),
                                      2 * sizeof(gh_guild_member),
                                      2,
                                      prepare,
                                      begin_leave,
                                      fault_poll_op,
                                      NULL,
                                      fault_cancel_op,
                                      audit_leave};

/* ---- complete ---------------------------------------------------------------------------------------------------- */

typedef struct page
{
    _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(PAGE)];
} page;

static void begin_search(fault_scene* scene)
{
    gh_guild_search_config config = gh_guild_search_config_default();
    page* memory = scene->more;
    config.buffer = memory->buffer;
    config.buffer_size = sizeof(memory->buffer);
    config.limit = PAGE;
    assert_status(gh_guild_complete_begin(scene->op, a_guild(scene->game->client, fault_name(scene), NULL),
                                          gh_str_literal("j"), &config),
                  GH_OK);
}

static void audit_search(fault_scene* scene, gh_status status)
{
    const gh_guild_search* search = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(search->count, 2);
    assert_true(gh_str_equal(search->hits[0].name, gh_str_literal("jack")));
    assert_true(gh_str_equal(search->hits[1].name, gh_str_literal("jeff")));
    assert_false(search->more);
    assert_int_equal(redis_server_integer(scene->server, "EXISTS gh:{guild:%s}:w", scene->name), 0);
}

static const fault_operation search = {
    "search", sizeof(gh_guild_search), sizeof(page), 2, prepare, begin_search, fault_poll_op,
    NULL,     fault_cancel_op,         audit_search};

/* The same over two requests, each of which can be cut. */
static void prepare_long(fault_scene* scene)
{
    redis_server_do(scene->server, "EVAL %s 1 gh:{guild:%s}:m",
                    "for i = 100, 199 do redis.call('ZADD', KEYS[1], 0, 'j' .. i .. '\\0\\0') end", scene->name);
}

static void audit_long_search(fault_scene* scene, gh_status status)
{
    const gh_guild_search* found = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(found->count, PAGE);
    for (uint32_t i = 0; i < PAGE; i++)
    {
        char name[8];
        snprintf(name, sizeof(name), "j%u", 100 + i);
        assert_true(gh_str_equal(found->hits[i].name, gh_str_of(name)));
    }
}

static const fault_operation long_search = {
    "long", sizeof(gh_guild_search), sizeof(page),     13, prepare_long, begin_search, fault_poll_op,
    NULL,   fault_cancel_op,         audit_long_search};

/* ---- size -------------------------------------------------------------------------------------------------------- */

static void begin_size(fault_scene* scene)
{
    assert_status(gh_guild_size_begin(scene->op, a_guild(scene->game->client, fault_name(scene), NULL)), GH_OK);
}

static void audit_size(fault_scene* scene, gh_status status)
{
    const gh_guild_size* size = scene->op;
    assert_int_equal(size->size, status == GH_OK ? 2 : 0);
}

static const fault_operation count = {"size", sizeof(gh_guild_size), 0,         0, prepare, begin_size, fault_poll_op,
                                      NULL,   fault_cancel_op,       audit_size};

/* ---- has: more than one request of a small client can take ------------------------------------------------------- */

static void begin_has(fault_scene* scene)
{
    gh_guild_member* members = scene->more;
    for (int i = 0; i < GH_GUILD_MEMBERS_MAX; i++)
        members[i].name = i % 2 == 0 ? gh_str_literal("jeff") : gh_str_literal("jenny");
    assert_status(gh_guild_has_begin(scene->op, a_guild(scene->game->client, fault_name(scene), NULL), members,
                                     GH_GUILD_MEMBERS_MAX),
                  GH_OK);
}

static void audit_has(fault_scene* scene, gh_status status)
{
    const gh_guild_has* has = scene->op;
    const gh_guild_member* members = scene->more;
    if (status != GH_OK) return;
    assert_int_equal(has->found, GH_GUILD_MEMBERS_MAX / 2);
    for (int i = 0; i < GH_GUILD_MEMBERS_MAX; i++) assert_status(members[i].status, i % 2 == 0 ? GH_OK : GH_NOT_MEMBER);
}

static const fault_operation has = {"has",
                                    sizeof(gh_guild_has),
                                    sizeof(gh_guild_member[GH_GUILD_MEMBERS_MAX]),
                                    0,
                                    prepare,
                                    begin_has,
                                    fault_poll_op,
                                    NULL,
                                    fault_cancel_op,
                                    audit_has};

/* A search and a count are plain commands, not scripts: there is nothing to flush. */
#define READ_TESTS(operation)                                                                                          \
    FAULT_TEST(operation, cut_at_every_byte)                                                                           \
    FAULT_TEST(operation, link_lost_at_every_tick)                                                                     \
    FAULT_TEST(operation, cancelled_at_every_tick)                                                                     \
    FAULT_TEST(operation, server_killed)                                                                               \
    FAULT_TEST(operation, server_frozen)                                                                               \
    FAULT_TEST(operation, small_client)                                                                                \
    FAULT_TEST(operation, one_slot)                                                                                    \
    FAULT_TEST(operation, no_heap)

#define READ_TEST_LIST(operation)                                                                                      \
    cmocka_unit_test(operation##_cut_at_every_byte), cmocka_unit_test(operation##_link_lost_at_every_tick),            \
        cmocka_unit_test(operation##_cancelled_at_every_tick), cmocka_unit_test(operation##_server_killed),            \
        cmocka_unit_test(operation##_server_frozen), cmocka_unit_test(operation##_small_client),                       \
        cmocka_unit_test(operation##_one_slot), cmocka_unit_test(operation##_no_heap)

FAULT_TESTS(join)
FAULT_TESTS(leave)
READ_TESTS(search)
READ_TESTS(long_search)
READ_TESTS(has)
READ_TESTS(count)
FAULT_CANCEL_TEST(join)
FAULT_CANCEL_TEST(leave)

TEST_FILE(guild_faults, FAULT_TEST_LIST(join), FAULT_TEST_LIST(leave), READ_TEST_LIST(search),
          READ_TEST_LIST(long_search), READ_TEST_LIST(has), READ_TEST_LIST(count), FAULT_CANCEL_TEST_LIST(join),
          FAULT_CANCEL_TEST_LIST(leave));
