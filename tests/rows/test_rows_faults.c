/* Every fault of support/fault.h over every operation of rows, and bad input of every function. The store is
   audited by the layout of KEYS.md. */

#include "client/op.h"
#include "support/faults/fault.h"
#include "support/scene/refresher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LONG_US (600 * SECOND_US)

/* "<period> <max age> <failures> <version> <claimed> <state> <claim> <setter>" */
typedef struct stored_row
{
    bool exists;
    bool is_due; /* in the zset */
    uint64_t period_us;
    uint64_t version;
    unsigned failures;
    char state;
    bool has_value;
    uint64_t value_version;
} stored_row;

static stored_row row_stored(fault_scene* scene)
{
    stored_row row;
    memset(&row, 0, sizeof(row));
    const char* text = redis_server_text(scene->server, "HGET %s %s", row_key(scene->name, 'm'), scene->name);
    row.exists = text != NULL;
    if (text != NULL)
        assert_int_equal(sscanf(text, "%" SCNu64 " %*u %u %" SCNu64 " %*u %c", &row.period_us, &row.failures,
                                &row.version, &row.state),
                         4);
    row.is_due = redis_server_text(scene->server, "ZSCORE %s %s", row_key(scene->name, 'd'), scene->name) != NULL;
    text = redis_server_text(scene->server, "HGET %s %s", row_key(scene->name, 'v'), scene->name);
    row.has_value = text != NULL;
    if (text != NULL) assert_int_equal(sscanf(text, "%" SCNu64, &row.value_version), 1);
    assert_int_equal(row.exists, row.is_due);
    return row;
}

/* ---- schedule ------------------------------------------------------------------------------------------ */

static void begin_schedule(fault_scene* scene)
{
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.period_us = LONG_US;
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_row_schedule_begin(scene->op, scene->game->client, fault_name(scene), &config), GH_OK);
}

static void audit_schedule(fault_scene* scene, gh_status status)
{
    stored_row row = row_stored(scene);
    assert_true(row.exists || status == GH_CANCELLED);
    if (row.exists) assert_int_equal(row.period_us, LONG_US);
    assert_status(row_unschedule(scene->other, scene->name), row.exists ? GH_OK : GH_GONE);
}

static const fault_operation schedule_row = {
    "rsched",        sizeof(gh_row_schedule), 0, 2, NULL, begin_schedule, fault_poll_op, NULL,
    fault_cancel_op, audit_schedule};

/* ---- unschedule ---------------------------------------------------------------------------------------- */

static void prepare_unschedule(fault_scene* scene)
{
    assert_status(row_schedule(scene->other, scene->name, LONG_US), GH_OK);
}

static void begin_unschedule(fault_scene* scene)
{
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_row_unschedule_begin(scene->op, scene->game->client, fault_name(scene), &config), GH_OK);
}

static void audit_unschedule(fault_scene* scene, gh_status status)
{
    stored_row row = row_stored(scene);
    assert_true(!row.exists || status == GH_CANCELLED);
    assert_false(row.has_value);
}

static const fault_operation unschedule_row = {
    "runsch",        sizeof(gh_row_schedule), 0, 2, prepare_unschedule, begin_unschedule, fault_poll_op, NULL,
    fault_cancel_op, audit_unschedule};

/* ---- a whole refresh: claimed, loaded, stored ---------------------------------------------------------- */

static void prepare_refresh(fault_scene* scene)
{
    refresher* self = scene->op;
    refresher* set_up = refresher_new(scene->game, 2);
    *self = *set_up;
    self->config.context = self;
    self->config.slots = self->slots;
    self->config.memory = self->memory;
    prepare_unschedule(scene);
}

/* It looks at the row's shard first, and the others have to wait, so that the bytes are those of this row. */
static void begin_refresh(fault_scene* scene)
{
    refresher* self = scene->op;
    refresher_begin(self);
    for (unsigned i = 0; i < GH_ROWS_SHARDS; i++)
        if (i != row_shard(scene->name)) self->rows.look_us[i] += LONG_US;
    self->rows.shard = (uint8_t)row_shard(scene->name); /* nothing is encoded before the next tick */
    gh_op_send(&self->rows.op, 0);                      /* anew: on a Cluster, that shard's node may be another one */
}

