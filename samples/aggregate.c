/* aggregate.c -- counts the lines of a log by country, region and city, adds them to the day's totals, and shows the
   largest of each.

       aggregate unix:/tmp/redis.sock        aggregate 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

#define SHOW(str) (int)(str).size, (str).bytes /* for %.*s */

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char table_memory[4 * 1024 * 1024]; /* the places, of a file: see geo.c */
static _Alignas(16) unsigned char count_memory[1024 * 1024];     /* a counter for each place and day */
static gh_client* client;
static const gh_str set = GH_STR_INIT("logins"), day = GH_STR_INIT("2011-10-10");
static const gh_str elsewhere = GH_STR_INIT("nowhere that we know");

static const char places[] = "192.0.2.0,192.0.2.99,DE,Berlin,Berlin\n"
                             "192.0.2.100,192.0.2.199,DE,Bavaria,Munich\n"
                             "192.0.2.200,192.0.2.255,DE,Bavaria,Roth\n"
                             "198.51.100.0,198.51.100.255,FR,Brittany,Brest\n";
static const char lines[] = "192.0.2.7 2011-10-10 13:55:36 login\n"
                            "192.0.2.101 2011-10-10 13:55:37 login\n"
                            "192.0.2.102 2011-10-10 13:55:38 login\n"
                            "192.0.2.201 2011-10-10 13:55:39 login\n"
                            "198.51.100.1 2011-10-10 13:55:40 login\n"
                            "203.0.113.1 2011-10-10 13:55:41 login\n"; /* in no range: it has no country */

static void frame(void)
{
    const gh_platform* platform = gh_platform_default();
    gh_tick(client, platform->now_us(platform->context), 500);
    nanosleep(&(struct timespec){.tv_nsec = 16 * 1000 * 1000}, NULL); /* the rest of your frame */
}

/* How an op has ended; a begin that was refused has, too. */
static gh_status end_of(gh_op* op)
{
    while (gh_op_poll(op) == GH_PENDING) frame();
    return gh_op_poll(op);
}

/* Counts in this process. A log would come piece by piece, from files.h or from the disk. */
static gh_status count(gh_aggregate** log)
{
    gh_geo_config geo = gh_geo_config_default();
    gh_aggregate_config sums = gh_aggregate_config_default();
    gh_geo* table = NULL;
    size_t used;
    gh_status status = gh_geo_init(&table, &geo, table_memory, sizeof table_memory);
    if (status == GH_OK) status = gh_geo_add_rows(table, gh_str_of(places), &used);
    if (status == GH_OK) status = gh_geo_seal(table, 0);
    if (status == GH_OK) status = gh_aggregate_init(log, &sums, count_memory, sizeof count_memory);
    if (status == GH_OK) status = gh_aggregate_start(*log, table);
    if (status == GH_OK) status = gh_aggregate_add(*log, gh_str_of(lines));
    return status;
}

/* The largest of a level, of all the files of the day. */
static gh_status show(gh_aggregate_level level)
{
    static gh_aggregate_read read;
    gh_aggregate_total totals[10];
    char text[4000]; /* for their names */
    gh_aggregate_read_config want = gh_aggregate_read_config_default();
    want.level = level, want.totals = totals, want.total_count = 10, want.text = text, want.text_size = sizeof text;
    gh_aggregate_read_begin(&read, client, set, day, &want);
    gh_status status = end_of(&read.op);
    for (uint32_t i = 0; status == GH_OK && i < read.count; i++)
    {
        const gh_aggregate_total* t = &totals[i];
        printf("%d from %.*s", (int)t->count, SHOW(t->country.size > 0 ? t->country : elsewhere));
        if (level >= GH_AGGREGATE_REGION) printf(", %.*s", SHOW(t->region));
        if (level == GH_AGGREGATE_CITY) printf(", %.*s", SHOW(t->city));
        printf("\n");
    }
    return status;
}

int main(int argc, char** argv)
{
    gh_client_config config = gh_client_config_default();
    config.address = gh_str_of(argc > 1 ? argv[1] : "unix:/tmp/redis.sock");
    static gh_aggregate_flush flush;
    gh_aggregate* log = NULL;
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = count(&log);
    if (status == GH_OK) status = gh_aggregate_flush_begin(&flush, client, log, set, gh_str_literal("log 7"), NULL);
    if (status == GH_OK) status = end_of(&flush.op);
    if (status == GH_EXISTS) printf("it is in the totals already\n"), status = GH_OK;
    for (int level = GH_AGGREGATE_COUNTRY; status == GH_OK && level <= GH_AGGREGATE_CITY; level++)
        status = show((gh_aggregate_level)level);
    if (status != GH_OK) fprintf(stderr, "aggregate: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
