/* Bad input for every function of guildhall/guild.h: its own status each, and nothing is changed. */

#include "support/scene/social.h"
#include "support/server/redis_server.h"

#include <string.h>

#define GUILD gh_str_literal("knights")

static void assert_change_refused(game* a, gh_guild_change* change, gh_guild_member* members, size_t count,
                                  gh_status expected)
{
    gh_guild_change before = *change;
    uint64_t begun = game_stats(a).ops_begun;
    assert_status(gh_guild_join_begin(change, a_guild(a->client, GUILD, NULL), members, count), expected);
    assert_status(gh_guild_leave_begin(change, a_guild(a->client, GUILD, NULL), members, count), expected);
    assert_begin_refused(change, &before, expected);
    assert_int_equal(game_stats(a).ops_begun, begun);
}

static void changes_name_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_guild_change* change = GAME_NEW(a, gh_guild_change);
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, GH_GUILD_MEMBERS_MAX + 1);
    char longest[GH_NAME_SIZE_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    for (int i = 0; i <= GH_GUILD_MEMBERS_MAX; i++) members[i].name = gh_str_literal("mia");
    assert_true(sizeof(*change) <= 384 && sizeof(gh_guild_search) <= 384 && sizeof(gh_guild_size) <= 384);

    assert_status(gh_guild_join_begin(NULL, a_guild(a->client, GUILD, NULL), members, 1), GH_INVALID_OP);
    assert_status(gh_guild_leave_begin(NULL, a_guild(a->client, GUILD, NULL), members, 1), GH_INVALID_OP);
    assert_change_refused(a, change, NULL, 1, GH_INVALID_MEMBERS);
    assert_change_refused(a, change, members, 0, GH_INVALID_MEMBERS);
    assert_change_refused(a, change, members, GH_GUILD_MEMBERS_MAX + 1, GH_INVALID_MEMBERS);
    assert_change_refused(a, change, members, SIZE_MAX, GH_INVALID_MEMBERS);
    const gh_str names[] = {{"", 0}, {NULL, 2}, {longest, sizeof(longest)}, {longest, SIZE_MAX}};
    for (int i = 0; i < 4; i++)
    {
        members[1].name = names[i];
        assert_change_refused(a, change, members, 2, GH_INVALID_MEMBERS);
    }
    members[1].name = gh_str_literal("bob");
    for (int i = 1; i < 4; i++)
    {
        members[1].id = names[i];
        assert_change_refused(a, change, members, 2, GH_INVALID_MEMBERS);
    }
    members[1].id = gh_str_make(longest, GH_NAME_SIZE_MAX);
    assert_status(gh_guild_join_begin(change, a_guild(a->client, GUILD, NULL), members, GH_GUILD_MEMBERS_MAX), GH_OK);
    assert_change_refused(a, change, members, 1, GH_INVALID_OP);
    gh_op_cancel(&change->op);
    assert_status(gh_op_poll(&change->op), GH_CANCELLED);
    gh_op_cancel(&change->op);
}

/* What cannot fit the out buffer is refused at once. */
static void too_many_members_for_the_out_buffer(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config small = game_config(redis_server_address(server));
    small.out_bytes = 16 * 1024;
    game* a = game_start_with(&small);
    gh_guild_change* change = GAME_NEW(a, gh_guild_change);
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, GH_GUILD_MEMBERS_MAX);
    static char names[GH_GUILD_MEMBERS_MAX][GH_NAME_SIZE_MAX];
    size_t accepted = 0;
    for (int i = 0; i < GH_GUILD_MEMBERS_MAX; i++)
    {
        memset(names[i], 'A' + i, sizeof(names[i]));
        members[i].name = members[i].id = gh_str_make(names[i], sizeof(names[i]));
    }
    for (size_t count = GH_GUILD_MEMBERS_MAX; count > 0 && accepted == 0; count--)
    {
        gh_status status = gh_guild_join_begin(change, a_guild(a->client, GUILD, NULL), members, count);
        assert_true(status == GH_TOO_LARGE || status == GH_OK);
        if (status == GH_OK) accepted = count;
    }
    assert_in_range(accepted, 30, GH_GUILD_MEMBERS_MAX - 1);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    assert_status(gh_op_poll(&change->op), GH_OK);
    assert_int_equal(change->size, accepted);
}

