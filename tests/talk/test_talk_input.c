/* Bad input of every function of guildhall/mailbox.h and guildhall/chat.h, each with its own status. What an init
   refuses is in test_mailbox_object.c and test_chat_object.c. */

#include "support/scene/talk.h"

#include <string.h>

/* One game, and things that are valid, to be spoilt one at a time. */
typedef struct bench
{
    game* from;
    gh_client* client;
    gh_str name;
    gh_str no_name;
    gh_str long_name;
    gh_str null_name;
    gh_post* posts;
    gh_post* long_body;
    gh_post* long_sender;
    gh_post* null_body;
} bench;

static bench bench_new(void)
{
    redis_server* server = redis_server_start(NULL);
    bench self;
    self.from = game_start_ready(redis_server_address(server));
    self.client = self.from->client;
    char* bytes = GAME_NEW_ARRAY(self.from, char, GH_MESSAGE_SIZE_MAX + 1);
    self.name = gh_str_make(bytes, GH_NAME_SIZE_MAX);
    self.no_name = gh_str_literal("");
    self.long_name = gh_str_make(bytes, GH_NAME_SIZE_MAX + 1);
    self.null_name = gh_str_make(NULL, 5);
    self.posts = talk_numbers(self.from, "", GH_MESSAGES_MAX + 1, 0);
    self.long_body = talk_numbers(self.from, "", 2, 0);
    self.long_body[1].body = gh_str_make(bytes, GH_MESSAGE_SIZE_MAX + 1);
    self.long_sender = talk_numbers(self.from, "", 2, 0);
    self.long_sender[1].sender = self.long_name;
    self.null_body = talk_numbers(self.from, "", 2, 0);
    self.null_body[1].body = self.null_name;
    return self;
}

static void mailbox_push_names_what_is_wrong(void** state)
{
    (void)state;
    bench b = bench_new();
    gh_mailbox_push* op = GAME_NEW(b.from, gh_mailbox_push);
    gh_mailbox box = mailbox_made(b.client, b.name, NULL);
#define BEGIN(posts, count) gh_mailbox_push_begin(op, &box, posts, count)
    assert_status(gh_mailbox_push_begin(NULL, &box, b.posts, 1), GH_INVALID_OP);
    assert_status(BEGIN(NULL, 1), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.posts, 0), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.posts, GH_MESSAGES_MAX + 1), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.posts, SIZE_MAX), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.long_body, 2), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.long_sender, 2), GH_INVALID_MESSAGES);
    assert_status(BEGIN(b.null_body, 2), GH_INVALID_MESSAGES);
    assert_status(gh_op_poll(&op->op), GH_INVALID_MESSAGES);
    gh_op_cancel(&op->op);
    assert_status(BEGIN(b.posts, GH_MESSAGES_MAX), GH_OK);
    assert_status(BEGIN(b.posts, GH_MESSAGES_MAX), GH_INVALID_OP); /* busy */
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
    for (int i = 0; i < GH_MESSAGES_MAX; i++) b.posts[i].body = gh_str_make(b.name.bytes, GH_MESSAGE_SIZE_MAX);
    assert_status(BEGIN(b.posts, 1), GH_TOO_LARGE); /* out_bytes is 48 KiB */
    assert_status(BEGIN(b.posts, 2), GH_INVALID_MESSAGES);
    b.posts[1].body.size = GH_MESSAGES_BYTES_MAX - GH_MESSAGE_SIZE_MAX;
    assert_status(BEGIN(b.posts, 2), GH_TOO_LARGE);
    b.posts[0].sender = gh_str_literal("a"); /* GH_MESSAGES_BYTES_MAX and one byte */
    assert_status(BEGIN(b.posts, 2), GH_INVALID_MESSAGES);
    b.posts[0].body.size = 40000;
    assert_status(BEGIN(b.posts, 1), GH_OK);
    gh_op_cancel(&op->op);
    assert_status(gh_op_poll(&op->op), GH_CANCELLED);
#undef BEGIN
}

