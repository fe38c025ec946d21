/* social_contacts.c -- whom the player was last in touch with. The store has the list; a mirror of it answers
   each key-stroke at once. A player is on one server at a time and only that server changes its list, so the
   mirror knows all of it once it is loaded. */

#include "server/social_contacts.h"

/* ---- Touches: a row of names on their way to the store ------------------------------------------------- */

uint32_t contacts_room(const social_player* p)
{
    return TOUCHES - (uint32_t)(p->contacts.queued - p->contacts.touched);
}

/* Only with room. */
void contacts_touch(social* s, social_player* p, gh_str name)
{
    contacts_part* c = &p->contacts;
    if (contacts_room(p) == 0 || name.size > NAME_SIZE) return;
    uint64_t place = c->queued++ % TOUCHES;
    memcpy(c->names[place], name.bytes, name.size);
    c->name_sizes[place] = name.size;
    social_wake(s, p, PART_CONTACTS);
}

static void begin_touch(social* s, social_player* p)
{
    contacts_part* c = &p->contacts;
    c->batch_count = 0;
    for (uint64_t i = c->touched; i < c->queued; i++)
    {
        c->batch[c->batch_count++] = gh_str_make(c->names[i % TOUCHES], c->name_sizes[i % TOUCHES]);
    }
    gh_status status = gh_contacts_touch_many_begin(&c->change, &c->contacts, c->batch, c->batch_count);
    c->touching = status == GH_OK;
    if (status != GH_OK) c->again_us = s->now_us + RETRY_US;
}

/* Whether it was carried out or not, it may be repeated. What is refused for good would be refused again. */
static void touched(social* s, social_player* p, gh_status status)
{
    contacts_part* c = &p->contacts;
    bool again = status == GH_TIMEOUT || status == GH_UNKNOWN;
    c->touching = false;
    if (again) c->again_us = s->now_us + RETRY_US;
    else c->touched += c->batch_count;
}

/* ---- The mirror ---------------------------------------------------------------------------------------- */

static void load(social* s, social_player* p)
{
    contacts_part* c = &p->contacts;
    c->again_us = s->now_us + RETRY_US; /* not before, if it fails */
    gh_contacts_load_begin(&c->load, &c->contacts, NULL);
}

void contacts_enter(social* s, social_player* p)
{
    void* memory = s->mirrors + p->slot * s->mirror_size;
    gh_contacts_init(&p->contacts.contacts, s->client, p->name, NULL, memory, s->mirror_size);
    load(s, p);
    social_wake(s, p, PART_CONTACTS);
}

void contacts_find(social* s, social_player* p, const message* m)
{
    gh_contact found[NAMES_MAX];
    gh_str names[NAMES_MAX];
    uint32_t count = gh_contacts_complete(&p->contacts.contacts, m->text, found, NAMES_MAX);
    for (uint32_t i = 0; i < count; i++) names[i] = found[i].name;
    social_tell_names(s, p, m->number, names, count);
}

/* True: look again in the next frame. */
static bool load_frame(social* s, social_player* p)
{
    contacts_part* c = &p->contacts;
    gh_status status = gh_op_poll(&c->load.op);
    if (status == GH_PENDING) return true;
    if (!p->here) return false;
    c->loaded = status == GH_OK;
    if (!c->loaded && s->now_us >= c->again_us) load(s, p);
    return !c->loaded;
}

bool contacts_frame(social* s, social_player* p)
{
    contacts_part* c = &p->contacts;
    bool loading = !c->loaded && load_frame(s, p);
    if (c->touching)
    {
        gh_status status = gh_op_poll(&c->change.op);
        if (status == GH_PENDING) return true;
        touched(s, p, status);
    }
    bool waiting = c->queued > c->touched && p->here;
    if (waiting && s->now_us >= c->again_us) begin_touch(s, p);
    return loading || waiting;
}

/* A touch that was not begun is lost with the visit: it is a convenience. */
void contacts_leave(social* s, social_player* p)
{
    gh_op_cancel(&p->contacts.load.op);
    social_wake(s, p, PART_CONTACTS);
}