static void searches_name_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_guild_search* search = GAME_NEW(a, gh_guild_search);
    const gh_guild* guild = a_guild(a->client, GUILD, NULL);
    gh_guild_search_config config = gh_guild_search_config_default();
    static _Alignas(8) char buffer[GH_GUILD_BUFFER_SIZE(10) + 8];
    char longest[GH_GUILD_CURSOR_SIZE_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    assert_status(gh_op_poll(&search->op), GH_IDLE);
    assert_status(gh_guild_next_begin(search, guild), GH_INVALID_GUILD_CURSOR);
    assert_status(gh_guild_next_begin(NULL, guild), GH_INVALID_OP);
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), NULL), GH_INVALID_CONFIG);
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_BUFFER);
    config.buffer = buffer;
    const size_t sizes[] = {0, 1, GH_GUILD_BUFFER_SIZE(10) - 1};
    for (int i = 0; i < 3; i++)
    {
        config.buffer_size = sizes[i];
        assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_BUFFER);
    }
    config.buffer_size = GH_GUILD_BUFFER_SIZE(10);
    for (int off = 1; off < 8; off++)
    {
        config.buffer = buffer + off;
        assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_BUFFER);
    }
    config.buffer = buffer;
    const uint32_t limits[] = {0, GH_GUILD_LIMIT_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++)
    {
        config.limit = limits[i];
        assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_LIMIT);
    }
    config.limit = 11; /* of a buffer for ten */
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_BUFFER);
    config.limit = 10;
    config.struct_size--;
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_CONFIG);
    config.struct_size++;
    config.after = gh_str_make(longest, sizeof(longest));
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_GUILD_CURSOR);
    config.after = gh_str_make(NULL, 3);
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_GUILD_CURSOR);
    config.after = gh_str_make(NULL, 0);
    assert_status(gh_guild_complete_begin(NULL, guild, gh_str_literal("j"), &config), GH_INVALID_OP);
    const gh_str prefixes[] = {{NULL, 1}, {longest, GH_NAME_SIZE_MAX + 1}, {longest, SIZE_MAX}};
    for (int i = 0; i < 3; i++)
        assert_status(gh_guild_complete_begin(search, guild, prefixes[i], &config), GH_INVALID_GUILD_PREFIX);
    assert_int_equal(game_stats(a).ops_begun, 0);
    assert_status(gh_guild_complete_begin(search, guild, gh_str_make(longest, GH_NAME_SIZE_MAX), &config), GH_OK);
    assert_status(gh_guild_complete_begin(search, guild, gh_str_literal("j"), &config), GH_INVALID_OP);
    assert_status(gh_guild_next_begin(search, guild), GH_INVALID_OP);
    GAME_UNTIL(gh_op_poll(&search->op) != GH_PENDING);
    assert_status(gh_op_poll(&search->op), GH_EMPTY);
    gh_op_cancel(&search->op);
    assert_status(gh_op_poll(&search->op), GH_EMPTY);
}

static void size_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_guild_size* size = GAME_NEW(a, gh_guild_size);
    const gh_guild* guild = a_guild(a->client, GUILD, NULL);
    assert_status(gh_guild_size_begin(NULL, guild), GH_INVALID_OP);
    assert_status(gh_guild_size_begin(size, guild), GH_OK);
    assert_status(gh_guild_size_begin(size, guild), GH_INVALID_OP);
    gh_op_cancel(&size->op);
    assert_status(gh_op_poll(&size->op), GH_CANCELLED);
}

static void has_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_guild_has* has = GAME_NEW(a, gh_guild_has);
    gh_guild_member* members = GAME_NEW_ARRAY(a, gh_guild_member, GH_GUILD_MEMBERS_MAX + 1);
    for (int i = 0; i <= GH_GUILD_MEMBERS_MAX; i++) members[i].name = gh_str_literal("mia");
    const gh_guild* guild = a_guild(a->client, GUILD, NULL);
    assert_true(sizeof(*has) <= 384);
    assert_status(gh_guild_has_begin(NULL, guild, members, 1), GH_INVALID_OP);
    assert_status(gh_guild_has_begin(has, guild, NULL, 1), GH_INVALID_MEMBERS);
    assert_status(gh_guild_has_begin(has, guild, members, 0), GH_INVALID_MEMBERS);
    assert_status(gh_guild_has_begin(has, guild, members, GH_GUILD_MEMBERS_MAX + 1), GH_INVALID_MEMBERS);
    members[2].name = gh_str_literal("");
    assert_status(gh_guild_has_begin(has, guild, members, 3), GH_INVALID_MEMBERS);
    assert_status(gh_guild_has_begin(has, guild, members, 1), GH_OK);
    assert_status(members[0].status, GH_PENDING);
    assert_status(gh_guild_has_begin(has, guild, members, 1), GH_INVALID_OP);
    gh_op_cancel(&has->op);
    assert_status(gh_op_poll(&has->op), GH_CANCELLED);
}

TEST_FILE(guild_input, cmocka_unit_test(changes_name_the_field), cmocka_unit_test(too_many_members_for_the_out_buffer),
          cmocka_unit_test(searches_name_the_field), cmocka_unit_test(size_names_the_field),
          cmocka_unit_test(has_names_the_field));
