/* nemesis_fleet.c -- what befalls the nodes of a Cluster, and servers with their Sentinels.

   An event begins where the fleet has settled and ends when it has again. Those that replace a master without its help
   may lose what it had told last, and so do Sentinels by order: before, all its replicas have to have everything, and
   from that moment on it counts as a loss. All others must lose nothing. */

#include "storm/nemesis_kinds.h"

#include "storm/fleet.h"
#include "storm/history.h"
#include "storm/storm.h"
#include "storm/talk.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    PLANNED_CAP_US = 8000000, /* a planned failover that was not made until then will not be */
    LOOK_US = 500000,
    STEPS_US = 15000,
    RESHARD_CAP_US = 10000000, /* on a machine that is busy, fewer slots move */
    RESHARD_MOST = 400
};

static struct
{
    redis_server* old;                       /* of the event at hand */
    const redis_server* talk[2][TALK_NAMES]; /* whose the slots of mailboxes and of chats were */
    redis_server* comer;                     /* who came last; NULL: nobody, or he has left */
    uint64_t since_us;                       /* until then, replicas had all */
    uint64_t begin_us;
    unsigned slot;
    cluster_move move;
    cluster_reshard reshard;
    bool active; /* an event is */
    bool leaves; /* the node that the slots are moved from */
    long long epoch;
    uint64_t looked_us;
    unsigned unwanted;
} event;

/* ---- begin and end ------------------------------------------------------------------------------------- */

static const uint8_t talkers[2] = {STORM_mailbox, STORM_chat};

static void note_talk(void)
{
    for (int i = 0; i < 2; i++)
        for (uint8_t name = 0; name < TALK_NAMES; name++)
            event.talk[i][name] = fleet_master(talk_slot(talkers[i], name));
}

uint64_t nemesis_fleet_moved(void)
{
    uint64_t bits = 0;
    for (int i = 0; i < 2; i++)
        for (uint8_t name = 0; name < TALK_NAMES; name++)
            if (event.talk[i][name] != fleet_master(talk_slot(talkers[i], name))) bits |= talk_bit(talkers[i], name);
    return bits;
}

static bool begin_event(const nemesis_fault* f)
{
    if (!fleet_has_settled()) return false;
    nemesis_fleet_look();
    event.slot = fleet_slot(f->x);
    event.old = fleet_master(f->x);
    event.leaves = false;
    event.since_us = history_now();
    event.begin_us = event.since_us;
    if (fleet_cluster() != NULL) note_talk();
    return event.old != NULL;
}

/* Where replicas do not have all, nobody could say since when that is so. */
static bool begin_loss(const nemesis_fault* f)
{
    if (!begin_event(f) || !fleet_replicas_have_all(event.old)) return false;
    event.begin_us = history_now();
    fleet_set_clear(false);
    event.active = true;
    return true;
}

static void end_event(void)
{
    event.active = false;
    event.epoch = fleet_epoch();
    event.looked_us = history_now();
    fleet_set_clear(true);
}

static void note_unwanted(uint64_t since_us)
{
    event.unwanted++;
    nemesis_mark_loss(since_us, since_us);
}

void nemesis_fleet_look(void)
{
    uint64_t now_us = history_now();
    if (event.active || now_us < event.looked_us + LOOK_US) return;
    long long epoch = fleet_epoch();
    if (event.epoch != 0 && epoch != event.epoch)
    {
        note_unwanted(event.looked_us);
        fleet_settle();
        fleet_set_clear(true);
    }
    event.epoch = epoch;
    event.looked_us = now_us;
}

/* Of what should not replace anybody. */
static bool calm_again(const nemesis_fault* f)
{
    (void)f;
    if (!fleet_has_settled()) return false;
    if (fleet_epoch() != event.epoch) note_unwanted(event.since_us);
    end_event();
    return true;
}

/* Every other former master is left to the Sentinels, for whom it is a replica only eight seconds later. */
static void help_former_master(const nemesis_fault* f)
{
    if (fleet_sentinels() != NULL && f->y % 2 == 0) sentinels_make_replica(fleet_sentinels(), event.old);
}

