-- aggregate_stage: puts a piece of a file's sums for a day beside the totals, to be added by
-- aggregate_add.lua when all are there. Repeating it is harmless: a piece that is there is not staged again.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f   hash   file -> "<digest> <staged> <added> <pieces> <last change us>"
--                                          digest: XXH3-128 of all pieces, 32 hex digits
--       2 gh:{daily:<set>.<day>}:g   hash   "<number of the piece> <file>" -> its lines
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 digest    of all pieces
--       4 pieces    how many there are
--       5 number    of this piece, from 0; or -1 to look only
--       6 piece     lines "<level><count> <country>\t<region>\t<city>\n", level 0, 1 or 2 with as many tabs
-- reply sequence, code, staged, added, pieces
--       code 0 staged    up to `staged`, now or before; all of them: go on with aggregate_add.lua
--            1 none      nothing is known of the file (looking only)
--            2 early     the next one is `staged`
--            3 differs   it was staged, or added, with another digest; all that is staged of it should be
--                        added
--            4 at work   somebody else stages it with another digest, and did so within STALE_US
-- Redis 6.2 or later.

local STALE_US = 60000000
local DROP_MAX = 64 -- pieces of an abandoned staging that one call drops

local sequence, file, digest = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local pieces, number = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local record = redis.call('HGET', KEYS[1], file)
local had, staged, had_pieces, changed

if record then
    local added
    had, staged, added, had_pieces, changed = string.match(record, '^(%x+) (%d+) (%d+) (%d+) (%d+)$')
    staged, added, had_pieces = tonumber(staged), tonumber(added), tonumber(had_pieces)
    if not had then
        return redis.error_reply('CORRUPT file of a day is not of the form that KEYS.md describes')
    elseif had == digest and had_pieces == pieces then
        if number < 0 or number < staged then
            return {sequence, 0, staged, added, pieces}
        elseif number > staged then
            return {sequence, 2, staged, added, pieces}
        end
        redis.call('HSET', KEYS[2], ARGV[5] .. ' ' .. file, ARGV[6])
        redis.call('HSET', KEYS[1], file,
                   string.format('%s %d %d %d %.0f', had, staged + 1, added, pieces, now))
        return {sequence, 0, staged + 1, added, pieces}
    elseif staged == had_pieces then
        return {sequence, 3, staged, added, had_pieces}
    elseif tonumber(changed) + STALE_US > now then
        return {sequence, 4, staged, added, had_pieces}
    end
end
if number < 0 then
    return {sequence, 1, 0, 0, pieces}
end

-- Another staging was abandoned before it was complete: nothing of it was added, and it goes.
if record and staged > 0 then
    local fields = {}
    for i = math.max(staged - DROP_MAX, 0), staged - 1 do
        fields[#fields + 1] = i .. ' ' .. file
    end
    redis.call('HDEL', KEYS[2], unpack(fields))
    if staged > DROP_MAX then
        redis.call('HSET', KEYS[1], file,
                   string.format('%s %d 0 %d %s', had, staged - DROP_MAX, had_pieces, changed))
        return {sequence, 2, number, 0, pieces}
    end
end
if number > 0 then
    if record then
        redis.call('HDEL', KEYS[1], file)
    end
    return {sequence, 2, 0, 0, pieces}
end
redis.call('HSET', KEYS[2], '0 ' .. file, ARGV[6])
redis.call('HSET', KEYS[1], file, string.format('%s 1 0 %d %.0f', digest, pieces, now))
return {sequence, 0, 1, 0, pieces}
