-- lock_release: give back, or leave the queue. Whatever the token was, it is nothing afterwards; no other
-- token's lock is ever touched. Repeating it is harmless.
--
-- KEYS  1 gh:{lock:<name>}:s, 2 gh:{lock:<name>}:q, 3 gh:{lock:<name>}:c   see lock_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 window    us that the turn is kept for the next waiter, or longer if its client needs longer
--       [4] late    us of the store's clock, `not after` of a copy of this token's request that may still come:
--                   see late.lua; left out: each was answered
-- reply in one text: sequence, code
--       code 0 released         was the owner, or next in turn
--            1 not owner        and not the last one either (it may have waited: it does not any more)
--            2 released before
--            3 more             released, but there are more dead waiters in front than one call drops: call again,
--                               for the living behind
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for the next waiter, and the same with a "w" behind
--       it for one that should ask when the turn is over
--
-- Begins with ZREM, which a server that is out of memory still allows. Stopped between two writes, it leaves a
-- lock that is still held, and waiters that enqueue again when they ask.

-- The common case first: ours, held, and nobody waits. The key keeps its time to live, which the grant set.
local stored = redis.call('GET', KEYS[1])
local last_owner, last_fence = string.match(stored or '', '^(%S+) (%d+) %d+ h 0$')
if last_owner == ARGV[1] and not ARGV[4] and #last_fence < 17 then
    redis.call('ZREM', KEYS[2], last_owner)
    redis.call('SET', KEYS[1], last_owner .. ' ' .. last_fence .. ' 0 f 0', 'KEEPTTL')
    return ARGV[2] .. ' 0'
end

local state_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3]
local token, window = ARGV[1], tonumber(ARGV[3])
local not_after, added = 0, tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

--@ lock/lock_state.lua
--@ client/late.lua

local function store(...)
    local text = string.format('%s %.0f %.0f %s %d%s', owner, fence, expiry, state, waiters, late)
    redis.call('SET', state_key, text, ...)
end

local WAITERS_MAX = 100000

local waited = redis.call('ZREM', queue_key, token)
waiters = math.max(waiters - waited, 0)
if owner ~= token then
    if stored and (waited == 1 or ARGV[4]) then
        store('KEEPTTL')
    elseif ARGV[4] then
        store('PX', IDLE_MS)
    end
    return ARGV[2] .. ' 1'
end
if state == 'f' and waiters == 0 and not ARGV[4] then
    return ARGV[2] .. ' 2'
end

--@ client/hint.lua
--@ client/line.lua
--@ lock/lock_queue.lua

local head, behind, turn
if waiters > 0 then
    local gone
    head, behind, gone, turn = next_waiter()
    if head == false then
        return redis.error_reply('CORRUPT lock queue is longer than any that KEYS.md describes')
    elseif gone > 0 then -- before they are not counted any more: never fewer are counted than wait
        redis.call('ZREMRANGEBYRANK', queue_key, 0, gone - 1)
    end
end
if head then
    owner, fence, expiry, state = head, math.max(fence + 1, now), now + turn, 'r'
else
    expiry, state = 0, 'f'
end
store('PX', IDLE_MS)
if head then
    hint_all({head}, behind)
end
return ARGV[2] .. (not head and waiters > 0 and ' 3' or ' 0')
