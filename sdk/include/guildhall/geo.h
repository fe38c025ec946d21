/* guildhall/geo.h -- where in the world is this address? A table of address ranges, in your memory, without network.

       gh_geo_init --> BUILDING --- gh_geo_add_rows, gh_geo_add ---.
                          ^  |                                     |
                          |  '<------------------------------------'
                          |  gh_geo_seal, in steps
       gh_geo_clear ------|
                          v
                        SEALED --- gh_geo_find: as often as you like

   Ranges   IPv4 and IPv6, first and last address, both included. An address in a gap between ranges has no place. Of
            two ranges that overlap, the one that begins later is left out and counted.
   Places   a tree of names: a country has regions, a region has cities. Each name in its place is one node, with a
            dense number; a range points to a city's node. Any of the three may be empty, as in the usual tables.
   Rows     "first,last,country,region,city": addresses as text or, for IPv4, as a decimal number; fields may stand in
            double quotes (doubled inside); more fields are ignored; ends in \n or \r\n. Tables that have other columns
            between say in config.columns where these are: {0, 1, 3, 4, 5} with a continent, or a country's code,
            in front of the country; {0, 1, 2, GH_GEO_NO_COLUMN, GH_GEO_NO_COLUMN} for countries alone.
   Size     the common tables of cities have up to 3 million IPv4 ranges, 2 million IPv6 ranges and 350,000 places with
            5 MB of names. For one of those ipv4_capacity 4194304, ipv6_capacity 2097152, nodes_capacity 524288 and
            text_bytes 8 MiB are 165 MiB; without IPv6 80 MiB. The defaults hold a table of countries.
   Time     a look-up takes a few steps, whatever the size of the table: 3 memory accesses as a rule. With addresses
            drawn at random that is 29 million a second while the table lies in the processor's caches, and 5 million
            with 3 million ranges. Building is in
            pieces of your size: gh_geo_add_rows takes what you give, gh_geo_seal sorts as many steps as you say. Rows
            that come in order (they usually do) need no sorting.
   Threads  a sealed table is only read: any number of threads may look up. Building belongs to one.
   Memory   one block of yours, of the size that gh_geo_memory says. Nothing else.
   Swap     build a new table beside the old one over many frames, then gh_geo_offer it; gh_geo_turn, once a frame,
            makes it the current one, so nobody sees two tables within one frame, and hands the old one back.

   Use
       gh_geo_config config = gh_geo_config_default();
       gh_geo* table;
       gh_geo_init(&table, &config, memory, gh_geo_memory(&config));
       while (read_piece(&piece)) gh_geo_add_rows(table, piece, &used);
       while (gh_geo_seal(table, 100000) == GH_PENDING) next_frame();
       gh_geo_place place;
       if (gh_geo_find(table, gh_str_literal("173.194.38.137"), &place) == GH_OK) greet(place.country); */

#ifndef GUILDHALL_GEO_H
#define GUILDHALL_GEO_H

#include "guildhall/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gh_geo gh_geo;

#define GH_GEO_NAME_SIZE_MAX 128 /* bytes of a country, region or city */
#define GH_GEO_ROW_SIZE_MAX 1024 /* bytes of a row                      */
#define GH_GEO_NO_NODE UINT32_MAX
#define GH_GEO_COLUMN_MAX 31     /* columns count from 0               */
#define GH_GEO_NO_COLUMN 255     /* the table has no such column       */

/* In which column of a row is what; each another. Region and city may be GH_GEO_NO_COLUMN: they are empty then. */
typedef struct gh_geo_columns
{
    uint8_t first;
    uint8_t last;
    uint8_t country;
    uint8_t region;
    uint8_t city;
} gh_geo_columns;

typedef struct gh_geo_config
{
    size_t struct_size;        /* set by gh_geo_config_default; leave it                                           */
    uint32_t ipv4_capacity;    /* ranges; 13 bytes each. 0..16777216, default 65,536                               */
    uint32_t ipv6_capacity;    /* ranges; 41 bytes each. 0..16777216, default 16,384                               */
    uint32_t nodes_capacity;   /* countries, regions and cities together; 20 to 28 bytes each. 3..16777216,
                                  default 16,384                                                                   */
    uint32_t text_bytes;       /* their names. 1..1 GiB, default 256 KiB                                           */
    uint64_t seed;             /* of the hash that finds a node by its name; any random number, default 0          */
    gh_geo_columns columns;    /* of gh_geo_add_rows; default 0, 1, 2, 3, 4                                        */
} gh_geo_config;

GH_API gh_geo_config gh_geo_config_default(void);

/* The exact size of the block for this config, in bytes; NULL: the defaults. 0 if the config is not valid. */
GH_API size_t gh_geo_memory(const gh_geo_config* config);

/* An empty table in your memory, aligned to 16. config may be NULL for the defaults.
   GH_OK, GH_INVALID_CONFIG (or columns), _CAPACITY, _MEMORY, _OUT. */
GH_API gh_status gh_geo_init(gh_geo** table, const gh_geo_config* config, void* memory, size_t size);

