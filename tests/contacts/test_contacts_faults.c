/* Every fault of support/fault.h over every operation of contacts. The store is audited by the layout of KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/social.h"

#include <stdio.h>
#include <string.h>

#define BEFORE "c b a"

static bool no_list(const char* text)
{
    return text[0] == 0;
}

/* The stored list with blanks between the names. */
static const char* stored(fault_scene* scene)
{
    static char text[256];
    redisReply* list = redis_server_command(scene->server, "LRANGE gh:{contacts:%s}:l 0 -1", scene->name);
    text[0] = 0;
    for (size_t i = 0; i < list->elements; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i == 0 ? "" : " ", list->element[i]->str);
    freeReplyObject(list);
    return text;
}

static void prepare(fault_scene* scene)
{
    redis_server_do(scene->server, "RPUSH gh:{contacts:%s}:l c b a", scene->name);
}

/* Done as `after` says if OK; not at all if it certainly was not; in between one of both. Then others go on, and
   nothing that was sent before may come behind them. */
static void audit(fault_scene* scene, gh_status status, const char* after)
{
    char expected[256];
    const char* now = stored(scene);
    bool done = strcmp(now, after) == 0;
    if (status == GH_OK) assert_string_equal(now, after);
    if (!done) assert_string_equal(now, BEFORE);
    snprintf(expected, sizeof(expected), "z%s%s", no_list(now) ? "" : " ", now);
    gh_contacts_change* next = GAME_NEW(scene->other, gh_contacts_change);
    assert_status(gh_contacts_touch_begin(next, some_contacts(scene->other->client, fault_name(scene), NULL),
                                          gh_str_literal("z")),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&next->op) != GH_PENDING);
    assert_status(gh_op_poll(&next->op), GH_OK);
    assert_string_equal(stored(scene), expected);
}

/* ---- touch one, touch many --------------------------------------------------------------------------------------- */

static void begin_touch(fault_scene* scene)
{
    assert_status(gh_contacts_touch_begin(scene->op, some_contacts(scene->game->client, fault_name(scene), NULL),
                                          gh_str_literal("a")),
                  GH_OK);
}

static void audit_touch(fault_scene* scene, gh_status status)
{
    audit(scene, status, "a c b");
}

static const fault_operation touch = {
    "touch", sizeof(gh_contacts_change), 0, 0, prepare, begin_touch, fault_poll_op, NULL, fault_cancel_op, audit_touch};

static void begin_touch_many(fault_scene* scene)
{
    static const gh_str names[3] = {{"b", 1}, {"d", 1}, {"a", 1}};
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = 3;
    assert_status(gh_contacts_touch_many_begin(
                      scene->op, some_contacts(scene->game->client, fault_name(scene), &config), names, 3),
                  GH_OK);
}

static void audit_touch_many(fault_scene* scene, gh_status status)
{
    audit(scene, status, "a d b");
}

static const fault_operation touch_many = {
    "many",          sizeof(gh_contacts_change), 0, 5, prepare, begin_touch_many, fault_poll_op, NULL, fault_cancel_op,
    audit_touch_many};

/* ---- remove, block ----------------------------------------------------------------------------------------------- */

static void begin_remove(fault_scene* scene)
{
    assert_status(gh_contacts_remove_begin(scene->op, some_contacts(scene->game->client, fault_name(scene), NULL),
                                           gh_str_literal("b")),
                  GH_OK);
}

static void audit_remove(fault_scene* scene, gh_status status)
{
    audit(scene, status, "c a");
}

static const fault_operation take_out = {
    "remove",    sizeof(gh_contacts_change), 0, 0, prepare, begin_remove, fault_poll_op, NULL, fault_cancel_op,
    audit_remove};

static void begin_block(fault_scene* scene)
{
    assert_status(gh_contacts_block_begin(scene->op, some_contacts(scene->game->client, fault_name(scene), NULL),
                                          gh_str_literal("b")),
                  GH_OK);
}

