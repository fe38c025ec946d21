/* files_read.c -- a reader of a file: one op that tells the store how far it is, and one for each chunk on
   its way.

   The chunks lie in lanes, a ring: chunk n is in lane n mod lanes, from the request for it until its last
   byte was given back. The main op opens the file, says every few chunks how far the caller is, asks for news
   when there is nothing more to fetch, and keeps the lease while the caller does its part. The calls of the
   caller (block, line) only move through what has arrived, see files_pull.c. */

#include "client/outcome.h"
#include "client/question.h"
#include "client/waiter.h"
#include "files_room.h"
#include "scripts/files_scripts.h"

#define READ_REPLY_ROOM 1024u /* of a reply besides the chunk */
#define READ_MISSES_MAX 3u    /* of one chunk that the store says is there */

static gh_file_read* read_of(gh_op* op)
{
    return (gh_file_read*)(void*)op;
}

static read_lane* read_lane_of(gh_op* op)
{
    return (read_lane*)(void*)((char*)op - offsetof(read_lane, op));
}

read_lane* gh_files_read_lane(const gh_file_read* read, uint64_t number)
{
    return &read->room->lanes[number % read->room->config.lanes];
}

bool gh_files_read_is_busy(const gh_file_read* read)
{
    return read != NULL && gh_op_is_at_work(&read->op);
}

void gh_files_read_end(gh_file_read* read, gh_status status)
{
    uint32_t i;
    for (i = 0; i < read->room->config.lanes; i++)
        if (gh_op_is_busy(&read->room->lanes[i].op)) gh_op_end(&read->room->lanes[i].op, status);
    gh_op_end(&read->op, status);
}

void gh_files_read_moved(gh_file_read* read)
{
    read->room->moved_us = gh_client_now(read->op.client);
}

/* Something has arrived that the caller may take: then it is its turn, not the store's. */
bool gh_files_read_has_something(const gh_file_read* read)
{
    const read_room* room = read->room;
    return room->at_end || room->in_chunk || room->text.size > 0 ||
           (room->at < room->wanted && gh_files_read_lane(read, room->at)->state == READ_LANE_ARRIVED);
}

/* ---- requests of the main op --------------------------------------------------------------------------- */

static gh_script* read_script(gh_op* op)
{
    bool withdraws = read_of(op)->room->ask == READ_WITHDRAW;
    return gh_client_script(op->client, withdraws ? &gh_files_withdraw_lua : &gh_files_read_lua);
}

/* What may go: with GH_FILE_AT_END, nothing before the end. */
static uint64_t read_offset_to_tell(const gh_file_read* read)
{
    if (read->room->ask == READ_DONE) return read->stored_bytes;
    return read->room->config.keep == GH_FILE_AT_END ? 0 : read->offset_bytes;
}

static void read_encode(gh_op* op, gh_request* request)
{
    const gh_file_read* read = read_of(op);
    const read_room* room = read->room;
    if (room->ask == READ_WITHDRAW)
    {
        gh_files_encode_withdraw(op, request, room->config.channel, gh_name_str(&read->name), read->id);
        return;
    }
    gh_request_object_script(request, op, gh_files_kind(), gh_name_str(&read->name), "scoe");
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&read->reader));
    gh_request_number(request, read_offset_to_tell(read));
    gh_request_number(request, room->ask == READ_DONE);
    gh_request_number(request, read->id != 0 ? read->id : room->config.id);
}

static void read_arm(gh_file_read* read)
{
    const read_room* room = read->room;
    uint64_t due_us = room->moved_us + room->config.progress_us;
    if (room->ask == READ_NOTHING && room->ask_us < due_us) due_us = room->ask_us;
    gh_op_timer(&read->op, due_us);
}

void gh_files_read_request(gh_file_read* read, read_ask ask)
{
    read->room->ask = (uint8_t)ask;
    read->room->pulled = false;
    gh_op_send(&read->op, read->room->doubted ? GH_OP_URGENT : 0);
    read_arm(read);
}

/* ---- lanes: what arrives is copied and verified -------------------------------------------------------- */

