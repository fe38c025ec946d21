/* A store of many nodes: cluster.h. Real servers. */

#include "sentinel/clerks.h"
#include "support/scene/talk.h"
#include "support/server/cluster.h"
#include "wire/slot.h"

#include <stdio.h>
#include <stdlib.h>

static game* start_game(cluster* fleet)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    return game_start_with(&config);
}

static void ops_go_to_the_node_of_their_slot(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 20);
    clerks_rest(&all);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
    assert_int_equal(game_stats(a).moved, 0);
    assert_int_equal(game_stats(a).maps_read, 1);
}

static void planned_failover_is_a_delay(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 20);
    clerks_outlive_handover(&all, fleet, 0, 20);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
}

static gh_lock* lock_begun(game* owner, const char* name)
{
    gh_lock* lock = GAME_NEW(owner, gh_lock);
    gh_lock_config config = gh_lock_config_default();
    config.lease_us = 30 * SECOND_US;
    config.wait_us = 60 * SECOND_US;
    assert_status(gh_lock_begin(lock, owner->client, gh_str_of(name), &config), GH_OK);
    return lock;
}

/* Letters without an end, to mailboxes in all slots: data that know their generation. */
typedef struct sender
{
    gh_mailbox_push push;
    gh_post post;
    char name[32];
} sender;

static void senders_work(game* owner, sender* all, size_t count)
{
    for (size_t i = 0; i < count; i++)
    {
        sender* one = &all[i];
        gh_status status = one->name[0] == '\0' ? GH_OK : gh_op_poll(&one->push.op);
        if (status == GH_PENDING) continue;
        assert_true(status == GH_OK || status == GH_FULL); /* nobody reads them */
        snprintf(one->name, sizeof(one->name), "box%zu", i);
        one->post = (gh_post){.sender = gh_str_literal("alice"), .body = gh_str_literal("hello")};
        assert_status(gh_mailbox_push_begin(&one->push, ON_MAILBOX(owner->client, gh_str_of(one->name)), &one->post, 1),
                      GH_OK);
    }
}

#define CLERKS 16
#define BOXES  16

/* Who has the slots of what the clerks and the senders work on, and of the lock. */
typedef struct homes
{
    const redis_server* of[CLERKS + BOXES + 1];
} homes;

static homes homes_of(cluster* fleet)
{
    homes self;
    for (int i = 0; i < CLERKS + BOXES; i++)
    {
        char key[32];
        if (i < CLERKS) snprintf(key, sizeof key, "clerk:%d", i);
        else snprintf(key, sizeof key, "{mailbox:box%d}", i - CLERKS);
        self.of[i] = cluster_master(fleet, cluster_slot(key));
    }
    self.of[CLERKS + BOXES] = cluster_master(fleet, cluster_slot("{lock:held}"));
    return self;
}

static uint64_t count_moved(const homes* before, const homes* after)
{
    uint64_t count = 0;
    for (int i = 0; i <= CLERKS + BOXES; i++) count += before->of[i] != after->of[i];
    return count;
}

/* Each object that has moved is told so once, and of ten one twice at most. A map is not asked for with each. */
static void expect_few_moved(gh_client_stats before, gh_client_stats after, uint64_t objects, uint64_t took_us)
{
    const uint64_t moved = after.moved - before.moved;
    const uint64_t maps = after.maps_read - before.maps_read;
    fprintf(stderr, "%llu MOVED for %llu objects, %llu maps in %llu ms\n", (unsigned long long)moved,
            (unsigned long long)objects, (unsigned long long)maps, (unsigned long long)took_us / 1000);
    assert_in_range(moved, 0, (11 * objects + 9) / 10);
    assert_in_range(maps, 0, 2 + took_us / SECOND_US + 1);
}

