-- semaphore_queue: the state of a semaphore, and who gets what room there is.
--
-- wants stored; state_key, holder_key, queue_key, client_key; now, window; hint of hint.lua
-- gives limit, used, fence, waiters, setter   see semaphore_acquire.lua
--       IDLE_MS; store(), forget(), purge(), serve(own), hint_all(turns)

local PURGE_MAX = 32 -- permits that are over and go in one call of purge()
local LOOK_MAX, TURNS_MAX = 30, 10 -- waiters that one call looks up, and turns that it keeps
local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local limit, used, fence, waiters, setter = 0, 0, 0, 0, '-'
if stored then
    limit, used, fence, waiters, setter = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+)$')
    if not limit then
        return redis.error_reply('WRONGTYPE semaphore state is not of the form that KEYS.md describes')
    end
    limit, used, fence, waiters = tonumber(limit), tonumber(used), tonumber(fence), tonumber(waiters)
    if used > 0 and redis.call('EXISTS', holder_key) == 0 then
        used = 0 -- :h lives 2 h after the last grant, :s longer: whoever had permits then is gone
    end
end

local function store()
    redis.call('SET', state_key, string.format('%.0f %.0f %.0f %.0f %s', limit, used, fence, waiters, setter),
               'PX', setter == '-' and IDLE_MS or SET_MS)
end

-- The state was never there, or is lost: who still believes in a permit of before is told that it is lost.
-- Tombstones stay, as many as one call moves.
local function forget()
    local stones = redis.call('ZRANGEBYSCORE', holder_key, '-inf', '(0', 'WITHSCORES', 'LIMIT', 0, 50)
    local scored = {}
    for i = 1, #stones, 2 do
        scored[i], scored[i + 1] = stones[i + 1], stones[i]
    end
    redis.call('DEL', holder_key)
    if #scored > 0 then
        redis.call('ZADD', holder_key, unpack(scored))
        redis.call('PEXPIRE', holder_key, IDLE_MS)
    end
    waiters = redis.call('ZCARD', queue_key)
end

-- Permits whose lease or turn is over go. Who slept through a turn counts as dead: its living waiters enqueue
-- again. True: there may be more of them than one call does.
local function purge()
    local past = string.format('%.0f', now)
    local lapsed = redis.call('ZRANGEBYSCORE', holder_key, 0, past, 'WITHSCORES', 'LIMIT', '0', PURGE_MAX)
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
    return #gone == PURGE_MAX
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
-- for each, except for `own`, which is here already. Returns who is to be told, whether there is more to do
-- than one call does, and whether it was the turn of `own`.
local function serve(own)
    local alive, turns, mine, looked = {}, {}, false, 0
    for round = 0, 5 do
        local size = round == 0 and 4 or LOOK_MAX
        local heads = redis.call('ZRANGE', queue_key, 0, size - 1)
        local left, blocked = 0, false
        looked = looked + look_who_lives(heads, alive)
        for i, head in ipairs(heads) do
            local client, wanted = string.sub(head, 1, 16), tonumber(string.sub(head, 35))
            if head == own or alive[client] then
                if #turns == TURNS_MAX or (wanted <= limit and used + wanted > limit) then
                    blocked = true
                    break
                end
                if wanted > limit then -- it is told, asks, and learns it
                    turns[#turns + 1] = head
                else
                    used = used + wanted
                    if head == own then
                        mine = true
                    else
                        turns[#turns + 1] = head
                        redis.call('ZADD', holder_key, string.format('%.1f', now + window + 0.5), head)
                    end
                end
            end
            left = i
        end
        if left > 0 then
            redis.call('ZREMRANGEBYRANK', queue_key, 0, left - 1)
        end
        waiters = (#heads < size and not blocked) and 0 or math.max(waiters - left, 0)
        if waiters == 0 then
            return turns, false, mine
        elseif blocked then
            return turns, #turns == TURNS_MAX, mine
        elseif looked >= LOOK_MAX then
            break
        end
    end
    return turns, true, mine
end

-- Each is told that it is its turn, and one behind them to ask in case they have died since.
local function hint_all(turns)
    if #turns == 0 then
        return
    end
    redis.call('PEXPIRE', holder_key, IDLE_MS) -- the turns may have made it anew
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
