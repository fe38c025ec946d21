-- rows_unschedule: the row is not refreshed any more, and what is stored of it goes. It wins over a refresh
-- that is under way, which finds its claim gone, and over late copies of what had scheduled the row. Repeating it
-- is harmless, also when the row was scheduled again since, and of the requests of one client for a row, an older
-- one never undoes a newer.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m, 3 gh:{rows:<shard>}:t   see rows_schedule.lua
--       4 gh:{rows:<shard>}:v   hash   row -> its value, see rows_finish.lua
-- ARGV  1 token
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is done; 0: no limit
--       4 row
-- reply sequence, code, now us
--       code 0 done
--            1 older than what this client has asked for since
--            2 it was not scheduled
--            4 stale  past `not after`
--
-- Begins with ZREM of nothing, which a server that is out of memory still allows. The row goes from :m before the
-- rest: if it ends in between, the next one, or rows_claim.lua when the row would be due, removes what is left.

local GONE_MS = '1200000'
local GONE_US = 600000000 -- longer than any client repeats a request

local token, sequence, row = ARGV[1], tonumber(ARGV[2]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- Of the same client, whose tokens grow.
local function is_older(setter)
    return string.sub(setter, 1, 17) == string.sub(token, 1, 17) and setter > token
end

if tonumber(ARGV[3]) > 0 and now > tonumber(ARGV[3]) then
    return {sequence, 4, now}
end
local stored = redis.call('HGET', KEYS[2], row)
local gone = redis.call('HGET', KEYS[3], row)
redis.call('HLEN', KEYS[4]) -- that it is a hash is to be known before anything goes
local setter = stored and string.match(stored, '(%x+:%x+)$')
local done, had = false, '-'
if gone then
    local by
    by, had = string.match(gone, '^(%x+:%x+) %d+ (%S+)$')
    if not by then
        return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
    elseif is_older(by) then
        return {sequence, 1, now}
    end
    done = by == token
end
if done and stored and setter ~= had then -- scheduled again since
    return {sequence, 0, now}
elseif setter and is_older(setter) then
    return {sequence, 1, now}
end

redis.call('ZREM', KEYS[1], '') -- no row has an empty name
if not done then
    redis.call('HSET', KEYS[3], row, string.format('%s %.0f %s', token, now, setter or had))
end
redis.call('PEXPIRE', KEYS[3], GONE_MS)
redis.call('HDEL', KEYS[2], row)
redis.call('HDEL', KEYS[4], row)
redis.call('ZREM', KEYS[1], row)
local some = redis.call('HRANDFIELD', KEYS[3], 4, 'WITHVALUES')
for i = 1, #some, 2 do
    if (tonumber(string.match(some[i + 1], '^%S+ (%d+) ')) or 0) + GONE_US < now then
        redis.call('HDEL', KEYS[3], some[i])
    end
end
return {sequence, (stored or (done and had ~= '-')) and 0 or 2, now}