/* A node is known by an epoch that stays there, and hears once that newer data have come. */
static void slots_move_under_load(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, CLERKS);
    sender* senders = GAME_NEW_ARRAY(a, sender, BOXES);
    gh_lock* lock = lock_begun(a, "held");
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    clerks_until(&all, 20);
    const homes former = homes_of(fleet);
    const uint64_t begun_us = game_now_us(a);
    gh_client_stats before = game_stats(a);
    cluster_reshard work = cluster_reshard_begin(fleet, NULL, cluster_master(fleet, 0), 2000);
    while (cluster_reshard_step(&work))
    {
        game_tick_all();
        clerks_work(&all);
        senders_work(a, senders, BOXES);
    }
    clerks_until(&all, 20);
    clerks_rest(&all);
    gh_client_stats after = game_stats(a);
    const uint64_t took_us = game_now_us(a) - begun_us;
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
    const homes latter = homes_of(fleet);
    expect_few_moved(before, after, count_moved(&former, &latter), took_us);
    assert_in_range(after.links_lost - before.links_lost, 0, 1);
    assert_int_equal(after.store_doubts, before.store_doubts);
    assert_status(gh_op_poll(&lock->op), GH_HELD);
}

static void killed_master_is_a_delay(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 20);
    redis_server* old = cluster_master(fleet, cluster_slot("clerk:0"));
    redis_server_kill9(old);
    clerks_until(&all, 20);
    clerks_rest(&all);
}

/* Handed on between two games by a hint, wherever its slot is. */
static void hints_reach_whoever_waits(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    game* b = start_game(fleet);
    for (int i = 0; i < 12; i++)
    {
        char name[16];
        snprintf(name, sizeof name, "door%d", i);
        gh_lock* first = lock_begun(a, name);
        GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
        GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
        gh_lock* second = lock_begun(b, name);
        GAME_UNTIL(second->position == 1); /* who is not in the queue yet is hinted nothing */
        uint64_t hints = game_stats(b).hints;
        gh_lock_release(first);
        GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
        GAME_UNTIL(game_stats(b).hints > hints); /* on a busy machine the next question may come before it */
        gh_lock_release(second);
        GAME_UNTIL(gh_op_poll(&second->op) != GH_HELD && !gh_op_is_busy(&second->op));
    }
}

/* It is back within the node time-out, so nobody takes over: only the epoch tells. */
static void master_that_is_back_empty_is_told(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    gh_lock* locks[30];
    for (int i = 0; i < 30; i++)
    {
        char name[16];
        snprintf(name, sizeof name, "door%d", i);
        locks[i] = lock_begun(a, name);
    }
    for (int i = 0; i < 30; i++) GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_HELD);
    redis_server* emptied = cluster_master(fleet, cluster_slot("{lock:door0}"));
    cluster_restart_empty(emptied);
    GAME_UNTIL(gh_op_poll(&locks[0]->op) == GH_LOST);
    for (int i = 0; i < 30; i++)
    {
        char key[32];
        snprintf(key, sizeof key, "{lock:door%d}", i);
        if (cluster_master(fleet, cluster_slot(key)) == emptied) GAME_UNTIL(gh_op_poll(&locks[i]->op) == GH_LOST);
        else assert_status(gh_op_poll(&locks[i]->op), GH_HELD);
    }
    assert_int_equal(game_stats(a).store_resets, 1);
}

static void set_epochs(cluster* fleet, const char* text)
{
    for (unsigned group = 0; group < GH_SLOT_GROUPS; group++)
    {
        char key[32];
        snprintf(key, sizeof key, "gh:{%u}:epoch", (unsigned)gh_slot_group_tag(group));
        redis_server_do(cluster_master(fleet, cluster_slot(key)), "SET %s %s", key, text);
    }
}

static unsigned epochs_that_are(cluster* fleet, const char* text)
{
    unsigned count = 0;
    for (unsigned group = 0; group < GH_SLOT_GROUPS; group++)
    {
        char key[32];
        snprintf(key, sizeof key, "gh:{%u}:epoch", (unsigned)gh_slot_group_tag(group));
        count += strcmp(redis_server_text(cluster_master(fleet, cluster_slot(key)), "GET %s", key), text) == 0;
    }
    return count;
}

static unsigned keys_of_masters(cluster* fleet)
{
    unsigned count = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++)
        if (cluster_is_master(cluster_node(fleet, i))) count += (unsigned)redis_server_keys(cluster_node(fleet, i));
    return count;
}

