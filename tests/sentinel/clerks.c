#include "sentinel/clerks.h"

#include <stdio.h>
#include <stdlib.h>

static void clerk_begin(clerks* self, unsigned i)
{
    clerk* one = &self->each[i];
    one->begun_us = wait_now_us();
    assert_status(gh_command_format(&one->op, self->owner->client, &one->config, "INCR clerk:%d", (int)i), GH_OK);
}

clerks clerks_start(game* owner, unsigned count)
{
    clerks self = {.owner = owner, .each = GAME_NEW_ARRAY(owner, clerk, count), .count = count};
    for (unsigned i = 0; i < count; i++)
    {
        self.each[i].config = gh_command_config_default();
        self.each[i].config.repeat = GH_REPEAT_ONCE;
        self.each[i].config.timeout_us = 60 * SECOND_US;
        clerk_begin(&self, i);
    }
    return self;
}

static bool clerk_has_ended(clerks* self, unsigned i)
{
    clerk* one = &self->each[i];
    gh_status status = gh_op_poll(&one->op.op);
    uint64_t took_us = wait_now_us() - one->begun_us;
    if (status == GH_PENDING) return false;
    if (status != GH_OK)
        fail_msg("clerk %u ends %s after %llu us", i, gh_status_name(status), (unsigned long long)took_us);
    if (one->begun_us == 0) return true;
    if (took_us > self->longest_us) self->longest_us = took_us;
    one->acknowledged++;
    one->begun_us = 0;
    return true;
}

void clerks_work(clerks* self)
{
    for (unsigned i = 0; i < self->count; i++)
        if (clerk_has_ended(self, i)) clerk_begin(self, i);
}

static uint64_t least_acknowledged(const clerks* self)
{
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < self->count; i++)
        if (self->each[i].acknowledged < least) least = self->each[i].acknowledged;
    return least;
}

static bool clerks_have(clerks* self, uint64_t least)
{
    clerks_work(self);
    return least_acknowledged(self) >= least;
}

void clerks_until(clerks* self, uint64_t more)
{
    const uint64_t most = least_acknowledged(self) + more;
    GAME_UNTIL(clerks_have(self, most));
}

static bool all_have_ended(clerks* self)
{
    bool all = true;
    for (unsigned i = 0; i < self->count; i++) all = clerk_has_ended(self, i) && all;
    return all;
}

void clerks_rest(clerks* self)
{
    GAME_UNTIL(all_have_ended(self));
}

void clerks_outlive_handover(clerks* self, cluster* fleet, unsigned slot, uint64_t more)
{
    redis_server* old = cluster_master(fleet, slot);
    redis_server* master = old;
    cluster_failover(fleet, slot, CLUSTER_PLANNED);
    for (; master == old || master == NULL; master = cluster_master(fleet, slot)) clerks_until(self, 1);
    clerks_until(self, more);
    clerks_rest(self);
    cluster_settle(fleet);
}

redis_server* clerks_outlive_failover(clerks* self, const sentinels* fleet, uint64_t more)
{
    redis_server* old = sentinels_master(fleet);
    redis_server* master = old;
    sentinels_failover(fleet);
    for (; master == old || master == NULL; master = sentinels_master(fleet)) clerks_until(self, 1);
    clerks_until(self, more);
    clerks_rest(self);
    return master;
}

void clerks_ask_out_of_turn(const clerks* self, cluster* fleet)
{
    unsigned slot = cluster_slot("clerk:0");
    redis_server* to = cluster_master(fleet, (slot + CLUSTER_SLOTS / 2) % CLUSTER_SLOTS);
    cluster_move move = cluster_move_begin(fleet, slot, to);
    while (cluster_move_keys(&move, 100) > 0) continue;
    gh_command_line* line = GAME_NEW(self->owner, gh_command_line);
    gh_command_config config = gh_command_config_default();
    config.repeat = GH_REPEAT_SAFE;
    config.timeout_us = 60 * SECOND_US;
    assert_status(gh_command_format(line, self->owner->client, &config, "GET clerk:0"), GH_OK);
    GAME_UNTIL(gh_op_poll(&line->op) != GH_PENDING);
    assert_status(gh_op_poll(&line->op), GH_OK);
    cluster_move_end(&move);
    assert_true(game_stats(self->owner).asked > 0);
}

/* What was acknowledged to the clerk and is not there. */
static uint64_t lost_of(const clerks* self, unsigned i, redis_server* server)
{
    const char* text = redis_server_text(server, "EVAL %s 1 clerk:%u", "return redis.call('GET', KEYS[1]) or '0'", i);
    uint64_t there = strtoull(text, NULL, 10);
    if (there > self->each[i].acknowledged)
        fail_msg("clerk %u was told of %llu, and there are %llu", i, (unsigned long long)self->each[i].acknowledged,
                 (unsigned long long)there);
    return self->each[i].acknowledged - there;
}

uint64_t clerks_lost(const clerks* self, redis_server* server)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < self->count; i++) lost += lost_of(self, i, server);
    return lost;
}

uint64_t clerks_lost_in(const clerks* self, cluster* fleet)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < self->count; i++)
    {
        char key[32];
        snprintf(key, sizeof(key), "clerk:%u", i);
        lost += lost_of(self, i, cluster_master(fleet, cluster_slot(key)));
    }
    return lost;
}
