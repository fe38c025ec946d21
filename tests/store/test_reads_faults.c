/* Every fault of support/fault.h over what only reads, of all systems: looks, lists, gets, and the feed of
   the chats, which reads for ever. Other reads (searches, fetches, loads, totals) are beside what they belong
   to. */

#include "support/server/fake_server.h"
#include "support/faults/fault.h"
#include "support/scene/desk.h"
#include "support/scene/permits.h"
#include "support/scene/refresher.h"
#include "support/scene/talk.h"
#include "support/scene/social.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_US (60 * SECOND_US)

static uint64_t patience_us = LONG_US; /* the time-out of every read in here */

/* ---- semaphores: who holds permits --------------------------------------------------------------------- */

typedef struct permit_look
{
    gh_semaphore_look look;
    gh_permit_holder holders[3];
    gh_permit* held[2];
} permit_look;

static void prepare_permit_look(fault_scene* scene)
{
    permit_look* self = scene->op;
    for (int i = 0; i < 2; i++) self->held[i] = permit_hold_one(scene->other, scene->name, 3, 3600 * SECOND_US);
}

static void begin_permit_look(fault_scene* scene)
{
    permit_look* self = scene->op;
    assert_status(gh_semaphore_look_begin(&self->look,
                                          ON_SEMAPHORE_WITHIN(scene->game->client, fault_name(scene), patience_us),
                                          self->holders, 3),
                  GH_OK);
}

static gh_status poll_permit_look(const void* op)
{
    return gh_op_poll(&((const permit_look*)op)->look.op);
}

static void cancel_permit_look(void* op)
{
    gh_op_cancel(&((permit_look*)op)->look.op);
}

static void audit_permit_look(fault_scene* scene, gh_status status)
{
    permit_look* self = scene->op;
    assert_int_equal(self->look.count, status == GH_OK ? 2 : 0);
    for (uint32_t i = 0; i < self->look.count; i++)
    {
        assert_int_equal(self->holders[i].client, gh_client_id(scene->other->client));
        assert_int_equal(self->holders[i].permits, 1);
    }
    assert_int_equal(semaphore_stored(scene->server, scene->name).used, 2);
    for (int i = 0; i < 2; i++) assert_status(permit_give_back(self->held[i]), GH_OK);
}

static const fault_operation look_at_permits = {"look",
                                                sizeof(permit_look),
                                                0,
                                                5,
                                                prepare_permit_look,
                                                begin_permit_look,
                                                poll_permit_look,
                                                NULL,
                                                cancel_permit_look,
                                                audit_permit_look};

/* ---- tasks: one dead, one delayed ---------------------------------------------------------------------- */

#define LETTER_BYTES (GH_TASK_BYTES_MAX + GH_TASK_RESULT_SIZE_MAX)

typedef struct queue_look
{
    union
    {
        gh_tasks_look look;
        gh_tasks_dead dead;
        gh_tasks_count count;
    } op;
    gh_tasks_push push; /* of the preparation, as what follows */
    gh_tasks_take take;
    gh_tasks_finish finish;
    gh_task_spec specs[2];
    gh_task task;
    gh_dead_task letters[2];
    char memory[LETTER_BYTES];
} queue_look;

static void prepare_queue(fault_scene* scene)
{
    queue_look* self = scene->op;
    gh_client* client = scene->other->client;
    gh_str queue = fault_name(scene);
    self->specs[0] = (gh_task_spec){.id = gh_str_literal("a"), .payload = gh_str_literal("sword")};
    self->specs[1] = (gh_task_spec){.id = gh_str_literal("b"), .delay_us = 3600 * SECOND_US};
    assert_status(gh_tasks_push_begin(&self->push, queue_made(client, queue, NULL), self->specs, 2), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->push.op) == GH_OK);
    assert_status(gh_tasks_take_begin(&self->take, queue_made(client, queue, NULL), &self->task, 1, self->memory,
                                      sizeof(self->memory)),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&self->take.op) == GH_OK);
    self->task.action = GH_TASK_ACTION_FAIL;
    self->task.result = gh_str_literal("no anvil");
    assert_status(gh_tasks_finish_begin(&self->finish, queue_made(client, queue, NULL), &self->task, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->finish.op) == GH_OK);
}

static void assert_queue_is_as_before(fault_scene* scene)
{
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{tasks:%s}:x", scene->name), 1);
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{tasks:%s}:d0", scene->name), 1);
    assert_int_equal(redis_server_integer(scene->server, "HLEN gh:{tasks:%s}:p", scene->name), 2);
}

