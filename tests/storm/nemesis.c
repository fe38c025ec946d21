/* nemesis.c -- the faults: what each does, how long it lasts, and what ends it.

   A schedule is drawn once from the seed: at these moments, these faults, with these numbers. A fault that cannot
   be (the server is down already) is passed over; the rest of the schedule stays as it is. */

#include "storm/nemesis.h"

#include "storm/fleet.h"
#include "storm/nemesis_kinds.h"
#include "storm/players.h"
#include "storm/store.h"
#include "storm/storm.h"
#include "storm/wire.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum
{
    ACTIVE_MAX = 64,
    LONG_US = 60000000,
    ASK_US = 30000, /* what a fault waits for is asked so often */
    HEAL_CAP_US = 90000000,
    LEAVE_CAP_US = 8000000,
    GAP_LEAST_US = 90000, /* between faults: 4.4 a second on average */
    GAP_MOST_US = 360000
};

typedef struct nemesis_active
{
    nemesis_fault fault;
    uint64_t end_us;
    uint32_t record;
    bool healed;
} nemesis_active;

static struct
{
    random_stream random;
    nemesis_fault next;
    uint64_t start_us;
    nemesis_active active[ACTIVE_MAX];
    unsigned active_count;
    unsigned struck[64];
    unsigned passed_over[64];
    int64_t clock_us;
    uint64_t kept_us;    /* when the copy of the data was made */
    uint64_t lagging_us; /* since when the replica lags; 0: it does not */
    uint64_t turned_us;  /* since when all are led to the replica */
} nemesis;

static const storm_who nobody = {0, 0, 0};

/* ---- the server's process ------------------------------------------------------------------------------ */

static bool kill_server(const nemesis_fault* f)
{
    (void)f;
    if (storm.store == STORM_PAIR) return false; /* without its data on disk, that would be a loss */
    store_kill();
    return true;
}

static void start_server(const nemesis_fault* f)
{
    (void)f;
    store_restart();
}

static bool freeze_server(const nemesis_fault* f)
{
    (void)f;
    store_freeze();
    return true;
}

static void thaw_server(const nemesis_fault* f)
{
    (void)f;
    store_thaw();
}

void nemesis_mark_loss(uint64_t since_us, uint64_t begin_us)
{
    storm_event event = {.system = STORM_CORE, .what = MARK_LOSS, .a = since_us};
    uint32_t mark = history_event(nobody, event);
    if (mark != 0) history_at(mark)->begin_us = begin_us;
}

static bool keep(const nemesis_fault* f)
{
    (void)f;
    if (storm.store == STORM_PAIR) return false;
    nemesis.kept_us = history_now();
    store_keep();
    return true;
}

/* To a disk that is empty if nothing was kept: who was connected finds a store that has lost everything. */
static bool go_back(const nemesis_fault* f)
{
    (void)f;
    if (storm.store == STORM_PAIR) return false;
    uint64_t begin_us = history_now();
    store_go_back();
    nemesis_mark_loss(store_has_kept() ? nemesis.kept_us : 1, begin_us);
    return true;
}

static bool flush_all(const nemesis_fault* f)
{
    (void)f;
    uint64_t begin_us = history_now();
    bool done = store_do("FLUSHALL");
    nemesis_mark_loss(0, begin_us); /* also when its answer did not come */
    return done;
}

static bool fail_over(const nemesis_fault* f)
{
    (void)f;
    if (storm.store != STORM_PAIR) return false;
    uint64_t begin_us = history_now();
    if (!store_replica_has_all()) return false; /* it lags by itself: nobody could say since when */
    nemesis.lagging_us = begin_us;
    wire_do((wire_order){.what = WIRE_LAG, .for_us = 60000000});
    return true;
}

static void promote(const nemesis_fault* f)
{
    (void)f;
    uint64_t begin_us = history_now();
    store_fail_over();
    nemesis_mark_loss(nemesis.lagging_us, begin_us);
    nemesis.lagging_us = 0;
}

/* A failover that is undone: the primary of before has what it had, and nothing of what was done meanwhile. */
static bool turn_to_replica(const nemesis_fault* f)
{
    (void)f;
    if (storm.store != STORM_PAIR) return false;
    uint64_t begin_us = history_now();
    if (!store_replica_has_all()) return false;
    nemesis.turned_us = begin_us;
    store_lead_away();
    return true;
}

