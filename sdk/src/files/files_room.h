/* files_room.h -- what the files of files.h share: the blocks of memory behind a sender's and a reader's op,
   and their lanes.

   A chunk on its way lies in a lane; the lanes are a ring, chunk n is in lane n mod lanes. */

#ifndef GH_FILES_ROOM_H
#define GH_FILES_ROOM_H

#include "base/arena.h"
#include "base/hash.h"
#include "files/inflate.h"
#include "client/op.h"
#include "guildhall/files.h"
#include "wire/name.h"

#define GH_FILES_TEXT_BYTES 16384u /* of what was unpacked, at once */
#define GH_FILES_ID_MAX (1ull << 53)

static inline gh_str gh_files_kind(void)
{
    return gh_str_literal("file");
}

static inline gh_str gh_files_channel_kind(void)
{
    return gh_str_literal("files");
}

/* ---- send ---------------------------------------------------------------------------------------------- */

typedef enum send_lane_state
{
    SEND_LANE_FREE = 0, /* or being filled                                  */
    SEND_LANE_READY,    /* full; waits for room on the way, or its turn     */
    SEND_LANE_ASKED,
    SEND_LANE_EARLY,  /* came too early; waits for the one before it      */
    SEND_LANE_BLOCKED /* the cap is reached; asks again, or is hinted     */
} send_lane_state;

typedef struct send_lane
{
    gh_op op; /* busy as long as the main op is */
    gh_file_send* send;
    uint64_t number; /* of the chunk */
    uint32_t size;
    uint32_t pauses;
    uint8_t state;
    gh_digest digest;
    gh_digest upto; /* of the file up to the end of the chunk */
    char* bytes;
} send_lane;

typedef struct gh_file_send_room send_room;

struct gh_file_send_room
{
    gh_digest_stream stream;
    gh_file_send_config config;
    gh_name channel; /* of the config */
    send_lane* lanes;
    uint64_t filling;       /* number of the chunk that push fills            */
    uint64_t stored;        /* chunks that the store has confirmed            */
    uint64_t stored_us;     /* when the last of them was                      */
    uint64_t resumed;       /* chunks that were there when it was opened      */
    uint64_t moved_us;      /* when something moved last                      */
    uint64_t pause_end_us;  /* of the main op; 0: none                        */
    uint64_t probe_id;
    char probe[GH_NAME_SIZE_MAX];
    uint32_t probe_size;
    uint32_t asked_bytes; /* on their way */
    uint32_t chunk_bytes;
    uint32_t pauses;
    uint8_t ask;
    bool reserved;
    bool opened;
    bool shown;
    bool announced;
    bool full_once;
    bool finishing;
    bool sealed;
    bool sealed_now; /* by this op */
    gh_digest expected; /* of what was there when it was opened, or of the whole if it was sealed */
    gh_status verdict;  /* of a lane: how the sender ends; GH_PENDING: it goes on                 */
};

/* While something moves, there is no time-out. */
static inline void gh_files_send_moved(gh_file_send* send)
{
    send->room->moved_us = gh_client_now(send->op.client);
}

/* ---- read ---------------------------------------------------------------------------------------------- */

typedef enum read_lane_state
{
    READ_LANE_FREE = 0,
    READ_LANE_READY,  /* to be asked for when there is room on the way */
    READ_LANE_MISSED, /* it was not there, although the store had said so: news first */
    READ_LANE_ASKED,
    READ_LANE_ARRIVED /* verified; may be what the caller is reading     */
} read_lane_state;

typedef struct read_lane
{
    gh_op op; /* busy as long as the main op is */
    gh_file_read* read;
    uint64_t number; /* of the chunk */
    uint32_t size;
    uint8_t state;
    uint8_t misses;
    char* bytes;
} read_lane;

typedef enum read_ask
{
    READ_NOTHING = 0,
    READ_NEWS, /* says how far we are, and hears how far the sender is */
    READ_DONE,
    READ_WITHDRAW
} read_ask;

typedef struct gh_file_read_room read_room;

