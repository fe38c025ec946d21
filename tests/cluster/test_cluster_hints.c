/* Hints that stay on the node of their object: config.wake_sharded. Real servers. */

#include "support/scene/desk.h"
#include "support/scene/locks.h"
#include "support/scene/permits.h"
#include "support/scene/rights.h"
#include "support/scene/talk.h"
#include "support/server/cluster.h"

#include <stdio.h>
#include <string.h>

#define LONG_US (600 * SECOND_US)

static gh_client_config config_of(cluster* fleet, bool sharded)
{
    gh_client_config config = game_config("unix:/nowhere");
    config.address = gh_str_of(cluster_seeds(fleet));
    config.topology = gh_topology_cluster();
    config.wake_sharded = sharded;
    return config;
}

static game* start_game(cluster* fleet, bool sharded)
{
    gh_client_config config = config_of(fleet, sharded);
    game* started = game_start_with(&config);
    GAME_UNTIL(gh_client_link_state(started->client, GH_LINK_WAKE) == GH_LINK_READY);
    return started;
}

/* On all masters that run. */
static size_t channels_of(cluster* fleet, const game* listener)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        redis_server* node = cluster_node(fleet, i);
        if (!redis_server_runs(node) || !cluster_is_master(node)) continue;
        redisReply* reply = redis_server_command(node, "PUBSUB SHARDCHANNELS");
        for (size_t n = 0; n < reply->elements; n++)
        {
            char id[17];
            snprintf(id, sizeof id, "%016llx", (unsigned long long)gh_client_id(listener->client));
            if (strstr(reply->element[n]->str, id) != NULL) count++;
        }
        freeReplyObject(reply);
    }
    return count;
}

static bool is_heard(redis_server* node, const char* tag, const game* listener)
{
    char channel[80];
    snprintf(channel, sizeof channel, "gh:{%s}:wake:%016llx", tag, (unsigned long long)gh_client_id(listener->client));
    redisReply* reply = redis_server_command(node, "PUBSUB SHARDNUMSUB %s", channel);
    const bool heard = reply->elements == 2 && reply->element[1]->integer == 1;
    freeReplyObject(reply);
    return heard;
}

static long long calls_of(cluster* fleet, const char* command)
{
    long long calls = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++)
        if (redis_server_runs(cluster_node(fleet, i))) calls += redis_server_calls(cluster_node(fleet, i), command);
    return calls;
}

/* ---- whoever waits ----------------------------------------------------------------------------------------------- */

/* a does what b waits for. */
typedef struct stage
{
    cluster* fleet;
    game* a;
    game* b;
    uint64_t hints;
    uint64_t sharded;
    long long published; /* less what each new link to a node asks once: whether it may */
} stage;

static stage stage_set(void)
{
    cluster_needs_names(); /* of servers of 7.0, as SPUBLISH */
    stage self = {.fleet = cluster_shared()};
    self.a = start_game(self.fleet, true);
    self.b = start_game(self.fleet, true);
    return self;
}

static long long published_by_scripts(const stage* self)
{
    return calls_of(self->fleet, "publish") -
           (long long)(game_stats(self->a).links_ready + game_stats(self->b).links_ready);
}

/* b listens at so many objects, and a does it now. */
static void stage_act(stage* self, size_t channels)
{
    GAME_UNTIL(channels_of(self->fleet, self->b) == channels);
    for (int i = 0; i < 20; i++) game_tick_all();
    self->published = published_by_scripts(self);
    self->hints = game_stats(self->b).hints;
    self->sharded = game_stats(self->b).hints_sharded;
}

static void stage_heard(const stage* self)
{
    GAME_UNTIL(game_stats(self->b).hints_sharded > self->sharded); /* it may have asked before it was told */
    assert_int_equal(game_stats(self->b).hints - self->hints, game_stats(self->b).hints_sharded - self->sharded);
    assert_int_equal(published_by_scripts(self), self->published);
    assert_int_equal(game_stats(self->b).warnings & GH_WARNING_NOT_SHARDED, 0);
}