static gh_status poll_refresh(const void* op)
{
    const refresher* self = op;
    return self->rows.stored > 0 ? GH_OK : gh_op_poll(&self->rows.op);
}

static void cancel_refresh(void* op)
{
    gh_op_cancel(&((refresher*)op)->rows.op);
}

static void audit_refresh(fault_scene* scene, gh_status status)
{
    refresher* self = scene->op;
    stored_row row = row_stored(scene);
    assert_true(row.exists);
    assert_int_equal(row.failures, 0);
    if (status == GH_OK)
    {
        assert_true(row.has_value);
        assert_int_equal(row.version, row.value_version);
        assert_int_equal(row.state, 'd');
        assert_int_equal(self->loads, 1); /* a claim whose answer was lost gives the same rows again, and no others */
    }
    gh_op_cancel(&self->rows.op);
    GAME_UNTIL(gh_op_poll(&self->rows.op) == GH_CANCELLED);
    assert_status(row_unschedule(scene->other, scene->name), GH_OK);
}

static const fault_operation refresh_row = {
    "rfresh",       sizeof(refresher), 0, 9, prepare_refresh, begin_refresh, poll_refresh, NULL,
    cancel_refresh, audit_refresh};

/* ---- bad input ----------------------------------------------------------------------------------------- */

static void begins_name_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    gh_row_schedule* op = GAME_NEW(a, gh_row_schedule);
    gh_row_get* get = GAME_NEW(a, gh_row_get);
    gh_str name = gh_str_literal("a");
    char bytes[GH_NAME_SIZE_MAX + 1] = {0};
    assert_status(gh_row_schedule_begin(NULL, a->client, name, NULL), GH_INVALID_OP);
    assert_status(gh_row_schedule_begin(op, NULL, name, NULL), GH_INVALID_CLIENT);
    assert_status(gh_row_unschedule_begin(NULL, a->client, name, NULL), GH_INVALID_OP);
    assert_status(gh_row_unschedule_begin(op, NULL, name, NULL), GH_INVALID_CLIENT);
    const gh_str names[] = {{"", 0}, {NULL, 3}, {bytes, sizeof(bytes)}, {bytes, SIZE_MAX}};
    gh_row_get_config get_config = gh_row_get_config_default();
    for (size_t i = 0; i < 4; i++)
    {
        assert_status(gh_row_schedule_begin(op, a->client, names[i], NULL), GH_INVALID_NAME);
        assert_status(gh_row_unschedule_begin(op, a->client, names[i], NULL), GH_INVALID_NAME);
        assert_status(gh_row_get_begin(get, a->client, names[i], &get_config), GH_INVALID_NAME);
    }
    const struct
    {
        uint64_t period_us, max_age_us, timeout_us;
        gh_status expected;
    } rows[] = {{0, 0, SECOND_US, GH_INVALID_ROW_PERIOD},
                {GH_ROWS_PERIOD_MIN_US - 1, 0, SECOND_US, GH_INVALID_ROW_PERIOD},
                {GH_ROWS_PERIOD_MAX_US + 1, 0, SECOND_US, GH_INVALID_ROW_PERIOD},
                {UINT64_MAX, 0, SECOND_US, GH_INVALID_ROW_PERIOD},
                {SECOND_US, SECOND_US - 1, SECOND_US, GH_INVALID_ROW_AGE},
                {SECOND_US, GH_ROWS_AGE_MAX_US + 1, SECOND_US, GH_INVALID_ROW_AGE},
                {SECOND_US, 0, 999, GH_INVALID_TIMEOUT},
                {SECOND_US, 0, UINT64_MAX, GH_INVALID_TIMEOUT}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    {
        gh_row_schedule_config config = gh_row_schedule_config_default();
        config.period_us = rows[i].period_us;
        config.max_age_us = rows[i].max_age_us;
        config.timeout_us = rows[i].timeout_us;
        assert_status(gh_row_schedule_begin(op, a->client, name, &config), rows[i].expected);
        assert_status(gh_row_unschedule_begin(op, a->client, name, &config), rows[i].expected);
    }
    gh_row_schedule_config skipped;
    memset(&skipped, 0, sizeof(skipped));
    assert_status(gh_row_schedule_begin(op, a->client, name, &skipped), GH_INVALID_CONFIG);
    assert_status(gh_row_unschedule_begin(op, a->client, name, &skipped), GH_INVALID_CONFIG);
    assert_status(gh_row_get_begin(NULL, a->client, name, &get_config), GH_INVALID_OP);
    assert_status(gh_row_get_begin(get, NULL, name, &get_config), GH_INVALID_CLIENT);
    assert_status(gh_row_get_begin(get, a->client, name, NULL), GH_INVALID_CONFIG);
    get_config.buffer_size = 1;
    assert_status(gh_row_get_begin(get, a->client, name, &get_config), GH_INVALID_BUFFER);
    get_config.buffer_size = 0;
    get_config.max_age_us = GH_ROWS_AGE_MAX_US + 1;
    assert_status(gh_row_get_begin(get, a->client, name, &get_config), GH_INVALID_ROW_AGE);
    get_config.max_age_us = 0;
    get_config.timeout_us = 0;
    assert_status(gh_row_get_begin(get, a->client, name, &get_config), GH_INVALID_TIMEOUT);
    assert_int_equal(game_stats(a).ops_begun, 0);
    assert_status(gh_row_schedule_begin(op, a->client, name, NULL), GH_OK);
    assert_status(gh_row_schedule_begin(op, a->client, name, NULL), GH_INVALID_OP);
}

