-- aggregate_add: adds the next piece of what is staged for a file to the totals of the day, and notes it in
-- the same step. Repeating it is harmless: each piece is added once, whoever asks, and a repeat goes on with
-- the next.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f, 2 gh:{daily:<set>.<day>}:g   see aggregate_stage.lua
--       3 gh:{daily:<set>.<day>}:0   zset   country -> events; the empty one: addresses in no range
--       4 gh:{daily:<set>.<day>}:1   zset   "country\tregion" -> events
--       5 gh:{daily:<set>.<day>}:2   zset   "country\tregion\tcity" -> events
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 keep ms   after the last piece, until the totals of the day are dropped; 0: never
-- reply sequence, code, added, pieces
--       code 0 added: `added` of `pieces` are in the totals; 1 not all of the file is staged; 2 nothing is
--       known of it

local sequence, file = tonumber(ARGV[1]), ARGV[2]
local record = redis.call('HGET', KEYS[1], file)
if not record then
    return {sequence, 2, 0, 0}
end
local digest, staged, added, pieces, rest = string.match(record, '^(%x+) (%d+) (%d+) (%d+) (%d+)$')
staged, added, pieces = tonumber(staged), tonumber(added), tonumber(pieces)
if not digest then
    return redis.error_reply('CORRUPT file of a day is not of the form that KEYS.md describes')
elseif staged < pieces then
    return {sequence, 1, added, pieces}
elseif added == pieces then
    return {sequence, 0, added, pieces}
end
local field = string.format('%d ', added) .. file
local piece = redis.call('HGET', KEYS[2], field)
if not piece then
    return redis.error_reply('CORRUPT a piece of a file of a day is missing')
end
for i = 3, 5 do
    local kind = redis.call('TYPE', KEYS[i]).ok
    if kind ~= 'zset' and kind ~= 'none' then
        return redis.error_reply('CORRUPT totals of a day are not a zset')
    end
end
for level, count, place in string.gmatch(piece, '([012])(%d+) ([^\n]*)\n') do
    redis.call('ZINCRBY', KEYS[3 + level], count, place)
end
redis.call('HDEL', KEYS[2], field)
redis.call('HSET', KEYS[1], file, string.format('%s %d %d %d ', digest, staged, added + 1, pieces) .. rest)
if ARGV[3] ~= '0' and added + 1 == pieces then
    for i = 1, 5 do
        redis.call('PEXPIRE', KEYS[i], ARGV[3])
    end
end
return {sequence, 0, added + 1, pieces}
