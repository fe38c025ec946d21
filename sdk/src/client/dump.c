/* dump.c -- a client as text for a person, a line at a time. It changes nothing, so that it may be asked for from a
   hook, in the middle of a tick. Shows no name, no payload and no secret. */

#include "client/link.h"
#include "client/state.h"
#include "wire/name.h"

#define DUMP_LINE_MAX 200u
#define DUMP_ROWS_MAX 64u /* kinds of ops, each state apart; what is beyond is counted together */
#define DUMP_SENT_MAX 8u  /* of the requests on the wire, the oldest                              */

#define DUMP_VERSION_TEXT(major, minor, patch) "guildhall " #major "." #minor "." #patch
#define DUMP_VERSION(major, minor, patch)      DUMP_VERSION_TEXT(major, minor, patch)

typedef struct dump
{
    gh_dump_line write;
    void* context;
    size_t size;
    char bytes[DUMP_LINE_MAX];
} dump;

typedef struct dump_row
{
    const gh_op_kind* kind;
    uint32_t state;
    uint32_t ops;
    uint32_t requests[GH_REQUEST_STATES];
} dump_row;

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void dump_add(dump* to, gh_str text)
{
    size_t i;
    for (i = 0; i < text.size && to->size < DUMP_LINE_MAX; i++)
        to->bytes[to->size++] = text.bytes[i] >= ' ' && text.bytes[i] <= '~' ? text.bytes[i] : '?';
}

static void dump_text(dump* to, const char* text)
{
    dump_add(to, gh_str_of(text));
}

static void dump_number(dump* to, const char* before, uint64_t number)
{
    char digits[GH_DECIMAL_SIZE_MAX];
    dump_text(to, before);
    dump_add(to, gh_str_make(digits, (size_t)(gh_decimal_encode(number, digits) - digits)));
}

static void dump_id(dump* to, const char* before, uint64_t id)
{
    char digits[GH_HEX_SIZE];
    gh_hex_encode(id, digits);
    dump_text(to, before);
    dump_add(to, gh_str_make(digits, sizeof digits));
}

/* From now on; what should have been is 0. */
static void dump_due(dump* to, const char* before, const gh_client* client, uint64_t due_us)
{
    if (due_us == GH_FOREVER)
    {
        dump_text(to, before);
        dump_text(to, "never");
        return;
    }
    dump_number(to, before, due_us > client->now_us ? due_us - client->now_us : 0);
    dump_text(to, " us");
}

static void dump_end_line(dump* to)
{
    to->write(to->context, gh_str_make(to->bytes, to->size));
    to->size = 0;
}

/* ---- what is shown ----------------------------------------------------------------------------------------------- */

static void dump_head(dump* to, const gh_client* client)
{
    dump_text(to, DUMP_VERSION(GH_VERSION_MAJOR, GH_VERSION_MINOR, GH_VERSION_PATCH));
    dump_id(to, ", client ", client->id);
    dump_text(to, !client->ticked ? ", never ticked" : client->ticking ? ", in a tick" : "");
    if (client->draining) dump_due(to, ", draining, over in ", client, client->drain_end_us);
    dump_end_line(to);
}

static void dump_link(dump* to, const gh_client* client, const gh_link* link)
{
    static const char* const states[] = {"idle", "resolving", "connecting", "hand-shake", "ready", "back-off"};
    dump_text(to, link->title);
    dump_text(to, states[link->state]);
    if (link->state == GH_LINK_CONNECTING || link->state == GH_LINK_HANDSHAKE || link->state == GH_LINK_BACKOFF)
        dump_due(to, " for another ", client, link->due_us);
    dump_number(to, ", connection ", link->generation);
    dump_number(to, ", failed in a row ", link->failures);
    dump_number(to, ", unsent bytes ", gh_link_unsent(link));
    dump_text(to, ", to ");
    dump_add(to, link->target->text);
    dump_end_line(to);
}

static uint32_t dump_ring_size(const gh_ring* ends)
{
    const gh_ring* at = ends->next;
    uint32_t count = 0;
    for (; at != ends; at = at->next) count++;
    return count;
}

