-- semaphore_queue: the state of a semaphore, and who gets what room there is.
--
-- wants stored; state_key, holder_key, queue_key; now; whole, corrupt of check.lua; turn_of, turns_of, looked_up,
--       hint_all of line.lua, client_key with it
-- gives limit, used, fence, waiters, setter, late   see semaphore_acquire.lua; limit 0: not known yet
--       IDLE_MS; forget(), purge(), serve(own), commit(); turns, behind for hint_all(); kept: for :h

local PURGE_MAX = 32 -- permits that are over and go in one call of purge()
local LOOK_MAX, TURNS_MAX = 30, 10 -- clients that one call looks up, and turns that it keeps
local COUNT_MAX = 200 -- permits that are counted anew where their number is in doubt
local PERMITS_MAX, FENCE_MAX = 1000000, 9007199254740990
local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local limit, used, fence, waiters, setter, late = 0, 0, 0, 0, '-', ''
if stored then
    limit, used, fence, waiters, setter, late = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+)(.*)$')
    limit, used, fence, waiters = tonumber(limit), tonumber(used), tonumber(fence), tonumber(waiters)
    if not setter or math.max(limit, used) > PERMITS_MAX or fence > FENCE_MAX or waiters > WHOLE_MAX then
        return corrupt('semaphore state')
    end
    local holders = used > 0 and redis.call('ZCARD', holder_key) or 0
    if holders == 0 then
        used = 0 -- :h lives 2 h after the last grant, :s longer: whoever had permits then is gone
    elseif holders > used and holders > COUNT_MAX then -- never fewer are counted than there are
        return corrupt('semaphore')
    elseif holders ~= used and holders <= COUNT_MAX then -- some have several; or a release was stopped half-way
        used = 0
        for _, permit in ipairs(redis.call('ZRANGE', holder_key, 0, -1)) do
            used = used + (whole(string.sub(permit, 35), PERMITS_MAX) or 0)
        end
    end
    used = math.min(math.max(used, holders), PERMITS_MAX)
end

local function store()
    local text = string.format('%.0f %.0f %.0f %.0f %s%s', limit, used, fence, waiters, setter, late)
    redis.call('SET', state_key, text, 'PX', setter == '-' and IDLE_MS or SET_MS)
end

-- The state was never there, or is lost: who still believes in a permit of before is told that it is lost.
local function forget()
    if redis.call('ZCARD', holder_key) > 0 then
        redis.call('UNLINK', holder_key)
    end
    used, waiters = 0, redis.call('ZCARD', queue_key)
end

-- Permits whose lease or turn is over go. Who slept through a turn counts as dead: its living waiters enqueue
-- again. True: there may be more of them than one call does.
local function purge()
    local past = string.format('%.0f', now)
    local lapsed = redis.call('ZRANGEBYSCORE', holder_key, '-inf', past, 'WITHSCORES', 'LIMIT', '0', PURGE_MAX)
    local gone, slept = {}, {}
    for i = 1, #lapsed, 2 do
        gone[#gone + 1] = lapsed[i]
        used = used - (whole(string.sub(lapsed[i], 35), PERMITS_MAX) or 0)
        if string.find(lapsed[i + 1], '.', 1, true) then
            slept[#slept + 1] = string.sub(lapsed[i], 1, 16)
            turns_of[slept[#slept]] = false
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

-- What room there is goes to those who wait, in their order; dead ones in front are passed over. A turn is kept
-- for each, except for `own`, which is here already. Writes nothing: commit() does. Returns whether there is more
-- to do than one call does, and whether it was the turn of `own`.
local turns, behind, kept, gone = {}, {}, {}, 0
local function serve(own)
    local mine, from, size = false, 0, 4
    while true do
        local heads = redis.call('ZRANGE', queue_key, from, from + size - 1)
        for i, head in ipairs(heads) do
            local wanted = whole(string.sub(head, 35), PERMITS_MAX)
            local turn = wanted and (head == own or turn_of(head))
            local fits = turn and wanted <= limit
            if turn and (#turns == TURNS_MAX or (fits and used + wanted > limit)) then
                behind, waiters = {unpack(heads, i)}, math.max(waiters - gone, 0)
                return #turns == TURNS_MAX, mine
            end
            gone = gone + 1
            if fits then
                used = used + wanted
            end
            if head == own then
                mine = fits
            elseif turn then -- who wants more than the limit is told, asks, and learns it
                turns[#turns + 1] = head
                if fits then
                    kept[#kept + 1] = string.format('%.1f', now + turn + 0.5)
                    kept[#kept + 1] = head
                end
            end
        end
        if #heads < size or looked_up >= LOOK_MAX or from >= 4 + 4 * LOOK_MAX then
            waiters = #heads < size and 0 or math.max(waiters - gone, 1) -- there may be fewer than were counted
            return #heads == size, mine
        end
        from, size = from + size, LOOK_MAX
    end
end

-- In an order in which more waiters and permits are counted than there are, and never fewer, wherever it is stopped.
local function commit()
    if gone > 0 then
        redis.call('ZREMRANGEBYRANK', queue_key, 0, gone - 1)
    end
    store()
    if #kept > 0 then
        redis.call('ZADD', holder_key, unpack(kept))
        redis.call('PEXPIRE', holder_key, IDLE_MS)
    end
end
