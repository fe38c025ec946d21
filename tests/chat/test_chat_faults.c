/* Every fault of support/fault.h over every operation of the chat. The store is audited by the layout of
 * KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/on.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 9000 /* the smallest client has room for it, the buffer of the bag has none */

/* What a run of any of them needs besides its op. The players have names of their own in each run. */
typedef struct chat_bag
{
    gh_chat_change change; /* of the preparation */
    gh_chat_send send;
    gh_str players[2];
    char names[2][40];
    gh_post posts[3];
    gh_chat_member member;
    gh_chat_fetch_config fetch;
    uint64_t epoch;
    bool large; /* the second body is */
    char body[LARGE];
    _Alignas(8) char buffer[1024];
} chat_bag;

static chat_bag* fill_bag(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    for (int i = 0; i < 2; i++)
    {
        snprintf(bag->names[i], sizeof(bag->names[i]), "%s-%c", scene->name, "ab"[i]);
        bag->players[i] = gh_str_of(bag->names[i]);
    }
    for (int i = 0; i < 3; i++)
    {
        bag->posts[i].sender = bag->players[0];
        bag->posts[i].body = gh_str_make("abc" + i, 1);
    }
    memset(bag->body, 'b', LARGE);
    if (bag->large) bag->posts[1].body = gh_str_make(bag->body, LARGE);
    bag->member.name = bag->players[1];
    bag->fetch = gh_chat_fetch_config_default();
    bag->fetch.buffer = bag->buffer;
    bag->fetch.buffer_size = sizeof(bag->buffer);
    return bag;
}

static void settle_change(chat_bag* bag)
{
    GAME_UNTIL(gh_op_poll(&bag->change.op) != GH_PENDING);
    assert_status(gh_op_poll(&bag->change.op), GH_OK);
}

/* A chat of both players, or of the first alone. */
static void make_chat(fault_scene* scene, size_t players)
{
    chat_bag* bag = fill_bag(scene);
    assert_status(gh_chat_create_begin(&bag->change, ON_CHAT(scene->other->client, fault_name(scene)), bag->players,
                                       players, NULL),
                  GH_OK);
    settle_change(bag);
    bag->epoch = bag->change.epoch;
}

static void prepare_both(fault_scene* scene)
{
    make_chat(scene, 2);
}

static void prepare_one(fault_scene* scene)
{
    make_chat(scene, 1);
}

static void prepare_talk(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    make_chat(scene, 2);
    bag = scene->more;
    assert_status(gh_chat_send_begin(&bag->send, ON_CHAT(scene->other->client, fault_name(scene)), bag->posts, 3),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&bag->send.op) != GH_PENDING);
    assert_status(gh_op_poll(&bag->send.op), GH_OK);
}

static void prepare_nothing(fault_scene* scene)
{
    fill_bag(scene);
}

static bool is_member(fault_scene* scene, int player)
{
    const chat_bag* bag = scene->more;
    return redis_server_text(scene->server, "ZSCORE gh:{chat:%s}:v %s", scene->name, bag->names[player]) != NULL;
}

static bool is_noted(fault_scene* scene, int player)
{
    const chat_bag* bag = scene->more;
    return redis_server_text(scene->server, "ZSCORE gh:{chats:%s}:l %s", bag->names[player], scene->name) != NULL;
}

/* The entries are the three, in order, with ids from 1 on; or there is none. */
static size_t count_stored(fault_scene* scene)
{
    redisReply* reply = redis_server_command(scene->server, "LRANGE gh:{chat:%s}:m 0 -1", scene->name);
    size_t count = reply->elements;
    for (size_t i = 0; i < count; i++)
    {
        const char* text = reply->element[i]->str;
        assert_int_equal(strtoull(text, NULL, 10), i + 1);
        assert_int_equal(text[reply->element[i]->len - 1], "abc"[i]);
    }
    freeReplyObject(reply);
    return count;
}

/* ---- create -------------------------------------------------------------------------------------------- */

static void begin_create(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(
        gh_chat_create_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->players, 2, bag->posts),
        GH_OK);
}

