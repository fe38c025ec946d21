-- tasks_finish: says what became of tasks that were handed out. Only the hand-out that is the current one
-- counts: after its lease ran out and another got the task, nothing is done.
--
-- KEYS  1 gh:{tasks:<queue>}:w   hash   besides receipts of hand-outs: ARGV 1 -> "<until us> <sequence>
--                                       <codes>", by which a repeat is known
--       2 :m   3 :l   4 :p   5 :t   6 :x   7 :i   8..11 :d0 .. :d3   see tasks_take.lua and tasks_push.lua
-- ARGV  1 field     "<client>:<sequence>f"; it has one unanswered request at a time
--       2 sequence  comes back as the first element of the reply
--       3 keep us   how long ids and results of tasks that are done are remembered
--       4 kinds     one letter a task, n in all
--                   d done
--                   D done, and there is a result
--                   r retry: again after a delay; to the dead letters if that was its last attempt
--                   f failed: to the dead letters at once
--                   b given back: again at once, and the attempt does not count
--       5..         n ids, n receipts "<attempt> <fence> <worker>", then in the order of the kinds what they
--                   need: D: the result; r: the delay in us, and why; f: why
-- reply sequence, now us, codes: one letter a task
--       o as asked; d among the dead letters; c cancelled, as was asked meanwhile; l lost: not the current
--       hand-out
-- hint  as tasks_push.lua, for tasks that are ready again
--
-- A repeat gets the same codes. Begins with ZREM, which a server that is out of memory still allows.

local CLASSES = 4
local HINTS_MAX = 16
local LONG = string.rep('-', 65) -- see tasks_push.lua
local RECEIPT_US = 600000000
local PIECE = 16
local TOMBS_MAX = 1000000 -- more than this, and the oldest are forgotten early

local call, match = redis.call, string.match
local receipt_key, mark_key, lease_key, payload_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local tomb_key, dead_key, idle_key = KEYS[5], KEYS[6], KEYS[7]
local sequence, kinds = tonumber(ARGV[2]), ARGV[4]
local count = #kinds

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local saved = call('HGET', receipt_key, ARGV[1])
if saved then
    local last_sequence, codes = match(saved, '^%d+ (%d+) (%a*)$')
    if last_sequence == ARGV[2] then return {sequence, now, codes} end
end

local marks = call('HMGET', mark_key, unpack(ARGV, 5, 4 + count))
-- Wanted only for those that run again; in pieces, because the server copies an answer of more than 16 KiB
-- about.
local values = {}
for from = 1, string.find(kinds, '[rb]') and count or 0, PIECE do
    local piece = call('HMGET', payload_key, unpack(ARGV, 4 + from, 4 + math.min(from + PIECE - 1, count)))
    for i = 1, #piece do values[from + i - 1] = piece[i] end
end
local tombs = call('ZCARD', tomb_key)
call('HLEN', payload_key)
call('ZCARD', lease_key)

local codes, leased, gone, unmarked, held, seen = {}, {}, {}, {}, {}, {}
local states, forgets, dead, again, again_count = {}, {}, {}, {}, 0
local until_text = string.format('%.0f', now + tonumber(ARGV[3])) -- redis.call would format it anew for each
local extra = 5 + 2 * count

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

