-- tasks_push: new tasks, to be handed out now or after a delay, many in one request.
--
-- KEYS  1 gh:{tasks:<queue>}:p   hash   id -> "<class> <attempts> <handler size>:<handler><payload>"
--                                       an empty value: cancelled while it waited in a ready list
--       2 gh:{tasks:<queue>}:m   hash   id -> "<state> <attempt> <fence> <worker> <text>", see tasks_take.lua
--       3 gh:{tasks:<queue>}:t   zset   id -> until when (us) a task that is over is remembered
--       4 gh:{tasks:<queue>}:i   zset   "<client>:<sequence>" -> until when (us) it waits for a hint
--       5.. :r0, :r1, ...        list   ids that are ready, one list a class, up to the highest in the request
--       then :d0, :d1, ...       zset   id -> when it is due (us), as many
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
-- A hash or zset that begins with an entry as long as this is a table from its first entry on, and stays one
-- until it is empty. Else it would be a packed list up to some hundred entries, and finding one would take
-- time that grows with them.
local LONG = string.rep('-', 65)

local payload_key, mark_key, tomb_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local classes = (#KEYS - 4) / 2
local sequence, room = tonumber(ARGV[1]), tonumber(ARGV[2])
local count = (#ARGV - 2) / 3

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local stored = redis.call('HMGET', payload_key, unpack(ARGV, 3, 2 + count))
local tombs = redis.call('ZMSCORE', tomb_key, unpack(ARGV, 3, 2 + count))
local stored_count = redis.call('HLEN', payload_key)
room = room - stored_count

local codes, fresh, entries, forgotten = {}, {}, {}, {}
local ready, due, ready_count = {}, {}, 0 -- by class
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
        entries[#entries + 1] = id
        entries[#entries + 1] = value
        if tombs[i] then forgotten[#forgotten + 1] = id end
        if delay == '0' then
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
    if ready[class] then redis.call('LLEN', KEYS[5 + class]) end
    local list = due[class]
    if list and redis.call('ZCARD', KEYS[5 + classes + class]) == 0 then
        list[#list + 1], list.anew = list[1], true
        list[#list + 1] = list[2]
        list[1], list[2] = 0, LONG
    end
end
for class = 0, classes - 1 do
    if ready[class] then redis.call('RPUSH', KEYS[5 + class], unpack(ready[class])) end
    local list = due[class]
    if list then redis.call('ZADD', KEYS[5 + classes + class], unpack(list)) end
    if list and list.anew then redis.call('ZREM', KEYS[5 + classes + class], LONG) end
end
if #entries > 0 and stored_count > 0 then
    redis.call('HSET', payload_key, unpack(entries))
elseif #entries > 0 then
    redis.call('HSET', payload_key, '', LONG, unpack(entries))
    redis.call('HDEL', payload_key, '')
end
if #forgotten > 0 then
    redis.call('ZREM', tomb_key, unpack(forgotten))
    redis.call('HDEL', mark_key, unpack(forgotten))
end

if ready_count > 0 then
    -- Last, and errors ignored: without the right to publish sleepers find out by asking.
    local sleepers = redis.pcall('ZPOPMIN', idle_key, math.min(ready_count, HINTS_MAX))
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then
            local channel = string.match(idle_key, '^([^{]*)') .. 'wake:' .. string.sub(sleepers[i], 1, 16)
            redis.pcall('PUBLISH', channel, string.sub(sleepers[i], 18))
        end
    end
end
return {sequence, now, table.concat(codes)}
