-- tasks_cancel: tasks that are not wanted any more. What has not been handed out goes at once; what runs is
-- marked, its worker is told, and it goes when the worker is done with it or its lease runs out.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :m   3 :l   4 :t   5 :x   6..9 :d0 .. :d3   see tasks_push.lua and
--         tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 keep us   how long the id is remembered
--       3..         ids
-- reply sequence, now us, codes: one letter a task
--       o cancelled; r runs, and is marked; g over before, done or cancelled; n not known
-- hint  to gh:wake:<client> "<sequence>" of the worker that runs it
--
-- A repeat finds them cancelled or marked, and answers the same. A task that waits in a ready list leaves its
-- id there, with an empty value in :p, until its turn comes: finding it in the list would take time that
-- grows with the list. Begins with ZREM, which a server that is out of memory still allows.

local CLASSES = 4

local payload_key, mark_key, lease_key, tomb_key, dead_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, keep, count = tonumber(ARGV[1]), tonumber(ARGV[2]), #ARGV - 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local values = redis.call('HMGET', payload_key, unpack(ARGV, 3))
local marks = redis.call('HMGET', mark_key, unpack(ARGV, 3))
redis.call('ZCARD', tomb_key)
redis.call('ZCARD', dead_key)
for i = 6, 9 do redis.call('ZCARD', KEYS[i]) end
redis.call('ZREM', lease_key, '') -- all types are known now

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

local function bury(id, mark)
    redis.call('HSET', mark_key, id, 'C ' .. (string.match(mark or '', '^%u (%d+ %d+)') or '0 0') .. ' - ')
    redis.call('ZADD', tomb_key, now + keep, id)
    return 'o'
end

local told = {}
local function cancel(id, value, mark)
    local state = mark and string.sub(mark, 1, 1)
    if not value then
        if state == 'C' then return 'o' end
        return redis.call('ZSCORE', tomb_key, id) and 'g' or 'n'
    elseif value == '' then
        return 'o'
    elseif state == 'L' then
        redis.call('HSET', mark_key, id, 'K' .. string.sub(mark, 2))
        told[#told + 1] = string.match(mark, '^%u %d+ %d+ (%S+)')
        return 'r'
    elseif state == 'K' then
        return 'r'
    elseif state == 'X' then
        redis.call('ZREM', dead_key, id)
        redis.call('HDEL', payload_key, id)
    elseif redis.call('ZREM', KEYS[6 + class_of(value)], id) == 1 then
        redis.call('HDEL', payload_key, id)
    else
        redis.call('HSET', payload_key, id, '')
    end
    return bury(id, mark)
end

local codes, seen = {}, {}
for i = 1, count do
    local id = ARGV[2 + i]
    seen[id] = seen[id] or cancel(id, values[i], marks[i])
    codes[i] = seen[id]
end
for i = 1, #told do
    -- Last, and its error ignored: without the right to publish the worker sees it when it renews.
    redis.pcall('PUBLISH', string.match(mark_key, '^([^{]*)') .. 'wake:' .. string.sub(told[i], 1, 16),
                string.sub(told[i], 18))
end
return {sequence, now, table.concat(codes)}
