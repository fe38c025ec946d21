-- lock_release: give back, or leave the queue. Whatever the token was, it is nothing afterwards; no other
-- token's lock is ever touched. Repeating it is harmless.
--
-- KEYS  1 gh:{lock:<name>}:s, 2 gh:{lock:<name>}:q, 3 gh:{lock:<name>}:c   see lock_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 window    us that the turn is kept for the next waiter
-- reply sequence, code
--       code 0 was the owner, or next in turn: released
--            1 was not, and is not the last owner either (it may have waited: it does not any more)
--            2 released before
--            3 released, but there are more dead waiters in front than one call drops: call again, for the
--              living behind
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for the next waiter, and the same with a "w" behind
--       it for one that should ask when the turn is over
--
-- Begins with PEXPIRE or ZREM, which a server that is out of memory still allows.

-- The common case first: ours, held, and nobody waits. The key keeps its time to live, which the grant set.
local stored = redis.call('GET', KEYS[1])
local last_owner, last_fence = string.match(stored or '', '^(%S+) (%d+) %d+ h 0$')
if last_owner == ARGV[1] then
    redis.call('ZREM', KEYS[2], last_owner)
    redis.call('SET', KEYS[1], last_owner .. ' ' .. last_fence .. ' 0 f 0', 'KEEPTTL')
    return {tonumber(ARGV[2]), 0}
end

local state_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3]
local token, sequence, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

--@ client/hint.lua
--@ lock/lock_queue.lua

local function store(text)
    redis.call('PEXPIRE', state_key, IDLE_MS)
    redis.call('SET', state_key, text, 'PX', IDLE_MS)
end

if owner ~= token then
    if stored and redis.call('ZREM', queue_key, token) == 1 then
        store(string.format('%s %.0f %.0f %s %d', owner, fence, expiry, state, math.max(waiters - 1, 0)))
    end
    return {sequence, 1}
end
if state == 'f' and waiters == 0 then
    return {sequence, 2}
end

local head, behind
if waiters > 0 then
    head, behind = next_waiter()
end
if not head then
    store(string.format('%s %.0f 0 f %d', token, fence, waiters))
    return {sequence, waiters > 0 and 3 or 0}
end
store(string.format('%s %.0f %.0f r %d', head, math.max(fence + 1, now), now + window, waiters))
hint_both(head, behind)
return {sequence, 0}
