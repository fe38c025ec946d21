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
-- grows with the list. A group whose line is empty stays in the ring until its turn comes. Begins with ZREM,
-- which a server that is out of memory still allows.

local CLASSES = 4
local LONG = string.rep('-', 65) -- see tasks_push.lua

local payload_key, mark_key, lease_key, tomb_key, dead_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, keep, count = tonumber(ARGV[1]), tonumber(ARGV[2]), #ARGV - 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local values = redis.call('HMGET', payload_key, unpack(ARGV, 3))
local marks = redis.call('HMGET', mark_key, unpack(ARGV, 3))
local no_tombs, no_marks = redis.call('ZCARD', tomb_key) == 0, redis.call('HLEN', mark_key) == 0
redis.call('ZCARD', dead_key)
for i = 6, 10 do redis.call('ZCARD', KEYS[i]) end
redis.call('ZREM', lease_key, '') -- all types are known now

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

-- Where those lie that wait: the zset of the class, or the line of a group, where the mark says.
local function place_of(i, id)
    local value, mark = values[i], marks[i]
    local key = 6 + class_of(value)
    local place = mark and string.match(mark, '^R %d+ %d+ %- (%d+)$')
    local size, at = string.match(value, '^%d %d+ %d+ (%d+):()')
    if not place or not size then return key, id end
    return 10, class_of(value) .. string.sub(value, at, at + size - 1) .. '\0' .. place .. '\0' .. id
end

local codes, first, told, states, forgets, gone, dead, emptied = {}, {}, {}, {}, {}, {}, {}, {}
local members, owners = {}, {} -- by the number of a key: of those that may lie there
local until_text = string.format('%.0f', now + keep)

local function bury(id, mark)
    states[#states + 1] = id
    states[#states + 1] = 'C ' .. (string.match(mark or '', '^%u (%d+ %d+)') or '0 0') .. ' - '
    forgets[#forgets + 1] = until_text
    forgets[#forgets + 1] = id
end

local function cancel(i, id, value, mark)
    local state = mark and string.sub(mark, 1, 1)
    if not value then
        if state == 'C' then return 'o' end
        return redis.call('ZSCORE', tomb_key, id) and 'g' or 'n'
    elseif value == '' then
        return 'o'
    elseif state == 'L' then
        states[#states + 1] = id
        states[#states + 1] = 'K' .. string.sub(mark, 2)
        told[#told + 1] = string.match(mark, '^%u %d+ %d+ (%S+)')
        return 'r'
    elseif state == 'K' then
        return 'r'
    elseif state == 'X' then
        dead[#dead + 1] = id
        gone[#gone + 1] = id
    else
        local key, member = place_of(i, id)
        members[key], owners[key] = members[key] or {}, owners[key] or {}
        table.insert(members[key], member)
        table.insert(owners[key], id)
    end
    bury(id, mark)
    return 'o'
end

for i = 1, count do
    local id = ARGV[2 + i]
    local k = first[id]
    first[id] = k or i
    codes[i] = k and codes[k] or cancel(i, id, values[i], marks[i])
end
for key, list in pairs(members) do
    -- What is not in its line was torn by hand; what is in no zset of its class waits in a list.
    local scores = key ~= 10 and redis.call('ZMSCORE', KEYS[key], unpack(list))
    for i = 1, #list do
        if key == 10 or scores[i] then
            gone[#gone + 1] = owners[key][i]
        else
            emptied[#emptied + 1] = owners[key][i]
            emptied[#emptied + 1] = ''
        end
    end
    redis.call('ZREM', KEYS[key], unpack(list))
end
if #dead > 0 then redis.call('ZREM', dead_key, unpack(dead)) end
if #gone > 0 then redis.call('HDEL', payload_key, unpack(gone)) end
if #emptied > 0 then redis.call('HSET', payload_key, unpack(emptied)) end
if #states > 0 then
    if no_marks then redis.call('HSET', mark_key, '', LONG) end
    redis.call('HSET', mark_key, unpack(states))
    if no_marks then redis.call('HDEL', mark_key, '') end
end
if #forgets > 0 then
    if no_tombs then redis.call('ZADD', tomb_key, '0', LONG) end
    redis.call('ZADD', tomb_key, unpack(forgets))
    if no_tombs then redis.call('ZREM', tomb_key, LONG) end
end
for i = 1, #told do
    -- Last, and its error ignored: without the right to publish the worker sees it when it renews.
    redis.pcall('PUBLISH', string.match(mark_key, '^([^{]*)') .. 'wake:' .. string.sub(told[i], 1, 16),
                string.sub(told[i], 18))
end
return {sequence, now, table.concat(codes)}
