/* Every fault of support/fault.h over every operation of the mailbox. The store is audited by the layout of
 * KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/on.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 9000 /* the smallest client has room for it, the buffer of the bag has none */

/* What a run of any of them needs besides its op. */
typedef struct mailbox_bag
{
    gh_post posts[3];
    bool large; /* the second body is */
    char body[LARGE];
    gh_mailbox_push push; /* of the preparation */
    gh_mailbox_fetch_config fetch;
    uint64_t epoch;
    _Alignas(8) char buffer[1024];
} mailbox_bag;

static gh_post* three_posts(fault_scene* scene)
{
    mailbox_bag* bag = scene->more;
    for (int i = 0; i < 3; i++)
    {
        bag->posts[i].sender = gh_str_literal("jeff");
        bag->posts[i].body = gh_str_make("abc" + i, 1);
    }
    if (!bag->large) return bag->posts;
    memset(bag->body, 'b', LARGE);
    bag->posts[1].body = gh_str_make(bag->body, LARGE);
    return bag->posts;
}

/* The entries "<id> <ms> 4 jeff<letter>" are the three, in order, with ids from 1 on; or there is none. */
static size_t count_stored(fault_scene* scene)
{
    redisReply* reply = redis_server_command(scene->server, "LRANGE gh:{mailbox:%s}:m 0 -1", scene->name);
    size_t count = reply->elements;
    for (size_t i = 0; i < count; i++)
    {
        const char* text = reply->element[i]->str;
        assert_int_equal(strtoull(text, NULL, 10), i + 1);
        assert_int_equal(text[reply->element[i]->len - 1], "abc"[i]);
    }
    freeReplyObject(reply);
    if (count > 0)
        assert_int_equal(redis_server_integer(scene->server, "HGET gh:{mailbox:%s}:s n", scene->name), count);
    return count;
}

/* ---- push ---------------------------------------------------------------------------------------------- */

static void begin_push(fault_scene* scene)
{
    assert_status(
        gh_mailbox_push_begin(scene->op, ON_MAILBOX(scene->game->client, fault_name(scene)), three_posts(scene), 3),
        GH_OK);
}

static void audit_push(fault_scene* scene, gh_status status)
{
    size_t count = count_stored(scene);
    if (status == GH_OK)
    {
        mailbox_bag* bag = scene->more;
        assert_int_equal(count, 3);
        for (uint64_t i = 0; i < 3; i++) assert_int_equal(bag->posts[i].id, i + 1);
    }
    else
    {
        assert_true(count == 0 || count == 3);
    }
}

static const fault_operation push = {
    "push", sizeof(gh_mailbox_push), sizeof(mailbox_bag), 2, NULL, begin_push, fault_poll_op,
    NULL,   fault_cancel_op,         audit_push};

static void prepare_large(fault_scene* scene)
{
    mailbox_bag* bag = scene->more;
    bag->large = true;
}

static const fault_operation push_large = {
    "push_large", sizeof(gh_mailbox_push), sizeof(mailbox_bag), 401, prepare_large, begin_push, fault_poll_op,
    NULL,         fault_cancel_op,         audit_push};

/* ---- two pushes at once: the second waits for the first ------------------------------------------------ */

typedef struct push_pair
{
    gh_mailbox_push first;
    gh_mailbox_push second;
} push_pair;

static void begin_pushes(fault_scene* scene)
{
    push_pair* both = scene->op;
    gh_post* posts = three_posts(scene);
    gh_client* client = scene->game->client;
    assert_status(gh_mailbox_push_begin(&both->first, ON_MAILBOX(client, fault_name(scene)), posts, 1), GH_OK);
    assert_status(gh_mailbox_push_begin(&both->second, ON_MAILBOX(client, fault_name(scene)), posts + 1, 2), GH_OK);
}

static gh_status poll_pushes(const void* op)
{
    const push_pair* both = op;
    gh_status status = gh_op_poll(&both->first.op);
    if (status == GH_PENDING || gh_op_poll(&both->second.op) == GH_PENDING) return GH_PENDING;
    return status != GH_OK ? status : gh_op_poll(&both->second.op);
}

static void audit_pushes(fault_scene* scene, gh_status status)
{
    assert_status(status, GH_OK);
    assert_int_equal(count_stored(scene), 3);
}

static const fault_operation pushes = {
    "pushes", sizeof(push_pair), sizeof(mailbox_bag), 7, NULL, begin_pushes, poll_pushes, NULL, NULL, audit_pushes};

/* ---- fetch and commit ---------------------------------------------------------------------------------- */

