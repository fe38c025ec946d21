-- aggregate_stage: puts a piece of a file's sums for a day beside the totals, to be added by
-- aggregate_add.lua when all are there. Repeating it is harmless: a piece that is there is not staged again. If it is
-- stopped in the middle, the same or another staging goes on from there.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f   hash   file -> "<digest> <staged> <added> <pieces> <last change us>"
--                                          digest: XXH3-128 of all pieces, 32 hex digits; 32 zeros: an abandoned
--                                          staging that is being dropped
--       2 gh:{daily:<set>.<day>}:g   hash   "<number of the piece> <file>" -> its lines
--       3 gh:{daily:<set>.<day>}:0, 4 gh:{daily:<set>.<day>}:1, 5 gh:{daily:<set>.<day>}:2   see aggregate_add.lua;
--                                          they live as long as those
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 digest    of all pieces
--       4 pieces    how many there are
--       5 number    of this piece, from 0; or -1 to look only
--       [6] keep ms until the day is dropped, if nobody stages or adds any more; 0: never
--       [7] piece   lines "<level><count> <country>\t<region>\t<city>\n", level 0, 1 or 2 with as many tabs
-- reply in one text: sequence, code, staged, added, pieces
--       code 0 done      up to `staged`, now or before; all of them: go on with aggregate_add.lua
--            1 none      nothing is known of the file (looking only)
--            2 early     the next one is `staged`
--            3 differs   it was staged, or added, with another digest; all that is staged of it should be
--                        added
--            4 at work   somebody else stages it with another digest, and did so within STALE_US
-- Redis 6.2 or later.

local STALE_US = 60000000
local AHEAD_US = 86400000000 -- no record of ours is from so far ahead
local DROP_MAX = 64          -- pieces of an abandoned staging that one call drops

--@ aggregate/aggregate_record.lua

local file, digest = ARGV[2], ARGV[3]
local pieces, number = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local record = redis.call('HGET', KEYS[1], file)

local function answer(code, there, done, of)
    return string.format('%s %d %d %d %d', ARGV[1], code, there, done, of)
end

local had, staged, added, had_pieces, changed = nil, 0, 0, 0, 0

if record then
    had, staged, added, had_pieces, changed = record_of(record)
    if not had or changed > now + AHEAD_US then
        return corrupt('file of a day')
    elseif had == digest and had_pieces == pieces then
        if number < 0 or number < staged then
            if added == pieces then -- of the last one, if its script was stopped
                redis.call('HDEL', KEYS[2], string.format('%d ', pieces - 1) .. file)
            end
            return answer(0, staged, added, pieces)
        elseif number > staged then
            return answer(2, staged, added, pieces)
        end
        redis.call('HSET', KEYS[2], ARGV[5] .. ' ' .. file, ARGV[7])
        redis.call('HSET', KEYS[1], file, string.format('%s %d 0 %d %.0f', had, staged + 1, pieces, now))
        live(ARGV[6])
        return answer(0, staged + 1, 0, pieces)
    elseif staged == had_pieces then
        return answer(3, staged, added, had_pieces)
    elseif changed + STALE_US > now then
        return answer(4, staged, added, had_pieces)
    end
end
if number < 0 then
    return answer(1, 0, 0, pieces)
end

-- Another staging was abandoned before it was complete: nothing of it was added, and it goes, the last pieces first.
-- From the first of them on it is nobody's.
if staged > 0 then
    redis.call('HLEN', KEYS[2]) -- only looks at the type, before the first write
    local fields, left, nobody = {}, math.max(staged - DROP_MAX, 0), string.rep('0', 32)
    for i = left, staged - 1 do
        fields[#fields + 1] = string.format('%d ', i) .. file
    end
    redis.call('HSET', KEYS[1], file, string.format('%s %d 0 %d %.0f', nobody, staged, had_pieces, changed))
    redis.call('HDEL', KEYS[2], unpack(fields))
    if left > 0 then
        redis.call('HSET', KEYS[1], file, string.format('%s %d 0 %d %.0f', nobody, left, had_pieces, changed))
        return answer(2, number, 0, pieces)
    end
end
if number > 0 then
    if record then
        redis.call('HDEL', KEYS[1], file)
    end
    return answer(2, 0, 0, pieces)
end
redis.call('HSET', KEYS[2], '0 ' .. file, ARGV[7])
redis.call('HSET', KEYS[1], file, string.format('%s 1 0 %d %.0f', digest, pieces, now))
live(ARGV[6])
return answer(0, 1, 0, pieces)