static bool loss_is_over(const nemesis_fault* f)
{
    help_former_master(f);
    if (!fleet_has_settled()) return false;
    nemesis_mark_loss(event.since_us, event.begin_us);
    end_event();
    return true;
}

static bool is_replaced(const nemesis_fault* f)
{
    redis_server* master = fleet_master(f->x);
    return master != NULL && master != event.old;
}

/* ---- masters ------------------------------------------------------------------------------------------- */

/* Of a Cluster: the replica takes over when it has everything. */
static bool hand_over(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    event.active = true;
    (void)cluster_failover(fleet_cluster(), event.slot, CLUSTER_PLANNED);
    return true;
}

static bool is_handed_over(const nemesis_fault* f)
{
    if (!is_replaced(f) && history_now() < event.begin_us + PLANNED_CAP_US) return false;
    if (!fleet_has_settled()) return false;
    if (fleet_epoch() > event.epoch + 1) note_unwanted(event.since_us); /* there was more than one election */
    end_event();
    return true;
}

/* Sentinels do not wait for what a replica lacks, and of who comes in the middle none hears of it: see sentinel.h. Nor
   do the others hear of it if the one that leads it dies; they undo it then. */
static bool order_failover(const nemesis_fault* f)
{
    if (!begin_loss(f)) return false;
    sentinels_failover(fleet_sentinels());
    return true;
}

/* A node that is made the master while the old one works and knows nothing of it. */
static bool take_over(const nemesis_fault* f)
{
    if (!begin_loss(f)) return false;
    (void)cluster_failover(fleet_cluster(), event.slot, f->y % 2 == 0 ? CLUSTER_FORCE : CLUSTER_TAKEOVER);
    return true;
}

static bool is_taken_over(const nemesis_fault* f)
{
    if (!is_replaced(f) && history_now() < event.begin_us + PLANNED_CAP_US) return false;
    return loss_is_over(f);
}

static bool kill_master(const nemesis_fault* f)
{
    if (!begin_loss(f)) return false;
    redis_server_kill9(event.old);
    return true;
}

static void start_again(const nemesis_fault* f)
{
    (void)f;
    redis_server_restart(event.old);
}

static bool freeze_master(const nemesis_fault* f)
{
    if (!begin_loss(f)) return false;
    redis_server_freeze(event.old);
    return true;
}

static void thaw_again(const nemesis_fault* f)
{
    (void)f;
    redis_server_thaw(event.old);
}

/* While it stands still, too briefly for its clients to give it up; then it answers what has lain in its socket, and
   hears only behind that that it is none any more. */
static bool push_aside(const nemesis_fault* f)
{
    if (!begin_loss(f)) return false;
    redis_server_freeze(event.old);
    (void)cluster_failover(fleet_cluster(), event.slot, CLUSTER_TAKEOVER);
    return true;
}

/* Too short for anybody to be replaced. */
static bool pause_master(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    event.active = true;
    redis_server_freeze(event.old);
    return true;
}

static bool blink_master(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    event.active = true;
    fleet_set_clear(false);
    redis_server_kill9(event.old);
    return true;
}

/* It is back before anybody has missed it, and its replicas follow it into nothing. */
static bool empty_master(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    event.active = true;
    event.since_us = 1;
    fleet_set_clear(false);
    cluster_restart_empty(event.old);
    return true;
}

/* ---- replicas and Sentinels ---------------------------------------------------------------------------- */

static redis_server* replica_of(const nemesis_fault* f)
{
    if (fleet_cluster() != NULL) return cluster_replica(fleet_cluster(), event.old, 0);
    redis_server* server = fleet_node(f->y);
    return server != event.old ? server : fleet_node(f->y + 1);
}

static bool begin_at_replica(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    event.old = replica_of(f);
    event.active = event.old != NULL;
    return event.active;
}

static bool freeze_replica(const nemesis_fault* f)
{
    if (!begin_at_replica(f)) return false;
    redis_server_freeze(event.old);
    return true;
}

static bool kill_replica(const nemesis_fault* f)
{
    if (!begin_at_replica(f)) return false;
    redis_server_kill9(event.old);
    return true;
}