static gh_queue_config patient(void)
{
    gh_queue_config config = gh_queue_config_default();
    config.timeout_us = patience_us;
    return config;
}

static void begin_task_look(fault_scene* scene)
{
    queue_look* self = scene->op;
    gh_queue_config config = patient();
    assert_status(gh_tasks_look_begin(&self->op.look, queue_made(scene->game->client, fault_name(scene), &config),
                                      gh_str_literal("a"), self->memory, sizeof(self->memory)),
                  GH_OK);
}

static gh_status poll_task_look(const void* op)
{
    return gh_op_poll(&((const queue_look*)op)->op.look.op);
}

static void cancel_task_look(void* op)
{
    gh_op_cancel(&((queue_look*)op)->op.look.op);
}

static void audit_task_look(fault_scene* scene, gh_status status)
{
    const gh_tasks_look* look = &((queue_look*)scene->op)->op.look;
    if (status == GH_OK)
    {
        assert_int_equal(look->state, GH_TASK_STATE_DEAD);
        assert_int_equal(look->attempt, 1);
        assert_true(gh_str_equal(look->text, gh_str_literal("no anvil")));
    }
    assert_queue_is_as_before(scene);
}

static const fault_operation look_at_task = {
    "tlook",          sizeof(queue_look), 0, 3, prepare_queue, begin_task_look, poll_task_look, NULL,
    cancel_task_look, audit_task_look};

static void begin_dead(fault_scene* scene)
{
    queue_look* self = scene->op;
    gh_queue_config config = patient();
    assert_status(gh_tasks_dead_begin(&self->op.dead, queue_made(scene->game->client, fault_name(scene), &config), 0,
                                      self->letters, 2, self->memory, sizeof(self->memory)),
                  GH_OK);
}

static gh_status poll_dead(const void* op)
{
    return gh_op_poll(&((const queue_look*)op)->op.dead.op);
}

static void cancel_dead(void* op)
{
    gh_op_cancel(&((queue_look*)op)->op.dead.op);
}

static void audit_dead(fault_scene* scene, gh_status status)
{
    const queue_look* self = scene->op;
    assert_int_equal(self->op.dead.count, status == GH_OK ? 1 : 0);
    if (status == GH_OK)
    {
        assert_int_equal(self->op.dead.total, 1);
        assert_true(gh_str_equal(self->letters[0].id, gh_str_literal("a")));
        assert_true(gh_str_equal(self->letters[0].payload, gh_str_literal("sword")));
        assert_true(gh_str_equal(self->letters[0].reason, gh_str_literal("no anvil")));
    }
    assert_queue_is_as_before(scene);
}

static const fault_operation list_the_dead = {"dead",     sizeof(queue_look), 0,    3,           prepare_queue,
                                              begin_dead, poll_dead,          NULL, cancel_dead, audit_dead};

static void begin_task_count(fault_scene* scene)
{
    queue_look* self = scene->op;
    gh_queue_config config = patient();
    assert_status(gh_tasks_count_begin(&self->op.count, queue_made(scene->game->client, fault_name(scene), &config)),
                  GH_OK);
}

static gh_status poll_task_count(const void* op)
{
    return gh_op_poll(&((const queue_look*)op)->op.count.op);
}

static void cancel_task_count(void* op)
{
    gh_op_cancel(&((queue_look*)op)->op.count.op);
}

static void audit_task_count(fault_scene* scene, gh_status status)
{
    const gh_tasks_count* count = &((queue_look*)scene->op)->op.count;
    assert_int_equal(count->stored, status == GH_OK ? 2 : 0);
    assert_int_equal(count->dead, status == GH_OK ? 1 : 0);
    assert_int_equal(count->delayed[0], status == GH_OK ? 1 : 0);
    assert_queue_is_as_before(scene);
}

static const fault_operation count_tasks = {
    "tcount",          sizeof(queue_look), 0, 3, prepare_queue, begin_task_count, poll_task_count, NULL,
    cancel_task_count, audit_task_count};

/* ---- rows ---------------------------------------------------------------------------------------------- */

#define ROW_VALUE "a sword\nof 7 dragons"

/* As if a refresher had just stored it. */
static void prepare_row(fault_scene* scene)
{
    redisReply* time = redis_server_command(scene->server, "TIME");
    char value[96];
    int size = snprintf(value, sizeof(value), "7 %s%06d %" PRIu64 " v " ROW_VALUE, time->element[0]->str,
                        atoi(time->element[1]->str), 3600 * SECOND_US);
    freeReplyObject(time);
    redis_server_do(scene->server, "HSET %s %s %b", row_key(scene->name, 'v'), scene->name, value, (size_t)size);
}