/* A fleet whose keys are laid out in another way has used the store: on no node is anything done, and a person is told
   why, and where. */
static void other_layouts_are_refused_in_words(void** state)
{
    (void)state;
    static const char* const others[] = {"1795250000123456", "1795250000123456 1795250000123456 3 -"};
    static const char* const words[] = {"have the layout 1, and", "have the layout 3, and"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    {
        cluster* fleet = cluster_shared();
        set_epochs(fleet, others[i]);
        game* a = start_game(fleet);
        gh_lock* locks[12];
        for (int k = 0; k < 12; k++)
        {
            char name[24];
            snprintf(name, sizeof name, "door%d", k);
            locks[k] = lock_begun(a, name);
        }
        for (int k = 0; k < 12; k++)
        {
            GAME_UNTIL(gh_op_poll(&locks[k]->op) != GH_PENDING);
            assert_status(gh_op_poll(&locks[k]->op), GH_REFUSED);
        }
        GAME_UNTIL(strstr(a->last_error, words[i]) != NULL); /* each attempt to connect says so */
        assert_int_equal(epochs_that_are(fleet, others[i]), GH_SLOT_GROUPS);
        assert_int_equal(keys_of_masters(fleet), GH_SLOT_GROUPS); /* nothing was written */
        game_end(a);
    }
}

/* What no epoch.lua wrote is said, and nothing is granted. */
static void epochs_of_another_form_are_corrupt(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    set_epochs(fleet, "x");
    game* a = start_game(fleet);
    gh_lock* lock = lock_begun(a, "door");
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_CORRUPT);
}

#define CROWD 1000

typedef struct crowd
{
    game* owner;
    gh_lock* locks[CROWD];
    bool is_there[CROWD]; /* whose slot was not its master's that was lost */
} crowd;

static crowd* crowd_begin(game* owner, cluster* fleet, const redis_server* lost)
{
    crowd* self = GAME_NEW(owner, crowd);
    self->owner = owner;
    for (int i = 0; i < CROWD; i++)
    {
        char name[24];
        char tag[32];
        snprintf(name, sizeof name, "gate%d", i);
        snprintf(tag, sizeof tag, "{lock:%s}", name);
        self->locks[i] = lock_begun(owner, name);
        self->is_there[i] = cluster_master(fleet, cluster_slot(tag)) != lost;
    }
    for (int i = 0; i < CROWD; i++) GAME_UNTIL(gh_op_poll(&self->locks[i]->op) == GH_HELD);
    return self;
}

/* Long before they would be renewed; and nobody else is told anything. */
static void crowd_is_told(const crowd* self)
{
    const uint64_t renewed_us = 10 * SECOND_US;
    for (int i = 0; i < CROWD; i++)
    {
        if (self->is_there[i]) continue;
        GAME_UNTIL(gh_op_poll(&self->locks[i]->op) == GH_LOST ||
                   gh_lock_remaining_us(self->locks[i]) < 30 * SECOND_US - renewed_us);
        assert_status(gh_op_poll(&self->locks[i]->op), GH_LOST);
    }
    for (int i = 0; i < CROWD; i++)
        if (self->is_there[i]) assert_status(gh_op_poll(&self->locks[i]->op), GH_HELD);
}

static redis_server* replica_of(cluster* fleet, const redis_server* master)
{
    redis_server* replica = cluster_replica(fleet, master, 0);
    assert_non_null(replica);
    return replica;
}

/* It had none of the locks when it took over, and the client has nothing to ask of it. */
static void lagging_replica_tells_what_it_lost(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    redis_server* master = cluster_master(fleet, cluster_slot("{lock:gate0}"));
    redis_server* replica = replica_of(fleet, master);
    redis_server_freeze(replica);
    redis_server_do(master, "CLIENT KILL TYPE replica"); /* or what lies in its socket comes to it yet */
    crowd* all = crowd_begin(a, fleet, master);
    redis_server_kill9(master);
    redis_server_thaw(replica);
    crowd_is_told(all);
}

