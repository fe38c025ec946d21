-- files_withdraw: a file leaves its channel, because it has gone. Repeating it is harmless: the id names the
-- very file that is meant. Writes with ZREM and HDEL first, which a server that is out of memory still
-- allows.
--
-- KEYS  1 gh:{files:<channel>}:s, 2 gh:{files:<channel>}:f, 3 gh:{files:<channel>}:l   see files_reserve.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 id        of the file
-- reply sequence, code
--       code 0 gone now; 1 not there, or another id

local sequence = tonumber(ARGV[1])
local had, id = string.match(redis.call('HGET', KEYS[2], ARGV[2]) or '', '^(%d+) (%d+)$')
if id ~= ARGV[3] then
    return {sequence, 1}
end
local sum = tonumber(redis.call('HGET', KEYS[1], 'b') or '0') or 0
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
redis.call('HSET', KEYS[1], 'b', string.format('%.0f', math.max(sum - tonumber(had), 0)))
return {sequence, 0}
