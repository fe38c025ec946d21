/* cluster_move.c -- slots handed from one master to another, one by one or many. */

#include "support/server/cluster.h"

#include "support/server/cluster_view.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_AT_ONCE  16
#define SLOTS_AT_ONCE 16
#define WAIT_MS       "30000"

/* ---- one slot ------------------------------------------------------------------------------------------ */

static void open_slot(const cluster_move* move)
{
    const char* from = cluster_id(move->fleet, move->from);
    const char* to = cluster_id(move->fleet, move->to);
    redis_server_do(move->to, "CLUSTER SETSLOT %u IMPORTING %s", move->slot, from);
    redis_server_do(move->from, "CLUSTER SETSLOT %u MIGRATING %s", move->slot, to);
}

cluster_move cluster_move_begin(cluster* fleet, unsigned slot, redis_server* to)
{
    cluster_move move = {fleet, cluster_master(fleet, slot), to, slot};
    if (move.from == NULL) fail_msg("nobody has slot %u", slot);
    if (move.from == to) fail_msg("slot %u is there already", slot);
    open_slot(&move);
    return move;
}

static size_t keys_in(redis_server* node, unsigned slot)
{
    return (size_t)redis_server_integer(node, "CLUSTER COUNTKEYSINSLOT %u", slot);
}

/* MIGRATE host port "" 0 ms [AUTH2 default password] KEYS key ...; returns how many that were, at most KEYS_AT_ONCE. */
static size_t push_keys(const cluster_move* move, redis_server* from, redis_server* to, size_t most)
{
    const char* words[KEYS_AT_ONCE + 10] = {"MIGRATE", "127.0.0.1", NULL, "", "0", WAIT_MS};
    size_t sizes[KEYS_AT_ONCE + 10];
    size_t count = 6;
    const char* password = cluster_password(move->fleet);
    words[2] = strrchr(redis_server_tcp_address(to), ':') + 1;
    if (password != NULL)
    {
        words[count++] = "AUTH";
        words[count++] = password;
    }
    words[count++] = "KEYS";
    for (size_t i = 0; i < count; i++) sizes[i] = strlen(words[i]);

    if (most > KEYS_AT_ONCE) most = KEYS_AT_ONCE;
    redisReply* keys = redis_server_command(from, "CLUSTER GETKEYSINSLOT %u %u", move->slot, (unsigned)most);
    size_t moved = keys->elements;
    for (size_t i = 0; i < moved; i++)
    {
        words[count] = keys->element[i]->str;
        sizes[count++] = keys->element[i]->len;
    }
    redisReply* done = moved == 0 ? NULL : redis_server_words(from, words, sizes, count);
    bool failed = done != NULL && done->type == REDIS_REPLY_ERROR;
    bool is_down = failed && strncmp(done->str, "CLUSTERDOWN", 11) == 0; /* for a moment, on a busy machine */
    if (is_down) failed = false, moved = 0;
    if (failed) print_error("MIGRATE: %s\n", done->str);
    freeReplyObject(keys);
    if (done != NULL) freeReplyObject(done);
    if (failed) fail_msg("keys of slot %u did not move", move->slot);
    return moved;
}

size_t cluster_move_keys(const cluster_move* move, size_t most)
{
    while (most > 0)
    {
        size_t moved = push_keys(move, move->from, move->to, most);
        if (moved == 0) break;
        most -= moved;
    }
    return keys_in(move->from, move->slot);
}

/* Replicas hear it from their masters, and refuse to be told. Who gives the last slot away becomes a replica, on Valkey
   while it still waits for replicas of its own. */
static bool is_well_told(const redisReply* reply)
{
    return reply->type != REDIS_REPLY_ERROR || strstr(reply->str, "only with masters") != NULL ||
           strncmp(reply->str, "UNBLOCKED", 9) == 0;
}

static void settle_slot(const cluster_move* move, redis_server* node)
{
    redisReply* reply =
        redis_server_command(node, "CLUSTER SETSLOT %u NODE %s", move->slot, cluster_id(move->fleet, move->to));
    if (!is_well_told(reply)) fail_msg("slot %u has not moved: %s", move->slot, reply->str);
    freeReplyObject(reply);
}

/* The new owner first: should all stop there, nobody would be without the slot. */
static void tell_all(const cluster_move* move)
{
    redis_server_await_epoch(move->to, move->from);
    settle_slot(move, move->to);
    settle_slot(move, move->from);
    for (size_t i = 0; i < cluster_count(move->fleet); i++)
    {
        redis_server* node = cluster_node(move->fleet, i);
        if (node != move->to && node != move->from && redis_server_runs(node)) settle_slot(move, node);
    }
}

