/* files_push.c -- the caller's side of a sender: what it pushes fills lane after lane, and what was stored before is
   compared. Nothing in here waits, and the store is asked by files_send.c and files_send_lanes.c. */

#include "files_room.h"

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

static void send_complete(gh_file_send* send, send_lane* lane)
{
    const gh_status status = gh_files_send_lane_complete(send, lane);
    if (status != GH_PENDING) gh_files_send_end(send, status);
}

gh_status gh_file_send_push(gh_file_send* op, gh_str bytes, size_t* taken)
{
    size_t at = 0;
    if (op == NULL) return GH_INVALID_OP;
    if (taken == NULL) return gh_op_refused_call(&op->op, GH_INVALID_OUT);
    *taken = 0;
    if (bytes.bytes == NULL && bytes.size > 0) return gh_op_refused_call(&op->op, GH_INVALID_BUFFER);
    if (!gh_files_send_is_busy(op)) return send_ended(op);
    if (op->room->finishing) return GH_CLOSED;
    if (!send_may_begin(op->room)) return bytes.size == 0 ? GH_OK : GH_PENDING;
    while (at < bytes.size && gh_files_send_is_busy(op))
    {
        send_lane* lane = gh_files_send_lane(op, op->room->filling);
        size_t room = op->room->chunk_bytes - lane->size;
        size_t part = bytes.size - at < room ? bytes.size - at : room;
        if (lane->state != SEND_LANE_FREE) break;
        if (!gh_files_send_is_waiting(op)) gh_files_send_moved(op); /* what comes now has its whole time */
        memcpy(lane->bytes + lane->size, bytes.bytes + at, part);
        lane->size += (uint32_t)part;
        at += part;
        op->taken_bytes += part;
        if (lane->size == op->room->chunk_bytes) send_complete(op, lane);
    }
    *taken = at;
    if (!gh_files_send_is_busy(op)) return send_ended(op);
    return at == bytes.size ? GH_OK : GH_PENDING;
}

gh_status gh_file_send_finish(gh_file_send* op)
{
    if (op == NULL) return GH_INVALID_OP;
    if (!gh_files_send_is_busy(op)) return gh_op_poll(&op->op);
    if (op->room->finishing) return GH_OK;
    if (!gh_files_send_is_waiting(op)) gh_files_send_moved(op);
    op->room->finishing = true;
    if (op->room->opened) gh_files_send_wrap_up(op);
    return gh_files_send_is_busy(op) ? GH_OK : gh_op_poll(&op->op);
}
