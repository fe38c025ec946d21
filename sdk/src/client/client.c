/* client.c -- a client's memory, its beginning and its end. */

#include "base/least.h"
#include "base/sized.h"
#include "base/wipe.h"
#include "client/lend.h"
#include "client/link.h"
#include "client/refusal.h"
#include "client/state.h"
#include "client/replicas.h"
#include "wire/name.h"

#define WAKE_OUT_BYTES   1024u /* AUTH with the longest user and password, SUBSCRIBE, PING */
#define WAKE_REPLY_BYTES 512u
#define WAKE_REPLY_NODES 8u

static uint32_t power_of_two_from(uint32_t least)
{
    uint32_t power = 1;
    while (power < least && power < 0x80000000u) power *= 2;
    return power;
}

/* How many nodes there are, and who finds them. Where replicas are waited for, each server has two. */
static uint32_t carve_places(gh_client* client)
{
    gh_client_config* config = &client->config;
    const struct gh_topology* beneath = config->topology;
    client->beneath = beneath;
    client->many_servers = beneath != NULL && beneath->nodes != NULL;
    client->servers = client->many_servers ? beneath->nodes(config) : 1;
    client->many = client->many_servers || config->replicas != NULL;
    if (config->replicas != NULL) config->topology = &config->replicas->topology;
    return config->replicas == NULL ? client->servers : 2 * client->servers;
}

/* One link has its buffers always; many share some. */
static bool carve_node_links(gh_arena* arena, gh_client* client, uint32_t nodes)
{
    const gh_client_config* config = &client->config;
    gh_inbox inbox;
    char* out = NULL;
    bool fits;
    uint32_t i;
    memset(&inbox, 0, sizeof inbox);
    if (client->many)
    {
        fits = gh_lend_carve(arena, client);
        inbox = client->lent_inbox;
        inbox.bytes = NULL;
    }
    else
    {
        out = (char*)gh_arena_take_as_is(arena, config->out_bytes);
        fits = gh_inbox_take(&inbox, arena, config->reply_bytes, config->reply_nodes);
    }
    for (i = 0; client->nodes != NULL && i < nodes; i++)
    {
        client->nodes[i].link.out = out;
        client->nodes[i].link.out_capacity = config->out_bytes;
        client->nodes[i].link.inbox = inbox;
    }
    return fits;
}

static bool carve_links(gh_arena* arena, gh_client* client, uint32_t nodes)
{
    const gh_client_config* config = &client->config;
    bool fits;
    gh_reader_take(&client->reader, arena, config->reply_nodes);
    fits = carve_node_links(arena, client, nodes);
    if (config->wake)
    {
        client->wake.out = (char*)gh_arena_take(arena, WAKE_OUT_BYTES);
        client->wake.out_capacity = WAKE_OUT_BYTES;
        fits = gh_inbox_take(&client->wake.inbox, arena, WAKE_REPLY_BYTES, WAKE_REPLY_NODES);
        gh_inbox_skip_long(&client->wake.inbox); /* anybody may publish anything */
    }
    return fits;
}

/* Cuts everything but the client itself from the arena. Measuring, it goes through the same steps and cuts nothing. */
static bool carve(gh_arena* arena, gh_client* client)
{
    gh_client_config* config = &client->config;
    uint32_t listeners = power_of_two_from(config->ops_capacity);
    gh_str addresses = config->address;
    const uint32_t nodes = carve_places(client);
    gh_heap_entry* leases;
    bool fits;
    config->address = gh_arena_copy(arena, addresses);
    if (config->address.bytes != NULL) addresses = config->address;
    config->user = gh_arena_copy(arena, config->user);
    config->password = gh_arena_copy(arena, config->password);
    config->client_name = gh_arena_copy(arena, config->client_name);
    config->prefix = gh_arena_copy(arena, config->prefix);
    config->sentinel_name = gh_arena_copy(arena, config->sentinel_name);
    config->sentinel_user = gh_arena_copy(arena, config->sentinel_user);
    config->sentinel_password = gh_arena_copy(arena, config->sentinel_password);
    client->timers.entries = (gh_heap_entry*)gh_arena_take(arena, sizeof(gh_heap_entry) * config->ops_capacity);
    leases = (gh_heap_entry*)gh_arena_take(arena, sizeof(gh_heap_entry) * config->ops_capacity);
    client->nodes = (gh_node*)gh_arena_take(arena, sizeof(gh_node) * nodes);
    client->slots = (gh_slot*)gh_arena_take(arena, sizeof(gh_slot) * config->requests_capacity);
    client->detached = (gh_detached*)gh_arena_take(arena, sizeof(gh_detached) * config->detached_capacity);
    client->listeners = (gh_op**)gh_arena_take(arena, sizeof(gh_op*) * listeners);
    client->gates = (gh_gate**)gh_arena_take(arena, sizeof(gh_gate*) * listeners);
    client->timers.capacity = config->ops_capacity;
    gh_heap_share(&client->leases[0], &client->leases[1], leases, config->ops_capacity);
    client->listener_mask = listeners - 1;
    fits = carve_links(arena, client, nodes);
    return client->beneath == NULL ? fits : client->beneath->carve(arena, client, addresses);
}

