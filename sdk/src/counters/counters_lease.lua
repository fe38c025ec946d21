-- counters_lease: who cleans counters, one client among all. Repeating it is harmless: the owner gets the
-- lease again.
--
-- KEYS  1 gh:{counters:clean}:l   string   the client that cleans; goes when its lease is over
-- ARGV  1 client    16 hex digits
--       2 sequence  comes back as the first element of the reply
--       3 lease ms  0: give it back
-- reply sequence, code, remaining ms
--       code 0 yours; 1 another's; 2 given back
-- Redis 6.2 or later.

local client, sequence, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= client then
    return {sequence, 1, math.max(0, redis.call('PTTL', KEYS[1]))}
elseif lease == 0 then
    redis.call('DEL', KEYS[1])
    return {sequence, 2, 0}
end
redis.call('SET', KEYS[1], client, 'PX', ARGV[3])
return {sequence, 0, lease}
