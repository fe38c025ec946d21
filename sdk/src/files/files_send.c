/* files_send.c -- the sender of a file: its main op, which looks after everything that is asked once: room in the
   channel, the opening, the seal, the announcement. What it asks next follows from what is known, see
   send_advance.

       files_push.c        the caller's side: what it pushes becomes chunks
       files_send_lanes.c  chunks on their way, each with an op of its own */

#include "client/outcome.h"
#include "client/question.h"
#include "files_room.h"
#include "scripts/files_scripts.h"

#define SEND_OUT_ROOM 8192u /* of a request besides the chunk: the readers' names, keys, digests */

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

static gh_file_send* send_of(gh_op* op)
{
    return (gh_file_send*)(void*)op;
}

bool gh_files_send_is_busy(const gh_file_send* send)
{
    return send != NULL && gh_op_is_at_work(&send->op);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

void gh_files_send_end(gh_file_send* send, gh_status status)
{
    uint32_t i;
    for (i = 0; i < send->room->config.lanes; i++)
        if (gh_op_is_busy(&send->room->lanes[i].op)) gh_op_end(&send->room->lanes[i].op, status);
    gh_op_end(&send->op, status);
}

/* Whether it is the store's turn, or that of others who fill the channel. While only the caller's push is waited for,
   there is no time-out. */
bool gh_files_send_is_waiting(const gh_file_send* send)
{
    const send_room* room = send->room;
    uint32_t i;
    if (!room->opened || room->ask != SEND_NOTHING || room->finishing || room->pause_end_us != 0) return true;
    for (i = 0; i < room->config.lanes; i++)
        if (room->lanes[i].state != SEND_LANE_FREE) return true;
    return false;
}

/* ---- requests of the main op --------------------------------------------------------------------------- */

static gh_script* send_script(gh_op* op)
{
    static const gh_script_text* const scripts[] = {
        [SEND_NOTHING] = &gh_files_look_lua, [SEND_RESERVE] = &gh_files_reserve_lua,
        [SEND_PROBE] = &gh_files_look_lua,   [SEND_EVICT] = &gh_files_withdraw_lua,
        [SEND_OPEN] = &gh_files_open_lua,    [SEND_SHOW] = &gh_files_seal_lua,
        [SEND_SEAL] = &gh_files_seal_lua,    [SEND_ANNOUNCE] = &gh_files_reserve_lua};
    return gh_client_script(op->client, scripts[send_of(op)->room->ask]);
}

static void send_encode_open(gh_file_send* send, gh_request* request)
{
    const gh_file_send_config* config = &send->room->config;
    size_t i;
    gh_request_op_script(request, &send->op, 0, (uint32_t)config->reader_count);
    gh_request_object_keys(request, send->op.client, gh_files_kind(), gh_name_str(&send->name), "scoe");
    if (gh_request_is_route(request)) return;
    gh_request_op_id(request, &send->op);
    gh_request_number(request, config->chunk_bytes);
    gh_request_number(request, config->cap_bytes);
    gh_request_number(request, config->lease_us);
    gh_request_number(request, config->abandoned_us);
    gh_request_number(request, gh_op_not_after(&send->op));
    for (i = 0; i < config->reader_count; i++) gh_request_str(request, config->readers[i]);
}

static void send_encode_reserve(gh_file_send* send, gh_request* request)
{
    const gh_file_send_config* config = &send->room->config;
    uint64_t bytes =
        config->size_bytes > 0 && config->size_bytes < config->cap_bytes ? config->size_bytes : config->cap_bytes;
    gh_request_object_script(request, &send->op, gh_files_channel_kind(), config->channel, "sflh");
    gh_request_number(request, send->op.sequence);
    gh_request_str(request, gh_name_str(&send->name));
    gh_request_number(request, bytes);
    gh_request_number(request, config->channel_bytes);
    gh_request_number(request, send->id);
    gh_request_number(request, send->room->ask == SEND_ANNOUNCE);
    gh_request_number(request, gh_op_not_after(&send->op));
}

static void send_encode_probe(gh_file_send* send, gh_request* request)
{
    const send_room* room = send->room;
    gh_str probe = gh_str_make(room->probe, room->probe_size);
    if (room->ask == SEND_PROBE)
    {
        gh_request_object_script(request, &send->op, gh_files_kind(), probe, "so");
        gh_request_number(request, send->op.sequence);
        return;
    }
    gh_files_encode_withdraw(&send->op, request, room->config.channel, probe, room->probe_id);
}

static void send_encode_seal(gh_file_send* send, gh_request* request)
{
    gh_digest digest;
    gh_request_object_script(request, &send->op, gh_files_kind(), gh_name_str(&send->name), "scoe");
    if (gh_request_is_route(request)) return;
    digest = gh_digest_end(&send->room->stream);
    gh_request_op_id(request, &send->op);
    gh_request_number(request, send->room->ask == SEND_SEAL);
    gh_request_number(request, send->taken_bytes);
    gh_request_digest(request, &digest);
}

static void send_encode(gh_op* op, gh_request* request)
{
    gh_file_send* send = send_of(op);
    switch (gh_request_is_sum(request) ? SEND_OPEN : (send_ask)send->room->ask) /* which names the readers */
    {
    case SEND_OPEN: send_encode_open(send, request); break;
    case SEND_RESERVE:
    case SEND_ANNOUNCE: send_encode_reserve(send, request); break;
    case SEND_PROBE:
    case SEND_EVICT: send_encode_probe(send, request); break;
    case SEND_SHOW:
    case SEND_SEAL: send_encode_seal(send, request); break;
    case SEND_NOTHING:
        GH_INVARIANT(op->client, false);
        request->full = true;
        break;
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
    send->room->ask = (uint8_t)ask;
    gh_op_send(&send->op, 0);
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
    if (!room->opened) send_request(send, SEND_OPEN);
    else if (has_channel && !room->reserved) send_request(send, SEND_RESERVE);
    else if (!room->shown && !room->sealed && (room->config.stream || room->full_once)) send_request(send, SEND_SHOW);
    else if (has_channel && (room->shown || room->sealed) && !room->announced) send_request(send, SEND_ANNOUNCE);
    else if (room->finishing && !room->sealed && send_all_stored(send)) send_request(send, SEND_SEAL);
    else if (room->finishing && room->sealed) gh_files_send_end(send, GH_OK);
}

/* What was sealed before must be the same to the last byte. */
static bool send_is_same(gh_file_send* send)
{
    gh_digest whole = gh_digest_end(&send->room->stream);
    return send->taken_bytes == send->resumed_bytes && gh_digest_equal(&whole, &send->room->expected);
}

/* The last chunk is complete: GH_PENDING, or how the sender ends. */
static gh_status send_complete_last(gh_file_send* send)
{
    send_lane* lane = gh_files_send_lane(send, send->room->filling);
    gh_status status = GH_PENDING;
    if (lane->state == SEND_LANE_FREE && lane->size > 0) status = gh_files_send_lane_complete(send, lane);
    if (status == GH_PENDING && send->room->sealed && !send_is_same(send)) status = GH_DIFFERS;
    if (status == GH_PENDING && send->taken_bytes < send->resumed_bytes) status = GH_DIFFERS; /* shorter than that */
    return status;
}

void gh_files_send_wrap_up(gh_file_send* send)
{
    const gh_status status = send_complete_last(send);
    if (status != GH_PENDING) gh_files_send_end(send, status);
    else send_advance(send);
}

static gh_status send_opened(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    const int64_t code = gh_reply_integer(reply, GH_FILES_OPEN_CODE);
    const int64_t shown = gh_reply_integer(reply, GH_FILES_OPEN_SHOWN);
    const uint64_t id = (uint64_t)gh_reply_integer(reply, GH_FILES_OPEN_ID);
    uint64_t chunk_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_OPEN_CHUNK_BYTES);
    gh_str digest = gh_reply_text(reply, GH_FILES_OPEN_DIGEST);
    if (code == GH_FILES_OPEN_STALE)
    {
        gh_op_note_store_time(&send->op, id);
        return GH_PENDING; /* it is asked again */
    }
    if (code == GH_FILES_OPEN_OTHER_READERS) return GH_DIFFERS;
    if (code == GH_FILES_OPEN_TAKEN) return GH_LOST;
    if (chunk_bytes == 0 || chunk_bytes > GH_FILE_CHUNK_MAX) return GH_CORRUPT;
    if (chunk_bytes > room->config.chunk_bytes) return GH_TOO_SMALL;
    room->resumed = (uint64_t)gh_reply_integer(reply, GH_FILES_OPEN_CHUNKS);
    if (digest.size > 0 ? !gh_files_parse_digest(digest, &room->expected) : room->resumed > 0) return GH_CORRUPT;
    room->stored = room->resumed;
    room->chunk_bytes = (uint32_t)chunk_bytes;
    room->sealed = code == GH_FILES_OPEN_SEALED;
    room->shown = shown != GH_FILES_OPEN_HIDDEN;
    room->reserved = room->announced = shown == GH_FILES_OPEN_ENDED; /* nobody would come for it */
    room->opened = true;
    send->id = id;
    send->resumed_bytes = send->stored_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_OPEN_BYTES);
    return GH_PENDING;
}

