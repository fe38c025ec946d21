/* files_send.c -- the sender of a file: one op that goes through the states, and one for each chunk on its
   way.

   The chunks lie in lanes, a ring: chunk n is in lane n mod lanes, from its first byte until the store has
   confirmed it. The store takes chunks in order, so they go in order; one that comes too early all the same,
   because an earlier one had to go again, waits in its lane until that one is confirmed. The main op looks
   after everything that is asked once: room in the channel, the opening, the seal, the announcement. What it
   asks next follows from what is known, see send_advance. */

#include "files_room.h"

#define SEND_OUT_ROOM  8192u /* of a request besides the chunk: the readers' names, keys, digests */
#define SEND_EARLY_MAX 16u   /* a chunk that is refused as too early although the one before it is stored */

#define SEND_RESERVE_SHAPE "qiiis"
#define SEND_OPEN_SHAPE    "qiiiiiis"
#define SEND_CHUNK_SHAPE   "qiii"
#define SEND_SEAL_SHAPE    "qi"
#define SEND_LOOK_SHAPE    "qiiiiiiiiiis"

/* What files_chunk.lua and files_seal.lua answer. */
enum
{
    FILES_STORED = 0,
    FILES_FULL,
    FILES_EARLY,
    FILES_TAKEN,
    FILES_GONE,
    FILES_DIFFERS
};

/* What files_open.lua answers. */
enum
{
    FILES_OPEN = 0,
    FILES_SEALED,
    FILES_OTHER_READERS
};

/* Who may read, by files_open.lua. */
enum
{
    FILES_HIDDEN = 0,
    FILES_SHOWN,
    FILES_ENDED
};

typedef enum send_lane_state
{
    SEND_LANE_FREE = 0, /* or being filled                                  */
    SEND_LANE_READY,    /* full; waits for the tick's budget, or its turn   */
    SEND_LANE_ASKED,
    SEND_LANE_EARLY,  /* came too early; waits for the one before it      */
    SEND_LANE_BLOCKED /* the cap is reached; asks again, or is hinted     */
} send_lane_state;

typedef enum send_ask
{
    SEND_NOTHING = 0,
    SEND_OPEN,
    SEND_RESERVE,
    SEND_PROBE, /* is a file that takes up room in the channel still there? */
    SEND_EVICT, /* it is not */
    SEND_SHOW,  /* let readers begin: they must make room */
    SEND_SEAL,
    SEND_ANNOUNCE
} send_ask;

static void send_advance(gh_file_send* send);
static void send_finish(gh_file_send* send);

static gh_file_send* send_of(gh_op* op)
{
    return (gh_file_send*)(void*)((char*)op - offsetof(gh_file_send, op));
}

static send_lane* send_lane_of(gh_op* op)
{
    return (send_lane*)(void*)((char*)op - offsetof(send_lane, op));
}

static send_lane* send_lane_at(const gh_file_send* send, uint64_t number)
{
    return &send->room->lanes[number % send->room->config.lanes];
}

