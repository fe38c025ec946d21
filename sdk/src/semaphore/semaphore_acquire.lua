-- semaphore_acquire: try, enqueue, ask again and claim, all in one. Repeating it is harmless: a permit that
-- is held gets the same grant again, the same fence with it, and a waiter keeps its place.
--
-- The fence is the moment at which the lease begins. That makes it larger than every earlier one, and a
-- repeat finds it again without its being kept: expiry - lease, which are even. While the store's clock
-- stands behind the last fence this cannot be: then the fence is the last one + 1, the lease ends at an odd
-- microsecond, and a repeat gets a new fence, which is larger again; of the one before nobody has heard.
--
-- KEYS  1 gh:{semaphore:<name>}:s   string  "<limit> <used> <fence> <waiters> <setter>", and behind it what
--                                   late.lua says, if anything
--                                   limit: 0 while nobody has asked yet; used: permits in :h, together;
--                                   setter: token of who set the limit, or "-"
--       2 gh:{semaphore:<name>}:h   zset    "<token> <permits>" -> expiry (us); with a half more (.5) it is
--                                   not held yet, but kept for a waiter whose turn it is
--       3 gh:{semaphore:<name>}:q   zset    "<token> <permits>" -> arrival, a number that grows
--       4 gh:{semaphore:<name>}:c   hash    client -> until when (us) its waiters count as alive, and behind a
--                                   blank how long a turn is kept for them if that is not 200 ms
--       [5] gh:epoch                only with a birth: see epoch.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 lease us
--       4 patience  us that the waiter counts as alive without asking again; 0: do not wait
--       5 window    us that a turn is to be kept for this waiter when it is told, and at least for any other
--       6 not after us of the store's clock; later, nothing is granted and nobody queued (a frozen server's
--                   backlog, or a dead link's); 0: none
--       7 not before us of the store's clock; earlier, nothing is granted (quarantine after a loss); 0: none
--       8 permits   how many at once
--       9 limit     of a semaphore that the store does not know yet
--      [10] birth   of the store as the client knows it; left out: it does not matter
-- reply as client/lease_acquire.lua, limit
--       remaining: granted, an even number; waiting, until the first lease or turn ends
--       error STALE if the store has another birth, CORRUPT if a key is not of the form that KEYS.md describes
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is, and the same with a
--       "w" behind it to one that should ask when the turn is over
--
-- Stopped between two writes, it leaves more permits or waiters counted than there are: whoever asks next counts
-- them anew (semaphore_queue.lua).
-- Redis 6.2 or later.

local birth_key, birth = KEYS[5], ARGV[10]
--@ client/birth.lua

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2] - time[2] % 2
local not_after, not_before = tonumber(ARGV[6]), tonumber(ARGV[7])
local stored = redis.call('GET', KEYS[1])
local permit = ARGV[1] .. ' ' .. ARGV[8]

-- The common case first: there is room, and nobody waits. No limit is larger than a million.
if stored and now >= not_before and (not_after == 0 or now <= not_after) then
    local limit, used, last, setter = string.match(stored, '^(%d+) (%d+) (%d+) 0 (%S+)$')
    if limit and limit + 0 <= 1000000 and used + ARGV[8] <= limit + 0 and now > tonumber(last) then
        local lease = ARGV[3] - ARGV[3] % 2
        if used == '0' or redis.call('ZCARD', KEYS[2]) == tonumber(used) then -- else they are counted below
            redis.call('SET', KEYS[1], string.format('%s %.0f %.0f 0 %s', limit, used + ARGV[8], now, setter),
                       'PX', setter == '-' and '7200000' or '2592000000')
            if redis.call('ZADD', KEYS[2], 'NX', string.format('%.0f', now + lease), permit) == 1 then
                redis.call('PEXPIRE', KEYS[2], '7200000')
                return string.format('%s 0 %.0f %.0f 0 %.0f %s', ARGV[2], now, lease, now, limit)
            end
            redis.call('SET', KEYS[1], stored, 'KEEPTTL') -- a repeat: it was counted before
        end
    end
