/* promotions.c -- the loader of rows.h: a query that takes several frames, as a frame has no time for all of
   it. */

#include "server/promotions.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

#define ITEMS_A_FRAME   4
#define ITEMS_EACH      24
#define PERIOD_US       2000000u
#define SCHEDULE_US     8000000u /* all rows again and again: the store may lose its data */
#define BUSY_TIMEOUT_MS 5000     /* another server makes the database; only before the first frame */

struct promotions
{
    sqlite3* database;
    sqlite3_stmt* query;
    gh_client* client;

    /* loads that rows.h has asked for, the first of them under way */
    gh_row_load loads[PROMOTIONS];
    uint32_t numbers[PROMOTIONS];
    uint32_t first;
    uint32_t count;
    bool querying;
    size_t size;
    char text[PROMOTION_SIZE_MAX];

    gh_rows refresher;
    gh_rows_slot slots[PROMOTIONS];
    char memory[PROMOTIONS * GH_ROW_SIZE_MAX];

    gh_row_schedule schedule;
    uint64_t schedule_us;
    uint32_t schedule_number;
    char schedule_name[PROMOTION_NAME_SIZE];
};

/* ---- The database -------------------------------------------------------------------------------------- */

static const char make_tables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS promotion (number INTEGER PRIMARY KEY, title TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS promotion_item (promotion INTEGER, item INTEGER, price INTEGER NOT NULL,"
    " PRIMARY KEY (promotion, item)) WITHOUT ROWID;";

static bool execute(sqlite3* database, const char* sql)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool make_promotion(sqlite3* database, uint32_t number)
{
    static const char* const titles[PROMOTIONS] = {"Spring cleaning",    "Two for one",    "The smith is moving",
                                                   "Everything must go", "Old but sharp",  "Night of the bargains",
                                                   "A ship has come in", "While they last"};
    char sql[160];
    snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO promotion VALUES (%" PRIu32 ", '%s')", number, titles[number]);
    bool good = execute(database, sql);
    for (uint32_t item = 0; good && item < ITEMS_EACH; item++)
    {
        uint32_t price = 5 + (number * 31 + item * 17) % 90;
        snprintf(sql, sizeof sql, "INSERT OR IGNORE INTO promotion_item VALUES (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
                 number, number * 100 + item, price);
        good = execute(database, sql);
    }
    return good;
}

static bool open_database(promotions* p, const char* path)
{
    static const char select[] = "SELECT title, item, price FROM promotion JOIN promotion_item"
                                 " ON promotion = number WHERE number = ? ORDER BY item";
    if (sqlite3_open(path, &p->database) != SQLITE_OK) return false;
    sqlite3_busy_timeout(p->database, BUSY_TIMEOUT_MS);
    bool good = execute(p->database, make_tables);
    for (uint32_t number = 0; good && number < PROMOTIONS; number++) good = make_promotion(p->database, number);
    good = good && execute(p->database, "COMMIT");
    sqlite3_busy_timeout(p->database, 0); /* a frame never waits */
    return good && sqlite3_prepare_v2(p->database, select, -1, &p->query, NULL) == SQLITE_OK;
}

/* ---- Loading ------------------------------------------------------------------------------------------- */

/* Called inside gh_tick: only notes what is wanted. There are as many places as rows.h has slots. */
static void load(void* context, gh_row_load wanted, gh_str row)
{
    promotions* p = context;
    char name[PROMOTION_NAME_SIZE];
    for (uint32_t number = 0; number < PROMOTIONS; number++)
    {
        if (p->count == PROMOTIONS || !gh_str_equal(row, promotion_name(number, name))) continue;
        uint32_t place = (p->first + p->count++) % PROMOTIONS;
        p->loads[place] = wanted;
        p->numbers[place] = number;
        return;
    }
    gh_row_complete(wanted, GH_EMPTY, gh_str_literal("")); /* somebody else's row */
}

static void complete(promotions* p, gh_status outcome)
{
    sqlite3_reset(p->query);
    gh_row_complete(p->loads[p->first], outcome, gh_str_make(p->text, outcome == GH_OK ? p->size : 0));
    p->first = (p->first + 1) % PROMOTIONS;
    p->count--;
    p->querying = false;
}

/* False: it does not fit. */
static bool add_item(promotions* p)
{
    size_t room = sizeof p->text - p->size;
    int title = 0;
    if (p->size == 0) title = snprintf(p->text, room, "%s", (const char*)sqlite3_column_text(p->query, 0));
    if (title < 0 || (size_t)title >= room) return false;
    p->size += (size_t)title;
    room -= (size_t)title;
    int line =
        snprintf(p->text + p->size, room, "\n%d %d", sqlite3_column_int(p->query, 1), sqlite3_column_int(p->query, 2));
    if (line < 0 || (size_t)line >= room) return false;
    p->size += (size_t)line;
    return true;
}

static void query_frame(promotions* p)
{
    if (!p->querying)
    {
        p->querying = true;
        p->size = 0;
        sqlite3_bind_int(p->query, 1, (int)p->numbers[p->first]);
    }
    for (int i = 0; i < ITEMS_A_FRAME; i++)
    {
        int step = sqlite3_step(p->query);
        if (step == SQLITE_ROW && add_item(p)) continue;
        if (step == SQLITE_DONE) complete(p, p->size > 0 ? GH_OK : GH_EMPTY);
        else complete(p, GH_ERROR); /* another process writes, or the row is too long: rows.h tries again */
        return;
    }
}

/* ---- Open, frame, close -------------------------------------------------------------------------------- */

static gh_status begin_refresher(promotions* p)
{
    gh_rows_config config = gh_rows_config_default();
    config.loader = load;
    config.context = p;
    config.slots = p->slots;
    config.slot_count = PROMOTIONS;
    config.memory = p->memory;
    config.memory_size = sizeof p->memory;
    return gh_rows_begin(&p->refresher, p->client, &config);
}

promotions* promotions_open(gh_client* client, const char* database)
{
    promotions* p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->client = client;
    gh_status status = GH_OK;
    if (!open_database(p, database))
    {
        fprintf(stderr, "%s: %s\n", database, sqlite3_errmsg(p->database));
    }
    else if ((status = begin_refresher(p)) == GH_OK) return p;
    else fprintf(stderr, "promotions: %s\n", gh_status_text(status));
    promotions_close(p);
    return NULL;
}

void promotions_close(promotions* p)
{
    sqlite3_finalize(p->query);
    sqlite3_close(p->database);
    free(p);
}

static void schedule_frame(promotions* p, uint64_t now_us)
{
    if (now_us < p->schedule_us || gh_op_poll(&p->schedule.op) == GH_PENDING) return;
    gh_row_schedule_config config = gh_row_schedule_config_default();
    config.period_us = PERIOD_US;
    gh_str name = promotion_name(p->schedule_number, p->schedule_name);
    bool begun = gh_row_schedule_begin(&p->schedule, p->client, name, &config) == GH_OK;
    p->schedule_number = (p->schedule_number + begun) % PROMOTIONS;
    p->schedule_us = now_us + (p->schedule_number == 0 ? SCHEDULE_US : 0);
}

void promotions_frame(promotions* p, uint64_t now_us)
{
    schedule_frame(p, now_us);
    if (p->count > 0) query_frame(p);
}
