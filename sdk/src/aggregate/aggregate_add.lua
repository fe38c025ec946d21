-- aggregate_add: adds the next piece of what is staged for a file to the totals of the day, and notes it. Repeating it is
-- harmless: each piece is added once, whoever asks, and a repeat goes on with the next. If it is stopped in the middle, the
-- next call for a file of this day finishes it first: what is being added is written down as the sums that it comes to,
-- which can be set twice.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f, 2 gh:{daily:<set>.<day>}:g   see aggregate_stage.lua; and in :f
--                                          "" -> "<number> <keep ms> <sums>\n<file>": the piece that is being added, and
--                                          what its places come to, in the order of its lines, with blanks between; ""
--       3 gh:{daily:<set>.<day>}:0   zset   country -> events; the empty one: addresses in no range
--       4 gh:{daily:<set>.<day>}:1   zset   "country\tregion" -> events
--       5 gh:{daily:<set>.<day>}:2   zset   "country\tregion\tcity" -> events
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 keep ms   after the last piece, until the totals of the day are dropped; 0: never
-- reply sequence, code, added, pieces
--       code 0 added: `added` of `pieces` are in the totals; 1 not all of the file is staged; 2 nothing is
--       known of it
-- Redis 6.2 or later.

local PIECE_MAX = 8192
local LINES_MAX = 65
local NOTE_MAX = 2048
local COUNT_MAX = 4294967295

--@ client/check.lua
--@ aggregate/aggregate_record.lua

local sequence, file = tonumber(ARGV[1]), ARGV[2]
local found = redis.call('HMGET', KEYS[1], file, '')
local work, number, keep, sums = file, nil, ARGV[3], nil
local record = found[1] and record_of(found[1])
if found[1] and not record then
    return corrupt('file of a day')
end
if found[2] and found[2] ~= '' then -- somebody was stopped: that comes first
    local text
    if #found[2] > NOTE_MAX then
        return corrupt('note of a day')
    end
    number, keep, text, work = string.match(found[2], '^(%d+) (%d+) ([%d ]+)\n(.+)$')
    number, sums = whole(number, PIECES_MAX), {}
    if not number or not whole(keep) then
        return corrupt('note of a day')
    end
    for sum in string.gmatch(text, '%d+') do
        sums[#sums + 1] = whole(sum)
        if #sums > LINES_MAX then
            return corrupt('note of a day')
        end
    end
elseif not record then
    return {sequence, 2, 0, 0}
elseif record.staged < record.pieces then
    return {sequence, 1, record.added, record.pieces}
elseif record.added == record.pieces then
    return {sequence, 0, record.added, record.pieces}
else
    number = record.added
end

local theirs = record
if work ~= file then
    local text = redis.call('HGET', KEYS[1], work)
    theirs = text and record_of(text)
end
local field = string.format('%d ', number) .. work
local piece = redis.call('HSTRLEN', KEYS[2], field) <= PIECE_MAX and redis.call('HGET', KEYS[2], field)
if not theirs or not piece or theirs.added ~= number or theirs.staged ~= theirs.pieces then
    return corrupt('piece of a file of a day')
end

-- The places of each level, each once, and what they come to.
local places, counts, seen, length, lines = {{}, {}, {}}, {{}, {}, {}}, {}, 0, 0
for level, count, place in string.gmatch(piece, '([012])(%d+) ([^\n]*)\n') do
    lines, length = lines + 1, length + 3 + #count + #place
    local list, name, amount = level + 1, level .. place, whole(count, COUNT_MAX)
    if not amount or lines > LINES_MAX then
        return corrupt('piece of a file of a day')
    end
    local at = seen[name]
    if not at then
        at = #places[list] + 1
        seen[name], places[list][at], counts[list][at] = at, place, 0
    end
    counts[list][at] = counts[list][at] + amount
end
if length ~= #piece or lines == 0 then
    return corrupt('piece of a file of a day')
end
local scored, all = {{}, {}, {}}, {}
for list = 1, 3 do
    if #places[list] > 0 then
        local totals = redis.call('ZMSCORE', KEYS[2 + list], unpack(places[list]))
        for i = 1, #totals do
            local sum = whole(totals[i] or '0')
            if sums then
                sum = sums[#all + 1]
            else
                sum = sum and sum + counts[list][i]
            end
            if not sum or sum > WHOLE_MAX then
                return corrupt('total of a day')
            end
            all[#all + 1] = string.format('%.0f', sum)
            scored[list][2 * i - 1], scored[list][2 * i] = all[#all], places[list][i]
        end
    end
end

if sums and #sums ~= #all then
    return corrupt('note of a day')
end

-- From here on nothing can fail; and whatever is stopped, is found by its note.
if not sums then
    redis.call('HSET', KEYS[1], '', string.format('%d %s ', number, keep) .. table.concat(all, ' ') .. '\n' .. work)
end
for list = 1, 3 do
    if #scored[list] > 0 then
        redis.call('ZADD', KEYS[2 + list], unpack(scored[list]))
    end
end
if keep ~= '0' and number + 1 == theirs.pieces then
    for i = 1, 5 do
        redis.call('PEXPIRE', KEYS[i], keep)
    end
end
redis.call('HSET', KEYS[1], work, record_text(theirs, theirs.staged, number + 1), '', '')
redis.call('HDEL', KEYS[2], field, string.format('%d ', number - 1) .. work)
if work == file then
    return {sequence, 0, number + 1, theirs.pieces}
elseif not record then
    return {sequence, 2, 0, 0}
end
return {sequence, record.staged < record.pieces and 1 or 0, record.added, record.pieces}
