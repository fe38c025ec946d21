/* synced.c -- how many replicas a config asks for, and whether it may: replicas.h. */

#include "client/state.h"

gh_status gh_replicas_check(const gh_client* client, uint8_t asked)
{
    if (asked == 0 || asked == GH_REPLICAS_AS_CLIENT) return GH_OK;
    return asked <= GH_REPLICAS_MAX && client->config.replicas != NULL ? GH_OK : GH_INVALID_REPLICAS;
}

uint8_t gh_replicas_wanted(const gh_client* client, uint8_t asked)
{
    return asked == GH_REPLICAS_AS_CLIENT ? (uint8_t)client->config.wait_replicas : asked;
}
