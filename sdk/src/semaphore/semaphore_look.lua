-- semaphore_look: who holds how many permits, and how many wait. Writes nothing.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q
--       see semaphore_acquire.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 holders   at most so many, those first whose leases end last; up to 100
-- reply sequence, limit, used, waiters, now us, holders ...
--       of each holder the member of :h, its score
--       limit 0: the store does not know the semaphore. used: by leases and turns that are not over. With 100 of
--       them and more than 100 that are over, those beyond count as if they had had one permit each

local state, now = redis.call('GET', KEYS[1]), redis.call('TIME')
now = now[1] * 1000000 + now[2]

--@ client/check.lua

local COUNT_MAX = 100

local limit, used = string.match(state or '0 0 0 0 -', '^(%d+) (%d+) %d+ %d+ %S+[ %x:*]*$')
limit, used = whole(limit, 1000000), whole(used, 1000000)
if not (limit and used) then
    return corrupt('semaphore state')
end
if limit == 0 then
    return {tonumber(ARGV[1]), 0, 0, redis.call('ZCARD', KEYS[3]), now}
end
local past = string.format('%.0f', now)

-- Together, and how many members they are: of more than COUNT_MAX, so many.
local function permits_between(from, to)
    local members, permits = redis.call('ZRANGEBYSCORE', KEYS[2], from, to, 'LIMIT', 0, COUNT_MAX), 0
    for _, member in ipairs(members) do
        permits = permits + (whole(string.sub(member, 35), 1000000) or 0)
    end
    return permits, #members, members[1]
end

local live, count, first = permits_between('(' .. past, '+inf')
if count == COUNT_MAX then
    local lapsed, behind = permits_between('-inf', past)
    behind = redis.call('ZRANK', KEYS[2], first) - behind -- of whom each had one permit at least
    live = math.max(used - lapsed - behind, live)
end
local reply = {tonumber(ARGV[1]), limit, live, redis.call('ZCARD', KEYS[3]), now}
local holders = redis.call('ZREVRANGEBYSCORE', KEYS[2], '+inf', '(' .. past, 'WITHSCORES',
                           'LIMIT', 0, ARGV[2])
for _, value in ipairs(holders) do
    reply[#reply + 1] = value
end
return reply