void cluster_move_end(const cluster_move* move)
{
    while (cluster_move_keys(move, KEYS_AT_ONCE) > 0)
    {
    }
    tell_all(move);
}

void cluster_move_cancel(const cluster_move* move)
{
    redis_server_do(move->from, "CLUSTER SETSLOT %u STABLE", move->slot); /* or it would not take the keys back */
    while (push_keys(move, move->to, move->from, KEYS_AT_ONCE) > 0)
    {
    }
    redis_server_do(move->to, "CLUSTER SETSLOT %u STABLE", move->slot);
}

void cluster_move_slot(cluster* fleet, unsigned slot, redis_server* to)
{
    cluster_move move = cluster_move_begin(fleet, slot, to);
    cluster_move_end(&move);
}

/* ---- many slots ---------------------------------------------------------------------------------------- */

cluster_reshard cluster_reshard_begin(cluster* fleet, redis_server* from, redis_server* to, unsigned slots)
{
    cluster_reshard work = {.fleet = fleet, .from = from, .to = to, .left = slots};
    if (from != NULL && cluster_slots_of(from) < slots) fail_msg("that node does not have %u slots", slots);
    return work;
}

/* The running master with most slots or with fewest, and not this one. */
static redis_server* choose(cluster* fleet, const redis_server* not_this, bool most)
{
    redis_server* best = NULL;
    unsigned best_count = 0;
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        redis_server* node = cluster_node(fleet, i);
        if (node == not_this || !redis_server_runs(node) || !cluster_is_master(node)) continue;
        unsigned count = cluster_slots_of(node);
        if (best != NULL && (most ? count <= best_count : count >= best_count)) continue;
        best = node;
        best_count = count;
    }
    if (best == NULL) fail_msg("%s", "there is no other master");
    return best;
}

static unsigned first_slot(redis_server* node)
{
    cluster_view view = cluster_view_of(node);
    unsigned slot = cluster_line_first(cluster_view_own(&view));
    cluster_view_free(&view);
    if (slot == CLUSTER_SLOTS) fail_msg("%s", "that node has no slot");
    return slot;
}

/* Who has most and who has fewest is looked up for some slots at a time: it costs more than to move one. */
static void begin_slot(cluster_reshard* work)
{
    if (work->move.from == NULL || work->left % SLOTS_AT_ONCE == 0)
    {
        work->move.fleet = work->fleet;
        work->move.from = work->from == NULL ? choose(work->fleet, work->to, true) : work->from;
        work->move.to = work->to == NULL ? choose(work->fleet, work->move.from, false) : work->to;
    }
    work->move.slot = first_slot(work->move.from);
    open_slot(&work->move);
    work->moving = true;
}

bool cluster_reshard_step(cluster_reshard* work)
{
    if (work->left == 0) return false;
    if (!work->moving) begin_slot(work);
    else if (keys_in(work->move.from, work->move.slot) > 0) cluster_move_keys(&work->move, KEYS_AT_ONCE);
    else
    {
        tell_all(&work->move);
        work->moving = false;
        work->left--;
    }
    return work->left > 0;
}

/* ---- all slots ----------------------------------------------------------------------------------------- */

void cluster_open_slots(cluster* fleet, redis_server* from, redis_server* to)
{
    cluster_view view = cluster_view_of(from);
    const cluster_line* own = cluster_view_own(&view);
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++)
    {
        if (!cluster_line_has(own, slot)) continue;
        redis_server_queue(to, "CLUSTER SETSLOT %u IMPORTING %s", slot, cluster_id(fleet, from));
        redis_server_queue(from, "CLUSTER SETSLOT %u MIGRATING %s", slot, cluster_id(fleet, to));
    }
    redis_server_drain(to);
    redis_server_drain(from);
    cluster_view_free(&view);
}

void cluster_close_slots(cluster* fleet)
{
    for (size_t i = 0; i < cluster_count(fleet); i++)
    {
        redis_server* node = cluster_node(fleet, i);
        if (!redis_server_runs(node)) continue;
        cluster_view view = cluster_view_of(node);
        const cluster_line* own = cluster_view_own(&view);
        for (const char* at = own->is_master ? strchr(own->open, '[') : NULL; at != NULL; at = strchr(at + 1, '['))
            redis_server_queue(node, "CLUSTER SETSLOT %d STABLE", atoi(at + 1));
        redis_server_drain(node);
        cluster_view_free(&view);
    }
}
