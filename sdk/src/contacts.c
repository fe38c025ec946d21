/* contacts.c -- recent contacts: changes in the store, and a mirror that completes names. */

#include "guildhall/contacts.h"

#include "base/hash.h"
#include "client/op.h"
#include "wire/name.h"

#define CONTACTS_TIMEOUT_MIN_US 1000ull
#define CONTACTS_TIMEOUT_MAX_US 60000000ull
#define CONTACTS_TIMEOUT_US 5000000ull
#define CONTACTS_CAPACITY 100u
#define CONTACTS_KEY_SIZE 8u       /* bytes of a folded name that are compared as one number  */
#define CONTACTS_UNTIMED 1000000   /* smaller times are only an order, see contacts_touch.lua */
#define CONTACTS_ROOM 2048u        /* of a request: digest, keys, numbers                     */
#define CONTACTS_REPLY_ROOM 1024u  /* of a reply: the figures and the version                 */
#define CONTACTS_FIGURES 5u        /* values in front of the names, the array itself included */
#define CONTACTS_PAGE_MAX 500u     /* that contacts_load.lua reads at once                    */
#define CONTACTS_NUMBER_SIZE 24u   /* of a time, as text                                      */

#define CONTACTS_TOUCH_SHAPE "qiis"
#define CONTACTS_REMOVE_SHAPE "qi"
#define CONTACTS_LOAD_SHAPE "qiis*"

static const gh_str contacts_kind_name = {"contacts", 8};

static void contacts_encode_keys(gh_request* request, const gh_op* op, gh_str owner)
{
    gh_request_object_keys(request, op->client, contacts_kind_name, owner, "lzwb");
}

static bool contacts_timeout_is_valid(uint64_t timeout_us)
{
    return timeout_us >= CONTACTS_TIMEOUT_MIN_US && timeout_us <= CONTACTS_TIMEOUT_MAX_US;
}

/* ---- the mirror -----------------------------------------------------------------------------------------------------

   Four arrays in the caller's memory. Three are in the order of the contacts, the newest first, and are what a search
   runs through; a contact's record stays in its slot while its place changes. Places from count on name free slots.

       keys     the first 8 bytes of the folded name as a number, the first byte on top: one comparison for most names
       hashes   of the name as it is shown, to find it again
       slots    where its record is                                                                                   */

typedef struct contacts_record
{
    uint64_t time_us;
    uint8_t name_size;
    uint8_t folded_size; /* up to GH_FOLDED_SIZE_MAX, of which GH_NAME_SIZE_MAX bytes are kept */
    char name[GH_NAME_SIZE_MAX];
    char folded[GH_NAME_SIZE_MAX];
} contacts_record;

typedef struct contacts_table
{
    uint64_t* keys;
    contacts_record* records;
    uint32_t* hashes;
    uint32_t* slots;
} contacts_table;

static contacts_table contacts_table_of(const gh_contacts* mirror)
{
    contacts_table table;
    table.keys = (uint64_t*)mirror->memory;
    table.records = (contacts_record*)(void*)(table.keys + mirror->capacity);
    table.hashes = (uint32_t*)(void*)(table.records + mirror->capacity);
    table.slots = table.hashes + mirror->capacity;
    return table;
}

static size_t contacts_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint64_t contacts_key(const char* folded, size_t size)
{
    uint64_t key = 0;
    size_t i;
    for (i = 0; i < CONTACTS_KEY_SIZE; i++) key = key << 8 | (i < size ? (unsigned char)folded[i] : 0);
    return key;
}

static uint32_t contacts_hash(gh_str name)
{
    return (uint32_t)gh_hash_seeded(name.bytes, name.size, 0);
}

static bool contacts_is_mirror(const gh_contacts* mirror)
{
    return mirror != NULL && mirror->memory != NULL && mirror->capacity > 0;
}

static void mirror_clear(gh_contacts* mirror)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t i;
    for (i = 0; i < mirror->capacity; i++) table.slots[i] = i;
    mirror->count = 0;
}

