/* drill_files.c -- the ops of files and of daily totals. */

#include "support/scene/drill.h"

#include "support/scene/parcel.h"
#include "support/scene/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME gh_str_literal(DRILL_NAME)
#define SIZE 5000

/* ---- files --------------------------------------------------------------------------------------------- */

typedef struct files_bag
{
    sender out;
    reader in;
    gh_files_list list;
    gh_file_look look;
    gh_file_remove remove;
    gh_file_entry entries[8];
    char names[8 * GH_NAME_SIZE_MAX];
} files_bag;

static void prepare_no_files(game* one, game* two)
{
    (void)one, (void)two;
}

static void configure(sender* out)
{
    out->config.channel = NAME;
    out->config.channel_bytes = 1000000;
    out->config.cap_bytes = 65536;
    out->config.lease_us = DRILL_HOUR;
    out->config.abandoned_us = DRILL_HOUR;
}

/* Sent as a whole for two readers, one of which has read two chunks; and announced in a channel. */
static void prepare_file(game* one, game* two)
{
    sender* out = sender_new(one, 2, parcel_bytes(one, SIZE, 1, false), SIZE);
    configure(out);
    assert_status(sender_run(out, NAME), GH_OK);
    reader* in = reader_new(two, SIZE);
    in->stop_at = 2048;
    reader_begin(in, NAME, "0");
    GAME_UNTIL(reader_step(in));
    drill_await_answers(two);
}

/* Half of it is there, and the sender has gone; nothing is announced. */
static void prepare_half_file(game* one, game* two)
{
    sender* out = sender_new(one, 2, parcel_bytes(one, SIZE, 1, false), SIZE);
    configure(out);
    out->stop_at = 3 * 1024;
    sender_begin(out, NAME);
    GAME_UNTIL((sender_step(out), out->op.stored_bytes >= 2 * 1024));
    drill_await_answers(one);
    (void)two;
}

static gh_status run_send_file(drill* self)
{
    files_bag* bag = DRILL_NEW(self, files_bag);
    sender_init(&bag->out, self->game, 2, parcel_bytes(self->game, SIZE, 1, false), SIZE);
    configure(&bag->out);
    bag->out.config.progress_us = self->progress_us;
    sender_begin(&bag->out, NAME);
    DRILL_UNTIL(self, sender_step(&bag->out));
    gh_status status = gh_op_poll(&bag->out.op.op);
    if (status != GH_PENDING) return status;
    gh_op_cancel(&bag->out.op.op);
    self->end_us = wait_now_us() + SECOND_US;
    DRILL_UNTIL(self, gh_op_poll(&bag->out.op.op) != GH_PENDING);
    return GH_PENDING;
}

static gh_status read_file(drill* self, files_bag* bag, const char* who)
{
    reader_init(&bag->in, self->game, SIZE);
    bag->in.config.channel = NAME;
    bag->in.config.progress_us = self->progress_us;
    reader_begin(&bag->in, NAME, who);
    DRILL_UNTIL(self, reader_step(&bag->in));
    gh_status status = gh_op_poll(&bag->in.op.op);
    if (status != GH_PENDING) return status;
    gh_op_cancel(&bag->in.op.op);
    self->end_us = wait_now_us() + SECOND_US;
    DRILL_UNTIL(self, gh_op_poll(&bag->in.op.op) != GH_PENDING);
    return GH_PENDING;
}

static gh_status run_read_file(drill* self)
{
    return read_file(self, DRILL_NEW(self, files_bag), "1");
}

static gh_status run_read_both(drill* self)
{
    gh_status status = read_file(self, DRILL_NEW(self, files_bag), "0");
    return status == GH_OK ? read_file(self, DRILL_NEW(self, files_bag), "1") : status;
}

static gh_status list_files(drill* self, uint64_t after, uint64_t wait_us)
{
    files_bag* bag = DRILL_NEW(self, files_bag);
    gh_files_list_config config = gh_files_list_config_default();
    config.after = after;
    config.wait_us = wait_us;
    config.entries = bag->entries;
    config.entry_count = 8;
    config.names = bag->names;
    config.names_size = sizeof(bag->names);
    assert_status(gh_files_list_begin(&bag->list, self->game->client, NAME, &config), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->list.op) != GH_PENDING);
    return gh_op_poll(&bag->list.op);
}

static gh_status run_list_files(drill* self)
{
    return list_files(self, 0, 0);
}

static gh_status run_list_wait(drill* self)
{
    return list_files(self, UINT64_C(1) << 52, 10000);
}

