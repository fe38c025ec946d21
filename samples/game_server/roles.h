/* roles.h -- one program, started several times: each process has one role in the fleet; or, with
   --embedded, each thread of one. */

#ifndef GAME_SERVER_ROLES_H
#define GAME_SERVER_ROLES_H

#include "options.h"

/* Each returns the exit code of the process. */
int aggregator_main(const options* o);
int bots_main(const options* o);
int fleet_main(const options* o);
int server_main(const options* o);
int worker_main(const options* o);

/* The role of that name with these arguments, on this thread. */
int role_main(const char* name, int count, char** arguments);

#endif
