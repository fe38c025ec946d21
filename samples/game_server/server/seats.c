/* seats.c -- the way of a player through the server, from ENTER to FAREWELL. */

#include "server/seats.h"

#include <stdio.h>
#include <stdlib.h>

#define LEASE_US     15000000ull   /* a player whose server died can play elsewhere after that      */
#define LINE_US      3600000000ull /* who waits longer begins again, at the end of the line         */
#define LOCK_WAIT_US 30000000ull   /* longer than a lease: whoever has it gives it back, or is dead */
#define AGAIN_US     200000u
#define LOOK_FRAMES  8 /* a lost seat is noticed after at most so many */

typedef enum seat_state
{
    SEAT_FREE = 0,
    SEAT_WAITING,
    SEAT_LOCKING,
    SEAT_LOADING,
    SEAT_IN,
    SEAT_LEAVING, /* what is under way is finished      */
    SEAT_GIVING   /* permit and lock are on their way back */
} seat_state;

typedef struct seat
{
    uint32_t slot;
    uint32_t player;
    seat_state state;
    bool asked;     /* WAITING, LOCKING: the op was begun */
    bool entered;   /* others know of the player          */
    uint32_t place; /* in line, as the player was told    */
    uint64_t again_us;
    gh_permit permit;
    gh_lock lock;
    gh_fence fence;
    char name[PLAYER_NAME_SIZE];
    char lock_name[GH_NAME_SIZE_MAX + 1];
} seat;

struct seats
{
    seats_config config;
    char semaphore[GH_NAME_SIZE_MAX + 1];
    bool closing;
    uint64_t frames;
    uint32_t taken; /* seats that are not FREE */
    uint64_t* logins;
    uint64_t* lost;
    seat* all; /* by slot */
};

seats* seats_open(const seats_config* config)
{
    seats* s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->config = *config;
    snprintf(s->semaphore, sizeof s->semaphore, "seats:%s", config->server);
    s->logins = board_count_of(config->row, "logins");
    s->lost = board_count_of(config->row, "seats.lost");
    s->all = calloc(config->players_max, sizeof *s->all);
    if (s->all == NULL || s->logins == NULL || s->lost == NULL)
    {
        seats_close(s);
        return NULL;
    }
    for (uint32_t slot = 0; slot < config->players_max; slot++) s->all[slot].slot = slot;
    return s;
}

void seats_close(seats* s)
{
    free(s->all);
    free(s);
}

static void tell(seats* s, const seat* p, message m)
{
    network_send(s->config.network, p->slot, &m);
}

static void sorry(seats* s, const seat* p, const message* m, sorry_reason reason, const char* why)
{
    tell(s, p, (message){.type = MESSAGE_SORRY, .number = m->number, .values = {reason}, .text = gh_str_of(why)});
}

static void go(seat* p, seat_state state)
{
    p->state = state;
    p->asked = false;
    p->again_us = 0;
}

/* ---- Coming in ----------------------------------------------------------------------------------------- */

static void enter(seats* s, seat* p, const message* m)
{
    int64_t number = m->values[0];
    bool known = number >= 0 && number < PLAYERS_MAX;
    if (known) known = gh_str_equal(m->name, player_name((uint32_t)number, p->name));
    if (!known || s->closing)
    {
        sorry(s, p, m, known ? SORRY_BUSY : SORRY_NONSENSE, "no entry");
        network_free(s->config.network, p->slot);
        return;
    }
    p->player = (uint32_t)number;
    p->entered = false;
    p->place = 0;
    s->taken++;
    go(p, SEAT_WAITING);
}

static bool begin_permit(seats* s, seat* p)
{
    gh_semaphore semaphore;
    gh_semaphore_config config = gh_semaphore_config_default();
    gh_permit_config want = gh_permit_config_default();
    config.limit = s->config.seat_count;
    gh_semaphore_init(&semaphore, s->config.client, gh_str_of(s->semaphore), &config);
    want.lease_us = LEASE_US;
    want.wait_us = LINE_US;
    return gh_permit_begin(&p->permit, &semaphore, &want) == GH_OK;
}

static bool begin_lock(seats* s, seat* p)
{
    gh_lock_config want = gh_lock_config_default();
    want.lease_us = LEASE_US;
    want.wait_us = LOCK_WAIT_US;
    gh_str name = market_player_lock_name(p->player, p->lock_name);
    return gh_lock_begin(&p->lock, s->config.client, name, &want) == GH_OK;
}

/* Begins what the state waits for, and begins it again, after a pause, if it ended without being ours. */
static bool is_ours(seats* s, seat* p, uint64_t now_us)
{
    bool waits = p->state == SEAT_WAITING;
    if (!p->asked && now_us >= p->again_us)
    {
        p->asked = waits ? begin_permit(s, p) : begin_lock(s, p);
        p->again_us = now_us + AGAIN_US;
    }
    if (!p->asked) return false;
    gh_status status = waits ? gh_op_poll(&p->permit.op) : gh_op_poll(&p->lock.op);
    if (!gh_status_is_over(status)) return status == GH_HELD;
    p->asked = false;
    p->again_us = now_us + AGAIN_US;
    return false;
}

static void tell_place(seats* s, seat* p)
{
    if (p->permit.position == p->place) return;
    p->place = p->permit.position;
    tell(s, p, (message){.type = MESSAGE_QUEUED, .values = {p->place}});
}

