/* What ops on a guild are begun on: a value, made once; what is wrong with it is told by its init and by each begin. */

#include "support/scene/social.h"
#include "support/server/redis_server.h"

#include <string.h>

#define GUILD gh_str_literal("knights")

/* One of each op, with all that they borrow. */
typedef struct bag
{
    gh_guild_change join;
    gh_guild_change leave;
    gh_guild_search complete;
    gh_guild_search next;
    gh_guild_has has;
    gh_guild_size size;
    gh_guild_member members[4];
    gh_guild_search_config want;
    _Alignas(8) char page[GH_GUILD_BUFFER_SIZE(10)];
} bag;

enum
{
    OPS = 6
};

static bag* bag_new(game* from)
{
    bag* self = GAME_NEW(from, bag);
    for (int i = 0; i < 4; i++) self->members[i].name = gh_str_literal("mia");
    self->want = gh_guild_search_config_default();
    self->want.buffer = self->page;
    self->want.buffer_size = sizeof(self->page);
    return self;
}

static gh_op* op_of(bag* self, int which)
{
    gh_op* const ops[OPS] = {&self->join.op, &self->leave.op, &self->complete.op,
                             &self->next.op, &self->has.op,   &self->size.op};
    return ops[which];
}

static gh_status begin(bag* self, int which, const gh_guild* guild)
{
    switch (which)
    {
    case 0: return gh_guild_join_begin(&self->join, guild, &self->members[0], 1);
    case 1: return gh_guild_leave_begin(&self->leave, guild, &self->members[1], 1);
    case 2: return gh_guild_complete_begin(&self->complete, guild, gh_str_literal("m"), &self->want);
    case 3: return gh_guild_next_begin(&self->next, guild);
    case 4: return gh_guild_has_begin(&self->has, guild, &self->members[2], 1);
    default: return gh_guild_size_begin(&self->size, guild);
    }
}

/* Each begin ends its op so, which comes out of the queue of the client, if there is one. */
static void assert_each_begin_is(game* a, const gh_guild* guild, gh_status expected, bool queued)
{
    bag* self = bag_new(a);
    uint64_t begun = game_stats(a).ops_begun;
    for (int i = 0; i < OPS; i++)
    {
        gh_op* op = op_of(self, i);
        op->tag = 7;
        op->user = self;
        assert_status(begin(self, i, guild), expected);
        assert_status(gh_op_poll(op), expected);
        assert_false(gh_op_is_busy(op));
        assert_ptr_equal(op->user, self);
        game_tick(a);
        assert_ptr_equal(gh_client_next(a->client), queued ? op : NULL);
        assert_null(gh_client_next(a->client));
    }
    assert_int_equal(game_stats(a).ops_begun, begun);
    assert_status(self->members[0].status, GH_OK); /* as it was: nothing was begun */
}

/* Init says it, and whoever passes that over hears it from each begin. */
static void assert_refused(game* a, gh_str name, const gh_guild_config* config, gh_status expected)
{
    gh_guild guild;
    memset(&guild, '!', sizeof(guild));
    assert_status(gh_guild_init(&guild, a->client, name, config), expected);
    assert_each_begin_is(a, &guild, expected, true);
}

static void wrong_field_is_told_by_init_and_by_each_begin(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    char longest[GH_NAME_SIZE_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    const gh_str names[] = {{"", 0}, {NULL, 1}, {longest, sizeof(longest)}, {longest, SIZE_MAX}};
    for (int i = 0; i < 4; i++) assert_refused(a, names[i], NULL, GH_INVALID_NAME);
    gh_guild_config config = gh_guild_config_default();
    assert_int_equal(config.capacity, 5000);
    assert_int_equal(config.timeout_us, 5 * SECOND_US);
    assert_true(config.fold == gh_fold_ascii);
    const uint32_t capacities[] = {0, GH_GUILD_CAPACITY_MAX + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++)
    {
        config.capacity = capacities[i];
        assert_refused(a, GUILD, &config, GH_INVALID_GUILD_CAPACITY);
    }
    config = gh_guild_config_default();
    const uint64_t timeouts[] = {0, 999, 60 * SECOND_US + 1, UINT64_MAX};
    for (int i = 0; i < 4; i++)
    {
        config.timeout_us = timeouts[i];
        assert_refused(a, GUILD, &config, GH_INVALID_TIMEOUT);
    }
    config = gh_guild_config_default();
    config.struct_size--;
    assert_refused(a, GUILD, &config, GH_INVALID_CONFIG);
    config = gh_guild_config_default();
    config.capacity = GH_GUILD_CAPACITY_MAX;
    config.timeout_us = 1000;
    gh_guild guild;
    assert_status(gh_guild_init(&guild, a->client, gh_str_make(longest, GH_NAME_SIZE_MAX), &config), GH_OK);
}

static void guild_that_is_none_is_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_guild guild;
    assert_status(gh_guild_init(NULL, a->client, GUILD, NULL), GH_INVALID_OBJECT);
    assert_each_begin_is(a, NULL, GH_INVALID_OBJECT, false);
    memset(&guild, 0, sizeof(guild));
    assert_each_begin_is(a, &guild, GH_INVALID_OBJECT, false);
    assert_status(gh_guild_init(&guild, NULL, GUILD, NULL), GH_INVALID_CLIENT);
    assert_each_begin_is(a, &guild, GH_INVALID_CLIENT, false);
}