static redis_server* sentinel_of(const nemesis_fault* f, unsigned which)
{
    return sentinels_sentinel(fleet_sentinels(),
                              (size_t)((f->x + which) % sentinels_sentinel_count(fleet_sentinels())));
}

static unsigned sentinels_of(const nemesis_fault* f)
{
    return 1 + (unsigned)(f->y % 2);
}

static bool kill_sentinels(const nemesis_fault* f)
{
    for (unsigned i = 0; i < sentinels_of(f); i++) redis_server_kill9(sentinel_of(f, i));
    return true;
}

static void start_sentinels(const nemesis_fault* f)
{
    for (unsigned i = 0; i < sentinels_of(f); i++) sentinels_restart(fleet_sentinels(), sentinel_of(f, i));
}

/* ---- slots --------------------------------------------------------------------------------------------- */

static redis_server* other_master(const nemesis_fault* f)
{
    redis_server* other = NULL;
    for (uint64_t i = 0; i < CLUSTER_SLOTS && (other == NULL || other == event.old); i += 128)
        other = fleet_master(f->y + i);
    return other == event.old ? NULL : other;
}

/* A slot with keys is on its way, some of which have arrived. */
static bool open_slot(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    redis_server* other = other_master(f);
    if (other == NULL) return false;
    event.active = true;
    event.move = cluster_move_begin(fleet_cluster(), fleet_slot_with_keys(event.old, f->x), other);
    (void)cluster_move_keys(&event.move, 1 + (size_t)(f->z % 3));
    return true;
}

static void close_slot(const nemesis_fault* f)
{
    if (f->z % 4 == 3) cluster_move_cancel(&event.move);
    else cluster_move_end(&event.move);
}

static bool reshard(const nemesis_fault* f)
{
    if (!begin_event(f)) return false;
    redis_server* other = other_master(f);
    unsigned most = cluster_slots_of(event.old) / 2;
    unsigned slots = 50 + (unsigned)(f->z % RESHARD_MOST);
    if (other == NULL || most == 0) return false;
    event.active = true;
    event.reshard = cluster_reshard_begin(fleet_cluster(), event.old, other, slots < most ? slots : most);
    return true;
}

static bool has_slots(redis_server* node)
{
    return node == NULL || (cluster_is_master(node) && cluster_slots_of(node) > 0);
}

/* Where the machine stood still, one of the two may have been replaced meanwhile. */
static bool is_resharded(const nemesis_fault* f)
{
    (void)f;
    uint64_t end_us = history_now() + STEPS_US;
    const cluster_move* move = &event.reshard.move;
    if (event.reshard.left > 0 && (!has_slots(move->from) || (move->to != NULL && !cluster_is_master(move->to))))
    {
        cluster_close_slots(fleet_cluster());
        note_unwanted(event.since_us);
        return true;
    }
    if (history_now() > event.begin_us + RESHARD_CAP_US)
    {
        event.leaves = false; /* who still has slots goes the next time */
        event.reshard.left = event.reshard.moving ? 1 : 0;
    }
    while (history_now() < end_us)
        if (!cluster_reshard_step(&event.reshard)) return true;
    return false;
}

static bool slots_are_told(const nemesis_fault* f)
{
    (void)f;
    if (!fleet_has_settled()) return false;
    end_event();
    return true;
}

/* One joins, and gets slots, of which some have keys; the next time it gives them back, and leaves. */
static bool come_or_go(const nemesis_fault* f)
{
    if (!begin_event(f) || (event.comer == NULL && !fleet_has_free_door())) return false;
    event.active = true;
    event.leaves = event.comer != NULL;
    if (event.leaves)
    {
        unsigned slots = cluster_slots_of(event.comer);
        event.reshard = cluster_reshard_begin(fleet_cluster(), event.comer, NULL, slots);
        return true;
    }
    event.comer = cluster_add(fleet_cluster());
    fleet_open_door(event.comer);
    for (unsigned i = 0; i < 3; i++)
    {
        unsigned slot = fleet_slot_with_keys(event.old, f->x);
        if (cluster_master(fleet_cluster(), slot) == event.old) cluster_move_slot(fleet_cluster(), slot, event.comer);
    }
    event.reshard = cluster_reshard_begin(fleet_cluster(), NULL, event.comer, 50 + (unsigned)(f->z % RESHARD_MOST));
    return true;
}

