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
-- reply as rows/rows_change.lua
--
-- Begins with ZREM of nothing, which a server that is out of memory still allows. The row goes from :m before the
-- rest: if it ends in between, the next one, or rows_claim.lua when the row would be due, removes what is left.

local GONE_MS = '1200000'
local GONE_US = 600000000 -- longer than any client repeats a request

--@ rows/rows_change.lua
redis.call('HLEN', KEYS[4]) -- that it is a hash is to be known before anything goes
if by and is_older(by) then
    return ARGV[2] .. ' 1 ' .. now_text
end
local setter = stored and string.match(stored, '(%x+:%x+)$')
local done = by == token
if done and stored and setter ~= had then -- scheduled again since
    return ARGV[2] .. ' 0 ' .. now_text
elseif setter and is_older(setter) then
    return ARGV[2] .. ' 1 ' .. now_text
end

redis.call('ZREM', KEYS[1], '') -- no row has an empty name
if not done then
    redis.call('HSET', KEYS[3], row, token .. ' ' .. now_text .. ' ' .. (setter or had))
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
return ARGV[2] .. ((stored or (done and had ~= '-')) and ' 0 ' or ' 2 ') .. now_text
