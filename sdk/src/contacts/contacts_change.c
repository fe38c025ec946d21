/* contacts_change.c -- changes of a list of contacts: in the store, and then in the mirror of what they are begun on.
 */

#include "client/object.h"
#include "contacts_shared.h"
#include "scripts/contacts_scripts.h"
#include "wire/name.h"

#define CONTACTS_KEYS    5u /* of a touch */
#define CONTACTS_NUMBERS 7u /* of a touch */

/* What contacts_remove.lua is asked for; and another letter for contacts_touch.lua. */
#define CONTACTS_TOUCH   't'
#define CONTACTS_REMOVE  'r'
#define CONTACTS_BLOCK   'b'
#define CONTACTS_UNBLOCK 'u'

static gh_contacts_change* contacts_change_of(gh_op* op)
{
    return (gh_contacts_change*)(void*)op;
}

static gh_str contacts_name_at(const gh_contacts_change* change, uint32_t i)
{
    return change->names == NULL ? gh_str_make(change->one, change->one_size) : change->names[i];
}

static gh_script* contacts_change_script(gh_op* op)
{
    bool touch = contacts_change_of(op)->what == CONTACTS_TOUCH;
    return gh_client_script(op->client, touch ? &gh_contacts_touch_lua : &gh_contacts_remove_lua);
}

/* The store keeps a sorted set instead of a list: it has the times, whether they were asked for or not. */
static bool contacts_have_times(bool times, uint32_t capacity)
{
    return times || capacity > GH_CONTACTS_LIST_MAX;
}

static void contacts_encode_touch(const gh_contacts_change* change, gh_request* request)
{
    bool zset = contacts_have_times(change->times, change->capacity);
    uint32_t i;
    gh_request_number(request, change->capacity);
    gh_request_str(request, zset ? gh_str_literal("z") : gh_str_literal("l"));
    gh_request_number(request, change->idle_s * 1000ull);
    for (i = 0; i < change->count; i++) gh_request_str(request, contacts_name_at(change, i));
}

static void contacts_change_encode(gh_op* op, gh_request* request)
{
    const gh_contacts_change* change = contacts_change_of(op);
    bool touch = change->what == CONTACTS_TOUCH;
    gh_request_marked_script(request, op, touch ? change->count : 0, gh_contacts_kind(), gh_name_str(&change->owner),
                             GH_CONTACTS_PARTS);
    if (gh_request_is_route(request)) return;
    if (touch)
    {
        contacts_encode_touch(change, request);
        return;
    }
    gh_request_str(request, gh_str_make(&change->what, 1));
    gh_request_str(request, contacts_name_at(change, 0));
}

static gh_status contacts_touched(gh_contacts_change* change, const gh_reply* reply)
{
    gh_str blocked = gh_reply_text(reply, GH_CONTACTS_TOUCH_BLOCKED);
    bool timed = contacts_have_times(change->times, change->capacity);
    uint64_t time_us = timed ? (uint64_t)gh_reply_integer(reply, GH_CONTACTS_TOUCH_NOW_US) : 0;
    uint32_t i;
    if (blocked.size != 0 && blocked.size != change->count) return gh_op_outcome(&change->op, GH_REASON_UNUSABLE);
    for (i = 0; i < change->count; i++)
    {
        bool is_blocked = blocked.size > 0 && blocked.bytes[i] == GH_CONTACTS_TOUCH_STAYED_OUT;
        if (is_blocked) change->blocked++;
        if (change->mirror == NULL) continue;
        if (is_blocked)
            gh_contacts_mirror_remove(change->mirror, contacts_name_at(change, i)); /* blocked by another, perhaps */
        else gh_contacts_mirror_touch(change->mirror, contacts_name_at(change, i), time_us);
    }
    return GH_OK;
}

static gh_status contacts_change_answer(gh_op* op, const gh_event* event)
{
    gh_contacts_change* change = contacts_change_of(op);
    switch (gh_reply_integer(event->reply, GH_CONTACTS_REMOVE_CODE))
    {
    case GH_CONTACTS_REMOVE_DONE: break;
    case GH_CONTACTS_REMOVE_OLD:
        return gh_op_outcome(op, GH_REASON_CORRUPT); /* our row of changes has sent nothing later */
    case GH_CONTACTS_REMOVE_FULL: return GH_FULL;    /* the mark answers each copy so, and lets none do it later */
    default: return gh_op_outcome(op, GH_REASON_UNUSABLE);
    }
    if (change->mirror != NULL)
    {
        change->mirror->changes++;
        change->mirror->link = event->link;
    }
    if (change->what == CONTACTS_TOUCH) return contacts_touched(change, event->reply);
    if (change->what != CONTACTS_UNBLOCK && change->mirror != NULL)
        gh_contacts_mirror_remove(change->mirror, contacts_name_at(change, 0));
    return GH_OK;
}

