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
if limit or not stored then
    local removed = redis.call('ZREM', KEYS[2], permit)
    if limit and removed == 1 then
        redis.call('SET', KEYS[1], string.format('%s %.0f %s 0 %s', limit, math.max(used - ARGV[4], 0), fence, setter),
                   'KEEPTTL')
    end
    return {tonumber(ARGV[2]), 1 - removed, 0}
end

local waiters
limit, used, fence, waiters, setter = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+)$')
if not limit then
    return redis.error_reply('WRONGTYPE semaphore state is not of the form that KEYS.md describes')
end
limit, used, fence, waiters = tonumber(limit), tonumber(used), tonumber(fence), tonumber(waiters)

local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local sequence, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function store()
    redis.call('SET', state_key, string.format('%.0f %.0f %.0f %.0f %s', limit, used, fence, waiters, setter),
               'PX', setter == '-' and IDLE_MS or SET_MS)
end

-- Permits whose lease or turn is over go. Who slept through a turn counts as dead: its living waiters enqueue
-- again. True: there may be more of them than one call does.
local function purge()
    local past = string.format('%.0f', now)
    local lapsed = redis.call('ZRANGEBYSCORE', holder_key, '-inf', past, 'WITHSCORES', 'LIMIT', 0, 50)
    local gone, slept = {}, {}
    for i = 1, #lapsed, 2 do
        gone[#gone + 1] = lapsed[i]
        used = used - string.sub(lapsed[i], 35)
        if lapsed[i + 1] % 1 ~= 0 then
            slept[#slept + 1] = string.sub(lapsed[i], 1, 16)
        end
    end
    if #slept > 0 then
        redis.call('HDEL', client_key, unpack(slept))
    end
    if #gone > 0 then
        redis.call('ZREM', holder_key, unpack(gone))
    end
    if used < 0 or redis.call('EXISTS', holder_key) == 0 then
        used = 0
    end
    return #gone == 50
end

-- Notes who of them lives, and returns how many had to be looked up for that.
local function look_who_lives(heads, alive)
    local unknown = {}
    for _, head in ipairs(heads) do
        local client = string.sub(head, 1, 16)
        if alive[client] == nil then
            alive[client] = false
            unknown[#unknown + 1] = client
        end
    end
    local live_until = #unknown > 0 and redis.call('HMGET', client_key, unpack(unknown))
    for i, client in ipairs(unknown) do
        alive[client] = live_until[i] and tonumber(live_until[i]) > now
    end
    return #unknown
end

-- What room there is goes to those who wait, in their order; dead ones in front are dropped. A turn is kept
-- for each. Returns who is to be told, and whether there is more to do than one call does.
local function serve()
    local alive, turns, looked = {}, {}, 0
    for round = 0, 8 do
        local size = round == 0 and 4 or 50
        local heads = redis.call('ZRANGE', queue_key, 0, size - 1)
        local left, blocked = 0, false
        looked = looked + look_who_lives(heads, alive)
        for i, head in ipairs(heads) do
            local client, wanted = string.sub(head, 1, 16), tonumber(string.sub(head, 35))
            if alive[client] then
                if #turns == 16 or (wanted <= limit and used + wanted > limit) then
                    blocked = true
                    break
                end
                turns[#turns + 1] = head
                if wanted <= limit then -- else it is told, asks, and learns it
                    used = used + wanted
                    redis.call('ZADD', holder_key, string.format('%.1f', now + window + 0.5), head)
                end
            end
            left = i
        end
        if left > 0 then
            redis.call('ZREMRANGEBYRANK', queue_key, 0, left - 1)
        end
        waiters = (#heads < size and not blocked) and 0 or math.max(waiters - left, 0)
        if waiters == 0 then
            return turns, false
        elseif blocked then
            return turns, #turns == 16
        elseif looked >= 50 then
            break
        end
    end
    return turns, true
end

-- Errors are ignored: without the right to publish, waiters find out by asking.
local function hint(waiter, letter)
    local channel = string.match(queue_key, '^([^{]*)') .. 'wake:' .. string.sub(waiter, 1, 16)
    local receivers = redis.pcall('PUBLISH', channel, string.sub(waiter, 18, 33) .. letter)
    return type(receivers) == 'number' and receivers > 0
end

-- Each is told that it is its turn, and one behind them to ask in case they have died since.
local function hint_all(turns)
    if #turns == 0 then
        return
    end
    local told = {}
    local behind = redis.call('ZRANGE', queue_key, 0, 3)
    behind[#behind + 1] = redis.call('ZRANGE', queue_key, -1, -1)[1] -- who came last is likeliest to live
    for _, waiter in ipairs(turns) do
        told[string.sub(waiter, 1, 16)] = true
        hint(waiter, '')
    end
    for _, waiter in ipairs(behind) do
        if not told[string.sub(waiter, 1, 16)] and hint(waiter, 'w') then
            return
        end
    end
end

local removed = redis.call('ZREM', holder_key, permit)
if removed == 1 then
    used = math.max(used - tonumber(ARGV[4]), 0)
else
    waiters = math.max(waiters - redis.call('ZREM', queue_key, permit), 0)
end
local capped = purge()
local turns, more = serve()
store()
hint_all(turns)
return {sequence, 1 - removed, (more or capped) and 1 or 0}
