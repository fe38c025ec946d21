-- tasks_finish: says what became of tasks that were handed out. Only the hand-out that is the current one
-- counts: after its lease ran out and another got the task, nothing is done.
--
-- KEYS  1 gh:{tasks:<queue>}:w   hash   besides receipts of hand-outs: ARGV 1 -> "<written us> <receipt us> <sequence>
--                                       <keep us> <codes>", by which a repeat is known
--       2 :m   3 :l   4 :p   5 :t   6 :x   7 :i   8..11 :d0 .. :d3   see tasks_take.lua and tasks_push.lua
-- ARGV  1 field      "<client>:<sequence>f"; it has one unanswered request at a time, and a larger sequence each time
--       2 sequence   comes back as the first element of the reply
--       3 keep us    how long ids and results of tasks that are done are remembered
--       4 kinds      one letter a task, n in all
--                    d done
--                    D done, and there is a result
--                    r retry: again after a delay; to the dead letters if that was its last attempt
--                    f failed: to the dead letters at once
--                    b given back: again at once, and the attempt does not count
--       5 receipt us how long a copy of this request may be sent or under way
--       6 generation of the store's data, as the client knows it; 0: not known
--       7 ...        n ids, n receipts "<attempt> <fence> <worker>", then in the order of the kinds what they
--                    need: D: the result; r: the delay in us, and why; f: why
-- reply in one text: sequence, now us, codes text
--       codes: one letter a task, or none at all: a later one of this field was answered before
--       codes "o" as asked
--             "d" dead       among the dead letters
--             "c" cancelled  as was asked meanwhile
--             "l" lost       not the current hand-out
--       or the error STALE: the store's data is of a later generation
-- hint  as tasks_push.lua, for tasks that are ready again
--
-- A repeat gets the same codes; a late copy finds that another hand-out is the current one, or none, and that its field
-- has a later sequence. In which order it writes: see tasks_take.lua. What is done is remembered before its payload
-- goes, and the receipt comes last.
-- Begins with ZREM, which a server that is out of memory still allows.

local CLASSES = 4
local LONG = '-----------------------------------------------------------------' -- see tasks_push.lua
local PIECE = 16
local TOMBS_MAX = 1000000 -- more than this, and the oldest are forgotten early
-- A kind, and how a task stands that was finished so.
local ENDS = 'dD DD rW rX fX'

local call, match, sub = redis.call, string.match, string.sub
local w_key, m_key, l_key, p_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local t_key, x_key, i_key = KEYS[5], KEYS[6], KEYS[7]
local sequence, keep, kinds, generation = ARGV[2], ARGV[3], ARGV[4], ARGV[6]
local count = #kinds

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. sub('00000' .. time[2], -6) -- redis.call would format the number anew each time, and slowly

local saved = call('HMGET', w_key, ARGV[1], 'generation')
local written, last_sequence, last_keep, last_codes
if saved[1] then
    written, last_sequence, last_keep, last_codes = match(saved[1], '^(%d+) %d+ (%d+) (%d+) (%a*)$')
    if not written then
        return redis.error_reply('CORRUPT a receipt is not of the form that KEYS.md describes')
    elseif tonumber(last_sequence) >= tonumber(sequence) then
        return sequence .. ' ' .. now_text .. ' ' .. (last_sequence == sequence and last_codes or '')
    end
end
if saved[2] ~= generation then
    --@ client/check.lua
    --@ tasks/generation.lua
end

local marks = call('HMGET', m_key, unpack(ARGV, 7, 6 + count))
-- Wanted only for those that run again; in pieces, because the server copies an answer of more than 16 KiB
-- about.
local values, is_simple = {}, not string.find(kinds, '[rfb]')
for from = 1, not is_simple and string.find(kinds, '[rb]') and count or 0, PIECE do
    local piece = call('HMGET', p_key, unpack(ARGV, 6 + from, 6 + math.min(from + PIECE - 1, count)))
    for i = 1, #piece do values[from + i - 1] = piece[i] end
end
local oldest = call('ZRANGE', t_key, '0', '0', 'WITHSCORES')[2]
local left = call('HLEN', p_key)

local codes, leased, gone, unmarked, held, seen, states, forgets = {}, {}, {}, {}, {}, {}, {}, {}
local until_text = string.format('%.0f', now + keep)
local extra = 7 + 2 * count