static void lock_is_handed_on(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_lock* first = lock_begun(self.a, "door", 60 * SECOND_US, LONG_US);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
    gh_lock* second = lock_begun(self.b, "door", 60 * SECOND_US, LONG_US);
    GAME_UNTIL(second->position == 1);
    stage_act(&self, 1);
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    stage_heard(&self);
}

static void permit_is_handed_on(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_permit* first = permit_hold_one(self.a, "gate", 1, 60 * SECOND_US);
    gh_permit* second = permit_want(self.b, "gate", 1, 60 * SECOND_US, LONG_US);
    GAME_UNTIL(second->position == 1);
    stage_act(&self, 1);
    gh_permit_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    stage_heard(&self);
}

static void letter_is_read(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_mailbox_fetch* fetch = GAME_NEW(self.b, gh_mailbox_fetch);
    gh_mailbox_push* push = GAME_NEW(self.a, gh_mailbox_push);
    gh_post post = {.body = gh_str_literal("hello")};
    gh_mailbox_fetch_config config = gh_mailbox_fetch_config_default();
    config.wait_us = LONG_US;
    config.buffer = GAME_NEW_ARRAY(self.b, char, 4096);
    config.buffer_size = 4096;
    assert_status(gh_mailbox_fetch_begin(fetch, ON_MAILBOX(self.b->client, gh_str_literal("box")), &config), GH_OK);
    stage_act(&self, 1);
    assert_status(gh_mailbox_push_begin(push, ON_MAILBOX(self.a->client, gh_str_literal("box")), &post, 1), GH_OK);
    GAME_UNTIL(gh_op_poll(&fetch->op) != GH_PENDING);
    assert_status(gh_op_poll(&fetch->op), GH_OK);
    stage_heard(&self);
}

static void task_is_taken(void** state)
{
    (void)state;
    stage self = stage_set();
    desk* taker = desk_open(self.b, "jobs");
    desk* giver = desk_open(self.a, "jobs");
    taker->config.wait_us = LONG_US;
    assert_status(
        gh_tasks_take_begin(&taker->take, desk_queue(taker), taker->tasks, 1, taker->memory, sizeof taker->memory),
        GH_OK);
    stage_act(&self, 1);
    assert_status(desk_push(giver, "one", "payload"), GH_OK);
    GAME_UNTIL(gh_op_poll(&taker->take.op) != GH_PENDING);
    assert_status(gh_op_poll(&taker->take.op), GH_OK);
    stage_heard(&self);
}

static gh_task_action work_done(void* context, gh_task* task)
{
    (void)context;
    (void)task;
    return GH_TASK_ACTION_DONE;
}

/* It has others ask, and is told by another op than these. */
static void worker_is_woken(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_tasks_worker* worker = GAME_NEW(self.b, gh_tasks_worker);
    desk* giver = desk_open(self.a, "errands");
    gh_task_handler* handler = GAME_NEW(self.b, gh_task_handler);
    gh_tasks_worker_queue* queue = GAME_NEW(self.b, gh_tasks_worker_queue);
    gh_queue* errands = GAME_NEW(self.b, gh_queue);
    gh_tasks_worker_config config = gh_tasks_worker_config_default();
    assert_status(gh_queue_init(errands, self.b->client, gh_str_literal("errands"), NULL), GH_OK);
    *handler = (gh_task_handler){.name = gh_str_literal("work"), .function = work_done};
    queue->queue = errands;
    config.handlers = handler;
    config.handler_count = 1;
    config.queues = queue;
    config.queue_count = 1;
    config.slots = GAME_NEW_ARRAY(self.b, gh_task, 4);
    config.slot_count = 4;
    config.memory = GAME_NEW_ARRAY(self.b, char, 4 * GH_TASK_BYTES_MAX);
    config.memory_size = 4 * GH_TASK_BYTES_MAX;
    assert_status(gh_tasks_worker_begin(worker, self.b->client, &config), GH_OK);
    stage_act(&self, 1);
    assert_status(desk_push(giver, "one", "payload"), GH_OK);
    GAME_UNTIL(worker->done == 1);
    stage_heard(&self);
}