static void dump_queues(dump* to, const gh_node* node)
{
    const gh_client* client = node->client;
    dump_number(to, "requests: urgent ", node->urgent.count);
    dump_number(to, ", waiting ", node->waiting.count);
    dump_number(to, ", on the wire ", node->sent_count);
    dump_number(to, " of ", client->config.requests_capacity);
    dump_text(to, node->held_back ? ", held back by an answer" : node->leaving ? ", leaving the server" : "");
    dump_end_line(to);
}

/* Those of many that nobody ever needed are left out, here and of a topology's. */
static void dump_nodes(dump* to, const gh_client* client)
{
    const gh_node* node;
    for (node = client->nodes; node < client->nodes_end; node++)
    {
        if (client->many && node->link.generation == 0) continue;
        dump_link(to, client, &node->link);
        dump_queues(to, node);
    }
}

static void dump_changes(dump* to, const gh_client* client)
{
    dump_number(to, "changes: of this tick ", dump_ring_size(&client->changed));
    dump_number(to, ", to be handed out ", dump_ring_size(&client->to_be_seen));
    dump_end_line(to);
}

static void dump_timers(dump* to, const gh_client* client)
{
    dump_due(to, "timers: next in ", client, gh_heap_due(&client->timers));
    dump_number(to, ", leases ", client->leases[0].count + client->leases[1].count);
    dump_due(to, ", the first ends in ", client,
             gh_heap_due(&client->leases[gh_heap_due(&client->leases[0]) > gh_heap_due(&client->leases[1])]));
    dump_number(to, ", to hear of a doubt ", client->leases[1 - client->leases_side].count);
    dump_number(to, ", to be swept ", client->sweep_left);
    dump_end_line(to);
}

/* ---- ops --------------------------------------------------------------------------------------------------------- */

static dump_row* dump_row_of(dump_row* rows, uint32_t* count, const gh_op* op)
{
    uint32_t i;
    for (i = 0; i < *count; i++)
        if (rows[i].kind == op->kind && rows[i].state == op->state) return &rows[i];
    if (*count == DUMP_ROWS_MAX) return NULL;
    memset(&rows[*count], 0, sizeof rows[*count]);
    rows[*count].kind = op->kind;
    rows[*count].state = op->state;
    return &rows[(*count)++];
}

static void dump_ops(dump* to, const gh_client* client)
{
    dump_row rows[DUMP_ROWS_MAX];
    uint32_t count = 0;
    uint32_t others = 0;
    uint32_t i;
    for (i = 0; i < client->timers.count; i++)
    {
        const gh_op* op = gh_op_of_timer(gh_heap_at(&client->timers, i)->place);
        dump_row* row = dump_row_of(rows, &count, op);
        if (row == NULL) others++;
        if (row == NULL) continue;
        row->ops++;
        row->requests[op->request]++;
    }
    dump_number(to, "ops: busy ", client->timers.count);
    dump_number(to, " of ", client->timers.capacity);
    if (others > 0) dump_number(to, ", not shown below ", others);
    dump_end_line(to);
    for (i = 0; i < count; i++)
    {
        dump_text(to, "  ");
        dump_text(to, rows[i].kind->name);
        dump_number(to, ", state ", rows[i].state);
        dump_number(to, ": ", rows[i].ops);
        dump_number(to, ", of these queued ", rows[i].requests[GH_REQUEST_QUEUED]);
        dump_number(to, ", sent ", rows[i].requests[GH_REQUEST_SENT]);
        dump_number(to, ", paused ", rows[i].requests[GH_REQUEST_PAUSED]);
        if (client->config.replicas != NULL) dump_number(to, ", awaited ", rows[i].requests[GH_REQUEST_AWAITED]);
        dump_end_line(to);
    }
}

static void dump_sent(dump* to, const gh_node* node)
{
    const gh_client* client = node->client;
    const gh_slot* slot = node->sent;
    uint32_t i;
    for (i = 0; slot != NULL && i < DUMP_SENT_MAX; i++, slot = slot->next)
    {
        const bool is_op = slot->purpose == GH_SLOT_OP;
        dump_text(to, "  on the wire: ");
        dump_text(to, slot->op != NULL ? slot->op->kind->name : is_op ? "an op that has ended" : "the client itself");
        dump_number(to, ", for ", client->now_us - slot->sent_us);
        dump_text(to, " us");
        dump_end_line(to);
    }
}