static bool is_locked(redis_server* server)
{
    return redis_server_integer(server, "EXISTS gh:{lock:gate0}:s") == 1;
}

/* A master that was replaced while it was frozen, and acknowledges what had lain in its socket when it goes on. */
static void zombie_is_told(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    config.request_timeout_us = 20 * SECOND_US; /* so that nobody hangs up on it */
    game* a = game_start_with(&config);
    unsigned slot = cluster_slot("{lock:gate0}");
    redis_server* master = cluster_master(fleet, slot);
    (void)lock_begun(a, "other");
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 10);
    redis_server_freeze(master);
    gh_lock* lock = lock_begun(a, "gate0");
    for (int i = 0; i < 20; i++) game_tick_all(); /* its request lies there */
    assert_ptr_not_equal(cluster_await_master(fleet, slot, master), master);
    redis_server_thaw(master);
    redis_server* owner = cluster_await_master(fleet, slot, master);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_HELD);
    GAME_UNTIL(gh_op_poll(&lock->op) == GH_LOST || is_locked(owner));
    assert_status(gh_op_poll(&lock->op), is_locked(owner) ? GH_HELD : GH_LOST);
    clerks_rest(&all);
}

static void nodes_come_and_go(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 10);
    redis_server* added = cluster_add(fleet);
    cluster_reshard work = cluster_reshard_begin(fleet, NULL, added, 300);
    while (cluster_reshard_step(&work))
    {
        game_tick_all();
        clerks_work(&all);
    }
    clerks_until(&all, 10);
    work = cluster_reshard_begin(fleet, added, NULL, cluster_slots_of(added));
    while (cluster_reshard_step(&work))
    {
        game_tick_all();
        clerks_work(&all);
    }
    clerks_until(&all, 10);
    clerks_rest(&all);
    cluster_remove(fleet, added);
    clerks_until(&all, 10);
    clerks_rest(&all);
    assert_int_equal(clerks_lost_in(&all, fleet), 0);
}

/* Whoever has replaced a master may not have the newest of its data, and gives ids that were given before: so they are
   those of a new epoch, also where the client was sent there by MOVED before it has seen a map. */
static void ids_of_a_new_master_are_of_a_new_epoch(void** state)
{
    (void)state;
    cluster* fleet = cluster_start(NULL);
    game* a = start_game(fleet);
    gh_mailbox* mailbox = GAME_NEW(a, gh_mailbox);
    gh_mailbox_push* push = GAME_NEW(a, gh_mailbox_push);
    gh_post post = {.body = gh_str_literal("hello")};
    uint64_t epoch = 0;
    assert_status(gh_mailbox_init(mailbox, a->client, gh_str_literal("m"), NULL), GH_OK);
    const unsigned slot = cluster_slot("gh:{mailbox:m}:s");
    for (int i = 0; i < 3; i++)
    {
        assert_status(gh_mailbox_push_begin(push, mailbox, &post, 1), GH_OK);
        GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
        assert_status(gh_op_poll(&push->op), GH_OK);
        assert_true(push->epoch > epoch);
        epoch = push->epoch;
        redis_server* old = cluster_master(fleet, slot);
        (void)cluster_failover(fleet, slot, CLUSTER_TAKEOVER);
        (void)cluster_await_master(fleet, slot, old);
        cluster_settle(fleet);
    }
    assert_true(game_stats(a).moved > 0);
}

static redis_server* other_master(cluster* fleet, unsigned slot)
{
    redis_server* master = cluster_master(fleet, slot);
    for (unsigned other = 0; other < CLUSTER_SLOTS; other += 1024)
        if (cluster_master(fleet, other) != master) return cluster_master(fleet, other);
    fail_msg("there is one master");
    return NULL;
}

/* Always with one at least: a master without slots becomes a replica. */
static void have_only(cluster* fleet, redis_server* node, redis_server* other, unsigned slot)
{
    unsigned left = 0;
    cluster_reshard work = cluster_reshard_begin(fleet, node, other, cluster_slots_of(node) - 1);
    while (cluster_reshard_step(&work))
    {
    }
    while (cluster_master(fleet, left) != node) left++;
    cluster_move_slot(fleet, slot, node);
    cluster_move_slot(fleet, left, other);
}