static const gh_op_kind contacts_change_kind = {.name = "contacts",
                                                .borrows = true,
                                                .step = gh_gate_call_step,
                                                .gate_at = offsetof(gh_contacts_change, gate),
                                                .encode = contacts_change_encode,
                                                .script = contacts_change_script,
                                                .effect = GH_OP_CHANGES,
                                                .answer = contacts_change_answer};

static bool contacts_are_valid(const gh_str* names, size_t count, const gh_contacts_config* config)
{
    bool list = !contacts_have_times(config->times, config->capacity);
    size_t i;
    if (names == NULL || count == 0 || count > GH_CONTACTS_TOUCH_MAX) return false;
    if (list && count > 1 && count * config->capacity > GH_CONTACTS_TOUCH_WORK) return false;
    for (i = 0; i < count; i++)
        if (!gh_name_is_valid(names[i])) return false;
    return true;
}

static size_t contacts_size(const gh_str* names, size_t count)
{
    size_t size = 0;
    size_t i;
    for (i = 0; i < count; i++) size += gh_request_str_size(names[i].size);
    return size;
}

static void contacts_set(gh_contacts_change* op, gh_contacts* contacts, const gh_str* names, size_t count)
{
    const gh_contacts_config* config = &contacts->config;
    op->blocked = 0;
    op->owner = contacts->object.name;
    op->names = count == 1 ? NULL : names;
    op->mirror = gh_contacts_is_mirror(contacts) ? contacts : NULL;
    op->idle_s = (uint32_t)((config->idle_us + 999999) / 1000000);
    op->capacity = (uint16_t)config->capacity;
    op->count = (uint8_t)count;
    op->times = config->times;
    op->one_size = (uint8_t)names[0].size;
    memcpy(op->one, names[0].bytes, names[0].size);
}

static gh_status contacts_try(gh_contacts_change* op, gh_contacts* contacts, const gh_str* names, size_t count,
                              char what)
{
    gh_client* client;
    size_t room;
    gh_status status = gh_object_check((gh_op*)op, contacts == NULL ? NULL : &contacts->object);
    if (status != GH_OK) return status;
    client = contacts->object.client;
    if (!contacts_are_valid(names, count, &contacts->config)) return GH_INVALID_CONTACTS;
    room = gh_object_script_room(&contacts->object, gh_contacts_kind(), CONTACTS_KEYS, CONTACTS_NUMBERS);
    if (contacts_size(names, count) > room) return GH_TOO_LARGE;
    contacts_set(op, contacts, names, count);
    op->what = what;
    gh_gate_call_begin(&op->op, client, &contacts_change_kind, contacts->config.timeout_us,
                       gh_gate_object(client, gh_contacts_kind(), gh_name_str(&op->owner)));
    return GH_OK;
}

static gh_status contacts_begin(gh_contacts_change* op, gh_contacts* contacts, const gh_str* names, size_t count,
                                char what)
{
    gh_status status = contacts_try(op, contacts, names, count, what);
    return gh_object_begun((gh_op*)op, contacts == NULL ? NULL : &contacts->object, status);
}

gh_status gh_contacts_touch_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact)
{
    return contacts_begin(op, contacts, &contact, 1, CONTACTS_TOUCH);
}

gh_status gh_contacts_touch_many_begin(gh_contacts_change* op, gh_contacts* contacts, const gh_str* names, size_t count)
{
    return contacts_begin(op, contacts, names, count, CONTACTS_TOUCH);
}

gh_status gh_contacts_remove_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact)
{
    return contacts_begin(op, contacts, &contact, 1, CONTACTS_REMOVE);
}

gh_status gh_contacts_block_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact)
{
    return contacts_begin(op, contacts, &contact, 1, CONTACTS_BLOCK);
}

gh_status gh_contacts_unblock_begin(gh_contacts_change* op, gh_contacts* contacts, gh_str contact)
{
    return contacts_begin(op, contacts, &contact, 1, CONTACTS_UNBLOCK);
}