static bool send_is_busy(const gh_file_send* send)
{
    return send != NULL && send->op.kind != NULL && gh_op_is_busy(&send->op);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

static void send_end(gh_file_send* send, gh_status status)
{
    uint32_t i;
    for (i = 0; i < send->room->config.lanes; i++)
        if (gh_op_is_busy(&send->room->lanes[i].op)) gh_op_end(&send->room->lanes[i].op, status);
    gh_op_end(&send->op, status);
}

static void send_moved(gh_file_send* send)
{
    send->room->moved_us = gh_client_now(send->op.client);
}

/* Whether something is the store's turn. While only the caller's push is waited for, there is no time-out. */
static bool send_is_waiting(const gh_file_send* send)
{
    const send_room* room = send->room;
    uint32_t i;
    if (!room->opened || room->ask != SEND_NOTHING || room->finishing) return true;
    for (i = 0; i < room->config.lanes; i++)
        if (room->lanes[i].state != SEND_LANE_FREE) return true;
    return false;
}

/* ---- requests of the main op --------------------------------------------------------------------------- */

static gh_script* send_script(gh_op* op)
{
    static const gh_script_id scripts[] = {
        [SEND_NOTHING] = GH_SCRIPT_files_look, [SEND_RESERVE] = GH_SCRIPT_files_reserve,
        [SEND_PROBE] = GH_SCRIPT_files_look,   [SEND_EVICT] = GH_SCRIPT_files_withdraw,
        [SEND_OPEN] = GH_SCRIPT_files_open,    [SEND_SHOW] = GH_SCRIPT_files_seal,
        [SEND_SEAL] = GH_SCRIPT_files_seal,    [SEND_ANNOUNCE] = GH_SCRIPT_files_reserve};
    return gh_client_script(op->client, scripts[send_of(op)->room->ask]);
}

static void send_encode_open(gh_file_send* send, gh_request* request)
{
    const gh_file_send_config* config = &send->room->config;
    size_t i;
    gh_request_script(request, send_script(&send->op), 4, 6 + (uint32_t)config->reader_count);
    gh_request_object_keys(request, send->op.client, gh_files_kind(), send->name, "scoe");
    gh_request_op_token(request, &send->op);
    gh_request_number(request, send->op.sequence);
    gh_request_number(request, config->chunk_bytes);
    gh_request_number(request, config->cap_bytes);
    gh_request_number(request, config->lease_us);
    gh_request_number(request, config->abandoned_us);
    for (i = 0; i < config->reader_count; i++) gh_request_str(request, config->readers[i]);
}

static void send_encode_reserve(gh_file_send* send, gh_request* request)
{
    const gh_file_send_config* config = &send->room->config;
    uint64_t bytes = config->size_bytes > 0 && config->size_bytes < config->cap_bytes ? config->size_bytes
                                                                                      : config->cap_bytes;
    gh_request_script(request, send_script(&send->op), 4, 6);
    gh_request_object_keys(request, send->op.client, gh_files_channel_kind(), config->channel, "sflh");
    gh_request_number(request, send->op.sequence);
    gh_request_str(request, send->name);
    gh_request_number(request, bytes);
    gh_request_number(request, config->channel_bytes);
    gh_request_number(request, send->id);
    gh_request_number(request, send->room->ask == SEND_ANNOUNCE);
}

static void send_encode_probe(gh_file_send* send, gh_request* request)
{
    const send_room* room = send->room;
    gh_str probe = gh_str_make(room->probe, room->probe_size);
    if (room->ask == SEND_PROBE)
    {
        gh_request_script(request, send_script(&send->op), 2, 1);
        gh_request_object_keys(request, send->op.client, gh_files_kind(), probe, "so");
        gh_request_number(request, send->op.sequence);
        return;
    }
    gh_request_script(request, send_script(&send->op), 3, 3);
    gh_request_object_keys(request, send->op.client, gh_files_channel_kind(), room->config.channel, "sfl");
    gh_request_number(request, send->op.sequence);
    gh_request_str(request, probe);
    gh_request_number(request, room->probe_id);
}

static void send_encode_seal(gh_file_send* send, gh_request* request)
{
    gh_digest digest = gh_digest_end(&send->room->stream);
    gh_request_script(request, send_script(&send->op), 4, 5);
    gh_request_object_keys(request, send->op.client, gh_files_kind(), send->name, "scoe");
    gh_request_op_token(request, &send->op);
    gh_request_number(request, send->op.sequence);
    gh_request_number(request, send->room->ask == SEND_SEAL);
    gh_request_number(request, send->taken_bytes);
    gh_files_encode_digest(request, &digest);
}

static void send_encode(gh_op* op, gh_request* request)
{
    gh_file_send* send = send_of(op);
    switch ((send_ask)send->room->ask)
    {
    case SEND_OPEN: send_encode_open(send, request); break;
    case SEND_RESERVE:
    case SEND_ANNOUNCE: send_encode_reserve(send, request); break;
    case SEND_PROBE:
    case SEND_EVICT: send_encode_probe(send, request); break;
    case SEND_SHOW:
    case SEND_SEAL: send_encode_seal(send, request); break;
    case SEND_NOTHING: request->full = true; break;
    }
}

/* ---- what comes next ----------------------------------------------------------------------------------- */

static void send_arm(gh_file_send* send)
{
    const send_room* room = send->room;
    uint64_t due_us = room->moved_us + room->config.progress_us;
    if (room->pause_end_us != 0 && room->pause_end_us < due_us) due_us = room->pause_end_us;
    gh_op_timer(&send->op, due_us);
}

static void send_request(gh_file_send* send, send_ask ask)
{
    static const char* const shapes[] = {
        [SEND_NOTHING] = NULL,          [SEND_RESERVE] = SEND_RESERVE_SHAPE, [SEND_PROBE] = SEND_LOOK_SHAPE,
        [SEND_EVICT] = SEND_SEAL_SHAPE, [SEND_OPEN] = SEND_OPEN_SHAPE,       [SEND_SHOW] = SEND_SEAL_SHAPE,
        [SEND_SEAL] = SEND_SEAL_SHAPE,  [SEND_ANNOUNCE] = SEND_RESERVE_SHAPE};
    send->room->ask = (uint8_t)ask;
    gh_op_send(&send->op, shapes[ask], 0);
}

static bool send_all_stored(const gh_file_send* send)
{
    return send->room->stored >= send->room->filling;
}

/* Decides what the main op asks next, when it asks nothing. */
static void send_advance(gh_file_send* send)
{
    send_room* room = send->room;
    bool has_channel = room->config.channel.size > 0;
    if (room->ask != SEND_NOTHING || room->pause_end_us != 0) return;
    if (!room->opened)
        send_request(send, SEND_OPEN);
    else if (has_channel && !room->reserved)
        send_request(send, SEND_RESERVE);
    else if (!room->shown && !room->sealed && (room->config.stream || room->full_once))
        send_request(send, SEND_SHOW);
    else if (has_channel && (room->shown || room->sealed) && !room->announced)
        send_request(send, SEND_ANNOUNCE);
    else if (room->finishing && !room->sealed && send_all_stored(send))
        send_request(send, SEND_SEAL);
    else if (room->finishing && room->sealed)
        send_end(send, GH_OK);
}

static gh_status send_opened(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    uint64_t chunk_bytes = (uint64_t)gh_reply_integer(reply, 3);
    gh_str digest = gh_reply_at(reply, 7)->text;
    if (gh_reply_integer(reply, 1) == FILES_OTHER_READERS) return GH_FILE_DIFFERS;
    if (chunk_bytes == 0 || chunk_bytes > GH_FILE_CHUNK_MAX) return GH_CORRUPT;
    if (chunk_bytes > room->config.chunk_bytes) return GH_TOO_SMALL;
    room->resumed = (uint64_t)gh_reply_integer(reply, 4);
    if (digest.size > 0 ? !gh_files_parse_digest(digest, &room->expected) : room->resumed > 0)
        return GH_CORRUPT;
    room->stored = room->resumed;
    room->chunk_bytes = (uint32_t)chunk_bytes;
    room->sealed = gh_reply_integer(reply, 1) == FILES_SEALED;
    room->shown = gh_reply_integer(reply, 6) != FILES_HIDDEN;
    room->reserved = room->announced =
        gh_reply_integer(reply, 6) == FILES_ENDED; /* nobody would come for it */
    room->opened = true;
    send->id = (uint64_t)gh_reply_integer(reply, 2);
    send->resumed_bytes = send->stored_bytes = (uint64_t)gh_reply_integer(reply, 5);
    return GH_PENDING;
}

static void send_pause(gh_file_send* send)
{
    send_room* room = send->room;
    uint64_t pause_us = gh_client_jitter(send->op.client, gh_files_pause(room->pauses++));
    room->pause_end_us = gh_client_after(send->op.client, pause_us);
    send_arm(send);
}

/* If the channel is full: a file in it may have gone without a word, because all its readers or its sender
   have. */
static void send_reserved(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    gh_str probe = gh_reply_at(reply, 4)->text;
    if (gh_reply_integer(reply, 1) == 0)
    {
        room->reserved = true;
        send_moved(send);
        return;
    }
    room->probe_id = (uint64_t)gh_reply_integer(reply, 3);
    if (!gh_name_is_valid(probe))
    {
        send_pause(send);
        return;
    }
    memcpy(room->probe, probe.bytes, probe.size);
    room->probe_size = (uint32_t)probe.size;
    send_request(send, SEND_PROBE);
}

/* The answer of files_seal.lua as the end of the op, or GH_PENDING. */
static gh_status send_sealed(int64_t code)
{
    switch (code)
    {
    case FILES_STORED: return GH_PENDING;
    case FILES_TAKEN: return GH_LOST;
    case FILES_GONE: return GH_FILE_GONE;
    case FILES_DIFFERS: return GH_FILE_DIFFERS;
    default: return GH_CORRUPT;
    }
}

static void send_replied(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    send_ask asked = (send_ask)room->ask;
    int64_t code = gh_reply_integer(reply, 1);
    gh_status status = GH_PENDING;
    room->ask = SEND_NOTHING;
    switch (asked)
    {
    case SEND_RESERVE: send_reserved(send, reply); break;
    case SEND_PROBE:
        if (code != 0 || (uint64_t)gh_reply_integer(reply, 2) != room->probe_id)
            send_request(send, SEND_EVICT);
        else
            send_pause(send);
        break;
    case SEND_EVICT: break;
    case SEND_OPEN:
        status = send_opened(send, reply);
        if (status == GH_PENDING && room->finishing) send_finish(send);
        break;
    case SEND_SHOW:
        status = send_sealed(code);
        room->shown = true;
        break;
    case SEND_SEAL:
        status = send_sealed(code);
        room->sealed = true;
        break;
    case SEND_ANNOUNCE: room->announced = true; break;
    case SEND_NOTHING: break;
    }
    if (asked != SEND_RESERVE && asked != SEND_PROBE) send_moved(send);
    if (status != GH_PENDING) send_end(send, status);
    if (send_is_busy(send)) send_advance(send);
}

static void send_timer(gh_file_send* send)
{
    send_room* room = send->room;
    uint64_t now_us = gh_client_now(send->op.client);
    if (!send_is_waiting(send)) room->moved_us = now_us;
    if (room->pause_end_us != 0 && room->pause_end_us <= now_us)
    {
        room->pause_end_us = 0;
        send_advance(send);
    }
    if (!send_is_busy(send)) return;
    if (now_us - room->moved_us < room->config.progress_us)
        send_arm(send);
    else
        send_end(send, room->finishing && gh_op_maybe_done(&send->op) ? GH_UNKNOWN : GH_TIMEOUT);
}

static void send_step(gh_op* op, const gh_event* event)
{
    gh_file_send* send = send_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: send_replied(send, event->reply); break;
    case GH_EVENT_FAILED: send_end(send, event->status); break;
    case GH_EVENT_TIMER: send_timer(send); break;
    case GH_EVENT_CANCEL:
    case GH_EVENT_CLOSE: send_end(send, GH_CANCELLED); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET: break;
    }
}

