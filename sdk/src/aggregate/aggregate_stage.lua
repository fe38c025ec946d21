-- aggregate_stage: puts a piece of a file's sums for a day beside the totals, to be added by
-- aggregate_add.lua when all are there. Repeating it is harmless: a piece that is there is not staged again. If it is
-- stopped in the middle, the same or another staging goes on from there.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f   hash   file -> "<digest> <staged> <added> <pieces> <last change us>"
--                                          digest: XXH3-128 of all pieces, 32 hex digits; 32 zeros: an abandoned
--                                          staging that is being dropped
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
local AHEAD_US = 86400000000 -- no record of ours is from so far ahead
local DROP_MAX = 64          -- pieces of an abandoned staging that one call drops

--@ client/check.lua
--@ aggregate/aggregate_record.lua

local sequence, file, digest = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local pieces, number = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local text = redis.call('HGET', KEYS[1], file)
local record = nil

if text then
    record = record_of(text)
    if not record or record.changed > now + AHEAD_US then
        return corrupt('file of a day')
    elseif record.digest == digest and record.pieces == pieces then
        if number < 0 or number < record.staged then
            if record.added == pieces then -- of the last one, if its script was stopped
                redis.call('HDEL', KEYS[2], string.format('%d ', pieces - 1) .. file)
            end
            return {sequence, 0, record.staged, record.added, pieces}
        elseif number > record.staged then
            return {sequence, 2, record.staged, record.added, pieces}
        end
        record.changed = now
        redis.call('HSET', KEYS[2], ARGV[5] .. ' ' .. file, ARGV[6])
        redis.call('HSET', KEYS[1], file, record_text(record, number + 1, 0))
        return {sequence, 0, number + 1, 0, pieces}
    elseif record.staged == record.pieces then
        return {sequence, 3, record.staged, record.added, record.pieces}
    elseif record.changed + STALE_US > now then
        return {sequence, 4, record.staged, record.added, record.pieces}
    end
end
if number < 0 then
    return {sequence, 1, 0, 0, pieces}
end

-- Another staging was abandoned before it was complete: nothing of it was added, and it goes, the last pieces first. From
-- the first of them on it is nobody's.
if record and record.staged > 0 then
    redis.call('HLEN', KEYS[2]) -- only looks at the type, before the first write
    local fields, left = {}, math.max(record.staged - DROP_MAX, 0)
    for i = left, record.staged - 1 do
        fields[#fields + 1] = string.format('%d ', i) .. file
    end
    record.digest = string.rep('0', 32)
    redis.call('HSET', KEYS[1], file, record_text(record, record.staged, 0))
    redis.call('HDEL', KEYS[2], unpack(fields))
    if left > 0 then
        redis.call('HSET', KEYS[1], file, record_text(record, left, 0))
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
