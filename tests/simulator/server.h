/* server.h -- the store's servers, in this process: what the network, those who look, and what makes a fleet of them
   need. What the storm's nemesis does to the one that counts is in storm/store.h. */

#ifndef GUILDHALL_TESTS_SIMULATOR_SERVER_H
#define GUILDHALL_TESTS_SIMULATOR_SERVER_H

#include "store.h" /* platform/embedded */

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* The store's clock at virtual time 0: a day in 2026. */
#define SERVER_START_US UINT64_C(1780000000000000)

enum
{
    SERVERS_MAX = 12,
    SERVER_PORT = 7000 /* of the first; the next ones follow */
};

/* Compiles what is compiled but once, before the first run. */
void server_warm(void);

/* Begins a run: empty servers, of the run's seed; of a Cluster or not. */
void server_open(bool clustered);

/* The server that counts. */
unsigned server_primary(void);
void server_count_on(unsigned server);

/* Carries out what came on a link; its clock is set before. */
void server_feed(unsigned server, gh_store_link* link, const void* bytes, size_t size);
gh_store* server_store(unsigned server);
void server_set_time(unsigned server);

bool server_is_down(unsigned server);
bool server_is_full(unsigned server); /* it takes no more links */
bool server_stands_still(unsigned server);

/* Its process is killed, and starts again with its data, and with the user's rights, which are in its command line. */
void server_kill(unsigned server);
void server_start(unsigned server);
void server_freeze(unsigned server);
void server_thaw(unsigned server);

/* One of GH_STORE_LOADING and so on. */
void server_set_state(unsigned server, unsigned state, bool on);

/* One command, as if from beside the server, without any network. NULL: it does not answer. */
redisReply* server_ask(unsigned server, const char* format, va_list arguments);
bool server_do(unsigned server, const char* words);

/* The same to the one that counts again until it is done; the run ends if it never is. */
void server_must(unsigned server, const char* words);

/* Of who answers in the store's stead: see gh_store_set_other. One that is planted is asked first. */
void server_set_other(unsigned server, gh_store_other other, void* context);

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