static void audit_block(fault_scene* scene, gh_status status)
{
    long long blocked = redis_server_integer(scene->server, "ZCARD gh:{contacts:%s}:b", scene->name);
    assert_int_equal(blocked, strcmp(stored(scene), "c a") == 0);
    audit(scene, status, "c a");
}

static const fault_operation block = {
    "block", sizeof(gh_contacts_change), 0, 5, prepare, begin_block, fault_poll_op, NULL, fault_cancel_op, audit_block};

static void prepare_unblock(fault_scene* scene)
{
    prepare(scene);
    redis_server_do(scene->server, "ZADD gh:{contacts:%s}:b 1 d", scene->name);
}

static void begin_unblock(fault_scene* scene)
{
    assert_status(gh_contacts_unblock_begin(scene->op, some_contacts(scene->game->client, fault_name(scene), NULL),
                                            gh_str_literal("d")),
                  GH_OK);
}

static void audit_unblock(fault_scene* scene, gh_status status)
{
    long long blocked = redis_server_integer(scene->server, "ZCARD gh:{contacts:%s}:b", scene->name);
    assert_true(blocked == 0 || (blocked == 1 && status != GH_OK));
    audit(scene, status, BEFORE); /* whoever is unblocked is no contact yet */
}

static const fault_operation unblock = {"unblock",
                                        sizeof(gh_contacts_change),
                                        0,
                                        3,
                                        prepare_unblock,
                                        begin_unblock,
                                        fault_poll_op,
                                        NULL,
                                        fault_cancel_op,
                                        audit_unblock};

/* ---- load -------------------------------------------------------------------------------------------------------- */

static void prepare_load(fault_scene* scene)
{
    size_t size = gh_contacts_memory(NULL);
    void* memory = game_new(scene->game, size);
    prepare(scene);
    assert_status(gh_contacts_init(scene->more, scene->game->client, fault_name(scene), NULL, memory, size), GH_OK);
}

static void begin_load(fault_scene* scene)
{
    assert_status(gh_contacts_load_begin(scene->op, scene->more, NULL), GH_OK);
}

static void audit_load(fault_scene* scene, gh_status status)
{
    gh_contact found[4];
    uint32_t count = gh_contacts_complete(scene->more, gh_str_literal(""), found, 4);
    assert_string_equal(stored(scene), BEFORE);
    assert_int_equal(count, status == GH_OK ? 3 : 0);
    for (uint32_t i = 0; i < count; i++) assert_true(gh_str_equal(found[i].name, gh_str_make("cba" + i, 1)));
}

static const fault_operation load = {
    "load", sizeof(gh_contacts_load), sizeof(gh_contacts), 3, prepare_load, begin_load, fault_poll_op,
    NULL,   fault_cancel_op,          audit_load};

FAULT_TESTS(touch)
FAULT_TESTS(touch_many)
FAULT_TESTS(take_out)
FAULT_TESTS(block)
FAULT_TESTS(unblock)
FAULT_TESTS(load)
FAULT_CANCEL_TEST(touch)
FAULT_CANCEL_TEST(touch_many)
FAULT_CANCEL_TEST(take_out)
FAULT_CANCEL_TEST(block)
FAULT_CANCEL_TEST(unblock)
FAULT_CANCEL_TEST(load)

TEST_FILE(contacts_faults, FAULT_TEST_LIST(touch), FAULT_TEST_LIST(touch_many), FAULT_TEST_LIST(take_out),
          FAULT_TEST_LIST(block), FAULT_TEST_LIST(unblock), FAULT_TEST_LIST(load), FAULT_CANCEL_TEST_LIST(touch),
          FAULT_CANCEL_TEST_LIST(touch_many), FAULT_CANCEL_TEST_LIST(take_out), FAULT_CANCEL_TEST_LIST(block),
          FAULT_CANCEL_TEST_LIST(unblock), FAULT_CANCEL_TEST_LIST(load));