static void mailbox_fetch_and_commit_name_what_is_wrong(void** state)
{
    (void)state;
    bench b = bench_new();
    gh_mailbox_fetch* op = GAME_NEW(b.from, gh_mailbox_fetch);
    gh_mailbox_commit* commit = GAME_NEW(b.from, gh_mailbox_commit);
    char* buffer = GAME_NEW_ARRAY(b.from, char, 256);
    gh_mailbox box = mailbox_made(b.client, b.name, NULL);
    gh_mailbox_fetch_config good = gh_mailbox_fetch_config_default();
    good.buffer = buffer;
    good.buffer_size = 200;
    gh_mailbox_fetch_config config = good;
    assert_status(gh_mailbox_fetch_begin(NULL, &box, &good), GH_INVALID_OP);
    assert_status(gh_mailbox_fetch_begin(op, &box, NULL), GH_INVALID_CONFIG);
#define REFUSES(field, value, status)                                                                                  \
    config = good;                                                                                                     \
    config.field = value;                                                                                              \
    assert_status(gh_mailbox_fetch_begin(op, &box, &config), status)
    REFUSES(struct_size, 1, GH_INVALID_CONFIG);
    REFUSES(wait_us, UINT64_C(3600000001), GH_INVALID_WAIT);
    REFUSES(after, 1, GH_INVALID_EPOCH);
    REFUSES(after, UINT64_C(1) << 53, GH_INVALID_ID);
    REFUSES(after, UINT64_MAX, GH_INVALID_ID);
    REFUSES(messages_max, GH_MAILBOX_FETCH_MAX + 1, GH_INVALID_LIMIT);
    REFUSES(buffer, NULL, GH_INVALID_BUFFER);
    for (int i = 1; i < 8; i++)
    {
        REFUSES(buffer, buffer + i, GH_INVALID_BUFFER);
    }
#undef REFUSES
    assert_status(gh_op_poll(&op->op), GH_INVALID_BUFFER);
    gh_op_cancel(&op->op);

    assert_status(gh_mailbox_commit_begin(NULL, &box, 1, 1), GH_INVALID_OP);
    assert_status(gh_mailbox_commit_begin(commit, &box, 0, 1), GH_INVALID_EPOCH);
    assert_status(gh_mailbox_commit_begin(commit, &box, UINT64_MAX, 1), GH_INVALID_EPOCH);
    assert_status(gh_mailbox_commit_begin(commit, &box, 1, 0), GH_INVALID_ID);
    assert_status(gh_mailbox_commit_begin(commit, &box, 1, UINT64_C(1) << 53), GH_INVALID_ID);
    assert_status(gh_mailbox_commit_begin(commit, &box, 1, 1), GH_OK);
    assert_status(gh_mailbox_commit_begin(commit, &box, 1, 1), GH_INVALID_OP);
    gh_op_cancel(&commit->op);
    assert_status(gh_op_poll(&commit->op), GH_CANCELLED);
}

