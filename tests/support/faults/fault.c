/* fault.c -- the runs of the fault matrix: one start, one fault, one audit. */

#include "support/faults/fault.h"

#include "support/faults/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server runs; change is what this scene wants of its client. */
static fault_scene scene_on(redis_server* server, void (*change)(gh_client_config* config))
{
    fault_scene scene;
    memset(&scene, 0, sizeof(scene));
    scene.server = server;
    scene.proxy = proxy_start(redis_server_tcp_address(server), PROXY_TCP);
    gh_client_config config = game_config(proxy_address(scene.proxy));
    config.wake = false;
    config.backoff_min_us = 1000;
    config.backoff_max_us = 20000;
    gh_client_config other = config;
    other.address = gh_str_of(redis_server_address(server));
    scene.other = game_start_with(&other);
    if (change != NULL) change(&config);
    scene.game = game_start_with(&config);
    GAME_UNTIL(gh_client_ready(scene.game->client) && gh_client_ready(scene.other->client));
    return scene;
}

static fault_scene make_scene(bool append_only, void (*change)(gh_client_config* config))
{
    redis_server_options options = {.tcp = true, .append_only = append_only};
    return scene_on(redis_server_start(&options), change);
}

static void start_run(fault_scene* scene, const fault_operation* operation)
{
    GAME_UNTIL(gh_client_ready(scene->game->client) && gh_client_ready(scene->other->client));
    scene->run++;
    snprintf(scene->name, sizeof(scene->name), "%s%llu", operation->name, (unsigned long long)scene->run);
    scene->op = game_new(scene->game, operation->op_size);
    scene->more = operation->more_size == 0 ? NULL : game_new(scene->game, operation->more_size);
    if (operation->prepare != NULL) operation->prepare(scene);
    /* Until the wire is silent: no byte of the preparation may be taken for one of the operation. */
    GAME_UNTIL(game_stats(scene->game).requests_sent == 0 && game_stats(scene->game).requests_waiting == 0);
    scene->other->asleep = true;
}

static bool is_over(fault_scene* scene, const fault_operation* operation)
{
    return operation->over != NULL ? operation->over(scene) : operation->poll(scene->op) != GH_PENDING;
}

static void end_run(fault_scene* scene, const fault_operation* operation, gh_status also, const char* fault,
                    uint64_t at)
{
    GAME_UNTIL(is_over(scene, operation));
    gh_status status = operation->poll(scene->op);
    proxy_disarm(scene->proxy);
    scene->other->asleep = false;
    bool in_doubt = status == GH_UNKNOWN && also == GH_CANCELLED && scene->leaves_doubt;
    if (status != GH_OK && status != GH_HELD && status != also && !in_doubt)
        fail_msg("%s, %s at %llu: ended %s", operation->name, fault, (unsigned long long)at, gh_status_name(status));
    operation->audit(scene, status);
}

static void one_run(fault_scene* scene, const fault_operation* operation, const char* fault)
{
    start_run(scene, operation);
    operation->begin(scene);
    end_run(scene, operation, GH_OK, fault, 0);
}

gh_status fault_poll_op(const void* op)
{
    return gh_op_poll((const gh_op*)op);
}

void fault_cancel_op(void* op)
{
    gh_op_cancel((gh_op*)op);
}

gh_str fault_name(const fault_scene* scene)
{
    return gh_str_of(scene->name);
}

static uint64_t stride_of(const fault_operation* operation)
{
    const char* text = getenv("GUILDHALL_STRIDE");
    uint64_t own = operation->stride == 0 ? 1 : operation->stride;
    uint64_t asked = text == NULL ? 0 : strtoull(text, NULL, 10);
    return asked == 1 || asked > own ? asked : own;
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static void cut_each(fault_scene* scene, const fault_operation* operation, proxy_direction direction, proxy_how how,
                     uint64_t bytes)
{
    const char* text = direction == PROXY_REQUEST ? (how == PROXY_FIN ? "FIN in the request" : "RST in the request")
                                                  : (how == PROXY_FIN ? "FIN in the reply" : "RST in the reply");
    for (uint64_t at = 0; at <= bytes; at += stride_of(operation))
    {
        start_run(scene, operation);
        proxy_arm(scene->proxy, direction, at, how);
        operation->begin(scene);
        end_run(scene, operation, GH_OK, text, at);
    }
}

/* Names lie anywhere on a Cluster, and each node has to get the scripts. */
static unsigned runs_until_loaded(void)
{
    return suite_store() == SUITE_CLUSTER ? 24 : 1;
}

typedef struct byte_counts
{
    uint64_t request;
    uint64_t reply;
} byte_counts;

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many bytes a run without a fault has at the least: in one of them a Cluster's map may be asked for, or a node be
   given a script, and cuts behind what the others have would find no byte. */
static byte_counts bytes_of_runs(fault_scene* scene, const fault_operation* operation)
{
    byte_counts least = {UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < 3; i++)
    {
        start_run(scene, operation);
        proxy_mark(scene->proxy);
        operation->begin(scene);
        GAME_UNTIL(is_over(scene, operation));
        least.request = lesser(least.request, proxy_bytes(scene->proxy, PROXY_REQUEST));
        least.reply = lesser(least.reply, proxy_bytes(scene->proxy, PROXY_REPLY));
        end_run(scene, operation, GH_OK, "no fault", 0);
    }
    assert_true(least.request > 0 && least.reply > 0);
    return least;
}

void fault_cut_at_every_byte(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, NULL);
    for (unsigned i = runs_until_loaded(); i > 0; i--) one_run(&scene, operation, "scripts loaded");
    const byte_counts bytes = bytes_of_runs(&scene, operation);

    uint64_t fired = proxy_fired(scene.proxy);
    for (proxy_how how = PROXY_FIN; how <= PROXY_RST; how++)
    {
        cut_each(&scene, operation, PROXY_REQUEST, how, bytes.request);
        cut_each(&scene, operation, PROXY_REPLY, how, bytes.reply);
    }
    /* Names grow by a digit or two, so not every last cut must find its byte; nearly all must. What goes on by itself
       until it is over may need fewer bytes another time: half of the cuts, then. */
    uint64_t cuts = (proxy_fired(scene.proxy) - fired) * stride_of(operation);
    assert_true(cuts >= 2 * (bytes.request + bytes.reply) * (operation->over == NULL ? 9 : 5) / 10);
}