static void turn_back(const nemesis_fault* f)
{
    (void)f;
    store_lead_back();
    nemesis_mark_loss(nemesis.turned_us, nemesis.turned_us);
}

/* A script that goes on for longer than it may, or a server that sleeps. */
static bool busy(const nemesis_fault* f)
{
    if (f->x % 2 == 0) store_sleep(f->x % 4 == 0 ? 100000 : 450000);
    else store_run_long(f->x % 4 == 1 ? 150000 : 600000);
    return true;
}

/* ---- the server's rules -------------------------------------------------------------------------------- */

static bool script_flush(const nemesis_fault* f)
{
    (void)f;
    return store_do("SCRIPT FLUSH");
}

static bool out_of_memory(const nemesis_fault* f)
{
    (void)f;
    return store_do("CONFIG SET maxmemory 1");
}

static void memory_again(const nemesis_fault* f)
{
    (void)f;
    store_must("CONFIG SET maxmemory 0");
}

/* All that writes is refused, also what would make room. */
static bool few_replicas(const nemesis_fault* f)
{
    (void)f;
    return store_do("CONFIG SET min-replicas-to-write 9");
}

static void enough_replicas(const nemesis_fault* f)
{
    (void)f;
    store_must("CONFIG SET min-replicas-to-write 0");
}

/* A server that was restarted meanwhile has its rights from the command line. Without INFO nobody can know that it was
   started anew, or what it has lost: that is said in client.h, and no promise of what comes after a loss holds then. */
static bool take_rights(const nemesis_fault* f)
{
    static const char* const rights[] = {"-evalsha", "off",   "-@scripting", "-@write",  "-rpush",
                                         "-zadd",    "-hset", "-publish",    "-zrem",    "-set",
                                         "-pexpire", "-del",  "-info",       "resetpass"};
    const char* right = rights[f->x % (sizeof rights / sizeof rights[0])];
    if (storm.losses && strcmp(right, "-info") == 0) return false;
    return store_do("ACL SETUSER game %s", right);
}

static void give_rights(const nemesis_fault* f)
{
    (void)f;
    store_must("ACL SETUSER game on >storm ~* &* +@all");
}

/* What was asked is done, its answer is lost, and when it is asked again, nobody is let in: rights and a cut link
   at once. */
static bool turn_away(const nemesis_fault* f)
{
    static const char* const rights[] = {"-evalsha", "off", "-@write"};
    wire_do((wire_order){.what = WIRE_SWALLOW, .way = WIRE_REPLIES, .share = 1000, .for_us = 40000 + f->y % 40000});
    history_pause(25000);
    return store_do("ACL SETUSER game %s", rights[f->x % 3]);
}

static bool few_clients(const nemesis_fault* f)
{
    wire_do((wire_order){.what = WIRE_CUT, .share = nemesis_share_of(f->x), .seed = f->z});
    return store_do("CONFIG SET maxclients %s", f->y % 2 == 0 ? "4" : "12");
}

static void many_clients(const nemesis_fault* f)
{
    (void)f;
    store_must("CONFIG SET maxclients 10000");
}

static bool kill_clients(const nemesis_fault* f)
{
    return store_do(f->x % 2 == 0 ? "CLIENT KILL USER game" : "CLIENT KILL TYPE pubsub");
}

static bool step_clock(const nemesis_fault* f)
{
    int64_t offset_us = (int64_t)(f->x % STORM_CLOCK_STEP_US) - STORM_CLOCK_STEP_US / 2;
    storm_event event = {
        .system = STORM_CORE, .what = MARK_CLOCK, .a = (uint64_t)offset_us, .b = (uint64_t)nemesis.clock_us};
    uint64_t begin_us = history_now();
    store_shift_clock(offset_us);
    uint32_t mark = history_event(nobody, event);
    if (mark != 0) history_at(mark)->begin_us = begin_us;
    nemesis.clock_us = offset_us;
    return true;
}

/* ---- the players --------------------------------------------------------------------------------------- */

static unsigned player_of(const nemesis_fault* f)
{
    return (unsigned)(f->x % storm.players);
}