/* Empty again, to be built anew. */
GH_API void gh_geo_clear(gh_geo* table);

/* ---- building -------------------------------------------------------------------------------------------------- */

/* Takes the whole rows of a piece of a file and sets *used to their bytes: give the rest again in front of the next
   piece; end a file without a last newline with one. Malformed rows are left out and counted, and so are empty lines,
   lines that begin with '#', and a first line of column names (as malformed). GH_OK; GH_FULL_IPV4, _IPV6, _NODES,
   _TEXT (that capacity is used up: the row at *used did not fit); GH_INVALID_MEMORY (table is NULL, or sealed), _BUFFER
   (rows NULL with a size), _OUT. */
GH_API gh_status gh_geo_add_rows(gh_geo* table, gh_str rows, size_t* used);

/* One range. GH_OK; GH_FULL_IPV4, _IPV6, _NODES, _TEXT as above; GH_INVALID_MEMORY (as above), _ADDRESS (one is not an
   address, they are of two families, or last is before first), _NAME (one longer than GH_GEO_NAME_SIZE_MAX, or NULL
   with a size). */
GH_API gh_status gh_geo_add(gh_geo* table, gh_str first, gh_str last, gh_str country, gh_str region, gh_str city);

/* Sorts and checks, at most about steps_max elements a call (0: all at once). GH_PENDING: call again. GH_OK: sealed.
   GH_INVALID_MEMORY. */
GH_API gh_status gh_geo_seal(gh_geo* table, uint32_t steps_max);

/* ---- looking up ------------------------------------------------------------------------------------------------- */

/* An address as a number: IPv4 in low, high 0; IPv6 in both.
   ::ffff:a.b.c.d is taken as the IPv4 address that it means. */
typedef struct gh_geo_address
{
    uint64_t high;
    uint64_t low;
    bool is_ipv6;
} gh_geo_address;

/* GH_OK, GH_INVALID_ADDRESS, GH_INVALID_OUT. */
GH_API gh_status gh_geo_parse(gh_str text, gh_geo_address* address);

typedef struct gh_geo_place
{
    uint32_t node;  /* of the city; GH_GEO_NO_NODE if there is none      */
    gh_str country; /* views into the table, until it is cleared         */
    gh_str region;
    gh_str city;
} gh_geo_place;

/* GH_OK; GH_EMPTY: in no range; GH_INVALID_MEMORY (NULL, or not sealed), _ADDRESS, _OUT. */
GH_API gh_status gh_geo_find(const gh_geo* table, gh_str text, gh_geo_place* place);

/* The fastest form: the city's node, or GH_GEO_NO_NODE. The table must be sealed. */
GH_API uint32_t gh_geo_find_ipv4(const gh_geo* table, uint32_t address);
GH_API uint32_t gh_geo_find_ipv6(const gh_geo* table, uint64_t high, uint64_t low);

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

GH_API uint32_t gh_geo_node_count(const gh_geo* table);

/* A region's country, a city's region; GH_GEO_NO_NODE for a country, and for a number that is no node. */
GH_API uint32_t gh_geo_node_parent(const gh_geo* table, uint32_t node);

/* 0 country, 1 region, 2 city. */
GH_API uint32_t gh_geo_node_level(const gh_geo* table, uint32_t node);
GH_API gh_str gh_geo_node_name(const gh_geo* table, uint32_t node);

typedef struct gh_geo_stats
{
    size_t struct_size; /* how much of it the library knows; the rest is 0 */
    uint32_t ipv4_ranges;
    uint32_t ipv6_ranges;
    uint32_t nodes;
    uint32_t text_bytes;
    uint64_t rows;
    uint64_t rows_malformed;
    uint64_t ranges_overlapping; /* left out by gh_geo_seal */
} gh_geo_stats;

/* What gh_geo_get_stats calls: for a struct of that size, as the caller's headers have it. */
GH_API gh_status gh_geo_read_stats(const gh_geo* table, void* stats, size_t size);

/* GH_OK, GH_INVALID_MEMORY, GH_INVALID_OUT. */
static inline gh_status gh_geo_get_stats(const gh_geo* table, gh_geo_stats* stats)
{
    return gh_geo_read_stats(table, stats, sizeof *stats);
}

/* ---- hot swap --------------------------------------------------------------------------------------------------- */

/* Zero is without a table. */
typedef struct gh_geo_slot
{
    gh_geo* current; /* read-only: NULL, or sealed; the same for a whole frame */
    gh_geo* offered; /* private */
} gh_geo_slot;

/* From the next turn on. GH_OK; GH_BUSY (another is offered and has not had its turn); GH_INVALID_MEMORY (not sealed),
   GH_INVALID_OP (the slot is NULL). */
GH_API gh_status gh_geo_offer(gh_geo_slot* slot, gh_geo* table);

/* Once a frame. Returns the table that is not the current one any more and is yours to clear and build again, or NULL:
   there is none, or the current one was offered again. */
GH_API gh_geo* gh_geo_turn(gh_geo_slot* slot);

#ifdef __cplusplus
}
#endif

#endif
