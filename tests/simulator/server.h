/* server.h -- the store's servers, in this process: what the network and those who look need of them. What the storm's
   nemesis does to them is in storm/store.h. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SERVER_H
#define GUILDHALL_TESTS_SIMULATOR_SERVER_H

#include "store.h" /* platform/embedded */

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

enum
{
    SERVERS_MAX = 2
};

/* Compiles what is compiled but once, before the first run. */
void server_warm(void);

/* Begins a run: empty servers, of the run's seed. */
void server_open(void);

/* The server that counts. */
unsigned server_primary(void);

/* Carries out what came on a link; its clock is set before. */
void server_feed(unsigned server, gh_store_link* link, const void* bytes, size_t size);
gh_store* server_store(unsigned server);

bool server_is_down(unsigned server);
bool server_is_full(unsigned server); /* it takes no more links */
bool server_stands_still(unsigned server);

/* One command, as if from beside the server, without any network. NULL: it does not answer. */
redisReply* server_ask(unsigned server, const char* format, va_list arguments);

uint64_t server_requests(void);

/* From the next run on, that script does something else before it does what it does: a wrong store, to see that it is
   caught. NULL: none does. */
typedef struct server_plant
{
    const char* script;
    const char* before; /* Lua */
} server_plant;

void server_set_plant(const server_plant* plant);

#endif