static void chat_changes_name_what_is_wrong(void** state)
{
    (void)state;
    bench b = bench_new();
    gh_chat_change* op = GAME_NEW(b.from, gh_chat_change);
    gh_chat chat = chat_made(b.client, b.name, NULL);
    gh_str* members = GAME_NEW_ARRAY(b.from, gh_str, GH_CHAT_CREATE_MAX + 1);
    for (size_t i = 0; i <= GH_CHAT_CREATE_MAX; i++) members[i] = b.posts[i].body; /* the numbers */
#define CREATE(members, count, first) gh_chat_create_begin(op, &chat, members, count, first)
    assert_status(gh_chat_create_begin(NULL, &chat, members, 1, NULL), GH_INVALID_OP);
    assert_status(gh_chat_join_begin(NULL, &chat, members[0], GH_CHAT_FROM_NOW), GH_INVALID_OP);
    assert_status(gh_chat_leave_begin(NULL, &chat, members[0]), GH_INVALID_OP);
    assert_status(gh_chat_join_begin(op, &chat, b.no_name, GH_CHAT_FROM_NOW), GH_INVALID_MEMBERS);
    assert_status(gh_chat_join_begin(op, &chat, b.long_name, GH_CHAT_FROM_NOW), GH_INVALID_MEMBERS);
    assert_status(gh_chat_join_begin(op, &chat, members[0], (gh_chat_from)2), GH_INVALID_FROM);
    assert_status(gh_chat_join_begin(op, &chat, members[0], (gh_chat_from)-1), GH_INVALID_FROM);
    assert_status(gh_op_poll(&op->op), GH_INVALID_FROM);
    assert_status(gh_chat_leave_begin(op, &chat, b.null_name), GH_INVALID_MEMBERS);
    assert_status(CREATE(NULL, 1, NULL), GH_INVALID_MEMBERS);
    assert_status(CREATE(members, 0, NULL), GH_INVALID_MEMBERS);
    assert_status(CREATE(members, GH_CHAT_CREATE_MAX + 1, NULL), GH_INVALID_MEMBERS);
    members[2] = members[0];
    assert_status(CREATE(members, 3, NULL), GH_INVALID_MEMBERS); /* twice */
    members[2] = b.long_name;
    assert_status(CREATE(members, 3, NULL), GH_INVALID_MEMBERS);
    assert_status(CREATE(members, 2, b.long_body + 1), GH_INVALID_MESSAGES);
    b.posts[0].sender = gh_str_literal("spy");
    assert_status(CREATE(members, 2, b.posts), GH_INVALID_MEMBERS); /* speaks, and is none */
    gh_chat_config config = gh_chat_config_default();
    config.members_max = 1;
    assert_status(gh_chat_create_begin(op, ON_CHAT_WITH(b.client, b.name, &config), members, 2, NULL),
                  GH_INVALID_LIMIT);
    assert_status(gh_op_poll(&op->op), GH_INVALID_LIMIT);
    gh_op_cancel(&op->op);
    members[2] = gh_str_literal("2");
    assert_status(CREATE(members, GH_CHAT_CREATE_MAX, NULL), GH_OK);
    assert_status(CREATE(members, 1, NULL), GH_INVALID_OP);
    assert_status(gh_chat_leave_begin(op, &chat, members[0]), GH_INVALID_OP);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
#undef CREATE
}