static void audit_create(fault_scene* scene, gh_status status)
{
    bool made = redis_server_text(scene->server, "HGET gh:{chat:%s}:s n", scene->name) != NULL;
    if (status == GH_OK) assert_true(made);
    assert_int_equal(count_stored(scene), made ? 1 : 0);
    for (int i = 0; i < 2; i++)
    {
        assert_int_equal(is_member(scene, i), made);
        if (made) assert_true(is_noted(scene, i)); /* no member without its note, wherever it was cut */
    }
}

static const fault_operation create = {
    "create", sizeof(gh_chat_change), sizeof(chat_bag), 7, prepare_nothing, begin_create, fault_poll_op,
    NULL,     fault_cancel_op,        audit_create};

/* ---- join ---------------------------------------------------------------------------------------------- */

static void begin_join(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(gh_chat_join_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->players[1],
                                     GH_CHAT_FROM_NOW),
                  GH_OK);
}

static void audit_join(fault_scene* scene, gh_status status)
{
    assert_true(is_member(scene, 0));
    if (status == GH_OK) assert_true(is_member(scene, 1));
    if (is_member(scene, 1)) assert_true(is_noted(scene, 1));
}

static const fault_operation join = {
    "join", sizeof(gh_chat_change), sizeof(chat_bag), 7, prepare_one, begin_join, fault_poll_op,
    NULL,   fault_cancel_op,        audit_join};

/* ---- leave --------------------------------------------------------------------------------------------- */

static void begin_leave(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(gh_chat_leave_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->players[1]),
                  GH_OK);
}

static void audit_leave(fault_scene* scene, gh_status status)
{
    assert_true(is_member(scene, 0));
    if (status == GH_OK) assert_false(is_member(scene, 1));
    if (is_member(scene, 1)) assert_true(is_noted(scene, 1));
    assert_int_equal(redis_server_integer(scene->server, "LLEN gh:{chat:%s}:m", scene->name), 3);
}

static const fault_operation leave = {
    "leave", sizeof(gh_chat_change), sizeof(chat_bag), 7, prepare_talk, begin_leave, fault_poll_op,
    NULL,    fault_cancel_op,        audit_leave};

static void begin_last_leave(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(gh_chat_leave_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->players[0]),
                  GH_OK);
}

static void audit_last_leave(fault_scene* scene, gh_status status)
{
    bool gone = redis_server_text(scene->server, "HGET gh:{chat:%s}:s n", scene->name) == NULL;
    if (status == GH_OK) assert_true(gone);
    assert_int_equal(is_member(scene, 0), !gone);
}

static const fault_operation last_leave = {"last",          sizeof(gh_chat_change), sizeof(chat_bag), 7,
                                           prepare_one,     begin_last_leave,       fault_poll_op,    NULL,
                                           fault_cancel_op, audit_last_leave};

/* ---- send ---------------------------------------------------------------------------------------------- */

static void begin_send(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(gh_chat_send_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->posts, 3), GH_OK);
}

static void audit_send(fault_scene* scene, gh_status status)
{
    size_t count = count_stored(scene);
    const chat_bag* bag = scene->more;
    if (status == GH_OK) assert_int_equal(count, 3);
    assert_true(count == 0 || count == 3);
    assert_int_equal(redis_server_integer(scene->server, "HGET gh:{chat:%s}:s n", scene->name), count);
    for (uint64_t i = 0; status == GH_OK && i < 3; i++) assert_int_equal(bag->posts[i].id, i + 1);
}

static const fault_operation send = {
    "send", sizeof(gh_chat_send), sizeof(chat_bag), 5, prepare_both, begin_send, fault_poll_op,
    NULL,   fault_cancel_op,      audit_send};

static void prepare_large(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    bag->large = true;
    prepare_both(scene);
}

static const fault_operation send_large = {
    "send_large", sizeof(gh_chat_send), sizeof(chat_bag), 401, prepare_large, begin_send, fault_poll_op,
    NULL,         fault_cancel_op,      audit_send};

/* ---- fetch and commit ---------------------------------------------------------------------------------- */

static void begin_fetch(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    assert_status(
        gh_chat_fetch_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), &bag->member, 1, &bag->fetch),
        GH_OK);
}

