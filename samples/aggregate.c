/* aggregate.c -- counts the lines of a log by country, region and city, adds them to the day's totals, shows
   the largest.

       aggregate unix:/tmp/redis.sock        aggregate 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"
#include "platform.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char table_memory[4 * 1024 * 1024]; /* the places */
static _Alignas(16) unsigned char count_memory[1024 * 1024];     /* a counter for each place and day */

static const char rows[] = "173.194.0.0,173.194.255.255,US,California,Mountain View\n"
                           "81.0.0.0,81.0.255.255,DE,Berlin,Berlin\n";
static const char lines[] = "173.194.38.137 2011-10-10 13:55:36 achievement-762\n"
                            "81.0.0.7 2011-10-10 13:55:37 login\n81.0.0.8 2011-10-10 13:55:38 login\n";

static void frame(gh_client* client)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

/* A table of places would be read from a file; see geo.c. */
static gh_status count(gh_aggregate** aggregate)
{
    gh_geo_config geo_config = gh_geo_config_default();
    gh_aggregate_config config = gh_aggregate_config_default();
    gh_geo* table = NULL;
    size_t used = 0;
    gh_status status = gh_geo_init(table_memory, sizeof table_memory, &geo_config, &table);
    if (status == GH_OK) status = gh_geo_add_rows(table, gh_str_of(rows), &used);
    if (status == GH_OK) status = gh_geo_seal(table, 0);
    if (status == GH_OK) status = gh_aggregate_init(count_memory, sizeof count_memory, &config, aggregate);
    if (status == GH_OK) status = gh_aggregate_start(*aggregate, table);
    return status == GH_OK ? gh_aggregate_add(*aggregate, gh_str_of(lines)) : status;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    gh_client* client = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);

    gh_aggregate* aggregate = NULL;
    gh_aggregate_flush flush = {0};
    gh_str set = gh_str_literal("events");
    if (status == GH_OK) status = count(&aggregate);
    if (status == GH_OK)
        status =
            gh_aggregate_flush_begin(&flush, client, aggregate, set, gh_str_literal("events.log.7"), NULL);
    while (status == GH_OK && gh_aggregate_flush_poll(&flush) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_aggregate_flush_poll(&flush);
    if (status == GH_DUPLICATE) printf("this file is in the totals already\n"), status = GH_OK;

    gh_aggregate_total totals[10];
    char text[4000];
    gh_aggregate_read read = {0};
    gh_aggregate_read_config want = gh_aggregate_read_config_default();
    want.level = GH_AGGREGATE_CITY;
    want.totals = totals, want.total_count = 10;
    want.text = text, want.text_size = sizeof text;
    if (status == GH_OK)
        status = gh_aggregate_read_begin(&read, client, set, gh_str_literal("2011-10-10"), &want);
    while (status == GH_OK && gh_aggregate_read_poll(&read) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_aggregate_read_poll(&read);
    for (uint32_t i = 0; status == GH_OK && i < read.count; i++)
        printf("%llu in %.*s\n", (unsigned long long)totals[i].count, (int)totals[i].city.size,
               totals[i].city.bytes);
    if (status != GH_OK) fprintf(stderr, "aggregate: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
