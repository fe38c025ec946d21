-- line: who waits in line for a lock or a semaphore, who of them lives, and how they are told.
--
-- wants queue_key, client_key; now, window, token; hint of hint.lua
-- gives turn_of(waiter)         how long (us) a turn is kept for it; false: it is dead, or no waiter at all
--       turns_of, looked_up     the same by client, as far as they were looked up, and how many were
--       live(patience)          token's client counts as alive from now on
--       enqueue(member)         at the end; false: somewhere else, because no number comes after that of the last
--       hint_all(turns, behind) tells each of turns that it is its turn, and one of another client behind
--                               them to ask in case they have died since

local turns_of, looked_up = {}, 0

local function turn_of(waiter)
    local client = string.sub(waiter, 1, 16)
    local turn = turns_of[client]
    if turn == nil then
        local text = redis.call('HGET', client_key, client)
        local live_until, wanted = string.match(text or '', '^(%d+) ?(%d*)$')
        live_until, wanted = tonumber(live_until) or 0, tonumber(wanted) or 0
        turn = live_until > now and live_until < 9007199254740992 and math.max(window, math.min(wanted, 3600000000))
        turns_of[client], looked_up = turn, looked_up + 1
    end
    return turn and #waiter < 42 and string.find(waiter, '^%x+:%x+ ?%d*$') and turn
end

-- A client that nobody can wake sleeps longer than a turn lasts otherwise: its own window is kept beside it.
local function live(patience)
    local text = string.format(window > 200000 and '%.0f %.0f' or '%.0f', now + patience, window)
    redis.call('HSET', client_key, string.sub(token, 1, 16), text)
    redis.call('PEXPIRE', client_key, '7200000') -- longer than any waiter goes without asking
end

local function enqueue(member)
    local last = tonumber(redis.call('ZRANGE', queue_key, -1, -1, 'WITHSCORES')[2] or 0)
    local is_last = last < 9007199254740991
    redis.call('ZADD', queue_key, string.format('%.0f', is_last and math.max(now, last + 1) or now), member)
    return is_last
end

local function hint_all(turns, behind)
    local told = {}
    behind[#behind + 1] = redis.call('ZRANGE', queue_key, -1, -1)[1] -- who came last is likeliest to live
    for i = 1, #turns do
        told[string.sub(turns[i], 1, 16)] = hint(turns[i], '')
    end
    for i = 1, #behind do
        if told[string.sub(behind[i], 1, 16)] == nil and hint(behind[i], 'w') then
            return
        end
    end
end
