/* network.h -- the links between the clients of a fleet and its store, in virtual time.

      a client's stream                                                       a link of the store
      send    ---> [piece 3us] [piece 90us] ... requests, in order  ------->  feed
      receive <--------------------- replies, in order ... [piece]  <-------  take

   Each direction carries pieces of bytes, which arrive after delays that are drawn for them. Orders of the storm's
   nemesis (storm/wire.h) hold directions back, swallow what they carry, chop it up, cut links, also in the middle of
   what is said, and refuse new ones. What a client has sent arrives, and is carried out, also when its process has died
   or has given the link up long before: as with real networks. In some runs a part of it comes minutes later, when the
   weather may be over ("ancient").

   A host is a process of the fleet: it has a clock of its own, which began at another time than the others and goes a
   little too fast or too slow, and entropy of its own, all of it from the run's seed. */

#ifndef GUILDHALL_TESTS_SIMULATOR_NETWORK_H
#define GUILDHALL_TESTS_SIMULATOR_NETWORK_H

#include "guildhall/platform.h"
#include "support/random.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct network_host
{
    unsigned name; /* its place among the hosts */
    unsigned life;
    random_stream random;
    gh_platform platform; /* for its clients */
    uint64_t ahead_us;    /* of its clock, from the beginning */
    int64_t uneven;       /* millionths by which it goes too fast */
    uint64_t spent_us;    /* within the tick that goes on, as its clock tells it to who asks twice */
    bool perfect;         /* its links have no delays to speak of, and no order befalls them */
} network_host;

/* Forgets all links. */
void network_open(void);

/* A life of that host begins. */
void network_host_start(network_host* host, unsigned name, unsigned life, bool perfect);

/* What the host's clock says. */
uint64_t network_clock(const network_host* host);

/* It has died: its links end as those of a killed process do. */
void network_host_end(const network_host* host);

/* When the next bytes for that host arrive that are under way; UINT64_MAX: none are. */
uint64_t network_next_us(const network_host* host);

/* When the next of the bytes come that are held back for minutes; UINT64_MAX: there are none. */
uint64_t network_next_ancient_us(void);

/* Of a server: it was killed and its links with it; it stood still and goes on. */
void network_server_died(unsigned server);
void network_server_resumes(unsigned server);

/* New links lead to that server; the old ones are cut. */
void network_lead_to(unsigned server);

/* What the store has to say by itself, beside its answers, begins its way. */
void network_collect(unsigned server);

/* Who talks on a link of the store, for a trace: a host and a number of the link. False: it is nobody's. */
bool network_who(const void* store_link, unsigned* host, unsigned* link);

#endif
