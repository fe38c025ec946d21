/* slots_map.h -- which node has each slot of a Cluster, by the maps that servers send and by what MOVED has said since.

       the question goes out            each row of its answer          the answer is over
       gh_slots_map_begin         -->   gh_slots_map_row ...      -->   gh_slots_map_end
                          gh_slots_map_moved, at any time

   A node is a host and a port, and keeps its place, 0 .. capacity - 1, until gh_slots_map_forget. Rows hold as soon as
   they are taken, so a slot is never without an owner only because a map is on its way; one that breaks off halfway is
   begun anew, and nothing has to be taken back.

   MOVED holds whenever it comes. A row holds for those of its slots that have had no word since the question: not by
   MOVED, which is younger than the map, and not by a row before it that overlaps. A slot of which neither says anything
   is nobody's from the end of the answer on.

   Some slots have no node, and what stands for one tells why: NOBODY (a gap; a master that cannot be reached, or that
   is none: endpoint.h) and NO_ROOM (the table is full). Both heal with a later word. */

#ifndef GH_SLOTS_MAP_H
#define GH_SLOTS_MAP_H

#include "base/arena.h"
#include "wire/slots_reader.h"

#define GH_SLOTS_NODES_MAX 4096u
#define GH_SLOTS_NOBODY    0xffffu
#define GH_SLOTS_NO_ROOM   0xfffeu

/* Bits: by whose word. */
typedef enum gh_slots_gained
{
    GH_SLOTS_GAINED_BY_MOVED = 1,
    GH_SLOTS_GAINED_BY_ROW = 2
} gh_slots_gained;

typedef struct gh_slots_node
{
    uint32_t map; /* number of the map that named it last, or after whose question another word did */
    uint16_t port;
    uint8_t host_size; /* 0: the place is free     */
    uint8_t name_size; /* 0: none was announced    */
    uint8_t gained;    /* gh_slots_gained: has had slots of others; stays until somebody clears it */
    char host[GH_ENDPOINT_HOST_MAX];
    char name[GH_ENDPOINT_HOST_MAX]; /* as the last row of the node said */
} gh_slots_node;

/* What the map of this number had so far. */
typedef struct gh_slots_seen
{
    uint32_t rows;
    uint32_t bad_rows;     /* not good: they meant nothing                                 */
    uint32_t overlapping;  /* rows with a slot that had its word before, also by MOVED     */
    uint32_t unreachable;  /* rows whose master is NOWHERE or BAD                          */
    uint32_t without_room; /* rows of a node for which the table had no place              */
    uint32_t gaps;         /* slots of which nothing was said; known at the end of the map */
} gh_slots_seen;

typedef struct gh_slots_map
{
    uint16_t* owners;     /* of each slot: a place, NOBODY or NO_ROOM           */
    uint64_t* settled;    /* a bit a slot: had its word since the question      */
    uint32_t* hashes;     /* of each place: of host and port; 0: it is free     */
    gh_slots_node* nodes; /* of each place                                      */
    uint32_t capacity;
    uint32_t number;      /* of maps begun                                      */
    gh_slots_seen seen;
} gh_slots_map;

/* Cuts its parts from the arena: 34 KiB, and 520 bytes a node. All slots are nobody's. False when measuring, or when
   there is no room. capacity: 1..GH_SLOTS_NODES_MAX. */
bool gh_slots_map_take(gh_slots_map* map, gh_arena* arena, uint32_t capacity);

/* The question goes out now. */
void gh_slots_map_begin(gh_slots_map* map);

/* A row of the answer. asked: the host of the node that answers, for rows that leave it out. Returns what its slots
   have now, those apart that had their word: a place, NOBODY or NO_ROOM; NOBODY for a row that is not good. */
uint16_t gh_slots_map_row(gh_slots_map* map, const gh_slots_row* row, gh_str asked);

/* The answer is over. */
void gh_slots_map_end(gh_slots_map* map);

/* What MOVED said. Returns what the slot has now. */
uint16_t gh_slots_map_moved(gh_slots_map* map, uint16_t slot, gh_endpoint endpoint, gh_str asked);

/* The place of a node, which gets one if it has none, as for ASK; NOBODY and NO_ROOM as above. No slot is changed. */
uint16_t gh_slots_map_find(gh_slots_map* map, gh_endpoint endpoint, gh_str asked);

/* After the end of a map: false if neither that map nor a word since its question names the node, so that no slot is
   its, and it may be forgotten. False for a free place. */
bool gh_slots_map_names(const gh_slots_map* map, uint32_t place);

/* Whether no other slot is that place's. */
bool gh_slots_map_is_only(const gh_slots_map* map, uint32_t place, uint16_t slot);

/* Frees the place; slots that are still its are nobody's. */
void gh_slots_map_forget(gh_slots_map* map, uint32_t place);

static inline uint16_t gh_slots_map_owner(const gh_slots_map* map, uint16_t slot)
{
    return map->owners[slot & (GH_SLOTS - 1u)];
}

#endif
