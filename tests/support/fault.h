/* fault.h -- the faults that every operation of every system has to survive, written once.

   An operation is a row of functions; the harness brings each of its runs to the same start, lets it begin, does
   something terrible at a chosen point, waits until the op is over, and asks the audit what the store has to say:

       prepare -> begin -> [ fault at byte k, at tick k, ... ] -> poll until over -> audit

   Each run works on names of its own (fault_name), so runs do not have to clean up after one another. */

#ifndef GUILDHALL_TESTS_FAULT_H
#define GUILDHALL_TESTS_FAULT_H

#include "support/game.h"
#include "support/proxy.h"
#include "support/redis_server.h"

typedef struct fault_scene
{
    redis_server* server;
    chaos_proxy* proxy;  /* between game and server                                                     */
    game* game;          /* without the wake link, so that every byte is the operation's                */
    game* other;         /* straight to the server, for whoever else takes part; asleep during the run  */
    uint64_t run;
    bool store_emptied;  /* the fault threw the store's data away                                       */
    char name[32];
    void* op;            /* zeroed memory of op_size, new in each run */
    void* more;          /* zeroed memory of more_size                */
} fault_scene;

typedef struct fault_operation
{
    const char* name;
    size_t op_size;
    size_t more_size;
    uint64_t stride;                     /* cuts at each n-th byte only, for what takes its time; 0: 1  */
    void (*prepare)(fault_scene* scene); /* may be NULL                                            */
    void (*begin)(fault_scene* scene);
    gh_status (*poll)(const void* op);
    bool (*over)(fault_scene* scene);    /* NULL: poll is neither GH_PENDING                        */
    void (*cancel)(void* op);            /* NULL: cannot be cancelled                              */

    /* status is how it ended. Must hold: OK means done once; what is certainly not done, has left nothing; in
       between (UNKNOWN, CANCELLED), done once or not at all. */
    void (*audit)(fault_scene* scene, gh_status status);
} fault_operation;

/* "<prefix><run>", new in each run, valid until the next. */
gh_str fault_name(const fault_scene* scene);

/* Cuts the connection after each byte of the request and of the reply, by FIN and by RST. The operation must end OK,
   or as `also` says that it may (GH_OK: nothing else). GUILDHALL_STRIDE=n: each n-th byte, whatever the operation says. */
void fault_cut_every_byte(const fault_operation* operation, gh_status also);

/* The link is lost, or the op is cancelled, after each number of ticks that it takes. */
void fault_lose_at_every_tick(const fault_operation* operation, gh_status also);
void fault_cancel_at_every_tick(const fault_operation* operation);

/* The server is killed after the request was sent and comes back with its data; stands still for longer than the
   request's time-out; forgets its scripts. */
void fault_kill_and_restart(const fault_operation* operation, gh_status also);
void fault_freeze(const fault_operation* operation, gh_status also);
void fault_flush_scripts(const fault_operation* operation);

#endif
