-- files_withdraw: a file leaves its channel, because it has gone. Repeating it is harmless: the id names the
-- very file that is meant. Writes with HDEL first, which a server that is out of memory still allows.
--
-- KEYS  1 gh:{files:<channel>}:s, 2 gh:{files:<channel>}:f, 3 gh:{files:<channel>}:l   see files_reserve.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 id        of the file
-- reply in one text: sequence, code
--       code 0 done       it is gone now
--            1 not there  or it has another id

--@ client/check.lua

--@ files/files_sum.lua
local had, id = parse(redis.call('HGET', KEYS[2], ARGV[2]) or '0 0')
if not had then
    return corrupt('channel')
elseif id ~= ARGV[3] then
    return ARGV[1] .. ' 1'
end
redis.call('ZSCORE', KEYS[3], ARGV[2]) -- of the right type
redis.call('HDEL', KEYS[1], '-') -- there is none
redis.call('HSET', KEYS[1], 'b', string.format('%.0f', math.max(sum - tonumber(had), 0)), 'p', '1')
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
redis.call('HDEL', KEYS[1], 'p')
return ARGV[1] .. ' 0'
