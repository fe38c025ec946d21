/* cast.h -- who is in the fleet, and with which arguments: servers, workers, aggregators and bots, in this
   order on the board, behind the fleet itself. */

#ifndef GAME_SERVER_CAST_H
#define GAME_SERVER_CAST_H

#include "children.h"
#include "options.h"
#include "run_folder.h"
#include "snapshot.h"

/* All but the bots' last argument, which is known only later. Returns the bots. */
child* cast_all(children* all, const options* o, const run_folder* folder);

/* Gives the bots the ports of the servers. False: not all servers have said theirs on the board yet. */
bool cast_ports(child* bots, const options* o, const snapshot* shown);

#endif