/* The place of the contact of exactly this name; count: it is not there. */
static uint32_t mirror_find(const gh_contacts* mirror, gh_str name)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t hash = contacts_hash(name);
    uint32_t i;
    for (i = 0; i < mirror->count; i++)
    {
        const contacts_record* record = &table.records[table.slots[i]];
        if (table.hashes[i] == hash && gh_str_equal(gh_str_make(record->name, record->name_size), name)) break;
    }
    return i;
}

/* Writes the contact at a place whose slot is free. */
static void mirror_put(gh_contacts* mirror, uint32_t at, gh_str name, uint64_t time_us)
{
    contacts_table table = contacts_table_of(mirror);
    contacts_record* record = &table.records[table.slots[at]];
    char folded[GH_FOLDED_SIZE_MAX];
    size_t size = gh_fold_apply(mirror->fold, mirror->fold_context, name, folded);
    record->time_us = time_us;
    record->name_size = (uint8_t)name.size;
    record->folded_size = (uint8_t)size;
    memcpy(record->name, name.bytes, name.size);
    memcpy(record->folded, folded, contacts_least(size, sizeof record->folded));
    table.keys[at] = contacts_key(folded, size);
    table.hashes[at] = contacts_hash(name);
}

/* The contact at one place goes to another; those between make room. */
static void mirror_move(gh_contacts* mirror, uint32_t from, uint32_t to)
{
    contacts_table table = contacts_table_of(mirror);
    uint64_t key = table.keys[from];
    uint32_t hash = table.hashes[from];
    uint32_t slot = table.slots[from];
    uint32_t first = from < to ? from + 1 : to; /* of those between, and where they go */
    uint32_t target = from < to ? from : to + 1;
    uint32_t count = from < to ? to - from : from - to;
    memmove(table.keys + target, table.keys + first, count * sizeof *table.keys);
    memmove(table.hashes + target, table.hashes + first, count * sizeof *table.hashes);
    memmove(table.slots + target, table.slots + first, count * sizeof *table.slots);
    table.keys[to] = key;
    table.hashes[to] = hash;
    table.slots[to] = slot;
}

static void mirror_touch(gh_contacts* mirror, gh_str name, uint64_t time_us)
{
    contacts_table table = contacts_table_of(mirror);
    uint32_t at = mirror_find(mirror, name);
    if (at < mirror->count)
        table.records[table.slots[at]].time_us = time_us;
    else
    {
        if (mirror->count < mirror->capacity) mirror->count++;
        at = mirror->count - 1; /* a new place, or that of the oldest, which goes */
        mirror_put(mirror, at, name, time_us);
    }
    mirror_move(mirror, at, 0);
}

static void mirror_remove(gh_contacts* mirror, gh_str name)
{
    uint32_t at = mirror_find(mirror, name);
    if (at == mirror->count) return;
    mirror->count--;
    mirror_move(mirror, at, mirror->count);
}

gh_contacts_mirror_config gh_contacts_mirror_config_default(void)
{
    gh_contacts_mirror_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.capacity = CONTACTS_CAPACITY;
    config.fold = gh_fold_ascii;
    return config;
}

