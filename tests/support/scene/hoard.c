/* hoard.c -- locks in a row, and what the trace hook says of their requests. */

#include "support/scene/hoard.h"

#include "client/state.h"

#include <stdio.h>
#include <string.h>

#define LEASE_US (600 * SECOND_US) /* nothing is renewed meanwhile, however slow the machine */

static const gh_node* node_of_names(const hoard* self)
{
    const gh_op* op = &self->each[0].lock.op;
    return gh_node_of(self->owner->client, op->route);
}

static bool link_is_new(const hoard* self)
{
    const gh_node* node = node_of_names(self);
    return node->link.state == GH_LINK_READY &&
           (node != self->former_node || node->link.generation != self->former_link);
}

static bool all_granted(const hoard* self)
{
    for (uint32_t i = 0; i < self->begun; i++)
        if (!self->each[i].granted) return false;
    return true;
}

static void note_granted(hoard* self)
{
    for (uint32_t i = 0; i < self->begun; i++)
        if (gh_op_poll(&self->each[i].lock.op) == GH_HELD) self->each[i].granted = true;
}

static uint32_t count_of(const hoard* self, uint32_t first, gh_status status)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < self->begun; i++) count += gh_op_poll(&self->each[i].lock.op) == status;
    return count;
}

static hoarded* hoarded_of(const hoard* self, const void* op)
{
    const uintptr_t first = (uintptr_t)self->each;
    const uintptr_t at = (uintptr_t)op;
    return at < first || at >= first + HOARD_ALL * sizeof(hoarded) ? NULL : &self->each[(at - first) / sizeof(hoarded)];
}

/* What is sent for a lock that is held asks whether it still is. */
static void on_trace(void* context, const gh_trace_event* event)
{
    hoard* self = context;
    hoarded* one = self->each == NULL ? NULL : hoarded_of(self, event->op);
    if (one == NULL) return;
    if (event->kind == GH_TRACE_SENT && gh_op_poll(&one->lock.op) == GH_HELD && link_is_new(self))
    {
        if (one->asked) fail_msg("%s was asked for twice", one->name);
        one->asked = true;
        self->asked++;
    }
    if (event->kind == GH_TRACE_REPLY && one->asked) one->answered = true;
}

static bool on_assertion(void* context, const char* file, int line, const char* expression)
{
    (void)context;
    fail_msg("%s:%d: the library asserts: %s", file, line, expression);
    return false;
}

/* The link is made, and a lock was taken and given back over it. Nothing was renewed yet. */
static void warm_up(hoard* self)
{
    gh_lock* lock = GAME_NEW(self->owner, gh_lock);
    assert_status(gh_lock_begin(lock, self->owner->client, gh_str_of(self->each[0].name), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    gh_lock_release(lock);
    GAME_UNTIL(!gh_op_is_busy(&lock->op));
    assert_status(gh_op_poll(&lock->op), GH_OK);
}

hoard* hoard_start(const gh_client_config* config, bool (*has)(const char* name))
{
    static hoard the_one; /* hooks may be called until its game has ended, which is behind the test */
    hoard* self = &the_one;
    gh_client_config own = *config;
    uint32_t count = 0;
    memset(self, 0, sizeof *self);
    own.hooks = (gh_hooks){.context = self, .trace = on_trace, .assertion = on_assertion};
    own.ops_capacity = own.requests_capacity = 2 * HOARD_LOCKS;
    self->owner = game_start_with(&own);
    self->each = GAME_NEW_ARRAY(self->owner, hoarded, HOARD_ALL);
    for (unsigned n = 0; count < HOARD_ALL; n++)
    {
        char name[HOARD_NAME_SIZE];
        snprintf(name, sizeof name, "%u", n);
        if (has(name)) memcpy(self->each[count++].name, name, sizeof name);
    }
    warm_up(self);
    return self;
}

/* ---- they are taken ---------------------------------------------------------------------------------------------- */

static uint32_t bytes_unsent(const hoard* self)
{
    const gh_client* client = self->owner->client;
    uint32_t bytes = 0;
    for (const gh_node* node = client->nodes; node < client->nodes_end; node++) bytes += gh_link_unsent(&node->link);
    return bytes;
}

static void begin_until(hoard* self, uint32_t end)
{
    for (; self->begun < end; self->begun++)
    {
        hoarded* one = &self->each[self->begun];
        gh_lock_config config = gh_lock_config_default();
        config.lease_us = config.wait_us = LEASE_US;
        assert_status(gh_lock_begin(&one->lock, self->owner->client, gh_str_of(one->name), &config), GH_OK);
    }
}

static bool is_held(hoard* self)
{
    note_granted(self);
    return all_granted(self);
}

static void note_link(hoard* self)
{
    self->former_node = node_of_names(self);
    self->former_link = node_of_names(self)->link.generation;
}

void hoard_take(hoard* self)
{
    begin_until(self, HOARD_LOCKS);
    GAME_UNTIL(is_held(self));
    note_link(self);
}

static bool late_are_sent(const hoard* self)
{
    for (uint32_t i = HOARD_LOCKS; i < HOARD_ALL; i++)
        if (self->each[i].lock.op.request != GH_REQUEST_SENT) return false;
    return bytes_unsent(self) == 0;
}

void hoard_ask_late(hoard* self)
{
    begin_until(self, HOARD_ALL);
    GAME_UNTIL(late_are_sent(self));
}

void hoard_is_granted_late(hoard* self)
{
    GAME_UNTIL(is_held(self));
}

/* ---- and lost ---------------------------------------------------------------------------------------------------- */

/* Nothing is left to the client: all has been asked, or the socket is full. */
static bool is_on_the_way(const hoard* self, uint32_t first)
{
    bool awaits = false;
    if (bytes_unsent(self) > 0) return true;
    for (uint32_t i = first; i < self->begun; i++)
    {
        if (!self->each[i].asked) return false;
        awaits = awaits || !self->each[i].answered;
    }
    return awaits;
}

static void hoard_tick(hoard* self, uint32_t first)
{
    const bool waits = is_on_the_way(self, first);
    game_tick(self->owner);
    note_granted(self);
    self->counts = self->counts || (link_is_new(self) && all_granted(self));
    if (self->counts && !waits) self->ticks++;
    wait_briefly();
}

static void loses_from(hoard* self, uint32_t first)
{
    const uint64_t end_us = wait_cap_us();
    while (count_of(self, first, GH_LOST) < self->begun - first)
    {
        if (wait_now_us() >= end_us)
            fail_msg("%u are lost, %u are held, of %u", count_of(self, first, GH_LOST), count_of(self, first, GH_HELD),
                     self->begun - first);
        hoard_tick(self, first);
    }
    if (self->ticks > HOARD_TICKS) fail_msg("told after %u ticks", self->ticks);
}

void hoard_loses_all(hoard* self)
{
    loses_from(self, 0);
}

void hoard_loses_late(hoard* self)
{
    loses_from(self, HOARD_LOCKS);
    for (uint32_t i = 0; i < HOARD_LOCKS; i++) assert_status(gh_op_poll(&self->each[i].lock.op), GH_HELD);
}
