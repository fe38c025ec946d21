/* chat_roster.c -- the members of a chat: page after page, by the cursor of a scan, into the caller's items. A scan may
   give a member twice while the set grows or shrinks, so the items are a table of names, too: each is the head of a
   chain. */

#include "base/hash.h"
#include "chat_read.h"
#include "client/object.h"
#include "talk/entry.h"
#include "wire/name.h"

#define ROSTER_REPLY_ROOM 1024u /* of a reply: all but the text */
#define ROSTER_BYTES_MAX  65536u
#define CURSOR_SIZE_MAX   20u

static gh_chat_members* roster_of(gh_op* op)
{
    return (gh_chat_members*)(void*)op;
}

static void roster_encode(gh_op* op, gh_request* request)
{
    const gh_chat_members* roster = roster_of(op);
    uint32_t bytes = gh_client_reply_bytes(op->client) - ROSTER_REPLY_ROOM;
    gh_request_object_script(request, op, gh_chat_kind(), gh_name_str(&roster->chat), "sv");
    gh_request_number(request, op->sequence);
    gh_request_str(request, gh_name_str(&roster->cursor));
    gh_request_str(request, gh_name_str(&roster->after));
    gh_request_number(request, bytes < ROSTER_BYTES_MAX ? bytes : ROSTER_BYTES_MAX);
}

static bool roster_is_at_start(const gh_chat_members* roster)
{
    return roster->after.size == 0 && gh_str_equal(gh_name_str(&roster->cursor), gh_str_literal("0"));
}

static void roster_restart(gh_chat_members* roster)
{
    uint32_t i;
    for (i = 0; i < roster->capacity; i++) roster->items[i].first = 0;
    roster->count = 0;
    gh_name_keep(&roster->cursor, gh_str_literal("0"));
    roster->after.size = 0;
}

static gh_chat_member_item* roster_home(const gh_chat_members* roster, gh_str name)
{
    uint64_t share = gh_hash_seeded(name.bytes, name.size, roster->seed) >> 32; /* of 2^32 */
    return &roster->items[share * roster->capacity >> 32];
}

static gh_chat_member_item* roster_find(const gh_chat_members* roster, gh_str name)
{
    uint32_t at = roster_home(roster, name)->first;
    while (at > 0 && !gh_str_equal(roster->items[at - 1].name, name)) at = roster->items[at - 1].next;
    return at > 0 ? &roster->items[at - 1] : NULL;
}

/* False: there is no item left. */
static bool roster_put(gh_chat_members* roster, gh_str name, uint64_t seen)
{
    gh_chat_member_item* item = roster_find(roster, name);
    gh_chat_member_item* home = roster_home(roster, name);
    if (item == NULL)
    {
        if (roster->count == roster->capacity) return false;
        item = &roster->items[roster->count++];
        memcpy(item->name_bytes, name.bytes, name.size);
        item->name = gh_str_make(item->name_bytes, name.size);
        item->next = home->first;
        home->first = roster->count;
    }
    item->seen = seen;
    return true;
}

/* GH_OK; GH_TOO_SMALL; GH_CORRUPT: not a text of members. */
static gh_status roster_take(gh_chat_members* roster, gh_str text)
{
    while (text.size > 0)
    {
        gh_str name;
        uint64_t size;
        uint64_t seen;
        if (!gh_entry_number(&text, &size) || size == 0 || size > GH_NAME_SIZE_MAX || size > text.size)
            return GH_CORRUPT;
        name = gh_str_make(text.bytes, (size_t)size);
        text = gh_str_make(text.bytes + size, text.size - (size_t)size);
        if (!gh_entry_number(&text, &seen) || seen >= GH_CHAT_ID_MAX) return GH_CORRUPT;
        if (!roster_put(roster, name, seen)) return GH_TOO_SMALL;
    }
    return GH_OK;
}

static gh_status roster_ask(gh_chat_members* roster)
{
    gh_op_send(&roster->op, 0);
    return GH_PENDING;
}

/* True: the pages before are of another chat, or of a server whose cursors mean something else. */
static bool roster_is_renewed(const gh_chat_members* roster, uint64_t epoch, uint32_t link)
{
    return !roster_is_at_start(roster) && (epoch != roster->epoch || roster->link != link);
}

static gh_status roster_page(gh_chat_members* roster, const gh_reply* reply)
{
    gh_str cursor = gh_reply_text(reply, GH_CHAT_ROSTER_CURSOR);
    gh_str after = gh_reply_text(reply, GH_CHAT_ROSTER_AFTER);
    uint64_t total = (uint64_t)gh_reply_integer(reply, GH_CHAT_ROSTER_MEMBERS);
    gh_status taken = roster_take(roster, gh_reply_text(reply, GH_CHAT_ROSTER_PAGE));
    if (taken == GH_CORRUPT || cursor.size == 0 || cursor.size > CURSOR_SIZE_MAX || after.size > GH_NAME_SIZE_MAX)
        return gh_op_outcome(&roster->op, GH_REASON_UNUSABLE);
    gh_name_keep(&roster->cursor, cursor);
    gh_name_keep(&roster->after, after);
    if (taken == GH_TOO_SMALL)
    {
        roster->needed = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
        if (roster->needed <= roster->capacity) roster->needed = roster->capacity + 1; /* some have left meanwhile */
        return GH_TOO_SMALL;
    }
    if (!roster_is_at_start(roster)) return roster_ask(roster);
    return roster->count > 0 ? GH_OK : GH_GONE; /* the last has just left */
}

static gh_status roster_answer(gh_op* op, const gh_event* event)
{
    gh_chat_members* roster = roster_of(op);
    uint64_t epoch = (uint64_t)gh_reply_integer(event->reply, GH_CHAT_ROSTER_EPOCH);
    const int64_t code = gh_reply_integer(event->reply, GH_CHAT_ROSTER_CODE);
    if (code == GH_CHAT_ROSTER_GONE)
    {
        roster->count = 0;
        return GH_GONE;
    }
    if (code != GH_CHAT_ROSTER_THERE) return gh_op_outcome(op, GH_REASON_UNUSABLE);
    if (roster_is_renewed(roster, epoch, event->link))
    {
        roster_restart(roster);
        return roster_ask(roster);
    }
    roster->epoch = epoch;
    roster->link = event->link;
    return roster_page(roster, event->reply);
}

static const gh_op_kind roster_kind = {.name = "chat",
                                       .step = gh_call_step,
                                       .encode = roster_encode,
                                       .text = &gh_chat_roster_lua,
                                       .effect = GH_OP_READS,
                                       .answer = roster_answer};

static gh_status roster_try(gh_chat_members* op, const gh_chat* chat, gh_chat_member_item* items, size_t capacity)
{
    gh_status status = gh_object_check((gh_op*)op, (const gh_object*)chat);
    gh_client* client;
    if (status != GH_OK) return status;
    client = chat->object.client;
    if (items == NULL || capacity == 0) return GH_INVALID_BUFFER;
    op->needed = 0;
    op->epoch = 0;
    op->chat = chat->object.name;
    op->items = items;
    op->capacity = capacity > GH_CHAT_MEMBERS_MAX ? GH_CHAT_MEMBERS_MAX : (uint32_t)capacity;
    op->seed = gh_client_id(client);
    roster_restart(op);
    gh_call_begin(&op->op, client, &roster_kind, chat->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_chat_members_begin(gh_chat_members* op, const gh_chat* chat, gh_chat_member_item* items, size_t capacity)
{
    return gh_object_begun((gh_op*)op, (const gh_object*)chat, roster_try(op, chat, items, capacity));
}