/* ---- ticks ---------------------------------------------------------------------------------------------------- */

/* True if the op was still going on after that many ticks; then the fault has something to hit. */
static bool run_ticks(fault_scene* scene, const fault_operation* operation, unsigned ticks)
{
    for (unsigned i = 0; i < ticks && !is_over(scene, operation); i++)
    {
        game_tick(scene->game);
        wait_briefly();
    }
    return !is_over(scene, operation);
}

void fault_link_lost_at_every_tick(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, NULL);
    unsigned beyond = 0; /* runs that were over before the fault: several, as the server's pace differs */
    for (unsigned ticks = 0; beyond < 5; ticks += 1 + ticks / 8)
    {
        start_run(&scene, operation);
        operation->begin(&scene);
        if (run_ticks(&scene, operation, ticks)) proxy_cut_now(scene.proxy, PROXY_RST);
        else beyond++;
        end_run(&scene, operation, GH_OK, "link lost after ticks", ticks);
    }
}

void fault_cancelled_at_every_tick(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, NULL);
    unsigned beyond = 0;
    for (unsigned ticks = 0; beyond < 5; ticks += 1 + ticks / 8)
    {
        start_run(&scene, operation);
        operation->begin(&scene);
        if (!run_ticks(&scene, operation, ticks)) beyond++;
        operation->cancel(scene.op);
        end_run(&scene, operation, GH_CANCELLED, "cancelled after ticks", ticks);
    }
}

/* ---- the server ----------------------------------------------------------------------------------------------- */

void fault_server_killed(const fault_operation* operation)
{
    fault_scene scene = make_scene(true, NULL);
    for (unsigned ticks = 0; ticks < 8; ticks++)
    {
        start_run(&scene, operation);
        operation->begin(&scene);
        run_ticks(&scene, operation, ticks);
        redis_server_kill9(scene.server);
        for (unsigned i = 0; i < 5; i++) game_tick(scene.game);
        redis_server_restart(scene.server);
        end_run(&scene, operation, GH_OK, "killed after ticks", ticks);
    }
}

static void short_time_out(gh_client_config* config)
{
    config->request_timeout_us = SECOND_US / 20;
}

void fault_server_frozen(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, short_time_out);
    for (unsigned ticks = 0; ticks < 4; ticks++)
    {
        start_run(&scene, operation);
        redis_server_freeze(scene.server);
        operation->begin(&scene);
        uint64_t lost = game_stats(scene.game).links_lost;
        GAME_UNTIL(is_over(&scene, operation) || game_stats(scene.game).links_lost > lost);
        redis_server_thaw(scene.server); /* the old connection's request runs now, and so does the new one's */
        end_run(&scene, operation, GH_OK, "frozen, run", ticks);
    }
}

void fault_scripts_flushed(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, NULL);
    for (unsigned ticks = 0; ticks < 8; ticks++)
    {
        start_run(&scene, operation);
        redis_server_do(scene.server, "SCRIPT FLUSH");
        operation->begin(&scene);
        run_ticks(&scene, operation, ticks);
        redis_server_do(scene.server, "SCRIPT FLUSH");
        end_run(&scene, operation, GH_OK, "scripts flushed, ticks", ticks);
    }
    assert_true(game_stats(scene.game).script_reloads > 0);
}

/* ---- the client and the store ---------------------------------------------------------------------------------- */

static void least_capacities(gh_client_config* config)
{
    config->requests_capacity = 8;
    config->out_bytes = 16 * 1024;
    config->reply_bytes = 16 * 1024;
    config->reply_nodes = 64;
}

void fault_small_client(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, least_capacities);
    for (int i = 0; i < 3; i++) one_run(&scene, operation, "least capacities");
}

void fault_one_slot(const fault_operation* operation)
{
    fault_scene scene = scene_on(redis_server_cluster_node(), NULL);
    one_run(&scene, operation, "Cluster node");
}

void fault_no_heap(const fault_operation* operation)
{
    fault_scene scene = make_scene(false, NULL);
    assert_true(heap_watch_works());
    start_run(&scene, operation);
    heap_watch_begin();
    operation->begin(&scene);
    GAME_UNTIL(is_over(&scene, operation));
    heap_counts counts = heap_watch_end();
    assert_int_equal(counts.total, 0);
    end_run(&scene, operation, GH_OK, "heap watched", 0);
}