static void chat_send_fetch_and_commit_name_what_is_wrong(void** state)
{
    (void)state;
    bench b = bench_new();
    gh_chat_send* send = GAME_NEW(b.from, gh_chat_send);
    gh_chat chat = chat_made(b.client, b.name, NULL);
    assert_status(gh_chat_send_begin(NULL, &chat, b.posts, 1), GH_INVALID_OP);
    assert_status(gh_chat_send_begin(send, &chat, NULL, 1), GH_INVALID_MESSAGES);
    assert_status(gh_chat_send_begin(send, &chat, b.posts, 0), GH_INVALID_MESSAGES);
    assert_status(gh_chat_send_begin(send, &chat, b.posts, GH_MESSAGES_MAX + 1), GH_INVALID_MESSAGES);
    assert_status(gh_chat_send_begin(send, &chat, b.long_body, 2), GH_INVALID_MESSAGES);
    assert_status(gh_chat_send_begin(send, &chat, b.long_sender, 2), GH_INVALID_MESSAGES);
    assert_status(gh_chat_send_begin(send, &chat, b.null_body, 2), GH_INVALID_MESSAGES);
    assert_status(gh_op_poll(&send->op), GH_INVALID_MESSAGES);

    chat_reader* reader = chat_reader_new(b.from, "x", "joe jeff");
    gh_chat_fetch_config good = reader->config;
    gh_chat_fetch_config config = good;
#define FETCH(members, count) gh_chat_fetch_begin(&reader->fetch, &chat, members, count, &config)
    assert_status(gh_chat_fetch_begin(NULL, &chat, reader->members, 1, &good), GH_INVALID_OP);
    assert_status(gh_chat_fetch_begin(&reader->fetch, &chat, reader->members, 1, NULL), GH_INVALID_CONFIG);
    assert_status(FETCH(NULL, 1), GH_INVALID_MEMBERS);
    assert_status(FETCH(reader->members, 0), GH_INVALID_MEMBERS);
    assert_status(FETCH(reader->members, GH_CHAT_MEMBERS_MAX + 1), GH_INVALID_MEMBERS);
    reader->members[1].name = b.long_name;
    assert_status(FETCH(reader->members, 2), GH_INVALID_MEMBERS);
#define REFUSES(field, value, status)                                                                                  \
    config = good;                                                                                                     \
    config.field = value;                                                                                              \
    assert_status(FETCH(reader->members, 1), status)
    REFUSES(struct_size, 0, GH_INVALID_CONFIG);
    REFUSES(wait_us, UINT64_C(3600000001), GH_INVALID_WAIT);
    REFUSES(messages_max, GH_CHAT_FETCH_MAX + 1, GH_INVALID_LIMIT);
    REFUSES(buffer, NULL, GH_INVALID_BUFFER);
    REFUSES(buffer, reader->buffer + 4, GH_INVALID_BUFFER);
#undef REFUSES
    static const uint64_t too_large[] = {UINT64_C(1) << 53, UINT64_MAX};
    for (size_t i = 0; i < 2; i++)
    {
        config = good;
        reader->members[0].handled = too_large[i];
        assert_status(FETCH(reader->members, 1), GH_INVALID_ID);
        reader->members[0].handled = 0;
        reader->members[0].handled_epoch = too_large[i];
        assert_status(FETCH(reader->members, 1), GH_INVALID_EPOCH);
        reader->members[0].handled_epoch = 0;
    }
#undef FETCH

    gh_chat_commit* commit = GAME_NEW(b.from, gh_chat_commit);
    gh_chat_member* members = GAME_NEW_ARRAY(b.from, gh_chat_member, GH_CHAT_COMMIT_MAX + 1);
    for (int i = 0; i <= GH_CHAT_COMMIT_MAX; i++) members[i] = (gh_chat_member){.name = b.name, .handled = 1};
#define COMMIT(epoch, count) gh_chat_commit_begin(commit, &chat, epoch, members, count)
    assert_status(gh_chat_commit_begin(NULL, &chat, 1, members, 1), GH_INVALID_OP);
    assert_status(gh_chat_commit_begin(commit, &chat, 1, NULL, 1), GH_INVALID_MEMBERS);
    assert_status(COMMIT(1, 0), GH_INVALID_MEMBERS);
    assert_status(COMMIT(1, GH_CHAT_COMMIT_MAX + 1), GH_INVALID_MEMBERS);
    assert_status(COMMIT(0, 1), GH_INVALID_EPOCH);
    assert_status(COMMIT(UINT64_C(1) << 53, 1), GH_INVALID_EPOCH);
    members[1].handled = 0;
    assert_status(COMMIT(1, 2), GH_INVALID_ID);
    members[1].handled = UINT64_MAX;
    assert_status(COMMIT(1, 2), GH_INVALID_ID);
    members[1].handled = 1;
    assert_status(COMMIT(1, GH_CHAT_COMMIT_MAX), GH_OK);
    assert_status(COMMIT(1, 1), GH_INVALID_OP);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    assert_status(gh_op_poll(&commit->op), GH_GONE);
#undef COMMIT
}

