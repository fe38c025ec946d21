/* guildhall/files.h -- a file from one game server to many, in chunks, through the store, which holds few of
   them at a time.

       the sender's server                    the store                         each reader's server
       push bytes --> chunk 0, 1, 2 ... --> | 1 | 2 | 3 | 4 | --------------> verified --> blocks or lines
                                             ^   cap_bytes               |      done
             waits while it is full  --------'   goes when all readers  <-'
                                                 have read it
       send   begin --> OPENING --> RESERVING --> SENDING --finish--> SEALING --> ANNOUNCING --> ended
       read   begin --> OPENING --> READING --(all verified)--> END --done--> ended

   Readers  are named by the sender: ten names are ten readers, and the file goes when the last of them is
            done, not before. One that is silent for lease_us is given up, and waits for nobody.
   Channel  an index of the files that readers should look at, with a hint to those that wait. A file is
            announced when it is sealed; or when its cap is reached, because then only readers can make room;
            or at once (config.stream). Without a channel you tell the readers by other means, for example
            with chat.h.
   Bytes    each chunk and the whole file carry an XXH3-128 digest; a reader is told the end when both are
            right. It finds accidents and is no defence against an attacker.
   Crash    a sender begins again under the same name and pushes the file from its beginning: what is stored
            already is compared and not sent again. A reader begins again under the same reader's name, and
            goes on where it had read to (GH_FILE_AS_READ), or reads from the beginning (GH_FILE_AT_END:
            nothing goes before it is done).
   Keys     gh:{file:<name>}: :s state, :c chunks, :o how far each reader is, :e leases. gh:{files:<channel>}:
            :s, :f, :l, :h.
   Time     no total time-outs: progress_us without any progress ends an op, however long the file takes. An
            upload that stands still for abandoned_us is dropped by the store itself, and so is a file whose
            last lease ran out.
   Budget   tick_bytes: an op moves no more than that in a tick, in either direction, so a large file never
            dents a frame.
   Threads  as the client.   Memory  one block of yours for each op, of the size that the memory function
            says; nothing else. Ops stay in place until they end. Views of blocks and lines live
            until the next call on that op.
   Failure  every request may be repeated, and is. While the link is down, nothing is lost on either side. A store
            that comes back with older data has forgotten the newest chunks: the sender is told GONE, a reader
            that had more is told LOST, both begin again and go on from what is there; digests keep two files apart.
            After its lease, less 1 %, a reader hands nothing out before the store has said that it waits for it still.
   Cost     a request for each chunk in either direction, and for each few chunks one that says how far a
            reader is.

   Use
       gh_file_send_config config = gh_file_send_config_default();
       config.channel = gh_str_literal("logs"), config.readers = names, config.reader_count = 10;
       config.memory = memory, config.memory_size = gh_file_send_memory(&config);
       gh_file_send_begin(&send, client, gh_str_literal("log 7"), &config);
       ... each frame: gh_tick(...);
           gh_file_send_push(&send, gh_str_make(at, left), &taken);      then finish, and poll until GH_OK
       gh_file_read_begin(&read, client, gh_str_literal("log 7"), gh_str_literal("counter 3"), &read_config);
       ... each frame: gh_tick(...);
           while ((status = gh_file_read_line(&read, &line)) == GH_OK) count(line);
           if (status == GH_EMPTY) gh_file_read_done(&read);             whole, verified; poll until GH_OK */

#ifndef GUILDHALL_FILES_H
#define GUILDHALL_FILES_H

#include "guildhall/client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GH_FILE_READERS_MAX 64
#define GH_FILE_CHUNK_MIN 1024u
#define GH_FILE_CHUNK_MAX 131072u
#define GH_FILE_LANES_MAX 16u
#define GH_FILE_CAP_MAX 1099511627776ull    /* 1 TiB */
#define GH_FILE_LINE_MAX 1048576u
#define GH_FILES_LIST_MAX 64                /* in one list                           */
#define GH_FILES_CHANNEL_MAX 1000           /* files that are in a channel at once   */
#define GH_FILE_LEASE_MIN_US 1000000ull     /* 1 s                                   */
#define GH_FILE_LEASE_MAX_US 86400000000ull /* 24 h                                  */

/* ---- send ---------------------------------------------------------------------------------------------- */