static const gh_op_kind send_kind = {"files", send_step, send_encode, send_script, false, NULL};

/* ---- lanes --------------------------------------------------------------------------------------------- */

static gh_script* send_lane_script(gh_op* op)
{
    return gh_client_script(op->client, GH_SCRIPT_files_chunk);
}

static void send_lane_encode(gh_op* op, gh_request* request)
{
    const send_lane* lane = send_lane_of(op);
    const gh_file_send* send = lane->send;
    gh_request_script(request, send_lane_script(op), 4, 6);
    gh_request_object_keys(request, op->client, gh_files_kind(), send->name, "scoe");
    gh_request_op_token(request, &send->op);
    gh_request_number(request, op->sequence);
    gh_request_number(request, lane->number);
    gh_request_joined(request, gh_str_make((const char*)lane->digest.bytes, sizeof lane->digest.bytes),
                      gh_str_make(lane->bytes, lane->size));
    gh_files_encode_digest(request, &lane->upto);
    gh_request_op_token(request, op);
}

/* The chunk goes in the next tick. */
static void send_lane_defer(send_lane* lane)
{
    lane->state = SEND_LANE_READY;
    gh_op_timer(&lane->op, gh_client_now(lane->op.client) + 1);
}

/* Inside a tick: hands the chunk to the link, if the tick's budget has room for it. */
static void send_lane_ask(send_lane* lane)
{
    send_room* room = lane->send->room;
    uint64_t now_us = gh_client_now(lane->op.client);
    if (room->budget_now_us != now_us)
    {
        room->budget_now_us = now_us;
        room->budget_used = 0;
    }
    if (room->budget_used > 0 && room->budget_used + lane->size > room->config.tick_bytes)
    {
        send_lane_defer(lane);
        return;
    }
    room->budget_used += lane->size;
    lane->state = SEND_LANE_ASKED;
    lane->hinted = false;
    gh_op_timer(&lane->op, GH_FOREVER);
    gh_op_send(&lane->op, SEND_CHUNK_SHAPE, 0);
}

