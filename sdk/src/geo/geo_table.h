/* geo_table.h -- what a table of places is made of; for the three files of geo alone.

   ranges  sorted once sealed, with an index by the first bits of the address, as many as give a bucket a few ranges:
           index[b] is the first range that begins in bucket b or later
   nodes   a tree by parent numbers, found by (parent, name) through an open hash of node numbers + 1 */

#ifndef GH_GEO_TABLE_H
#define GH_GEO_TABLE_H

#include "guildhall/geo.h"

#define GEO_MAGIC 0x67686c6467656f31ull

typedef struct geo_range4
{
    uint32_t first;
    uint32_t last;
    uint32_t node;
} geo_range4;

typedef struct geo_number
{
    uint64_t high;
    uint64_t low;
} geo_number;

typedef struct geo_range6
{
    geo_number first;
    geo_number last;
    uint32_t node;
} geo_range6;

typedef struct geo_node
{
    uint32_t parent;
    uint32_t text_at;
    uint16_t text_size;
    uint16_t level;
} geo_node;

/* BUILDING; then STARTING to INDEXING for IPv4, and again for IPv6; then SEALED. */
typedef enum geo_phase
{
    GEO_BUILDING = 0,
    GEO_STARTING, /* are they in order?                                   */
    GEO_HEAPING,  /* heapsort, first half: at counts down to 0            */
    GEO_SORTING,  /* heapsort, second half: at counts down to 1           */
    GEO_CHECKING, /* at is read, kept is written: overlaps are left out   */
    GEO_INDEXING, /* at is the bucket                                     */
    GEO_SEALED
} geo_phase;

struct gh_geo
{
    uint64_t magic;
    gh_geo_config config;
    geo_range4* ranges4;
    geo_range6* ranges6;
    uint32_t* index4; /* one more than there are buckets */
    uint32_t* index6;
    uint32_t index_bits4;
    uint32_t index_bits6;
    geo_node* nodes;
    uint32_t* node_slots;
    char* text;
    uint32_t node_slot_mask;
    uint32_t count4;
    uint32_t count6;
    uint32_t node_count;
    uint32_t text_used;
    bool unsorted4;
    bool unsorted6;
    uint8_t columns[5]; /* of first, last, country, region, city */
    uint8_t column_last; /* the last that is wanted */
    bool skipping; /* in the middle of a row that is too long */

    geo_phase phase;
    bool sealing_ipv6;
    uint32_t at;
    uint32_t kept;
    uint32_t position; /* of the index */

    uint64_t rows;
    uint64_t rows_malformed;
    uint64_t overlapping;
};

static inline bool geo_is_building(const gh_geo* table)
{
    return table != NULL && table->magic == GEO_MAGIC && table->phase == GEO_BUILDING;
}

static inline bool geo_is_sealed(const gh_geo* table)
{
    return table != NULL && table->magic == GEO_MAGIC && table->phase == GEO_SEALED;
}

static inline bool geo_is_before(geo_number a, geo_number b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* geo_build.c: as gh_geo_add, with numbers */
gh_status gh_geo_add_range(gh_geo* table, const gh_geo_address* first, const gh_geo_address* last,
                           const gh_str names[3]);

#endif
