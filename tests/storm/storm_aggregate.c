/* storm_aggregate.c -- files of which several servers know, each counted by whoever comes first: many bring the same
   one at the same time, some stop in the middle, and some bring another one under its name.

   Which file is next follows from the clock, so that all servers of the fleet come with the same few files. In the end
   the auditor reads the totals, brings each file once more, and reads them again. */

#include "guildhall/aggregate.h"

#include "guildhall/geo.h"
#include "storm/storm.h"
#include "storm/storm_aggregate.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    LINE_ROOM = 64,
    PIECE_ROOM = 4096,
    TOTALS = 2500,
    TEXT_ROOM = TOTALS * 16,
    WINDOW_US = 100000, /* the servers go on by two files so often */
    WINDOW_FILES = 4,
    PROGRESS_US = 1500000,
    TRIES_MAX = 10
};

typedef struct aggregate_actor
{
    storm_client* me;
    random_stream random;
    gh_aggregate* aggregate;
    gh_aggregate_flush flush;
    char name[16];
    uint32_t op;
    uint32_t again; /* an op that was not done: this one is to be begun again with the counts that are there */
    gh_aggregate_read read;
    gh_aggregate_total totals[AGGREGATE_COUNTRIES + 1];
    char text[(AGGREGATE_COUNTRIES + 1) * 16];
    uint32_t read_op;
} aggregate_actor;

static const char* const whats[] = {"?", "flush", "read", "finish", "read in the end", "total"};
static const gh_str set = GH_STR_INIT("logins");

static gh_geo* table; /* one for all clients of a process */

/* ---- files ------------------------------------------------------------------------------------------------- */

static void add_city(uint32_t city)
{
    char address[32], country[16], region[16], name[16];
    (void)snprintf(address, sizeof address, "10.0.%u.%u", city / 200, city % 200 + 1);
    (void)snprintf(country, sizeof country, "%u", aggregate_country_of(city));
    (void)snprintf(region, sizeof region, "%u", aggregate_region_of(city));
    (void)snprintf(name, sizeof name, "%u", city);
    gh_str text = gh_str_of(address);
    if (gh_geo_add(table, text, text, gh_str_of(country), gh_str_of(region), gh_str_of(name)) != GH_OK) abort();
}

static void build_table(void)
{
    gh_geo_config config = gh_geo_config_default();
    config.ipv4_capacity = AGGREGATE_CITIES;
    config.ipv6_capacity = 0;
    config.nodes_capacity = AGGREGATE_CITIES + AGGREGATE_REGIONS + AGGREGATE_COUNTRIES;
    size_t size = gh_geo_memory(&config);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory == NULL || gh_geo_init(&table, &config, memory, size) != GH_OK) abort();
    for (uint32_t city = 0; city < AGGREGATE_CITIES; city++) add_city(city);
    if (gh_geo_seal(table, 0) != GH_OK) abort();
}

void aggregate_warm(void)
{
    if (table == NULL) build_table();
}

static gh_aggregate* make_aggregate(void)
{
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_aggregate* aggregate = NULL;
    aggregate_warm();
    config.nodes_capacity = gh_geo_node_count(table);
    size_t size = gh_aggregate_memory(&config);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory == NULL || gh_aggregate_init(&aggregate, &config, memory, size) != GH_OK) abort();
    return aggregate;
}

/* The text of a file, handed over in pieces. */
typedef struct file_text
{
    gh_aggregate* into;
    size_t size;
    char bytes[PIECE_ROOM];
} file_text;

static void hand_over(file_text* text)
{
    if (gh_aggregate_add(text->into, gh_str_make(text->bytes, text->size)) != GH_OK) abort();
    text->size = 0;
}

static char* put_text(char* at, const char* text)
{
    size_t size = strlen(text);
    memcpy(at, text, size);
    return at + size;
}

/* Of an address: below 1000. */
static char* put_part(char* at, uint32_t number)
{
    if (number >= 100) *at++ = (char)('0' + number / 100);
    if (number >= 10) *at++ = (char)('0' + number / 10 % 10);
    *at++ = (char)('0' + number % 10);
    return at;
}

/* Files have thousands of lines, and are made all the time: without snprintf. */
static size_t make_line(char line[LINE_ROOM], uint32_t day, uint32_t city)
{
    char* at = put_text(line, "10.0.");
    at = put_text(put_part(at, city / 200), ".");
    at = put_text(put_part(at, city % 200 + 1), " 2026-01-");
    *at++ = (char)('0' + (day + 1) / 10);
    *at++ = (char)('0' + (day + 1) % 10);
    return (size_t)(put_text(at, " 12:00:00 login\n") - line);
}

static void put_lines(file_text* text, uint32_t day, uint32_t city, uint32_t count)
{
    char line[LINE_ROOM];
    if (count == 0) return;
    size_t size = make_line(line, day, city);
    for (; count > 0; count--)
    {
        if (text->size + LINE_ROOM > sizeof text->bytes) hand_over(text);
        memcpy(text->bytes + text->size, line, size);
        text->size += size;
    }
}

