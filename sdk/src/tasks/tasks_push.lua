-- tasks_push: new tasks, to be handed out now or after a delay, many in one request.
--
-- KEYS  1 gh:{tasks:<queue>}:p   hash   id -> "<class> <attempts> <handler size>:<handler><payload>", or
--                                       "<class> <attempts> <handler size> <group size>:<group><handler>
--                                       <payload>"; of each task that is not over
--       2 gh:{tasks:<queue>}:m   hash   id -> "<state> <attempt> <fence> <worker> <text>", see tasks_take.lua
--       3 gh:{tasks:<queue>}:t   zset   id -> until when (us) a task that is over is remembered
--       4 gh:{tasks:<queue>}:i   zset   "<client>:<sequence>" -> until when (us) it waits for a hint
--       5 ...
--       :r0, :r1, ...            list   ids that are ready, one list a class, up to the highest in the
--                                       request
--       then :d0, :d1, ...       zset   id -> when it is due (us), as many
--       then, only if one of the tasks has a group, :q, :g and :c
--         :q                     zset   the lines of the groups: "<class><group>", NUL, since when it is
--                                       ready (us, 16 digits), its place in the request (3 digits), NUL,
--                                       id -> 0
--         :g                     zset   the ring of groups with a line: "<class><group>" -> class * 2^50 +
--                                       turn; "<class>" stands for the tasks in :r<class>
--         :c                     hash   see tasks_take.lua
--       then, only if one of the tasks is unique while it is active, :w and :x
--         :w                     hash   "<client>:<sequence>o" -> "<written us> <receipt us> <codes>": what other
--                                       copies of this request are answered; and what tasks_take.lua says
--         :x                     zset   see tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 capacity  tasks that may be stored in the queue
--       3 not after us of the store's clock; later, nothing is stored: a copy that hung on the way could bring back a
--                   task that is over and forgotten. 0: no limit
--       4 classes   of which there are keys; behind it "g" if there are :q, :g and :c, "u" if there are :w and :x
--       5 ...       n ids, then n delays (us; 0: ready now), then n values as in :p; and with "u" four more:
--                   token       "<client>:<sequence>" of the op
--                   receipt us  how long a copy of this request may be sent or under way
--                   twice       "1": another copy may be under way
--                   kinds       one letter a task: k its id is taken as long as it is remembered; a unique while it is
--                               active: what is over or dead gives its id to it
-- reply in one text: sequence, now us, codes text
--       codes: one letter a task, or none at all: it came too late
--       codes "o" taken
--             "e" exists   there already, or over and remembered
--             "x" differs  there already with another value
--             "f" full
--             "u" unsure   perhaps taken, by a copy that was stopped half-way
-- hint  to gh:wake:<client> "<sequence>" for as many sleepers as tasks became ready, at most 16
--
-- A repeat finds its ids stored, or remembered in :t, and answers e: nothing is pushed twice. An id that is free again
-- as soon as its task is over cannot tell a repeat: there a receipt does.
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
local sequence, room, not_after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local classes, grouped = tonumber(sub(ARGV[4], 1, 1)), string.find(ARGV[4], 'g', 2, true)
local active = string.find(ARGV[4], 'u', 2, true)
local count = (#ARGV - (active and 8 or 4)) / 3

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. sub('00000' .. time[2], -6)
if not_after > 0 and now > not_after then return sequence .. ' ' .. now_text .. ' ' end
local w_key, x_key, free_of, remember
--@ client/check.lua
--@ tasks/place.lua
if active then
    local last = 4 + 2 * classes + (grouped and 3 or 0)
    w_key, x_key = KEYS[last + 1], KEYS[last + 2]
    local token, receipt_us = ARGV[#ARGV - 3], ARGV[#ARGV - 2]
    --@ tasks/over.lua
    --@ tasks/once.lua
    remember = keep_receipt
end

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
-- A mark of what is over may outlive what :t remembers, and must not stand for the new task.
if call('HLEN', m_key) > 0 then
    local unknown, at = {}, {}
    for i = 1, count do
        if not stored[i] and not tombs[i] then unknown[#unknown + 1], at[#at + 1] = ARGV[4 + i], i end
    end
    local left = #unknown > 0 and call('HMGET', m_key, unpack(unknown)) or {}
    for i = 1, #at do
        if left[i] and string.find(left[i], '^[CDV]') then tombs[at[i]] = '0' end
    end
end

local codes, fresh, entries, forgotten, states = {}, {}, {}, {}, {}
local ready, due, ready_count, places_of = {}, {}, 0, 0 -- by class
-- Of letters that are replaced: states, ids. And places of cancelled tasks whose ids are wanted.
local risen, letters, stale, place_of, broken = {}, {}, {}, {}
if active then
    --@ tasks/push_active.lua
end
local stand_in_line, lines, newcomers
if grouped then -- most requests have no groups
    lines, newcomers = {}, {}
    local since, at_line = format('%016.0f', now), 0

    -- False: it has no group. Its state goes to `list`.
    stand_in_line = function(i, id, class, value, list, fence)
        local size, at = match(value, '^%d %d+ %d+ (%d+):()')
        if not size or size == '0' then return false end
        local newcomer = class .. sub(value, at, at + size - 1)
        local place = since .. sub(1000 + i, 2)
        at_line = at_line + 2
        lines[at_line - 1], lines[at_line] = '0', newcomer .. '\0' .. place .. '\0' .. id
        local at_state = #list
        list[at_state + 1], list[at_state + 2] = id, 'R 0 ' .. fence .. ' - ' .. place
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
    local fence, is_letter
    if active and not fresh[id] and (old or tombs[i]) then fence, is_letter = free_of(i, id, old) end
    local class = string.byte(value) - 48
    if class < 0 or class >= classes then
        return redis.error_reply('ERR a value begins with a class for which there are no keys')
    elseif old and not is_letter then
        codes[i] = old == value and 'e' or 'x'
    elseif tombs[i] and not fence and (tonumber(tombs[i]) > now or has_place(call('HGET', m_key, id) or '')) then
        codes[i] = 'e' -- its time is not over, or its place in a ready list is still there
    elseif room <= 0 and not is_letter then
        codes[i] = 'f'
    else
        codes[i], fresh[id], room = 'o', value, room - (is_letter and 0 or 1)
        at_entry = at_entry + 2
        entries[at_entry - 1], entries[at_entry] = id, value
        local place = place_of[id]
        if place then stale[#stale + 1], stale[#stale + 2], stale[#stale + 3] = place[1], place[2], id end
        if is_letter then
            letters[#letters + 1] = id -- what says that it is one stays until its new state takes its place
        elseif tombs[i] then
            forgotten[#forgotten + 1] = id
        end
        local its_states, has_state = is_letter and risen or states, false
        if grouped and delay == '0' and stand_in_line(i, id, class, value, its_states, fence or '0') then
            ready_count, has_state = ready_count + 1, true
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
        if not has_state and (is_letter or fence and fence ~= '0') then -- the next hand-out has a larger one
            local at_state = #its_states
            its_states[at_state + 1] = id
            its_states[at_state + 2] = (delay == '0' and 'R' or 'W') .. ' 0 ' .. fence .. ' - '
        end
    end
end
if broken then return broken end

-- All types are known before the first write; if there is but one, it is the first.
if grouped or active or places_of > 1 then
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
local answer = table.concat(codes)
if active and #entries > 0 then
    call('ZCARD', x_key)
    if grouped then
        call('ZCARD', KEYS[5 + 2 * classes])
        call('ZCARD', KEYS[6 + 2 * classes])
        call('HLEN', KEYS[7 + 2 * classes])
    end
    call('HLEN', m_key)
    -- Other copies do nothing from here on. They are answered what this one is once it has come to its end.
    remember(string.gsub(answer, 'o', 'u') .. '')
    for i = 1, #stale, 3 do call('LREM', stale[i], stale[i + 1], stale[i + 2]) end
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
    if call('HLEN', m_key) == 0 and #states > 0 then
        states.anew = true
        states[#states + 1] = states[1]
        states[#states + 1] = states[2]
        states[1], states[2] = '', LONG
    end
    local line_anew, ring_anew = call('ZCARD', q_key) == 0, call('ZCARD', g_key) == 0
    call('HSET', c_key, 'groups', '1')
    if #lines > 0 then
        if line_anew then call('ZADD', q_key, '0', LONG) end
        call('ZADD', q_key, unpack(lines))
        if line_anew then call('ZREM', q_key, LONG) end
        if ring_anew then call('ZADD', g_key, '0', LONG) end
        call('ZADD', g_key, 'NX', unpack(turns))
        if ring_anew then call('ZREM', g_key, LONG) end
    end
end
if grouped and #entries > 0 or #states + #risen > 0 then
    call('PERSIST', m_key) -- what is said in there is about tasks that are not over
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
if #states > 0 then call('HSET', m_key, unpack(states)) end
if states.anew then call('HDEL', m_key, '') end
if #entries > 0 and stored_count > 0 then
    call('HSET', p_key, unpack(entries))
elseif #entries > 0 then
    call('HSET', p_key, '', LONG, unpack(entries))
    call('HDEL', p_key, '')
end
if #risen > 0 then
    call('HSET', m_key, unpack(risen))
    call('ZREM', x_key, unpack(letters))
end
if active and (#entries > 0 or ARGV[#ARGV - 1] == '1') then
    remember(answer)
    local drawn = 3
    --@ tasks/sweep.lua
end
--@ client/hint.lua
--@ tasks/wake.lua
return sequence .. ' ' .. now_text .. ' ' .. answer
