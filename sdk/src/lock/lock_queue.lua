-- lock_queue: the state of a lock, and who is next.
--
-- wants stored; queue_key; WHOLE_MAX, corrupt of check.lua; turn_of, looked_up of line.lua
-- gives owner, fence, expiry, state, waiters, late   see lock_acquire.lua
--       IDLE_MS; next_waiter(), drop(count)

local ROUNDS, ROUND_SIZE = 5, 100 -- how many dead waiters one call drops at most,
local LOOK_MAX = 150              -- and after how many different clients it begins no other round
local IDLE_MS = 3600000
local FENCE_MAX = 9007199254740990 -- the one after it is a whole number, too

local owner, fence, expiry, state, waiters, late = '-', 0, 0, 'f', 0, ''
if stored then
    owner, fence, expiry, state, waiters, late = string.match(stored, '^(%S+) (%d+) (%d+) ([hrf]) (%d+)(.*)$')
    fence, expiry, waiters = tonumber(fence), tonumber(expiry), tonumber(waiters)
    if not owner or fence > FENCE_MAX or expiry > WHOLE_MAX or waiters > WHOLE_MAX then
        return corrupt('lock state')
    end
end

-- The first waiter whose client is alive; those behind it, of whom one should look after it; and how many leave
-- the queue: it and the dead in front of it. nil: there is none among the few hundred that one call looks at.
-- Counts who is left; what was stopped half-way may have counted more than there are.
local function next_waiter()
    local from = 0
    for round = 0, ROUNDS do
        if looked_up > LOOK_MAX then
            break
        end
        local size = round == 0 and 4 or ROUND_SIZE
        local tokens = redis.call('ZRANGE', queue_key, from, from + size - 1)
        for i, head in ipairs(tokens) do
            if #head == 33 and turn_of(head) then
                waiters = math.max(waiters - from - i, 0)
                return head, {unpack(tokens, i + 1)}, from + i
            end
        end
        from = from + #tokens
        if #tokens < size then
            waiters = 0
            return nil, {}, from
        end
    end
    waiters = math.max(waiters - from, 1)
    return nil, {}, from
end

local function drop(count)
    if count > 0 then
        redis.call('ZREMRANGEBYRANK', queue_key, 0, count - 1)
    end
end
