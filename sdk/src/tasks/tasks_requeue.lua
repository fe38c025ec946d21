-- tasks_requeue: dead letters become ready again, behind those that wait (of their group, if they have one),
-- with all their attempts before them.
--
-- KEYS  1 gh:{tasks:<queue>}:x   2 :p   3 :m   4 :t   5 :i   6..9 :r0 .. :r3   10 :q   11 :g   12 :c   13 :w   see
--         tasks_push.lua and tasks_take.lua; in :w besides, "<client>:<sequence>o" -> "<written us> <receipt us>
--         <codes>": what other copies are answered
-- ARGV  1 token      "<client>:<sequence>" of the op
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is done; 0: no limit
--       4 receipt us how long a copy of this request may be sent or under way
--       5 ...        ids
-- reply as tasks/once.lua
--       done: not a dead letter any more, by this call or an earlier one
-- hint  as tasks_push.lua
--
-- A copy of what was done is answered the same, and does nothing: a letter that has died again since stays dead. In
-- which order it writes: see tasks_take.lua.

local CLASSES = 4
local TURNS = 1125899906842624 -- 2^50: see :g in tasks_push.lua

local call, match, sub, format = redis.call, string.match, string.sub, string.format
local x_key, p_key, m_key, t_key, i_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local q_key, g_key, c_key, w_key = KEYS[10], KEYS[11], KEYS[12], KEYS[13]
local token, sequence, not_after, receipt_us = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local count = #ARGV - 4

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. sub('00000' .. time[2], -6)

--@ client/check.lua
--@ tasks/over.lua
--@ tasks/once.lua

local values = call('HMGET', p_key, unpack(ARGV, 5))
local marks = call('HMGET', m_key, unpack(ARGV, 5))
call('ZCARD', x_key)
call('ZCARD', q_key)
call('HLEN', c_key)
for i = 6, 9 do call('LLEN', KEYS[i]) end

-- What was planted by hand may begin with anything.
local function class_of(value)
    local class = (string.byte(value) or 48) - 48
    return class >= 0 and class < CLASSES and class or CLASSES - 1
end

local last, lines, turns = {}, {}, {} -- the last turn of a class, and which groups have one
local states, risen, orphans, ready = {}, {}, {}, {{}, {}, {}, {}}
local function stand_in_line(i, id, class, group)
    local member, place = class .. group, format('%016.0f%03d', now, i)
    if not last[class] then
        local found = call('ZREVRANGEBYSCORE', g_key, format('%.0f', (class + 1) * TURNS - 1),
                           format('%.0f', class * TURNS), 'WITHSCORES', 'LIMIT', '0', '1')
        last[class] = math.min(tonumber(found[2] or class * TURNS), (class + 1) * TURNS - 1000)
    end
    lines[#lines + 1] = '0'
    lines[#lines + 1] = member .. '\0' .. place .. '\0' .. id
    if not last[member] then
        last[class], last[member] = last[class] + 1, true
        turns[#turns + 1] = format('%.0f', last[class])
        turns[#turns + 1] = member
    end
    return place
end

local codes, seen = {}, {}
for i = 1, count do
    local id, value, mark = ARGV[4 + i], values[i], marks[i]
    codes[i] = 'o'
    if not value then
        codes[i] = call('ZSCORE', t_key, id) and 'o' or 'n'
        orphans[#orphans + 1] = id
    elseif not seen[id] and mark and sub(mark, 1, 1) == 'X' then
        local fence = match(mark, '^%u %d+ (%d+)')
        if not whole(fence) then return corrupt('a state') end
        local size, at = match(value, '^%d %d+ %d+ (%d+):()')
        local group, place = size and sub(value, at, at + size - 1) or '', ''
        if group == '' then
            local list = ready[1 + class_of(value)]
            list[#list + 1] = id
        else
            place = stand_in_line(i, id, class_of(value), group)
        end
        states[#states + 1] = id
        states[#states + 1] = 'R 0 ' .. fence .. ' - ' .. place
        risen[#risen + 1] = id
        seen[id] = true
    elseif not seen[id] then
        orphans[#orphans + 1] = id -- it has risen, by a requeue that was stopped before it was no letter any more
    end
end
local ready_count = #risen
if #lines > 0 then
    call('HSET', c_key, 'groups', '1')
    call('ZADD', q_key, unpack(lines))
    call('ZADD', g_key, 'NX', unpack(turns))
end
for class = 1, CLASSES do
    if #ready[class] > 0 then call('RPUSH', KEYS[5 + class], unpack(ready[class])) end
end
if #risen > 0 then
    call('HSET', m_key, unpack(states))
    call('ZREM', x_key, unpack(risen))
end
if #orphans > 0 then call('ZREM', x_key, unpack(orphans)) end -- what is no letter of a task that died is left over
local answer = table.concat(codes)
keep_receipt(answer)
--@ client/hint.lua
--@ tasks/wake.lua
return sequence .. ' ' .. now_text .. ' ' .. answer
