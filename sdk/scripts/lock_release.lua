-- lock_release: give back, or leave the queue. Whatever the token was, it is nothing afterwards; no other token's
-- lock is ever touched. Repeating it is harmless.
--
-- KEYS  1 gh:{lock:<name>}:s, 2 gh:{lock:<name>}:q, 3 gh:{lock:<name>}:c   see lock_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 window    us that the turn is kept for the next waiter
-- reply sequence, code
--       code 0 was the owner, or next in turn: released
--            1 was not, and is not the last owner either (it may have waited: it does not any more)
--            2 released before
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for the next waiter
--
-- Begins with PEXPIRE or ZREM, which a server that is out of memory still allows.

local DEAD_MAX = 50
local IDLE_MS = 3600000

local state_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3]
local token, sequence, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local owner, fence, expiry, state, waiters = '-', 0, 0, 'f', 0
local stored = redis.call('GET', state_key)
if stored then
    owner, fence, expiry, state, waiters = string.match(stored, '^(%S+) (%d+) (%d+) ([hrf]) (%d+)$')
    if not owner then
        return redis.error_reply('WRONGTYPE lock state is not of the form that KEYS.md describes')
    end
    fence, waiters = tonumber(fence), tonumber(waiters)
end

local function store(text)
    redis.call('PEXPIRE', state_key, IDLE_MS)
    redis.call('SET', state_key, text, 'PX', IDLE_MS)
end

if owner ~= token then
    if stored and redis.call('ZREM', queue_key, token) == 1 then
        store(string.format('%s %.0f %s %s %d', owner, fence, expiry, state, math.max(waiters - 1, 0)))
    end
    return {sequence, 1}
end
if state == 'f' then
    return {sequence, 2}
end

local head
if waiters > 0 then
    for _ = 1, DEAD_MAX do
        head = redis.call('ZRANGE', queue_key, 0, 0)[1]
        if not head then
            waiters = 0
            break
        end
        redis.call('ZREM', queue_key, head)
        waiters = math.max(waiters - 1, 0)
        local alive = redis.call('HGET', client_key, string.sub(head, 1, 16))
        if alive and tonumber(alive) > now then
            break
        end
        head = nil
    end
end
if not head then
    store(string.format('%s %.0f 0 f %d', token, fence, waiters))
    return {sequence, 0}
end
store(string.format('%s %.0f %.0f r %d', head, math.max(fence + 1, now), now + window, waiters))
-- Last, and its error ignored: without the right to publish the waiter finds out by asking.
redis.pcall('PUBLISH', string.match(queue_key, '^([^{]*)') .. 'wake:' .. string.sub(head, 1, 16), string.sub(head, 18))
return {sequence, 0}