static void read_lane_encode(gh_op* op, gh_request* request)
{
    const read_lane* lane = read_lane_of(op);
    gh_request_array(request, 3);
    gh_request_str(request, gh_str_literal("HGET"));
    gh_request_object_keys(request, op->client, gh_files_kind(), gh_name_str(&lane->read->name), "c");
    gh_request_number(request, lane->number);
}

/* The chunk is asked for in the next tick. */
static void read_lane_defer(read_lane* lane)
{
    lane->state = READ_LANE_READY;
    gh_op_timer_after(&lane->op, 1);
}

/* Inside a tick. What is on its way is never more than the bytes of a tick, because all of it may arrive in
   one. */
static void read_lane_ask(read_lane* lane)
{
    read_room* room = lane->read->room;
    lane->state = READ_LANE_READY;
    gh_op_timer(&lane->op, GH_FOREVER);
    if (room->asked_bytes > 0 && room->asked_bytes + room->chunk_bytes > room->config.tick_bytes) return;
    room->asked_bytes += room->chunk_bytes;
    lane->state = READ_LANE_ASKED;
    gh_op_send(&lane->op, 0);
}

/* Those that waited for others to arrive. */
static void read_ask_waiting(gh_file_read* read)
{
    uint64_t number;
    for (number = read->room->at; number < read->room->wanted; number++)
    {
        read_lane* lane = gh_files_read_lane(read, number);
        if (lane->state == READ_LANE_READY) read_lane_ask(lane);
    }
}

/* Asks for all chunks that are there and have a free lane. */
void gh_files_read_fetch(gh_file_read* read, bool in_tick)
{
    read_room* room = read->room;
    while (room->wanted < room->chunks)
    {
        read_lane* lane = gh_files_read_lane(read, room->wanted);
        if (lane->state != READ_LANE_FREE) return;
        lane->number = room->wanted++;
        lane->misses = 0;
        if (in_tick) read_lane_ask(lane);
        else read_lane_defer(lane);
    }
}

/* The chunk is not there, although it was said to be: the news tell why. If they do not, it is asked for
   again. */
static void read_lane_missed(read_lane* lane)
{
    gh_file_read* read = lane->read;
    lane->state = READ_LANE_MISSED;
    if (++lane->misses > READ_MISSES_MAX) gh_files_read_end(read, GH_CORRUPT);
    else if (read->room->ask == READ_NOTHING) gh_files_read_request(read, READ_NEWS);
}

static uint32_t read_size_of(const gh_file_read* read, uint64_t number)
{
    uint64_t begin = number * read->room->chunk_bytes;
    uint64_t left = read->stored_bytes - begin;
    return left < read->room->chunk_bytes ? (uint32_t)left : read->room->chunk_bytes;
}

static void read_lane_replied(read_lane* lane, const gh_reply* reply)
{
    gh_file_read* read = lane->read;
    gh_digest digest;
    read->room->asked_bytes -= read->room->chunk_bytes;
    if (reply->type == GH_REPLY_NIL)
    {
        read_lane_missed(lane);
        return;
    }
    if (reply->type != GH_REPLY_STRING || reply->text.size != sizeof digest.bytes + read_size_of(read, lane->number))
    {
        gh_files_read_end(read, GH_CORRUPT);
        return;
    }
    lane->size = (uint32_t)(reply->text.size - sizeof digest.bytes);
    memcpy(lane->bytes, reply->text.bytes + sizeof digest.bytes, lane->size);
    digest = gh_hash_digest(lane->bytes, lane->size);
    if (memcmp(digest.bytes, reply->text.bytes, sizeof digest.bytes) != 0)
    {
        gh_files_read_end(read, GH_CORRUPT);
        return;
    }
    lane->state = READ_LANE_ARRIVED;
    gh_files_read_moved(read);
    read_ask_waiting(read);
}