static void begin_row_get(fault_scene* scene)
{
    row_read* self = scene->op;
    self->config = gh_row_get_config_default();
    self->config.buffer = self->buffer;
    self->config.buffer_size = sizeof(self->buffer);
    self->config.timeout_us = patience_us;
    assert_status(gh_row_get_begin(&self->get, scene->game->client, fault_name(scene), &self->config), GH_OK);
}

static gh_status poll_row_get(const void* op)
{
    return gh_op_poll(&((const row_read*)op)->get.op);
}

static void cancel_row_get(void* op)
{
    gh_op_cancel(&((row_read*)op)->get.op);
}

static void audit_row_get(fault_scene* scene, gh_status status)
{
    const row_read* self = scene->op;
    if (status == GH_OK)
    {
        assert_true(row_is(self, ROW_VALUE));
        assert_int_equal(self->get.version, 7);
    }
    redis_server_do(scene->server, "HDEL %s %s", row_key(scene->name, 'v'), scene->name);
}

static const fault_operation get_row = {
    "rget", sizeof(row_read), 0, 3, prepare_row, begin_row_get, poll_row_get, NULL, cancel_row_get, audit_row_get};

/* ---- chats: their list --------------------------------------------------------------------------------- */

typedef struct chat_listing
{
    gh_chat_list list;
    gh_chat_item items[3];
    char second[40];
} chat_listing;

/* The player has the name of the run, and is in the chat of that name and in another. */
static void prepare_chats(fault_scene* scene)
{
    chat_listing* self = scene->op;
    snprintf(self->second, sizeof(self->second), "%s-2", scene->name);
    assert_status(chat_make(scene->other, scene->name, scene->name, 100, 10), GH_OK);
    assert_status(chat_make(scene->other, self->second, scene->name, 100, 10), GH_OK);
    chat_say_numbers(scene->other, scene->name, scene->name, 3, 0);
}

static void begin_chat_list(fault_scene* scene)
{
    chat_listing* self = scene->op;
    assert_status(gh_chat_list_begin(&self->list, scene->game->client, fault_name(scene), self->items, 3,
                                     LIST_WITHIN(patience_us)),
                  GH_OK);
}

static gh_status poll_chat_list(const void* op)
{
    return gh_op_poll(&((const chat_listing*)op)->list.op);
}

static void cancel_chat_list(void* op)
{
    gh_op_cancel(&((chat_listing*)op)->list.op);
}

static void audit_chat_list(fault_scene* scene, gh_status status)
{
    const chat_listing* self = scene->op;
    if (status == GH_OK)
    {
        assert_int_equal(self->list.count, 2);
        for (int i = 0; i < 2; i++)
            assert_int_equal(self->items[i].unread, gh_str_equal(self->items[i].name, gh_str_of(self->second)) ? 0 : 3);
        assert_false(gh_str_equal(self->items[0].name, self->items[1].name));
    }
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{chats:%s}:l", scene->name), 2);
}

static const fault_operation list_chats = {
    "clist",          sizeof(chat_listing), 0, 5, prepare_chats, begin_chat_list, poll_chat_list, NULL,
    cancel_chat_list, audit_chat_list};

/* ---- chats: their members ------------------------------------------------------------------------------ */

#define CROWD 150

typedef struct member_listing
{
    gh_chat_members members;
    gh_chat_member_item items[CROWD + 1];
} member_listing;

/* Enough for several pages. */
static void prepare_members(fault_scene* scene)
{
    assert_status(chat_make(scene->other, scene->name, scene->name, 100, 1000), GH_OK);
    for (int i = 0; i < CROWD; i++) redis_server_do(scene->server, "ZADD gh:{chat:%s}:v 0 p%d", scene->name, i);
}

static void begin_members(fault_scene* scene)
{
    member_listing* self = scene->op;
    assert_status(gh_chat_members_begin(&self->members,
                                        ON_CHAT_WITHIN(scene->game->client, fault_name(scene), patience_us),
                                        self->items, CROWD + 1),
                  GH_OK);
}

