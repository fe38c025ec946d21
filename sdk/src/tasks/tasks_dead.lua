-- tasks_dead: a page of the dead letters, those that died first in front. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:x   2 :p   3 :m   see tasks_push.lua and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 offset    how many to pass over
--       3 count     at most, up to 50
--       4 bytes     of ids, reasons and values together at most; the first one comes in any case
-- reply sequence, now us, total, then for each: id, when it died (us), attempts, reason, value

local dead_key, payload_key, mark_key = KEYS[1], KEYS[2], KEYS[3]
local offset, count, bytes = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local page = redis.call('ZRANGE', dead_key, offset, offset + count - 1, 'WITHSCORES')
local reply = {tonumber(ARGV[1]), now, redis.call('ZCARD', dead_key)}
for i = 1, #page, 2 do
    local id = page[i]
    local value, mark = redis.call('HGET', payload_key, id) or '', redis.call('HGET', mark_key, id) or ''
    local attempt, reason = string.match(mark, '^%u (%d+) %d+ %S+ ?(.*)$')
    bytes = bytes - #id - #value - #(reason or '') - 3
    if bytes < 0 and i > 1 then break end
    reply[#reply + 1] = id
    reply[#reply + 1] = tonumber(page[i + 1])
    reply[#reply + 1] = tonumber(attempt or 0)
    reply[#reply + 1] = reason or ''
    reply[#reply + 1] = value
end
return reply
