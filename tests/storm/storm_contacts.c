/* storm_contacts.c -- touches, removals and blocks in few lists of contacts, and loads of them.

   Each client has a mirror for each list that nothing but its own changes comes to. */

#include "guildhall/contacts.h"

#include "storm/storm.h"
#include "storm/storm_contacts.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
    CHANGES = 2
};

typedef struct contact_change
{
    gh_contacts_change change;
    uint32_t op;
    char name[16];
} contact_change;

typedef struct contact_actor
{
    storm_client* me;
    random_stream random;
    contact_change changes[CHANGES];
    int ended; /* of these, in the last tick */
    gh_contacts loaded;
    void* loaded_memory;
    gh_contacts followers[SET_OWNERS];
    gh_contacts_load load;
    uint32_t load_op;
} contact_actor;

static const char* const whats[] = {"?", "touch", "remove", "load", "there", "block", "unblock"};
static const gh_str owners[SET_OWNERS] = {GH_STR_INIT("jason"), GH_STR_INIT("jeff"), GH_STR_INIT("jenny")};

static void* mirror_memory(const gh_contacts_config* config)
{
    void* memory = aligned_alloc(64, (gh_contacts_memory(config) + 63) / 64 * 64);
    if (memory == NULL) abort();
    return memory;
}

/* What it touches is cut to SET_CAPACITY. */
static void make_follower(gh_contacts* follower, gh_client* client, gh_str owner, uint64_t timeout_us)
{
    gh_contacts_config config = gh_contacts_config_default();
    config.capacity = SET_CAPACITY;
    config.timeout_us = timeout_us;
    gh_status status =
        gh_contacts_init(follower, client, owner, &config, mirror_memory(&config), gh_contacts_memory(&config));
    if (status != GH_OK) abort();
}

/* With room for more than there may be. */
static gh_status begin_load(gh_contacts_load* load, gh_contacts* into, void* memory, gh_client* client, gh_str owner,
                            bool blocked)
{
    gh_contacts_load_config config = gh_contacts_load_config_default();
    config.blocked = blocked;
    gh_contacts_init(into, client, owner, NULL, memory, gh_contacts_memory(NULL));
    return gh_contacts_load_begin(load, into, &config);
}

static void start(void* actor, storm_client* me, random_stream random)
{
    contact_actor* a = actor;
    a->me = me;
    a->random = random;
    a->loaded_memory = mirror_memory(NULL);
    for (int i = 0; i < SET_OWNERS; i++)
        make_follower(&a->followers[i], me->client, owners[i], random_between(&a->random, 200000, 3000000));
}

/* ---- changes ----------------------------------------------------------------------------------------------- */

static uint8_t draw_change(random_stream* random, uint64_t name)
{
    uint64_t x = random_below(random, 8);
    if (name < SET_FREE_NAMES) return x < 2 ? SET_OUT : SET_IN;
    return x < 2 ? SET_BLOCK : x < 4 ? SET_UNBLOCK : x < 5 ? SET_OUT : SET_IN;
}

static gh_status begin_as(contact_change* c, uint8_t what, gh_contacts* contacts, gh_str contact)
{
    switch (what)
    {
    case SET_IN: return gh_contacts_touch_begin(&c->change, contacts, contact);
    case SET_OUT: return gh_contacts_remove_begin(&c->change, contacts, contact);
    case SET_BLOCK: return gh_contacts_block_begin(&c->change, contacts, contact);
    default: return gh_contacts_unblock_begin(&c->change, contacts, contact);
    }
}

static void begin_change(contact_actor* a, contact_change* c)
{
    uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
    uint64_t name = random_below(&a->random, SET_NAMES);
    uint8_t what = draw_change(&a->random, name);
    int size = snprintf(c->name, sizeof c->name, "friend%u", (unsigned)name);
    c->op = history_begin(a->me->who, STORM_contacts, what, owner);
    if (c->op == 0) return;
    history_at(c->op)->a = name;
    gh_status status = begin_as(c, what, &a->followers[owner], gh_str_make(c->name, (size_t)size));
    if (status == GH_OK) return;
    history_end(c->op, STORM_NOT_DONE, status);
    c->op = 0;
}

/* Of two changes that ended in one tick, the mirror may show the other. */
static in_mirror look_into_mirror(const contact_actor* a, const contact_change* c)
{
    gh_contact found[SET_NAMES];
    if (a->ended > 1) return IN_MIRROR_UNSEEN;
    gh_str name = gh_str_of(c->name);
    uint32_t count = gh_contacts_complete(&a->followers[history_at(c->op)->object], name, found, SET_NAMES);
    for (uint32_t i = 0; i < count; i++)
    {
        if (gh_str_equal(found[i].name, name)) return IN_MIRROR_YES;
    }
    return IN_MIRROR_NO;
}

