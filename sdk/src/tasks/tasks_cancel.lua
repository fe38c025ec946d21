-- tasks_cancel: tasks that are not wanted any more. What has not been handed out goes at once; what runs is
-- marked, its worker is told, and it goes when the worker is done with it or its lease runs out.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :m   3 :l   4 :t   5 :x   6..9 :d0 .. :d3   10 :q   see tasks_push.lua
--         and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 keep us   how long the id is remembered
--       3..         ids
-- reply sequence, now us, codes: one letter a task
--       o cancelled; r runs, and is marked; g over before, done or cancelled; n not known
-- hint  to gh:wake:<client> "<sequence>" of the worker that runs it
--
-- A repeat finds them cancelled or marked, and answers the same. A task that waits in a ready list leaves its
-- id there, with an empty value in :p, until its turn comes: finding it in the list would take time that
-- grows with the list. So does a task with a group when the values to be read get too many bytes. A group
-- whose line is empty stays in the ring until its turn comes. Begins with ZREM,
-- which a server that is out of memory still allows.

local CLASSES = 4
local READ_MAX = 65536 -- of values, which tell the group of a task that is ready
local LONG = string.rep('-', 65) -- see tasks_push.lua

local call, match, sub = redis.call, string.match, string.sub
local payload_key, mark_key, lease_key, tomb_key, dead_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, keep, count = tonumber(ARGV[1]), tonumber(ARGV[2]), #ARGV - 2

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local marks = call('HMGET', mark_key, unpack(ARGV, 3))
local no_tombs, no_marks = call('ZCARD', tomb_key) == 0, call('HLEN', mark_key) == 0
call('ZCARD', dead_key)
call('HLEN', payload_key)
call('ZCARD', KEYS[10])
local delayed = {} -- keys of the classes that have tasks that are due later
for i = 6, 9 do
    if call('ZCARD', KEYS[i]) > 0 then delayed[#delayed + 1] = KEYS[i] end
end
call('ZREM', lease_key, '') -- all types are known now

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

-- Where it lies in the line of a group, if it does and not too much has been read; its mark says the rest.
local read = 0
local function line_of(id, mark, size)
    local place = mark and match(mark, '^R %d+ %d+ %- (%d+)$')
    if not place or (read > 0 and read + size > READ_MAX) then return nil end
    local value = call('HGET', payload_key, id)
    local length, at = match(value, '^%d %d+ %d+ (%d+):()')
    read = read + size
    return length and class_of(value) .. sub(value, at, at + length - 1) .. '\0' .. place .. '\0' .. id
end

local codes, first, told, states, forgets, gone, dead, emptied = {}, {}, {}, {}, {}, {}, {}, {}
-- Those that lie in a zset or a list, and the places of those that lie in a line.
local waiting, lines = {}, {}
local until_text = string.format('%.0f', now + keep)

local function bury(id, mark)
    local at = #states
    states[at + 1] = id
    states[at + 2] = mark and 'C ' .. (match(mark, '^%u (%d+ %d+)') or '0 0') .. ' - ' or 'C 0 0 - '
    at = #forgets
    forgets[at + 1], forgets[at + 2] = until_text, id
end

local function cancel(id, mark)
    local state, size = mark and sub(mark, 1, 1), call('HSTRLEN', payload_key, id)
    if size == 0 and call('HEXISTS', payload_key, id) == 0 then
        if state == 'C' then return 'o' end
        return call('ZSCORE', tomb_key, id) and 'g' or 'n'
    elseif size == 0 then
        return 'o'
    elseif state == 'L' then
        states[#states + 1] = id
        states[#states + 1] = 'K' .. sub(mark, 2)
        told[#told + 1] = match(mark, '^%u %d+ %d+ (%S+)')
        return 'r'
    elseif state == 'K' then
        return 'r'
    elseif state == 'X' then
        dead[#dead + 1] = id
        gone[#gone + 1] = id
    else
        local line = line_of(id, mark, size)
        if line then
            lines[#lines + 1] = line
            gone[#gone + 1] = id
        else
            waiting[#waiting + 1] = id
        end
    end
    bury(id, mark)
    return 'o'
end

for i = 1, count do
    local id = ARGV[2 + i]
    local k = first[id]
    first[id] = k or i
    codes[i] = k and codes[k] or cancel(id, marks[i])
end
-- What is in no zset waits in a list.
for d = 1, #waiting > 0 and #delayed or 0 do
    local scores, rest = call('ZMSCORE', delayed[d], unpack(waiting)), {}
    local found = {}
    for i = 1, #waiting do
        local id = waiting[i]
        if scores[i] then
            found[#found + 1] = id
            gone[#gone + 1] = id
        else
            rest[#rest + 1] = id
        end
    end
    if #found > 0 then call('ZREM', delayed[d], unpack(found)) end
    waiting = rest
    if #waiting == 0 then break end
end
for i = 1, #waiting do
    emptied[2 * i - 1], emptied[2 * i] = waiting[i], ''
end
if #lines > 0 then call('ZREM', KEYS[10], unpack(lines)) end
if #dead > 0 then call('ZREM', dead_key, unpack(dead)) end
if #gone > 0 then call('HDEL', payload_key, unpack(gone)) end
if #emptied > 0 then call('HSET', payload_key, unpack(emptied)) end
if #states > 0 then
    if no_marks then call('HSET', mark_key, '', LONG) end
    call('HSET', mark_key, unpack(states))
    if no_marks then call('HDEL', mark_key, '') end
end
if #forgets > 0 then
    if no_tombs then call('ZADD', tomb_key, '0', LONG) end
    call('ZADD', tomb_key, unpack(forgets))
    if no_tombs then call('ZREM', tomb_key, LONG) end
end
for i = 1, #told do
    -- Last, and its error ignored: without the right to publish the worker sees it when it renews.
    redis.pcall('PUBLISH', match(mark_key, '^([^{]*)') .. 'wake:' .. sub(told[i], 1, 16),
                sub(told[i], 18))
end
return {sequence, now, table.concat(codes)}
