/* waiter.h -- what locks and semaphores have in common: waiting in a queue of the store, and keeping a lease.

       asks --> the store has it in its queue --> sleeps --> asks ...    a hint ends the sleep: its turn came

   With hints, asking is only a heartbeat, and the few in front look after owners and waiters that died.
   Without hints, everybody asks more often. The store keeps a turn for the one that it has told for
   GH_CLAIM_WINDOW_US, or for as long as its client may sleep that has no hints; a hint with the letter
   GH_HINT_WATCH says that it is the turn of the one in front, to be looked after in case that one has died. */

#ifndef GH_WAITER_H
#define GH_WAITER_H

#include "client/op.h"

#define GH_CLAIM_WINDOW_US    200000ull
#define GH_WAITER_POLL_MIN_US 5000ull
#define GH_WAITER_POLL_MAX_US 2000000ull /* without hints, everybody asks at least this often */
#define GH_HINT_WATCH         'w'

/* How long the store may take a client for alive whose waiters do not ask. */
uint64_t gh_waiter_patience(const gh_client* client);

/* How long the waiter at this position (from 1) may sleep; remaining_us is what is left of the first lease or
   turn that ends in front of it. */
uint64_t gh_waiter_pause(gh_client* client, uint64_t position, uint64_t remaining_us);

/* How long a turn must be kept for a waiter of this client, so that it cannot sleep through it. */
uint64_t gh_waiter_window(const gh_client* client);

/* How long to wait when nothing is granted for that long yet. */
uint64_t gh_waiter_quarantine_pause(uint64_t remaining_us);

/* Sets the timer of the op to the end of the pause, spread when it is a long one, and at the latest to
   give_up_us. */
void gh_waiter_sleep(gh_op* op, uint64_t pause_us, uint64_t give_up_us);

/* When a lease is over by our clock: counted from the send of the request, and a little less, so that it can
   never be later than the store's. */
uint64_t gh_lease_end(uint64_t lease_us, uint64_t sent_us, uint64_t remaining_us);

/* When to renew it: after a third of the lease; sooner if less than a whole lease is left. */
uint64_t gh_lease_renewal(const gh_client* client, uint64_t lease_us, uint64_t lease_end_us);

#endif
