-- rows_unschedule: the row is not refreshed any more, and what is stored of it goes. It wins over a refresh
-- that is under way, which finds its claim gone. Repeating it is harmless, and of the requests of one client
-- for a row, an older one never undoes a newer.
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
-- Begins with ZREM, which a server that is out of memory still allows.

local GONE_MS = '3600000'
local GONE_US = 600000000 -- longer than any client repeats a request

local token, sequence, row = ARGV[1], tonumber(ARGV[2]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function is_older(setter)
    local client = string.sub(token, 1, 16)
    return setter and string.sub(setter, 1, 16) == client and string.sub(setter, 1, 33) > token
end

if tonumber(ARGV[3]) > 0 and now > tonumber(ARGV[3]) then
    return {sequence, 4, now}
end
local stored = redis.call('HGET', KEYS[2], row)
local gone = redis.call('HGET', KEYS[3], row)
if is_older(gone) or (stored and is_older(string.match(stored, '(%S+)$'))) then
    return {sequence, 1, now}
end
if not stored then
    return {sequence, gone and string.sub(gone, 1, 33) == token and 0 or 2, now}
end
redis.call('ZREM', KEYS[1], row)
redis.call('HDEL', KEYS[2], row)
redis.call('HDEL', KEYS[4], row)
redis.call('HSET', KEYS[3], row, string.format('%s %.0f', token, now))
redis.call('PEXPIRE', KEYS[3], GONE_MS)
local some = redis.call('HRANDFIELD', KEYS[3], 2, 'WITHVALUES')
for i = 1, #some, 2 do
    if tonumber(string.sub(some[i + 1], 35)) + GONE_US < now then
        redis.call('HDEL', KEYS[3], some[i])
    end
end
return {sequence, 0, now}
