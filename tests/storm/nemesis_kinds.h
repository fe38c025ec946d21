/* nemesis_kinds.h -- what a fault is: shared by those who do them, nemesis.c, nemesis_wire.c and nemesis_fleet.c. */

#ifndef GUILDHALL_TESTS_STORM_NEMESIS_KINDS_H
#define GUILDHALL_TESTS_STORM_NEMESIS_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* One fault of the schedule. */
typedef struct nemesis_fault
{
    uint64_t at_us; /* from the start */
    uint64_t for_us;
    uint64_t x; /* three random numbers for the fault to make of them what it likes */
    uint64_t y;
    uint64_t z;
    unsigned kind;
    unsigned number; /* 0 and up */
} nemesis_fault;

/* Which faults exclude each other. */
typedef enum nemesis_ground
{
    GROUND_WIRE = 0, /* any number at once */
    GROUND_SERVER,   /* its process: one at a time */
    GROUND_RULES,    /* its settings: one at a time */
    GROUND_PLAYER,   /* one at a time */
    GROUND_SENTINEL  /* one at a time */
} nemesis_ground;

/*  strike --> at least for_us --> ready? --> heal --> over? --> end */
typedef struct nemesis_kind
{
    const char* name;
    unsigned weight;
    nemesis_ground ground;
    bool loss;
    uint64_t least_us;
    uint64_t most_us;
    bool (*strike)(const nemesis_fault* fault); /* false: cannot be now */
    void (*heal)(const nemesis_fault* fault);   /* NULL: heals by itself */
    unsigned on;                                /* bits of storm_store */
    bool replaces;                              /* a master: what --failovers draws from */
    bool (*ready)(const nemesis_fault* fault);  /* NULL: always; both are asked now and then */
    bool (*over)(const nemesis_fault* fault);   /* NULL: always */
} nemesis_kind;

/* What was done from since_us on may be gone; the loss itself lies between begin_us and now. */
void nemesis_mark_loss(uint64_t since_us, uint64_t begin_us);

/* The faults of the wire, nemesis_wire.c; and of 1000 links, how many such a number means. */
bool nemesis_cut(const nemesis_fault* f);
bool nemesis_late(const nemesis_fault* f);
bool nemesis_ancient(const nemesis_fault* f);
bool nemesis_mute(const nemesis_fault* f);
bool nemesis_hole(const nemesis_fault* f);
bool nemesis_slow(const nemesis_fault* f);
bool nemesis_chop(const nemesis_fault* f);
bool nemesis_outage(const nemesis_fault* f);
uint32_t nemesis_share_of(uint64_t x);

extern const nemesis_kind nemesis_fleet_kinds[];
extern const unsigned nemesis_fleet_count;
bool nemesis_fleet_moves_slots(const nemesis_kind* kind);

/* The bits (talk.h) of mailboxes and chats whose slot has another master than when the last event began. */
uint64_t nemesis_fleet_moved(void);

/* To be called now and then, also at the end: masters that were replaced although no fault was to do that. */
void nemesis_fleet_look(void);
void nemesis_fleet_heal(void);
void nemesis_fleet_print(void);

/* What each server says, on stderr: where something does not end. */
void nemesis_fleet_show(void);

#endif