struct gh_file_read_room
{
    gh_digest_stream stream;
    gh_file_read_config config;
    gh_name channel; /* of the config */
    read_lane* lanes;
    char* carry; /* the beginning of a line, whose end is in a later chunk */
    char* unpacked;
    void* inflate_memory;
    gh_inflate* inflate;

    gh_str text;      /* plain bytes that are not yet given out                       */
    gh_str packed;    /* of the present chunk, not yet unpacked                       */
    uint64_t at;      /* number of the chunk that the caller is in                    */
    uint64_t wanted;  /* number of the next chunk to ask for                          */
    uint64_t chunks;  /* that are stored, as far as we know                           */
    uint64_t told;    /* offset that the store knows                                  */
    uint64_t given;   /* offset behind what the caller has in its hands               */
    uint64_t recalled;
    uint64_t lease_us;
    uint64_t moved_us;
    uint64_t ask_us;  /* when to ask for news again; GH_FOREVER: no need              */
    uint64_t asked_bytes; /* on their way                                             */
    uint64_t unpack_now_us; /* the tick that unpack_used belongs to                   */
    uint64_t unpack_used;
    uint32_t carry_size;
    uint32_t chunk_bytes;
    uint32_t pauses;
    uint8_t ask;
    bool opened;
    bool in_chunk;  /* `at` is what text or packed lies in                            */
    bool hashing;   /* the stream has all bytes up to here                            */
    bool pulled;    /* the caller was here since the last news                        */
    bool doubted;   /* the server may have forgotten the lease                        */
    bool lapsed;    /* the lease is over, and the store has not said that it goes on  */
    bool reading;   /* it has asked for a first block or line                         */
    bool cutting;   /* the rest of a line that is too long is skipped                 */
    bool at_end;
    bool done;      /* asked for                                                      */
    gh_digest whole;
};

/* ---- files_config.c ------------------------------------------------------------------------------------ */

/* GH_OK, or what is wrong with a config. */
gh_status gh_files_check_send(const gh_file_send_config* config, gh_client* client);
gh_status gh_files_check_read(const gh_file_read_config* config, gh_client* client);

/* Cuts the block of a config that was checked. */
send_room* gh_files_carve_send(const gh_file_send_config* config);
read_room* gh_files_carve_read(const gh_file_read_config* config);

/* files_withdraw.lua: that file takes up no room in the channel any more. */
void gh_files_encode_withdraw(gh_op* op, gh_request* request, gh_str channel, gh_str name, uint64_t id);

/* A digest as gh_request_digest writes it. */
bool gh_files_parse_digest(gh_str text, gh_digest* digest);

/* ---- files_send_lanes.c, for files_send.c and files_push.c --------------------------------------------- */

extern const gh_op_kind gh_files_send_lane_kind;
send_lane* gh_files_send_lane(const gh_file_send* send, uint64_t number);

/* Its chunk is full, or the last. GH_PENDING, or how the sender ends. */
gh_status gh_files_send_lane_complete(gh_file_send* send, send_lane* lane);

/* ---- files_send.c, for files_push.c -------------------------------------------------------------------- */

bool gh_files_send_is_busy(const gh_file_send* send);
void gh_files_send_end(gh_file_send* send, gh_status status);
bool gh_files_send_is_waiting(const gh_file_send* send);

/* Nothing more will be pushed: the last chunk is complete, whatever its size. */
void gh_files_send_wrap_up(gh_file_send* send);

/* ---- files_read.c, for files_pull.c -------------------------------------------------------------------- */

bool gh_files_read_is_busy(const gh_file_read* read);
void gh_files_read_end(gh_file_read* read, gh_status status);
void gh_files_read_moved(gh_file_read* read);
bool gh_files_read_has_something(const gh_file_read* read);
void gh_files_read_request(gh_file_read* read, read_ask ask);
void gh_files_read_fetch(gh_file_read* read, bool in_tick);
read_lane* gh_files_read_lane(const gh_file_read* read, uint64_t number);

#endif
