/* permits.c -- permits begun and awaited, and a semaphore's keys counted. */

#include "support/scene/permits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t store_time_us(redis_server* server)
{
    redisReply* reply = redis_server_command(server, "TIME");
    uint64_t now_us = strtoull(reply->element[0]->str, NULL, 10) * 1000000 + strtoull(reply->element[1]->str, NULL, 10);
    freeReplyObject(reply);
    return now_us;
}

stored_semaphore semaphore_stored(redis_server* server, const char* name)
{
    stored_semaphore self;
    unsigned blanks = 0;
    memset(&self, 0, sizeof(self));
    const char* text = redis_server_text(server, "GET gh:{semaphore:%s}:s", name);
    self.exists = text != NULL;
    if (text != NULL)
        assert_int_equal(sscanf(text, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32 " %*s", &self.limit, &self.used,
                                &self.fence, &self.waiters),
                         4);
    for (const char* at = text; text != NULL && *at != 0; at++) blanks += *at == ' ';
    self.lates = blanks > 4;
    self.queued = (uint32_t)redis_server_integer(server, "ZCARD gh:{semaphore:%s}:q", name);
    uint64_t now_us = store_time_us(server);
    redisReply* reply = redis_server_command(server, "ZRANGE gh:{semaphore:%s}:h 0 -1 WITHSCORES", name);
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    for (size_t i = 0; i < reply->elements; i += 2)
    {
        const char* member = reply->element[i]->str;
        const char* score = reply->element[i + 1]->str;
        assert_int_equal(strspn(member, "0123456789abcdef"), 16);
        uint32_t permits = (uint32_t)strtoul(member + 34, NULL, 10);
        bool is_turn = strstr(score, ".5") != NULL;
        if (strtoull(score, NULL, 10) <= now_us) self.lapsed += permits;
        else self.held += permits;
        if (is_turn && strtoull(score, NULL, 10) > now_us) self.turns += permits;
    }
    freeReplyObject(reply);
    return self;
}

void semaphore_must_be_sound(redis_server* server, const char* name)
{
    stored_semaphore now = semaphore_stored(server, name);
    if (!now.exists) return;
    assert_int_equal(now.used, now.held + now.lapsed);
    assert_int_equal(now.waiters, now.queued);
}

gh_permit_config permit_config(uint32_t permits, uint64_t lease_us, uint64_t wait_us)
{
    gh_permit_config config = gh_permit_config_default();
    config.permits = permits;
    config.lease_us = lease_us;
    config.wait_us = wait_us;
    return config;
}

gh_permit* permit_want(game* from, const char* name, uint32_t limit, uint64_t lease_us, uint64_t wait_us)
{
    gh_permit* permit = GAME_NEW(from, gh_permit);
    gh_permit_config config = permit_config(1, lease_us, wait_us);
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(from->client, gh_str_of(name), limit), &config), GH_OK);
    return permit;
}

gh_permit* permit_want_many(game* from, const char* name, uint32_t limit, uint32_t permits)
{
    gh_permit* permit = GAME_NEW(from, gh_permit);
    gh_permit_config config = permit_config(permits, 60 * SECOND_US, 60 * SECOND_US);
    assert_status(gh_permit_begin(permit, ON_SEMAPHORE(from->client, gh_str_of(name), limit), &config), GH_OK);
    return permit;
}

gh_permit* permit_hold_one(game* from, const char* name, uint32_t limit, uint64_t lease_us)
{
    gh_permit* permit = permit_want(from, name, limit, lease_us, 60 * SECOND_US);
    assert_status(permit_settle(permit), GH_HELD);
    return permit;
}

gh_status permit_settle(const gh_permit* permit)
{
    GAME_UNTIL(gh_op_poll(&permit->op) != GH_PENDING);
    return gh_op_poll(&permit->op);
}

gh_status permit_give_back(gh_permit* permit)
{
    gh_permit_release(permit);
    return permit_settle(permit);
}

gh_semaphore_limit* semaphore_set_limit(game* from, const char* name, uint32_t limit)
{
    gh_semaphore_limit* op = GAME_NEW(from, gh_semaphore_limit);
    assert_status(gh_semaphore_limit_begin(op, ON_SEMAPHORE(from->client, gh_str_of(name), 0), limit), GH_OK);
    GAME_UNTIL(gh_op_poll(&op->op) != GH_PENDING);
    assert_status(gh_op_poll(&op->op), GH_OK);
    return op;
}