static gh_status contacts_check_mirror_config(const gh_contacts_mirror_config* config)
{
    if (config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    if (config->capacity == 0 || config->capacity > GH_CONTACTS_CAPACITY_MAX) return GH_INVALID_CONTACTS_CAPACITY;
    return GH_OK;
}

size_t gh_contacts_memory(const gh_contacts_mirror_config* config)
{
    gh_contacts_mirror_config defaults = gh_contacts_mirror_config_default();
    if (config == NULL) config = &defaults;
    if (contacts_check_mirror_config(config) != GH_OK) return 0;
    return config->capacity * (sizeof(uint64_t) + sizeof(contacts_record) + 2 * sizeof(uint32_t));
}

gh_status gh_contacts_init(gh_contacts* mirror, void* memory, size_t size, const gh_contacts_mirror_config* config)
{
    gh_contacts_mirror_config defaults = gh_contacts_mirror_config_default();
    gh_status status;
    if (mirror == NULL) return GH_INVALID_CONTACTS_MIRROR;
    if (config == NULL) config = &defaults;
    status = contacts_check_mirror_config(config);
    if (status != GH_OK) return status;
    if (memory == NULL || ((uintptr_t)memory & 7) != 0 || size < gh_contacts_memory(config))
        return GH_INVALID_CONTACTS_MEMORY;
    mirror->capacity = config->capacity;
    mirror->memory = memory;
    mirror->fold = config->fold;
    mirror->fold_context = config->fold_context;
    mirror->changes = 0;
    mirror_clear(mirror);
    return GH_OK;
}

/* The beginning is longer than a key, and its key fits. */
static bool mirror_record_begins(const gh_contacts* mirror, const contacts_record* record, gh_str folded)
{
    char again[GH_FOLDED_SIZE_MAX];
    gh_str name;
    if (folded.size <= sizeof record->folded)
        return memcmp(record->folded, folded.bytes, folded.size) == 0;
    name = gh_str_make(record->name, record->name_size);
    gh_fold_apply(mirror->fold, mirror->fold_context, name, again);
    return memcmp(again, folded.bytes, folded.size) == 0;
}

uint32_t gh_contacts_complete(const gh_contacts* mirror, gh_str prefix, gh_contact* found, uint32_t limit)
{
    char folded[GH_FOLDED_SIZE_MAX];
    contacts_table table;
    size_t size;
    uint64_t key;
    uint64_t mask;
    uint32_t count = 0;
    uint32_t i;
    if (!contacts_is_mirror(mirror) || found == NULL || prefix.size > GH_NAME_SIZE_MAX) return 0;
    if (prefix.bytes == NULL && prefix.size > 0) return 0;
    table = contacts_table_of(mirror);
    size = gh_fold_apply(mirror->fold, mirror->fold_context, prefix, folded);
    key = contacts_key(folded, size);
    mask = size >= CONTACTS_KEY_SIZE ? UINT64_MAX : ~(UINT64_MAX >> (8 * size));
    for (i = 0; i < mirror->count && count < limit; i++)
    {
        const contacts_record* record;
        if ((table.keys[i] & mask) != key) continue;
        record = &table.records[table.slots[i]];
        if (record->folded_size < size) continue; /* behind its end a key has zeros, which may have been typed */
        if (size > CONTACTS_KEY_SIZE && !mirror_record_begins(mirror, record, gh_str_make(folded, size))) continue;
        found[count].name = gh_str_make(record->name, record->name_size);
        found[count].time_us = record->time_us;
        count++;
    }
    return count;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

/* What contacts_touch.lua and contacts_remove.lua answer, and what the latter is asked for. */
enum
{
    CONTACTS_DONE = 0,
    CONTACTS_OLD,
    CONTACTS_BLOCKED_FULL
};

#define CONTACTS_TOUCH 't'
#define CONTACTS_REMOVE 'r'
#define CONTACTS_BLOCK 'b'
#define CONTACTS_UNBLOCK 'u'

static gh_contacts_change* contacts_change_of(gh_op* op)
{
    return (gh_contacts_change*)(void*)((char*)op - offsetof(gh_contacts_change, op));
}

static gh_str contacts_name_at(const gh_contacts_change* change, uint32_t i)
{
    return change->contacts == NULL ? gh_str_make(change->one, change->one_size) : change->contacts[i];
}

static gh_script* contacts_change_script(gh_op* op)
{
    bool touch = contacts_change_of(op)->what == CONTACTS_TOUCH;
    return gh_client_script(op->client, touch ? GH_SCRIPT_contacts_touch : GH_SCRIPT_contacts_remove);
}

static void contacts_encode_touch(const gh_contacts_change* change, gh_request* request)
{
    bool zset = change->times || change->capacity > GH_CONTACTS_LIST_MAX;
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
    gh_request_script(request, contacts_change_script(op), 4, touch ? 5u + change->count : 4u);
    contacts_encode_keys(request, op, change->owner);
    gh_request_op_token(request, op);
    gh_request_number(request, op->sequence);
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
    gh_str blocked = gh_reply_at(reply, 3)->text;
    uint64_t time_us = change->times ? (uint64_t)gh_reply_integer(reply, 2) : 0;
    uint32_t i;
    if (blocked.size != 0 && blocked.size != change->count) return GH_CORRUPT;
    for (i = 0; i < change->count; i++)
    {
        if (blocked.size > 0 && blocked.bytes[i] == 'b')
            change->blocked++;
        else if (change->mirror != NULL)
            mirror_touch(change->mirror, contacts_name_at(change, i), time_us);
    }
    return GH_OK;
}

static gh_status contacts_change_answer(gh_op* op, const gh_event* event)
{
    gh_contacts_change* change = contacts_change_of(op);
    switch (gh_reply_integer(event->reply, 1))
    {
    case CONTACTS_DONE: break;
    case CONTACTS_OLD: return GH_UNKNOWN; /* the row of changes does not let this happen */
    case CONTACTS_BLOCKED_FULL: return GH_FULL;
    default: return GH_CORRUPT;
    }
    if (change->mirror != NULL) change->mirror->changes++;
    if (change->what == CONTACTS_TOUCH) return contacts_touched(change, event->reply);
    if (change->what != CONTACTS_UNBLOCK && change->mirror != NULL)
        mirror_remove(change->mirror, contacts_name_at(change, 0));
    return GH_OK;
}

static void contacts_change_step(gh_op* op, const gh_event* event)
{
    gh_gate_call_step(&contacts_change_of(op)->gate, op, event);
}

static const gh_op_kind contacts_change_kind = {"contacts", contacts_change_step,   contacts_change_encode,
                                                contacts_change_script, false, contacts_change_answer};

gh_contacts_config gh_contacts_config_default(void)
{
    gh_contacts_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.timeout_us = CONTACTS_TIMEOUT_US;
    config.capacity = CONTACTS_CAPACITY;
    return config;
}

static gh_status contacts_check_config(const gh_contacts_config* config)
{
    if (config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    if (!contacts_timeout_is_valid(config->timeout_us)) return GH_INVALID_TIMEOUT;
    if (config->capacity == 0 || config->capacity > GH_CONTACTS_CAPACITY_MAX) return GH_INVALID_CONTACTS_CAPACITY;
    if (config->idle_us > GH_CONTACTS_IDLE_MAX_US) return GH_INVALID_CONTACTS_IDLE;
    if (config->mirror != NULL && !contacts_is_mirror(config->mirror)) return GH_INVALID_CONTACTS_MIRROR;
    return GH_OK;
}

static bool contacts_are_valid(const gh_str* contacts, size_t count, const gh_contacts_config* config)
{
    bool list = !config->times && config->capacity <= GH_CONTACTS_LIST_MAX;
    size_t i;
    if (contacts == NULL || count == 0 || count > GH_CONTACTS_TOUCH_MAX) return false;
    if (list && count > 1 && count * config->capacity > GH_CONTACTS_TOUCH_WORK) return false;
    for (i = 0; i < count; i++)
        if (!gh_name_is_valid(contacts[i])) return false;
    return true;
}

static size_t contacts_size(const gh_str* contacts, size_t count)
{
    size_t size = 0;
    size_t i;
    for (i = 0; i < count; i++) size += gh_request_str_size(contacts[i].size);
    return size;
}

static void contacts_set(gh_contacts_change* op, gh_str owner, const gh_str* contacts, size_t count,
                         const gh_contacts_config* config)
{
    op->blocked = 0;
    op->owner = owner;
    op->contacts = count == 1 ? NULL : contacts;
    op->mirror = config->mirror;
    op->idle_s = (uint32_t)((config->idle_us + 999999) / 1000000);
    op->capacity = (uint16_t)config->capacity;
    op->count = (uint8_t)count;
    op->times = config->times;
    op->one_size = (uint8_t)contacts[0].size;
    memcpy(op->one, contacts[0].bytes, contacts[0].size);
}

static gh_status contacts_begin(gh_contacts_change* op, gh_client* client, gh_str owner, const gh_str* contacts,
                                size_t count, const gh_contacts_config* config, char what)
{
    gh_contacts_config defaults = gh_contacts_config_default();
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(owner)) return GH_INVALID_NAME;
    if (config == NULL) config = &defaults;
    status = contacts_check_config(config);
    if (status != GH_OK) return status;
    if (!contacts_are_valid(contacts, count, config)) return GH_INVALID_CONTACTS;
    if (contacts_size(contacts, count) > gh_client_out_room(client) - CONTACTS_ROOM) return GH_FULL;
    contacts_set(op, owner, contacts, count, config);
    op->what = what;
    gh_gate_call_begin(&op->gate, &op->op, client, &contacts_change_kind,
                       what == CONTACTS_TOUCH ? CONTACTS_TOUCH_SHAPE : CONTACTS_REMOVE_SHAPE, config->timeout_us,
                       gh_gate_object(client, contacts_kind_name, owner));
    return GH_OK;
}

gh_status gh_contacts_touch_begin(gh_contacts_change* op, gh_client* client, gh_str owner, gh_str contact,
                                  const gh_contacts_config* config)
{
    return contacts_begin(op, client, owner, &contact, 1, config, CONTACTS_TOUCH);
}

gh_status gh_contacts_touch_many_begin(gh_contacts_change* op, gh_client* client, gh_str owner,
                                       const gh_str* contacts, size_t count, const gh_contacts_config* config)
{
    return contacts_begin(op, client, owner, contacts, count, config, CONTACTS_TOUCH);
}

gh_status gh_contacts_remove_begin(gh_contacts_change* op, gh_client* client, gh_str owner, gh_str contact,
                                   const gh_contacts_config* config)
{
    return contacts_begin(op, client, owner, &contact, 1, config, CONTACTS_REMOVE);
}

gh_status gh_contacts_block_begin(gh_contacts_change* op, gh_client* client, gh_str owner, gh_str contact,
                                  const gh_contacts_config* config)
{
    return contacts_begin(op, client, owner, &contact, 1, config, CONTACTS_BLOCK);
}

gh_status gh_contacts_unblock_begin(gh_contacts_change* op, gh_client* client, gh_str owner, gh_str contact,
                                    const gh_contacts_config* config)
{
    return contacts_begin(op, client, owner, &contact, 1, config, CONTACTS_UNBLOCK);
}

gh_status gh_contacts_change_poll(const gh_contacts_change* op)
{
    return op == NULL ? GH_IDLE : gh_op_poll(&op->op);
}

void gh_contacts_change_cancel(gh_contacts_change* op)
{
    if (op != NULL) gh_gate_call_cancel(&op->gate, &op->op);
}

/* ---- load -------------------------------------------------------------------------------------------------------- */

static gh_contacts_load* contacts_load_of(gh_op* op)
{
    return (gh_contacts_load*)(void*)((char*)op - offsetof(gh_contacts_load, op));
}

static gh_script* contacts_load_script(gh_op* op)
{
    return gh_client_script(op->client, GH_SCRIPT_contacts_load);
}

/* As many as are wanted and one reply can take, each with its time. */
static uint32_t contacts_page_size(const gh_contacts_load* load)
{
    size_t bytes = gh_client_reply_bytes(load->op.client) - CONTACTS_REPLY_ROOM;
    size_t nodes = (gh_client_reply_nodes(load->op.client) - CONTACTS_FIGURES) / 2;
    size_t count = contacts_least(bytes / (GH_NAME_SIZE_MAX + CONTACTS_NUMBER_SIZE + 2), nodes);
    count = contacts_least(count, CONTACTS_PAGE_MAX);
    return (uint32_t)contacts_least(count, load->mirror->capacity - load->loaded);
}

static void contacts_load_encode(gh_op* op, gh_request* request)
{
    const gh_contacts_load* load = contacts_load_of(op);
    gh_request_script(request, contacts_load_script(op), 4, 4);
    contacts_encode_keys(request, op, load->owner);
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
    while (value != NULL && mirror->count < mirror->capacity)
    {
        uint64_t time_us = 0;
        gh_str name = value->text;
        if (value->type != GH_REPLY_STRING || !gh_name_is_valid(name)) return false;
        if (timed)
        {
            value = value->next;
            if (!contacts_read_time(value, &time_us)) return false;
        }
        mirror_put(mirror, mirror->count++, name, time_us);
        value = value->next;
    }
    return true;
}

static gh_status contacts_load_more(gh_contacts_load* load)
{
    gh_op_send(&load->op, CONTACTS_LOAD_SHAPE, 0);
    return GH_PENDING;
}

static gh_status contacts_load_answer(gh_op* op, const gh_event* event)
{
    gh_contacts_load* load = contacts_load_of(op);
    gh_contacts* mirror = load->mirror;
    const gh_reply* names = gh_reply_at(event->reply, CONTACTS_FIGURES - 1);
    gh_str text = gh_reply_at(event->reply, 3)->text;
    uint64_t stored = (uint64_t)gh_reply_integer(event->reply, 1);
    uint64_t version = gh_hash_seeded(text.bytes, text.size, stored);
    if (load->loaded > 0 && (version != load->version || mirror->changes != load->changes))
    {
        load->loaded = 0; /* pages of two versions do not fit together */
        return contacts_load_more(load);
    }
    if (load->loaded == 0) mirror_clear(mirror);
    load->version = version;
    load->changes = mirror->changes;
    load->stored = stored > UINT32_MAX ? UINT32_MAX : (uint32_t)stored;
    if (!contacts_take_page(load, names, gh_reply_integer(event->reply, 2) != 0)) return GH_CORRUPT;
    load->loaded = mirror->count;
    if (names != NULL && mirror->count < mirror->capacity && mirror->count < stored) return contacts_load_more(load);
    return GH_OK;
}

static const gh_op_kind contacts_load_kind = {"contacts", gh_read_step, contacts_load_encode, contacts_load_script,
                                              false,      contacts_load_answer};

gh_contacts_load_config gh_contacts_load_config_default(void)
{
    gh_contacts_load_config config;
    memset(&config, 0, sizeof config);
    config.struct_size = sizeof config;
    config.timeout_us = CONTACTS_TIMEOUT_US;
    return config;
}

gh_status gh_contacts_load_begin(gh_contacts_load* op, gh_client* client, gh_str owner, gh_contacts* mirror,
                                 const gh_contacts_load_config* config)
{
    gh_contacts_load_config defaults = gh_contacts_load_config_default();
    gh_status status = gh_op_check(op == NULL ? NULL : &op->op, client);
    if (status != GH_OK) return status;
    if (!gh_name_is_valid(owner)) return GH_INVALID_NAME;
    if (!contacts_is_mirror(mirror)) return GH_INVALID_CONTACTS_MIRROR;
    if (config == NULL) config = &defaults;
    if (config->struct_size != sizeof *config) return GH_INVALID_CONFIG;
    if (!contacts_timeout_is_valid(config->timeout_us)) return GH_INVALID_TIMEOUT;
    op->stored = 0;
    op->owner = owner;
    op->mirror = mirror;
    op->version = 0;
    op->loaded = 0;
    op->changes = 0;
    op->blocked = config->blocked;
    gh_call_begin(&op->op, client, &contacts_load_kind, CONTACTS_LOAD_SHAPE, config->timeout_us, 0);
    return GH_OK;
}

gh_status gh_contacts_load_poll(const gh_contacts_load* op)
{
    return op == NULL ? GH_IDLE : gh_op_poll(&op->op);
}

void gh_contacts_load_cancel(gh_contacts_load* op)
{
    if (op != NULL) gh_read_cancel(&op->op);
}
