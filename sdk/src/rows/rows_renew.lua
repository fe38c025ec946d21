-- rows_renew: the lease of a claim begins anew. A claim that is gone, or whose lease is over, is never made again,
-- and no lease gets shorter, so repeating it is harmless.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m   see rows_schedule.lua
-- ARGV  1 claim      "<token of the refresher>.<number of the claim>"
--       2 sequence   comes back as the first element of the reply
--       3 row
--       4 lease us
--       5 not after  us of the store's clock; later, nothing is renewed; 0: no limit
-- reply as rows/rows_finish.lua
--       code 4 stale  past `not after`
--       due: always 0
-- moving  nothing is removed: no row has an empty name
--
-- A server that is out of memory refuses ZADD, unless something was written before that it allows, ZREM of nothing: a
-- full store must not cost leases.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)
local lease = ARGV[4] + 0
local stored = redis.call('HGET', KEYS[2], ARGV[3])
local claimed, claim = string.match(stored or '', '^%d+ %d+ %d+ %d+ (%d+) [ca] (%S+) %S+$')
if claim ~= ARGV[1] then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
-- The lease that came with the claim lasts so long at least. Later, what it was renewed to has to be asked for.
local first_end = claimed + lease
if (first_end <= now or first_end > now + lease) and
    tonumber(redis.call('ZSCORE', KEYS[1], ARGV[3]) or 0) <= now then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
if ARGV[5] ~= '0' and now > ARGV[5] + 0 then
    return ARGV[2] .. ' 4 ' .. now_text .. ' 0'
end
local lease_end = string.format('%.0f', now + lease)
local changed = redis.pcall('ZADD', KEYS[1], 'XX', 'GT', 'CH', lease_end, ARGV[3])
if type(changed) == 'table' then
    redis.call('ZREM', KEYS[1], '') -- no row has an empty name
    changed = redis.call('ZADD', KEYS[1], 'XX', 'GT', 'CH', lease_end, ARGV[3])
end
if changed == 0 and not redis.call('ZSCORE', KEYS[1], ARGV[3]) then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
return ARGV[2] .. ' 0 ' .. now_text .. ' 0'