static void read_lane_step(gh_op* op, const gh_event* event)
{
    read_lane* lane = read_lane_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: read_lane_replied(lane, event->reply); break;
    case GH_EVENT_FAILED: gh_files_read_end(lane->read, event->status); break;
    case GH_EVENT_TIMER: read_lane_ask(lane); break;
    case GH_EVENT_CLOSE: /* the main op is told as well, and ends this one */
    case GH_EVENT_CANCEL:
    case GH_EVENT_HINT:
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static const gh_op_kind read_lane_kind = {
    .name = "files", .step = read_lane_step, .encode = read_lane_encode, .effect = GH_OP_READS, .trees = gh_tree_read};

/* ---- the main op --------------------------------------------------------------------------------------- */

/* The first news: where to begin. GH_PENDING: go on. */
static gh_status read_opened(gh_file_read* read, uint64_t offset)
{
    read_room* room = read->room;
    if (room->config.keep == GH_FILE_AT_END && offset > 0) return GH_LOST; /* it was read with another config */
    if (room->config.format == GH_FILE_GZIP && offset > 0) return GH_LOST;
    if (room->chunk_bytes > room->config.chunk_bytes ||
        room->chunk_bytes + READ_REPLY_ROOM > gh_client_reply_bytes(read->op.client))
        return GH_TOO_SMALL;
    read->resumed_bytes = read->offset_bytes = room->given = room->told = offset;
    room->at = room->wanted = offset / room->chunk_bytes;
    room->hashing = offset == 0;
    room->opened = true;
    return GH_PENDING;
}

/* Takes the figures of a reply. GH_PENDING: go on. */
static gh_status read_noted(gh_file_read* read, const gh_reply* reply)
{
    read_room* room = read->room;
    uint64_t chunk_bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_CHUNK_BYTES);
    uint64_t chunks = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_CHUNKS);
    uint64_t bytes = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_BYTES);
    uint64_t offset = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_OFFSET);
    uint64_t lease_us = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_LEASE_US);
    bool is_sealed = gh_reply_integer(reply, GH_FILES_READ_SEALED) != 0;
    if (chunk_bytes == 0 || chunk_bytes > GH_FILE_CHUNK_MAX || (bytes + chunk_bytes - 1) / chunk_bytes != chunks)
        return GH_CORRUPT;
    if (lease_us < GH_FILE_LEASE_MIN_US || lease_us > GH_FILE_LEASE_MAX_US) return GH_CORRUPT; /* over when told */
    if (offset > bytes || (room->opened && chunk_bytes != room->chunk_bytes)) return GH_CORRUPT;
    if (bytes < read->stored_bytes) return GH_LOST; /* the store went back behind what it had */
    if (chunks > room->chunks || (is_sealed && !read->is_sealed)) gh_files_read_moved(read);
    read->id = (uint64_t)gh_reply_integer(reply, GH_FILES_READ_ID);
    read->stored_bytes = bytes;
    read->is_sealed = is_sealed;
    room->chunks = chunks;
    room->chunk_bytes = (uint32_t)chunk_bytes;
    room->lease_us = lease_us;
    if (is_sealed && !gh_files_parse_digest(gh_reply_text(reply, GH_FILES_READ_DIGEST), &room->whole))
        return GH_CORRUPT;
    if (!room->opened) return read_opened(read, offset);
    if (offset > room->given) return GH_LOST; /* another of our name has read on, and what we need may be gone */
    if (offset > room->told) room->told = offset;
    return GH_PENDING;
}

/* When to ask for news: soon, when all that is there was fetched and there is more to come; else when the
   lease wants it. */
static void read_plan(gh_file_read* read)
{
    read_room* room = read->room;
    gh_client* client = read->op.client;
    if (!room->opened || (!read->is_sealed && room->wanted >= room->chunks))
    {
        room->ask_us = gh_client_after(client, gh_client_jitter(client, gh_question_pause(room->pauses++)));
    }
    else
    {
        room->pauses = 0;
        room->ask_us = gh_client_after(client, room->lease_us / 3);
    }
}

/* Chunks that were missing are asked for again, now that the news have not explained it. */
static void read_ask_missing(gh_file_read* read)
{
    uint32_t i;
    for (i = 0; i < read->room->config.lanes; i++)
    {
        read_lane* lane = &read->room->lanes[i];
        if (lane->state == READ_LANE_MISSED) read_lane_ask(lane);
    }
}

static gh_status read_ending_of(int64_t code)
{
    switch (code)
    {
    case GH_FILES_READ_GONE: return GH_GONE;
    case GH_FILES_READ_NO_READER: return GH_NOT_MEMBER;
    case GH_FILES_READ_NOT_YET: /* of a file that we read already: */
    case GH_FILES_READ_BEYOND:  /* the store went back behind what we had of it */
    case GH_FILES_READ_GIVEN_UP: return GH_LOST;
    default: return GH_CORRUPT;
    }
}