typedef struct gh_file_send_config
{
    size_t struct_size;     /* set by gh_file_send_config_default; leave it */
    gh_str channel;         /* where it is announced; empty (default): nowhere */
    const gh_str* readers;  /* who must read it: 1..GH_FILE_READERS_MAX different names, until the op ends */
    size_t reader_count;
    uint64_t size_bytes;    /* of the file: give it if you know it, it then reserves no more of the channel;
                               default 0: not known */
    uint64_t cap_bytes;     /* of the file that lie in the store at once; chunk_bytes..GH_FILE_CAP_MAX,
                               default 64 MiB */
    uint64_t channel_bytes; /* that all files of the channel may reserve, each its cap or its size; at least
                               cap_bytes, at most 1,024 x GH_FILE_CAP_MAX; default 1 GiB. Full: it waits */
    uint32_t chunk_bytes;   /* GH_FILE_CHUNK_MIN.._MAX, default 16 KiB; must fit the sender's out_bytes with
                               8 KiB to spare, and the readers' reply_bytes with 1 KiB to spare */
    uint32_t lanes;         /* chunks on their way at once, each chunk_bytes of memory; 1..GH_FILE_LANES_MAX,
                               default 4 */
    uint32_t tick_bytes;    /* no more of the file is on its way at once: all of it goes anew in the tick in which a
                               lost link is back; chunk_bytes..1 GiB, default 256 KiB */
    uint64_t progress_us;   /* end when nothing moves for so long although there is something to move; full
                               counts as not moving. 1 ms..24 h, default 60 s */
    uint64_t abandoned_us;  /* an upload to which nothing was added for so long is dropped, at most a quarter of
                               it later; 1 s..7 days, default 1 h */
    uint64_t lease_us;      /* of each reader; GH_FILE_LEASE_MIN_US.._MAX_US, default 10 min */
    bool stream;            /* announce at once; default false: when it is sealed, or the cap is reached */
    void* memory;           /* aligned to 16 */
    size_t memory_size;
} gh_file_send_config;

GH_API gh_file_send_config gh_file_send_config_default(void);

/* The size of the block for this config, in bytes; 0 if a field is outside its range. */
GH_API size_t gh_file_send_memory(const gh_file_send_config* config);

typedef struct gh_file_send
{
    gh_op op;

    /* read-only */
    uint64_t id;            /* of this file, from the store; 0 before it is open */
    uint64_t resumed_bytes; /* were stored already when it was opened */
    uint64_t taken_bytes;   /* by push */
    uint64_t stored_bytes;  /* confirmed by the store */
    bool is_full;           /* the cap is reached: readers must read */

    /* private */
    gh_name name;
    struct gh_op* next_owner;
    struct gh_file_send_room* room;
} gh_file_send;

/* Begins to send a file under a name. It uses 1 + lanes ops of ops_capacity.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_TOO_LARGE (out_bytes is too small for chunk_bytes); GH_CLOSED; GH_INVALID_OP,
   _CLIENT, _NAME, _CONFIG, _CHANNEL, _READERS, _CAP (cap_bytes, channel_bytes), _CHUNK (chunk_bytes, lanes),
   _TICK_BYTES, _TIMEOUT (progress_us), _ABANDONED, _LEASE, _MEMORY. */
GH_API gh_status gh_file_send_begin(gh_file_send* op, gh_client* client, gh_str name,
                                    const gh_file_send_config* config);

/* Takes bytes of the file, in order, from its beginning; they are copied. GH_OK: all were taken. GH_PENDING:
   the first *taken, maybe 0: push the rest in a later frame. Any other status: the op has ended with it, or
   was finished (GH_CLOSED); or GH_INVALID_OUT, GH_INVALID_BUFFER (bytes NULL with a size), GH_INVALID_OP
   (NULL). */
GH_API gh_status gh_file_send_push(gh_file_send* op, gh_str bytes, size_t* taken);

/* That was all: the file is sealed when its last chunk is stored. GH_OK; GH_INVALID_OP; else the op has ended
   with it. */
GH_API gh_status gh_file_send_finish(gh_file_send* op);

