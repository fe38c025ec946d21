/* rows.c -- keeps a shop item's stock cached: refreshed each second from a "database", read without waiting.

       rows unix:/tmp/redis.sock        rows 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static char loaded[GH_ROW_SIZE_MAX]; /* a value on its way to the store, for each slot */

/* A real database answers some frames later, and only then gh_row_complete is called. */
static void load_stock(void* context, gh_row_load load, gh_str row)
{
    int* stock = context;
    char text[48];
    int size = snprintf(text, sizeof text, "%d of %.*s", (*stock)--, (int)row.size, row.bytes);
    gh_row_complete(load, GH_OK, gh_str_make(text, (size_t)size));
}

int main(int argc, char** argv)
{
    const gh_platform* platform = gh_platform_default();
    gh_client* client = NULL;
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_status status = gh_client_init(memory, sizeof memory, &config, platform, &client);
    gh_rows_slot slot = {0};
    gh_rows refresher = {0};
    gh_rows_config refresh = gh_rows_config_default();
    refresh.loader = load_stock, refresh.context = &(int){10};
    refresh.slots = &slot, refresh.slot_count = 1, refresh.memory = loaded, refresh.memory_size = sizeof loaded;
    if (status == GH_OK) status = gh_rows_begin(&refresher, client, &refresh);
    gh_row_schedule schedule = {0};
    gh_row_schedule_config each = gh_row_schedule_config_default();
    each.period_us = 1000 * 1000;
    if (status == GH_OK) status = gh_row_schedule_begin(&schedule, client, gh_str_literal("swords"), &each);
    char buffer[64]; /* the game's copy of the row */
    gh_row_get get = {0};
    gh_row_get_config want = gh_row_get_config_default();
    want.buffer = buffer, want.buffer_size = sizeof buffer;
    for (int seen = 0; status == GH_OK && seen < 3;) /* your frame loop */
    {
        gh_tick(client, platform->now_us(platform->context), 500);
        gh_status row = gh_op_poll(&get.op);
        if (row < 0 && row != GH_GONE) status = row; /* GONE: not loaded yet */
        if (gh_op_poll(&schedule.op) < 0) status = gh_op_poll(&schedule.op);
        if (row == GH_OK || row == GH_OLD) /* from now on only what is new */
            want.version = get.version, seen++, printf("%.*s\n", (int)get.value.size, buffer);
        if (row != GH_PENDING) gh_row_get_begin(&get, client, gh_str_literal("swords"), &want);
        nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
    }
    gh_client_shutdown(client);
    if (status != GH_OK) fprintf(stderr, "no row: %s\n", gh_status_text(status));
    return status == GH_OK ? 0 : 1;
}