static void audit_members(fault_scene* scene, gh_status status)
{
    const member_listing* self = scene->op;
    bool found[CROWD + 1] = {false};
    for (uint32_t i = 0; status == GH_OK && i < self->members.count; i++)
    {
        char name[GH_NAME_SIZE_MAX + 1];
        snprintf(name, sizeof(name), "%.*s", (int)self->items[i].name.size, self->items[i].name.bytes);
        int at = strcmp(name, scene->name) == 0 ? CROWD : atoi(name + 1);
        assert_false(found[at]);
        found[at] = true;
    }
    if (status == GH_OK) assert_int_equal(self->members.count, CROWD + 1);
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{chat:%s}:v", scene->name), CROWD + 1);
    redis_server_do(scene->server, "DEL gh:{chat:%s}:v", scene->name);
}

static const fault_operation list_members = {
    "cmembers",      sizeof(member_listing), 0, 50, prepare_members, begin_members, fault_poll_op, NULL,
    fault_cancel_op, audit_members};

/* ---- chats: the feed ----------------------------------------------------------------------------------- */

typedef struct faulted_feed
{
    gh_chat_feed feed;
    gh_chat_player player;
    gh_chat_room rooms[2];
    gh_chat_seat seats[2];
    uint64_t last; /* id that was handed out */
    bool ended;
    _Alignas(8) char buffer[2 * GH_CHAT_ROOM_SIZE_MIN];
} faulted_feed;

static void prepare_feed(fault_scene* scene)
{
    assert_status(chat_make(scene->other, scene->name, scene->name, 100, 10), GH_OK);
    chat_say_numbers(scene->other, scene->name, scene->name, 3, 0);
}

static void begin_feed(fault_scene* scene)
{
    faulted_feed* self = scene->op;
    gh_chat_feed_config config = gh_chat_feed_config_default();
    config.rooms = self->rooms, config.room_count = 2;
    config.seats = self->seats, config.seat_count = 2;
    config.buffer = self->buffer, config.buffer_size = sizeof(self->buffer);
    config.list_us = SECOND_US;
    assert_status(gh_chat_feed_begin(&self->feed, scene->game->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(&self->feed, &self->player, fault_name(scene)), GH_OK);
}

/* Each message once, in order, however often the link dies. */
static void hear(faulted_feed* self)
{
    gh_chat_line line;
    while (!self->ended && gh_chat_feed_line(&self->feed, &line)) assert_int_equal(line.message->id, ++self->last);
}

static gh_status poll_feed(const void* op)
{
    const faulted_feed* self = op;
    if (self->last == 3) return GH_OK;
    return self->ended ? GH_CANCELLED : GH_PENDING;
}

static bool feed_is_over(fault_scene* scene)
{
    hear(scene->op);
    return poll_feed(scene->op) != GH_PENDING;
}

static void end_feed(void* op)
{
    faulted_feed* self = op;
    gh_chat_feed_end(&self->feed);
    self->ended = true;
}

static bool all_is_seen(fault_scene* scene)
{
    hear(scene->op);
    return redis_server_integer(scene->server, "ZSCORE gh:{chat:%s}:v %s", scene->name, scene->name) == 3;
}

static void audit_feed(fault_scene* scene, gh_status status)
{
    faulted_feed* self = scene->op;
    if (status == GH_OK && !self->ended) GAME_UNTIL(all_is_seen(scene));
    assert_true(self->last == 3 || self->ended);
    gh_chat_feed_end(&self->feed);
    game_tick(scene->game); /* which counts the ops */
    assert_int_equal(game_stats(scene->game).ops_busy, 0);
}

static const fault_operation feed = {"feed",    sizeof(faulted_feed), 0,        5,         prepare_feed, begin_feed,
                                     poll_feed, feed_is_over,         end_feed, audit_feed};

/* ---- no answer: what only reads has changed nothing, so it ends TIMEOUT, never UNKNOWN ------------------ */

#define UNANSWERED "unanswered"

typedef struct plain_read
{
    union
    {
        gh_counter_read counter;
        gh_guild_size guild;
        gh_guild_has has;
        gh_file_look file;
        gh_files_list files;
        gh_mailbox_fetch mailbox;
        gh_chat_fetch chat;
        gh_chat_members members;
        gh_lock_look lock;
    } op;
    gh_chat_member_item item;
    gh_counter_sample samples[2];
    gh_file_entry entry;
    gh_chat_member member;
    gh_guild_member player;
    char names[GH_NAME_SIZE_MAX];
} plain_read;

/* A read that needs no preparation: of what is not there. */
#define PLAIN_READ(kind, begun)                                                                                        \
    static void begin_##kind(fault_scene* scene)                                                                       \
    {                                                                                                                  \
        plain_read* self = scene->op;                                                                                  \
        gh_client* client = scene->game->client;                                                                       \
        assert_status(begun, GH_OK);                                                                                   \
    }                                                                                                                  \
    static const fault_operation kind = {#kind,        sizeof(plain_read), 0,    0,    NULL,                           \
                                         begin_##kind, fault_poll_op,      NULL, NULL, NULL};

static gh_status counter_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_counter_read_config config = gh_counter_read_config_default();
    config.timeout_us = patience_us;
    config.samples = self->samples;
    config.sample_count = 2;
    return gh_counter_read_begin(&self->op.counter, client, name, &config);
}

static gh_status files_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_files_list_config config = gh_files_list_config_default();
    config.timeout_us = patience_us;
    config.entries = &self->entry, config.entry_count = 1;
    config.names = self->names, config.names_size = sizeof(self->names);
    return gh_files_list_begin(&self->op.files, client, name, &config);
}