static void turn_change(contact_actor* a, contact_change* c, bool may_begin)
{
    if (c->op == 0)
    {
        if (may_begin && storm_is_time(&a->random, 40)) begin_change(a, c);
        return;
    }
    gh_status status = gh_op_poll(&c->change.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK)
    {
        history_at(c->op)->b = c->change.blocked;
        history_at(c->op)->c = look_into_mirror(a, c);
    }
    history_end(c->op, storm_outcome_of(status), status);
    c->op = 0;
}

/* ---- loads -------------------------------------------------------------------------------------------------- */

static unsigned number_of(const gh_contact* contact)
{
    char text[32];
    unsigned name = SET_NAMES;
    (void)snprintf(text, sizeof text, "%.*s", (int)contact->name.size, contact->name.bytes);
    (void)sscanf(text, "friend%u", &name);
    return name < SET_NAMES ? name : SET_NAMES;
}

static void note_load(storm_record* record, const gh_contacts* mirror, uint32_t stored)
{
    gh_contact found[SET_NAMES * 2];
    uint32_t count = gh_contacts_complete(mirror, gh_str_make(NULL, 0), found, SET_NAMES * 2);
    record->a = stored;
    for (uint32_t i = 0; i < count; i++) record->b |= 1u << number_of(&found[i]);
}

static void turn_load(contact_actor* a, bool may_begin)
{
    if (a->load_op == 0)
    {
        if (!may_begin || !storm_is_time(&a->random, 80)) return;
        uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
        bool blocked = random_one_in(&a->random, 3);
        a->load_op = history_begin(a->me->who, STORM_contacts, SET_LOAD, owner);
        if (a->load_op == 0) return;
        history_at(a->load_op)->c = blocked ? 1 : 0;
        gh_status status = begin_load(&a->load, &a->loaded, a->loaded_memory, a->me->client, owners[owner], blocked);
        if (status == GH_OK) return;
        history_end(a->load_op, STORM_NOT_DONE, status);
        a->load_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->load.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) note_load(history_at(a->load_op), &a->loaded, a->load.stored);
    history_end(a->load_op, storm_outcome_of(status), status);
    a->load_op = 0;
}

/* ---- the actor ---------------------------------------------------------------------------------------------- */

static void turn(void* actor, bool may_begin)
{
    contact_actor* a = actor;
    a->ended = 0;
    for (int i = 0; i < CHANGES; i++)
    {
        const contact_change* c = &a->changes[i];
        if (c->op != 0 && gh_op_poll(&c->change.op) != GH_PENDING) a->ended++;
    }
    for (int i = 0; i < CHANGES; i++) turn_change(a, &a->changes[i], may_begin);
    turn_load(a, may_begin);
}

static bool idle(const void* actor)
{
    const contact_actor* a = actor;
    bool busy = a->load_op != 0;
    for (int i = 0; i < CHANGES; i++) busy = busy || a->changes[i].op != 0;
    return !busy;
}

static void audit_list(storm_look* look, void* memory, uint8_t owner, bool blocked)
{
    static gh_contacts_load load;
    static gh_contacts loaded;
    gh_contact found[SET_NAMES * 2];
    uint32_t op = history_begin(look->who, STORM_contacts, SET_LOAD, owner);
    history_at(op)->c = blocked ? 1 : 0;
    gh_status status = begin_load(&load, &loaded, memory, look->client, owners[owner], blocked);
    while ((status = gh_op_poll(&load.op)) == GH_PENDING && storm_look_turn(look))
    {
    }
    if (status == GH_OK) note_load(history_at(op), &loaded, load.stored);
    history_end(op, storm_outcome_of(status), status);
    uint32_t count = gh_contacts_complete(&loaded, gh_str_make(NULL, 0), found, SET_NAMES * 2);
    for (uint32_t k = 0; status == GH_OK && !blocked && k < count; k++)
    {
        storm_event event = {
            .system = STORM_contacts, .what = SET_THERE, .object = owner, .a = number_of(&found[k]), .b = k};
        (void)history_event(look->who, event);
    }
}

static void audit(storm_look* look)
{
    void* memory = mirror_memory(NULL);
    for (uint8_t i = 0; i < SET_OWNERS; i++)
    {
        audit_list(look, memory, i, false);
        audit_list(look, memory, i, true);
    }
}

const storm_system storm_contacts = {.name = "contacts",
                                     .whats = whats,
                                     .actor_size = sizeof(contact_actor),
                                     .start = start,
                                     .turn = turn,
                                     .idle = idle,
                                     .audit = audit,
                                     .check = check_contacts};
