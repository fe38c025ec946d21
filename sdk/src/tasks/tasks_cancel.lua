-- tasks_cancel: tasks that are not wanted any more. What has not been handed out goes at once; what runs is
-- marked, its worker is told, and it goes when the worker is done with it or its lease runs out.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :m   3 :t   4 :x   5..8 :d0 .. :d3   9 :q   10 :w   see tasks_push.lua and
--         tasks_take.lua; in :w besides, "<client>:<sequence>o" -> "<written us> <receipt us> <codes>": what other
--         copies are answered
-- ARGV  1 token      "<client>:<sequence>" of the op
--       2 sequence   comes back as the first element of the reply
--       3 keep us    how long the id is remembered
--       4 not after  us of the store's clock; later, nothing is cancelled; 0: no limit
--       5 receipt us how long a copy of this request may be sent or under way
--       6 twice      "1": another copy may be under way
--       7 ...        ids
-- reply as tasks/once.lua
--       codes "r" runs  and is marked
--             "g" over  before, done or cancelled
-- hint  to gh:wake:<client> "<sequence>" of the worker that runs it
--
-- A receipt keeps another copy from cancelling what gets the same id later. A task that waits in a ready list leaves
-- its id there until its turn comes, and its state says so: finding it in the list would take time that grows with the
-- list. So does a task with a group when the values to be read get too many bytes. A group whose line is empty stays in
-- the ring until its turn comes. The id is remembered before the payload goes; else in the order of tasks_take.lua.
-- Begins with PERSIST, which a server that is out of memory still allows.

local CLASSES = 4
local READ_MAX = 65536 -- of values, which tell the group of a task that is ready
local LONG = string.rep('-', 65) -- see tasks_push.lua

local call, match, sub = redis.call, string.match, string.sub
local p_key, m_key, t_key, x_key, q_key, w_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[9], KEYS[10]
local token, sequence, keep = ARGV[1], ARGV[2], tonumber(ARGV[3])
local not_after, receipt_us, count = tonumber(ARGV[4]), ARGV[5], #ARGV - 6

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. sub('00000' .. time[2], -6)

--@ client/check.lua
--@ tasks/over.lua
--@ tasks/once.lua
--@ tasks/place.lua

local marks = call('HMGET', m_key, unpack(ARGV, 7))
local no_tombs, no_marks = call('ZCARD', t_key) == 0, call('HLEN', m_key) == 0
local letters = call('ZCARD', x_key)
call('HLEN', p_key)
call('ZCARD', q_key)
local delayed = {} -- keys of the classes that have tasks that are due later
for i = 5, 8 do
    if call('ZCARD', KEYS[i]) > 0 then delayed[#delayed + 1] = KEYS[i] end
end

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = (string.byte(value) or 48) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

-- Where it lies in the line of a group, if it does and not too much has been read; its mark says the rest.
local read = 0
local function line_of(id, mark, size)
    local place = mark and match(mark, '^R %d+ %d+ %- (%d+)$')
    if not place or (read > 0 and read + size > READ_MAX) then return nil end
    local value = call('HGET', p_key, id)
    local length, at = match(value, '^%d %d+ %d+ (%d+):()')
    read = read + size
    return length and class_of(value) .. sub(value, at, at + length - 1) .. '\0' .. place .. '\0' .. id
end

local codes, first, told, states, forgets, gone, dead = {}, {}, {}, {}, {}, {}, {}
-- Those that lie in a zset or a list, and the places of those that lie in a line.
local waiting, lines, in_line = {}, {}, {}
local until_text = string.format('%.0f', now + keep)

local function cancel(id, mark)
    local state, size = mark and sub(mark, 1, 1), call('HSTRLEN', p_key, id)
    if size == 0 and call('HEXISTS', p_key, id) == 0 then
        if state == 'X' then dead[#dead + 1] = id end -- it was left over
        if state == 'C' or state == 'V' then return 'o' end
        return call('ZSCORE', t_key, id) and 'g' or 'n'
    elseif state == 'K' then
        return 'r'
    elseif state == 'L' then
        states[#states + 1] = id
        states[#states + 1] = 'K' .. sub(mark, 2)
        told[#told + 1] = match(mark, '^%u %d+ %d+ (%x+:%x+)')
        return 'r'
    end
    local line = state ~= 'X' and line_of(id, mark, size)
    if state == 'X' or letters > 0 then -- its letter, or one that a requeue has left over that was stopped
        dead[#dead + 1] = id
    end
    if state == 'X' then
        line = nil
    elseif line then
        lines[#lines + 1] = line
    else
        waiting[#waiting + 1] = id
        in_line[id] = mark and match(mark, '^R %d+ %d+ %- %d+$')
    end
    gone[#gone + 1] = id
    forgets[#forgets + 1] = until_text
    forgets[#forgets + 1] = id
    states[#states + 1] = id
    states[#states + 1] = 'C ' .. (match(mark or '', '^%u (%d+ %d+)') or '0 0') .. ' - '
    first[id] = #states
    return 'o'
end

local asked = {}
for i = 1, count do
    local id = ARGV[6 + i]
    asked[id] = asked[id] or cancel(id, marks[i])
    codes[i] = asked[id]
end
-- What is in no zset waits in a list.
local places = {}
for d = 1, #waiting > 0 and #delayed or 0 do
    local scores, rest, found = call('ZMSCORE', delayed[d], unpack(waiting)), {}, {}
    for i = 1, #waiting do
        local list = scores[i] and found or rest
        list[#list + 1] = waiting[i]
    end
    if #found > 0 then places[delayed[d]] = found end
    waiting = rest
    if #waiting == 0 then break end
end
-- Of a queue without another task all lists go at once (clear).
for i = 1, call('HLEN', p_key) > #gone and #waiting or 0 do
    local at = first[waiting[i]]
    states[at] = 'V' .. sub(states[at], 2) .. (in_line[waiting[i]] and 'q' or '') .. cleared()
end

call('PERSIST', m_key) -- all types are known now
if #forgets > 0 then
    if no_tombs then call('ZADD', t_key, '0', LONG) end
    call('ZADD', t_key, unpack(forgets))
    if no_tombs then call('ZREM', t_key, LONG) end
    keep_until(t_key, now + keep)
    call('HDEL', p_key, '', unpack(gone))
end
if #states > 0 then
    if no_marks then call('HSET', m_key, '', LONG) end
    call('HSET', m_key, unpack(states))
    if no_marks then call('HDEL', m_key, '') end
end
for key, found in pairs(places) do call('ZREM', key, unpack(found)) end
if #lines > 0 then call('ZREM', q_key, unpack(lines)) end
if #dead > 0 then call('ZREM', x_key, unpack(dead)) end
local answer = table.concat(codes)
if #states > 0 or ARGV[6] == '1' then
    keep_receipt(answer)
    local drawn = 3
    --@ tasks/sweep.lua
end
if call('EXISTS', p_key) == 0 then clear() end
--@ client/hint.lua
for i = 1, #told do
    hint(told[i], '')
end
return sequence .. ' ' .. now_text .. ' ' .. answer
