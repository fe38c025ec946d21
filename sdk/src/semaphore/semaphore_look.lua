-- semaphore_look: who holds how many permits, and how many wait. Writes nothing.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q
--       see semaphore_acquire.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 holders   at most so many, those first whose leases end last; up to 100
-- reply sequence, limit, used, waiters, now us, holders ...
--       of each holder the member of :h, its score
--       limit 0: the store does not know the semaphore. used: by leases and turns that are not over

local state, now = redis.call('GET', KEYS[1]), redis.call('TIME')
now = now[1] * 1000000 + now[2]

--@ client/check.lua

local limit, used = string.match(state or '0 0 0 0 -', '^(%d+) (%d+) %d+ %d+ %S+[ %x:*]*$')
limit, used = whole(limit, 1000000), whole(used, 1000000)
if not (limit and used) then
    return corrupt('semaphore state')
end
if limit == 0 then
    return {tonumber(ARGV[1]), 0, 0, redis.call('ZCARD', KEYS[3]), now}
end
local past = string.format('%.0f', now)
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', past, 'LIMIT', 0, 100)) do
    used = used - (whole(string.sub(member, 35), 1000000) or 0)
end
used = redis.call('EXISTS', KEYS[2]) == 1 and math.max(used, 0) or 0
local reply = {tonumber(ARGV[1]), limit, used, redis.call('ZCARD', KEYS[3]), now}
local holders = redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', '(' .. past, 'WITHSCORES',
                           'LIMIT', 0, ARGV[2])
for _, value in ipairs(holders) do
    reply[#reply + 1] = value
end
return reply