size_t gh_client_memory(const gh_client_config* config)
{
    gh_arena arena = gh_arena_make(NULL, 0);
    gh_client measured;
    if (gh_config_check(config) != GH_OK) return 0;
    memset(&measured, 0, sizeof measured);
    measured.config = *config;
    gh_arena_take(&arena, sizeof(gh_client));
    carve(&arena, &measured);
    return arena.used;
}

static bool is_platform(const gh_platform* platform)
{
    return platform != NULL && platform->now_us != NULL && platform->entropy != NULL && platform->open != NULL &&
           platform->connected != NULL && platform->send != NULL && platform->receive != NULL &&
           platform->close != NULL;
}

static gh_status check_init(const void* memory, size_t size, const gh_client_config* config,
                            const gh_platform* platform, gh_client** client)
{
    gh_status status = gh_config_check(config);
    if (status != GH_OK) return status;
    if (!is_platform(platform)) return GH_INVALID_PLATFORM;
    if (client == NULL) return GH_INVALID_OUT;
    return gh_arena_fits(memory, size, gh_client_memory(config)) ? GH_OK : GH_INVALID_MEMORY;
}

static void init_nodes(gh_client* client)
{
    gh_node* node = client->nodes;
    client->nodes_end = node + client->servers;
    for (; node < client->nodes_end; node++)
    {
        node->client = client;
        gh_link_init(&node->link, GH_LOG_COMMAND_LINK, "command link: ", &client->target);
    }
    if (client->config.replicas != NULL) client->config.replicas->init(client);
    client->resting = client->nodes;
    gh_nodes_wake(client);
    gh_link_init(&client->wake, GH_LOG_WAKE_LINK, "wake link: ", &client->target);
}

gh_status gh_client_init(void* memory, size_t size, const gh_client_config* config, const gh_platform* platform,
                         gh_client** client)
{
    gh_arena arena = gh_arena_make(memory, size);
    uint64_t random[2] = {0, 0};
    gh_client* made;
    gh_status status = check_init(memory, size, config, platform, client);
    if (status != GH_OK) return status;
    if (!platform->entropy(platform->context, random, sizeof random)) return GH_INVALID_PLATFORM;
    if (random[0] == 0 || random[1] == 0) return GH_INVALID_PLATFORM; /* one in 2^63, or a generator that is none */

    made = (gh_client*)gh_arena_take(&arena, sizeof(gh_client));
    made->config = *config;
    made->platform = platform;
    made->id = random[0];
    made->random = random[1];
    made->now_us = GH_START_US;
    if (!carve(&arena, made)) return GH_INVALID_MEMORY;
    init_nodes(made);
    gh_slots_init(made);
    if (config->topology == NULL) gh_target_parse(made->config.address, &made->target);
    gh_changes_init(made);
    gh_detached_init(made);
    gh_scripts_init(made);
    made->magic = GH_CLIENT_MAGIC;
    *client = made;
    return GH_OK;
}

/* ---- looking at it ----------------------------------------------------------------------------------------------- */

/* How far it has come. One that has to try again wanted to. */
static uint32_t link_rank(const gh_link* link)
{
    return link->state == GH_LINK_BACKOFF ? 1 : 2 * (uint32_t)link->state;
}

/* Of many links for commands the one that has come furthest. */
static const gh_link* link_of(const gh_client* client, gh_link_name link)
{
    const gh_link* best = &client->nodes->link;
    const gh_node* node;
    if (link == GH_LINK_WAKE) return &client->wake;
    for (node = client->nodes; node < client->nodes_end && best->state != GH_LINK_READY; node++)
        if (link_rank(&node->link) > link_rank(best)) best = &node->link;
    return best;
}

static bool link_wants_write(const gh_link* link)
{
    return link->state == GH_LINK_CONNECTING || gh_link_unsent(link) > 0;
}

/* From now on each tick reads all that has arrived. */
static void watch(gh_client* client)
{
    if (!client->watched) gh_nodes_wake(client);
    client->watched = true;
}

intptr_t gh_client_fd(gh_client* client, gh_link_name link, bool* want_write)
{
    if (want_write != NULL) *want_write = false;
    if (!gh_client_is_one(client) || (client->many && link != GH_LINK_WAKE)) return -1;
    watch(client);
    if (want_write != NULL) *want_write = link_wants_write(link_of(client, link));
    return link_of(client, link)->stream;
}