static bool kill_player(const nemesis_fault* f)
{
    players_kill(player_of(f));
    return true;
}

static void revive_player(const nemesis_fault* f)
{
    players_revive(player_of(f));
}

static bool freeze_player(const nemesis_fault* f)
{
    players_freeze(player_of(f));
    return true;
}

static void thaw_player(const nemesis_fault* f)
{
    players_thaw(player_of(f));
}

/* Falls asleep over requests whose answers are there when it wakes up, after the leases that they bring. */
static bool doze(const nemesis_fault* f)
{
    wire_do((wire_order){.what = WIRE_HOLD, .way = WIRE_REPLIES, .share = 1000, .for_us = 200000 + f->y % 100000});
    history_pause(100000 + f->z % 80000);
    return freeze_player(f);
}

static bool roll_out(const nemesis_fault* f)
{
    return players_send_off(player_of(f));
}

/* Whoever does not come to an end is killed, as by those who roll out fleets. */
static bool has_gone(const nemesis_fault* f)
{
    return players_has_gone(player_of(f)) || history_now() > nemesis.start_us + f->at_us + LEAVE_CAP_US;
}

static void start_other(const nemesis_fault* f)
{
    players_replace(player_of(f));
}

/* ---- the kinds ----------------------------------------------------------------------------------------- */

#define SERVERS      (STORM_ONE | STORM_PAIR)
#define BUT_SENTINEL (SERVERS | STORM_CLUSTER) /* whose servers are reached without the wire */
#define EVERYWHERE   (BUT_SENTINEL | STORM_SENTINEL)

static const nemesis_kind kinds[] = {
    {"cut", 10, GROUND_WIRE, false, 0, 0, nemesis_cut, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"late", 14, GROUND_WIRE, false, 200000, 2500000, nemesis_late, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"ancient", 40, GROUND_WIRE, false, 10000000, 2400000000, nemesis_ancient, NULL, EVERYWHERE, false, NULL, NULL},
    {"mute", 6, GROUND_WIRE, false, 50000, 800000, nemesis_mute, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"hole", 4, GROUND_WIRE, false, 50000, 900000, nemesis_hole, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"slow", 6, GROUND_WIRE, false, 5000, 350000, nemesis_slow, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"chop", 4, GROUND_WIRE, false, 50000, 400000, nemesis_chop, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"outage", 6, GROUND_WIRE, false, 100000, 1200000, nemesis_outage, NULL, BUT_SENTINEL, false, NULL, NULL},
    {"kill-server", 4, GROUND_SERVER, false, 5000, 300000, kill_server, start_server, SERVERS, false, NULL, NULL},
    {"freeze-server", 4, GROUND_SERVER, false, 20000, 900000, freeze_server, thaw_server, SERVERS, false, NULL, NULL},
    {"busy", 4, GROUND_SERVER, false, 700000, 700000, busy, NULL, SERVERS, false, NULL, NULL},
    {"keep", 8, GROUND_SERVER, false, 0, 0, keep, NULL, SERVERS, false, NULL, NULL},
    {"go-back", 4, GROUND_SERVER, true, 0, 0, go_back, NULL, SERVERS, false, NULL, NULL},
    {"flush", 1, GROUND_SERVER, true, 0, 0, flush_all, NULL, EVERYWHERE, false, NULL, NULL},
    {"fail-over", 6, GROUND_SERVER, true, 50000, 900000, fail_over, promote, SERVERS, false, NULL, NULL},
    {"turn-back", 4, GROUND_SERVER, true, 200000, 1500000, turn_to_replica, turn_back, SERVERS, false, NULL, NULL},
    {"script-flush", 3, GROUND_RULES, false, 0, 0, script_flush, NULL, EVERYWHERE, false, NULL, NULL},
    {"oom", 4, GROUND_RULES, false, 20000, 500000, out_of_memory, memory_again, EVERYWHERE, false, NULL, NULL},
    {"few-replicas", 3, GROUND_RULES, false, 20000, 500000, few_replicas, enough_replicas, EVERYWHERE, false, NULL,
     NULL},
    {"rights", 5, GROUND_RULES, false, 20000, 400000, take_rights, give_rights, EVERYWHERE, false, NULL, NULL},
    {"turn-away", 5, GROUND_RULES, false, 150000, 400000, turn_away, give_rights, BUT_SENTINEL, false, NULL, NULL},
    {"maxclients", 3, GROUND_RULES, false, 50000, 500000, few_clients, many_clients, SERVERS, false, NULL, NULL},
    {"client-kill", 4, GROUND_RULES, false, 0, 0, kill_clients, NULL, EVERYWHERE, false, NULL, NULL},
    {"clock", 3, GROUND_RULES, false, 0, 0, step_clock, NULL, SERVERS, false, NULL, NULL},
    {"kill-player", 4, GROUND_PLAYER, false, 10000, 600000, kill_player, revive_player, EVERYWHERE, false, NULL, NULL},
    {"freeze-player", 6, GROUND_PLAYER, false, 30000, 2500000, freeze_player, thaw_player, EVERYWHERE, false, NULL,
     NULL},
    {"doze", 9, GROUND_PLAYER, false, 1050000, 2000000, doze, thaw_player, EVERYWHERE, false, NULL, NULL},
    {"roll-out", 20, GROUND_PLAYER, false, 0, 0, roll_out, start_other, EVERYWHERE, false, has_gone, NULL},
};