/* ---- stats ------------------------------------------------------------------------------------------------------- */

/* All of gh_client_stats, in its order. */
static const struct
{
    const char* name;
    size_t offset;
    size_t size;
} dump_fields[] = {
#define DUMP_FIELD(name) {#name " ", offsetof(gh_client_stats, name), sizeof(((gh_client_stats*)0)->name)}
    DUMP_FIELD(ops_busy),
    DUMP_FIELD(requests_waiting),
    DUMP_FIELD(requests_sent),
    DUMP_FIELD(out_bytes_used),
    DUMP_FIELD(oldest_request_us),
    DUMP_FIELD(round_trip_us),
    DUMP_FIELD(nodes_known),
    DUMP_FIELD(nodes_ready),
    DUMP_FIELD(ops_busy_max),
    DUMP_FIELD(requests_sent_max),
    DUMP_FIELD(out_bytes_used_max),
    DUMP_FIELD(reply_bytes_max),
    DUMP_FIELD(ticks),
    DUMP_FIELD(ticks_over_budget),
    DUMP_FIELD(ops_begun),
    DUMP_FIELD(ops_ended),
    DUMP_FIELD(ops_unknown),
    DUMP_FIELD(ops_abandoned),
    DUMP_FIELD(requests),
    DUMP_FIELD(replies),
    DUMP_FIELD(replies_late),
    DUMP_FIELD(resends),
    DUMP_FIELD(retries),
    DUMP_FIELD(script_reloads),
    DUMP_FIELD(links_ready),
    DUMP_FIELD(links_lost),
    DUMP_FIELD(protocol_errors),
    DUMP_FIELD(store_resets),
    DUMP_FIELD(store_doubts),
    DUMP_FIELD(scripts_halved),
    DUMP_FIELD(moved),
    DUMP_FIELD(asked),
    DUMP_FIELD(try_again),
    DUMP_FIELD(maps_read),
    DUMP_FIELD(failovers),
    DUMP_FIELD(unreplicated),
    DUMP_FIELD(hints),
    DUMP_FIELD(hints_sharded),
    DUMP_FIELD(log_lines_held),
    DUMP_FIELD(bytes_sent),
    DUMP_FIELD(bytes_received),
    DUMP_FIELD(server_version),
    DUMP_FIELD(warnings)
#undef DUMP_FIELD
};

static void dump_stats(dump* to, const gh_client* client)
{
    gh_client_stats stats;
    size_t i;
    if (gh_client_get_stats(client, &stats) != GH_OK) return;
    for (i = 0; i < sizeof dump_fields / sizeof dump_fields[0]; i++)
    {
        const char* at = (const char*)&stats + dump_fields[i].offset;
        uint32_t small = 0;
        uint64_t large = 0;
        if (dump_fields[i].size == sizeof small) memcpy(&small, at, sizeof small);
        else memcpy(&large, at, sizeof large);
        dump_number(to, dump_fields[i].name, dump_fields[i].size == sizeof small ? small : large);
        dump_end_line(to);
    }
}

gh_status gh_client_dump(const gh_client* client, gh_dump_line write, void* context)
{
    const gh_link* link;
    uint32_t n;
    dump to;
    if (!gh_client_is_one(client)) return GH_INVALID_CLIENT;
    if (write == NULL) return GH_INVALID_OUT;
    to.write = write;
    to.context = context;
    to.size = 0;
    dump_head(&to, client);
    dump_nodes(&to, client);
    if (client->config.wake) dump_link(&to, client, &client->wake);
    for (n = 0; (link = gh_client_topology_link((gh_client*)(uintptr_t)client, n)) != NULL; n++)
        if (!client->many || link->generation > 0) dump_link(&to, client, link);
    dump_changes(&to, client);
    dump_sent(&to, client->nodes);
    dump_timers(&to, client);
    dump_ops(&to, client);
    dump_stats(&to, client);
    return GH_OK;
}
