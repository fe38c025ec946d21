-- semaphore_release: give permits back, or leave the queue. Whatever the token had is nothing afterwards; no
-- other token's permits are ever touched. Repeating it is harmless: the second time there is nothing to give
-- back.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q,
--       4 gh:{semaphore:<name>}:c   see semaphore_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 window    us that a turn is kept for a waiter that is told
--       4 permits   as they were acquired
--       5 refuse    us that a request of this token, which may still be under way, is refused from now on:
--       see
--                   semaphore_acquire.lua. 0, or left out: every request of it was answered
-- reply sequence, code, more
--       code 0 it had them, or it was its turn: given back
--            1 it had none (it may have waited: it does not any more)
--       more 1: there are more waiters to be served, or dead ones in front, than one call does: call again
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is, and the same with a
--       "w" behind it to one that should ask when the turn is over
--
-- Begins with ZREM, which a server that is out of memory still allows.

local permit = ARGV[1] .. ' ' .. ARGV[4]
local stored = redis.call('GET', KEYS[1])

-- The common case first: nobody waits. The key keeps its time to live, which the grant has set.
local limit, used, fence, setter = string.match(stored or '', '^(%d+) (%d+) (%d+) 0 (%S+)$')
if limit and (ARGV[5] or '0') == '0' then
    local score = redis.call('ZSCORE', KEYS[2], permit)
    if not score or string.byte(score) == 45 then -- a minus: a tombstone stays
        return {tonumber(ARGV[2]), 1, 0}
    end
    redis.call('ZREM', KEYS[2], permit)
    used = math.max(used - ARGV[4], 0)
    redis.call('SET', KEYS[1], limit .. ' ' .. used .. ' ' .. fence .. ' 0 ' .. setter, 'KEEPTTL')
    return {tonumber(ARGV[2]), 0, 0}
end

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local sequence, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

--@ client/hint.lua
--@ semaphore/semaphore_queue.lua

-- A few of the tombstones whose time is over go first.
local function bury()
    local old = redis.call('ZRANGEBYSCORE', holder_key, string.format('%.0f', -now), '(0', 'LIMIT', 0, 50)
    if #old > 0 then
        redis.call('ZREM', holder_key, unpack(old))
    end
    redis.call('ZADD', holder_key, string.format('%.0f', -now - ARGV[5]), permit)
    redis.call('PEXPIRE', holder_key, IDLE_MS)
end

local score = tonumber(redis.call('ZSCORE', holder_key, permit) or nil)
local removed = score and score >= 0 and redis.call('ZREM', holder_key, permit) or 0
if removed == 1 then
    used = math.max(used - tonumber(ARGV[4]), 0)
else
    waiters = math.max(waiters - redis.call('ZREM', queue_key, permit), 0)
end
local turns, more, capped = {}, false, false
if stored then
    capped = purge()
    turns, more = serve()
    store()
end
if tonumber(ARGV[5] or '0') > 0 then
    bury()
end
hint_all(turns)
return {sequence, 1 - removed, (more or capped) and 1 or 0}
