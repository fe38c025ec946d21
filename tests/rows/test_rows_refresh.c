/* What refreshers do when things go wrong: loaders that fail, hang or come twice, refreshers that die or
   compete, outages. */

#include "support/process.h"
#include "support/scene/refresher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_US (SECOND_US / 5)
#define LONG_US   (600 * SECOND_US)

static void pass_time(uint64_t pause_us)
{
    uint64_t begun_us = wait_now_us();
    GAME_UNTIL(wait_now_us() - begun_us >= pause_us);
}

/* ---- loaders ------------------------------------------------------------------------------------------- */

static void failing_loader_is_called_less_and_less_often(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher* self = refresher_new(a, 4);
    self->config.backoff_min_us = SECOND_US / 20;
    self->config.backoff_max_us = 60 * SECOND_US;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", GH_ROWS_PERIOD_MIN_US), GH_OK);
    GAME_UNTIL(self->rows.stored >= 1);
    self->outcome = GH_ERROR; /* the database is down */
    GAME_UNTIL(self->rows.failed == 1);
    uint64_t last_us = refresher_row(self, "itemX")->loaded_us;
    for (uint64_t failures = 1; failures <= 5; failures++)
    {
        GAME_UNTIL(self->rows.failed == failures + 1);
        uint64_t now_us = refresher_row(self, "itemX")->loaded_us;
        assert_true(now_us - last_us >= (self->config.backoff_min_us << (failures - 1)) / 2);
        last_us = now_us;
    }
    assert_status(row_get(a, read, "itemX"), GH_OLD); /* the last good value is there, and says how old it is */
    assert_true(read->get.value.size > 0);
    self->outcome = GH_OK;
    uint64_t stored = self->rows.stored;
    GAME_UNTIL(self->rows.stored >= stored + 2); /* and after the first success it is as often as ever */
    assert_true(wait_now_us() - last_us < 60 * SECOND_US);
}

static void loader_that_never_ends_keeps_no_row(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    refresher* stuck = refresher_new(a, 1);
    stuck->keeps = true;
    stuck->config.load_us = SECOND_US / 5;
    stuck->config.backoff_min_us = 1000;
    refresher_begin(stuck);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(stuck->open_count == 1);
    refresher* other = refresher_start(b, 4);
    GAME_UNTIL(other->rows.stored == 1);
    assert_int_equal(stuck->rows.failed, 1);
    assert_int_equal(stuck->rows.loading, 1); /* the slot is still the loader's */
    assert_false(gh_row_load_is_wanted(stuck->open[0]));
    gh_row_load load = stuck->open[0];
    assert_status(refresher_complete(stuck, 0, GH_OK, "too late"), GH_LOST);
    assert_int_equal(stuck->rows.loading, 0);
    assert_status(gh_row_complete(load, GH_OK, gh_str_literal("twice")), GH_INVALID_ROW_LOAD);
    row_read* read = row_read_new(a);
    assert_status(row_get(a, read, "itemX"), GH_OK);
    assert_true(row_is(read, "itemX:1"));
}

static void load_is_completed_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 1);
    static char large[GH_ROW_SIZE_MAX + 1];
    self->keeps = true;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    gh_row_load load = self->open[0];
    gh_row_load none = {NULL, 0};
    gh_row_load other = {load.slot, load.ticket + 1};
    assert_status(gh_row_complete(none, GH_OK, gh_str_literal("x")), GH_INVALID_ROW_LOAD);
    assert_status(gh_row_complete(other, GH_OK, gh_str_literal("x")), GH_INVALID_ROW_LOAD);
    assert_status(gh_row_complete(load, GH_OK, gh_str_make(large, sizeof(large))), GH_INVALID_ROW_VALUE);
    assert_status(gh_row_complete(load, GH_OK, gh_str_make(NULL, 1)), GH_INVALID_ROW_VALUE);
    assert_false(gh_row_load_is_wanted(none));
    assert_true(gh_row_load_is_wanted(load));
    assert_status(refresher_complete(self, 0, GH_OK, "x"), GH_OK);
    assert_status(gh_row_complete(load, GH_OK, gh_str_literal("y")), GH_INVALID_ROW_LOAD);
    GAME_UNTIL(self->open_count == 1); /* the same slot, the next load: the old handle is nothing to it */
    assert_ptr_equal(self->open[0].slot, load.slot);
    assert_status(gh_row_complete(load, GH_OK, gh_str_literal("y")), GH_INVALID_ROW_LOAD);
    assert_true(gh_row_load_is_wanted(self->open[0]));
}

