-- rows_unschedule: the row is not refreshed any more, and what is stored of it goes. It wins over a refresh
-- that is under way, which finds its claim gone, and over late copies of what had scheduled the row, by whomever.
-- Repeating it is harmless, also when the row was scheduled again since, and of the requests of one client for a row,
-- an older one never undoes a newer.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m, 3 gh:{rows:<shard>}:t   see rows_schedule.lua
--       4 gh:{rows:<shard>}:v   hash   row -> its value, see rows_finish.lua
-- ARGV  1 token
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is done; 0: no limit
--       4 row
--       5 seen       "now us" of the reply that said "again"; 0: none did
-- reply as rows/rows_change.lua
--
-- Begins with ZREM of nothing, which a server that is out of memory still allows. The row goes from :m before the
-- rest: if it ends in between, the next one, or rows_claim.lua when the row would be due, removes what is left.

local seen = tonumber(ARGV[5])

--@ rows/rows_change.lua
--@ client/setters.lua
--@ rows/rows_keep.lua
redis.call('HLEN', KEYS[4]) -- that it is a hash is to be known before anything goes
local setter = stored and string.match(stored, '(%x+:%x+)$') or '-'
local done = by == token
if done and stored and setter ~= had then -- scheduled again since
    return ARGV[2] .. ' 0 ' .. now_text
end
local verdict = not done and judge(setter)
if verdict then
    return ARGV[2] .. ' ' .. verdict .. ' ' .. now_text
end

redis.call('ZREM', KEYS[1], '') -- no row has an empty name
if not done then
    keep(token, setter)
end
redis.call('HDEL', KEYS[2], row)
redis.call('HDEL', KEYS[4], row)
redis.call('ZREM', KEYS[1], row)
return ARGV[2] .. ((stored or (done and had ~= '-')) and ' 0 ' or ' 2 ') .. now_text
