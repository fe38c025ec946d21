-- tasks_dead: a page of the dead letters, those that died first in front. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:x   2 :p   3 :m   see tasks_push.lua and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 offset    how many to pass over
--       3 count     at most, up to 50
--       4 bytes     of ids, reasons and values together at most
-- reply sequence, now us, total, letters ...
--       of each letter id, when it died (us), attempts, reason, value
--
-- One without a payload, or one whose task is not dead any more, is left over from a script that was stopped half-way:
-- its value is empty, and a requeue or a cancel of its id takes it away.

--@ client/check.lua

local x_key, p_key, m_key = KEYS[1], KEYS[2], KEYS[3]
local offset, count, bytes = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local page = redis.call('ZRANGE', x_key, offset, offset + count - 1, 'WITHSCORES')
local reply = {tonumber(ARGV[1]), now, redis.call('ZCARD', x_key)}
for i = 1, #page, 2 do
    local id, died = page[i], whole(page[i + 1])
    local value, mark = redis.call('HGET', p_key, id) or '', redis.call('HGET', m_key, id) or 'X 0 0 - '
    local attempt, reason = string.match(mark, '^%u (%d+) %d+ %S+ ?(.*)$')
    attempt = whole(attempt, 65535)
    if not died or not attempt or #id > 64 then return corrupt('a dead letter') end
    reason = string.sub(reason, 1, 1024)
    if string.sub(mark, 1, 1) ~= 'X' then value = '' end
    bytes = bytes - #id - #value - #reason - 3
    if bytes < 0 and i > 1 then break end
    if bytes < 0 then value = string.sub(value, 1, math.max(0, #value + bytes)) end -- larger than any can be
    reply[#reply + 1] = id
    reply[#reply + 1] = died
    reply[#reply + 1] = attempt
    reply[#reply + 1] = reason
    reply[#reply + 1] = value
end
return reply