static void value_must_fit_the_slot(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(a, 1);
    row_read* read = row_read_new(a);
    self->config.memory_size = 5;
    self->config.backoff_min_us = 1000;
    self->config.backoff_max_us = 1000;
    for (int size = 4; size <= 6; size++)
    {
        char name[16];
        snprintf(name, sizeof(name), "r%d", size);
        self->value = &"123456"[6 - size];
        refresher_begin(self);
        assert_status(row_schedule(a, name, LONG_US), GH_OK);
        GAME_UNTIL(self->loads > 0);
        assert_status(self->last_answer, size <= 5 ? GH_OK : GH_TOO_SMALL);
        if (size <= 5) GAME_UNTIL(row_get(a, read, name) == GH_OK);
        if (size <= 5) assert_true(row_is(read, self->value));
        gh_op_cancel(&self->rows.op);
        GAME_UNTIL(gh_op_poll(&self->rows.op) == GH_CANCELLED);
        self->loads = 0;
    }
    assert_true(self->rows.failed > 0);
}

/* ---- budgets and bounds -------------------------------------------------------------------------------- */

static void refresher_takes_no_more_than_its_slots(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    char name[16];
    for (int i = 0; i < 30; i++)
    {
        snprintf(name, sizeof(name), "row %d", i);
        assert_status(row_schedule(a, name, LONG_US), GH_OK);
    }
    for (size_t slots = 1; slots <= 11; slots += 5)
    {
        refresher* self = refresher_new(a, slots);
        self->keeps = true;
        refresher_begin(self);
        GAME_UNTIL(self->open_count == slots);
        pass_time(SECOND_US / 20);
        assert_int_equal(self->open_count, slots);
        assert_int_equal(self->rows.loading, slots);
        gh_op_cancel(&self->rows.op);
        GAME_UNTIL(gh_op_poll(&self->rows.op) == GH_CANCELLED);
        assert_status(refresher_complete(self, 0, GH_OK, "late"), GH_LOST);
    }
}

static void slow_load(void* context, gh_row_load load, gh_str name)
{
    unsigned* calls = context;
    uint64_t end_us = wait_now_us() + 2000;
    (void)name;
    while (wait_now_us() < end_us) continue;
    ++*calls;
    assert_status(gh_row_complete(load, GH_OK, gh_str_literal("x")), GH_OK);
}

static void tick_begins_no_more_loads_than_its_budget_bears(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    refresher* self = refresher_new(b, 16);
    unsigned calls = 0;
    char name[16];
    self->config.loader = slow_load;
    self->config.context = &calls;
    b->asleep = true;
    for (int i = 0; i < 16; i++)
    {
        snprintf(name, sizeof(name), "row %d", i);
        assert_status(row_schedule(a, name, LONG_US), GH_OK);
    }
    refresher_begin(self);
    uint64_t end_us = wait_cap_us();
    while (self->rows.stored < 16)
    {
        unsigned before = calls;
        assert_true(wait_now_us() < end_us);
        assert_status(gh_tick(b->client, game_now_us(b), 500), GH_OK);
        assert_in_range(calls - before, 0, 1); /* each takes four budgets: one in a tick, and not none for ever */
        wait_briefly();
    }
    assert_int_equal(calls, 16);
}

