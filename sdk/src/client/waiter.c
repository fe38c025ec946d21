/* waiter.c -- how long those who wait in line pause, and when a lease is renewed. */

#include "client/waiter.h"

#define HEARTBEAT_US       5000000ull /* a waiter asks at least this often, */
#define HEARTBEAT_SHARE_US 500ull     /* or, where many wait, as seldom as keeps them all below 4,000 a second; */
#define HEARTBEATS_MISSED  3          /* a client whose waiters have missed so many is taken for dead */
#define POLL_US            100000ull  /* the next in line asks this often; the n-th n times as seldom */
#define POSITION_MAX       1000000u   /* farther behind, all pause equally long */
#define WATCHERS           4u         /* so many in front look after what ends before them */
#define SPREAD_US          500000ull

static uint64_t heartbeat_us(const gh_client* client, uint64_t least_us)
{
    uint64_t share_us = HEARTBEAT_SHARE_US * gh_client_ops_busy(client);
    return share_us > least_us ? share_us : least_us;
}

uint64_t gh_waiter_patience(const gh_client* client)
{
    return HEARTBEATS_MISSED * heartbeat_us(client, HEARTBEAT_US);
}

/* No pause is longer. */
static uint64_t longest_pause_us(const gh_client* client)
{
    return heartbeat_us(client, gh_client_wake_healthy(client) ? HEARTBEAT_US : GH_WAITER_POLL_MAX_US);
}

uint64_t gh_waiter_window(const gh_client* client)
{
    return gh_client_wake_healthy(client) ? GH_CLAIM_WINDOW_US : longest_pause_us(client) + GH_CLAIM_WINDOW_US;
}

uint64_t gh_waiter_pause(gh_client* client, uint64_t position, uint64_t remaining_us)
{
    uint64_t most_us = longest_pause_us(client);
    uint64_t pause_us = POLL_US * (position < POSITION_MAX ? position : POSITION_MAX);
    uint64_t step_us = GH_WAITER_POLL_MIN_US * position;
    if (pause_us > most_us) pause_us = most_us;
    if (position <= WATCHERS && remaining_us + step_us < pause_us) pause_us = remaining_us + step_us;
    return pause_us < GH_WAITER_POLL_MIN_US ? GH_WAITER_POLL_MIN_US : pause_us;
}

uint64_t gh_waiter_quarantine_pause(uint64_t remaining_us)
{
    if (remaining_us > GH_WAITER_POLL_MAX_US) return GH_WAITER_POLL_MAX_US;
    return remaining_us + GH_WAITER_POLL_MIN_US;
}

void gh_waiter_sleep(gh_op* op, uint64_t pause_us, uint64_t give_up_us)
{
    uint64_t ask_us;
    if (pause_us > SPREAD_US) /* those who came together part, so that of many one asks at any time */
        pause_us = SPREAD_US + gh_client_jitter(op->client, 2 * (pause_us - SPREAD_US)) - (pause_us - SPREAD_US);
    ask_us = gh_client_after(op->client, pause_us);
    gh_op_timer(op, ask_us < give_up_us ? ask_us : give_up_us);
}

uint64_t gh_lease_end(uint64_t lease_us, uint64_t sent_us, uint64_t remaining_us)
{
    uint64_t margin_us = lease_us / 100 + 1000;
    if (remaining_us > lease_us) remaining_us = lease_us;
    return sent_us + (remaining_us > margin_us ? remaining_us - margin_us : 0);
}

uint64_t gh_lease_renewal(const gh_client* client, uint64_t lease_us, uint64_t lease_end_us)
{
    uint64_t now_us = gh_client_now(client);
    uint64_t half_us = lease_end_us > now_us ? (lease_end_us - now_us) / 2 : 0;
    return gh_client_after(client, half_us < lease_us / 3 ? half_us : lease_us / 3);
}