enum
{
    OWN_COUNT = sizeof kinds / sizeof kinds[0]
};

/* Those of nemesis_fleet.c come behind them. */
static const nemesis_kind* kind_at(unsigned kind)
{
    return kind < OWN_COUNT ? &kinds[kind] : &nemesis_fleet_kinds[kind - OWN_COUNT];
}

const char* nemesis_kind_name(unsigned kind)
{
    return kind < nemesis_kind_count() ? kind_at(kind)->name : "?";
}

unsigned nemesis_kind_count(void)
{
    return OWN_COUNT + nemesis_fleet_count;
}

/* NULL: it is no mark of a fault. */
static const nemesis_kind* kind_of_mark(uint8_t mark)
{
    if (mark < MARK_FAULT || (unsigned)(mark - MARK_FAULT) >= nemesis_kind_count()) return NULL;
    return kind_at((unsigned)(mark - MARK_FAULT));
}

bool nemesis_takes_rights(uint8_t mark)
{
    const nemesis_kind* kind = kind_of_mark(mark);
    return kind != NULL && (kind->heal == give_rights || kind->heal == enough_replicas);
}

bool nemesis_replaces_master(uint8_t mark)
{
    const nemesis_kind* kind = kind_of_mark(mark);
    return kind != NULL && kind->replaces;
}

bool nemesis_turns_back(uint8_t mark)
{
    const nemesis_kind* kind = kind_of_mark(mark);
    return kind != NULL && kind->heal == turn_back;
}

bool nemesis_moves_slots(uint8_t mark)
{
    const nemesis_kind* kind = kind_of_mark(mark);
    return kind != NULL && nemesis_fleet_moves_slots(kind);
}

/* ---- the schedule -------------------------------------------------------------------------------------- */

static bool is_named(const char* names, const char* name, size_t size)
{
    for (const char* at = names; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',' ? 1 : 0))
    {
        if (strcspn(at, ",") == size && strncmp(at, name, size) == 0) return true;
    }
    return false;
}

bool nemesis_knows(const char* names)
{
    for (const char* at = names; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',' ? 1 : 0))
    {
        bool found = false;
        for (unsigned i = 0; i < nemesis_kind_count(); i++)
            found = found || (strlen(kind_at(i)->name) == strcspn(at, ",") &&
                              strncmp(kind_at(i)->name, at, strcspn(at, ",")) == 0);
        if (!found) return false;
    }
    return true;
}

bool nemesis_is_ancient(const char* names)
{
    return is_named(names, "ancient", strlen("ancient"));
}

static unsigned weight_of(unsigned kind)
{
    const nemesis_kind* k = kind_at(kind);
    if ((k->on & (unsigned)storm.store) == 0 || (k->loss && !storm.losses)) return 0;
    if (storm.failovers != 0 && !k->replaces) return 0;
    if (storm.other == NULL && k->strike == roll_out) return 0;
    if (!storm.ancient && k->strike == nemesis_ancient) return 0;
    if (storm.faults != NULL && !is_named(storm.faults, k->name, strlen(k->name))) return 0;
    return k->weight;
}

