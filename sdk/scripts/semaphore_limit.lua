-- semaphore_limit: how many permits there are from now on. More: waiters get them at once. Fewer: nobody
-- loses one, and nobody gets one until enough were given back. The limit stays until another is set, or until
-- the semaphore has not been used for 30 days. Repeating it is harmless: of the limits that one client sets,
-- an older one never replaces a newer.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q,
--       4 gh:{semaphore:<name>}:c   see semaphore_acquire.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 window    us that a turn is kept for a waiter that is told
--       4 limit
-- reply sequence, code, limit, used, waiters, more
--       code 0 set
--            1 not set: this client has set another since
--       more 1: there are more waiters to be served, or dead ones in front, than one call does: call again
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is (or who wants more
--       than the limit), and the same with a "w" behind it to one that should ask when the turn is over

local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, window = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local limit, used, fence, waiters, setter = 0, 0, 0, 0, '-'
local stored = redis.call('GET', state_key)
if stored then
    limit, used, fence, waiters, setter = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+)$')
    if not limit then
        return redis.error_reply('WRONGTYPE semaphore state is not of the form that KEYS.md describes')
    end
    limit, used, fence, waiters = tonumber(limit), tonumber(used), tonumber(fence), tonumber(waiters)
end

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

if string.sub(setter, 1, 16) == string.sub(token, 1, 16) and setter > token then
    return {sequence, 1, limit, used, waiters, 0}
end
limit, setter = tonumber(ARGV[4]), token
store()
if not stored then -- never used, or forgotten: who still believes in a permit of before is told that it is lost
    redis.call('DEL', holder_key)
    waiters = redis.call('ZCARD', queue_key)
end
local capped = purge()
local turns, more = {}, false
if waiters > 0 then
    turns, more = serve()
end
store()
hint_all(turns)
return {sequence, 0, limit, used, waiters, (more or capped) and 1 or 0}