-- Those that are not done: where they go. Most requests have none of them.
local dead, again, ready_count, not_done = nil, nil, 0, nil
if not is_simple then
    dead, again = {}, {}

    local function put(list, score, id, mark)
        local at = #list
        list[at + 1], list[at + 2] = score, id
        at = #states
        states[at + 1], states[at + 2] = id, mark
    end

    -- Its class; what was planted by hand may begin with anything.
    local function wait_again(id, value, mark, due)
        local class = math.min(tonumber(sub(value, 1, 1)) or CLASSES, CLASSES - 1)
        again[class] = again[class] or {}
        put(again[class], due, id, mark)
        if due <= now then ready_count = ready_count + 1 end
        return 'o'
    end

    not_done = function(id, kind, receipt, value)
        local attempt, fence, worker = match(receipt, '^(%d+) (%d+) (.*)$')
        value = value or '0 1 0:'
        if kind == 'b' then
            local mark = 'W ' .. (attempt - 1) .. ' ' .. fence .. ' ' .. worker .. ' '
            return wait_again(id, value, mark, math.min(now, fence))
        elseif kind == 'f' then
            put(dead, now, id, 'X ' .. receipt .. ' ' .. ARGV[extra])
            return 'o'
        elseif tonumber(attempt) >= tonumber(match(value, '^%d (%d+)') or 1) then
            put(dead, now, id, 'X ' .. receipt .. ' ' .. ARGV[extra + 1])
            return 'd'
        end
        return wait_again(id, value, 'W ' .. receipt .. ' ' .. ARGV[extra + 1], now + tonumber(ARGV[extra]))
    end
end

for i = 1, count do
    local id, receipt, kind, mark = ARGV[6 + i], ARGV[6 + count + i], sub(kinds, i, i), marks[i]
    local runs = held[receipt]
    if not runs then
        runs = {'L ' .. receipt, 'K ' .. receipt}
        held[receipt] = runs
    end
    local to_cancel = mark == runs[2]
    if seen[id] or not (mark == runs[1] or to_cancel) then
        codes[i] = 'l'
        if mark and sub(mark, 3, #receipt + 2) == receipt and string.find(ENDS, kind .. sub(mark, 1, 1), 1, true) then
            codes[i] = kind == 'r' and sub(mark, 1, 1) == 'X' and 'd' or 'o' -- by a copy that was stopped half-way
            leased[#leased + 1] = id
        end
    else
        local ended -- what is said in :m of one that is over; false: nothing
        seen[id] = true
        leased[#leased + 1] = id
        codes[i] = 'o'
        if kind == 'D' then
            ended = 'D ' .. receipt .. ' ' .. ARGV[extra]
        elseif kind == 'd' then
            ended = sub(receipt, 1, 2) ~= '1 ' and 'D ' .. receipt .. ' '
        elseif to_cancel then
            ended, codes[i] = 'C ' .. receipt .. ' ', 'c'
        else
            codes[i] = not_done(id, kind, receipt, values[i])
        end
        if ended ~= nil then
            local at = #gone + 1
            gone[at], forgets[2 * at - 1], forgets[2 * at] = id, until_text, id
        end
        if ended then
            local at = #states
            states[at + 1], states[at + 2] = id, ended
        elseif ended == false then
            unmarked[#unmarked + 1] = id
        end
    end
    if kind == 'r' then extra = extra + 2 elseif kind == 'D' or kind == 'f' then extra = extra + 1 end
end
if not is_simple then -- all types are known, before the first write
    call('ZCARD', x_key)
    for class, list in pairs(again) do list.anew = call('ZCARD', KEYS[8 + class]) == 0 end
end

call('ZREM', l_key, '')
if #gone > 0 then
    if not oldest then call('ZADD', t_key, '0', LONG) end
    call('ZADD', t_key, unpack(forgets))
    if not oldest then call('ZREM', t_key, LONG) end
    left = left - call('HDEL', p_key, '', unpack(gone)) -- tasks_push.lua may have left '' there
end
if not is_simple then
    if #dead > 0 then call('ZADD', x_key, unpack(dead)) end
    for class, list in pairs(again) do
        if list.anew then call('ZADD', KEYS[8 + class], '0', LONG) end
        call('ZADD', KEYS[8 + class], unpack(list))
        if list.anew then call('ZREM', KEYS[8 + class], LONG) end
    end
end
if #states > 0 then call('HSET', m_key, unpack(states)) end
if #unmarked > 0 then call('HDEL', m_key, unpack(unmarked)) end
if #leased > 0 then call('ZREM', l_key, unpack(leased)) end
local answer = table.concat(codes)
local text = now_text .. ' ' .. ARGV[5] .. ' ' .. sequence .. ' ' .. keep .. ' ' .. answer
if saved[2] == generation or generation == '0' then
    call('HSET', w_key, ARGV[1], text)
else
    call('HSET', w_key, ARGV[1], text, 'generation', generation)
end

-- ---- what is left behind ----------------------------------------------------------------------------------

if oldest and tonumber(oldest) <= now or time[2] % 4 == 0 then
    --@ tasks/forget.lua
end
if time[2] % 16 == 0 then
    local drawn = 2
    --@ tasks/sweep.lua
end
-- A field sees to the life of :w and :t once in 100 s.
local anew = keep ~= last_keep or not oldest or sub(written, 1, -9) ~= sub(now_text, 1, -9)
local queue = left == 0 and sub(p_key, 1, -2)
local is_over = queue and call('EXISTS', m_key, queue .. 'c', queue .. 'g') > 0 -- else there is nothing to clear
if anew or is_over then
    --@ tasks/over.lua
    if anew then
        keep_until(w_key, now + ARGV[5] + 100000000)
        keep_until(t_key, now + keep + 100000000)
    end
    if is_over then clear() end
end
--@ client/hint.lua
--@ tasks/wake.lua
return sequence .. ' ' .. now_text .. ' ' .. answer
