/* files_send_lanes.c -- the chunks of a sender on their way, one op for each.

   They lie in lanes, a ring: chunk n is in lane n mod lanes, from its first byte until the store has confirmed it. The
   store takes chunks in order, so they go in order; one that comes too early all the same, because an earlier one had
   to go again, waits in its lane until that one is confirmed. */

#include "files_room.h"

#include "client/question.h"
#include "scripts/files_scripts.h"

#define SEND_EARLY_MAX 16u /* a chunk that is refused as too early although the one before it is stored */

static send_lane* send_lane_of(gh_op* op)
{
    return (send_lane*)(void*)((char*)op - offsetof(send_lane, op));
}

send_lane* gh_files_send_lane(const gh_file_send* send, uint64_t number)
{
    return &send->room->lanes[number % send->room->config.lanes];
}

static void send_lane_encode(gh_op* op, gh_request* request)
{
    const send_lane* lane = send_lane_of(op);
    const gh_file_send* send = lane->send;
    gh_request_object_script(request, op, gh_files_kind(), gh_name_str(&send->name), "scoe");
    if (gh_request_is_route(request)) return;
    gh_request_op_token(request, &send->op);
    gh_request_number(request, op->sequence);
    gh_request_number(request, lane->number);
    gh_request_joined(request, gh_str_make((const char*)lane->digest.bytes, sizeof lane->digest.bytes),
                      gh_str_make(lane->bytes, lane->size));
    gh_request_digest(request, &lane->upto);
    gh_request_op_token(request, op);
}

/* The chunk goes in the next tick. */
static void send_lane_defer(send_lane* lane)
{
    lane->state = SEND_LANE_READY;
    gh_op_timer_after(&lane->op, 1);
}

/* Inside a tick: hands the chunk to the link. What is on its way is never more than the bytes of a tick, because all of
   it goes in one when the link is back, or the text of the script is there. */
static void send_lane_ask(send_lane* lane)
{
    send_room* room = lane->send->room;
    lane->state = SEND_LANE_READY;
    gh_op_timer(&lane->op, GH_FOREVER);
    if (room->asked_bytes > 0 && room->asked_bytes + lane->size > room->config.tick_bytes) return;
    room->asked_bytes += lane->size;
    lane->state = SEND_LANE_ASKED;
    gh_op_send(&lane->op, 0);
}

/* Inside a tick: those that are ready go in the order of the file. Behind one that the store has not taken,
   all would come too early. */