static void chat_is_followed(void** state)
{
    (void)state;
    stage self = stage_set();
    assert_status(chat_make(self.a, "hall", "jason joe", 100, 10), GH_OK);
    chat_reader* jason = chat_reader_new(self.b, "hall", "jason");
    jason->config.wait_us = LONG_US;
    chat_read_begin(jason);
    stage_act(&self, 1);
    chat_say_numbers(self.a, "hall", "joe", 1, 1);
    assert_status(chat_read_settle(jason), GH_OK);
    stage_heard(&self);
}

/* At the list of a player, and at his chat. */
static void feed_is_told(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_chat_feed* feed = GAME_NEW(self.b, gh_chat_feed);
    gh_chat_player* player = GAME_NEW(self.b, gh_chat_player);
    gh_chat_feed_config config = gh_chat_feed_config_default();
    gh_chat_line line;
    config.rooms = GAME_NEW_ARRAY(self.b, gh_chat_room, 4);
    config.room_count = 4;
    config.seats = GAME_NEW_ARRAY(self.b, gh_chat_seat, 4);
    config.seat_count = 4;
    config.buffer = GAME_NEW_ARRAY(self.b, char, 4 * 8192);
    config.buffer_size = 4 * 8192;
    config.messages_max = 16;
    assert_status(chat_make(self.a, "yard", "jason joe", 100, 10), GH_OK);
    assert_status(gh_chat_feed_begin(feed, self.b->client, &config), GH_OK);
    assert_status(gh_chat_feed_add(feed, player, gh_str_literal("jason")), GH_OK);
    GAME_UNTIL(!gh_chat_feed_line(feed, &line) && channels_of(self.fleet, self.b) == 2);
    stage_act(&self, 2);
    chat_say_numbers(self.a, "yard", "joe", 1, 1);
    GAME_UNTIL(gh_chat_feed_line(feed, &line));
    stage_heard(&self);
}

/* ---- a fleet of both sorts --------------------------------------------------------------------------------------- */

static void handed_on(game* from, game* to, const char* name)
{
    gh_lock* first = lock_begun(from, name, 60 * SECOND_US, LONG_US);
    GAME_UNTIL(gh_op_poll(&first->op) == GH_HELD);
    gh_lock* second = lock_begun(to, name, 60 * SECOND_US, LONG_US);
    GAME_UNTIL(second->position == 1);
    for (int i = 0; i < 20; i++) game_tick_all();
    const uint64_t hints = game_stats(to).hints;
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    GAME_UNTIL(game_stats(to).hints > hints); /* on a busy machine the next question may come before it */
    gh_lock_release(second);
    GAME_UNTIL(!gh_op_is_busy(&second->op));
}

/* While a new build comes to one server of a fleet after the other. */
static void both_sorts_hear_each_other(void** state)
{
    (void)state;
    cluster_needs_names();
    cluster* fleet = cluster_shared();
    game* old = start_game(fleet, false);
    game* new = start_game(fleet, true);
    char name[16];
    for (int i = 0; i < 6; i++)
    {
        snprintf(name, sizeof name, "mixed%d", i);
        handed_on(old, new, name);
        handed_on(new, old, name);
    }
    assert_int_equal(game_stats(old).hints_sharded + game_stats(new).hints_sharded, 0);
}

/* ---- slots and nodes that move ----------------------------------------------------------------------------------- */

static redis_server* other_master(cluster* fleet, unsigned slot)
{
    redis_server* master = cluster_master(fleet, slot);
    for (unsigned other = 0; other < CLUSTER_SLOTS; other += 1024)
        if (cluster_master(fleet, other) != master) return cluster_master(fleet, other);
    fail_msg("there is one master");
    return NULL;
}

/* b waits at the door, and listens where its slot is. */
static gh_lock* waits_at_the_door(stage* self, gh_lock** first)
{
    *first = lock_begun(self->a, "door", 60 * SECOND_US, LONG_US);
    GAME_UNTIL(gh_op_poll(&(*first)->op) == GH_HELD);
    gh_lock* second = lock_begun(self->b, "door", 60 * SECOND_US, LONG_US);
    GAME_UNTIL(second->position == 1);
    GAME_UNTIL(is_heard(cluster_master(self->fleet, cluster_slot("{lock:door}")), "lock:door", self->b));
    return second;
}

