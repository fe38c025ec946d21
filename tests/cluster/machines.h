/* machines.h -- a Cluster that a test makes up, in the time of scripted.h: whoever is connected to is a machine, and
   all say what the test wants them to. For what no real server can be brought to.

       machines* all = machines_new();
       all->map = machines_map("10.0.0.2", NULL);           // what all answer to CLUSTER SLOTS
       all->says = says;                                    // what they answer to anything
       machines_start(all, NULL);                           // the seed is 10.0.0.1:7000, as are all ports
       gh_command* op = machines_get(all, "sword", 60 * SECOND_US);
       MACHINES_UNTIL(all, gh_op_poll(&op->op) != GH_PENDING, 5 * SECOND_US); */

#ifndef GUILDHALL_TESTS_MACHINES_H
#define GUILDHALL_TESTS_MACHINES_H

#include "support/server/scripted.h"

#define SECOND_US UINT64_C(1000000)

#define MACHINES_GONE_MAX 4

typedef struct machines machines;

/* NULL: as by default. The host is that of the machine which is asked. */
typedef const char* (*machines_answer)(machines* self, const char* host, const gh_str* words, size_t count);

struct machines
{
    scripted* world;
    const char* map;       /* what all of them answer to CLUSTER SLOTS; machines_map makes one   */
    machines_answer says;  /* NULL: all is as by default                                         */
    const char* gone[MACHINES_GONE_MAX]; /* hosts at which nobody is */
    const char* number;    /* what the resolver makes of every name; NULL: there is no resolver  */
    unsigned resolved;     /* how often it was asked                                             */
    unsigned served;       /* GETs that were answered by default                                 */
    char served_by[SCRIPTED_HOST_SIZE]; /* by whom the last one                                               */
    unsigned asking;       /* ASKINGs so far                                                     */
    unsigned count;        /* the test's own                                                     */
};

/* Ended by itself after the test. */
machines* machines_new(void);

/* Of one row with all slots: a host, or NULL, and the name that it announces, or NULL. Valid for the whole run. */
const char* machines_map(const char* host, const char* name);

/* "-MOVED", valid until the next call. */
const char* machines_moved(unsigned slot, const char* host);

/* Half the slots are those of 1, and half those of 2. */
#define MACHINES_TWO_MASTERS                                                                                           \
    "*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$8\r\n10.0.0.1\r\n:7000\r\n"                                                     \
    "*3\r\n:8192\r\n:16383\r\n*2\r\n$8\r\n10.0.0.2\r\n:7000\r\n"

/* The config may be NULL; its address and topology are set. */
void machines_start(machines* self, const gh_client_config* config);

/* GET of that key, begun. */
gh_command* machines_get(machines* self, const char* key, uint64_t timeout_us);

/* The stream of a link that goes there, or NULL. */
scripted_stream* machines_stream(const machines* self, const char* host);

bool machines_is(gh_str word, const char* text);

#define MACHINES_UNTIL(self, condition, most_us) SCRIPTED_UNTIL((self)->world, condition, 5000, most_us)

#endif