static void send_pause(gh_file_send* send)
{
    send_room* room = send->room;
    uint64_t pause_us = gh_client_jitter(send->op.client, gh_question_pause(room->pauses++));
    room->pause_end_us = gh_client_after(send->op.client, pause_us);
    send_arm(send);
}

/* If the channel is full: a file in it may have gone without a word, because all its readers or its sender
   have. */
static void send_reserved(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    const int64_t code = gh_reply_integer(reply, GH_FILES_RESERVE_CODE);
    gh_str probe = gh_reply_text(reply, GH_FILES_RESERVE_PROBE);
    if (code == GH_FILES_RESERVE_STALE)
    {
        gh_op_note_store_time(&send->op, (uint64_t)gh_reply_integer(reply, GH_FILES_RESERVE_NUMBER));
        return;
    }
    if (code == GH_FILES_RESERVE_DONE)
    {
        room->reserved = true;
        gh_files_send_moved(send);
        return;
    }
    room->probe_id = (uint64_t)gh_reply_integer(reply, GH_FILES_RESERVE_PROBE_ID);
    if (!gh_name_is_valid(probe))
    {
        send_pause(send);
        return;
    }
    memcpy(room->probe, probe.bytes, probe.size);
    room->probe_size = (uint32_t)probe.size;
    send_request(send, SEND_PROBE);
}

