/* What ops on contacts are begun on, made once, with a mirror or without; and bad input for every function of
   guildhall/contacts.h: its own status each, and nothing is changed. */

#include "support/scene/social.h"
#include "support/server/redis_server.h"

#include <string.h>

#define OWNER gh_str_literal("jason")
#define LIST  "gh:{contacts:jason}:l"

/* One of each op. */
typedef struct bag
{
    gh_contacts_change change[5];
    gh_contacts_load load;
} bag;

enum
{
    OPS = 6
};

static gh_op* op_of(bag* self, int which)
{
    return which < 5 ? &self->change[which].op : &self->load.op;
}

static gh_status begin(bag* self, int which, gh_contacts* contacts)
{
    static const gh_str names[] = {GH_STR_INIT("mia"), GH_STR_INIT("bob")};
    switch (which)
    {
    case 0: return gh_contacts_touch_begin(&self->change[0], contacts, names[0]);
    case 1: return gh_contacts_touch_many_begin(&self->change[1], contacts, names, 2);
    case 2: return gh_contacts_remove_begin(&self->change[2], contacts, names[0]);
    case 3: return gh_contacts_block_begin(&self->change[3], contacts, names[0]);
    case 4: return gh_contacts_unblock_begin(&self->change[4], contacts, names[0]);
    default: return gh_contacts_load_begin(&self->load, contacts, NULL);
    }
}

/* Each begin ends its op so, which comes out of the queue of the client, if there is one. */
static void assert_each_begin_is(game* a, gh_contacts* contacts, gh_status expected, bool queued)
{
    bag* self = GAME_NEW(a, bag);
    uint64_t begun = game_stats(a).ops_begun;
    for (int i = 0; i < OPS; i++)
    {
        gh_op* op = op_of(self, i);
        op->tag = 7;
        op->user = self;
        assert_status(begin(self, i, contacts), expected);
        assert_status(gh_op_poll(op), expected);
        assert_false(gh_op_is_busy(op));
        assert_ptr_equal(op->user, self);
        game_tick(a);
        assert_ptr_equal(gh_client_next(a->client), queued ? op : NULL);
        assert_null(gh_client_next(a->client));
    }
    assert_int_equal(game_stats(a).ops_begun, begun);
}

/* Init says it, and whoever passes that over hears it from each begin. */
static void assert_refused(game* a, gh_str owner, const gh_contacts_config* config, void* memory, size_t size,
                           gh_status expected)
{
    gh_contacts contacts;
    gh_contact found[1];
    memset(&contacts, '!', sizeof(contacts));
    contacts.user = a;
    assert_status(gh_contacts_init(&contacts, a->client, owner, config, memory, size), expected);
    assert_ptr_equal(contacts.user, a);
    assert_int_equal(contacts.count, 0);
    assert_int_equal(gh_contacts_complete(&contacts, gh_str_literal(""), found, 1), 0);
    assert_each_begin_is(a, &contacts, expected, true);
}