/* Inside a tick: those that are ready go in the order of the file. Behind one that the store has not taken,
   all would come too early. */
static void send_ask_ready(gh_file_send* send)
{
    uint64_t number;
    for (number = send->room->stored; number < send->room->filling; number++)
    {
        send_lane* lane = send_lane_at(send, number);
        if (lane->state == SEND_LANE_EARLY || lane->state == SEND_LANE_BLOCKED) return;
        if (lane->state == SEND_LANE_READY) send_lane_ask(lane);
        if (lane->state == SEND_LANE_READY) return; /* the tick's budget is used up */
    }
}

/* Those that came too early may go again. */
static void send_forgive_early(gh_file_send* send)
{
    uint32_t i;
    for (i = 0; i < send->room->config.lanes; i++)
    {
        send_lane* lane = &send->room->lanes[i];
        if (lane->state == SEND_LANE_EARLY) lane->state = SEND_LANE_READY;
    }
}

static void send_lane_stored(send_lane* lane)
{
    gh_file_send* send = lane->send;
    send_room* room = send->room;
    lane->state = SEND_LANE_FREE;
    send->stored_bytes += lane->size;
    send->is_full = false;
    if (room->stored <= lane->number) room->stored = lane->number + 1;
    lane->size = 0;
    lane->pauses = 0;
    send_moved(send);
    send_forgive_early(send);
    send_ask_ready(send);
    send_advance(send);
}

