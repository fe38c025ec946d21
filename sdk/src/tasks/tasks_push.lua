-- tasks_push: new tasks, to be handed out now or after a delay, many in one request.
--
-- KEYS  1 gh:{tasks:<queue>}:p   hash   id -> "<class> <attempts> <handler size>:<handler><payload>", or
--                                       "<class> <attempts> <handler size> <group size>:<group><handler>
--                                       <payload>"
--                                       an empty value: cancelled while it waited in a ready list
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
--       3..         n ids, then n delays (us; 0: ready now), then n values as in :p
-- reply sequence, now us, codes: one letter a task
--       o taken; e there already, or over and remembered; x there already with another value; f full
-- hint  to gh:wake:<client> "<sequence>" for as many sleepers as tasks became ready, at most 16
--
-- A repeat finds its ids stored, or remembered in :t, and answers e: nothing is pushed twice.
-- Redis 6.2 or later.

local HINTS_MAX = 16
local TURNS = 1125899906842624 -- 2^50
local PIECE, READ_MAX = 8, 32768
-- A hash or zset that begins with an entry as long as this is a table from its first entry on, and stays one
-- until it is empty. Else it would be a packed list up to some hundred entries, and finding one would take
-- time that grows with them.
local LONG = string.rep('-', 65)

local call, format, match, sub = redis.call, string.format, string.match, string.sub
local payload_key, mark_key, tomb_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local grouped = #KEYS % 2 == 1
local classes = grouped and (#KEYS - 7) / 2 or (#KEYS - 4) / 2
local line_key, ring_key, control_key = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS] -- if grouped
local sequence, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local count = (#ARGV - 2) / 3

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

-- Of those that are there already: their values; when that gets too much to read, only those that are as long
-- as the new ones, and of the others something that is neither.
local stored, read = {}, 0
for from = 1, count, PIECE do
    local last = math.min(from + PIECE - 1, count)
    if read <= READ_MAX then
        local piece = call('HMGET', payload_key, unpack(ARGV, 2 + from, 2 + last))
        for i = from, last do
            local value = piece[i - from + 1]
            stored[i] = value
            if value then read = read + #value end
        end
    else
        for i = from, last do
            local size = call('HSTRLEN', payload_key, ARGV[2 + i])
            local is_other = size ~= 0 and size ~= #ARGV[2 + 2 * count + i]
            stored[i] = is_other and '-' or call('HGET', payload_key, ARGV[2 + i])
        end
    end
end
local tombs = call('ZMSCORE', tomb_key, unpack(ARGV, 3, 2 + count))
local stored_count = call('HLEN', payload_key)
room = room - stored_count

local codes, fresh, entries, forgotten = {}, {}, {}, {}
local ready, due, ready_count = {}, {}, 0 -- by class
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
    local id, delay, value = ARGV[2 + i], ARGV[2 + count + i], ARGV[2 + 2 * count + i]
    local old = stored[i] or fresh[id]
    local class = string.byte(value) - 48
    if class < 0 or class >= classes then
        return redis.error_reply('ERR a value begins with a class for which there are no keys')
    elseif old then
        codes[i] = (old == value or old == '') and 'e' or 'x'
    elseif tombs[i] and tonumber(tombs[i]) > now then
        codes[i] = 'e'
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
            local list = ready[class] or {}
            ready[class], ready_count = list, ready_count + 1
            list[#list + 1] = id
        else
            local list = due[class] or {}
            due[class] = list
            list[#list + 1] = now + tonumber(delay)
            list[#list + 1] = id
        end
    end
end

for class = 0, classes - 1 do -- all types are known, before the first write
    if ready[class] then call('LLEN', KEYS[5 + class]) end
    local list = due[class]
    if list and call('ZCARD', KEYS[5 + classes + class]) == 0 then
        list[#list + 1], list.anew = list[1], true
        list[#list + 1] = list[2]
        list[1], list[2] = 0, LONG
    end
end
if grouped and #entries > 0 then
    local turns, last = {}, {}
    for i = 1, #newcomers do
        local newcomer = newcomers[i]
        local class = newcomers[newcomer]
        if not last[class] then
            local found = call('ZREVRANGEBYSCORE', ring_key,
                                     format('%.0f', (class + 1) * TURNS - 1),
                                     format('%.0f', class * TURNS), 'WITHSCORES', 'LIMIT', '0', '1')
            last[class] = tonumber(found[2] or class * TURNS)
        end
        last[class] = last[class] + 1
        turns[2 * i - 1], turns[2 * i] = format('%.0f', last[class]), newcomer
    end
    if call('HLEN', mark_key) == 0 and #places > 0 then
        places.anew = true
        places[#places + 1] = places[1]
        places[#places + 1] = places[2]
        places[1], places[2] = '', LONG
    end
    local line_anew, ring_anew = call('ZCARD', line_key) == 0, call('ZCARD', ring_key) == 0
    call('HSET', control_key, 'groups', '1')
    if #lines > 0 then
        if line_anew then call('ZADD', line_key, '0', LONG) end
        call('ZADD', line_key, unpack(lines))
        if line_anew then call('ZREM', line_key, LONG) end
        if ring_anew then call('ZADD', ring_key, '0', LONG) end
        call('ZADD', ring_key, 'NX', unpack(turns))
        if ring_anew then call('ZREM', ring_key, LONG) end
    end
end
for class = 0, classes - 1 do
    if ready[class] then call('RPUSH', KEYS[5 + class], unpack(ready[class])) end
    local list = due[class]
    if list then call('ZADD', KEYS[5 + classes + class], unpack(list)) end
    if list and list.anew then call('ZREM', KEYS[5 + classes + class], LONG) end
end
if #entries > 0 and stored_count > 0 then
    call('HSET', payload_key, unpack(entries))
elseif #entries > 0 then
    call('HSET', payload_key, '', LONG, unpack(entries))
    call('HDEL', payload_key, '')
end
if #forgotten > 0 then
    call('ZREM', tomb_key, unpack(forgotten))
    call('HDEL', mark_key, unpack(forgotten))
end
if places and #places > 0 then call('HSET', mark_key, unpack(places)) end
if places and places.anew then call('HDEL', mark_key, '') end

if ready_count > 0 then
    -- Last, and errors ignored: without the right to publish sleepers find out by asking.
    local sleepers = redis.pcall('ZPOPMIN', idle_key, math.min(ready_count, HINTS_MAX))
    local channel = match(idle_key, '^([^{]*)') .. 'wake:'
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then
            redis.pcall('PUBLISH', channel .. sub(sleepers[i], 1, 16), sub(sleepers[i], 18))
        end
    end
end
return {sequence, now, table.concat(codes)}
