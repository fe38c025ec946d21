/* files_pull.c -- the caller's side of a reader: blocks and lines of what has arrived. Nothing in here waits,
   and of the store it only asks what files_read.c asks for it.

       lane --> [ inflate ] --> text, a window of plain bytes --> block, or line (through `carry` if it
       crosses a border) */

#include "files_room.h"

#define READ_STEP_COST 256u /* of a step of unpacking, in bytes: a member may be empty */

/* ---- pulling: lanes --> text --------------------------------------------------------------------------- */

/* What the caller had in its hands is behind it now: tell the store, every few chunks. */
static void read_note_given(gh_file_read* read)
{
    read_room* room = read->room;
    uint64_t step = (uint64_t)room->chunk_bytes * ((room->config.lanes + 1) / 2);
    bool waits = room->ask_us == GH_FOREVER;
    room->pulled = true;
    read->offset_bytes = room->given;
    if (room->ask != READ_NOTHING) return;
    if (gh_files_read_has_something(read)) gh_files_read_moved(read); /* what is asked for now has its whole time */
    if (waits || (room->config.keep == GH_FILE_AS_READ && read->offset_bytes - room->told >= step))
        gh_files_read_request(read, READ_NEWS);
}

/* The next chunk becomes what the caller is in. False: it has not arrived. */
static bool read_enter_chunk(gh_file_read* read)
{
    read_room* room = read->room;
    const read_lane* lane = gh_files_read_lane(read, room->at);
    uint64_t begin = room->at * room->chunk_bytes;
    uint64_t skip = read->resumed_bytes > begin ? read->resumed_bytes - begin : 0;
    gh_str bytes;
    if (room->at >= room->wanted || lane->state != READ_LANE_ARRIVED || lane->number != room->at) return false;
    bytes = gh_str_make(lane->bytes + skip, (size_t)(lane->size - skip));
    if (room->hashing) gh_digest_add(&room->stream, bytes.bytes, bytes.size);
    room->in_chunk = true;
    if (room->config.format == GH_FILE_GZIP) room->packed = bytes;
    else room->text = bytes;
    return true;
}

/* All of the chunk is dealt with: its lane takes the next. */
static void read_leave_chunk(gh_file_read* read)
{
    read_room* room = read->room;
    gh_files_read_lane(read, room->at)->state = READ_LANE_FREE;
    room->at++;
    room->in_chunk = false;
    if (room->config.format == GH_FILE_GZIP) room->given = room->at * room->chunk_bytes;
    if (room->given > read->stored_bytes) room->given = read->stored_bytes;
    gh_files_read_fetch(read, false);
}

/* All chunks are read. GH_EMPTY: and all is well. */
static gh_status read_finish(gh_file_read* read)
{
    read_room* room = read->room;
    gh_digest whole = gh_digest_end(&room->stream);
    if (room->at_end) return GH_EMPTY;
    if ((room->hashing && !gh_digest_equal(&whole, &room->whole)) ||
        (room->inflate != NULL && !gh_inflate_may_end(room->inflate)))
    {
        gh_files_read_end(read, GH_CORRUPT);
        return GH_CORRUPT;
    }
    read->is_whole = room->hashing;
    room->at_end = true;
    room->given = read->stored_bytes;
    return GH_EMPTY;
}

/* Between two ticks no more is unpacked than tick_bytes, whatever the caller asks for: a few bytes may be megabytes. */
static bool read_may_unpack(gh_file_read* read)
{
    read_room* room = read->room;
    uint64_t now_us = gh_client_now(read->op.client);
    if (room->unpack_now_us != now_us)
    {
        room->unpack_now_us = now_us;
        room->unpack_used = 0;
    }
    return room->unpack_used == 0 || room->unpack_used + GH_FILES_TEXT_BYTES <= room->config.tick_bytes;
}

/* One step of unpacking. GH_OK: text is not empty. GH_PENDING: the chunk is used up. GH_BUSY: not in this tick. */
static gh_status read_unpack(gh_file_read* read)
{
    read_room* room = read->room;
    size_t made = 0;
    do
    {
        size_t packed = room->packed.size;
        if (!read_may_unpack(read)) return GH_BUSY;
        if (gh_inflate_step(room->inflate, &room->packed, room->unpacked, GH_FILES_TEXT_BYTES, &made) != GH_OK)
        {
            gh_files_read_end(read, GH_CORRUPT);
            return GH_CORRUPT;
        }
        room->text = gh_str_make(room->unpacked, made);
        room->unpack_used += READ_STEP_COST + made + packed - room->packed.size;
    } while (made == 0 && room->packed.size > 0);
    return made > 0 ? GH_OK : GH_PENDING;
}

/* Makes text not empty. GH_OK, GH_PENDING (nothing there now), GH_EMPTY (the end), GH_CORRUPT (it has ended). */
static gh_status read_more_text(gh_file_read* read)
{
    read_room* room = read->room;
    while (room->text.size == 0)
    {
        gh_status status = GH_PENDING;
        if (room->in_chunk && room->config.format == GH_FILE_GZIP) status = read_unpack(read);
        if (status != GH_PENDING) return status == GH_BUSY ? GH_PENDING : status;
        if (room->in_chunk) read_leave_chunk(read);
        if (read->is_sealed && room->at == room->chunks) return read_finish(read);
        if (!read_enter_chunk(read)) return GH_PENDING;
    }
    return GH_OK;
}