/* A database that was away for a hundred periods is not asked a hundred times for each row, nor for all of
   them at once again and again. */
static void no_storm_after_an_outage(void** state)
{
    (void)state;
    enum
    {
        ROWS = 20
    };
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    char name[16];
    for (int i = 0; i < ROWS; i++)
    {
        snprintf(name, sizeof(name), "row %d", i);
        assert_status(row_schedule(a, name, 2 * SECOND_US), GH_OK);
        redis_server_do(server, "ZADD %s 1 %s", row_key(name, 'd'), name); /* due for fifty years */
    }
    refresher* self = refresher_start(a, 4);
    GAME_UNTIL(self->rows.stored == ROWS);
    assert_true(self->rows.late_us > LONG_US);
    pass_time(SECOND_US);
    assert_int_equal(self->loads, ROWS);
    GAME_UNTIL(self->rows.stored == 2 * ROWS);
    assert_true(self->rows.late_us < LONG_US / 10); /* as late as the machine is */
    long long first = 0, last = 0;                  /* they part by chance */
    for (int i = 0; i < ROWS; i++)
    {
        snprintf(name, sizeof(name), "row %d", i);
        long long due = redis_server_integer(server, "ZSCORE %s %s", row_key(name, 'd'), name);
        if (i == 0 || due < first) first = due;
        if (i == 0 || due > last) last = due;
    }
    assert_true(last - first > 20000);
}

/* ---- refreshers ---------------------------------------------------------------------------------------- */

