/* rights.c -- what the store's user may call from inside scripts. */

#include "client/state.h"

void gh_rights_doubt(gh_client* client)
{
    client->rights_known = false;
}