/* Takes size bytes off the text; the caller will have them in its hands until its next call. */
static void read_take(gh_file_read* read, size_t size)
{
    read_room* room = read->room;
    room->text.bytes += size;
    room->text.size -= size;
    if (room->config.format == GH_FILE_PLAIN)
        room->given = room->at * room->chunk_bytes + gh_files_read_lane(read, room->at)->size - room->text.size;
}

/* What block and line have in common. GH_PENDING: go on; else the answer. */
static gh_status read_begin_pull(gh_file_read* read, gh_str* out)
{
    if (read == NULL) return GH_INVALID_OP;
    if (out == NULL) return gh_op_refused_call(&read->op, GH_INVALID_OUT);
    *out = gh_str_make(NULL, 0);
    if (!gh_files_read_is_busy(read))
    {
        gh_status status = gh_op_poll(&read->op);
        return status == GH_OK || status == GH_EXISTS ? GH_EMPTY : status;
    }
    if (!read->room->opened) return GH_PENDING;
    read->room->reading = true;
    read_note_given(read);
    return read->room->lapsed ? GH_PENDING : GH_OK;
}

gh_status gh_file_read_block(gh_file_read* op, gh_str* block)
{
    gh_status status = read_begin_pull(op, block);
    if (status != GH_OK) return status;
    if (op->room->carry_size > 0) /* a line was begun */
    {
        *block = gh_str_make(op->room->carry, op->room->carry_size);
        op->room->carry_size = 0;
        return GH_OK;
    }
    status = read_more_text(op);
    if (status != GH_OK) return status;
    *block = op->room->text;
    read_take(op, op->room->text.size);
    return GH_OK;
}

static gh_str read_without_cr(const char* bytes, size_t size)
{
    return gh_str_make(bytes, size > 0 && bytes[size - 1] == '\r' ? size - 1 : size);
}

/* The part of a line whose end is not in the text goes to the carry. False: there is no room for it. */
static bool read_carry(gh_file_read* read, size_t size)
{
    read_room* room = read->room;
    size_t left = room->config.line_bytes + 1 - room->carry_size; /* one more, for a \r */
    size_t part = size < left ? size : left;
    memcpy(room->carry + room->carry_size, room->text.bytes, part);
    room->carry_size += (uint32_t)part;
    room->text.bytes += size;
    room->text.size -= size;
    return part == size;
}

/* A line is complete in the carry, or cut. */
static gh_status read_give_carry(gh_file_read* read, gh_str* line)
{
    read_room* room = read->room;
    gh_status status = GH_OK;
    *line = read_without_cr(room->carry, room->carry_size);
    if (line->size > room->config.line_bytes || room->cutting)
    {
        line->size = room->config.line_bytes;
        read->lines_cut++;
        status = GH_TOO_SMALL;
    }
    room->carry_size = 0;
    room->cutting = false;
    read->lines++;
    return status;
}

gh_status gh_file_read_line(gh_file_read* op, gh_str* line)
{
    gh_status status = read_begin_pull(op, line);
    read_room* room;
    if (status == GH_TOO_SMALL) return GH_INVALID_CHUNK; /* the op has ended so; TOO_SMALL is said of a line */
    if (status != GH_OK) return status;
    room = op->room;
    for (;;)
    {
        const char* end;
        size_t size;
        status = read_more_text(op);
        if (status == GH_EMPTY && room->carry_size > 0) return read_give_carry(op, line);
        if (status != GH_OK) return status;
        end = (const char*)memchr(room->text.bytes, '\n', room->text.size);
        size = end == NULL ? room->text.size : (size_t)(end - room->text.bytes);
        if (end != NULL && room->carry_size == 0 && size <= room->config.line_bytes)
        {
            *line = read_without_cr(room->text.bytes, size);
            read_take(op, size + 1);
            op->lines++;
            return GH_OK;
        }
        if (!read_carry(op, size)) room->cutting = true;
        if (end == NULL) continue;
        read_take(op, 1);
        return read_give_carry(op, line);
    }
}

gh_status gh_file_read_recall(gh_file_read* op, gh_str bytes)
{
    if (op == NULL) return GH_INVALID_OP;
    if (!gh_files_read_is_busy(op)) return gh_op_poll(&op->op);
    if (!op->room->opened) return GH_PENDING;
    if (op->room->reading) return gh_op_refused_call(&op->op, GH_INVALID_OP);
    if ((bytes.bytes == NULL && bytes.size > 0) || bytes.size > op->resumed_bytes - op->room->recalled)
        return gh_op_refused_call(&op->op, GH_INVALID_BUFFER);
    gh_digest_add(&op->room->stream, bytes.bytes, bytes.size);
    op->room->recalled += bytes.size;
    op->room->hashing = op->room->recalled == op->resumed_bytes;
    return GH_OK;
}

gh_status gh_file_read_done(gh_file_read* op)
{
    if (op == NULL) return GH_INVALID_OP;
    if (!gh_files_read_is_busy(op)) return gh_op_poll(&op->op);
    if (!op->room->at_end) return GH_BUSY;
    if (op->room->done) return GH_OK;
    op->room->done = true;
    op->offset_bytes = op->stored_bytes;
    gh_files_read_moved(op);
    if (op->room->ask == READ_NOTHING) gh_files_read_request(op, READ_DONE);
    return GH_OK;
}
