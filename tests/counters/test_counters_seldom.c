/* Counters whose adds cannot be sent for longer than a batch may be old, and clients that end with some. In a world
   that is made up. */

#include "support/scene/game.h"
#include "support/server/scripted.h"

#include "counters/counters_state.h"

#include <stdio.h>

#define MS UINT64_C(1000)

typedef struct store
{
    gh_counters* counters;
    long long sum; /* of what has arrived */
    unsigned batches;
    bool mute;
} store;

/* A batch is of one counter, whose sum stands last; its client and sequence stand first. */
static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    store* self = world->context;
    if (!scripted_runs_on(words, count, "gh:{counters:")) return false;
    if (self->mute) return true;
    const size_t first = 3 + (size_t)scripted_number(words[2]);
    self->batches++;
    self->sum += scripted_number(words[count - 1]);
    buffer_add_bulk(reply, "%lld 0 1000000000000000 -", scripted_number(words[first + 1]));
    return true;
}

static store* start(scripted* world)
{
    store* self = SCRIPTED_NEW(world, store);
    gh_counters_config config = gh_counters_config_default();
    config.clean_us = 0;
    config.precision_count = 1;
    world->context = self;
    world->answer = answer;
    scripted_start_ready(world, NULL);
    const size_t size = gh_counters_memory(&config);
    char* memory = scripted_keep(world, size + 16);
    memory += (16 - (uintptr_t)memory % 16) % 16;
    assert_status(gh_counters_init(&self->counters, world->client, &config, memory, size), GH_OK);
    return self;
}

static gh_counter add(const store* self, int64_t delta)
{
    gh_counter counter;
    assert_status(gh_counters_open(self->counters, gh_str_literal("kills"), &counter), GH_OK);
    assert_status(gh_counters_add(self->counters, counter, delta), GH_OK);
    return counter;
}

static gh_counters_stats stats_of(const store* self)
{
    gh_counters_stats stats;
    assert_status(gh_counters_get_stats(self->counters, &stats), GH_OK);
    return stats;
}

static void part(scripted* world, bool part)
{
    world->open_status = part ? GH_REFUSED : GH_OK;
    for (int i = 0; part && i < SCRIPTED_STREAMS_MAX; i++) world->streams[i].ended = true;
}

static void wait_seconds(scripted* world, unsigned seconds)
{
    for (unsigned i = 0; i < seconds * 20; i++) scripted_tick(world, 50 * MS);
}

/* In a world whose server has just gone. */
static store* start_parted(scripted* world)
{
    store* self = start(world);
    part(world, true);
    scripted_tick(world, MS);
    return self;
}

/* Ten minutes without a server: what was never sent is counted in the end, with what was added since. */
static void adds_that_were_never_sent_are_counted_later(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    store* self = start_parted(world);
    add(self, 5);
    wait_seconds(world, 200);
    add(self, 7);
    wait_seconds(world, 400);
    assert_int_equal(stats_of(self).waiting, 2);
    part(world, false);
    wait_seconds(world, 60);
    assert_int_equal(self->sum, 12);
    assert_int_equal(stats_of(self).counted, 2);
    assert_int_equal(stats_of(self).unknown + stats_of(self).refused, 0);
}

/* Together they are held at what a sum may be. */
static void adds_that_come_back_are_held_at_the_limit(void** state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
    {
        scripted* world = scripted_new();
        store* self = start_parted(world);
        add(self, sign * GH_COUNTERS_SUM_MAX);
        wait_seconds(world, 10);
        add(self, sign * GH_COUNTERS_SUM_MAX);
        wait_seconds(world, 400);
        assert_int_equal(stats_of(self).saturated, 1);
        part(world, false);
        wait_seconds(world, 60);
        assert_true(self->sum == sign * GH_COUNTERS_SUM_MAX);
    }
}

/* While they are to end, too. */
static void end_waits_for_adds_that_come_back(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    store* self = start_parted(world);
    add(self, 5);
    gh_counters_end(self->counters);
    wait_seconds(world, 400);
    assert_status(gh_counters_poll(self->counters), GH_PENDING);
    part(world, false);
    wait_seconds(world, 60);
    assert_status(gh_counters_poll(self->counters), GH_IDLE);
    assert_int_equal(self->sum, 5);
}

/* What was sent may be counted; what was not, is not. */
static void client_ends_with_adds(void** state)
{
    (void)state;
    for (int sent = 0; sent < 2; sent++)
    {
        scripted* world = scripted_new();
        store* self = start(world);
        self->mute = true;
        if (sent == 0) part(world, true);
        scripted_tick(world, MS);
        add(self, 5);
        wait_seconds(world, 2);
        gh_client_shutdown(world->client);
        assert_int_equal(stats_of(self).unknown, sent);
        assert_int_equal(stats_of(self).refused, 1 - sent);
        assert_true(gh_counters_poll(self->counters) != GH_PENDING);
    }
}

/* ---- the cleaner ------------------------------------------------------------------------------------------------- */

typedef struct dirt
{
    gh_counters* counters;
    unsigned asked;         /* about shards                                    */
    long long remaining_ms; /* of another's lease; 0: it is ours       */
    unsigned leases;
} dirt;