static gh_status look_at_file(drill* self, files_bag* bag)
{
    assert_status(gh_file_look_begin(&bag->look, self->game->client, NAME, NULL), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->look.op) != GH_PENDING);
    return gh_op_poll(&bag->look.op);
}

static gh_status run_look_file(drill* self)
{
    return look_at_file(self, DRILL_NEW(self, files_bag));
}

static void arm_look(drill* self)
{
    files_bag* bag = self->bag = DRILL_NEW(self, files_bag);
    assert_status(look_at_file(self, bag), GH_OK);
}

static gh_status remove_file(drill* self, files_bag* bag, uint64_t id)
{
    gh_str channel = NAME;
    assert_status(gh_file_remove_begin(&bag->remove, self->game->client, NAME, id, channel, NULL), GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->remove.op) != GH_PENDING);
    return gh_op_poll(&bag->remove.op);
}

/* UNKNOWN where the file is gone and the channel is broken: done again, it says why. */
static gh_status run_remove_file(drill* self)
{
    files_bag* bag = self->bag;
    gh_status status = remove_file(self, bag, bag->look.id);
    return status == GH_UNKNOWN ? remove_file(self, bag, bag->look.id) : status;
}

static const drill_case files_cases[] = {
    {"send", prepare_no_files, NULL, run_send_file, GH_OK, true, 60},
    {"send_on", prepare_half_file, NULL, run_send_file, GH_OK, true, 60},
    {"send_again", prepare_file, NULL, run_send_file, GH_OK, true, 60},
    {"read", prepare_file, NULL, run_read_file, GH_OK, true, 60},
    {"read_both", prepare_file, NULL, run_read_both, GH_OK, true, 100},
    {"list", prepare_file, NULL, run_list_files, GH_OK, false, 0},
    {"list_wait", prepare_file, NULL, run_list_wait, GH_EMPTY, true, 0},
    {"look", prepare_file, NULL, run_look_file, GH_OK, false, 0},
    {"remove", prepare_file, arm_look, run_remove_file, GH_OK, false, 0},
};

/* Removed by the id that a look tells; nothing is there: nothing is to be done. */
static gh_status look_and_remove(drill* self)
{
    files_bag* bag = self->bag = DRILL_NEW(self, files_bag);
    gh_status status = look_at_file(self, bag);
    return status == GH_OK ? run_remove_file(self) : status == GH_GONE ? GH_OK : status;
}

/* It can be removed; one of that name can be sent and read from end to end; then the channel has no bytes of it. */
static bool heal_files(drill* self, char why[256])
{
    gh_status status = look_and_remove(self);
    if (status != GH_OK) return snprintf(why, 256, "remove: %s", gh_status_name(status)) < 0;
    status = run_send_file(self);
    if (status != GH_OK) return snprintf(why, 256, "send: %s", gh_status_name(status)) < 0;
    const char* bytes = parcel_bytes(self->game, SIZE, 1, false);
    for (int i = 0; i < 2; i++)
    {
        files_bag* bag = DRILL_NEW(self, files_bag);
        status = read_file(self, bag, i == 0 ? "0" : "1");
        if (status != GH_OK || bag->in.got_size != SIZE || memcmp(bag->in.got, bytes, SIZE) != 0)
            return snprintf(why, 256, "read: %s, %zu bytes", gh_status_name(status), bag->in.got_size) < 0;
    }
    status = look_and_remove(self);
    if (status != GH_OK) return snprintf(why, 256, "remove after it: %s", gh_status_name(status)) < 0;
    const char* left = redis_server_text(self->server, "HGET gh:{files:" DRILL_NAME "}:s b");
    if (left != NULL && strcmp(left, "0") != 0)
        return snprintf(why, 256, "the channel still reserves %s bytes", left) < 0;
    return true;
}

const drill_system drill_files = {"files",    "file files", files_cases, sizeof(files_cases) / sizeof(files_cases[0]),
                                  heal_files, false};

/* ---- daily totals -------------------------------------------------------------------------------------- */

static const char log_text[] = "173.194.1.1 2011-10-10 13:55:36 one\n"
                               "81.0.0.1 2011-10-10 13:55:37 two\n"
                               "81.0.0.2 2011-10-10 13:55:37 two\n"
                               "1.1.1.1 2011-10-10 13:55:38 nowhere\n";

static gh_aggregate* new_totals(game* owner)
{
    gh_aggregate* aggregate = places_aggregate(owner, places_world(owner), 1);
    assert_status(gh_aggregate_add(aggregate, gh_str_of(log_text)), GH_OK);
    return aggregate;
}

