/* The defect that the naive way has on Redis Cluster: its steps touch keys of several slots at once, which no
   node does. Here three nodes share the slots, a client talks to one of them, and each system's operations
   either work, where the object's slot is the node's, or are refused as the slot of another node, and never
   for touching two. */

#include "support/faults/counting.h"
#include "support/scene/desk.h"
#include "support/scene/parcel.h"
#include "support/scene/permits.h"
#include "support/scene/places.h"
#include "support/scene/refresher.h"
#include "support/scene/talk.h"
#include "support/scene/social.h"
#include "support/server/cluster.h"

#include <stdio.h>
#include <string.h>

#define NODES     3
#define NAME_SIZE 24

typedef struct scene
{
    cluster* fleet;
    redis_server* nodes[NODES];
    game* games[NODES];
    char prefixes[NODES][16];
    long long shake_errors[NODES]; /* "ERR" of the hand-shakes: commands that are tried without sense */
} scene;

static size_t owner_of(const scene* self, const char* key)
{
    const redis_server* owner = cluster_master(self->fleet, cluster_slot(key));
    size_t i = 0;
    while (self->nodes[i] != owner) i++;
    return i;
}

/* A client for each node, with a prefix whose epoch lies there. */
static long long errors_of(redis_server* node, const char* kind)
{
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "errorstat_%s:count=", kind);
    long long count = redis_server_told(node, "INFO errorstats", wanted);
    return count < 0 ? 0 : count;
}

static scene start_scene(void)
{
    scene self;
    memset(&self, 0, sizeof(self));
    self.fleet = cluster_start(&(cluster_options){.masters = NODES, .node_timeout_ms = 15000});
    for (size_t i = 0; i < NODES; i++) self.nodes[i] = cluster_node(self.fleet, i);
    for (unsigned number = 0, found = 0; found < NODES; number++)
    {
        char prefix[16];
        char key[32];
        snprintf(prefix, sizeof(prefix), "p%u", number);
        snprintf(key, sizeof(key), "%s:epoch", prefix);
        size_t node = owner_of(&self, key);
        if (self.prefixes[node][0] != '\0') continue;
        memcpy(self.prefixes[node], prefix, sizeof(prefix));
        gh_client_config config = game_config(redis_server_address(self.nodes[node]));
        config.prefix = gh_str_of(prefix);
        self.games[node] = game_start_with(&config);
        found++;
    }
    for (size_t i = 0; i < NODES; i++) GAME_UNTIL(gh_client_ready(self.games[i]->client));
    for (size_t i = 0; i < NODES; i++) self.shake_errors[i] = errors_of(self.nodes[i], "ERR");
    return self;
}

/* A name whose object of that kind belongs to the node; tag is like "lock:%s". */
static const char* name_on(const scene* self, size_t node, const char* tag, char name[NAME_SIZE])
{
    for (unsigned i = 0;; i++)
    {
        char key[64];
        char inner[48];
        snprintf(name, NAME_SIZE, "n%u", i);
        snprintf(inner, sizeof(inner), tag, name);
        snprintf(key, sizeof(key), "{%s}", inner);
        if (owner_of(self, key) == node) return name;
    }
}

/* As redis counts the errors that it has given. */
/* ---- the systems' operations, each for an object of a name --------------------------------------------- */

/* Begins on that game, waits, and says how it ended. */
typedef gh_status (*operation)(game* from, const char* name);