static uint64_t draw_gap(random_stream* random)
{
    if (storm.gap_us != 0) return storm.gap_us / 2 + random_below(random, storm.gap_us);
    return random_between(random, GAP_LEAST_US, GAP_MOST_US) / (storm.haste > 1 ? storm.haste : 1);
}

/* Of what may last for long, each doubling is as likely as the next. */
static uint64_t draw_length(random_stream* random, const nemesis_kind* kind)
{
    uint64_t least_us = kind->least_us, most_us = kind->most_us, doublings = 1;
    if (most_us < LONG_US) return random_between(random, least_us, most_us);
    while (least_us << doublings < most_us) doublings++;
    least_us <<= random_below(random, doublings);
    return random_between(random, least_us, least_us * 2 < most_us ? least_us * 2 : most_us);
}

static void draw_next(void)
{
    unsigned sum = 0;
    random_stream* random = &nemesis.random;
    nemesis_fault* f = &nemesis.next;
    for (unsigned i = 0; i < nemesis_kind_count(); i++) sum += weight_of(i);
    uint64_t before_us = f->at_us;
    unsigned number = f->at_us == 0 ? 0 : f->number + 1;
    memset(f, 0, sizeof *f);
    f->number = number;
    f->at_us = before_us + draw_gap(random);
    uint64_t point = sum == 0 ? 0 : random_below(random, sum);
    while (sum != 0 && point >= weight_of(f->kind)) point -= weight_of(f->kind++);
    if (sum == 0) f->at_us = UINT64_MAX / 2;
    f->for_us = draw_length(random, kind_at(f->kind));
    f->x = random_next(random) >> 1;
    f->y = random_next(random) >> 1;
    f->z = random_next(random);
}

void nemesis_start(uint64_t now_us)
{
    nemesis.random = storm_random("nemesis", 0, 0, 0);
    nemesis.start_us = now_us;
    draw_next();
}

void nemesis_put_off(uint64_t us)
{
    nemesis.start_us += us;
}

unsigned nemesis_failovers(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < nemesis_kind_count(); i++) sum += kind_at(i)->replaces ? nemesis.struck[i] : 0;
    return sum;
}

bool nemesis_has_finished(void)
{
    return storm.failovers != 0 && nemesis_failovers() >= storm.failovers && nemesis.active_count == 0;
}

static bool ground_is_free(nemesis_ground ground)
{
    if (ground == GROUND_WIRE) return true;
    for (unsigned i = 0; i < nemesis.active_count; i++)
    {
        nemesis_ground other = kind_at(nemesis.active[i].fault.kind)->ground;
        if (other == ground) return false;
        /* settings are of no use to a server that does not answer, and get lost with it */
        if ((other == GROUND_SERVER && ground == GROUND_RULES) || (other == GROUND_RULES && ground == GROUND_SERVER))
            return false;
    }
    return true;
}

static void log_fault(const nemesis_fault* f, const char* word)
{
    if (!storm.verbose) return;
    fprintf(stderr, "storm: %8.3f s %s %s, %llu us\n", (double)f->at_us / 1e6, kind_at(f->kind)->name, word,
            (unsigned long long)f->for_us);
}

static void strike(const nemesis_fault* f)
{
    const nemesis_kind* kind = kind_at(f->kind);
    bool left_out = storm.left_out != NULL && f->number < STORM_FAULTS_MAX && storm.left_out[f->number];
    if (left_out || nemesis.active_count == ACTIVE_MAX || !ground_is_free(kind->ground))
    {
        nemesis.passed_over[f->kind]++;
        return;
    }
    uint32_t record = history_begin(nobody, STORM_CORE, (uint8_t)(MARK_FAULT + f->kind), 0);
    log_fault(f, "strikes");
    store_choose(f->z);
    bool done = kind->strike(f);
    nemesis.struck[f->kind] += done ? 1u : 0u;
    nemesis.passed_over[f->kind] += done ? 0u : 1u;
    history_at(record)->a = f->for_us;
    history_at(record)->b = f->x;
    history_at(record)->c = done ? 1 : 0;
    history_at(record)->d = UINT64_MAX;                                /* of one that moves slots, until it is over */
    if (!done && (kind->heal == NULL || kind->ground != GROUND_RULES)) /* a rule may have been set without an answer */
    {
        history_end(record, STORM_NOT_DONE, 0);
        return;
    }
    nemesis_active* active = &nemesis.active[nemesis.active_count++];
    active->fault = *f;
    active->end_us = history_now() + f->for_us;
    active->record = record;
    active->healed = false;
}

