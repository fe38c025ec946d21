/* rows.c -- keeps a shop item's stock cached: refreshed every second from a slow "database", read without
   ever waiting.

       rows unix:/tmp/redis.sock        rows 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];

typedef struct database /* answers five frames after it was asked */
{
    gh_row_load load;
    int frames_left;
    int stock;
} database;

static void ask_database(void* context, gh_row_load load, gh_str row)
{
    database* self = context;
    printf("asking the database for %.*s\n", (int)row.size, row.bytes);
    self->load = load;
    self->frames_left = 5;
}

static void run_database(database* self)
{
    char text[32];
    if (self->frames_left == 0 || --self->frames_left > 0) return;
    int size = snprintf(text, sizeof text, "%d in stock", self->stock--);
    gh_row_complete(self->load, GH_OK, gh_str_make(text, (size_t)size));
}

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client_config config = gh_client_config_default();
    gh_client* client = NULL;
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);

    database shop = {.stock = 10};
    gh_rows_slot slot = {0};
    static char values[GH_ROW_SIZE_MAX];
    gh_rows refresher = {0};
    gh_rows_config refresh = gh_rows_config_default();
    refresh.loader = ask_database, refresh.context = &shop;
    refresh.slots = &slot, refresh.slot_count = 1;
    refresh.memory = values, refresh.memory_size = sizeof values;
    if (status == GH_OK) status = gh_rows_begin(&refresher, client, &refresh);

    gh_row_schedule schedule = {0};
    gh_row_schedule_config each_second = gh_row_schedule_config_default();
    each_second.period_us = 1000 * 1000;
    const gh_str item = gh_str_literal("sword");
    if (status == GH_OK) status = gh_row_schedule_begin(&schedule, client, item, &each_second);

    char buffer[64];
    gh_row_get get = {0};
    gh_row_get_config want = gh_row_get_config_default();
    want.buffer = buffer, want.buffer_size = sizeof buffer;
    for (int seen = 0; status == GH_OK && seen < 3;) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        run_database(&shop);
        gh_status row = gh_row_get_poll(&get);
        if (row == GH_OK || row == GH_ROW_OLD)
        {
            printf("%.*s, %llu ms ago\n", (int)get.value.size, buffer, (unsigned long long)get.age_us / 1000);
            want.version = get.version; /* from now on only what is new */
            seen++;
        }
        if (row < 0) status = row;
        if (row != GH_PENDING) gh_row_get_begin(&get, client, item, &want);
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "no row: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
