/* Every fault of support/fault.h over every operation of files. The store is audited by the layout of
   KEYS.md. */

#include "support/faults/fault.h"
#include "support/scene/parcel.h"

#include <stdio.h>
#include <string.h>

#define SIZE  2600 /* three chunks, the last one short */
#define BYTES "the bytes of a file that is sent in the middle of terrible things; "

/* Filled once a run, before anything is measured. */
static void fill(char* bytes)
{
    for (size_t i = 0; i < SIZE; i++) bytes[i] = BYTES[i % (sizeof(BYTES) - 1)];
}

static const char* state_field(fault_scene* scene, const char* field)
{
    return redis_server_text(scene->server, "HGET gh:{file:%s}:s %s", scene->name, field);
}

/* ---- send ---------------------------------------------------------------------------------------------- */

static void prepare_send(fault_scene* scene)
{
    sender* self = scene->op;
    fill(scene->more);
    sender_init(self, scene->game, 2, scene->more, SIZE);
    self->config.channel = gh_str_literal("news");
    self->config.size_bytes = SIZE;
}

static void begin_send(fault_scene* scene)
{
    sender_begin(scene->op, fault_name(scene));
}

static gh_status poll_send(const void* op)
{
    return gh_op_poll(&((const sender*)op)->op.op);
}

static bool over_send(fault_scene* scene)
{
    return sender_step(scene->op);
}

static void cancel_send(void* op)
{
    gh_op_cancel(&((sender*)op)->op.op);
}

/* Chunks without a gap; sealed and announced if it ended well. */
static void audit_send(fault_scene* scene, gh_status status)
{
    long long chunks = redis_server_integer(scene->server, "HLEN gh:{file:%s}:c", scene->name);
    if (state_field(scene, "n") == NULL)
    {
        assert_true(status != GH_OK && chunks == 0);
        return;
    }
    assert_int_equal(redis_server_integer(scene->server, "HGET gh:{file:%s}:s n", scene->name), chunks);
    assert_int_equal(redis_server_integer(scene->server, "HGET gh:{file:%s}:s b", scene->name),
                     chunks == 3 ? SIZE : chunks * 1024);
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{file:%s}:o", scene->name), 2);
    if (status != GH_OK) return;
    assert_int_equal(chunks, 3);
    assert_non_null(state_field(scene, "z"));
    assert_int_equal(redis_server_integer(scene->server, "ZCARD gh:{file:%s}:e", scene->name), 2);
    assert_true(redis_server_integer(scene->server, "ZSCORE gh:{files:news}:l %s", scene->name) > 0);
    for (int i = 0; i < 3; i++)
    {
        redisReply* chunk = redis_server_command(scene->server, "HGET gh:{file:%s}:c %d", scene->name, i);
        assert_memory_equal(chunk->str + 16, (char*)scene->more + 1024 * i, chunk->len - 16);
        freeReplyObject(chunk);
    }
}

static const fault_operation send_file = {"send",     sizeof(sender), SIZE,      97,          prepare_send,
                                          begin_send, poll_send,      over_send, cancel_send, audit_send};

/* ---- read ---------------------------------------------------------------------------------------------- */

static void prepare_read(fault_scene* scene)
{
    reader* self = scene->op;
    fill(scene->more);
    assert_status(sender_run(sender_new(scene->other, 1, scene->more, SIZE), fault_name(scene)), GH_OK);
    reader_init(self, scene->game, SIZE);
}

static void begin_read(fault_scene* scene)
{
    reader_begin(scene->op, fault_name(scene), "0");
}

static gh_status poll_read(const void* op)
{
    return gh_op_poll(&((const reader*)op)->op.op);
}

static bool over_read(fault_scene* scene)
{
    return reader_step(scene->op);
}

static void cancel_read(void* op)
{
    gh_op_cancel(&((reader*)op)->op.op);
}

static void audit_read(fault_scene* scene, gh_status status)
{
    const reader* self = scene->op;
    const char* ended = state_field(scene, "r:0");
    bool done = ended != NULL;
    assert_memory_equal(self->got, scene->more, self->got_size);
    if (done) assert_string_equal(ended, "d");
    if (done) assert_int_equal(self->got_size, SIZE);
    assert_int_equal(redis_server_integer(scene->server, "EXISTS gh:{file:%s}:c", scene->name), !done);
    if (status == GH_OK) assert_true(done && self->op.is_whole);
}