end

local WAITERS_MAX = 100000

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, lease = ARGV[1], ARGV[3] - ARGV[3] % 2
local patience, window, count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[8])

--@ semaphore/semaphore_state.lua
local added = nil
--@ client/late.lua

local is_known = limit > 0
if not is_known then
    limit = tonumber(ARGV[9])
end

local function answer(code, remaining, position)
    return string.format('%s %d %.0f %.0f %d %.0f %d', ARGV[2], code, fence, remaining, position, now, limit)
end

local function hold()
    local expiry = now + lease
    if now > fence then
        fence = now
    else
        fence, expiry = fence + 1, expiry + 1
    end
    kept[#kept + 1] = string.format('%.0f', expiry)
    kept[#kept + 1] = permit
    commit()
    return answer(0, lease, 0)
end

-- The same grant again.
local function hold_on(expiry)
    if expiry % 2 == 0 and expiry - lease <= fence then
        fence = expiry - lease
    else
        fence = math.max(fence + 1, now)
        commit()
    end
    return answer(0, math.min(expiry - now, lease), 0)
end

local score = is_known and redis.call('ZSCORE', holder_key, permit)
local is_turn = score and string.find(score, '.', 1, true)
if score then
    score = tonumber(string.match(score, '^(%d+)%.?5?$'))
    if not score or score > 9007199254740991 then
        return redis.error_reply('CORRUPT permit is not of the form that KEYS.md describes')
    elseif not is_turn then
        if score <= now then
            return answer(3, 0, 0)
        end
        return hold_on(score)
    end
end
if not_after > 0 and (now > not_after or is_late) then
    return answer(4, 0, 0)
end
if now < not_before then
    return answer(5, not_before - now, 0)
end
if is_turn then -- kept for us: claim it, even a little late, as long as nobody else has noticed
    return hold()
end

--@ client/hint.lua
--@ client/line.lua
--@ semaphore/semaphore_queue.lua

-- Until the first lease or turn ends.
local function remaining()
    local first = redis.call('ZRANGEBYSCORE', holder_key, 0, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    return first and math.min(math.max(math.ceil(tonumber(first) - now), 0), 7200000000) or 0
end

local function wait(more)
    local place = patience > 0 and redis.call('ZRANK', queue_key, permit)
    local count_now = patience > 0 and not place and redis.call('ZCARD', queue_key) - gone or 0
    if patience == 0 or count_now >= WAITERS_MAX then
        commit()
        return answer(patience == 0 and 2 or 6, patience == 0 and remaining() or 0, 0)
    end
    live(patience)
    if not place then
        waiters = count_now + 1
    end
    commit() -- counted before it is there: never fewer are counted than wait
    if place then
        place = place - gone
    else
        place = enqueue(permit) and count_now or redis.call('ZRANK', queue_key, permit)
    end
    redis.call('PEXPIRE', queue_key, IDLE_MS)
    return answer(1, more and 0 or remaining(), place + 1)
end

if not is_known then
    forget()
end
if count > limit then
    waiters = math.max(waiters - redis.call('ZREM', queue_key, permit), 0)
end
local capped, tries = waiters > 0 or used + count > limit, 0
while capped and tries < 2 and (tries == 0 or used + count > limit) do
    capped, tries = purge(), tries + 1
end
local more, mine = false, false
if waiters > 0 then
    more, mine = serve(permit)
end
if more == nil then
    commit()
    return redis.error_reply('CORRUPT semaphore queue is longer than any that KEYS.md describes')
end
local reply
if count > limit then
    commit()
    reply = answer(7, 0, 0)
elseif mine then
    reply = hold()
elseif waiters == 0 and used + count <= limit then
    used = used + count
    reply = hold()
else
    reply = wait(more or capped)
end
if #turns > 0 then
    hint_all(turns, behind)
end
return reply
