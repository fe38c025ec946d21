/* fault.h -- the faults that every operation of every system has to survive, written once.

   An operation is a row of functions; the harness brings each of its runs to the same start, lets it begin, does
   something terrible at a chosen point, waits until the op is over, and asks the audit what the store has to say:

       prepare -> begin -> [ fault at byte k, at tick k, ... ] -> poll until over -> audit

   Each run works on names of its own (fault_name), so runs do not have to clean up after one another. */

#ifndef GUILDHALL_TESTS_FAULT_H
#define GUILDHALL_TESTS_FAULT_H

#include "support/scene/game.h"
#include "support/server/proxy.h"
#include "support/server/redis_server.h"

typedef struct fault_scene
{
    redis_server* server;
    chaos_proxy* proxy;  /* between game and server                                                     */
    game* game;          /* without the wake link, so that every byte is the operation's                */
    game* other;         /* straight to the server, for whoever else takes part; asleep during the run  */
    uint64_t run;
    bool store_emptied;  /* the fault threw the store's data away                                       */
    bool leaves_doubt;   /* set by prepare: it may end GH_UNKNOWN when it is cancelled                  */
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

/* poll and cancel where op is a struct that begins with its op. */
gh_status fault_poll_op(const void* op);
void fault_cancel_op(void* op);

/* "<prefix><run>", new in each run, valid until the next. */
gh_str fault_name(const fault_scene* scene);

/* Cuts the connection after each byte of the request and of the reply, by FIN and by RST. The operation must end OK (or
   IDLE). GUILDHALL_STRIDE=1: every byte, whatever the operation says; a larger n: each n-th byte, where the operation
   says less. */
void fault_cut_at_every_byte(const fault_operation* operation);

/* The link is lost, or the op is cancelled, after each number of ticks that it takes (of many, each eighth part). */
void fault_link_lost_at_every_tick(const fault_operation* operation);
void fault_cancelled_at_every_tick(const fault_operation* operation);

/* The server is killed in the middle and comes back with its data; stands still for longer than the request's time-out
   and then carries out the old request and the new one; forgets its scripts. */
void fault_server_killed(const fault_operation* operation);
void fault_server_frozen(const fault_operation* operation);
void fault_scripts_flushed(const fault_operation* operation);

/* With each capacity of the client at its least. */
void fault_small_client(const fault_operation* operation);

/* On a Cluster node that has all slots: a request or script that touches two slots is refused there. */
void fault_one_slot(const fault_operation* operation);

/* No call of the heap from the begin to the end. */
void fault_no_heap(const fault_operation* operation);

/* FAULT_TESTS(take) makes the tests take_cut_at_every_byte and so on of the fault_operation `take`;
   FAULT_TEST_LIST(take) names them for TEST_FILE. The two for cancel stand apart: not everything can be cancelled. */
#define FAULT_TEST(operation, fault)                                                                                 \
    static void operation##_##fault(void** state)                                                                    \
    {                                                                                                                \
        (void)state;                                                                                                 \
        fault_##fault(&operation);                                                                                   \
    }

#define FAULT_TESTS(operation)                                                                                       \
    FAULT_TEST(operation, cut_at_every_byte)                                                                         \
    FAULT_TEST(operation, link_lost_at_every_tick)                                                                   \
    FAULT_TEST(operation, server_killed)                                                                             \
    FAULT_TEST(operation, server_frozen)                                                                             \
    FAULT_TEST(operation, scripts_flushed)                                                                           \
    FAULT_TEST(operation, small_client)                                                                              \
    FAULT_TEST(operation, one_slot)                                                                                  \
    FAULT_TEST(operation, no_heap)

#define FAULT_TEST_LIST(operation)                                                                                   \
    cmocka_unit_test(operation##_cut_at_every_byte), cmocka_unit_test(operation##_link_lost_at_every_tick),          \
        cmocka_unit_test(operation##_server_killed), cmocka_unit_test(operation##_server_frozen),                    \
        cmocka_unit_test(operation##_scripts_flushed), cmocka_unit_test(operation##_small_client),                   \
        cmocka_unit_test(operation##_one_slot), cmocka_unit_test(operation##_no_heap)

#define FAULT_CANCEL_TEST(operation) FAULT_TEST(operation, cancelled_at_every_tick)
#define FAULT_CANCEL_TEST_LIST(operation) cmocka_unit_test(operation##_cancelled_at_every_tick)

#endif