/* How it ends:
   GH_OK        sealed and announced. Readers may still be reading: gh_file_look_begin shows how far they are
   GH_DIFFERS   a file of that name is there with other bytes, or with other readers: use another name, or
                    remove it
   GH_LOST      another sender has taken over under the same name
   GH_GONE      the upload stood still for too long and was dropped, or every reader's lease ran out, or the store
                came back without chunks that it had confirmed: begin again
   GH_TIMEOUT   no progress for progress_us: the link is down, or readers make no room. What is stored stays
                for abandoned_us: begin again to go on
   GH_UNKNOWN   it may be sealed, and announced or not; or the server stopped a script in its middle: begin again to
                make sure
   GH_TOO_SMALL it was begun with larger chunks than chunk_bytes: the first sender's config must be used
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT   see gh_status_text; GH_CORRUPT also: a key of this file or of its channel is
   not of Guildhall's making. That of another file in the channel is told in the log, and takes up its room
   gh_op_cancel stops it where it is: what is stored stays for abandoned_us; gh_file_remove_begin removes it at once.
   Once the seal was sent, nothing is stopped any more: it ends with the answer. */

/* ---- read ---------------------------------------------------------------------------------------------- */

typedef enum gh_file_format
{
    GH_FILE_PLAIN = 0,
    GH_FILE_GZIP /* blocks and lines are of what was packed; needs a library that was built with zlib */
} gh_file_format;

typedef enum gh_file_keep
{
    GH_FILE_AS_READ = 0, /* what was read goes when the others have read it too. After a crash, reading goes
                            on there: at a byte, or at the beginning of a line. Not with GH_FILE_GZIP: then it
                            ends GH_LOST */
    GH_FILE_AT_END       /* nothing goes before done: after a crash, reading begins anew. The file must fit
                            its cap */
} gh_file_keep;

typedef struct gh_file_read_config
{
    size_t struct_size;   /* set by gh_file_read_config_default; leave it */
    gh_str channel;       /* from which a file is taken when its last reader is done; as the sender's */
    uint64_t id;          /* that the file must have, from a list; 0 (default): any */
    gh_file_format format; /* default GH_FILE_PLAIN */
    gh_file_keep keep;    /* default GH_FILE_AS_READ */
    uint32_t chunk_bytes; /* the sender's or more; GH_FILE_CHUNK_MIN.._MAX, default 16 KiB */
    uint32_t lanes;       /* chunks on their way or waiting for you, each chunk_bytes of memory;
                             1..GH_FILE_LANES_MAX, default 4 */
    uint32_t line_bytes;  /* the longest line; 1..GH_FILE_LINE_MAX, default 4096 */
    uint32_t tick_bytes;  /* asked for in a tick, at least one chunk; and unpacked from one tick to the next, at
                             least 16 KiB: then blocks and lines are GH_PENDING. 1..1 GiB, default 256 KiB */
    uint64_t progress_us; /* end when the store has nothing new for so long, since it is its turn and not yours;
                             1 ms..24 h, default 60 s */
    void* memory;         /* aligned to 16 */
    size_t memory_size;
} gh_file_read_config;

GH_API gh_file_read_config gh_file_read_config_default(void);

/* The size of the block for this config, in bytes; 0 if a field is outside its range. */
GH_API size_t gh_file_read_memory(const gh_file_read_config* config);

typedef struct gh_file_read
{
    gh_op op;

    /* read-only */
    uint64_t id;            /* of the file, from the store; 0 before it is open */
    uint64_t resumed_bytes; /* had been read before; reading goes on behind them */
    uint64_t offset_bytes;  /* of the file: read up to here */
    uint64_t stored_bytes;  /* of the file: known to have been sent */
    uint64_t lines;         /* that gh_file_read_line gave */
    uint64_t lines_cut;     /* of them longer than line_bytes */
    bool is_sealed;         /* stored_bytes is the size of the file */
    bool is_whole;          /* at the end: the digest of the whole was compared, not only each chunk's */

    /* private */
    gh_name name;
    gh_name reader;
    struct gh_file_read_room* room;
} gh_file_read;

/* Begins to read a file as one of its readers; waits until readers may read. It uses 1 + lanes ops of
   ops_capacity. GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _NAME, _READERS (the
   reader's name), _CONFIG, _CHANNEL, _FORMAT (format, keep, or gzip without zlib), _CHUNK (chunk_bytes,
   lanes), _LINE (line_bytes), _TICK_BYTES, _TIMEOUT (progress_us), _MEMORY. */
