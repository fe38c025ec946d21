-- semaphore_queue: who gets what room there is.
--
-- wants state_key, holder_key, queue_key, client_key; now; what semaphore_state.lua gives; turn_of, turns_of,
--       looked_up of line.lua
-- gives forget(), purge(), serve(own); turns, behind for hint_all()

local PURGE_MAX = 32 -- permits that are over and go in one call of purge()
local LOOK_MAX, TURNS_MAX = 30, 10 -- clients that one call looks up, and turns that it keeps
local CROWD_MAX = 100000           -- more never wait: WAITERS_MAX of semaphore_acquire.lua

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
        used = used - (permits_of(lapsed[i]) or 0)
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
-- to do than one call does, and whether it was the turn of `own`. nil: more lie there than ever wait, which somebody
-- else has put there; commit() is to be called then, too, for what has been let go already.
local turns, behind = {}, {}
local function serve(own)
    local mine, from, size = false, 0, 4
    while true do
        if from == 4 and #turns == 0 and redis.call('ZCARD', queue_key) > CROWD_MAX then
            return nil
        end
        local heads = redis.call('ZRANGE', queue_key, from, from + size - 1)
        for i = 1, #heads do
            local head = heads[i]
            local wanted = permits_of(head)
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