static void prepare_no_totals(game* one, game* two)
{
    (void)one, (void)two;
}

static void prepare_totals(game* one, game* two)
{
    (void)two;
    assert_status(places_flush(one, new_totals(one), DRILL_NAME, "log 1"), GH_OK);
}

typedef struct totals_bag
{
    gh_aggregate_flush flush;
    gh_aggregate_read read;
    gh_aggregate_total totals[8];
    char text[1024];
} totals_bag;

static gh_status flush_file(drill* self, const char* file)
{
    totals_bag* bag = DRILL_NEW(self, totals_bag);
    gh_aggregate_flush_config config = gh_aggregate_flush_config_default();
    config.progress_us = self->progress_us;
    assert_status(gh_aggregate_flush_begin(&bag->flush, self->game->client, new_totals(self->game), NAME,
                                           gh_str_of(file), &config),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->flush.op) != GH_PENDING);
    gh_status status = gh_op_poll(&bag->flush.op);
    if (status != GH_PENDING) return status;
    gh_op_cancel(&bag->flush.op);
    self->end_us = wait_now_us() + SECOND_US;
    DRILL_UNTIL(self, gh_op_poll(&bag->flush.op) != GH_PENDING);
    return GH_PENDING;
}

static gh_status run_flush_new(drill* self)
{
    return flush_file(self, "log 2");
}

static gh_status run_flush_again(drill* self)
{
    return flush_file(self, "log 1");
}

static gh_status read_totals(drill* self, totals_bag* bag, gh_aggregate_level level)
{
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    config.level = level;
    config.totals = bag->totals;
    config.total_count = 8;
    config.text = bag->text;
    config.text_size = sizeof(bag->text);
    assert_status(gh_aggregate_read_begin(&bag->read, self->game->client, NAME, gh_str_literal(DRILL_DAY), &config),
                  GH_OK);
    DRILL_UNTIL(self, gh_op_poll(&bag->read.op) != GH_PENDING);
    return gh_op_poll(&bag->read.op);
}

static gh_status run_read_countries(drill* self)
{
    return read_totals(self, DRILL_NEW(self, totals_bag), GH_AGGREGATE_COUNTRY);
}

static gh_status run_read_regions(drill* self)
{
    return read_totals(self, DRILL_NEW(self, totals_bag), GH_AGGREGATE_REGION);
}

static gh_status run_read_cities(drill* self)
{
    return read_totals(self, DRILL_NEW(self, totals_bag), GH_AGGREGATE_CITY);
}

static const drill_case aggregate_cases[] = {
    {"flush_first", prepare_no_totals, NULL, run_flush_new, GH_OK, false, 0},
    {"flush", prepare_totals, NULL, run_flush_new, GH_OK, false, 0},
    {"flush_again", prepare_totals, NULL, run_flush_again, GH_EXISTS, false, 0},
    {"read_countries", prepare_totals, NULL, run_read_countries, GH_OK, false, 0},
    {"read_regions", prepare_totals, NULL, run_read_regions, GH_OK, false, 0},
    {"read_cities", prepare_totals, NULL, run_read_cities, GH_OK, false, 0},
};

static unsigned long long stored_total(drill* self, int level)
{
    redisReply* reply = redis_server_command(self->server, "ZRANGE gh:{daily:" DRILL_SET "}:%d 0 -1 WITHSCORES", level);
    unsigned long long sum = 0;
    for (size_t i = 1; i < reply->elements; i += 2) sum += (unsigned long long)strtod(reply->element[i]->str, NULL);
    freeReplyObject(reply);
    return sum;
}

/* Files that are flushed, whatever was begun of them, are counted once, in each of the levels. */
static bool heal_aggregate(drill* self, char why[256])
{
    static const char* const logs[] = {"log 1", "log 2", "log 3"};
    for (int i = 0; i < 3; i++)
    {
        gh_status status = flush_file(self, logs[i]);
        if (status != GH_OK && status != GH_EXISTS) return snprintf(why, 256, "flush: %s", gh_status_name(status)) < 0;
    }
    for (int level = 0; level <= 2; level++)
        if (stored_total(self, level) != (level == 0 ? 12 : 9)) /* what is nowhere is in no region */
            return snprintf(why, 256, "%llu events in level %d", stored_total(self, level), level) < 0;
    return true;
}

const drill_system drill_aggregate = {
    "aggregate", "daily", aggregate_cases, sizeof(aggregate_cases) / sizeof(aggregate_cases[0]), heal_aggregate, false};
