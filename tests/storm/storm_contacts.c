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
    gh_contacts mirror;
    gh_contacts followers[SET_OWNERS];
    gh_contacts_load load;
    uint32_t load_op;
} contact_actor;

static const char* const whats[] = {"?", "touch", "remove", "load", "there", "block", "unblock"};
static const gh_str owners[SET_OWNERS] = {GH_STR_INIT("jason"), GH_STR_INIT("jeff"), GH_STR_INIT("jenny")};

static void make_mirror(gh_contacts* mirror)
{
    size_t size = gh_contacts_memory(NULL);
    void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory == NULL || gh_contacts_init(mirror, NULL, memory, size) != GH_OK) abort();
}

static void start(void* actor, storm_client* me, random_stream random)
{
    contact_actor* a = actor;
    a->me = me;
    a->random = random;
    make_mirror(&a->mirror);
    for (int i = 0; i < SET_OWNERS; i++) make_mirror(&a->followers[i]);
}

/* ---- changes ----------------------------------------------------------------------------------------------- */

static uint8_t draw_change(random_stream* random, uint64_t name)
{
    uint64_t x = random_below(random, 8);
    if (name < SET_FREE_NAMES) return x < 2 ? SET_OUT : SET_IN;
    return x < 2 ? SET_BLOCK : x < 4 ? SET_UNBLOCK : x < 5 ? SET_OUT : SET_IN;
}

static gh_status begin_as(contact_actor* a, contact_change* c, uint8_t what, gh_str owner, gh_str contact,
                          const gh_contacts_change_config* config)
{
    gh_client* client = a->me->client;
    switch (what)
    {
    case SET_IN: return gh_contacts_touch_begin(&c->change, client, owner, contact, config);
    case SET_OUT: return gh_contacts_remove_begin(&c->change, client, owner, contact, config);
    case SET_BLOCK: return gh_contacts_block_begin(&c->change, client, owner, contact, config);
    default: return gh_contacts_unblock_begin(&c->change, client, owner, contact, config);
    }
}

static void begin_change(contact_actor* a, contact_change* c)
{
    gh_contacts_change_config config = gh_contacts_change_config_default();
    uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
    uint64_t name = random_below(&a->random, SET_NAMES);
    uint8_t what = draw_change(&a->random, name);
    config.capacity = SET_CAPACITY;
    config.timeout_us = random_between(&a->random, 200000, 3000000);
    config.mirror = &a->followers[owner];
    int size = snprintf(c->name, sizeof c->name, "friend%u", (unsigned)name);
    c->op = history_begin(a->me->who, STORM_contacts, what, owner);
    if (c->op == 0) return;
    history_at(c->op)->a = name;
    gh_status status = begin_as(a, c, what, owners[owner], gh_str_make(c->name, (size_t)size), &config);
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
        if (may_begin && random_one_in(&a->random, 40)) begin_change(a, c);
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
        if (!may_begin || !random_one_in(&a->random, 80)) return;
        uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
        gh_contacts_load_config config = gh_contacts_load_config_default();
        config.blocked = random_one_in(&a->random, 3);
        a->load_op = history_begin(a->me->who, STORM_contacts, SET_LOAD, owner);
        if (a->load_op == 0) return;
        history_at(a->load_op)->c = config.blocked ? 1 : 0;
        gh_status status = gh_contacts_load_begin(&a->load, a->me->client, owners[owner], &a->mirror, &config);
        if (status == GH_OK) return;
        history_end(a->load_op, STORM_NOT_DONE, status);
        a->load_op = 0;
        return;
    }
    gh_status status = gh_op_poll(&a->load.op);
    if (status == GH_PENDING) return;
    if (status == GH_OK) note_load(history_at(a->load_op), &a->mirror, a->load.stored);
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

static void audit_list(storm_look* look, gh_contacts* mirror, uint8_t owner, bool blocked)
{
    static gh_contacts_load load;
    gh_contact found[SET_NAMES * 2];
    gh_contacts_load_config config = gh_contacts_load_config_default();
    config.blocked = blocked;
    uint32_t op = history_begin(look->who, STORM_contacts, SET_LOAD, owner);
    history_at(op)->c = blocked ? 1 : 0;
    gh_status status = gh_contacts_load_begin(&load, look->client, owners[owner], mirror, &config);
    while ((status = gh_op_poll(&load.op)) == GH_PENDING && storm_look_turn(look))
    {
    }
    if (status == GH_OK) note_load(history_at(op), mirror, load.stored);
    history_end(op, storm_outcome_of(status), status);
    uint32_t count = gh_contacts_complete(mirror, gh_str_make(NULL, 0), found, SET_NAMES * 2);
    for (uint32_t k = 0; status == GH_OK && !blocked && k < count; k++)
    {
        storm_event event = {
            .system = STORM_contacts, .what = SET_THERE, .object = owner, .a = number_of(&found[k]), .b = k};
        (void)history_event(look->who, event);
    }
}

static void audit(storm_look* look)
{
    static gh_contacts mirror;
    make_mirror(&mirror);
    for (uint8_t i = 0; i < SET_OWNERS; i++)
    {
        audit_list(look, &mirror, i, false);
        audit_list(look, &mirror, i, true);
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
