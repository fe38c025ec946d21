-- semaphore_acquire: try, enqueue, ask again and claim, all in one. Repeating it is harmless: a permit that
-- is held is not counted twice (it only gets a fresh fence, since the one before was never heard of), and a
-- waiter keeps its place.
--
-- KEYS  1 gh:{semaphore:<name>}:s   string  "<limit> <used> <fence> <waiters> <setter>"
--                                   used: permits in :h, together; setter: token of who set the limit, or "-"
--       2 gh:{semaphore:<name>}:h   zset    "<token> <permits>" -> expiry (us); with a half more (.5) it is
--                                   not held yet, but kept for a waiter whose turn it is
--       3 gh:{semaphore:<name>}:q   zset    "<token> <permits>" -> arrival, a number that grows
--       4 gh:{semaphore:<name>}:c   hash    client -> until when (us) its waiters count as alive
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 lease us
--       4 patience  us that the waiter counts as alive without asking again; 0: do not wait
--       5 window    us that a turn is kept for a waiter that has been told
--       6 not after us of the store's clock; later, nothing is granted (a frozen server's backlog); 0: none
--       7 not before us of the store's clock; earlier, nothing is granted (quarantine after data loss); 0: none
--       8 permits   how many at once
--       9 limit     of a semaphore that the store does not know yet
-- reply sequence, code, fence, remaining us, position, now us, limit
--       code 0 granted    remaining: of the lease, not extended by a repeat
--            1 waiting    position from 1; remaining: until the first lease or turn ends; 0: ask again at
--                         once
--            2 busy       as 1, but not in the queue
--            4 stale      past `not after`
--            5 quarantine remaining: of the quarantine
--            6 full       WAITERS_MAX wait already
--            7 over       more permits than the limit
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is, and the same with a
--       "w" behind it to one that should ask when the turn is over
-- Redis 6.2 or later.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local not_after, not_before = tonumber(ARGV[6]), tonumber(ARGV[7])
local stored = redis.call('GET', KEYS[1])
local permit = ARGV[1] .. ' ' .. ARGV[8]

-- The common case first: there is room, and nobody waits.
if stored and now >= not_before and (not_after == 0 or now <= not_after) then
    local limit, used, last, setter = string.match(stored, '^(%d+) (%d+) (%d+) 0 (%S+)$')
    if limit and used + ARGV[8] <= tonumber(limit) then
        local lease = tonumber(ARGV[3])
        if redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', now + lease), permit) == 1 then
            local fence = math.max(last + 1, now)
            redis.call('SET', KEYS[1], string.format('%s %.0f %.0f 0 %s', limit, used + ARGV[8], fence, setter),
                       'PX', setter == '-' and '7200000' or '2592000000')
            redis.call('PEXPIRE', KEYS[2], '7200000')
            return {tonumber(ARGV[2]), 0, fence, lease, 0, now, tonumber(limit)}
        end
    end
end

local WAITERS_MAX = 100000
local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local patience, window, count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[8])

local limit, used, fence, waiters, setter = tonumber(ARGV[9]), 0, 0, 0, '-'
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
-- for each, except for `own`, which is here already: true if it was its turn. Behind it: who is to be told,
-- and whether there is more to do than one call does.
local function serve(own)
    local alive, turns, mine, looked = {}, {}, false, 0
    for round = 0, 8 do
        local size = round == 0 and 4 or 50
        local heads = redis.call('ZRANGE', queue_key, 0, size - 1)
        local left, blocked = 0, false
        looked = looked + look_who_lives(heads, alive)
        for i, head in ipairs(heads) do
            local client, wanted = string.sub(head, 1, 16), tonumber(string.sub(head, 35))
            if head == own or alive[client] then
                if #turns == 16 or (wanted <= limit and used + wanted > limit) then
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
            return mine, turns, false
        elseif blocked then
            return mine, turns, #turns == 16
        elseif looked >= 50 then
            break
        end
    end
    return mine, turns, true
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

local function answer(code, remaining, position)
    return {sequence, code, fence, remaining, position, now, limit}
end

local function hold(expiry)
    fence = math.max(fence + 1, now)
    redis.call('ZADD', holder_key, string.format('%.0f', expiry), permit)
    redis.call('PEXPIRE', holder_key, IDLE_MS)
    store()
    return answer(0, expiry - now, 0)
end

-- Until the first lease or turn ends.
local function remaining()
    local first = redis.call('ZRANGE', holder_key, 0, 0, 'WITHSCORES')[2]
    return first and math.max(math.ceil(tonumber(first) - now), 0) or 0
end

local function wait(more)
    if patience == 0 then
        store()
        return answer(2, remaining(), 0)
    end
    if not redis.call('ZSCORE', queue_key, permit) then
        if waiters >= WAITERS_MAX then
            return answer(6, 0, 0)
        end
        local last = redis.call('ZRANGE', queue_key, -1, -1, 'WITHSCORES')[2]
        redis.call('ZADD', queue_key, string.format('%.0f', math.max(now, (tonumber(last) or 0) + 1)), permit)
        waiters = waiters + 1
    end
    store()
    redis.call('PEXPIRE', queue_key, IDLE_MS)
    redis.call('HSET', client_key, string.sub(token, 1, 16), string.format('%.0f', now + patience))
    redis.call('PEXPIRE', client_key, IDLE_MS)
    return answer(1, more and 0 or remaining(), redis.call('ZRANK', queue_key, permit) + 1)
end

local score = stored and tonumber(redis.call('ZSCORE', holder_key, permit) or nil)
if score and score % 1 == 0 then -- a repeat
    return hold(score > now and score or now + lease)
end
if not_after > 0 and now > not_after then
    return answer(4, 0, 0)
end
if now < not_before then
    return answer(5, not_before - now, 0)
end
if score then -- kept for us: claim it, even a little late, as long as nobody else has noticed
    return hold(now + lease)
end
if not stored then -- never used, or forgotten: who still believes in a permit of before is told that it is lost
    store()
    redis.call('DEL', holder_key)
    waiters = redis.call('ZCARD', queue_key)
end
if count > limit then
    waiters = waiters - redis.call('ZREM', queue_key, permit)
end
local capped, tries = waiters > 0 or used + count > limit, 0
while capped and tries < 4 and (tries == 0 or used + count > limit) do
    capped, tries = purge(), tries + 1
end
local mine, turns, more = false, {}, false
if waiters > 0 then
    mine, turns, more = serve(permit)
end
local reply
if count > limit then
    store()
    reply = answer(7, 0, 0)
elseif mine then
    reply = hold(now + lease)
elseif waiters == 0 and used + count <= limit then
    used = used + count
    reply = hold(now + lease)
else
    reply = wait(more or capped)
end
hint_all(turns)
return reply