static void rows_of_a_dead_refresher_are_taken_over(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* dead = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(b);
    refresher* stuck = refresher_new(dead, 4);
    stuck->keeps = true;
    stuck->config.lease_us = GH_ROWS_LEASE_MIN_US;
    refresher_begin(stuck);
    assert_status(row_schedule(b, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(stuck->open_count == 1);
    refresher* other = refresher_start(b, 4);
    game_end(dead);
    GAME_UNTIL(other->rows.stored == 1);
    assert_status(row_get(b, read, "itemX"), GH_OK);
}

static void claim_that_was_lost_is_told_and_stores_nothing(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(b);
    refresher* slow = refresher_new(a, 4);
    slow->keeps = true;
    slow->config.lease_us = GH_ROWS_LEASE_MIN_US;
    refresher_begin(slow);
    assert_status(row_schedule(b, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(slow->open_count == 1);
    a->asleep = true; /* it hangs for longer than its lease */
    refresher* other = refresher_start(b, 4);
    GAME_UNTIL(other->rows.stored == 1);
    a->asleep = false;
    a->ahead_us -= 100 * (int64_t)SECOND_US; /* and has not noticed */
    assert_status(refresher_complete(slow, 0, GH_OK, "old"), GH_OK);
    GAME_UNTIL(slow->rows.lost == 1);
    assert_status(row_get(b, read, "itemX"), GH_OK);
    assert_true(row_is(read, "itemX:1"));
}

static void stop_ends_what_was_begun_and_begins_no_more(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher* self = refresher_new(a, 4);
    self->keeps = true;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", PERIOD_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    gh_rows_end(&self->rows);
    pass_time(SECOND_US / 20);
    assert_status(gh_op_poll(&self->rows.op), GH_PENDING);
    assert_status(refresher_complete(self, 0, GH_OK, "in the end"), GH_OK);
    GAME_UNTIL(gh_op_poll(&self->rows.op) != GH_PENDING);
    assert_status(gh_op_poll(&self->rows.op), GH_OK);
    assert_status(row_get(a, read, "itemX"), GH_OK);
    assert_int_equal(self->loads, 1);
    refresher_begin(self); /* again, with the same slots */
    GAME_UNTIL(self->open_count == 1);
}

static void cancel_and_drain_give_back_at_once(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    game* b = game_start_ready(redis_server_address(server));
    for (int drain = 0; drain < 2; drain++)
    {
        game* c = game_start_ready(redis_server_address(server));
        refresher* self = refresher_new(c, 4);
        const char* name = drain ? "itemD" : "itemC";
        self->keeps = true;
        self->config.lease_us = GH_ROWS_LEASE_MAX_US;
        refresher_begin(self);
        assert_status(row_schedule(a, name, LONG_US), GH_OK);
        GAME_UNTIL(self->open_count == 1);
        refresher* other = refresher_start(b, 4);
        GAME_UNTIL(other->rows.claim >= GH_ROWS_SHARDS &&
                   game_stats(b).requests_sent == 0); /* it has looked everywhere */
        assert_int_equal(other->loads, 0);
        uint64_t hints = game_stats(b).hints;
        if (drain) assert_status(gh_client_drain(c->client, 5 * SECOND_US), GH_OK);
        else gh_op_cancel(&self->rows.op);
        GAME_UNTIL(gh_op_poll(&self->rows.op) != GH_PENDING);
        assert_status(gh_op_poll(&self->rows.op), GH_CANCELLED);
        if (drain) GAME_UNTIL(gh_client_drained(c->client));
        assert_status(refresher_complete(self, 0, GH_OK, "late"), GH_LOST);
        GAME_UNTIL(other->rows.stored == 1);
        GAME_UNTIL(game_stats(b).hints > hints); /* it was told, and did not only look again */
        gh_op_cancel(&other->rows.op);
        GAME_UNTIL(gh_op_poll(&other->rows.op) == GH_CANCELLED);
    }
}

static void schedules_are_made_again_after_the_store_lost_its_data(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    refresher* self = refresher_new(a, 4);
    self->keeps = true;
    refresher_begin(self);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(self->open_count == 1);
    redis_server_restart_empty(server);
    GAME_UNTIL(!gh_row_load_is_wanted(self->open[0]));
    assert_status(refresher_complete(self, 0, GH_OK, "of before"), GH_LOST);
    assert_status(row_get(a, read, "itemX"), GH_GONE);
    self->keeps = false;
    assert_status(row_schedule(a, "itemX", LONG_US), GH_OK);
    GAME_UNTIL(row_get(a, read, "itemX") == GH_OK);
}

static void foreign_keys_are_corrupt(void** state)
{
    (void)state;
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_read* read = row_read_new(a);
    redis_server_do(server, "HSET %s itemX nonsense", row_key("itemX", 'v'));
    redis_server_do(server, "HSET %s itemX nonsense", row_key("itemX", 'm'));
    assert_status(row_get(a, read, "itemX"), GH_CORRUPT);
    assert_status(row_schedule(a, "itemX", LONG_US), GH_CORRUPT);
    redis_server_do(server, "ZADD %s 1 itemX", row_key("itemX", 'd'));
    refresher* self = refresher_start(a, 4);
    GAME_UNTIL(self->rows.trouble == GH_CORRUPT);
    assert_status(gh_op_poll(&self->rows.op), GH_PENDING); /* the other shards go on */
    assert_status(row_schedule(a, "itemY", LONG_US), GH_OK);
    GAME_UNTIL(self->rows.stored == 1);
}

/* ---- processes that compete ---------------------------------------------------------------------------- */

typedef struct row_fleet
{
    char address[128];
} row_fleet;

typedef struct load_record
{
    uint64_t begun_us;
    uint64_t ended_us;
    char name[16];
} load_record;

static int refresh_for_a_while(void* context, int results)
{
    row_fleet* fleet = context;
    game_forget_all();
    game* server = game_start(fleet->address);
    refresher* self = refresher_new(server, 4);
    self->keeps = true;
    CHILD_CHECK(gh_rows_begin(&self->rows, server->client, &self->config) == GH_OK);
    uint64_t end_us = wait_now_us() + 2 * SECOND_US;
    while (gh_op_poll(&self->rows.op) == GH_PENDING)
    {
        if (wait_now_us() >= end_us) gh_rows_end(&self->rows);
        game_tick_all();
        if (self->open_count == 0) continue;
        load_record record = {.begun_us = refresher_row(self, self->open_names[0])->loaded_us,
                              .ended_us = wait_now_us()};
        snprintf(record.name, sizeof(record.name), "%.7s", self->open_names[0]);
        CHILD_CHECK(refresher_complete(self, 0, GH_OK, record.name) == GH_OK);
        CHILD_CHECK(write(results, &record, sizeof(record)) == sizeof(record));
    }
    return self->rows.lost == 0 ? 0 : 1;
}

/* With the naive way all servers refresh the same row. Here each is loaded by one at a time, about once a
   period, however many run. */
static void one_refresher_has_a_row_at_a_time(void** state)
{
    (void)state;
    enum
    {
        PROCESSES = 4,
        ROWS = 10,
        RECORDS_MAX = 4096
    };
    static load_record records[RECORDS_MAX];
    redis_server* server = redis_server_start(NULL);
    game* a = game_start_ready(redis_server_address(server));
    row_fleet fleet;
    child_process* children[PROCESSES];
    size_t count = 0;
    char name[16];
    for (int i = 0; i < ROWS; i++)
    {
        snprintf(name, sizeof(name), "r%d", i);
        assert_status(row_schedule(a, name, PERIOD_US), GH_OK);
    }
    snprintf(fleet.address, sizeof(fleet.address), "%s", redis_server_address(server));
    for (int i = 0; i < PROCESSES; i++) children[i] = child_start(refresh_for_a_while, &fleet);
    for (int i = 0; i < PROCESSES; i++)
    {
        while (count < RECORDS_MAX &&
               child_read(children[i], &records[count], sizeof(load_record)) == sizeof(load_record))
            count++;
        assert_int_equal(child_wait(children[i]), 0);
    }
    uint64_t first_us = UINT64_MAX;
    uint64_t last_us = 0;
    for (size_t i = 0; i < count; i++)
    {
        if (records[i].begun_us < first_us) first_us = records[i].begun_us;
        if (records[i].ended_us > last_us) last_us = records[i].ended_us;
    }
    assert_in_range(count, ROWS, ROWS * ((last_us - first_us) / (PERIOD_US * 9 / 10) + 2)); /* less up to a tenth */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(records[i].name, records[j].name) == 0)
                assert_true(records[i].begun_us >= records[j].ended_us || records[j].begun_us >= records[i].ended_us);
    for (int i = 0; i < ROWS; i++)
    {
        snprintf(name, sizeof(name), "r%d", i);
        const char* value = redis_server_text(server, "HGET %s %s", row_key(name, 'v'), name);
        assert_non_null(value);
        assert_string_equal(value + strlen(value) - strlen(name), name);
    }
}

TEST_FILE(rows_refresh, cmocka_unit_test(failing_loader_is_called_less_and_less_often),
          cmocka_unit_test(loader_that_never_ends_keeps_no_row), cmocka_unit_test(load_is_completed_once),
          cmocka_unit_test(value_must_fit_the_slot), cmocka_unit_test(refresher_takes_no_more_than_its_slots),
          cmocka_unit_test(tick_begins_no_more_loads_than_its_budget_bears), cmocka_unit_test(no_storm_after_an_outage),
          cmocka_unit_test(rows_of_a_dead_refresher_are_taken_over),
          cmocka_unit_test(claim_that_was_lost_is_told_and_stores_nothing),
          cmocka_unit_test(stop_ends_what_was_begun_and_begins_no_more),
          cmocka_unit_test(cancel_and_drain_give_back_at_once),
          cmocka_unit_test(schedules_are_made_again_after_the_store_lost_its_data),
          cmocka_unit_test(foreign_keys_are_corrupt), cmocka_unit_test(one_refresher_has_a_row_at_a_time));
