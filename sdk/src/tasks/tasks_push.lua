-- tasks_push: new tasks, to be handed out now or after a delay, many in one request.
--
-- KEYS  1 gh:{tasks:<queue>}:p   hash   id -> "<class> <attempts> <handler size>:<handler><payload>", or
--                                       "<class> <attempts> <handler size> <group size>:<group><handler>
--                                       <payload>"; of each task that is not over
--       2 gh:{tasks:<queue>}:m   hash   id -> "<state> <attempt> <fence> <worker> <text>", see tasks_take.lua
--       3 gh:{tasks:<queue>}:t   zset   id -> until when (us) a task that is over is remembered
--       4 gh:{tasks:<queue>}:i   zset   "<client>:<sequence>" -> until when (us) it waits for a hint
--       5.. :r0, :r1, ...        list   ids that are ready, one list a class, up to the highest in the
--                                       request
--       then :d0, :d1, ...       zset   id -> when it is due (us), as many
--       then, only if one of the tasks has a group, :q, :g and :c
--         :q                     zset   the lines of the groups: "<class><group>", NUL, since when it is
--                                       ready (us, 16 digits), its place in the request (3 digits), NUL,
--                                       id -> 0
--         :g                     zset   the ring of groups with a line: "<class><group>" -> class * 2^50 +
--                                       turn; "<class>" stands for the tasks in :r<class>
--         :c                     hash   see tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 capacity  tasks that may be stored in the queue
--       3 not after us of the store's clock; later, nothing is stored: a copy that hung on the way could bring back a
--                   task that is over and forgotten. 0: no limit
--       4 classes   of which there are keys; and "g" behind it if there are :q, :g and :c
--       5..         n ids, then n delays (us; 0: ready now), then n values as in :p
-- reply sequence, now us, codes: one letter a task, or none at all: it came too late
--       o taken; e there already, or over and remembered; x there already with another value; f full
-- hint  to gh:wake:<client> "<sequence>" for as many sleepers as tasks became ready, at most 16
--
-- A repeat finds its ids stored, or remembered in :t, and answers e: nothing is pushed twice.
-- The payload comes last: a task is there once that is stored. A place without a payload is passed over by whoever
-- comes to it, and what was remembered of the id is gone before, so that it cannot stand for the new task.
-- Redis 6.2 or later.

local TURNS = 1125899906842624 -- 2^50
local PIECE, READ_MAX = 8, 32768
-- A hash or zset that begins with an entry as long as this is a table from its first entry on, and stays one
-- until it is empty. Else it would be a packed list up to some hundred entries, and finding one would take
-- time that grows with them.
local LONG = '-----------------------------------------------------------------'