/* What was good once, and lost its client. */
static void guild_outlives_its_client(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_guild guild;
    assert_status(gh_guild_init(&guild, b->client, GUILD, NULL), GH_OK);
    gh_client_shutdown(b->client);
    b->asleep = true;
    assert_each_begin_is(a, &guild, GH_INVALID_CLIENT, false);
    assert_status(gh_guild_init(&guild, b->client, GUILD, NULL), GH_INVALID_CLIENT);
    assert_status(gh_guild_init(&guild, a->client, GUILD, NULL), GH_OK);
    gh_guild_size* size = GAME_NEW(a, gh_guild_size);
    assert_status(gh_guild_size_begin(size, &guild), GH_OK);
    GAME_UNTIL(gh_op_poll(&size->op) != GH_PENDING);
    assert_status(gh_op_poll(&size->op), GH_OK);
}

static gh_status settle(gh_op* op)
{
    GAME_UNTIL(gh_op_poll(op) != GH_PENDING);
    return gh_op_poll(op);
}

/* A copy serves as well, and what becomes of either after a begin is no matter to the op, busy as it is. */
static void guild_is_a_value(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    bag* self = bag_new(a);
    gh_guild_config config = gh_guild_config_default();
    gh_guild first;
    gh_guild second;
    config.capacity = 1;
    config.fold = gh_fold_utf8;
    assert_status(gh_guild_init(&first, a->client, GUILD, &config), GH_OK);
    memset(&config, '!', sizeof(config)); /* copied too */
    second = first;
    memset(&first, '!', sizeof(first));
    self->members[0].name = gh_str_literal("\xc3\x84GIR"); /* folds to small letters */
    self->members[1].name = gh_str_literal("nobody");
    self->members[2].name = self->members[0].name;
    for (int i = 0; i < OPS; i++)
    {
        gh_guild moved = second;
        if (i == 3) continue; /* there is no page yet */
        assert_status(begin(self, i, &moved), GH_OK);
        memset(&moved, '!', sizeof(moved));
        assert_status(settle(op_of(self, i)), i == 2 ? GH_EMPTY : GH_OK);
    }
    assert_status(self->members[1].status, GH_NOT_MEMBER);
    assert_status(self->members[2].status, GH_OK); /* by the same fold */
    assert_int_equal(self->size.size, 1);
    assert_int_equal(redis_server_integer(server, "ZCARD gh:{guild:knights}:m"), 1);
    first = second;
    assert_status(gh_guild_complete_begin(&self->complete, &first, gh_str_literal("\xc3\xa4"), &self->want), GH_OK);
    assert_status(gh_guild_join_begin(&self->join, &first, &self->members[3], 1), GH_OK);
    memset(&first, '!', sizeof(first));
    assert_status(settle(&self->complete.op), GH_OK);
    assert_status(settle(&self->join.op), GH_FULL); /* the capacity was copied, too */
}

/* A page belongs to the guild that it was begun on. */
static void next_page_of_another_guild_is_refused(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    bag* self = bag_new(a);
    assert_status(begin(self, 0, a_guild(a->client, GUILD, NULL)), GH_OK);
    assert_status(settle(&self->join.op), GH_OK);
    assert_status(begin(self, 2, a_guild(a->client, GUILD, NULL)), GH_OK);
    assert_status(settle(&self->complete.op), GH_OK);
    assert_status(gh_guild_next_begin(&self->complete, a_guild(a->client, gh_str_literal("monks"), NULL)),
                  GH_INVALID_GUILD_CURSOR);
    assert_status(gh_guild_next_begin(&self->complete, a_guild(a->client, GUILD, NULL)), GH_OK);
    assert_status(settle(&self->complete.op), GH_EMPTY);
    assert_status(gh_guild_next_begin(&self->complete, a_guild(a->client, GUILD, NULL)), GH_INVALID_GUILD_CURSOR);
}

TEST_FILE(guild_object, cmocka_unit_test(wrong_field_is_told_by_init_and_by_each_begin),
          cmocka_unit_test(guild_that_is_none_is_told), cmocka_unit_test(guild_outlives_its_client),
          cmocka_unit_test(guild_is_a_value), cmocka_unit_test(next_page_of_another_guild_is_refused));