static gh_status mailbox_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.messages_max = 0;
    return gh_mailbox_fetch_begin(&self->op.mailbox, ON_MAILBOX_WITHIN(client, name, patience_us), &config);
}

static gh_status chat_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_chat_fetch_config config = gh_chat_fetch_config_default();
    config.messages_max = 0;
    self->member.name = name;
    return gh_chat_fetch_begin(&self->op.chat, ON_CHAT_WITHIN(client, name, patience_us), &self->member, 1, &config);
}

static const gh_guild* patient_guild(gh_client* client, gh_str name)
{
    gh_guild_config config = gh_guild_config_default();
    config.timeout_us = patience_us;
    return a_guild(client, name, &config);
}

static gh_status has_begun(plain_read* self, gh_client* client, gh_str name)
{
    self->player.name = name;
    return gh_guild_has_begin(&self->op.has, patient_guild(client, name), &self->player, 1);
}

static gh_status file_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_file_look_config config = gh_file_look_config_default();
    config.timeout_us = patience_us;
    return gh_file_look_begin(&self->op.file, client, name, &config);
}

static gh_status lock_begun(plain_read* self, gh_client* client, gh_str name)
{
    gh_lock_look_config config = gh_lock_look_config_default();
    config.timeout_us = patience_us;
    return gh_lock_look_begin(&self->op.lock, client, name, &config);
}

PLAIN_READ(look_at_lock, lock_begun(self, client, fault_name(scene)))
PLAIN_READ(read_counter, counter_begun(self, client, fault_name(scene)))
PLAIN_READ(size_of_guild, gh_guild_size_begin(&self->op.guild, patient_guild(client, fault_name(scene))))
PLAIN_READ(has_guild, has_begun(self, client, fault_name(scene)))
PLAIN_READ(look_at_file, file_begun(self, client, fault_name(scene)))
PLAIN_READ(list_files, files_begun(self, client, fault_name(scene)))
PLAIN_READ(fetch_mail, mailbox_begun(self, client, fault_name(scene)))
PLAIN_READ(members_of_chat,
           gh_chat_members_begin(&self->op.members, ON_CHAT_WITHIN(client, fault_name(scene), patience_us), &self->item,
                                 1))
PLAIN_READ(fetch_chat, chat_begun(self, client, fault_name(scene)))

static const fault_operation* const reads[] = {&look_at_permits, &look_at_task,    &list_the_dead, &count_tasks,
                                               &get_row,         &list_chats,      &read_counter,  &size_of_guild,
                                               &has_guild,       &look_at_file,    &list_files,    &fetch_mail,
                                               &fetch_chat,      &members_of_chat, &look_at_lock};

#define READ_COUNT (sizeof(reads) / sizeof(reads[0]))

static gh_status run_read(fault_scene* scene, const fault_operation* read)
{
    scene->op = game_new(scene->game, read->op_size);
    read->begin(scene);
    GAME_UNTIL(read->poll(scene->op) != GH_PENDING);
    return read->poll(scene->op);
}

/* What is asked for may not be there. */
static void assert_answered(fault_scene* scene, const fault_operation* read)
{
    gh_status status = run_read(scene, read);
    if (status < GH_OK && status != GH_GONE && status != GH_NOT_MEMBER)
        fail_msg("%s: ended %s", read->name, gh_status_name(status));
}

static void assert_timed_out(const fault_operation* read, gh_status status)
{
    if (status != GH_TIMEOUT) fail_msg("%s without an answer: ended %s", read->name, gh_status_name(status));
}

