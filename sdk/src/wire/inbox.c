/* inbox.c -- cuts what a connection brings into replies. */

#include "wire/inbox.h"

#include "base/wipe.h"

#define INBOX_SKIP_MAX 1073741824u /* a longer string is not dropped: no server sends one */

bool gh_inbox_take(gh_inbox* inbox, gh_arena* arena, uint32_t text_max, uint32_t nodes_max)
{
    const size_t capacity = gh_scan_bytes_max(text_max, nodes_max) + GH_INBOX_ROOM_MIN;
    char* block = (char*)gh_arena_take_as_is(arena, capacity + 1);
    if (block == NULL) return false;
    inbox->bytes = block + 1; /* the byte in front is the reader's */
    inbox->capacity = (uint32_t)capacity;
    inbox->text_max = text_max;
    inbox->nodes_max = nodes_max;
    return true;
}

void gh_inbox_skip_long(gh_inbox* inbox)
{
    inbox->skips_long = true;
}

bool gh_inbox_cut(gh_inbox* inbox)
{
    if (inbox->failed != GH_READ_TOO_LARGE || inbox->cuts || inbox->scan.long_head == 0) return false;
    inbox->cuts = true;
    inbox->failed = GH_READ_MORE;
    return true;
}

void gh_inbox_reset(gh_inbox* inbox)
{
    inbox->cuts = false;
    inbox->start = inbox->end = inbox->skip = 0;
    inbox->scanning = false;
    inbox->failed = GH_READ_MORE;
}

void gh_inbox_wipe(gh_inbox* inbox)
{
    gh_wipe(inbox->bytes, inbox->used);
    inbox->used = 0;
}

static void inbox_move(gh_inbox* inbox, uint32_t from, uint32_t to)
{
    memmove(inbox->bytes + to, inbox->bytes + from, inbox->end - from);
    inbox->end -= from - to;
}

char* gh_inbox_room(gh_inbox* inbox, uint32_t* size)
{
    if (inbox->start > 0)
    {
        inbox_move(inbox, inbox->start, 0);
        inbox->start = 0;
    }
    *size = inbox->capacity - inbox->end;
    return inbox->bytes + inbox->end;
}

void gh_inbox_received(gh_inbox* inbox, uint32_t size)
{
    const uint32_t at = inbox->end;
    const uint32_t skipped = inbox->skip < size ? inbox->skip : size;
    inbox->end += size;
    if (inbox->end > inbox->used) inbox->used = inbox->end;
    if (skipped == 0) return;
    inbox->skip -= skipped;
    inbox_move(inbox, at + skipped, at);
}

static gh_read inbox_fail(gh_inbox* inbox, gh_read why)
{
    inbox->failed = why;
    return why;
}

/* The string at which the scan stopped becomes a nil, and what is still to come of it is dropped. False: the bytes for
   that are not there yet. */
static bool inbox_skip_string(gh_inbox* inbox)
{
    static const char nil[] = "$-1\r\n";
    const uint32_t nil_size = sizeof nil - 1;
    const gh_scan* scan = &inbox->scan;
    const uint32_t at = inbox->start + scan->at;
    const uint32_t here = inbox->end - at;
    const uint32_t size = scan->long_head + (uint32_t)scan->long_size + 2;
    if (scan->long_size >= INBOX_SKIP_MAX || here < nil_size) return false;
    memcpy(inbox->bytes + at, nil, nil_size);
    inbox->skip = here < size ? size - here : 0;
    inbox_move(inbox, at + (here < size ? here : size), at + nil_size);
    return true;
}

/* REPLY: one that is whole is there, and scan.at is its size. */
static gh_read inbox_scan(gh_inbox* inbox)
{
    gh_scan* scan = &inbox->scan;
    const bool skips = inbox->skips_long || inbox->cuts;
    gh_scanned result;
    if (!inbox->scanning) gh_scan_begin(scan, inbox->text_max, inbox->nodes_max);
    inbox->scanning = true;
    do
    {
        result = gh_scan_on(scan, inbox->bytes + inbox->start, inbox->end - inbox->start);
    } while (result == GH_SCAN_TOO_LONG && skips && inbox_skip_string(inbox));
    switch (result)
    {
    case GH_SCAN_MORE: return GH_READ_MORE;
    case GH_SCAN_WHOLE: return GH_READ_REPLY;
    case GH_SCAN_BROKEN: return inbox_fail(inbox, GH_READ_BROKEN);
    case GH_SCAN_TOO_LONG:
        if (skips && scan->long_size < INBOX_SKIP_MAX) return GH_READ_MORE;
        break;
    case GH_SCAN_TOO_LARGE: break;
    }
    return inbox_fail(inbox, GH_READ_TOO_LARGE);
}

/* Only at the beginning of a reply: what the scan has seen of one is not read twice. */
static bool inbox_take_flat(gh_inbox* inbox, gh_values* values, const gh_reply** reply)
{
    size_t size;
    if (inbox->scanning) return false;
    size = gh_flat_read(values, inbox->bytes + inbox->start, inbox->end - inbox->start);
    if (size == 0) return false;
    inbox->start += (uint32_t)size;
    *reply = values->nodes;
    return true;
}

/* One that came in pieces may be flat, now that it is whole. NULL: hiredis refuses it. */
static const gh_reply* inbox_build(gh_inbox* inbox, gh_reader* reader, gh_values* values)
{
    const uint32_t size = inbox->scan.at;
    if (!inbox->scan.nested && gh_flat_read(values, inbox->bytes + inbox->start, size) > 0) return values->nodes;
    if (reader->trees == NULL) return gh_flat_read_good(values, inbox->bytes + inbox->start, size);
    return reader->trees(values, inbox->bytes, inbox->start, (size_t)inbox->start + size);
}

static gh_read inbox_take_any(gh_inbox* inbox, gh_reader* reader, gh_values* values, const gh_reply** reply)
{
    gh_read result = inbox_scan(inbox);
    if (result != GH_READ_REPLY) return result;
    *reply = inbox_build(inbox, reader, values);
    if (*reply == NULL) return inbox_fail(inbox, GH_READ_BROKEN);
    inbox->start += inbox->scan.at;
    inbox->scanning = false;
    inbox->cuts = false;
    return GH_READ_REPLY;
}

gh_read gh_inbox_next(gh_inbox* inbox, gh_reader* reader, const gh_reply** reply)
{
    gh_values* values;
    uint32_t size;
    if (inbox->failed != GH_READ_MORE)
        return inbox->failed == GH_READ_TOO_LARGE ? GH_READ_TOO_LARGE : GH_READ_BROKEN; /* never a reply */
    if (inbox->start == inbox->end) return GH_READ_MORE;
    values = gh_reader_values(reader, inbox->text_max, inbox->nodes_max);
    if (!inbox_take_flat(inbox, values, reply))
    {
        gh_read result = inbox_take_any(inbox, reader, values, reply);
        if (result != GH_READ_REPLY) return result;
    }
    size = values->text_used + values->node_count * 32;
    if (size > inbox->reply_bytes_max) inbox->reply_bytes_max = size;
    return GH_READ_REPLY;
}