gh_link* gh_client_topology_link(gh_client* client, uint32_t n)
{
    return client->config.topology == NULL ? NULL : client->config.topology->link(client, n);
}

static gh_link* nth_link(gh_client* client, uint32_t n)
{
    const uint32_t nodes = (uint32_t)(client->nodes_end - client->nodes);
    if (n < nodes) return &client->nodes[n].link;
    return n == nodes ? &client->wake : gh_client_topology_link(client, n - nodes - 1);
}

uint32_t gh_client_handles(gh_client* client, gh_client_handle* handles, uint32_t capacity)
{
    const gh_link* link;
    uint32_t count = 0;
    uint32_t n;
    if (!gh_client_is_one(client)) return 0;
    watch(client);
    for (n = 0; (link = nth_link(client, n)) != NULL; n++)
    {
        if (!link->has_stream) continue;
        if (count < capacity && handles != NULL)
        {
            handles[count].handle = link->stream;
            handles[count].want_write = link_wants_write(link);
        }
        count++;
    }
    return count;
}

gh_link_state gh_client_link_state(const gh_client* client, gh_link_name link)
{
    return gh_client_is_one(client) ? link_of(client, link)->state : GH_LINK_IDLE;
}

bool gh_client_ready(const gh_client* client)
{
    return gh_client_link_state(client, GH_LINK_COMMANDS) == GH_LINK_READY;
}

gh_node* gh_node_of_many(const gh_client* client, uint16_t route)
{
    return &client->nodes[client->config.topology->place(client, route)];
}

uint64_t gh_client_id(const gh_client* client)
{
    return gh_client_is_one(client) ? client->id : 0;
}

gh_status gh_client_unique(gh_client* client, char out[GH_UNIQUE_SIZE])
{
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (out == NULL)
    {
        gh_refusal_note(client, GH_INVALID_OUT);
        return GH_INVALID_OUT;
    }
    *gh_token_encode(client->id, ++client->sequence, out) = 0;
    return GH_OK;
}

uint32_t gh_client_warnings(const gh_client* client)
{
    uint32_t warnings = client->stats.warnings;
    const gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++) warnings |= node->warnings | node->warnings_found;
    return warnings;
}

gh_status gh_client_read_stats(const gh_client* client, void* stats, size_t size)
{
    gh_client_stats known;
    const gh_node* node;
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (stats == NULL) return GH_INVALID_OUT;
    known = client->stats;
    known.warnings = gh_client_warnings(client);
    known.nodes_known = client->config.topology == NULL ? 1 : client->config.topology->known(client);
    for (node = client->nodes; node < client->nodes_end; node++)
    {
        if (node->main == NULL && node->link.state == GH_LINK_READY) known.nodes_ready++;
        if (gh_inbox_reply_bytes_max(&node->link.inbox) > known.reply_bytes_max)
            known.reply_bytes_max = gh_inbox_reply_bytes_max(&node->link.inbox);
    }
    gh_sized_give(stats, size, &known, sizeof known);
    return GH_OK;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

gh_status gh_client_drain(gh_client* client, uint64_t within_us)
{
    uint64_t end_us;
    bool within;
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    end_us = gh_client_after(client, within_us);
    if (client->draining)
    {
        client->drain_end_us = gh_least(client->drain_end_us, end_us);
        return GH_OK;
    }
    client->draining = true;
    client->drain_end_us = end_us;
    within = client->ticking;
    client->ticking = true;
    gh_op_sweep(client, GH_EVENT_CANCEL);
    if (!within) gh_changes_of_tick(client); /* the last tick may have been */
    client->ticking = within;
    return GH_OK;
}

bool gh_client_drained(const gh_client* client)
{
    return gh_client_is_one(client) && client->draining && client->timers.count == 0;
}

static void wipe_str(gh_str secret)
{
    gh_wipe((void*)(uintptr_t)secret.bytes, secret.size);
}

static void end_link(gh_client* client, gh_link* link)
{
    gh_link_shut(link, client);
    if (link->inbox.bytes != NULL) gh_inbox_wipe(&link->inbox);
    if (link->out != NULL) gh_wipe(link->out, link->out_used);
}

void gh_client_shutdown(gh_client* client)
{
    gh_link* link;
    uint32_t n;
    if (!gh_client_is_one(client) || client->ticking) return;
    client->draining = client->ticking = true;
    gh_op_sweep(client, GH_EVENT_CLOSE);
    gh_changes_forget(client);
    for (n = 0; (link = nth_link(client, n)) != NULL; n++) end_link(client, link);
    if (client->many) gh_lend_wipe(client);
    wipe_str(client->config.user);
    wipe_str(client->config.password);
    wipe_str(client->config.sentinel_user);
    wipe_str(client->config.sentinel_password);
    client->magic = 0;
}