static void count_file(gh_aggregate* aggregate, uint32_t file, uint32_t variant)
{
    static file_text text;
    text = (file_text){.into = aggregate};
    if (gh_aggregate_start(aggregate, table) != GH_OK) abort();
    for (uint32_t day = 0; day < AGGREGATE_DAYS; day++)
    {
        if (!aggregate_has_day(file, day)) continue;
        for (uint32_t city = 0; city < AGGREGATE_SHARED; city++)
            put_lines(&text, day, city, aggregate_shared_lines(file, day, city));
        put_lines(&text, day, AGGREGATE_SHARED + file, aggregate_own_lines(variant));
        put_lines(&text, day, AGGREGATE_CITIES + 200, aggregate_lines_nowhere(file));
    }
    hand_over(&text);
}

/* ---- flushes ----------------------------------------------------------------------------------------------- */

/* A file that was counted before is counted: that is what was asked for. */
static storm_outcome outcome_of(gh_status status)
{
    return status == GH_EXISTS ? STORM_DONE : storm_outcome_of(status);
}

static gh_status begin_flush(gh_aggregate_flush* flush, gh_client* client, gh_aggregate* aggregate, char name[16],
                             uint32_t file)
{
    gh_aggregate_flush_config config = gh_aggregate_flush_config_default();
    config.progress_us = PROGRESS_US;
    int size = snprintf(name, 16, "log %u", file);
    return gh_aggregate_flush_begin(flush, client, aggregate, set, gh_str_make(name, (size_t)size), &config);
}

static void begin_file(aggregate_actor* a)
{
    const storm_record* before = a->again == 0 ? NULL : history_at(a->again);
    uint64_t window = history_now() / WINDOW_US * 2 + random_below(&a->random, WINDOW_FILES);
    uint32_t file = before != NULL ? (uint32_t)before->a : (uint32_t)(window % AGGREGATE_FILES);
    uint32_t variant = before != NULL ? (uint32_t)before->b : random_one_in(&a->random, 12) ? 1 : 0;
    a->op = history_begin(a->me->who, STORM_aggregate, AGGREGATE_FLUSH, 0);
    if (a->op == 0) return;
    history_at(a->op)->a = file;
    history_at(a->op)->b = variant;
    history_at(a->op)->d = before != NULL ? 1 : 0;
    if (before == NULL) count_file(a->aggregate, file, variant);
    a->again = 0;
    gh_status status = begin_flush(&a->flush, a->me->client, a->aggregate, a->name, file);
    if (status == GH_OK) return;
    history_end(a->op, STORM_NOT_DONE, status);
    a->op = 0;
}

static void turn_flush(aggregate_actor* a, bool may_begin)
{
    if (a->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 50)) begin_file(a);
        return;
    }
    if (random_one_in(&a->random, 1000)) gh_op_cancel(&a->flush.op);
    gh_status status = gh_op_poll(&a->flush.op);
    if (status == GH_PENDING) return;
    storm_outcome outcome = outcome_of(status);
    history_at(a->op)->c = a->flush.days_new;
    history_end(a->op, outcome, status);
    a->again = outcome != STORM_DONE && random_one_in(&a->random, 2) ? a->op : 0;
    a->op = 0;
}

/* ---- reads ------------------------------------------------------------------------------------------------- */

static gh_aggregate_read_config configure_read(gh_aggregate_total* totals, size_t count, char* text, size_t text_size)
{
    gh_aggregate_read_config config = gh_aggregate_read_config_default();
    config.totals = totals;
    config.total_count = count;
    config.text = text;
    config.text_size = text_size;
    return config;
}

static gh_status begin_read(gh_aggregate_read* read, gh_client* client, uint8_t day,
                            const gh_aggregate_read_config* config)
{
    char text[16];
    (void)snprintf(text, sizeof text, "2026-01-%02u", day + 1u);
    return gh_aggregate_read_begin(read, client, set, gh_str_of(text), config);
}

static void turn_read(aggregate_actor* a, bool may_begin)
{
    if (a->read_op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 100)) return;
        uint8_t day = (uint8_t)random_below(&a->random, AGGREGATE_DAYS);
        a->read_op = history_begin(a->me->who, STORM_aggregate, AGGREGATE_READ, day);
        if (a->read_op == 0) return;
        gh_aggregate_read_config config = configure_read(a->totals, AGGREGATE_COUNTRIES + 1, a->text, sizeof a->text);
        config.timeout_us = 1000000;
        gh_status status = begin_read(&a->read, a->me->client, day, &config);
        if (status == GH_OK) return;
        history_end(a->read_op, STORM_NOT_DONE, status);
        a->read_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->read.op);
    if (status == GH_PENDING) return;
    for (uint32_t i = 0; status == GH_OK && i < a->read.count; i++)
        history_at(a->read_op)->a += a->read.totals[i].count;
    history_end(a->read_op, storm_outcome_of(status), status);
    a->read_op = 0;
}