/* A file that is not there any more, or has all its readers behind it, or is another one, takes up room for nothing. */
static void send_probed(gh_file_send* send, const gh_reply* reply)
{
    const uint64_t id = (uint64_t)gh_reply_integer(reply, GH_FILES_LOOK_ID);
    const bool is_there = gh_reply_integer(reply, GH_FILES_LOOK_CODE) == GH_FILES_LOOK_THERE;
    if (is_there && id == send->room->probe_id) send_pause(send);
    else send_request(send, SEND_EVICT);
}

/* The answer of files_seal.lua as the end of the op, or GH_PENDING. */
static gh_status send_sealed(const gh_reply* reply)
{
    switch (gh_reply_integer(reply, GH_FILES_SEAL_CODE))
    {
    case GH_FILES_SEAL_DONE: return GH_PENDING;
    case GH_FILES_SEAL_TAKEN: return GH_LOST;
    case GH_FILES_SEAL_EARLY: /* the store has forgotten what it had confirmed */
    case GH_FILES_SEAL_GONE: return GH_GONE;
    case GH_FILES_SEAL_DIFFERS: return GH_DIFFERS;
    default: return GH_CORRUPT;
    }
}

/* An announcement that came too late is asked for again. */
static void send_announced(gh_file_send* send, const gh_reply* reply)
{
    const uint64_t number = (uint64_t)gh_reply_integer(reply, GH_FILES_RESERVE_NUMBER);
    send->room->announced = gh_reply_integer(reply, GH_FILES_RESERVE_CODE) != GH_FILES_RESERVE_STALE;
    if (!send->room->announced) gh_op_note_store_time(&send->op, number);
}

static void send_replied(gh_file_send* send, const gh_reply* reply)
{
    send_room* room = send->room;
    send_ask asked = (send_ask)room->ask;
    gh_status status = GH_PENDING;
    room->ask = SEND_NOTHING;
    switch (asked)
    {
    case SEND_RESERVE: send_reserved(send, reply); break;
    case SEND_PROBE: send_probed(send, reply); break;
    case SEND_EVICT: break;
    case SEND_OPEN:
        status = send_opened(send, reply);
        if (status == GH_PENDING && room->opened && room->finishing) gh_files_send_wrap_up(send);
        break;
    case SEND_SHOW:
        status = send_sealed(reply);
        room->shown = true;
        break;
    case SEND_SEAL:
        status = send_sealed(reply);
        room->sealed = room->sealed_now = true;
        break;
    case SEND_ANNOUNCE: send_announced(send, reply); break;
    case SEND_NOTHING: break;
    }
    if (status != GH_PENDING) gh_files_send_end(send, status);
    if (!gh_files_send_is_busy(send)) return;
    if (asked != SEND_RESERVE && asked != SEND_PROBE) gh_files_send_moved(send);
    send_advance(send);
}

/* A file that is announced before it is sealed is not at its end by that. */
static bool send_is_ending(const gh_file_send* send)
{
    const send_room* room = send->room;
    return room->ask == SEND_SEAL || (room->ask == SEND_ANNOUNCE && room->sealed);
}