static void send_ask_ready(gh_file_send* send)
{
    uint64_t number;
    for (number = send->room->stored; number < send->room->filling; number++)
    {
        send_lane* lane = gh_files_send_lane(send, number);
        if (lane->state == SEND_LANE_EARLY || lane->state == SEND_LANE_BLOCKED) return;
        if (lane->state == SEND_LANE_READY) send_lane_ask(lane);
        if (lane->state == SEND_LANE_READY) return; /* until an answer makes room */
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

/* The sender cannot go on: it ends when it hears of that. */
static void send_lane_give_up(send_lane* lane, gh_status status)
{
    lane->send->room->verdict = status;
    gh_op_tell_owner(&lane->op);
}

static void send_lane_stored(send_lane* lane)
{
    gh_file_send* send = lane->send;
    send_room* room = send->room;
    lane->state = SEND_LANE_FREE;
    send->stored_bytes += lane->size;
    send->is_full = false;
    if (room->stored <= lane->number) room->stored = lane->number + 1;
    room->stored_us = gh_client_now(lane->op.client);
    lane->size = 0;
    lane->pauses = 0;
    gh_files_send_moved(send);
    send_forgive_early(send);
    send_ask_ready(send);
    gh_op_tell_owner(&lane->op);
}

static void send_lane_pause(send_lane* lane, send_lane_state state)
{
    lane->state = (uint8_t)state;
    gh_op_timer_after(&lane->op, gh_question_pause(lane->pauses++));
}

/* Too early: the one before it goes first. When that one is stored, we go again. What was asked before the last chunk
   was confirmed says nothing of that one: in a Cluster two servers may have answered. */
static void send_lane_early(send_lane* lane, uint64_t next, uint64_t sent_us)
{
    const send_room* room = lane->send->room;
    lane->state = SEND_LANE_EARLY;
    if (next < room->stored && sent_us >= room->stored_us) /* the store has forgotten what it had confirmed */
    {
        send_lane_give_up(lane, GH_GONE);
        return;
    }
    if (room->stored != lane->number) return;
    if (next < room->stored) send_lane_ask(lane);
    else if (lane->pauses >= SEND_EARLY_MAX) send_lane_give_up(lane, GH_GONE);
    else send_lane_pause(lane, SEND_LANE_EARLY);
}

/* The cap is reached. Readers can only make room when they know of the file. */
static void send_lane_full(send_lane* lane, bool again)
{
    gh_file_send* send = lane->send;
    send->is_full = !again;
    send->room->full_once = true;
    if (again) send_lane_ask(lane);
    else send_lane_pause(lane, SEND_LANE_BLOCKED);
    if (again) gh_files_send_moved(send);
    gh_op_tell_owner(&lane->op);
}

static void send_lane_replied(send_lane* lane, const gh_reply* reply, uint64_t sent_us)
{
    const uint64_t chunks = (uint64_t)gh_reply_integer(reply, GH_FILES_CHUNK_CHUNKS);
    lane->send->room->asked_bytes -= lane->size;
    switch (gh_reply_integer(reply, GH_FILES_CHUNK_CODE))
    {
    case GH_FILES_CHUNK_STORED: send_lane_stored(lane); break;
    case GH_FILES_CHUNK_FULL: send_lane_full(lane, gh_reply_integer(reply, GH_FILES_CHUNK_AGAIN) != 0); break;
    case GH_FILES_CHUNK_EARLY: send_lane_early(lane, chunks, sent_us); break;
    case GH_FILES_CHUNK_TAKEN: send_lane_give_up(lane, GH_LOST); break;
    case GH_FILES_CHUNK_GONE: send_lane_give_up(lane, GH_GONE); break;
    case GH_FILES_CHUNK_DIFFERS: send_lane_give_up(lane, GH_DIFFERS); break;
    default: send_lane_give_up(lane, GH_CORRUPT); break;
    }
}

static void send_lane_timer(send_lane* lane)
{
    if (lane->state == SEND_LANE_READY) send_ask_ready(lane->send);
    else send_lane_ask(lane);
}

static void send_lane_hinted(send_lane* lane)
{
    if (lane->state == SEND_LANE_BLOCKED) send_lane_ask(lane);
}

static void send_lane_step(gh_op* op, const gh_event* event)
{
    send_lane* lane = send_lane_of(op);
    switch (event->kind)
    {
    case GH_EVENT_REPLY: send_lane_replied(lane, event->reply, event->sent_us); break;
    case GH_EVENT_FAILED: send_lane_give_up(lane, event->status); break;
    case GH_EVENT_TIMER: send_lane_timer(lane); break;
    case GH_EVENT_HINT: send_lane_hinted(lane); break;
    case GH_EVENT_CLOSE: /* the main op is told as well, and ends this one */
    case GH_EVENT_CANCEL:
    case GH_EVENT_LAPSED:
    case GH_EVENT_RESET:
    case GH_EVENT_DOUBT:
    case GH_EVENT_CHILD: break;
    }
}

static gh_op* send_lane_owner(const gh_op* op)
{
    return &((const send_lane*)(const void*)op)->send->op;
}

const gh_op_kind gh_files_send_lane_kind = {.name = "files",
                                            .owner = send_lane_owner,
                                            .step = send_lane_step,
                                            .encode = send_lane_encode,
                                            .text = &gh_files_chunk_lua,
                                            .effect = GH_OP_CHANGES};

/* A chunk is complete. What was stored before it was opened is compared and let go. */
gh_status gh_files_send_lane_complete(gh_file_send* send, send_lane* lane)
{
    send_room* room = send->room;
    gh_digest_add(&room->stream, lane->bytes, lane->size);
    lane->number = room->filling++;
    if (lane->number >= room->resumed)
    {
        lane->digest = gh_hash_digest(lane->bytes, lane->size);
        lane->upto = gh_digest_end(&room->stream);
        if (room->sealed) return GH_DIFFERS; /* longer than what is there */
        send_lane_defer(lane);
        return GH_PENDING;
    }
    lane->size = 0;
    if (lane->number + 1 == room->resumed)
    {
        gh_digest upto = gh_digest_end(&room->stream);
        if (!gh_digest_equal(&upto, &room->expected)) return GH_DIFFERS;
    }
    return GH_PENDING;
}
