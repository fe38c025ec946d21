-- counters_lease: who cleans counters, one client among all. Repeating it is harmless: the owner gets the
-- lease again.
--
-- KEYS  1 gh:{counters:clean}:l   string   the client that cleans; goes when its lease is over
-- ARGV  1 client    16 hex digits
--       2 sequence  comes back as the first element of the reply
--       3 lease ms  0: give it back; at most LEASE_MAX_MS
--       4 not after  us of the store's clock; later, it is given to nobody; 0: no limit
-- reply in one text: sequence, code, remaining ms, now us
--       code 0 yours
--            1 anothers
--            2 given back
--            3 stale       past `not after`
-- Redis 6.2 or later.

local LEASE_MAX_MS = 10800000

local client, lease = ARGV[1], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owner = redis.call('GET', KEYS[1])
local remaining = owner and redis.call('PTTL', KEYS[1]) or 0
if owner and (not string.find(owner, '^%x+$') or remaining < 0 or remaining > LEASE_MAX_MS) then
    return redis.error_reply('CORRUPT lease of counters is not of the form that KEYS.md describes')
elseif owner and owner ~= client then
    return string.format('%s 1 %d %.0f', ARGV[2], remaining, now)
elseif lease == '0' then
    redis.call('DEL', KEYS[1])
    return string.format('%s 2 0 %.0f', ARGV[2], now)
elseif ARGV[4] ~= '0' and now > ARGV[4] + 0 then
    return string.format('%s 3 0 %.0f', ARGV[2], now)
end
redis.call('SET', KEYS[1], client, 'PX', lease)
return string.format('%s 0 %s %.0f', ARGV[2], lease, now)