local call, format, match, sub = redis.call, string.format, string.match, string.sub
local p_key, m_key, t_key, i_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local sequence, room, not_after = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local classes, grouped = tonumber(sub(ARGV[4], 1, 1)), #ARGV[4] > 1
local count = (#ARGV - 4) / 3

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if not_after > 0 and now > not_after then return {sequence, now, ''} end

-- Of those that are there already: their values; when that gets too much to read, only those that are as long
-- as the new ones, and of the others something that is neither.
local stored, read = {}, 0
for from = 1, count, PIECE do
    local last = math.min(from + PIECE - 1, count)
    if read <= READ_MAX then
        local piece = call('HMGET', p_key, unpack(ARGV, 4 + from, 4 + last))
        for i = from, last do
            local value = piece[i - from + 1]
            stored[i] = value
            if value then read = read + #value end
        end
    else
        for i = from, last do
            local size = call('HSTRLEN', p_key, ARGV[4 + i])
            local is_other = size ~= 0 and size ~= #ARGV[4 + 2 * count + i]
            stored[i] = is_other and '-' or call('HGET', p_key, ARGV[4 + i])
        end
    end
end
local tombs = call('ZMSCORE', t_key, unpack(ARGV, 5, 4 + count))
local stored_count = call('HLEN', p_key)
room = room - stored_count

local codes, fresh, entries, forgotten = {}, {}, {}, {}
local ready, due, ready_count, places_of = {}, {}, 0, 0 -- by class
local stand_in_line, lines, places, newcomers
if grouped then -- most requests have no groups
    lines, places, newcomers = {}, {}, {}
    local now_text, at_line = format('%016.0f', now), 0

    -- False: it has no group.
    stand_in_line = function(i, id, class, value)
        local size, at = match(value, '^%d %d+ %d+ (%d+):()')
        if not size or size == '0' then return false end
        local newcomer = class .. sub(value, at, at + size - 1)
        local place = now_text .. sub(1000 + i, 2)
        at_line = at_line + 2
        lines[at_line - 1], lines[at_line] = '0', newcomer .. '\0' .. place .. '\0' .. id
        places[at_line - 1], places[at_line] = id, 'R 0 0 - ' .. place
        if not newcomers[newcomer] then
            newcomers[#newcomers + 1] = newcomer
            newcomers[newcomer] = class
        end
        return true
    end
end

local at_entry = 0
for i = 1, count do
    local id, delay, value = ARGV[4 + i], ARGV[4 + count + i], ARGV[4 + 2 * count + i]
    local old = stored[i] or fresh[id]
    local class = string.byte(value) - 48
    if class < 0 or class >= classes then
        return redis.error_reply('ERR a value begins with a class for which there are no keys')
    elseif old then
        codes[i] = old == value and 'e' or 'x'
    elseif tombs[i] and (tonumber(tombs[i]) > now or sub(call('HGET', m_key, id) or '', 1, 1) == 'V') then
        codes[i] = 'e' -- its time is not over, or its place in a ready list is still there
    elseif room <= 0 then
        codes[i] = 'f'
    else
        codes[i], fresh[id], room = 'o', value, room - 1
        at_entry = at_entry + 2
        entries[at_entry - 1], entries[at_entry] = id, value
        if tombs[i] then forgotten[#forgotten + 1] = id end
        if grouped and delay == '0' and stand_in_line(i, id, class, value) then
            ready_count = ready_count + 1
        elseif delay == '0' then
            local list = ready[class]
            if not list then
                list, places_of = {}, places_of + 1
                ready[class] = list
            end
            ready_count = ready_count + 1
            list[#list + 1] = id
        else
            local list = due[class] or {}
            due[class], places_of = list, 2
            list[#list + 1] = now + tonumber(delay)
            list[#list + 1] = id
        end
    end
end

if grouped or places_of > 1 then -- all types are known, before the first write; if there is but one, it is the first
    for class = 0, classes - 1 do
        if ready[class] then call('LLEN', KEYS[5 + class]) end
        local list = due[class]
        if list and call('ZCARD', KEYS[5 + classes + class]) == 0 then
            list[#list + 1], list.anew = list[1], true
            list[#list + 1] = list[2]
            list[1], list[2] = 0, LONG
        end
    end
end
if grouped and #entries > 0 then
    local q_key, g_key, c_key = KEYS[5 + 2 * classes], KEYS[6 + 2 * classes], KEYS[7 + 2 * classes]
    local turns, last = {}, {}
    for i = 1, #newcomers do
        local newcomer = newcomers[i]
        local class = newcomers[newcomer]
        if not last[class] then
            local found = call('ZREVRANGEBYSCORE', g_key, format('%.0f', (class + 1) * TURNS - 1),
                               format('%.0f', class * TURNS), 'WITHSCORES', 'LIMIT', '0', '1')
            last[class] = math.min(tonumber(found[2] or class * TURNS), (class + 1) * TURNS - 1000)
        end
        last[class] = last[class] + 1
        turns[2 * i - 1], turns[2 * i] = format('%.0f', last[class]), newcomer
    end
    if call('HLEN', m_key) == 0 and #places > 0 then
        places.anew = true
        places[#places + 1] = places[1]
        places[#places + 1] = places[2]
        places[1], places[2] = '', LONG
    end
    local line_anew, ring_anew = call('ZCARD', q_key) == 0, call('ZCARD', g_key) == 0
    call('HSET', c_key, 'groups', '1')
    call('PERSIST', m_key) -- what is said in there is about tasks that are not over
    if #lines > 0 then
        if line_anew then call('ZADD', q_key, '0', LONG) end
        call('ZADD', q_key, unpack(lines))
        if line_anew then call('ZREM', q_key, LONG) end
        if ring_anew then call('ZADD', g_key, '0', LONG) end
        call('ZADD', g_key, 'NX', unpack(turns))
        if ring_anew then call('ZREM', g_key, LONG) end
    end
end
for class = 0, classes - 1 do
    if ready[class] then call('RPUSH', KEYS[5 + class], unpack(ready[class])) end
    local list = due[class]
    if list then call('ZADD', KEYS[5 + classes + class], unpack(list)) end
    if list and list.anew then call('ZREM', KEYS[5 + classes + class], LONG) end
end
if #forgotten > 0 then
    call('HDEL', m_key, unpack(forgotten))
    call('ZREM', t_key, unpack(forgotten))
end
if places and #places > 0 then call('HSET', m_key, unpack(places)) end
if places and places.anew then call('HDEL', m_key, '') end
if #entries > 0 and stored_count > 0 then
    call('HSET', p_key, unpack(entries))
elseif #entries > 0 then
    call('HSET', p_key, '', LONG, unpack(entries))
    call('HDEL', p_key, '')
end
--@ tasks/wake.lua
return {sequence, now, table.concat(codes)}