static void audit_fetch(fault_scene* scene, gh_status status)
{
    const gh_chat_fetch* op = scene->op;
    assert_int_equal(count_stored(scene), 3);
    assert_int_equal(op->count, status == GH_OK ? 3 : 0);
    for (uint64_t i = 0; i < op->count; i++) assert_int_equal(op->messages[i].id, i + 1);
}

static const fault_operation fetch = {
    "fetch", sizeof(gh_chat_fetch), sizeof(chat_bag), 5, prepare_talk, begin_fetch, fault_poll_op,
    NULL,    fault_cancel_op,       audit_fetch};

static void prepare_large_talk(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    bag->large = true;
    prepare_talk(scene);
}

/* The second has no room. */
static void audit_fetch_past(fault_scene* scene, gh_status status)
{
    const gh_chat_fetch* op = scene->op;
    audit_fetch(scene, status);
    for (size_t i = 0; i < op->count; i++)
    {
        assert_status(op->messages[i].status, i == 1 ? GH_TOO_LARGE : GH_OK);
        assert_int_equal(op->messages[i].body_size, i == 1 ? LARGE : 1);
        assert_int_equal(op->messages[i].body.size, i == 1 ? 0 : 1);
    }
}

static const fault_operation fetch_past = {"fetch_past",       sizeof(gh_chat_fetch), sizeof(chat_bag), 5,
                                           prepare_large_talk, begin_fetch,           fault_poll_op,    NULL,
                                           fault_cancel_op,    audit_fetch_past};

static void begin_commit(fault_scene* scene)
{
    chat_bag* bag = scene->more;
    bag->member.handled = 2;
    assert_status(
        gh_chat_commit_begin(scene->op, ON_CHAT(scene->game->client, fault_name(scene)), bag->epoch, &bag->member, 1),
        GH_OK);
}

static void audit_commit(fault_scene* scene, gh_status status)
{
    const chat_bag* bag = scene->more;
    long long seen = redis_server_integer(scene->server, "ZSCORE gh:{chat:%s}:v %s", scene->name, bag->names[1]);
    assert_true(seen == 2 || (seen == 0 && status != GH_OK));
    if (status == GH_OK) assert_int_equal(bag->member.seen, 2);
    assert_int_equal(count_stored(scene), 3); /* the other has seen nothing yet */
}

static const fault_operation commit = {
    "commit", sizeof(gh_chat_commit), sizeof(chat_bag), 5, prepare_talk, begin_commit, fault_poll_op,
    NULL,     fault_cancel_op,        audit_commit};

FAULT_TESTS(create)
FAULT_TESTS(join)
FAULT_TESTS(leave)
FAULT_TESTS(last_leave)
FAULT_TESTS(send)
FAULT_TESTS(send_large)
FAULT_TESTS(fetch)
FAULT_TESTS(fetch_past)
FAULT_TESTS(commit)
FAULT_CANCEL_TEST(create)
FAULT_CANCEL_TEST(join)
FAULT_CANCEL_TEST(leave)
FAULT_CANCEL_TEST(last_leave)
FAULT_CANCEL_TEST(send)
FAULT_CANCEL_TEST(send_large)
FAULT_CANCEL_TEST(fetch)
FAULT_CANCEL_TEST(fetch_past)
FAULT_CANCEL_TEST(commit)

TEST_FILE(chat_faults, FAULT_TEST_LIST(create), FAULT_TEST_LIST(join), FAULT_TEST_LIST(leave),
          FAULT_TEST_LIST(last_leave), FAULT_TEST_LIST(send), FAULT_TEST_LIST(send_large), FAULT_TEST_LIST(fetch),
          FAULT_TEST_LIST(fetch_past), FAULT_TEST_LIST(commit), FAULT_CANCEL_TEST_LIST(create),
          FAULT_CANCEL_TEST_LIST(join), FAULT_CANCEL_TEST_LIST(leave), FAULT_CANCEL_TEST_LIST(last_leave),
          FAULT_CANCEL_TEST_LIST(send), FAULT_CANCEL_TEST_LIST(send_large), FAULT_CANCEL_TEST_LIST(fetch),
          FAULT_CANCEL_TEST_LIST(fetch_past), FAULT_CANCEL_TEST_LIST(commit));