static void come_or_gone(const nemesis_fault* f)
{
    (void)f;
    if (!event.leaves || event.reshard.left > 0) return;
    fleet_close_door(event.comer);
    cluster_remove(fleet_cluster(), event.comer);
    event.comer = NULL;
}

/* ---- the kinds ----------------------------------------------------------------------------------------- */

#define FLEETS (STORM_CLUSTER | STORM_SENTINEL)

const nemesis_kind nemesis_fleet_kinds[] = {
    {"planned-failover", 8, GROUND_SERVER, false, 0, 0, hand_over, NULL, STORM_CLUSTER, true, NULL, is_handed_over},
    {"ordered-failover", 8, GROUND_SERVER, true, 0, 0, order_failover, NULL, STORM_SENTINEL, true, NULL, is_taken_over},
    {"forced-failover", 5, GROUND_SERVER, true, 0, 0, take_over, NULL, STORM_CLUSTER, true, NULL, is_taken_over},
    {"pushed-aside", 5, GROUND_SERVER, true, 300000, 500000, push_aside, thaw_again, STORM_CLUSTER, true, NULL,
     is_taken_over},
    {"kill-master", 8, GROUND_SERVER, true, 0, 0, kill_master, start_again, FLEETS, true, is_replaced, loss_is_over},
    {"freeze-master", 6, GROUND_SERVER, true, 0, 0, freeze_master, thaw_again, FLEETS, true, is_replaced, loss_is_over},
    {"pause-master", 4, GROUND_SERVER, false, 20000, 250000, pause_master, thaw_again, FLEETS, false, NULL, calm_again},
    {"blink-master", 4, GROUND_SERVER, true, 0, 100000, blink_master, start_again, FLEETS, false, NULL, calm_again},
    {"empty-master", 1, GROUND_SERVER, true, 0, 0, empty_master, NULL, STORM_CLUSTER, false, NULL, loss_is_over},
    {"freeze-replica", 4, GROUND_SERVER, false, 50000, 2500000, freeze_replica, thaw_again, FLEETS, false, NULL,
     calm_again},
    {"kill-replica", 3, GROUND_SERVER, false, 0, 2000000, kill_replica, start_again, FLEETS, false, NULL, calm_again},
    {"kill-sentinels", 4, GROUND_SENTINEL, false, 100000, 4000000, kill_sentinels, start_sentinels, STORM_SENTINEL,
     false, NULL, NULL},
    {"migrate", 12, GROUND_SERVER, false, 0, 1500000, open_slot, close_slot, STORM_CLUSTER, false, NULL,
     slots_are_told},
    {"reshard", 6, GROUND_SERVER, false, 0, 0, reshard, NULL, STORM_CLUSTER, false, is_resharded, slots_are_told},
    {"come-or-go", 5, GROUND_SERVER, false, 0, 0, come_or_go, come_or_gone, STORM_CLUSTER, false, is_resharded,
     slots_are_told},
};

const unsigned nemesis_fleet_count = sizeof nemesis_fleet_kinds / sizeof nemesis_fleet_kinds[0];

bool nemesis_fleet_moves_slots(const nemesis_kind* kind)
{
    return kind->over == slots_are_told;
}

/* ---- the end ------------------------------------------------------------------------------------------- */

void nemesis_fleet_heal(void)
{
    fleet_settle();
    event.looked_us = event.looked_us > LOOK_US ? event.looked_us - LOOK_US : 0;
    nemesis_fleet_look();
    fleet_set_clear(true);
}

void nemesis_fleet_print(void)
{
    if (event.unwanted != 0) printf("masters replaced that were not to be: %u times\n", event.unwanted);
}

void nemesis_fleet_show(void)
{
    if (fleet_cluster() != NULL) cluster_show(fleet_cluster());
    if (fleet_sentinels() != NULL) sentinels_show(fleet_sentinels());
}
