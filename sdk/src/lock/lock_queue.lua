-- lock_queue: who is next.
--
-- wants queue_key, WAITERS_MAX; waiters of lock_state.lua; turn_of, looked_up of line.lua
-- gives next_waiter(), which counts waiters anew

local ROUNDS, ROUND_SIZE = 5, 100 -- how many dead waiters one call drops at most,
local LOOK_MAX = 150              -- and after how many different clients it begins no other round

-- The first waiter whose client is alive; those behind it, of whom one should look after it; how many leave the
-- queue: it and the dead in front of it; and how long its turn is. nil: there is none among the few hundred that one
-- call looks at; false: more lie there than ever wait, which somebody else has put there.
-- Counts who is left; what was stopped half-way may have counted more than there are.
local function next_waiter()
    local from = 0
    for round = 0, ROUNDS do
        if looked_up > LOOK_MAX then
            break
        elseif round == 1 and redis.call('ZCARD', queue_key) > WAITERS_MAX then
            return false
        end
        local size = round == 0 and 4 or ROUND_SIZE
        local tokens = redis.call('ZRANGE', queue_key, from, from + size - 1)
        for i = 1, #tokens do
            local head = tokens[i]
            local turn = #head == 33 and turn_of(head)
            if turn then
                waiters = math.max(waiters - from - i, 0)
                return head, {unpack(tokens, i + 1)}, from + i, turn
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
