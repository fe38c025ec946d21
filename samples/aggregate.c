/* aggregate.c -- counts the lines of a log by country, adds them to the day's totals, and shows the largest.

       aggregate unix:/tmp/redis.sock        aggregate 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char table_memory[4 * 1024 * 1024]; /* the places, of a file: see geo.c */
static _Alignas(16) unsigned char count_memory[1024 * 1024];     /* a counter for each place and day */

static void frame(gh_client* client)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_geo_config geo = gh_geo_config_default();
    gh_geo* table = NULL;
    gh_aggregate_config sums = gh_aggregate_config_default();
    gh_aggregate* log = NULL;
    gh_aggregate_flush flush = {0};
    gh_str set = gh_str_of("logins"), day = gh_str_of("2011-10-10"), name = gh_str_of("log 7");
    size_t used;
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = gh_geo_init(table_memory, sizeof table_memory, &geo, &table);
    if (status == GH_OK) status = gh_geo_add_rows(table, gh_str_of("81.0.0.0,81.0.0.99,DE,,Berlin\n"), &used);
    if (status == GH_OK) status = gh_geo_seal(table, 0);
    if (status == GH_OK) status = gh_aggregate_init(count_memory, sizeof count_memory, &sums, &log);
    if (status == GH_OK) status = gh_aggregate_start(log, table);
    if (status == GH_OK) status = gh_aggregate_add(log, gh_str_of("81.0.0.7 2011-10-10 13:55:36 login\n"));
    if (status == GH_OK) status = gh_aggregate_flush_begin(&flush, client, log, set, name, NULL);
    while (status == GH_OK && gh_aggregate_flush_poll(&flush) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_aggregate_flush_poll(&flush);
    if (status == GH_DUPLICATE) printf("it is in the totals already\n"), status = GH_OK;
    gh_aggregate_total totals[10];
    char text[4000]; /* for their names */
    gh_aggregate_read read = {0};
    gh_aggregate_read_config want = gh_aggregate_read_config_default();
    want.totals = totals, want.total_count = 10, want.text = text, want.text_size = sizeof text;
    if (status == GH_OK) status = gh_aggregate_read_begin(&read, client, set, day, &want);
    while (status == GH_OK && gh_aggregate_read_poll(&read) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_aggregate_read_poll(&read);
    for (uint32_t i = 0; status == GH_OK && i < read.count; i++)
        printf("%.*s: %d\n", (int)totals[i].country.size, totals[i].country.bytes, (int)totals[i].count);
    if (status != GH_OK) fprintf(stderr, "aggregate: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