static const fault_operation read_file = {"read",     sizeof(reader), SIZE,      79,          prepare_read,
                                          begin_read, poll_read,      over_read, cancel_read, audit_read};

/* ---- list, look, remove -------------------------------------------------------------------------------- */

typedef struct shelf
{
    char bytes[SIZE];
    char channel[48];
    gh_file_entry entries[4];
    char names[4 * GH_NAME_SIZE_MAX];
    uint64_t id;
} shelf;

static void prepare_shelf(fault_scene* scene)
{
    shelf* self = scene->more;
    fill(self->bytes);
    sender* from = sender_new(scene->other, 1, self->bytes, SIZE);
    snprintf(self->channel, sizeof(self->channel), "of %s", scene->name);
    from->config.channel = gh_str_of(self->channel);
    assert_status(sender_run(from, fault_name(scene)), GH_OK);
    self->id = from->op.id;
}

static void begin_list(fault_scene* scene)
{
    shelf* self = scene->more;
    gh_files_list_config config = gh_files_list_config_default();
    config.entries = self->entries;
    config.entry_count = 4;
    config.names = self->names;
    config.names_size = sizeof(self->names);
    assert_status(gh_files_list_begin(scene->op, scene->game->client, gh_str_of(self->channel), &config), GH_OK);
}

static void audit_list(fault_scene* scene, gh_status status)
{
    const gh_files_list* op = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(op->count, 1);
    assert_true(gh_str_equal(op->entries[0].name, fault_name(scene)));
    assert_int_equal(op->entries[0].id, ((shelf*)scene->more)->id);
}

static const fault_operation list = {
    "list", sizeof(gh_files_list), sizeof(shelf), 5, prepare_shelf, begin_list, fault_poll_op,
    NULL,   fault_cancel_op,       audit_list};

static void begin_look(fault_scene* scene)
{
    assert_status(gh_file_look_begin(scene->op, scene->game->client, fault_name(scene), NULL), GH_OK);
}

static void audit_look(fault_scene* scene, gh_status status)
{
    const gh_file_look* op = scene->op;
    if (status != GH_OK) return;
    assert_int_equal(op->size_bytes, SIZE);
    assert_int_equal(op->readers_left, 1);
    assert_true(op->is_sealed && op->is_announced);
}

static const fault_operation look = {
    "look", sizeof(gh_file_look), sizeof(shelf), 5, prepare_shelf, begin_look, fault_poll_op,
    NULL,   fault_cancel_op,      audit_look};

static void begin_remove(fault_scene* scene)
{
    const shelf* self = scene->more;
    assert_status(gh_file_remove_begin(scene->op, scene->game->client, fault_name(scene), self->id,
                                       gh_str_of(self->channel), NULL),
                  GH_OK);
}

static void audit_remove(fault_scene* scene, gh_status status)
{
    long long there =
        redis_server_integer(scene->server, "EXISTS gh:{file:%s}:s gh:{file:%s}:c gh:{file:%s}:o gh:{file:%s}:e",
                             scene->name, scene->name, scene->name, scene->name);
    assert_true(there == 0 || (there == 4 && status != GH_OK));
    if (status == GH_OK)
        assert_int_equal(redis_server_integer(scene->server, "EXISTS gh:{files:of%%20%s}:f", scene->name), 0);
}

static const fault_operation remove_file = {
    "remove", sizeof(gh_file_remove), sizeof(shelf), 7, prepare_shelf, begin_remove, fault_poll_op,
    NULL,     fault_cancel_op,        audit_remove};

FAULT_TESTS(send_file)
FAULT_TESTS(read_file)
FAULT_TESTS(list)
FAULT_TESTS(look)
FAULT_TESTS(remove_file)
FAULT_CANCEL_TEST(send_file)
FAULT_CANCEL_TEST(read_file)
FAULT_CANCEL_TEST(list)
FAULT_CANCEL_TEST(look)
FAULT_CANCEL_TEST(remove_file)

TEST_FILE(files_faults, FAULT_TEST_LIST(send_file), FAULT_TEST_LIST(read_file), FAULT_TEST_LIST(list),
          FAULT_TEST_LIST(look), FAULT_TEST_LIST(remove_file), FAULT_CANCEL_TEST_LIST(send_file),
          FAULT_CANCEL_TEST_LIST(read_file), FAULT_CANCEL_TEST_LIST(list), FAULT_CANCEL_TEST_LIST(look),
          FAULT_CANCEL_TEST_LIST(remove_file));