static void reads_time_out_at_a_server_that_stands_still(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    fault_scene scene = {.server = server, .name = UNANSWERED};
    scene.game = game_start_ready(redis_server_address(server));
    for (size_t i = 0; i < READ_COUNT; i++)
    {
        patience_us = LONG_US;
        assert_answered(&scene, reads[i]); /* its script is loaded: the next request goes out whole */
        patience_us = SECOND_US / 10;
        redis_server_freeze(server);
        uint64_t sent = game_stats(scene.game).bytes_sent;
        gh_status status = run_read(&scene, reads[i]);
        redis_server_thaw(server);
        patience_us = LONG_US;
        assert_timed_out(reads[i], status);
        assert_true(game_stats(scene.game).bytes_sent > sent);
        GAME_UNTIL(gh_client_ready(scene.game->client));
    }
}

/* Every request that names what is read gets an answer that cannot be one to it. */
static void answer_beside_the_point(void* context, const fake_request* request, fake_reply* reply)
{
    const atomic_bool* lies = context;
    size_t size = sizeof(UNANSWERED) - 1;
    bool fits = false;
    for (size_t at = 0; at + size <= request->raw_size; at++)
        fits = fits || memcmp(request->raw + at, UNANSWERED, size) == 0;
    if (fits && atomic_load(lies)) fake_reply_text(reply, "*0\r\n");
    else fake_reply_default(reply);
}

static void reads_are_corrupt_when_no_answer_makes_sense(void** state)
{
    (void)state;
    static atomic_bool lies;
    redis_server* server = redis_server_start(NULL);
    fake_server* fake = fake_server_start(answer_beside_the_point, &lies, redis_server_address(server));
    fault_scene scene = {.server = server, .name = UNANSWERED};
    gh_client_config config = game_config(fake_server_address(fake));
    config.wake = false;
    config.backoff_min_us = 1000;
    config.backoff_max_us = 2000;
    scene.game = game_start_with(&config);
    atomic_store(&lies, true);
    for (size_t i = 0; i < READ_COUNT; i++)
    {
        uint64_t lost = game_stats(scene.game).links_lost;
        if (reads[i] == &size_of_guild || reads[i] == &has_guild) continue; /* commands: CORRUPT at once */
        gh_status status = run_read(&scene, reads[i]);
        if (status != GH_CORRUPT) fail_msg("%s: ended %s", reads[i]->name, gh_status_name(status));
        assert_true(game_stats(scene.game).links_lost >= lost + 5); /* each such answer costs the link */
    }
    atomic_store(&lies, false);
    for (size_t i = 0; i < READ_COUNT; i++) assert_answered(&scene, reads[i]);
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

FAULT_TESTS(look_at_permits)
FAULT_TESTS(look_at_task)
FAULT_TESTS(list_the_dead)
FAULT_TESTS(count_tasks)
FAULT_TESTS(get_row)
FAULT_TESTS(list_chats)
FAULT_TESTS(list_members)
FAULT_TESTS(feed)
FAULT_CANCEL_TEST(look_at_permits)
FAULT_CANCEL_TEST(look_at_task)
FAULT_CANCEL_TEST(list_the_dead)
FAULT_CANCEL_TEST(count_tasks)
FAULT_CANCEL_TEST(get_row)
FAULT_CANCEL_TEST(list_chats)
FAULT_CANCEL_TEST(list_members)
FAULT_CANCEL_TEST(feed)

TEST_FILE(reads_faults, FAULT_TEST_LIST(look_at_permits), FAULT_TEST_LIST(look_at_task), FAULT_TEST_LIST(list_the_dead),
          FAULT_TEST_LIST(count_tasks), FAULT_TEST_LIST(get_row), FAULT_TEST_LIST(list_chats), FAULT_TEST_LIST(feed),
          FAULT_TEST_LIST(list_members), FAULT_CANCEL_TEST_LIST(list_members), FAULT_CANCEL_TEST_LIST(look_at_permits),
          FAULT_CANCEL_TEST_LIST(look_at_task), FAULT_CANCEL_TEST_LIST(list_the_dead),
          FAULT_CANCEL_TEST_LIST(count_tasks), FAULT_CANCEL_TEST_LIST(get_row), FAULT_CANCEL_TEST_LIST(list_chats),
          FAULT_CANCEL_TEST_LIST(feed), cmocka_unit_test(reads_time_out_at_a_server_that_stands_still),
          cmocka_unit_test(reads_are_corrupt_when_no_answer_makes_sense));