/* False where it has to wait for something; it is asked again then. */
static bool heal_one(unsigned index)
{
    nemesis_active active = nemesis.active[index];
    const nemesis_kind* kind = kind_at(active.fault.kind);
    nemesis.active[index].end_us = history_now() + ASK_US;
    if (!active.healed && kind->ready != NULL && !kind->ready(&active.fault)) return false;
    if (!active.healed && kind->heal != NULL) kind->heal(&active.fault);
    nemesis.active[index].healed = true;
    if (kind->over != NULL && !kind->over(&active.fault)) return false;
    nemesis.active[index] = nemesis.active[--nemesis.active_count];
    log_fault(&active.fault, "ends");
    if (nemesis_fleet_moves_slots(kind)) history_at(active.record)->d = nemesis_fleet_moved();
    history_end(active.record, STORM_DONE, 0);
    return true;
}

/* One after the other, as soon as the fleet has come to rest from the last. */
static uint64_t turn_failovers(uint64_t now_us)
{
    if (nemesis.active_count > 0) return nemesis.active[0].end_us;
    if (nemesis_has_finished()) return now_us + ASK_US;
    if (fleet_has_settled())
    {
        nemesis.next.at_us = now_us - nemesis.start_us;
        unsigned struck = nemesis.struck[nemesis.next.kind];
        strike(&nemesis.next);
        if (nemesis.struck[nemesis.next.kind] != struck) draw_next();
    }
    return now_us + ASK_US;
}

uint64_t nemesis_turn(uint64_t now_us)
{
    for (unsigned i = nemesis.active_count; i-- > 0;)
    {
        if (now_us >= nemesis.active[i].end_us) (void)heal_one(i);
    }
    if (storm.store >= STORM_CLUSTER) nemesis_fleet_look();
    if (storm.failovers != 0) return turn_failovers(now_us);
    while (now_us >= nemesis.start_us + nemesis.next.at_us)
    {
        strike(&nemesis.next);
        draw_next();
    }
    uint64_t next_us = nemesis.start_us + nemesis.next.at_us;
    for (unsigned i = 0; i < nemesis.active_count; i++)
    {
        if (nemesis.active[i].end_us < next_us) next_us = nemesis.active[i].end_us;
    }
    return next_us;
}

void nemesis_heal(void)
{
    uint64_t end_us = history_now() + HEAL_CAP_US;
    wire_do((wire_order){.what = WIRE_HEAL});
    for (unsigned i = 0; nemesis.active_count > 0; i++)
    {
        if (heal_one(i % nemesis.active_count)) continue;
        if (history_now() > end_us) nemesis_fleet_show();
        if (history_now() > end_us) fail_msg("%s does not end", kind_at(nemesis.active[0].fault.kind)->name);
        history_pause(10000);
    }
    wire_do((wire_order){.what = WIRE_HEAL});
    if (storm.store >= STORM_CLUSTER) nemesis_fleet_heal();
    for (unsigned i = 0; i < storm.players; i++) players_revive(i);
    storm_event event = {.system = STORM_CORE, .what = MARK_CALM};
    (void)history_event(nobody, event);
}

unsigned nemesis_struck(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < nemesis_kind_count(); i++) sum += nemesis.struck[i];
    return sum;
}

unsigned nemesis_drawn(void)
{
    return nemesis.next.number;
}

void nemesis_print(void)
{
    printf("faults: %u in %u s:", nemesis_struck(), storm.seconds);
    for (unsigned i = 0; i < nemesis_kind_count(); i++)
    {
        if (nemesis.struck[i] != 0) printf(" %s %u", kind_at(i)->name, nemesis.struck[i]);
    }
    printf("; passed over:");
    for (unsigned i = 0; i < nemesis_kind_count(); i++)
    {
        if (nemesis.passed_over[i] != 0) printf(" %s %u", kind_at(i)->name, nemesis.passed_over[i]);
    }
    printf("\n");
    nemesis_fleet_print();
}
