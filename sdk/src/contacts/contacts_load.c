/* contacts_load.c -- fills a mirror from the store, page by page: the contacts of an owner, or whom it has blocked. */

#include "base/hash.h"
#include "base/least.h"
#include "client/object.h"
#include "contacts_shared.h"
#include "scripts/contacts_scripts.h"
#include "wire/name.h"

#define CONTACTS_UNTIMED     1000000 /* smaller times are only an order, see contacts_touch.lua */
#define CONTACTS_REPLY_ROOM  1024u   /* of a reply: the figures and the version                 */
#define CONTACTS_PAGE_MAX    500u    /* that contacts_load.lua reads at once                    */
#define CONTACTS_NUMBER_SIZE 24u     /* of a time, as text                                      */

static gh_contacts_load* contacts_load_of(gh_op* op)
{
    return (gh_contacts_load*)(void*)op;
}

/* As many as are wanted and one reply can take, each with its time. */
static uint32_t contacts_page_size(const gh_contacts_load* load)
{
    size_t bytes = gh_client_reply_bytes(load->op.client) - CONTACTS_REPLY_ROOM;
    size_t nodes = (gh_client_reply_nodes(load->op.client) - GH_CONTACTS_LOAD_NAMES - 1) / 2;
    uint64_t count = gh_least(bytes / (GH_NAME_SIZE_MAX + CONTACTS_NUMBER_SIZE + 2), nodes);
    count = gh_least(count, CONTACTS_PAGE_MAX);
    return (uint32_t)gh_least(count, load->mirror->config.capacity - load->loaded);
}

static void contacts_load_encode(gh_op* op, gh_request* request)
{
    const gh_contacts_load* load = contacts_load_of(op);
    gh_request_object_script(request, op, gh_contacts_kind(), gh_name_str(&load->owner), GH_CONTACTS_PARTS);
    gh_request_number(request, op->sequence);
    gh_request_str(request, load->blocked ? gh_str_literal("b") : gh_str_literal("c"));
    gh_request_number(request, load->loaded);
    gh_request_number(request, contacts_page_size(load));
}

/* A time as the store prints it. False: not a number. */
static bool contacts_read_time(const gh_reply* value, uint64_t* time_us)
{
    size_t i;
    if (value == NULL || value->type != GH_REPLY_STRING || value->text.size == 0 || value->text.size > 16) return false;
    *time_us = 0;
    for (i = 0; i < value->text.size; i++)
    {
        char digit = value->text.bytes[i];
        if (digit < '0' || digit > '9') return false;
        *time_us = *time_us * 10 + (uint64_t)(digit - '0');
    }
    if (*time_us <= CONTACTS_UNTIMED) *time_us = 0;
    return true;
}

/* Appends the names of a reply. False: they are not as contacts_touch.lua writes them. */
static bool contacts_take_page(gh_contacts_load* load, const gh_reply* value, bool timed)
{
    gh_contacts* mirror = load->mirror;
    while (value != NULL && mirror->count < mirror->config.capacity)
    {
        uint64_t time_us = 0;
        gh_str name = value->text;
        if (value->type != GH_REPLY_STRING || !gh_name_is_valid(name)) return false;
        if (timed)
        {
            value = value->next;
            if (!contacts_read_time(value, &time_us)) return false;
        }
        gh_contacts_mirror_put(mirror, mirror->count++, name, time_us);
        value = value->next;
    }
    return true;
}

static gh_status contacts_load_more(gh_contacts_load* load)
{
    load->changes = load->mirror->changes;
    gh_op_send(&load->op, 0);
    return GH_PENDING;
}

/* Whether this answer does not go with what the mirror has to have. Pages of two versions do not fit together. And a
   change that was answered meanwhile may be missing in it, if it came over another link: the slot has moved, and this
   is the word of its owner before. Over one link answers come in the order in which the store did what they tell. */
static bool contacts_is_behind(const gh_contacts_load* load, uint64_t version, uint32_t link)
{
    const gh_contacts* mirror = load->mirror;
    bool is_changed = mirror->changes != load->changes;
    if (load->loaded > 0 && (is_changed || version != load->version)) return true;
    return is_changed && mirror->link != link;
}

static gh_status contacts_load_answer(gh_op* op, const gh_event* event)
{
    gh_contacts_load* load = contacts_load_of(op);
    gh_contacts* mirror = load->mirror;
    const gh_reply* names = gh_reply_at(event->reply, GH_CONTACTS_LOAD_NAMES);
    gh_str text = gh_reply_text(event->reply, GH_CONTACTS_LOAD_VERSION);
    uint64_t stored = (uint64_t)gh_reply_integer(event->reply, GH_CONTACTS_LOAD_LENGTH);
    bool timed = gh_reply_integer(event->reply, GH_CONTACTS_LOAD_TIMED) != 0;
    uint64_t version = gh_hash_seeded(text.bytes, text.size, stored);
    if (contacts_is_behind(load, version, event->link))
    {
        load->loaded = 0;
        return contacts_load_more(load);
    }
    if (load->loaded == 0) gh_contacts_mirror_clear(mirror);
    load->version = version;
    load->stored = stored > UINT32_MAX ? UINT32_MAX : (uint32_t)stored;
    if (!contacts_take_page(load, names, timed)) return GH_CORRUPT;
    load->loaded = mirror->count;
    if (names != NULL && mirror->count < mirror->config.capacity && mirror->count < stored)
        return contacts_load_more(load);
    return GH_OK;
}

static const gh_op_kind contacts_load_kind = {.name = "contacts",
                                              .step = gh_call_step,
                                              .encode = contacts_load_encode,
                                              .text = &gh_contacts_load_lua,
                                              .effect = GH_OP_READS,
                                              .trees = gh_tree_read,
                                              .answer = contacts_load_answer};

static const gh_bounds contacts_load_bounds = GH_BOUNDS_NONE(gh_contacts_load_config);

gh_contacts_load_config gh_contacts_load_config_default(void)
{
    gh_contacts_load_config config;
    gh_bounds_fill(&contacts_load_bounds, &config);
    return config;
}

static gh_status contacts_load_try(gh_contacts_load* op, gh_contacts* contacts, const gh_contacts_load_config* config)
{
    gh_contacts_load_config defaults = gh_contacts_load_config_default();
    gh_status status = gh_object_check((gh_op*)op, contacts == NULL ? NULL : &contacts->object);
    if (status != GH_OK) return status;
    if (!gh_contacts_is_mirror(contacts)) return GH_INVALID_CONTACTS_MIRROR;
    if (config == NULL) config = &defaults;
    status = gh_refusal_check(&contacts_load_bounds, config, contacts->object.client);
    if (status != GH_OK) return status;
    op->stored = 0;
    op->owner = contacts->object.name;
    op->mirror = contacts;
    op->version = 0;
    op->loaded = 0;
    op->changes = contacts->changes;
    op->blocked = config->blocked;
    gh_call_begin(&op->op, contacts->object.client, &contacts_load_kind, contacts->config.timeout_us, 0);
    return GH_OK;
}

gh_status gh_contacts_load_begin(gh_contacts_load* op, gh_contacts* contacts, const gh_contacts_load_config* config)
{
    gh_status status = contacts_load_try(op, contacts, config);
    return gh_object_begun((gh_op*)op, contacts == NULL ? NULL : &contacts->object, status);
}