static void send_lane_pause(send_lane* lane, send_lane_state state)
{
    lane->state = (uint8_t)state;
    gh_op_timer(&lane->op, gh_client_after(lane->op.client, gh_files_pause(lane->pauses++)));
}

/* Too early: the one before it goes first. When that one is stored, we go again. */
static void send_lane_early(send_lane* lane)
{
    lane->state = SEND_LANE_EARLY;
    if (lane->send->room->stored != lane->number) return;
    if (lane->pauses >= SEND_EARLY_MAX)
        send_end(lane->send, GH_FILE_GONE); /* the store has forgotten what it had confirmed */
    else
        send_lane_pause(lane, SEND_LANE_EARLY);
}

/* The cap is reached. Readers can only make room when they know of the file. */
static void send_lane_full(send_lane* lane, bool again)
{
    gh_file_send* send = lane->send;
    send->is_full = !again;
    send->room->full_once = true;
    if (again || lane->hinted)
        send_lane_ask(lane);
    else
        send_lane_pause(lane, SEND_LANE_BLOCKED);
    if (again) send_moved(send);
    send_advance(send);
}

static void send_lane_replied(send_lane* lane, const gh_reply* reply)
{
    switch (gh_reply_integer(reply, 1))
    {
    case FILES_STORED: send_lane_stored(lane); break;
    case FILES_FULL: send_lane_full(lane, gh_reply_integer(reply, 3) != 0); break;
    case FILES_EARLY: send_lane_early(lane); break;
    case FILES_TAKEN: send_end(lane->send, GH_LOST); break;
    case FILES_GONE: send_end(lane->send, GH_FILE_GONE); break;
    case FILES_DIFFERS: send_end(lane->send, GH_FILE_DIFFERS); break;
    default: send_end(lane->send, GH_CORRUPT); break;
    }
}

static void send_lane_timer(send_lane* lane)
{
    if (lane->state == SEND_LANE_READY)
        send_ask_ready(lane->send);
    else
        send_lane_ask(lane);
}

static void send_lane_hinted(send_lane* lane)
{
    lane->hinted = true;
    if (lane->state == SEND_LANE_BLOCKED) send_lane_ask(lane);
}

static void send_lane_step(gh_op* op, const gh_event* event)
{
    send_lane* lane = send_lane_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: send_lane_replied(lane, event->reply); break;
    case GH_EVENT_FAILED: send_end(lane->send, event->status); break;
    case GH_EVENT_TIMER: send_lane_timer(lane); break;
    case GH_EVENT_HINT: send_lane_hinted(lane); break;
    case GH_EVENT_CLOSE: send_end(lane->send, GH_CANCELLED); break;
    case GH_EVENT_CANCEL: /* the main op is told as well */
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET: break;
    }
}

static const gh_op_kind send_lane_kind = {"files",          send_lane_step, send_lane_encode,
                                          send_lane_script, false,          NULL};

/* A chunk is complete. What was stored before it was opened is compared and let go. */
static void send_lane_complete(gh_file_send* send, send_lane* lane)
{
    send_room* room = send->room;
    gh_digest_add(&room->stream, lane->bytes, lane->size);
    lane->number = room->filling++;
    if (lane->number >= room->resumed)
    {
        lane->digest = gh_hash_digest(lane->bytes, lane->size);
        lane->upto = gh_digest_end(&room->stream);
        if (room->sealed)
            send_end(send, GH_FILE_DIFFERS); /* longer than what is there */
        else
            send_lane_defer(lane);
        return;
    }
    lane->size = 0;
    if (lane->number + 1 == room->resumed)
    {
        gh_digest upto = gh_digest_end(&room->stream);
        if (!gh_digest_equal(&upto, &room->expected)) send_end(send, GH_FILE_DIFFERS);
    }
}

