/* made_cluster.c -- nodes that answer by what is true, or by what the test says instead. */

#include "support/server/made_cluster.h"

#include <stdio.h>
#include <string.h>

static void say(byte_buffer* reply, const char* text)
{
    buffer_add(reply, text, strlen(text));
}

static bool is(gh_str word, const char* text)
{
    return gh_str_equal(word, gh_str_of(text));
}

/* ---- what nodes say ---------------------------------------------------------------------------------------------- */

void made_map_begin(byte_buffer* reply, unsigned rows)
{
    char text[32];
    snprintf(text, sizeof text, "*%u\r\n", rows);
    say(reply, text);
}

void made_map_row(byte_buffer* reply, unsigned first, unsigned last, const char* host, int host_size, long port)
{
    char text[64];
    snprintf(text, sizeof text, "*3\r\n:%u\r\n:%u\r\n*4\r\n$%d\r\n", first, last, host_size);
    say(reply, text);
    if (host_size >= 0)
    {
        buffer_add(reply, host, (size_t)host_size);
        say(reply, "\r\n");
    }
    snprintf(text, sizeof text, ":%ld\r\n$40\r\n%040ld\r\n*0\r\n", port, port);
    say(reply, text);
}

/* Each of these slots has the owner of the one before. */
static bool goes_on(const made_cluster* fleet, unsigned last, unsigned count)
{
    const uint16_t* owners = fleet->owners + last;
    return last + count < GH_SLOTS && memcmp(owners, owners + 1, count * sizeof(*owners)) == 0;
}

static unsigned last_of_range(const made_cluster* fleet, unsigned first)
{
    unsigned last = first;
    while (goes_on(fleet, last, 256)) last += 256;
    while (goes_on(fleet, last, 1)) last++;
    return last;
}

void made_map_true(made_cluster* fleet, byte_buffer* reply)
{
    unsigned rows = 0;
    for (unsigned first = 0; first < GH_SLOTS; first = last_of_range(fleet, first) + 1) rows++;
    made_map_begin(reply, rows);
    for (unsigned first = 0; first < GH_SLOTS; first = last_of_range(fleet, first) + 1)
        made_map_row(reply, first, last_of_range(fleet, first), "10.0.0.1", 8, (long)MADE_PORT + fleet->owners[first]);
}

void made_redirect(byte_buffer* reply, const char* word, unsigned slot, unsigned node)
{
    char text[64];
    snprintf(text, sizeof text, "-%s %u 10.0.0.1:%u\r\n", word, slot, MADE_PORT + node);
    say(reply, text);
}

static bool is_of_an_op(const gh_str* words)
{
    const gh_str end = gh_str_literal(":epoch"); /* else it is the hand-shake's */
    return words[3].size < end.size || memcmp(words[3].bytes + words[3].size - end.size, end.bytes, end.size) != 0;
}

static bool answer_script(made_cluster* fleet, unsigned node, bool asked, const gh_str* words, byte_buffer* reply)
{
    const unsigned slot = gh_slot_of_key(words[3]);
    if (is_of_an_op(words))
    {
        fleet->requests++;
        fleet->asked[node]++;
        if (fleet->lie != NULL && fleet->lie(fleet, node, slot, reply)) return true;
    }
    if (fleet->owners[slot] == node || asked) return false;
    made_redirect(reply, "MOVED", slot, fleet->owners[slot]);
    return true;
}

static bool answer(scripted* world, const gh_str* words, size_t count, byte_buffer* reply)
{
    made_cluster* fleet = world->context;
    const unsigned node = world->asked->port - MADE_PORT;
    bool* asking = &fleet->asking[world->asked - world->streams];
    const bool asked = *asking; /* by the command right before this one */
    *asking = is(words[0], "ASKING");
    if (node >= MADE_NODES_MAX) fail_msg("a client connects to port %u", world->asked->port);
    if (count == 2 && is(words[0], "CLUSTER"))
    {
        fleet->maps++;
        if (fleet->map != NULL) fleet->map(fleet, reply);
        else made_map_true(fleet, reply);
        return true;
    }
    return count > 3 && is(words[0], "EVALSHA") && answer_script(fleet, node, asked, words, reply);
}

/* ---- who asks ---------------------------------------------------------------------------------------------------- */

void made_cluster_share(made_cluster* fleet, unsigned count)
{
    fleet->count = count;
    for (unsigned slot = 0; slot < GH_SLOTS; slot++) fleet->owners[slot] = (uint16_t)(slot * count / GH_SLOTS);
}

made_cluster* made_cluster_new(unsigned count)
{
    scripted* world = scripted_new();
    made_cluster* fleet = SCRIPTED_NEW(world, made_cluster);
    fleet->world = world;
    fleet->config = scripted_config();
    fleet->config.address = gh_str_literal("10.0.0.1:7000");
    fleet->config.topology = gh_topology_cluster();
    world->context = fleet;
    world->answer = answer;
    world->streams_max = SCRIPTED_STREAMS_MAX;
    made_cluster_share(fleet, count);
    return fleet;
}

void made_cluster_start(made_cluster* fleet)
{
    scripted_start(fleet->world, &fleet->config);
}

static void cycle(made_cluster* fleet, made_cycler* self)
{
    const gh_status status = gh_op_poll(&self->lock.op);
    if (status == GH_HELD) gh_lock_release(&self->lock);
    if (gh_op_is_busy(&self->lock.op)) return;
    if (status == GH_OK) self->cycles++;
    else if (status < 0) fail_msg("a lock in slot %u: %s", self->slot, gh_status_name(status));
    gh_lock_config config = gh_lock_config_default();
    config.wait_us = 3600000000u;
    assert_int_equal(gh_lock_begin(&self->lock, fleet->world->client, gh_str_of(self->name), &config), GH_OK);
}

void made_cluster_tick(made_cluster* fleet, uint64_t later_us)
{
    const unsigned long before = fleet->requests;
    for (unsigned i = 0; i < fleet->cycler_count; i++) cycle(fleet, &fleet->cyclers[i]);
    scripted_tick(fleet->world, later_us);
    if (fleet->requests - before > fleet->requests_most) fleet->requests_most = fleet->requests - before;
}

unsigned made_name(const made_cluster* fleet, unsigned node, unsigned number, char name[24])
{
    for (unsigned i = 0;; i++)
    {
        char key[40];
        snprintf(name, 24, "door%u_%u", number, i);
        const int size = snprintf(key, sizeof key, "{lock:%s}", name);
        const unsigned slot = gh_slot_of_key(gh_str_make(key, (size_t)size));
        if (fleet->owners[slot] == node) return slot;
    }
}

made_cycler* made_cluster_cycle(made_cluster* fleet, unsigned node)
{
    assert_true(fleet->cycler_count < MADE_CYCLERS);
    made_cycler* self = &fleet->cyclers[fleet->cycler_count];
    self->slot = made_name(fleet, node, fleet->cycler_count++, self->name);
    return self;
}

gh_lock* made_cluster_want(made_cluster* fleet, unsigned node, uint64_t wait_us)
{
    char* name = scripted_keep(fleet->world, 24);
    (void)made_name(fleet, node, 1000, name);
    return scripted_want(fleet->world, name, 10000000, wait_us);
}
