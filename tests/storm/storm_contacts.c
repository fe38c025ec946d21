/* storm_contacts.c -- touches and removals in few lists of contacts, and loads of them. */

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
    gh_contacts mirror;
    void* memory;
    gh_contacts_load load;
    uint32_t load_op;
} contact_actor;

static const char* const whats[] = {"?", "touch", "remove", "load", "there"};
static const gh_str owners[SET_OWNERS] = {GH_STR_INIT("jason"), GH_STR_INIT("jeff"), GH_STR_INIT("jenny")};

static void make_mirror(gh_contacts* mirror, void** memory)
{
    size_t size = gh_contacts_memory(NULL);
    *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (*memory == NULL || gh_contacts_init(mirror, *memory, size, NULL) != GH_OK) abort();
}

static void start(void* actor, storm_client* me, random_stream random)
{
    contact_actor* a = actor;
    a->me = me;
    a->random = random;
    make_mirror(&a->mirror, &a->memory);
}

static void turn_change(contact_actor* a, contact_change* c, bool may_begin)
{
    if (c->op == 0)
    {
        if (!may_begin || !random_one_in(&a->random, 40)) return;
        gh_contacts_config config = gh_contacts_config_default();
        uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
        uint64_t name = random_below(&a->random, SET_NAMES);
        bool out = random_one_in(&a->random, 4);
        config.capacity = SET_CAPACITY;
        config.timeout_us = random_between(&a->random, 200000, 3000000);
        int size = snprintf(c->name, sizeof c->name, "friend%u", (unsigned)name);
        gh_str contact = gh_str_make(c->name, (size_t)size);
        c->op = history_begin(a->me->who, STORM_contacts, out ? SET_OUT : SET_IN, owner);
        if (c->op == 0) return;
        history_at(c->op)->a = name;
        gh_status status =
            out ? gh_contacts_remove_begin(&c->change, a->me->client, owners[owner], contact, &config)
                : gh_contacts_touch_begin(&c->change, a->me->client, owners[owner], contact, &config);
        if (status == GH_OK) return;
        history_end(c->op, STORM_NOT_DONE, status);
        c->op = 0;
        return;
    }
    gh_status status = gh_contacts_change_poll(&c->change);
    if (status == GH_PENDING) return;
    history_end(c->op, storm_outcome_of(status), status);
    c->op = 0;
}

static void turn_load(contact_actor* a, bool may_begin)
{
    if (a->load_op == 0)
    {
        if (!may_begin || !random_one_in(&a->random, 80)) return;
        uint8_t owner = (uint8_t)random_below(&a->random, SET_OWNERS);
        a->load_op = history_begin(a->me->who, STORM_contacts, SET_LOAD, owner);
        if (a->load_op == 0) return;
        gh_status status = gh_contacts_load_begin(&a->load, a->me->client, owners[owner], &a->mirror, NULL);
        if (status == GH_OK) return;
        history_end(a->load_op, STORM_NOT_DONE, status);
        a->load_op = 0;
        return;
    }
    gh_status status = gh_contacts_load_poll(&a->load);
    if (status == GH_PENDING) return;
    if (status == GH_OK) history_at(a->load_op)->a = a->load.stored;
    history_end(a->load_op, storm_outcome_of(status), status);
    a->load_op = 0;
}

static void turn(void* actor, bool may_begin)
{
    contact_actor* a = actor;
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

static void audit(storm_look* look)
{
    static gh_contacts mirror;
    static gh_contacts_load load;
    void* memory = NULL;
    make_mirror(&mirror, &memory);
    for (uint8_t i = 0; i < SET_OWNERS; i++)
    {
        gh_contact found[SET_NAMES * 2];
        uint32_t op = history_begin(look->who, STORM_contacts, SET_LOAD, i);
        gh_status status = gh_contacts_load_begin(&load, look->client, owners[i], &mirror, NULL);
        while ((status = gh_contacts_load_poll(&load)) == GH_PENDING && storm_look_turn(look)) {}
        history_at(op)->a = load.stored;
        history_end(op, storm_outcome_of(status), status);
        uint32_t count = gh_contacts_complete(&mirror, gh_str_make(NULL, 0), found, SET_NAMES * 2);
        for (uint32_t k = 0; status == GH_OK && k < count; k++)
        {
            char text[32];
            unsigned name = SET_NAMES;
            (void)snprintf(text, sizeof text, "%.*s", (int)found[k].name.size, found[k].name.bytes);
            (void)sscanf(text, "friend%u", &name);
            storm_event event = {.system = STORM_contacts, .what = SET_THERE, .object = i, .a = name, .b = k};
            (void)history_event(look->who, event);
        }
    }
    free(memory);
}

const storm_system storm_contacts = {.name = "contacts", .whats = whats, .actor_size = sizeof(contact_actor),
                                     .start = start, .turn = turn, .idle = idle, .audit = audit,
                                     .check = check_contacts};
