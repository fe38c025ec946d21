/* refresher.h -- a refresher of rows over a pretended database, for tests. */

#ifndef GUILDHALL_TESTS_REFRESHER_H
#define GUILDHALL_TESTS_REFRESHER_H

#include "support/scene/game.h"
#include "support/server/redis_server.h"

#define REFRESHER_SLOTS_MAX 32
#define REFRESHER_ROWS_MAX  64

typedef struct row_of_table
{
    char name[GH_NAME_SIZE_MAX + 1];
    size_t name_size;
    unsigned loads;     /* how often the loader was called for it */
    uint64_t loaded_us; /* when last                              */
} row_of_table;

typedef struct refresher
{
    game* owner;
    gh_rows rows;
    gh_rows_config config;
    gh_rows_slot slots[REFRESHER_SLOTS_MAX];
    char memory[REFRESHER_SLOTS_MAX * 256];

    /* How the loader behaves. */
    bool keeps;        /* leaves loads open: they are in open[]                     */
    gh_status outcome; /* of those it completes at once                             */
    const char* value; /* NULL: "<name>:<number of the load>"                       */

    row_of_table table[REFRESHER_ROWS_MAX]; /* what it was called for */
    size_t table_size;
    unsigned loads;
    gh_row_load open[REFRESHER_SLOTS_MAX];
    char open_names[REFRESHER_SLOTS_MAX][GH_NAME_SIZE_MAX + 1];
    size_t open_count;
    gh_status last_answer; /* of gh_row_complete */
} refresher;

/* Not begun yet: change what you like first. */
refresher* refresher_new(game* owner, size_t slots);
void refresher_begin(refresher* self);
refresher* refresher_start(game* owner, size_t slots);

row_of_table* refresher_row(refresher* self, const char* name);

/* Completes the i-th open load and forgets it. */
gh_status refresher_complete(refresher* self, size_t i, gh_status outcome, const char* value);

/* Begin and wait for the end. */
gh_status row_schedule(game* from, const char* name, uint64_t period_us);
gh_status row_schedule_with(game* from, const char* name, const gh_row_schedule_config* config);
gh_status row_unschedule(game* from, const char* name);

typedef struct row_read
{
    gh_row_get get;
    gh_row_get_config config;
    char buffer[512];
} row_read;

row_read* row_read_new(game* from);
gh_status row_get(game* from, row_read* read, const char* name);

/* True if the value is that text. */
bool row_is(const row_read* read, const char* text);

/* The shard of a name, and the key of one part of it, valid until the next call. */
unsigned row_shard(const char* name);
const char* row_key(const char* name, char part);

#endif