/* ---- the actor --------------------------------------------------------------------------------------------- */

static void start(void* actor, storm_client* me, random_stream random)
{
    aggregate_actor* a = actor;
    a->me = me;
    a->random = random;
    a->aggregate = make_aggregate();
}

static void turn(void* actor, bool may_begin)
{
    aggregate_actor* a = actor;
    turn_flush(a, may_begin);
    turn_read(a, may_begin);
}

static bool idle(const void* actor)
{
    const aggregate_actor* a = actor;
    return a->op == 0 && a->read_op == 0;
}

/* ---- in the end -------------------------------------------------------------------------------------------- */

static uint64_t number_of(const gh_aggregate_total* total, gh_aggregate_level level)
{
    gh_str name = level == GH_AGGREGATE_COUNTRY  ? total->country
                  : level == GH_AGGREGATE_REGION ? total->region
                                                 : total->city;
    char text[16];
    if (name.size == 0) return AGGREGATE_NOWHERE;
    (void)snprintf(text, sizeof text, "%.*s", (int)(name.size < 15 ? name.size : 15), name.bytes);
    return strtoull(text, NULL, 10);
}

static void audit_level(storm_look* look, uint8_t day, gh_aggregate_level level, uint64_t pass)
{
    static gh_aggregate_total totals[TOTALS];
    static char text[TEXT_ROOM];
    static gh_aggregate_read read;
    gh_aggregate_read_config config = configure_read(totals, TOTALS, text, sizeof text);
    config.level = level;
    uint32_t op = history_begin(look->who, STORM_aggregate, AGGREGATE_LAST, day);
    history_at(op)->a = level;
    history_at(op)->b = pass;
    gh_status status = begin_read(&read, look->client, day, &config);
    while ((status = gh_op_poll(&read.op)) == GH_PENDING && storm_look_turn(look))
    {
    }
    for (uint32_t i = 0; status == GH_OK && i < read.count; i++)
    {
        storm_event total = {.system = STORM_aggregate,
                             .what = AGGREGATE_TOTAL,
                             .object = day,
                             .about = op,
                             .a = level,
                             .b = pass,
                             .c = number_of(&totals[i], level),
                             .d = totals[i].count};
        (void)history_event(look->who, total);
    }
    history_end(op, storm_outcome_of(status), status);
}

/* On a machine that stands still for longer than a flush waits, it is brought once more. */
static gh_status finish_file(storm_look* look, gh_aggregate* aggregate, uint32_t file, uint32_t variant)
{
    static gh_aggregate_flush flush;
    char name[16];
    uint32_t op = history_begin(look->who, STORM_aggregate, AGGREGATE_FINISH, 0);
    history_at(op)->a = file;
    history_at(op)->b = variant;
    count_file(aggregate, file, variant);
    gh_status status = GH_TIMEOUT;
    for (int tries = 0; tries < TRIES_MAX && (status == GH_TIMEOUT || status == GH_UNKNOWN); tries++)
    {
        (void)begin_flush(&flush, look->client, aggregate, name, file);
        while ((status = gh_op_poll(&flush.op)) == GH_PENDING && storm_look_turn(look))
        {
        }
    }
    history_at(op)->c = flush.days_new;
    history_end(op, outcome_of(status), status);
    return status;
}

/* Brings each file that anybody brought; as the other one of its name, if it was counted as that. Gives up with one
   that does not end. */
static void finish_files(storm_look* look)
{
    static bool brought[AGGREGATE_FILES][AGGREGATE_VARIANTS];
    gh_aggregate* aggregate = make_aggregate();
    uint32_t at = 0;
    for (const storm_record* r; (r = history_next(&at, STORM_aggregate)) != NULL;)
    {
        if (r->what == AGGREGATE_FLUSH) brought[r->a][r->b] = true;
    }
    gh_status status = GH_OK;
    for (uint32_t file = 0; file < AGGREGATE_FILES && status != GH_PENDING; file++)
    {
        status = GH_DIFFERS;
        for (uint32_t variant = 0; variant < AGGREGATE_VARIANTS && status == GH_DIFFERS; variant++)
        {
            if (brought[file][variant]) status = finish_file(look, aggregate, file, variant);
        }
    }
}

static void audit(storm_look* look)
{
    for (uint64_t pass = 0; pass < 2; pass++)
    {
        if (pass == 1) finish_files(look);
        for (uint8_t day = 0; day < AGGREGATE_DAYS; day++)
        {
            for (int level = 0; level < AGGREGATE_LEVELS; level++)
                audit_level(look, day, (gh_aggregate_level)level, pass);
        }
    }
}

const storm_system storm_aggregate = {.name = "aggregate",
                                      .whats = whats,
                                      .actor_size = sizeof(aggregate_actor),
                                      .start = start,
                                      .turn = turn,
                                      .idle = idle,
                                      .audit = audit,
                                      .check = check_aggregate};