static void prepare_mail(fault_scene* scene)
{
    mailbox_bag* bag = scene->more;
    assert_status(
        gh_mailbox_push_begin(&bag->push, ON_MAILBOX(scene->other->client, fault_name(scene)), three_posts(scene), 3),
        GH_OK);
    GAME_UNTIL(gh_op_poll(&bag->push.op) != GH_PENDING);
    assert_status(gh_op_poll(&bag->push.op), GH_OK);
    bag->epoch = bag->push.epoch;
    bag->fetch = gh_mailbox_fetch_config_default();
    bag->fetch.buffer = bag->buffer;
    bag->fetch.buffer_size = sizeof(bag->buffer);
}

static void begin_fetch(fault_scene* scene)
{
    mailbox_bag* bag = scene->more;
    assert_status(gh_mailbox_fetch_begin(scene->op, ON_MAILBOX(scene->game->client, fault_name(scene)), &bag->fetch),
                  GH_OK);
}

static void audit_fetch(fault_scene* scene, gh_status status)
{
    const gh_mailbox_fetch* op = scene->op;
    assert_int_equal(count_stored(scene), 3); /* it removes nothing */
    if (status != GH_OK) return;
    assert_int_equal(op->count, 3);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(op->messages[i].id, i + 1);
}

static const fault_operation fetch = {
    "fetch", sizeof(gh_mailbox_fetch), sizeof(mailbox_bag), 3, prepare_mail, begin_fetch, fault_poll_op,
    NULL,    fault_cancel_op,          audit_fetch};

static void prepare_large_mail(fault_scene* scene)
{
    prepare_large(scene);
    prepare_mail(scene);
}

/* The second has no room. */
static void audit_fetch_past(fault_scene* scene, gh_status status)
{
    const gh_mailbox_fetch* op = scene->op;
    audit_fetch(scene, status);
    if (status != GH_OK) return;
    for (size_t i = 0; i < 3; i++)
    {
        assert_status(op->messages[i].status, i == 1 ? GH_TOO_LARGE : GH_OK);
        assert_int_equal(op->messages[i].body_size, i == 1 ? LARGE : 1);
        assert_int_equal(op->messages[i].body.size, i == 1 ? 0 : 1);
    }
}

static const fault_operation fetch_past = {
    "fetch_past", sizeof(gh_mailbox_fetch), sizeof(mailbox_bag), 3, prepare_large_mail, begin_fetch, fault_poll_op,
    NULL,         fault_cancel_op,          audit_fetch_past};

static void begin_commit(fault_scene* scene)
{
    const mailbox_bag* bag = scene->more;
    assert_status(gh_mailbox_commit_begin(scene->op, ON_MAILBOX(scene->game->client, fault_name(scene)), bag->epoch, 2),
                  GH_OK);
}

static void audit_commit(fault_scene* scene, gh_status status)
{
    long long left = redis_server_integer(scene->server, "LLEN gh:{mailbox:%s}:m", scene->name);
    assert_int_equal(redis_server_integer(scene->server, "HGET gh:{mailbox:%s}:s n", scene->name), 3);
    assert_int_equal(redis_server_integer(scene->server, "HEXISTS gh:{mailbox:%s}:s r", scene->name), left == 1);
    if (status == GH_OK)
    {
        assert_int_equal(left, 1);
        assert_int_equal(((gh_mailbox_commit*)scene->op)->unread, 1);
    }
    else
    {
        assert_true(left == 1 || left == 3);
    }
}

static const fault_operation commit = {
    "commit", sizeof(gh_mailbox_commit), sizeof(mailbox_bag), 7, prepare_mail, begin_commit, fault_poll_op,
    NULL,     fault_cancel_op,           audit_commit};

FAULT_TESTS(push)
FAULT_TESTS(push_large)
FAULT_TESTS(pushes)
FAULT_TESTS(fetch)
FAULT_TESTS(fetch_past)
FAULT_TESTS(commit)
FAULT_CANCEL_TEST(push)
FAULT_CANCEL_TEST(push_large)
FAULT_CANCEL_TEST(fetch)
FAULT_CANCEL_TEST(fetch_past)
FAULT_CANCEL_TEST(commit)

TEST_FILE(mailbox_faults, FAULT_TEST_LIST(push), FAULT_TEST_LIST(push_large), FAULT_TEST_LIST(pushes),
          FAULT_TEST_LIST(fetch), FAULT_TEST_LIST(fetch_past), FAULT_TEST_LIST(commit), FAULT_CANCEL_TEST_LIST(push),
          FAULT_CANCEL_TEST_LIST(push_large), FAULT_CANCEL_TEST_LIST(fetch), FAULT_CANCEL_TEST_LIST(fetch_past),
          FAULT_CANCEL_TEST_LIST(commit));