/* This reader has ended; if it was the last, the file leaves its channel. What the caller hears, hangs on
   `done`. */
static void read_ended(gh_file_read* read, uint64_t id, bool is_last)
{
    read->id = id;
    if (is_last && read->room->config.channel.size > 0) gh_files_read_request(read, READ_WITHDRAW);
    else gh_files_read_end(read, read->room->done ? GH_OK : GH_EXISTS);
}

/* The answer to news. */
static void read_news(gh_file_read* read, const gh_reply* reply)
{
    read_room* room = read->room;
    uint64_t chunks = room->chunks;
    gh_status status = read_noted(read, reply);
    if (status != GH_PENDING)
    {
        gh_files_read_end(read, status);
        return;
    }
    if (room->chunks > chunks) room->pauses = 0;
    read_ask_missing(read);
    gh_files_read_fetch(read, true);
    if (room->done) gh_files_read_request(read, READ_DONE);
    else read_plan(read);
}

/* The store goes on to wait for us, at least as long as that, counted from when it was asked. */
static void read_keep_lease(gh_file_read* read, uint64_t sent_us)
{
    read->room->lapsed = false;
    gh_op_lease(&read->op, gh_lease_end(read->room->lease_us, sent_us, read->room->lease_us));
}

static void read_replied(gh_file_read* read, const gh_reply* reply, uint64_t sent_us)
{
    read_room* room = read->room;
    read_ask asked = (read_ask)room->ask;
    int64_t code = gh_reply_integer(reply, GH_FILES_READ_CODE);
    room->ask = READ_NOTHING;
    room->doubted = false;
    if (asked == READ_WITHDRAW) gh_files_read_end(read, room->done ? GH_OK : GH_EXISTS);
    else if (code == GH_FILES_READ_DONE_BEFORE || (code == GH_FILES_READ_NOTED && asked == READ_DONE))
        read_ended(read, (uint64_t)gh_reply_integer(reply, GH_FILES_READ_ID),
                   gh_reply_integer(reply, GH_FILES_READ_LEFT) == 0);
    else if (code == GH_FILES_READ_NOT_YET && !room->opened) read_plan(read);
    else if (code != GH_FILES_READ_NOTED) gh_files_read_end(read, read_ending_of(code));
    else read_news(read, reply);
    if (!gh_files_read_is_busy(read)) return;
    if (asked == READ_NEWS && code == GH_FILES_READ_NOTED) read_keep_lease(read, sent_us);
    read_arm(read);
}

/* Perhaps the store waits for us no more: it is asked at once, before others ask it for other things. */
static void read_doubt(gh_file_read* read)
{
    read->room->doubted = true;
    if (read->room->ask == READ_NOTHING && gh_files_read_has_something(read)) gh_files_read_moved(read);
    if (read->room->ask == READ_NOTHING || read->room->ask == READ_NEWS) gh_files_read_request(read, READ_NEWS);
}

/* Nothing is handed out before the store says that it goes on. A caller that lets all lie asks when it comes back. */
static void read_lapse(gh_file_read* read)
{
    read->room->lapsed = true;
    if (read->room->ask_us != GH_FOREVER) read_doubt(read);
}

/* How it ends that gives up now. Where it is, a reader can say again; that it is done is what matters. Once it is, and
   only its channel does not know, it is not undone any more. */
static gh_status read_judge(const gh_file_read* read, gh_reason reason)
{
    if (read->room->ask == READ_WITHDRAW) return gh_outcome(reason, GH_KNOWN_MAYBE, GH_OP_CHANGES);
    return read->room->ask == READ_DONE ? gh_op_outcome(&read->op, reason)
                                        : gh_outcome(reason, GH_KNOWN_UNSENT, GH_OP_CHANGES);
}

/* A file that still stands in its channel though all are done with it, is found by those who need the room. */
static void read_failed(gh_file_read* read, gh_status status)
{
    if (read->room->ask != READ_WITHDRAW)
    {
        gh_files_read_end(read, status);
        return;
    }
    gh_op_warn(&read->op, "a file that was read by all still stands in its channel: ", gh_name_str(&read->name));
    gh_files_read_end(read, read->room->done ? GH_OK : GH_EXISTS);
}