/* How it ends that gives up now. What is stored for a later sender to go on with is not what this one was begun for:
   only the seal and the announcement may have been done. */
static gh_status send_judge(const gh_file_send* send, gh_reason reason)
{
    if (send->room->sealed_now) return gh_outcome(reason, GH_KNOWN_MAYBE, GH_OP_CHANGES);
    return send_is_ending(send) ? gh_op_outcome(&send->op, reason) : gh_outcome(reason, GH_KNOWN_UNSENT, GH_OP_CHANGES);
}

/* That all is there may have been heard: then the answer is waited for. */
static void send_cancel(gh_file_send* send)
{
    if (send->room->sealed_now || (send_is_ending(send) && gh_op_maybe_done(&send->op))) return;
    gh_files_send_end(send, send_judge(send, GH_REASON_CANCEL));
}

static void send_timer(gh_file_send* send)
{
    send_room* room = send->room;
    uint64_t now_us = gh_client_now(send->op.client);
    if (!gh_files_send_is_waiting(send)) room->moved_us = now_us;
    if (room->pause_end_us != 0 && room->pause_end_us <= now_us)
    {
        room->pause_end_us = 0;
        send_advance(send);
    }
    if (!gh_files_send_is_busy(send)) return;
    if (now_us - room->moved_us < room->config.progress_us) send_arm(send);
    else gh_files_send_end(send, send_judge(send, GH_REASON_DEADLINE));
}

/* A file of somebody else that is spoilt takes up its room like one that is read: others in the channel may go. */
static void send_failed(gh_file_send* send, gh_status status)
{
    send_room* room = send->room;
    if (room->ask != SEND_PROBE || status != GH_CORRUPT)
    {
        gh_files_send_end(send, room->sealed_now ? GH_UNKNOWN : status);
        return;
    }
    gh_op_warn(&send->op, "a file in the channel is not of the form that KEYS.md describes: ",
               gh_str_make(room->probe, room->probe_size));
    room->ask = SEND_NOTHING;
    send_pause(send);
}

/* A chunk is stored, or cannot be. */
static void send_lane_moved(gh_file_send* send)
{
    if (send->room->verdict != GH_PENDING) gh_files_send_end(send, send->room->verdict);
    else send_advance(send);
}

static void send_step(gh_op* op, const gh_event* event)
{
    gh_file_send* send = send_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: send_replied(send, event->reply); break;
    case GH_EVENT_FAILED: send_failed(send, event->status); break;
    case GH_EVENT_TIMER: send_timer(send); break;
    case GH_EVENT_CHILD: send_lane_moved(send); break;
    case GH_EVENT_CANCEL: send_cancel(send); break;
    case GH_EVENT_CLOSE: gh_files_send_end(send, send_judge(send, GH_REASON_CANCEL)); break;
    case GH_EVENT_LAPSED:
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT: break;
    }
}

static const gh_op_kind send_kind = {.name = "files",
                                     .borrows = true,
                                     .step = send_step,
                                     .encode = send_encode,
                                     .script = send_script,
                                     .effect = GH_OP_CHANGES,
                                     .owner_link = offsetof(gh_file_send, next_owner)};

/* ---- begin --------------------------------------------------------------------------------------------- */

static gh_status file_send_try(gh_file_send* op, gh_client* client, gh_str name, const gh_file_send_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    uint32_t i;
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    status = gh_files_check_send(config, client);
    if (status != GH_OK) return status;
    if (gh_client_ops_room(client) < 1 + config->lanes) return GH_NO_ROOM;
    if (gh_client_out_room(client) < config->chunk_bytes + SEND_OUT_ROOM) return GH_TOO_LARGE;
    gh_op_clear(&op->op, sizeof *op);
    gh_name_keep(&op->name, name);
    op->room = gh_files_carve_send(config);
    op->room->verdict = GH_PENDING;
    gh_digest_begin(&op->room->stream);
    gh_op_begin(&op->op, client, &send_kind);
    for (i = 0; i < config->lanes; i++)
    {
        op->room->lanes[i].send = op;
        gh_op_begin(&op->room->lanes[i].op, client, &gh_files_send_lane_kind);
        gh_op_listen(&op->room->lanes[i].op);
    }
    gh_files_send_moved(op);
    send_arm(op);
    send_advance(op);
    return GH_OK;
}

gh_status gh_file_send_begin(gh_file_send* op, gh_client* client, gh_str name, const gh_file_send_config* config)
{
    return gh_op_begun((gh_op*)op, client, file_send_try(op, client, name, config));
}
