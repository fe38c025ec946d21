/* look.c -- the witness, who reads keys all through the run, and the auditor, who reads the store after it. */

#include "storm/look.h"

#include "guildhall/platform.h"
#include "storm/store.h"
#include "storm/storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    WITNESS_PAUSE_US = 12000,
    WITNESS_CAP_US = 400000, /* it has more to see than a server that stands still */
    AUDIT_CAP_US = 30000000
};

static const storm_who witness_name = {STORM_PLAYERS_MAX, 0, 0};
static const storm_who auditor_name = {STORM_PLAYERS_MAX + 1, 0, 0};

int witness_run(void* context, int results)
{
    storm_look look = {.who = witness_name};
    char path[160] = "";
    (void)context;
    (void)results;
    while (storm_stage_now() != STAGE_STOP)
    {
        history_pause(WITNESS_PAUSE_US);
        if (look.redis != NULL && strcmp(path, store_path()) != 0) /* another server counts now */
        {
            redisFree(look.redis);
            look.redis = NULL;
        }
        (void)snprintf(path, sizeof path, "%s", store_path());
        if (look.redis == NULL) look.redis = store_connect(WITNESS_CAP_US);
        if (look.redis == NULL) continue;
        for (uint8_t i = 1; i < STORM_SYSTEM_END && look.redis->err == 0; i++)
        {
            if (storm_system_is_on(i) && storm_system_of(i)->witness != NULL) storm_system_of(i)->witness(&look);
        }
        if (look.redis->err == 0 && !history_is_full()) continue;
        redisFree(look.redis);
        look.redis = NULL;
    }
    return 0;
}

static uint64_t audit_end_us;

bool storm_look_turn(storm_look* look)
{
    (void)gh_tick(look->client, history_now(), 0);
    history_pause(500);
    return history_now() < audit_end_us;
}

void audit_run(void)
{
    gh_client_config config = gh_client_config_default();
    char address[160];
    (void)snprintf(address, sizeof address, "unix:%s", store_path());
    config.address = gh_str_of(address);
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("storm");
    config.out_bytes = 1024 * 1024;
    config.reply_bytes = 1024 * 1024;
    config.reply_nodes = 65536;
    size_t size = gh_client_memory(&config);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    storm_look look = {.who = auditor_name, .redis = store_connect(AUDIT_CAP_US)};
    if (memory == NULL || look.redis == NULL ||
        gh_client_init(memory, size, &config, gh_platform_default(), &look.client) != GH_OK)
    {
        fprintf(stderr, "storm: the auditor cannot begin\n");
        exit(2);
    }
    for (uint8_t i = 1; i < STORM_SYSTEM_END; i++)
    {
        audit_end_us = history_now() + AUDIT_CAP_US;
        if (storm_system_is_on(i) && storm_system_of(i)->audit != NULL) storm_system_of(i)->audit(&look);
    }
    gh_client_shutdown(look.client);
    free(memory);
    redisFree(look.redis);
}
