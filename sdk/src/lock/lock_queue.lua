-- lock_queue: the state of a lock, and who is next.
--
-- wants stored; state_key, queue_key, client_key; now; hint of hint.lua
-- gives owner, fence, expiry, state, waiters   see lock_acquire.lua
--       IDLE_MS; next_waiter(), hint_both(head, behind)

local ROUNDS, ROUND_SIZE = 5, 100 -- how many dead waiters one call drops at most
local IDLE_MS = 3600000

local owner, fence, expiry, state, waiters = '-', 0, 0, 'f', 0
if stored then
    owner, fence, expiry, state, waiters = string.match(stored, '^(%S+) (%d+) (%d+) ([hrf]) (%d+)$')
    if not owner then
        return redis.error_reply('WRONGTYPE lock state is not of the form that KEYS.md describes')
    end
    fence, expiry, waiters = tonumber(fence), tonumber(expiry), tonumber(waiters)
end

-- The first waiter whose client is alive is taken out of the queue and returned; dead ones in front of it are
-- dropped. nil: there is none among the few hundred that one call looks at. Behind it comes who should look
-- after it: a waiter of another client.
local function next_waiter()
    local alive = {}
    for round = 0, ROUNDS do
        local size = round == 0 and 4 or ROUND_SIZE
        local tokens = redis.call('ZRANGE', queue_key, 0, size - 1)
        for i, head in ipairs(tokens) do
            local client = string.sub(head, 1, 16)
            if alive[client] == nil then
                local live_until = redis.call('HGET', client_key, client)
                alive[client] = live_until and tonumber(live_until) > now or false
            end
            if alive[client] then
                redis.call('ZREMRANGEBYRANK', queue_key, 0, i - 1)
                waiters = math.max(waiters - i, 0)
                return head, {unpack(tokens, i + 1)}
            end
        end
        redis.call('ZREMRANGEBYRANK', queue_key, 0, size - 1)
        waiters = #tokens < size and 0 or math.max(waiters - size, 0)
        if waiters == 0 then
            return nil
        end
    end
    return nil
end

-- The head is told that it is its turn, and one behind it, of another client, to ask in case the head has
-- died since: one of the next few, or the last of all.
local function hint_both(head, behind)
    hint(head, '')
    behind[#behind + 1] = redis.call('ZRANGE', queue_key, -1, -1)[1]
    for _, waiter in ipairs(behind) do
        if string.sub(waiter, 1, 16) ~= string.sub(head, 1, 16) and hint(waiter, 'w') then
            return
        end
    end
end