/* ---- begin, push, finish ------------------------------------------------------------------------------- */

gh_status gh_file_send_begin(gh_file_send* op, gh_client* client, gh_str name,
                             const gh_file_send_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    void* user;
    uint32_t i;
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    status = gh_files_check_send(config);
    if (status != GH_OK) return status;
    if (gh_client_ops_room(client) < 1 + config->lanes) return GH_FULL;
    if (gh_client_out_room(client) < config->chunk_bytes + SEND_OUT_ROOM) return GH_FULL;
    user = op->user;
    memset(op, 0, sizeof *op);
    op->user = user;
    op->name = name;
    op->room = gh_files_carve_send(config);
    gh_digest_begin(&op->room->stream);
    gh_op_begin(&op->op, client, &send_kind);
    for (i = 0; i < config->lanes; i++)
    {
        op->room->lanes[i].send = op;
        gh_op_begin(&op->room->lanes[i].op, client, &send_lane_kind);
        gh_op_listen(&op->room->lanes[i].op);
    }
    send_moved(op);
    send_arm(op);
    send_advance(op);
    return GH_OK;
}

/* It is open, and there is room for it in its channel. */
static bool send_may_begin(const send_room* room)
{
    return room->opened && (room->reserved || room->config.channel.size == 0);
}

/* What push says of an op that is over. */
static gh_status send_ended(const gh_file_send* send)
{
    gh_status status = gh_op_poll(&send->op);
    return status == GH_OK ? GH_CLOSED : status;
}

gh_status gh_file_send_push(gh_file_send* op, gh_str bytes, size_t* taken)
{
    size_t at = 0;
    if (op == NULL) return GH_INVALID_OP;
    if (taken == NULL) return GH_INVALID_OUT;
    *taken = 0;
    if (bytes.bytes == NULL && bytes.size > 0) return GH_INVALID_BUFFER;
    if (!send_is_busy(op)) return send_ended(op);
    if (op->room->finishing) return GH_CLOSED;
    if (!send_may_begin(op->room)) return bytes.size == 0 ? GH_OK : GH_PENDING;
    while (at < bytes.size && send_is_busy(op))
    {
        send_lane* lane = send_lane_at(op, op->room->filling);
        size_t room = op->room->chunk_bytes - lane->size;
        size_t part = bytes.size - at < room ? bytes.size - at : room;
        if (lane->state != SEND_LANE_FREE) break;
        if (!send_is_waiting(op)) send_moved(op); /* what comes now has its whole time */
        memcpy(lane->bytes + lane->size, bytes.bytes + at, part);
        lane->size += (uint32_t)part;
        at += part;
        op->taken_bytes += part;
        if (lane->size == op->room->chunk_bytes) send_lane_complete(op, lane);
    }
    *taken = at;
    if (!send_is_busy(op)) return send_ended(op);
    return at == bytes.size ? GH_OK : GH_PENDING;
}

/* What was sealed before must be the same to the last byte. */
static void send_compare_whole(gh_file_send* send)
{
    gh_digest whole = gh_digest_end(&send->room->stream);
    if (send->taken_bytes != send->resumed_bytes || !gh_digest_equal(&whole, &send->room->expected))
        send_end(send, GH_FILE_DIFFERS);
}

static void send_finish(gh_file_send* send)
{
    send_lane* lane = send_lane_at(send, send->room->filling);
    if (lane->state == SEND_LANE_FREE && lane->size > 0) send_lane_complete(send, lane);
    if (send_is_busy(send) && send->room->sealed) send_compare_whole(send);
    if (!send_is_busy(send)) return;
    if (send->taken_bytes < send->resumed_bytes)
        send_end(send, GH_FILE_DIFFERS); /* shorter than what is there */
    else
        send_advance(send);
}

gh_status gh_file_send_finish(gh_file_send* op)
{
    if (op == NULL) return GH_INVALID_OP;
    if (!send_is_busy(op)) return gh_op_poll(&op->op);
    if (op->room->finishing) return GH_OK;
    if (!send_is_waiting(op)) send_moved(op);
    op->room->finishing = true;
    if (op->room->opened) send_finish(op);
    return send_is_busy(op) ? GH_OK : gh_op_poll(&op->op);
}

gh_status gh_file_send_poll(const gh_file_send* op)
{
    return op == NULL ? GH_IDLE : gh_op_poll(&op->op);
}

void gh_file_send_cancel(gh_file_send* op)
{
    if (send_is_busy(op)) send_end(op, GH_CANCELLED);
}