local function over(id, mark)
    local over_count = #gone + 1
    gone[over_count] = id
    forgets[2 * over_count - 1], forgets[2 * over_count] = until_text, id
    if mark then
        local at = #states
        states[at + 1], states[at + 2] = id, mark
    else
        unmarked[#unmarked + 1] = id
    end
end

local function keep(id, mark, list, score)
    local at = #list
    list[at + 1], list[at + 2] = score, id
    at = #states
    states[at + 1], states[at + 2] = id, mark
end

local function wait_again(id, value, mark, due)
    local class = class_of(value)
    again[class] = again[class] or {}
    keep(id, mark, again[class], due)
    if due <= now then again_count = again_count + 1 end
    return 'o'
end

local function not_done(id, kind, receipt, value)
    local attempt, fence, worker = match(receipt, '^(%d+) (%d+) (.*)$')
    value = value or '0 1 0:'
    if kind == 'b' then
        local mark = 'W ' .. (attempt - 1) .. ' ' .. fence .. ' ' .. worker .. ' '
        return wait_again(id, value, mark, math.min(now, fence))
    elseif kind == 'f' then
        keep(id, 'X ' .. receipt .. ' ' .. ARGV[extra], dead, now)
        return 'o'
    elseif tonumber(attempt) >= tonumber(match(value, '^%d (%d+)') or 1) then
        keep(id, 'X ' .. receipt .. ' ' .. ARGV[extra + 1], dead, now)
        return 'd'
    end
    return wait_again(id, value, 'W ' .. receipt .. ' ' .. ARGV[extra + 1], now + tonumber(ARGV[extra]))
end

for i = 1, count do
    local id, receipt, kind, mark = ARGV[4 + i], ARGV[4 + count + i], string.sub(kinds, i, i), marks[i]
    local runs = held[receipt]
    if not runs then
        runs = {'L ' .. receipt, 'K ' .. receipt}
        held[receipt] = runs
    end
    local to_cancel = mark == runs[2]
    if seen[id] or not (mark == runs[1] or to_cancel) then
        codes[i] = 'l'
    else
        seen[id] = true
        leased[#leased + 1] = id
        codes[i] = 'o'
        if kind == 'D' then
            over(id, 'D ' .. receipt .. ' ' .. ARGV[extra])
        elseif kind == 'd' then
            over(id, string.sub(receipt, 1, 2) ~= '1 ' and 'D ' .. receipt .. ' ')
        elseif to_cancel then
            over(id, 'C ' .. receipt .. ' ')
            codes[i] = 'c'
        else
            codes[i] = not_done(id, kind, receipt, values[i])
        end
    end
    if kind == 'r' then extra = extra + 2 elseif kind == 'D' or kind == 'f' then extra = extra + 1 end
end
if #dead > 0 then call('ZCARD', dead_key) end
for class, list in pairs(again) do -- all types are known, before the first write
    list.anew = call('ZCARD', KEYS[8 + class]) == 0
end

if #leased > 0 then call('ZREM', lease_key, unpack(leased)) end
if #gone > 0 then call('HDEL', payload_key, unpack(gone)) end
if #unmarked > 0 then call('HDEL', mark_key, unpack(unmarked)) end
if #forgets > 0 then
    if tombs == 0 then call('ZADD', tomb_key, '0', LONG) end
    call('ZADD', tomb_key, unpack(forgets))
    if tombs == 0 then call('ZREM', tomb_key, LONG) end
end
if #states > 0 then call('HSET', mark_key, unpack(states)) end
if #dead > 0 then call('ZADD', dead_key, unpack(dead)) end
for class, list in pairs(again) do
    if list.anew then call('ZADD', KEYS[8 + class], '0', LONG) end
    call('ZADD', KEYS[8 + class], unpack(list))
    if list.anew then call('ZREM', KEYS[8 + class], LONG) end
end
local answer = table.concat(codes)
call('HSET', receipt_key, ARGV[1], string.format('%.0f', now + RECEIPT_US) .. ' ' .. ARGV[2] .. ' ' .. answer)

if tombs > 0 then
    local most = math.min(2 * count, count + 10)
    local old = call('ZRANGEBYSCORE', tomb_key, '-inf', now, 'LIMIT', '0', most)
    if #old == 0 and tombs > TOMBS_MAX then old = call('ZRANGE', tomb_key, '0', most - 1) end
    if #old > 0 then
        call('ZREMRANGEBYRANK', tomb_key, '0', #old - 1)
        call('HDEL', mark_key, unpack(old))
    end
end
if again_count > 0 then
    -- Last, and errors ignored: without the right to publish sleepers find out by asking.
    local sleepers = redis.pcall('ZPOPMIN', idle_key, math.min(again_count, HINTS_MAX))
    local channel = match(idle_key, '^([^{]*)') .. 'wake:'
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then
            redis.pcall('PUBLISH', channel .. string.sub(sleepers[i], 1, 16), string.sub(sleepers[i], 18))
        end
    end
end
return {sequence, now, answer}