/* A node with one slot has no key that tells an epoch, and was of an older generation when it had more. */
static void chat_goes_on_where_no_epoch_lies(void** state)
{
    (void)state;
    cluster_options options = {.masters = 3, .append_only = true};
    cluster* fleet = cluster_start(&options);
    game* a = start_game(fleet);
    clerks all = clerks_start(a, 16);
    clerks_until(&all, 2);
    clerks_rest(&all);
    unsigned slot = cluster_slot("gh:{chat:hall}:s");
    redis_server* old = cluster_master(fleet, slot);
    redis_server* new = other_master(fleet, slot);
    redis_server_kill9(old);
    redis_server_restart(old);
    cluster_settle(fleet);
    assert_int_equal(chat_make(a, "hall", "jason", 100, 10), GH_OK);
    chat_say_numbers(a, "hall", "jason", 1, 1);
    have_only(fleet, new, old, slot);
    assert_int_equal(cluster_slots_of(new), 1);
    chat_say_numbers(a, "hall", "jason", 1, 2);
    chat_reader* jason = chat_reader_new(a, "hall", "jason");
    assert_int_equal(chat_read(jason), GH_OK);
    assert_numbers(jason->fetch.messages, jason->fetch.count, 1, 1);
}

static uint64_t push_epoch(game* from, const char* name)
{
    gh_mailbox mailbox;
    gh_mailbox_push* push = GAME_NEW(from, gh_mailbox_push);
    gh_post post = {.body = gh_str_literal("hello")};
    assert_status(gh_mailbox_init(&mailbox, from->client, gh_str_of(name), NULL), GH_OK);
    assert_status(gh_mailbox_push_begin(push, &mailbox, &post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&push->op) != GH_PENDING);
    assert_status(gh_op_poll(&push->op), GH_OK);
    return push->epoch;
}

/* What a master has lost by its restart is not known at the node to which the slot goes back, and where the row of ids
   began: that node is of the row's generation still. */
static void losses_go_with_the_slot(void** state)
{
    (void)state;
    cluster_options options = {.masters = 3, .append_only = true};
    cluster* fleet = cluster_start(&options);
    game* a = start_game(fleet);
    const unsigned slot = cluster_slot("gh:{mailbox:m}:s");
    redis_server* home = cluster_master(fleet, slot);
    redis_server* other = other_master(fleet, slot);
    char beside[32], key[64];
    unsigned number = 0;
    do
    {
        snprintf(beside, sizeof beside, "beside %u", number++);
        snprintf(key, sizeof key, "gh:{mailbox:beside%%20%u}:s", number - 1);
    } while (cluster_master(fleet, cluster_slot(key)) != other);
    uint64_t before = push_epoch(a, "m");
    (void)push_epoch(a, beside);
    cluster_move_slot(fleet, slot, other);
    redis_server_kill9(other);
    redis_server_restart(other);
    cluster_settle(fleet);
    (void)push_epoch(a, beside); /* so the client has heard of the restart */
    cluster_move_slot(fleet, slot, home);
    assert_true(push_epoch(a, "m") > before);
}

TEST_FILE(cluster, cmocka_unit_test(ops_go_to_the_node_of_their_slot), cmocka_unit_test(planned_failover_is_a_delay),
          cmocka_unit_test(slots_move_under_load), cmocka_unit_test(killed_master_is_a_delay),
          cmocka_unit_test(hints_reach_whoever_waits), cmocka_unit_test(master_that_is_back_empty_is_told),
          cmocka_unit_test(other_layouts_are_refused_in_words), cmocka_unit_test(epochs_of_another_form_are_corrupt),
          cmocka_unit_test(lagging_replica_tells_what_it_lost), cmocka_unit_test(zombie_is_told),
          cmocka_unit_test(nodes_come_and_go), cmocka_unit_test(ids_of_a_new_master_are_of_a_new_epoch),
          cmocka_unit_test(chat_goes_on_where_no_epoch_lies), cmocka_unit_test(losses_go_with_the_slot));