GH_API gh_status gh_file_read_begin(gh_file_read* op, gh_client* client, gh_str name, gh_str reader,
                                    const gh_file_read_config* config);

/* The next bytes, as they come. Each call gives back what the one before had given.
   GH_OK        *block is a view of them
   GH_PENDING   nothing is there yet, or tick_bytes of a gzip file were unpacked, or the lease is over and the store
                is being asked: try in a later frame
   GH_EMPTY     the end, and all of it verified: call gh_file_read_done when you have dealt with it. Also once the op
                has ended GH_OK; or GH_EXISTS, with nothing read: this reader was done with the file before
   else         the op has ended with it, as gh_op_poll says; or GH_INVALID_OP, GH_INVALID_OUT */
GH_API gh_status gh_file_read_block(gh_file_read* op, gh_str* block);

/* The next line, without its \n or \r\n; a last line needs none. GH_TOO_SMALL: it is longer than line_bytes;
   *line is its beginning, the rest was skipped (which may take some frames: GH_PENDING), the next call gives the next
   line. GH_INVALID_CHUNK: the op has ended
   GH_TOO_SMALL, as the sender's chunks are too large for it; there are no more lines. Else as gh_file_read_block. Use
   one of the two for a file. */
GH_API gh_status gh_file_read_line(gh_file_read* op, gh_str* line);

/* After a crash, with GH_FILE_AS_READ: gives back the first resumed_bytes, piece by piece, from where you had
   put them, so that the digest of the whole can be compared at the end; before the first block or line.
   GH_OK; GH_PENDING: not open yet; GH_INVALID_BUFFER (NULL with a size; or more than resumed_bytes),
   GH_INVALID_OP (NULL, or reading has begun); else the op has ended with it. */
GH_API gh_status gh_file_read_recall(gh_file_read* op, gh_str bytes);

/* Says that this reader has dealt with the whole file. The file goes when all have. GH_OK: poll until it is
   confirmed. GH_BUSY: not at its end yet. GH_INVALID_OP; else the op has ended with it. */
GH_API gh_status gh_file_read_done(gh_file_read* op);

/* How it ends:
   GH_OK        done, and the store knows it
   GH_EXISTS    this reader was done with it before: nothing to do
   GH_GONE      there is no such file: all have read it long ago, its upload was abandoned, or it was removed
   GH_NOT_MEMBER the sender did not name this reader
   GH_LOST      this reader's lease ran out and it was given up; or another of the same name has read on; or a
                gzip file would have to be taken up in its middle; or the store came back without what was read: begin
                again, reading goes on behind resumed_bytes, which may be less than you have
   GH_CORRUPT   a digest is wrong, the gzip data is broken, or a key is not of Guildhall's making. Nothing
                wrong was handed out but, with a wrong digest of the whole, all of it
   GH_TOO_SMALL the sender's chunks are larger than chunk_bytes, or than reply_bytes less 1 KiB
   GH_TIMEOUT   nothing new from the store for progress_us: the link is down, or the sender stands still;
                begin again to go on
   GH_UNKNOWN   the store was told that we are done, and did not answer; or the server stopped a script in its
                middle: begin again to make sure
   GH_CANCELLED, GH_REFUSED   see gh_status_text
   gh_op_cancel stops it where it is: this reader may begin again until its lease is over. */

/* ---- list ---------------------------------------------------------------------------------------------- */

typedef struct gh_file_entry
{
    gh_str name;
    uint64_t id;
    uint64_t number;         /* grows with each announcement in the channel */
    uint64_t reserved_bytes; /* its size, or its cap                         */
} gh_file_entry;

typedef struct gh_files_list_config
{
    size_t struct_size;  /* set by gh_files_list_config_default; leave it */
    uint64_t after;      /* only files with a larger number: that of the last file that you know; default 0. All
                            are listed again if the store came back without that one: a file that you have read
                            ends GH_EXISTS at once */
    uint64_t wait_us;    /* if there is none, wait this long for one; 0 (default)..1 h */
    uint64_t timeout_us; /* the longest time without an answer; 1 ms..60 s, default 5 s */
    gh_file_entry* entries; /* up to GH_FILES_LIST_MAX */
    size_t entry_count;
    char* names;         /* their names come here; GH_NAME_SIZE_MAX bytes for each entry */
    size_t names_size;
} gh_files_list_config;

