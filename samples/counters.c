/* counters.c -- counts kills for three seconds, and shows what the whole fleet has counted.

       counters unix:/tmp/redis.sock        counters 127.0.0.1:6379 */

#define _POSIX_C_SOURCE 200809L /* nanosleep */

#include "guildhall/guildhall.h"

#include <stdio.h>
#include <time.h>

static _Alignas(16) unsigned char memory[256 * 1024];
static _Alignas(16) unsigned char counters_memory[64 * 1024];

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
    gh_counters* counters = NULL;
    gh_counter kills = {0};
    const gh_str name = gh_str_literal("kills");
    gh_status status = gh_client_init(memory, sizeof memory, &config, gh_platform_default(), &client);
    if (status == GH_OK) status = gh_counters_init(&counters, client, NULL, counters_memory, sizeof counters_memory);
    if (status == GH_OK) status = gh_counters_open(counters, name, &kills);

    for (int i = 0; status == GH_OK && i < 180; i++, frame(client))
        if (i % 20 == 0) status = gh_counters_add(counters, kills, 1); /* some nanoseconds */
    if (status == GH_OK) status = gh_counters_flush(counters);         /* it would go by itself within a second */
    for (int i = 0; status == GH_OK && gh_counters_poll(counters) == GH_PENDING && i < 600; i++) frame(client);

    gh_counter_sample samples[10];
    gh_counter_read read = {0};
    gh_counter_read_config want = gh_counter_read_config_default();
    want.seconds = 1, want.samples = samples, want.sample_count = 10, want.fill_gaps = true;
    if (status == GH_OK) status = gh_counter_read_begin(&read, client, name, &want);
    while (status == GH_OK && gh_op_poll(&read.op) == GH_PENDING) frame(client);
    if (status == GH_OK) status = gh_op_poll(&read.op);
    for (uint32_t i = 0; status == GH_OK && i < read.count; i++)
        printf("%llu  %lld\n", (unsigned long long)samples[i].time_s, (long long)samples[i].sum);
    if (status == GH_OK)
        printf("%lld kills in 10 seconds, at most %lld in one\n", (long long)read.sum, (long long)read.max);
    else fprintf(stderr, "not counted: %s\n", gh_status_text(status));
    gh_client_shutdown(client);
    return status == GH_OK ? 0 : 1;
}
