-- semaphore_release: give permits back, or leave the queue. Whatever the token had is nothing afterwards; no
-- other token's permits are ever touched. Repeating it is harmless: the second time there is nothing to give
-- back.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q,
--       4 gh:{semaphore:<name>}:c   see semaphore_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 window    us that a turn is kept for a waiter that is told, or longer if its client needs longer
--       4 permits   as they were acquired
--       [5] late    us of the store's clock, `not after` of a copy of this token's request that may still come:
--                   see late.lua; left out: each was answered
-- reply in one text: sequence, code, more
--       code 0 released   it had them, or it was its turn
--            1 not owner  it had none (it may have waited: it does not any more)
--       more 1: there are more waiters to be served, or dead ones in front, than one call does: call again
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is, and the same with a
--       "w" behind it to one that should ask when the turn is over
--
-- Begins with ZREM, which a server that is out of memory still allows. Stopped between two writes, it leaves more
-- permits counted than there are: whoever asks next counts them anew (semaphore_queue.lua).

local permit = ARGV[1] .. ' ' .. ARGV[4]
local stored = redis.call('GET', KEYS[1])

-- The common case first: nobody waits. The key keeps its time to live, which the grant has set.
local limit, used, fence, setter = string.match(stored or '', '^(%d+) (%d+) (%d+) 0 (%S+)$')
if limit and not ARGV[5] and #used < 8 then
    if redis.call('ZREM', KEYS[2], permit) == 0 then
        return ARGV[2] .. ' 1 0'
    end
    used = math.max(used - ARGV[4], 0)
    redis.call('SET', KEYS[1], limit .. ' ' .. used .. ' ' .. fence .. ' 0 ' .. setter, 'KEEPTTL')
    return ARGV[2] .. ' 0 0'
end

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, window = ARGV[1], tonumber(ARGV[3])
local not_after, added = 0, tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

--@ semaphore/semaphore_state.lua
--@ client/late.lua
--@ client/hint.lua
--@ client/line.lua
--@ semaphore/semaphore_queue.lua

local removed = redis.call('ZREM', holder_key, permit)
if removed == 1 then
    used = math.max(used - tonumber(ARGV[4]), 0)
else
    waiters = math.max(waiters - redis.call('ZREM', queue_key, permit), 0)
end
local more, capped = false, false
if limit > 0 then
    capped = purge()
    more = serve()
end
if stored or ARGV[5] then
    commit()
end
if more == nil then
    return redis.error_reply('CORRUPT semaphore queue is longer than any that KEYS.md describes')
end
if #turns > 0 then
    hint_all(turns, behind)
end
return string.format('%s %d %d', ARGV[2], 1 - removed, (more or capped) and 1 or 0)
