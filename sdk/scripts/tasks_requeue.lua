-- tasks_requeue: dead letters become ready again, behind those that wait, with all their attempts before
-- them.
--
-- KEYS  1 gh:{tasks:<queue>}:x   2 :p   3 :m   4 :t   5 :i   6..9 :r0 .. :r3   see tasks_push.lua and
--         tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2..         ids
-- reply sequence, now us, codes: one letter a task
--       o not a dead letter any more, by this call or an earlier one; n not known
-- hint  as tasks_push.lua
--
-- A repeat finds that it is no dead letter, and answers o.

local CLASSES = 4
local HINTS_MAX = 16

local dead_key, payload_key, mark_key, tomb_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, count = tonumber(ARGV[1]), #ARGV - 1

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local values = redis.call('HMGET', payload_key, unpack(ARGV, 2))
local marks = redis.call('HMGET', mark_key, unpack(ARGV, 2))
redis.call('ZCARD', dead_key)
for i = 6, 9 do redis.call('LLEN', KEYS[i]) end

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

local codes, seen, moved = {}, {}, 0
for i = 1, count do
    local id, value, mark = ARGV[1 + i], values[i], marks[i]
    codes[i] = 'o'
    if not value or value == '' then
        codes[i] = redis.call('ZSCORE', tomb_key, id) and 'o' or 'n'
    elseif not seen[id] and mark and string.sub(mark, 1, 1) == 'X' then
        redis.call('RPUSH', KEYS[6 + class_of(value)], id)
        redis.call('HSET', mark_key, id, 'R 0 ' .. string.match(mark, '^%u %d+ (%d+)') .. ' - ')
        redis.call('ZREM', dead_key, id)
        seen[id], moved = true, moved + 1
    end
end

if moved > 0 then
    -- Last, and errors ignored: without the right to publish sleepers find out by asking.
    local sleepers = redis.pcall('ZPOPMIN', idle_key, math.min(moved, HINTS_MAX))
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then
            local channel = string.match(idle_key, '^([^{]*)') .. 'wake:' .. string.sub(sleepers[i], 1, 16)
            redis.pcall('PUBLISH', channel, string.sub(sleepers[i], 18))
        end
    end
end
return {sequence, now, table.concat(codes)}