static void slot_that_moves_is_followed(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_lock* first;
    gh_lock* second = waits_at_the_door(&self, &first);
    const unsigned slot = cluster_slot("{lock:door}");
    redis_server* to = other_master(self.fleet, slot);
    cluster_move_slot(self.fleet, slot, to);
    GAME_UNTIL(is_heard(to, "lock:door", self.b));
    stage_act(&self, 1);
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    assert_true(game_stats(self.b).hints_sharded > self.sharded);
}

static void node_that_dies_is_followed(void** state)
{
    (void)state;
    cluster_needs_names();
    stage self = {.fleet = cluster_start(NULL)};
    self.a = start_game(self.fleet, true);
    self.b = start_game(self.fleet, true);
    gh_lock* first;
    gh_lock* second = waits_at_the_door(&self, &first);
    const unsigned slot = cluster_slot("{lock:door}");
    redis_server* old = cluster_master(self.fleet, slot);
    redis_server_kill9(old);
    for (redis_server* master = old; master == old || master == NULL; master = cluster_master(self.fleet, slot))
        game_tick_all();
    GAME_UNTIL(cluster_master(self.fleet, slot) != old &&
               is_heard(cluster_master(self.fleet, slot), "lock:door", self.b));
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
}

/* What it was told while its link was cut is gone, so it asks, though it would not for seconds. */
static void cut_link_is_made_again(void** state)
{
    (void)state;
    stage self = stage_set();
    gh_lock* first;
    gh_lock* second = waits_at_the_door(&self, &first);
    redis_server* master = cluster_master(self.fleet, cluster_slot("{lock:door}"));
    const uint64_t requests = game_stats(self.b).requests;
    redis_server_do(master, "CLIENT KILL TYPE pubsub");
    GAME_UNTIL(game_stats(self.b).requests > requests);
    GAME_UNTIL(is_heard(master, "lock:door", self.b));
    stage_act(&self, 1);
    gh_lock_release(first);
    GAME_UNTIL(gh_op_poll(&second->op) == GH_HELD);
    assert_true(game_stats(self.b).hints_sharded > self.sharded);
}

/* ---- rights ------------------------------------------------------------------------------------------------------ */

static void heard_with_rights(const char* rights, bool sharded)
{
    char user[2200];
    snprintf(user, sizeof user, "%s %s", rights_in_a_cluster(), rights);
    cluster* fleet = cluster_start(&(cluster_options){.user = user});
    gh_client_config config = config_of(fleet, true);
    config.user = gh_str_literal("game");
    config.password = gh_str_literal("secret");
    game* a = game_start_with(&config);
    game* b = game_start_with(&config);
    GAME_UNTIL(gh_client_link_state(b->client, GH_LINK_WAKE) == GH_LINK_READY);
    for (int i = 0; i < 3; i++) handed_on(a, b, "door");
    assert_int_equal(game_stats(b).hints_sharded > 0, sharded);
    assert_int_equal((game_stats(b).warnings & GH_WARNING_NOT_SHARDED) == 0, sharded);
    cluster_end(fleet);
}

/* Without them hints come as they did. */
static void rights_that_lack_are_told(void** state)
{
    (void)state;
    cluster_needs_names();
    heard_with_rights("&gh:{*}:wake:* +spublish +ssubscribe +sunsubscribe", true);
    heard_with_rights("&gh:{*}:wake:* +spublish", false);
    heard_with_rights("&gh:{*}:wake:* +ssubscribe +sunsubscribe", false);
    heard_with_rights("+spublish +ssubscribe +sunsubscribe", false);
}

TEST_FILE(cluster_hints, cmocka_unit_test(lock_is_handed_on), cmocka_unit_test(permit_is_handed_on),
          cmocka_unit_test(letter_is_read), cmocka_unit_test(task_is_taken), cmocka_unit_test(worker_is_woken),
          cmocka_unit_test(chat_is_followed), cmocka_unit_test(feed_is_told),
          cmocka_unit_test(both_sorts_hear_each_other), cmocka_unit_test(slot_that_moves_is_followed),
          cmocka_unit_test(node_that_dies_is_followed), cmocka_unit_test(cut_link_is_made_again),
          cmocka_unit_test(rights_that_lack_are_told));
