-- tasks_requeue: dead letters become ready again, behind those that wait (of their group, if they have one),
-- with all their attempts before them.
--
-- KEYS  1 gh:{tasks:<queue>}:x   2 :p   3 :m   4 :t   5 :i   6..9 :r0 .. :r3   10 :q   11 :g   12 :c   see
--         tasks_push.lua and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2..         ids
-- reply sequence, now us, codes: one letter a task
--       o not a dead letter any more, by this call or an earlier one; n not known
-- hint  as tasks_push.lua
--
-- A repeat finds that it is no dead letter, and answers o.

local CLASSES = 4
local HINTS_MAX = 16
local TURNS = 1125899906842624 -- 2^50: see :g in tasks_push.lua

local dead_key, payload_key, mark_key, tomb_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, count = tonumber(ARGV[1]), #ARGV - 1

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local values = redis.call('HMGET', payload_key, unpack(ARGV, 2))
local marks = redis.call('HMGET', mark_key, unpack(ARGV, 2))
redis.call('ZCARD', dead_key)
for i = 6, 9 do redis.call('LLEN', KEYS[i]) end
for i = 10, 11 do redis.call('ZCARD', KEYS[i]) end
redis.call('HLEN', KEYS[12])

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = string.byte(value) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

local last, lines, turns = {}, {}, {} -- the last turn of a class, and which groups have one
local states, risen = {}, {}
local function stand_in_line(i, id, class, group)
    local member, place = class .. group, string.format('%016.0f%03d', now, i)
    if not last[class] then
        local found = redis.call('ZREVRANGEBYSCORE', KEYS[11], string.format('%.0f', (class + 1) * TURNS - 1),
                                 string.format('%.0f', class * TURNS), 'WITHSCORES', 'LIMIT', '0', '1')
        last[class] = tonumber(found[2] or class * TURNS)
        redis.call('HSET', KEYS[12], 'groups', '1')
    end
    lines[#lines + 1] = '0'
    lines[#lines + 1] = member .. '\0' .. place .. '\0' .. id
    if not last[member] then
        last[class], last[member] = last[class] + 1, true
        turns[#turns + 1] = string.format('%.0f', last[class])
        turns[#turns + 1] = member
    end
    return place
end

local codes, seen, moved = {}, {}, 0
for i = 1, count do
    local id, value, mark = ARGV[1 + i], values[i], marks[i]
    codes[i] = 'o'
    if not value or value == '' then
        codes[i] = redis.call('ZSCORE', tomb_key, id) and 'o' or 'n'
    elseif not seen[id] and mark and string.sub(mark, 1, 1) == 'X' then
        local size, at = string.match(value, '^%d %d+ %d+ (%d+):()')
        local group, place = size and string.sub(value, at, at + size - 1) or '', ''
        if group == '' then
            redis.call('RPUSH', KEYS[6 + class_of(value)], id)
        else
            place = stand_in_line(i, id, class_of(value), group)
        end
        states[#states + 1] = id
        states[#states + 1] = 'R 0 ' .. string.match(mark, '^%u %d+ (%d+)') .. ' - ' .. place
        risen[#risen + 1] = id
        seen[id], moved = true, moved + 1
    end
end
if #lines > 0 then
    redis.call('ZADD', KEYS[10], unpack(lines))
    redis.call('ZADD', KEYS[11], 'NX', unpack(turns))
end
if moved > 0 then
    redis.call('HSET', mark_key, unpack(states))
    redis.call('ZREM', dead_key, unpack(risen))
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