static void read_timer(gh_file_read* read)
{
    read_room* room = read->room;
    uint64_t now_us = gh_client_now(read->op.client);
    if (room->ask == READ_NOTHING && gh_files_read_has_something(read)) room->moved_us = now_us;
    if (now_us - room->moved_us >= room->config.progress_us)
    {
        gh_files_read_end(read, read_judge(read, GH_REASON_DEADLINE));
        return;
    }
    if (room->ask == READ_NOTHING && room->ask_us <= now_us)
    {
        /* A caller that lets all lie that is there does not keep its lease: others wait for it. */
        if (room->pulled || !gh_files_read_has_something(read)) gh_files_read_request(read, READ_NEWS);
        else room->ask_us = GH_FOREVER;
    }
    read_arm(read);
}

/* That we are done may have been heard: then the answer is waited for. */
static void read_cancel(gh_file_read* read)
{
    const read_room* room = read->room;
    if (room->ask == READ_WITHDRAW || (room->ask == READ_DONE && gh_op_maybe_done(&read->op))) return;
    gh_files_read_end(read, read_judge(read, GH_REASON_CANCEL));
}

static void read_step(gh_op* op, const gh_event* event)
{
    gh_file_read* read = read_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: read_replied(read, event->reply, event->sent_us); break;
    case GH_EVENT_FAILED: read_failed(read, event->status); break;
    case GH_EVENT_TIMER: read_timer(read); break;
    case GH_EVENT_CANCEL: read_cancel(read); break;
    case GH_EVENT_CLOSE: gh_files_read_end(read, read_judge(read, GH_REASON_CANCEL)); break;
    case GH_EVENT_LAPSED: read_lapse(read); break;
    case GH_EVENT_DOUBT: read_doubt(read); break;
    case GH_EVENT_HINT:
    case GH_EVENT_RESET:
    case GH_EVENT_CHILD: break;
    }
}

static const gh_op_kind read_kind = {
    .name = "files", .step = read_step, .encode = read_encode, .script = read_script, .effect = GH_OP_CHANGES};

/* ---- begin --------------------------------------------------------------------------------------------- */

/* GH_INVALID_FORMAT if the zlib of this build wants more memory than any that we know. */
static gh_status read_set_up(gh_file_read* read, const gh_file_read_config* config)
{
    read_room* room = gh_files_carve_read(config);
    room->ask_us = GH_FOREVER;
    read->room = room;
    gh_digest_begin(&room->stream);
    if (config->format != GH_FILE_GZIP) return GH_OK;
    room->inflate = gh_inflate_begin(room->inflate_memory);
    return room->inflate == NULL ? GH_INVALID_FORMAT : GH_OK;
}

static gh_status file_read_try(gh_file_read* op, gh_client* client, gh_str name, gh_str reader,
                               const gh_file_read_config* config)
{
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    uint32_t i;
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(name)) return GH_INVALID_NAME;
    if (!gh_name_is_valid(reader)) return GH_INVALID_READERS;
    status = gh_files_check_read(config, client);
    if (status != GH_OK) return status;
    if (gh_client_ops_room(client) < 1 + config->lanes) return GH_NO_ROOM;
    gh_op_clear(&op->op, sizeof *op);
    gh_name_keep(&op->name, name);
    gh_name_keep(&op->reader, reader);
    status = read_set_up(op, config);
    if (status != GH_OK) return status;
    gh_op_begin(&op->op, client, &read_kind);
    for (i = 0; i < config->lanes; i++)
    {
        op->room->lanes[i].read = op;
        gh_op_begin(&op->room->lanes[i].op, client, &read_lane_kind);
    }
    gh_files_read_moved(op);
    gh_files_read_request(op, READ_NEWS);
    return GH_OK;
}

gh_status gh_file_read_begin(gh_file_read* op, gh_client* client, gh_str name, gh_str reader,
                             const gh_file_read_config* config)
{
    return gh_op_begun((gh_op*)op, client, file_read_try(op, client, name, reader, config));
}