/* There is ever more to be cleaned in each shard. */
static bool answer_dirty(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    dirt* self = world->context;
    char text[128];
    if (!scripted_runs_on(words, count, "gh:{counters:")) return false;
    const unsigned long long sequence = self->counters->cleaning.op.sequence;
    if (gh_str_equal(words[3], gh_str_literal("gh:{counters:clean}:l")))
    {
        self->leases++;
        buffer_add_bulk(reply, "%llu %d %lld 1000000000000000", sequence, self->remaining_ms > 0, self->remaining_ms);
        return true;
    }
    self->asked++;
    const int size = snprintf(text, sizeof text, "*4\r\n:%llu\r\n:1\r\n:0\r\n:0\r\n", sequence);
    buffer_add(reply, text, (size_t)size);
    return true;
}

static dirt* start_cleaning_as(scripted* world, uint64_t clean_us, scripted_answer answers)
{
    dirt* self = SCRIPTED_NEW(world, dirt);
    gh_counters_config config = gh_counters_config_default();
    config.clean_us = clean_us;
    world->context = self;
    scripted_start_ready(world, NULL);
    world->answer = answers;
    const size_t size = gh_counters_memory(&config);
    char* memory = scripted_keep(world, size + 16);
    memory += (16 - (uintptr_t)memory % 16) % 16;
    assert_status(gh_counters_init(&self->counters, world->client, &config, memory, size), GH_OK);
    return self;
}

static dirt* start_cleaning(scripted* world, long long remaining_ms)
{
    dirt* self = start_cleaning_as(world, SECOND_US, answer_dirty);
    self->remaining_ms = remaining_ms;
    return self;
}

/* Nothing is to be cleaned. */
static bool answer_clean(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    dirt* self = world->context;
    char text[128];
    if (!scripted_runs_on(words, count, "gh:{counters:")) return false;
    const gh_str* args = words + 3 + scripted_number(words[2]);
    if (gh_str_equal(words[3], gh_str_literal("gh:{counters:clean}:l")))
    {
        self->leases++;
        buffer_add_bulk(reply, "%lld 0 %lld 1000000000000000", scripted_number(args[1]), scripted_number(args[2]));
        return true;
    }
    self->asked++;
    const int size = snprintf(text, sizeof text, "*4\r\n:%lld\r\n:0\r\n:0\r\n:0\r\n", scripted_number(args[0]));
    buffer_add(reply, text, (size_t)size);
    return true;
}

/* However often rounds begin, a slow answer is no end of the lease: each shard is asked once a round. */
static void slow_answers_do_not_keep_the_cleaner_from_cleaning(void** state)
{
    (void)state;
    const unsigned slow_ms[] = {1, 90, 140, 290, 1000, 1900};
    for (size_t i = 0; i < sizeof slow_ms / sizeof slow_ms[0]; i++)
    {
        scripted* world = scripted_new();
        dirt* self = start_cleaning_as(world, 100 * MS, answer_clean);
        gh_counters_stats stats = {0};
        world->silent = true;
        for (unsigned k = 0; k < 200 && stats.rounds == 0; k++)
        {
            for (unsigned ms = 0; ms < slow_ms[i]; ms++) scripted_tick(world, MS);
            scripted_speak(world);
            world->silent = true;
            assert_status(gh_counters_get_stats(self->counters, &stats), GH_OK);
        }
        if (stats.rounds != 1) fail_msg("%u ms: %u shards, %u leases", slow_ms[i], self->asked, self->leases);
        assert_int_equal(self->asked, 64);
        assert_int_equal(scripted_stats(world).links_lost, 0);
    }
}

/* It goes on to the next shard, and the rest waits for the next round. */
static void shard_that_is_never_clean_does_not_stop_the_cleaner(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    dirt* self = start_cleaning(world, 0);
    gh_counters_stats stats;
    for (int i = 0; i < 60000; i++)
    {
        scripted_tick(world, MS);
        assert_status(gh_counters_get_stats(self->counters, &stats), GH_OK);
        if (stats.rounds > 0) break;
    }
    assert_int_equal(stats.rounds, 1);
    assert_true(stats.cleaner);
    assert_int_equal(self->asked, 64 * 32);
}

/* Whatever stands in the key: no process waits longer for its turn than a lease of its own would last. */
static void lease_of_another_that_is_too_long_is_not_believed(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    dirt* self = start_cleaning(world, 9000000000000);
    wait_seconds(world, 120);
    assert_in_range(self->leases, 2, 200);
    assert_int_equal(self->asked, 0);
}

/* The control op, the cleaner and the lanes need their places among the client's ops. */
static void client_without_room_takes_no_counters(void** state)
{
    (void)state;
    scripted* world = scripted_new();
    gh_client_config config = scripted_config();
    gh_counters_config wanted = gh_counters_config_default();
    gh_counters* counters = NULL;
    config.ops_capacity = 16;
    scripted_start_ready(world, &config);
    const size_t size = gh_counters_memory(&wanted);
    char* memory = scripted_keep(world, size + 16);
    memory += (16 - (uintptr_t)memory % 16) % 16;
    assert_status(gh_counters_init(&counters, world->client, &wanted, memory, size), GH_NO_ROOM);
    assert_null(counters);
    assert_int_equal(scripted_stats(world).ops_busy, 0);
}

TEST_FILE(counters_seldom, cmocka_unit_test(shard_that_is_never_clean_does_not_stop_the_cleaner),
          cmocka_unit_test(lease_of_another_that_is_too_long_is_not_believed),
          cmocka_unit_test(slow_answers_do_not_keep_the_cleaner_from_cleaning),
          cmocka_unit_test(adds_that_were_never_sent_are_counted_later),
          cmocka_unit_test(adds_that_come_back_are_held_at_the_limit),
          cmocka_unit_test(end_waits_for_adds_that_come_back), cmocka_unit_test(client_ends_with_adds),
          cmocka_unit_test(client_without_room_takes_no_counters));
