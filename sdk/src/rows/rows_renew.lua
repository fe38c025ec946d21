-- rows_renew: the lease of a claim begins anew. A claim that is gone, or whose lease is over, is never made again,
-- and no lease gets shorter, so repeating it is harmless.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m   see rows_schedule.lua
-- ARGV  1 claim      "<token of the refresher>.<number of the claim>"
--       2 sequence   comes back as the first element of the reply
--       3 row
--       4 lease us
--       5 not after  us of the store's clock; later, nothing is renewed; 0: no limit
-- reply sequence, code, now us, 0
--       code 0 renewed
--            1 not the current claim, or its lease is over
--            4 stale: past `not after`
--
-- Begins with ZREM of nothing, which a server that is out of memory still allows: a full store must not cost
-- leases.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call('HGET', KEYS[2], ARGV[3])
local lease_end = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[3]) or 0)
local claim = string.match(stored or '', '^%d+ %d+ %d+ %d+ %d+ [ca] (%S+) %S+$')
if claim ~= ARGV[1] or lease_end <= now then
    return {tonumber(ARGV[2]), 1, now, 0}
end
if tonumber(ARGV[5]) > 0 and now > tonumber(ARGV[5]) then
    return {tonumber(ARGV[2]), 4, now, 0}
end
redis.call('ZREM', KEYS[1], '') -- no row has an empty name
redis.call('ZADD', KEYS[1], 'XX', 'GT', string.format('%.0f', now + ARGV[4]), ARGV[3])
return {tonumber(ARGV[2]), 0, now, 0}