static void wrong_field_is_told_by_init_and_by_each_begin(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    size_t size = gh_contacts_memory(NULL);
    char* memory = game_new(a, size + 1);
    char longest[GH_NAME_SIZE_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    const gh_str owners[] = {{"", 0}, {NULL, 1}, {longest, sizeof(longest)}, {longest, SIZE_MAX}};
    for (int i = 0; i < 4; i++) assert_refused(a, owners[i], NULL, memory, size, GH_INVALID_NAME);
    const struct
    {
        uint32_t capacity;
        uint64_t timeout_us, idle_us;
        gh_status expected;
    } rows[] = {
        {0, SECOND_US, 0, GH_INVALID_CONTACTS_CAPACITY},
        {GH_CONTACTS_CAPACITY_MAX + 1, SECOND_US, 0, GH_INVALID_CONTACTS_CAPACITY},
        {UINT32_MAX, SECOND_US, 0, GH_INVALID_CONTACTS_CAPACITY},
        {100, 0, 0, GH_INVALID_TIMEOUT},
        {100, 999, 0, GH_INVALID_TIMEOUT},
        {100, 60 * SECOND_US + 1, 0, GH_INVALID_TIMEOUT},
        {100, SECOND_US, GH_CONTACTS_IDLE_MAX_US + 1, GH_INVALID_CONTACTS_IDLE},
        {100, SECOND_US, UINT64_MAX, GH_INVALID_CONTACTS_IDLE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_contacts_config config = gh_contacts_config_default();
        config.capacity = rows[i].capacity;
        config.timeout_us = rows[i].timeout_us;
        config.idle_us = rows[i].idle_us;
        assert_refused(a, OWNER, &config, memory, size, rows[i].expected);
        assert_refused(a, OWNER, &config, NULL, 0, rows[i].expected);
    }
    gh_contacts_config skipped;
    memset(&skipped, 0, sizeof(skipped));
    assert_refused(a, OWNER, &skipped, memory, size, GH_INVALID_CONFIG);
    assert_refused(a, OWNER, NULL, memory, size - 1, GH_INVALID_MEMORY);
    assert_refused(a, OWNER, NULL, memory + 1, size, GH_INVALID_MEMORY);
    assert_refused(a, OWNER, NULL, NULL, size, GH_INVALID_MEMORY);
    assert_refused(a, OWNER, NULL, memory, 0, GH_INVALID_MEMORY);
}

static void contacts_that_are_none_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts contacts;
    assert_status(gh_contacts_init(NULL, a->client, OWNER, NULL, NULL, 0), GH_INVALID_OBJECT);
    assert_each_begin_is(a, NULL, GH_INVALID_OBJECT, false);
    memset(&contacts, 0, sizeof(contacts));
    assert_each_begin_is(a, &contacts, GH_INVALID_OBJECT, false);
    assert_status(gh_contacts_init(&contacts, NULL, OWNER, NULL, NULL, 0), GH_INVALID_CLIENT);
    assert_each_begin_is(a, &contacts, GH_INVALID_CLIENT, false);
}

static gh_status settle(const gh_op* op)
{
    GAME_UNTIL(gh_op_poll(op) != GH_PENDING);
    return gh_op_poll(op);
}

/* What was good once, and lost its client. The mirror still has what it had. */
static void contacts_outlive_their_client(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    gh_contact found[2];
    bag* self = GAME_NEW(a, bag);
    gh_contacts* contacts = mirrored_contacts(b, OWNER, NULL);
    assert_status(begin(self, 0, contacts), GH_OK);
    assert_status(settle(op_of(self, 0)), GH_OK);
    assert_status(begin(self, 2, contacts), GH_OK); /* and it is under way */
    gh_client_shutdown(b->client);
    b->asleep = true;
    assert_each_begin_is(a, contacts, GH_INVALID_CLIENT, false);
    assert_int_equal(gh_contacts_complete(contacts, gh_str_literal("m"), found, 2), 1);
    assert_true(gh_str_equal(found[0].name, gh_str_literal("mia")));
    assert_status(gh_contacts_init(contacts, b->client, OWNER, NULL, NULL, 0), GH_INVALID_CLIENT);
}

/* A copy serves as well, and what becomes of either after a begin is no matter to the op, busy as it is. */
static void without_a_mirror_they_are_a_value(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    bag* self = GAME_NEW(a, bag);
    gh_contacts_config config = gh_contacts_config_default();
    gh_contacts first;
    gh_contacts second;
    gh_contact found[1];
    config.capacity = 2;
    config.idle_us = 90 * SECOND_US;
    assert_status(gh_contacts_init(&first, a->client, OWNER, &config, NULL, 0), GH_OK);
    memset(&config, '!', sizeof(config)); /* copied too */
    second = first;
    memset(&first, '!', sizeof(first));
    redis_server_do(server, "RPUSH " LIST " ann eve zoe");
    for (int i = 1; i < 5; i++)
    {
        gh_contacts moved = second;
        assert_status(begin(self, i, &moved), GH_OK);
        memset(&moved, '!', sizeof(moved));
    }
    for (int i = 1; i < 5; i++) assert_status(settle(op_of(self, i)), GH_OK);
    assert_string_equal(redis_server_text(server, "LINDEX " LIST " 0"), "bob");
    assert_int_equal(redis_server_integer(server, "LLEN " LIST), 1); /* mia was removed, the others were too many */
    assert_in_range(redis_server_integer(server, "PTTL " LIST), 30000, 90000);
    assert_status(gh_contacts_load_begin(&self->load, &second, NULL), GH_INVALID_CONTACTS_MIRROR);
    assert_status(gh_op_poll(&self->load.op), GH_INVALID_CONTACTS_MIRROR);
    assert_int_equal(second.count, 0);
    assert_int_equal(gh_contacts_complete(&second, gh_str_literal("b"), found, 1), 0);
}

/* The mirror is followed by what was begun on it, and by nothing else. */
static void mirror_follows_what_is_begun_on_it(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    bag* self = GAME_NEW(a, bag);
    gh_contacts* contacts = mirrored_contacts(a, OWNER, NULL);
    const uint32_t counts[] = {1, 2, 1, 1, 1};
    for (int i = 0; i < 5; i++)
    {
        assert_status(begin(self, i, contacts), GH_OK);
        assert_status(settle(op_of(self, i)), GH_OK);
        assert_int_equal(contacts->count, counts[i]);
    }
    assert_status(begin(self, 0, some_contacts(a->client, OWNER, NULL)), GH_OK);
    assert_status(settle(op_of(self, 0)), GH_OK);
    assert_int_equal(contacts->count, 1);
    assert_status(begin(self, 5, contacts), GH_OK);
    assert_status(settle(op_of(self, 5)), GH_OK);
    assert_int_equal(contacts->count, 2);
}

/* ---- what a begin is given ------------------------------------------------------------------------------------- */

static void assert_names_refused(game* a, gh_contacts_change* change, const gh_str* names, size_t count,
                                 uint32_t capacity, gh_status expected)
{
    gh_contacts_change before = *change;
    uint64_t begun = game_stats(a).ops_begun;
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = capacity;
    gh_contacts* contacts = some_contacts(a->client, OWNER, &config);
    assert_status(gh_contacts_touch_many_begin(change, contacts, names, count), expected);
    assert_begin_refused(change, &before, expected);
    assert_int_equal(game_stats(a).ops_begun, begun);
}

static void changes_name_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_change* change = GAME_NEW(a, gh_contacts_change);
    gh_str names[GH_CONTACTS_TOUCH_MAX + 1];
    char longest[GH_NAME_SIZE_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    for (int i = 0; i <= GH_CONTACTS_TOUCH_MAX; i++) names[i] = gh_str_literal("mia");
    assert_true(sizeof(*change) <= 384 && sizeof(gh_contacts_load) <= 384);

    assert_status(gh_contacts_touch_many_begin(NULL, some_contacts(a->client, OWNER, NULL), names, 1), GH_INVALID_OP);
    assert_names_refused(a, change, NULL, 1, 100, GH_INVALID_CONTACTS);
    assert_names_refused(a, change, names, 0, 100, GH_INVALID_CONTACTS);
    assert_names_refused(a, change, names, GH_CONTACTS_TOUCH_MAX + 1, 100, GH_INVALID_CONTACTS);
    assert_names_refused(a, change, names, 52, GH_CONTACTS_LIST_MAX,
                         GH_INVALID_CONTACTS); /* too much to look through */
    assert_names_refused(a, change, names, 64, 201, GH_INVALID_CONTACTS);
    const gh_str bad[] = {{"", 0}, {NULL, 1}, {longest, sizeof(longest)}, {longest, SIZE_MAX}};
    for (int i = 0; i < 4; i++)
    {
        names[2] = bad[i];
        assert_names_refused(a, change, names, 3, 100, GH_INVALID_CONTACTS);
    }
    names[2] = gh_str_literal("mia");

    typedef gh_status (*begin_one)(gh_contacts_change*, gh_contacts*, gh_str);
    const begin_one begins[] = {gh_contacts_touch_begin, gh_contacts_remove_begin, gh_contacts_block_begin,
                                gh_contacts_unblock_begin};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
    {
        assert_status(begins[i](NULL, some_contacts(a->client, OWNER, NULL), names[0]), GH_INVALID_OP);
        for (size_t j = 0; j < 4; j++)
            assert_status(begins[i](change, some_contacts(a->client, OWNER, NULL), bad[j]), GH_INVALID_CONTACTS);
        assert_status(gh_op_poll(&change->op), GH_INVALID_CONTACTS);
    }

    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = GH_CONTACTS_LIST_MAX + 1; /* a zset: no such work */
    config.idle_us = GH_CONTACTS_IDLE_MAX_US;
    names[0] = gh_str_make(longest, GH_NAME_SIZE_MAX);
    gh_contacts* contacts = some_contacts(a->client, OWNER, &config);
    assert_status(gh_contacts_touch_many_begin(change, contacts, names, GH_CONTACTS_TOUCH_MAX), GH_OK);
    assert_names_refused(a, change, names, 1, 100, GH_INVALID_OP);
    gh_op_cancel(&change->op);
    assert_status(gh_op_poll(&change->op), GH_CANCELLED);
}

static void load_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start(redis_server_address(server));
    gh_contacts_load* load = GAME_NEW(a, gh_contacts_load);
    gh_contacts* contacts = mirrored_contacts(a, OWNER, NULL);
    gh_contacts_load_config config = gh_contacts_load_config_default();
    assert_status(gh_op_poll(&load->op), GH_IDLE);
    assert_status(gh_contacts_load_begin(load, some_contacts(a->client, OWNER, NULL), NULL),
                  GH_INVALID_CONTACTS_MIRROR);
    assert_status(gh_contacts_load_begin(NULL, contacts, NULL), GH_INVALID_OP);
    config.struct_size = 0;
    assert_status(gh_contacts_load_begin(load, contacts, &config), GH_INVALID_CONFIG);
    assert_status(gh_op_poll(&load->op), GH_INVALID_CONFIG);
    assert_status(gh_contacts_load_begin(load, contacts, NULL), GH_OK);
    assert_status(gh_contacts_load_begin(load, contacts, NULL), GH_INVALID_OP);
    gh_op_cancel(&load->op);
    assert_status(gh_op_poll(&load->op), GH_CANCELLED);
}

TEST_FILE(contacts_object, cmocka_unit_test(wrong_field_is_told_by_init_and_by_each_begin),
          cmocka_unit_test(contacts_that_are_none_are_told), cmocka_unit_test(contacts_outlive_their_client),
          cmocka_unit_test(without_a_mirror_they_are_a_value), cmocka_unit_test(mirror_follows_what_is_begun_on_it),
          cmocka_unit_test(changes_name_the_field), cmocka_unit_test(load_names_the_field));