GH_API gh_files_list_config gh_files_list_config_default(void);

typedef struct gh_files_list
{
    gh_op op;

    /* read-only, after GH_OK */
    const gh_file_entry* entries; /* in order of announcement */
    uint32_t count;

    /* private */
    uint32_t capacity;
    gh_name channel;
    gh_file_entry* out;
    char* names;
    uint64_t after;
    uint64_t wait_end_us;
    uint64_t timeout_us;
    uint16_t polls;
} gh_files_list;

/* Begins to read which files were announced in a channel. GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED;
   GH_INVALID_OP, _CLIENT, _CHANNEL, _CONFIG, _WAIT, _TIMEOUT, _ID (`after` is 2^53 or more), _BUFFER (entries,
   names). */
GH_API gh_status gh_files_list_begin(gh_files_list* op, gh_client* client, gh_str channel,
                                     const gh_files_list_config* config);

/* How it ends:
   GH_OK: count entries; GH_EMPTY: none within wait_us; GH_TIMEOUT: no answer;
   GH_CANCELLED, GH_REFUSED, GH_CORRUPT. */

/* ---- look and remove ----------------------------------------------------------------------------------- */

typedef struct gh_file_look_config
{
    size_t struct_size;  /* set by gh_file_look_config_default; leave it   */
    uint64_t timeout_us; /* from begin to the end; 1 ms..60 s, default 5 s */
} gh_file_look_config;

GH_API gh_file_look_config gh_file_look_config_default(void);

typedef struct gh_file_look
{
    gh_op op;

    /* read-only, after GH_OK */
    uint64_t id;
    uint64_t size_bytes;   /* sent so far; all of it, once sealed                       */
    uint64_t stored_bytes; /* that lie in the store now                                 */
    uint64_t read_bytes;   /* by the slowest reader                                     */
    uint32_t readers_left; /* have not ended                                            */
    uint32_t readers_done;
    uint32_t readers_lost; /* their leases ran out, and somebody noticed                */
    bool is_announced;     /* readers may read                                          */
    bool is_sealed;

    /* private */
    gh_name name;
} gh_file_look;

/* Begins to look how far a file is; changes nothing. config may be NULL for the defaults.
   GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED; GH_INVALID_OP, _CLIENT, _NAME, _CONFIG, _TIMEOUT. */
GH_API gh_status gh_file_look_begin(gh_file_look* op, gh_client* client, gh_str name,
                                    const gh_file_look_config* config);

/* How it ends:
   GH_OK; GH_GONE: there is no such file; GH_TIMEOUT; GH_CANCELLED, GH_REFUSED,
   GH_CORRUPT. */

typedef struct gh_file_remove_config
{
    size_t struct_size;  /* set by gh_file_remove_config_default; leave it */
    uint64_t timeout_us; /* from begin to the end; 1 ms..60 s, default 5 s */
} gh_file_remove_config;

GH_API gh_file_remove_config gh_file_remove_config_default(void);

typedef struct gh_file_remove
{
    gh_op op;

    /* private */
    gh_name name;
    gh_name channel;
    uint64_t id;
} gh_file_remove;

/* Begins to remove a file and its announcement, whoever still reads it. id is from a look, a list, or the
   sender's op; channel may be empty; config may be NULL for the defaults. GH_OK; GH_NO_ROOM (ops_capacity); GH_CLOSED;
   GH_INVALID_OP, _CLIENT, _NAME, _CHANNEL, _ID (0, or 2^53 and more), _CONFIG, _TIMEOUT. */
GH_API gh_status gh_file_remove_begin(gh_file_remove* op, gh_client* client, gh_str name, uint64_t id, gh_str channel,
                                      const gh_file_remove_config* config);

/* How it ends:
   GH_OK: it is gone, or was before; GH_TIMEOUT, GH_CANCELLED, GH_REFUSED, GH_CORRUPT: not done;
   GH_UNKNOWN: done or not, or half: the file is gone, and its announcement may still be there (the log says why).
   Do it again whenever you like. */

#ifdef __cplusplus
}
#endif

#endif