static gh_status take_a_lock(game* from, const char* name)
{
    gh_lock* lock = GAME_NEW(from, gh_lock);
    assert_status(gh_lock_begin(lock, from->client, gh_str_of(name), NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    gh_status status = gh_op_poll(&lock->op);
    if (status != GH_HELD) return status;
    gh_lock_release(lock);
    GAME_UNTIL(gh_op_poll(&lock->op) != GH_PENDING);
    assert_status(gh_op_poll(&lock->op), GH_OK);
    return GH_OK;
}

static gh_status take_a_permit(game* from, const char* name)
{
    gh_permit* permit = permit_want(from, name, 2, SECOND_US, SECOND_US);
    gh_status status = permit_settle(permit);
    return status == GH_HELD ? permit_give_back(permit) : status;
}

static gh_status run_a_task(game* from, const char* name)
{
    desk* clerk = desk_open(from, name);
    gh_task_spec task = {.handler = gh_str_literal("work"), .id = gh_str_literal("t1")};
    gh_status status = desk_push_all(clerk, &task, 1);
    if (status != GH_OK) return status;
    desk_take_one(clerk, "t1");
    assert_status(desk_extend(clerk), GH_OK);
    desk_finish_all(clerk);
    assert_int_equal(desk_look(clerk, "t1"), GH_TASK_STATE_DONE);
    assert_status(desk_push_delayed(clerk, "t2", 3600 * SECOND_US), GH_OK);
    assert_status(desk_cancel(clerk, "t2"), GH_OK);
    assert_int_equal(desk_count(clerk)->handed_out, 0);
    return GH_OK;
}

static gh_status send_mail(game* from, const char* name)
{
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_mailbox_fetch* fetch = GAME_NEW(from, gh_mailbox_fetch);
    gh_mailbox_commit* commit = GAME_NEW(from, gh_mailbox_commit);
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.buffer_size = 8 * 1024;
    config.buffer = game_new(from, config.buffer_size);
    gh_str box = gh_str_of(name);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(from->client, box), talk_numbers(from, "joe", 2, 0), 2),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    if (gh_op_poll(&push->op) != GH_OK) return gh_op_poll(&push->op);
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(from->client, box), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    assert_int_equal(fetch->count, 2);
    assert_status(gh_mailbox_commit_begin(commit, ON_MAILBOX(from->client, box), fetch->epoch, 2), GH_OK);
    GAME_UNTIL(gh_op_poll(&commit->op) != GH_PENDING);
    return gh_op_poll(&commit->op);
}

static gh_status touch_a_contact(game* from, const char* name)
{
    gh_contacts_load* load = GAME_NEW(from, gh_contacts_load);
    gh_contacts_change* change = GAME_NEW(from, gh_contacts_change);
    gh_contacts* contacts = mirrored_contacts(from, gh_str_of(name), NULL);
    assert_status(gh_contacts_touch_begin(change, contacts, gh_str_literal("mia")), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    if (gh_op_poll(&change->op) != GH_OK) return gh_op_poll(&change->op);
    assert_status(gh_contacts_load_begin(load, contacts, NULL), GH_OK);
    GAME_UNTIL(gh_op_poll(&load->op) != GH_PENDING);
    return gh_op_poll(&load->op);
}

static gh_status join_a_guild(game* from, const char* name)
{
    gh_guild_change* change = GAME_NEW(from, gh_guild_change);
    gh_guild_member* member = GAME_NEW(from, gh_guild_member);
    gh_guild_search* search = GAME_NEW(from, gh_guild_search);
    gh_guild_search_config config = gh_guild_search_config_default();
    gh_str guild = gh_str_of(name);
    config.limit = 2;
    config.buffer_size = GH_GUILD_BUFFER_SIZE(2);
    config.buffer = game_new(from, config.buffer_size);
    member->name = gh_str_literal("jenny");
    assert_status(gh_guild_join_begin(change, a_guild(from->client, guild, NULL), member, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&change->op) != GH_PENDING);
    if (gh_op_poll(&change->op) != GH_OK) return gh_op_poll(&change->op);
    assert_status(gh_guild_complete_begin(search, a_guild(from->client, guild, NULL), gh_str_literal("je"), &config),
                  GH_OK);
    GAME_UNTIL(gh_op_poll(&search->op) != GH_PENDING);
    assert_int_equal(search->count, 1);
    return gh_op_poll(&search->op);
}

static gh_status send_a_file(game* from, const char* name)
{
    const char* bytes = parcel_bytes(from, 10000, 1, false);
    sender* out = sender_new(from, 1, bytes, 10000);
    gh_status status = sender_run(out, gh_str_of(name));
    if (status != GH_OK) return status;
    reader* in = reader_new(from, 10000);
    assert_status(reader_run(in, gh_str_of(name), "0"), GH_OK);
    assert_got(in, bytes, 10000);
    return GH_OK;
}

static gh_status add_totals(game* from, const char* name)
{
    gh_aggregate* aggregate = places_aggregate(from, places_world(from), 2);
    assert_status(gh_aggregate_add(aggregate, gh_str_literal("81.0.0.1 2011-10-10 13:55:36 x\n")), GH_OK);
    return places_flush(from, aggregate, name, "log");
}

static gh_status count_a_hit(game* from, const char* name)
{
    gh_counter_read* read = GAME_NEW(from, gh_counter_read);
    gh_counter_read_config config = gh_counter_read_config_default();
    config.seconds = 86400;
    config.samples = GAME_NEW_ARRAY(from, gh_counter_sample, 4);
    config.sample_count = 4;
    assert_status(gh_counter_read_begin(read, from->client, gh_str_of(name), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&read->op) != GH_PENDING);
    gh_status status = gh_op_poll(&read->op);
    if (status != GH_EMPTY) return status;
    counting* hits = counting_start(from, NULL);
    counting_add(hits, name, 3);
    counting_settle(hits);
    assert_status(gh_counter_read_begin(read, from->client, gh_str_of(name), &config), GH_OK);
    GAME_UNTIL(gh_op_poll(&read->op) != GH_PENDING);
    assert_int_equal(read->sum, 3);
    gh_counters_end(hits->counters);
    GAME_UNTIL(gh_counters_poll(hits->counters) == GH_IDLE);
    return GH_OK;
}

static gh_status cache_a_row(game* from, const char* name)
{
    row_read* read = row_read_new(from);
    gh_status status = row_schedule(from, name, 60 * SECOND_US);
    if (status != GH_OK) return status;
    refresher* self = refresher_start(from, 2);
    GAME_UNTIL(row_get(from, read, name) == GH_OK);
    assert_status(row_unschedule(from, name), GH_OK);
    gh_op_cancel(&self->rows.op);
    GAME_UNTIL(gh_op_poll(&self->rows.op) != GH_PENDING);
    return GH_OK;
}

/* A chat and the list of its members' chats are two objects: the members are of the same node. */
static const char* member; /* of the node that is tried */

static gh_status talk(game* from, const char* name)
{
    gh_status status = chat_make(from, name, member, 100, 100);
    if (status != GH_OK) return status;
    chat_say_numbers(from, name, member, 2, 0);
    chat_reader* reads = chat_reader_new(from, name, member);
    assert_status(chat_read(reads), GH_OK);
    assert_numbers(reads->fetch.messages, 2, 0, 1);
    chat_handle_all(reads);
    assert_status(chat_read(reads), GH_EMPTY);
    assert_status(chat_quit(from, name, member), GH_OK);
    return GH_OK;
}

/* ---- the test ------------------------------------------------------------------------------------------ */

/* Once where the object is, and once where it is not. */
static void try_both(const scene* self, size_t node, const char* what, const char* tag, operation run)
{
    char here[NAME_SIZE];
    char there[NAME_SIZE];
    name_on(self, node, tag, here);
    name_on(self, (node + 1) % NODES, tag, there);
    gh_status status = run(self->games[node], here);
    if (status != GH_OK) fail_msg("%s on its node ended %s", what, gh_status_name(status));
    status = run(self->games[node], there);
    if (status != GH_REFUSED) fail_msg("%s on another node ended %s", what, gh_status_name(status));
}

static void keys_of_a_step_share_a_slot_on_three_nodes(void** state)
{
    (void)state;
    static const struct
    {
        const char* what;
        const char* tag;
        operation run;
    } rows[] = {
        {"a lock", "lock:%s", take_a_lock},
        {"a permit", "semaphore:%s", take_a_permit},
        {"a task", "tasks:%s", run_a_task},
        {"mail", "mailbox:%s", send_mail},
        {"a contact", "contacts:%s", touch_a_contact},
        {"a guild", "guild:%s", join_a_guild},
        {"a file", "file:%s", send_a_file},
        {"totals", "daily:%s.2011-10-10", add_totals},
        {"a chat", "chat:%s", talk},
    };
    scene self = start_scene();
    for (size_t node = 0; node < NODES; node++)
    {
        char player[NAME_SIZE];
        member = name_on(&self, node, "chats:%s", player);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            try_both(&self, node, rows[i].what, rows[i].tag, rows[i].run);
    }
    for (size_t node = 0; node < NODES; node++)
    {
        assert_int_equal(errors_of(self.nodes[node], "CROSSSLOT"), 0);
        assert_int_equal(errors_of(self.nodes[node], "ERR"),
                         self.shake_errors[node]); /* a script that touches a key of elsewhere */
        assert_true(errors_of(self.nodes[node], "MOVED") >= (long long)(sizeof(rows) / sizeof(rows[0])));
    }
}

/* Rows and counters lie in shards, by a digest of their names: some are here, the others elsewhere. */
static void shards_lie_in_a_slot_each_on_three_nodes(void** state)
{
    (void)state;
    scene self = start_scene();
    for (size_t node = 0; node < NODES; node++)
    {
        unsigned here[2] = {0, 0};
        for (unsigned i = 0; i < 12; i++)
        {
            char name[NAME_SIZE];
            char tag[2][32];
            snprintf(name, sizeof(name), "n%u", i);
            snprintf(tag[0], sizeof(tag[0]), "{rows:%u}", row_shard(name));
            snprintf(tag[1], sizeof(tag[1]), "{counters:%u}", stored_shard(name));
            const operation runs[2] = {cache_a_row, count_a_hit};
            for (int k = 0; k < 2; k++)
            {
                bool ours = owner_of(&self, tag[k]) == node;
                if (ours && here[k]++ > 0) continue; /* once is enough */
                assert_status(runs[k](self.games[node], name), ours ? GH_OK : GH_REFUSED);
            }
        }
        assert_true(here[0] > 0 && here[1] > 0);
    }
    for (size_t node = 0; node < NODES; node++)
    {
        assert_int_equal(errors_of(self.nodes[node], "CROSSSLOT"), 0);
        assert_int_equal(errors_of(self.nodes[node], "ERR"), self.shake_errors[node]);
        assert_true(errors_of(self.nodes[node], "MOVED") > 0);
    }
}

/* A client asks for the epoch first, and that lies on the node of <prefix>:epoch. */
static void prefix_of_another_node_is_refused(void** state)
{
    (void)state;
    scene self = start_scene();
    for (size_t node = 0; node < NODES; node++)
    {
        size_t other = (node + 1) % NODES;
        char name[NAME_SIZE];
        gh_client_config config = game_config(redis_server_address(self.nodes[node]));
        config.prefix = gh_str_of(self.prefixes[other]);
        game* stranger = game_start_with(&config);
        name_on(&self, node, "lock:%s", name);
        assert_status(take_a_lock(stranger, name), GH_REFUSED);
        assert_false(gh_client_ready(stranger->client));
        assert_status(take_a_lock(self.games[node], name), GH_OK); /* with a prefix of the node's own */
    }
}

TEST_FILE(defects_cluster, cmocka_unit_test(keys_of_a_step_share_a_slot_on_three_nodes),
          cmocka_unit_test(prefix_of_another_node_is_refused),
          cmocka_unit_test(shards_lie_in_a_slot_each_on_three_nodes));
