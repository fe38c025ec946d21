/* counting.h -- reads the log files of the channel, one after the other, and adds each to the daily totals.
   All aggregators read all files, and each file is counted once: who comes second is told so by aggregate.h.

       LISTING --> READING --> FLUSHING --> FINISHING --> LISTING     any failure, or a crash: the file is
   begun again ^ |
          '-' nothing new */

#ifndef GAME_SERVER_COUNTING_H
#define GAME_SERVER_COUNTING_H

#include "guildhall/aggregate.h"
#include "guildhall/files.h"
#include "places.h"

#define LOGS_SET "events" /* the totals' name */

typedef enum counting_state
{
    COUNTING_LISTING = 0,
    COUNTING_READING,
    COUNTING_FLUSHING,
    COUNTING_FINISHING, /* this reader is done with the file */
    COUNTING_PAUSING    /* something failed; soon again      */
} counting_state;

typedef struct counting
{
    /* read-only */
    counting_state state;
    uint64_t empty_lists;        /* times that there was nothing new, and nothing under way */
    uint64_t files_added;        /* of two who add a file at the same moment, both say so; it is added once */
    uint64_t files_added_before; /* by somebody else */
    uint64_t files_refused;      /* of this name another file was counted: it is left out */
    uint64_t lines;              /* of the files added */
    uint64_t lines_unknown;      /* from an address in no range */
    uint64_t lines_malformed;
    uint64_t restarts;

    /* private */
    gh_client* client;
    gh_str reader;
    places places;
    void* aggregate_memory;
    gh_aggregate* aggregate;
    uint64_t after; /* the number of the last file that is done */
    uint64_t again_us;
    gh_files_list list;
    gh_file_entry entries[1];
    char name[GH_NAME_SIZE_MAX];
    gh_file_read file;
    gh_file_read_config file_config;
    gh_aggregate_flush flush;
} counting;

/* Reads the table of addresses and reserves all memory. False: it was said on stderr why not. */
bool counting_open(counting* c, gh_client* client, gh_str reader, const char* addresses_path);
void counting_close(counting* c);

/* Each frame: at most lines_max lines. */
void counting_frame(counting* c, uint64_t now_us, uint32_t lines_max);

#endif