static void refresher_names_the_field(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    gh_client_config client = game_config(redis_server_address(server));
    client.ops_capacity = 5;
    game* a = game_start_with(&client);
    refresher* self = refresher_new(a, 4);
    const gh_rows_config good = self->config;
    gh_rows_config config = good;
    assert_status(gh_rows_begin(NULL, a->client, &config), GH_INVALID_OP);
    assert_status(gh_rows_begin(&self->rows, NULL, &config), GH_INVALID_CLIENT);
    assert_status(gh_rows_begin(&self->rows, a->client, NULL), GH_INVALID_CONFIG);
#define ASSERT_ROWS_REFUSED(change, expected)                                                                          \
    config = good;                                                                                                     \
    config.change;                                                                                                     \
    assert_status(gh_rows_begin(&self->rows, a->client, &config), expected)
    ASSERT_ROWS_REFUSED(struct_size = 0, GH_INVALID_CONFIG);
    ASSERT_ROWS_REFUSED(loader = NULL, GH_INVALID_ROW_LOADER);
    ASSERT_ROWS_REFUSED(slots = NULL, GH_INVALID_ROW_SLOTS);
    ASSERT_ROWS_REFUSED(slot_count = 0, GH_INVALID_ROW_SLOTS);
    ASSERT_ROWS_REFUSED(slot_count = GH_ROWS_SLOTS_MAX + 1, GH_INVALID_ROW_SLOTS);
    ASSERT_ROWS_REFUSED(slot_count = 5, GH_NO_ROOM); /* and the refresher itself: one more than ops_capacity */
    ASSERT_ROWS_REFUSED(memory = NULL, GH_INVALID_BUFFER);
    ASSERT_ROWS_REFUSED(lease_us = GH_ROWS_LEASE_MIN_US - 1, GH_INVALID_LEASE);
    ASSERT_ROWS_REFUSED(lease_us = GH_ROWS_LEASE_MAX_US + 1, GH_INVALID_LEASE);
    ASSERT_ROWS_REFUSED(load_us = 999, GH_INVALID_TIMEOUT);
    ASSERT_ROWS_REFUSED(load_us = 3600 * SECOND_US + 1, GH_INVALID_TIMEOUT);
    ASSERT_ROWS_REFUSED(backoff_min_us = 999, GH_INVALID_ROW_BACKOFF);
    ASSERT_ROWS_REFUSED(backoff_min_us = good.backoff_max_us + 1, GH_INVALID_ROW_BACKOFF);
    ASSERT_ROWS_REFUSED(backoff_max_us = GH_ROWS_BACKOFF_MAX_US + 1, GH_INVALID_ROW_BACKOFF);
    assert_int_equal(game_stats(a).ops_begun, 0);
    assert_status(gh_rows_begin(&self->rows, a->client, &good), GH_OK);
    assert_status(gh_rows_begin(&self->rows, a->client, &good), GH_INVALID_OP);
    gh_op_cancel(&self->rows.op);
    GAME_UNTIL(gh_op_poll(&self->rows.op) == GH_CANCELLED);
}