static void chat_list_and_feed_name_what_is_wrong(void** state)
{
    (void)state;
    bench b = bench_new();
    gh_chat_list* list = GAME_NEW(b.from, gh_chat_list);
    gh_chat_item* items = GAME_NEW(b.from, gh_chat_item);
    assert_status(gh_chat_list_begin(NULL, b.client, b.name, items, 1, NULL), GH_INVALID_OP);
    assert_status(gh_chat_list_begin(list, NULL, b.name, items, 1, NULL), GH_INVALID_CLIENT);
    assert_status(gh_chat_list_begin(list, b.client, b.no_name, items, 1, NULL), GH_INVALID_NAME);
    assert_status(gh_chat_list_begin(list, b.client, b.long_name, items, 1, NULL), GH_INVALID_NAME);
    assert_status(gh_chat_list_begin(list, b.client, b.null_name, items, 1, NULL), GH_INVALID_NAME);
    assert_status(gh_chat_list_begin(list, b.client, b.name, NULL, 1, NULL), GH_INVALID_BUFFER);
    assert_status(gh_chat_list_begin(list, b.client, b.name, items, 0, NULL), GH_INVALID_BUFFER);
    gh_chat_list_config wants = gh_chat_list_config_default();
    wants.struct_size--;
    assert_status(gh_chat_list_begin(list, b.client, b.name, items, 1, &wants), GH_INVALID_CONFIG);
    static const uint64_t timeouts[] = {0, 999, 60000001, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
        assert_status(gh_chat_list_begin(list, b.client, b.name, items, 1, LIST_WITHIN(timeouts[i])),
                      GH_INVALID_TIMEOUT);
    assert_status(gh_op_poll(&list->op), GH_INVALID_TIMEOUT);
    static const uint64_t ends[] = {1000, 60000000};
    for (size_t i = 0; i < 2; i++)
    {
        assert_status(gh_chat_list_begin(list, b.client, b.name, items, 1, LIST_WITHIN(ends[i])), GH_OK);
        gh_op_cancel(&list->op);
    }

    gh_chat_members* members = GAME_NEW(b.from, gh_chat_members);
    gh_chat chat = chat_made(b.client, b.name, NULL);
    gh_chat_member_item who[1];
    assert_status(gh_chat_members_begin(NULL, &chat, who, 1), GH_INVALID_OP);
    assert_status(gh_chat_members_begin(members, &chat, NULL, 1), GH_INVALID_BUFFER);
    assert_status(gh_chat_members_begin(members, &chat, who, 0), GH_INVALID_BUFFER);
    assert_status(gh_op_poll(&members->op), GH_INVALID_BUFFER);

    gh_chat_feed* feed = GAME_NEW(b.from, gh_chat_feed);
    gh_chat_player* player = GAME_NEW(b.from, gh_chat_player);
    gh_chat_feed_config good = gh_chat_feed_config_default();
    good.rooms = GAME_NEW_ARRAY(b.from, gh_chat_room, 2);
    good.room_count = 2;
    good.seats = GAME_NEW(b.from, gh_chat_seat);
    good.seat_count = 1;
    good.buffer = GAME_NEW_ARRAY(b.from, char, 2 * GH_CHAT_ROOM_SIZE_MIN);
    good.buffer_size = 2 * GH_CHAT_ROOM_SIZE_MIN;
    gh_chat_feed_config config;
    assert_status(gh_chat_feed_begin(NULL, b.client, &good), GH_INVALID_OP);
    assert_status(gh_chat_feed_begin(feed, NULL, &good), GH_INVALID_CLIENT);
    assert_status(gh_chat_feed_begin(feed, b.client, NULL), GH_INVALID_CONFIG);
    assert_status(gh_chat_feed_add(feed, player, b.name), GH_INVALID_OP); /* not begun */
    assert_null(gh_chat_feed_next(feed));
    assert_null(gh_chat_feed_next(NULL));
    assert_null(gh_chat_room_seat(NULL, NULL));
    gh_chat_feed_end(feed);
    gh_chat_feed_end(NULL);
#define REFUSES(field, value, status)                                                                                  \
    config = good;                                                                                                     \
    config.field = value;                                                                                              \
    assert_status(gh_chat_feed_begin(feed, b.client, &config), status)
    REFUSES(struct_size, 0, GH_INVALID_CONFIG);
    REFUSES(rooms, NULL, GH_INVALID_BUFFER);
    REFUSES(room_count, 0, GH_INVALID_LIMIT);
    REFUSES(room_count, 65537, GH_INVALID_LIMIT);
    REFUSES(room_count, 3, GH_INVALID_BUFFER); /* the buffer is for two */
    REFUSES(seats, NULL, GH_INVALID_BUFFER);
    REFUSES(seat_count, 0, GH_INVALID_LIMIT);
    REFUSES(seat_count, 1048577, GH_INVALID_LIMIT);
    REFUSES(buffer, NULL, GH_INVALID_BUFFER);
    REFUSES(buffer, (char*)good.buffer + 4, GH_INVALID_BUFFER);
    REFUSES(buffer_size, 2 * GH_CHAT_ROOM_SIZE_MIN - 1, GH_INVALID_BUFFER);
    REFUSES(messages_max, 0, GH_INVALID_LIMIT);
    REFUSES(messages_max, GH_CHAT_FETCH_MAX + 1, GH_INVALID_LIMIT);
    REFUSES(list_us, 999999, GH_INVALID_TIMEOUT);
    REFUSES(list_us, UINT64_C(3600000001), GH_INVALID_TIMEOUT);
#undef REFUSES
    assert_status(gh_chat_feed_begin(feed, b.client, &good), GH_OK);
    assert_status(gh_chat_feed_begin(feed, b.client, &good), GH_INVALID_OP);
    assert_status(gh_chat_feed_add(feed, NULL, b.name), GH_INVALID_OP);
    assert_status(gh_chat_feed_add(feed, player, b.no_name), GH_INVALID_NAME);
    assert_status(gh_chat_feed_add(feed, player, b.long_name), GH_INVALID_NAME);
    gh_chat_feed_remove(feed, player);
    gh_chat_feed_refresh(feed, player);
    gh_chat_feed_done(feed, NULL, true);
    gh_chat_feed_done(feed, &good.rooms[0], true); /* was not handed out */
    assert_status(gh_chat_feed_add(feed, player, b.name), GH_OK);
    assert_status(gh_chat_feed_add(feed, player, b.name), GH_INVALID_OP);
    gh_chat_feed_end(feed);
    assert_null(player->feed);
}

/* Without room for one more op, and after the drain, every begin says so and changes nothing. */
static void full_and_closed_are_told(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config config = game_config(redis_server_address(server));
    config.ops_capacity = 1;
    game* a = game_start_with(&config);
    gh_mailbox_fetch* waiting = GAME_NEW(a, gh_mailbox_fetch);
    gh_mailbox_fetch_config fetch = gh_mailbox_fetch_config_default();
    gh_str name = gh_str_literal("jeff");
    fetch.messages_max = 0;
    fetch.wait_us = 3600 * SECOND_US;
    assert_status(gh_mailbox_fetch_begin(waiting, ON_MAILBOX(a->client, name), &fetch), GH_OK);
    static const gh_status answers[] = {GH_NO_ROOM, GH_CLOSED};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
    {
        gh_status status = answers[i];
        gh_post* posts = talk_numbers(a, "", 1, 0);
        chat_reader* reader = chat_reader_new(a, "x", "joe");
        assert_status(gh_mailbox_push_begin(GAME_NEW(a, gh_mailbox_push), ON_MAILBOX(a->client, name), posts, 1),
                      status);
        assert_status(gh_mailbox_fetch_begin(GAME_NEW(a, gh_mailbox_fetch), ON_MAILBOX(a->client, name), &fetch),
                      status);
        assert_status(gh_mailbox_commit_begin(GAME_NEW(a, gh_mailbox_commit), ON_MAILBOX(a->client, name), 1, 1),
                      status);
        assert_status(gh_chat_join_begin(GAME_NEW(a, gh_chat_change), ON_CHAT(a->client, name), name, GH_CHAT_FROM_NOW),
                      status);
        assert_status(gh_chat_send_begin(GAME_NEW(a, gh_chat_send), ON_CHAT(a->client, name), posts, 1), status);
        assert_status(
            gh_chat_fetch_begin(&reader->fetch, ON_CHAT(a->client, name), reader->members, 1, &reader->config), status);
        assert_status(
            gh_chat_list_begin(GAME_NEW(a, gh_chat_list), a->client, name, GAME_NEW(a, gh_chat_item), 1, NULL), status);
        assert_status(gh_chat_members_begin(GAME_NEW(a, gh_chat_members), ON_CHAT(a->client, name),
                                            GAME_NEW(a, gh_chat_member_item), 1),
                      status);
        if (status == GH_CLOSED) return;
        GAME_UNTIL(waiting->op.state == 2); /* waits for a hint; and is told of the drain */
        assert_status(gh_client_drain(a->client, SECOND_US), GH_OK);
        GAME_UNTIL(gh_client_drained(a->client));
        assert_status(gh_op_poll(&waiting->op), GH_CANCELLED);
    }
}

TEST_FILE(talk_input, cmocka_unit_test(mailbox_push_names_what_is_wrong),
          cmocka_unit_test(mailbox_fetch_and_commit_name_what_is_wrong),
          cmocka_unit_test(chat_changes_name_what_is_wrong),
          cmocka_unit_test(chat_send_fetch_and_commit_name_what_is_wrong),
          cmocka_unit_test(chat_list_and_feed_name_what_is_wrong), cmocka_unit_test(full_and_closed_are_told));