static void load(seats* s, seat* p)
{
    p->fence = gh_lock_fence(&p->lock);
    trade_enter(s->config.trade, p->slot, p->player, &p->fence);
    social_enter(s->config.social, p->slot, p->player, gh_str_of(p->name));
    p->entered = true;
    go(p, SEAT_LOADING);
}

static void welcome(seats* s, seat* p)
{
    char guild[32];
    trade_view has = trade_look(s->config.trade, p->slot);
    snprintf(guild, sizeof guild, "guild-%u", p->player / GUILD_SIZE);
    tell(s, p,
         (message){.type = MESSAGE_WELCOME,
                   .values = {p->player, has.gold, has.hold, has.bag->count},
                   .name = gh_str_of(guild)});
    for (uint32_t i = 0; i < has.bag->count; i++)
        tell(s, p, (message){.type = MESSAGE_BAG, .values = {has.bag->items[i].item, has.bag->items[i].version}});
    social_count(s->config.social, p->player, SOCIAL_LOGIN, 1);
    ++*s->logins;
    go(p, SEAT_IN);
}

/* ---- Going --------------------------------------------------------------------------------------------- */

static void leave(seats* s, seat* p, bool lost)
{
    if (p->state == SEAT_LOADING || p->state == SEAT_IN) trade_leave(s->config.trade, p->slot, lost);
    if (p->entered) social_leave(s->config.social, p->slot);
    go(p, SEAT_LEAVING);
}

static void give_back(seats* s, seat* p)
{
    bool busy = trade_is_busy(s->config.trade, p->slot);
    if (busy || (p->entered && social_is_busy(s->config.social, p->slot))) return;
    gh_lock_release(&p->lock);
    gh_permit_release(&p->permit);
    go(p, SEAT_GIVING);
}

static void farewell(seats* s, seat* p)
{
    if (gh_op_poll(&p->lock.op) == GH_PENDING || gh_op_poll(&p->permit.op) == GH_PENDING) return;
    trade_view has = trade_look(s->config.trade, p->slot);
    tell(s, p, (message){.type = MESSAGE_FAREWELL, .values = {has.gold, has.hold, has.bag->count}});
    network_free(s->config.network, p->slot);
    s->taken--;
    go(p, SEAT_FREE);
}

/* The lock is the right to write to the player's purse; without it others may be at work. */
static void look_for_loss(seats* s, seat* p)
{
    bool lock_lost = gh_op_poll(&p->lock.op) != GH_HELD;
    if (!lock_lost && gh_op_poll(&p->permit.op) == GH_HELD) return;
    ++*s->lost;
    leave(s, p, lock_lost);
}

/* ---- From outside -------------------------------------------------------------------------------------- */

/* Who has lost the seat asks on until FAREWELL is read there, which is the answer. */
bool seats_message(seats* s, uint32_t slot, const message* m)
{
    seat* p = &s->all[slot];
    if (p->state == SEAT_FREE) enter(s, p, m);
    else if (p->state >= SEAT_LEAVING) return true;
    else if (m->type == MESSAGE_LEAVE) seats_gone(s, slot);
    else if (p->state == SEAT_IN && m->type != MESSAGE_ENTER) return false;
    else sorry(s, p, m, SORRY_NONSENSE, "not now");
    return true;
}

void seats_gone(seats* s, uint32_t slot)
{
    seat* p = &s->all[slot];
    if (p->state != SEAT_FREE && p->state < SEAT_LEAVING) leave(s, p, false);
}

void seats_empty(seats* s)
{
    s->closing = true;
    for (uint32_t slot = 0; slot < s->config.players_max; slot++) seats_gone(s, slot);
}

bool seats_are_empty(const seats* s)
{
    return s->taken == 0;
}

/* ---- The frame ----------------------------------------------------------------------------------------- */

/* Welcome once the bag is there, and chats and guild know of the player. */
static void loading(seats* s, seat* p)
{
    bool loaded = trade_is_in(s->config.trade, p->slot);
    if (loaded && social_is_in(s->config.social, p->slot)) welcome(s, p);
    else if (!loaded && !trade_is_busy(s->config.trade, p->slot)) leave(s, p, false); /* it was abandoned */
}

static void seat_step(seats* s, seat* p, uint64_t now_us)
{
    switch (p->state)
    {
    case SEAT_WAITING:
        if (is_ours(s, p, now_us)) go(p, SEAT_LOCKING);
        else tell_place(s, p);
        break;
    case SEAT_LOCKING:
        if (is_ours(s, p, now_us)) load(s, p);
        break;
    case SEAT_LOADING: loading(s, p); break;
    case SEAT_IN:
        if ((s->frames + p->slot) % LOOK_FRAMES == 0) look_for_loss(s, p);
        break;
    case SEAT_LEAVING: give_back(s, p); break;
    case SEAT_GIVING: farewell(s, p); break;
    case SEAT_FREE: break;
    }
}

void seats_frame(seats* s, uint64_t now_us)
{
    uint32_t inside = 0;
    uint32_t queued = 0;
    s->frames++;
    for (uint32_t slot = 0; slot < s->config.players_max; slot++)
    {
        seat* p = &s->all[slot];
        seat_step(s, p, now_us);
        inside += p->state == SEAT_IN;
        queued += p->state == SEAT_WAITING;
    }
    s->config.row->players = inside;
    s->config.row->queued = queued;
}