static void idle_ops_take_every_call(void** state)
{
    (void)state;
    gh_row_schedule schedule = {0};
    gh_row_get get = {0};
    gh_rows rows = {0};
    assert_status(gh_op_poll(&schedule.op), GH_IDLE);
    gh_op_cancel(&schedule.op);
    assert_status(gh_op_poll(&get.op), GH_IDLE);
    gh_op_cancel(&get.op);
    assert_status(gh_op_poll(&rows.op), GH_IDLE);
    gh_rows_end(NULL);
    gh_rows_end(&rows);
    gh_op_cancel(&rows.op);
    assert_true(sizeof(gh_row_schedule) <= 384 && sizeof(gh_row_get) <= 384);
}

static void names_and_values_may_hold_any_byte(void** state)
{
    (void)state;
    static const char name_bytes[] = "a\0b} {:\r\n\xff";
    static const char value_bytes[] = "\0 1 2 v \r\n$-1\r\n\xff";
    const gh_str name = gh_str_make(name_bytes, sizeof(name_bytes) - 1);
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 1);
    row_read* read = row_read_new(a);
    gh_row_schedule* op = GAME_NEW(a, gh_row_schedule);
    self->keeps = true;
    refresher_begin(self);
    assert_status(gh_row_schedule_begin(op, a->client, name, NULL), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    assert_status(gh_row_complete(self->open[0], GH_OK, gh_str_make(value_bytes, sizeof(value_bytes) - 1)), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
    assert_status(gh_row_get_begin(&read->get, a->client, name, &read->config), GH_OK);
    GAME_UNTIL(gh_op_poll(&read->get.op) != GH_PENDING);
    assert_status(gh_op_poll(&read->get.op), GH_OK);
    assert_int_equal(read->get.value.size, sizeof(value_bytes) - 1);
    assert_memory_equal(read->get.value.bytes, value_bytes, sizeof(value_bytes) - 1);
}

/* A schedule that a frozen server carries out after the unschedule that followed it would bring the row back
   for ever. */
static void older_request_never_undoes_a_newer_one(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    chaos_proxy* proxy = proxy_start(redis_server_address(server), PROXY_UNIX);
    gh_client_config config = game_config(proxy_address(proxy));
    config.wake = false;
    config.request_timeout_us = SECOND_US / 20;
    game* a = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(a->client));
    assert_status(row_schedule(a, "other", LONG_US), GH_OK); /* the scripts are loaded */
    assert_status(row_unschedule(a, "other"), GH_OK);
    proxy_arm(proxy, PROXY_REQUEST, 0, PROXY_HOLD); /* the first try gets stuck on its way, the second is carried out */
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    assert_int_equal(proxy_fired(proxy), 1);
    assert_status(row_unschedule(a, "itemX"), GH_OK);
    long long calls = redis_server_calls(server, "evalsha");
    proxy_release(proxy);
    WAIT_FOR(redis_server_calls(server, "evalsha") > calls);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'd')), 0);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'm')), 0);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    assert_int_equal(redis_server_integer(server, "EXISTS %s", row_key("itemX", 'd')), 1);
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

FAULT_TESTS(schedule_row)
FAULT_TESTS(unschedule_row)
FAULT_TESTS(refresh_row)
FAULT_CANCEL_TEST(schedule_row)
FAULT_CANCEL_TEST(unschedule_row)
FAULT_CANCEL_TEST(refresh_row)

TEST_FILE(rows_faults, FAULT_TEST_LIST(schedule_row), FAULT_TEST_LIST(unschedule_row), FAULT_TEST_LIST(refresh_row),
          FAULT_CANCEL_TEST_LIST(schedule_row), FAULT_CANCEL_TEST_LIST(unschedule_row),
          FAULT_CANCEL_TEST_LIST(refresh_row), cmocka_unit_test(begins_name_the_field),
          cmocka_unit_test(refresher_names_the_field), cmocka_unit_test(idle_ops_take_every_call),
          cmocka_unit_test(names_and_values_may_hold_any_byte),
          cmocka_unit_test(older_request_never_undoes_a_newer_one));
