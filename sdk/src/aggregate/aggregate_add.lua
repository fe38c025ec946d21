-- aggregate_add: adds the next piece of what is staged for a file to the totals of the day, and notes it. Repeating it
-- is harmless: each piece is added once, whoever asks, and a repeat goes on with the next. If it is stopped in the
-- middle, the next call for a file of this day finishes it first: what is being added is written down as the sums that
-- it comes to, which can be set twice.
--
-- KEYS  1 gh:{daily:<set>.<day>}:f, 2 gh:{daily:<set>.<day>}:g   see aggregate_stage.lua; and in :f
--                                          "" -> "<number> <keep ms> <sums>\n<file>": the piece that is being added,
--                                          and what its places come to, level by level in the order of its lines; or ""
--       3 gh:{daily:<set>.<day>}:0   zset   country -> events; the empty one: addresses in no range
--       4 gh:{daily:<set>.<day>}:1   zset   "country\tregion" -> events
--       5 gh:{daily:<set>.<day>}:2   zset   "country\tregion\tcity" -> events
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 keep ms   until the day is dropped, if nobody stages or adds any more; 0: never
-- reply in one text: sequence, code, added, pieces
--       code 0 done   `added` of `pieces` are in the totals
--            1 early  not all of the file is staged
--            2 none   nothing is known of it
-- Redis 6.2 or later.

local PIECE_MAX = 8192
local LINES_MAX = 65
local NOTE_MAX = 2048

--@ aggregate/aggregate_record.lua

local function answer(code, done, of)
    return string.format('%s %d %d %d', ARGV[1], code, done, of)
end

local file = ARGV[2]
local found = redis.call('HMGET', KEYS[1], file, '')
local record, note = found[1], found[2]
local work, number, keep, sums = file, nil, ARGV[3], nil
local digest, staged, added, pieces, changed = nil, 0, 0, 0, nil
if record then
    digest, staged, added, pieces, changed = record_of(record)
    if not digest then
        return corrupt('file of a day')
    end
end
if note and note ~= '' then -- somebody was stopped: that comes first
    local text
    if #note <= NOTE_MAX then
        number, keep, text, work = string.match(note, '^(%d+) (%d+) ([%d ]+)\n(.+)$')
    end
    if not number or number + 0 > PIECES_MAX or keep + 0 > WHOLE_MAX then
        return corrupt('note of a day')
    end
    number, sums = number + 0, {}
    for sum in string.gmatch(text, '%d+') do
        sums[#sums + 1] = sum + 0
    end
elseif not record then
    return answer(2, 0, 0)
elseif staged < pieces then
    return answer(1, added, pieces)
elseif added == pieces then
    return answer(0, added, pieces)
else
    number = added
end

local their_digest, their_staged, their_added, their_pieces, their_changed = digest, staged, added, pieces, changed
if work ~= file then
    their_digest, their_staged, their_added, their_pieces, their_changed =
        record_of(redis.call('HGET', KEYS[1], work) or '')
end
local field = string.format('%d ', number) .. work
local piece = redis.call('HSTRLEN', KEYS[2], field) <= PIECE_MAX and redis.call('HGET', KEYS[2], field)
if not their_digest or not piece or their_added ~= number or their_staged ~= their_pieces then
    return corrupt('piece of a file of a day')
end

-- Of each level: its places, each once; how many they are; and, by its name, what is to be added to each.
local lists, counts = {['0'] = {}, ['1'] = {}, ['2'] = {}}, {['0'] = 0, ['1'] = 0, ['2'] = 0}
local growth = {['0'] = {}, ['1'] = {}, ['2'] = {}}
local lines, size, here, list, known, places = 0, 0, nil, nil, nil, 0
for level, count, place in string.gmatch(piece, '([012])(%d+) ([^\n]*)\n') do
    if level ~= here then
        counts[here or level], places = places, counts[level]
        here, list, known = level, lists[level], growth[level]
    end
    if known[place] then
        known[place] = known[place] + count
    else
        places = places + 1
        known[place], list[places] = count, place
    end
    lines, size = lines + 1, size + #count + #place
end
if lines == 0 or lines > LINES_MAX or size + 3 * lines ~= #piece then -- a level, a blank and an end in each line
    return corrupt('piece of a file of a day')
end
counts[here] = places
local scored, texts, done = {{}, {}, {}}, {}, 0
for i, level in ipairs({'0', '1', '2'}) do
    list, known, places = lists[level], growth[level], counts[level]
    if places > 0 then
        local totals = redis.call('ZMSCORE', KEYS[2 + i], unpack(list))
        local into = {unpack({}, 1, 2 * places)} -- has room for all, which costs less than to grow
        for k = 1, places do
            local name = list[k]
            local sum = sums and (sums[done + k] or -1) or (totals[k] or 0) + known[name]
            if not (sum >= 0 and sum <= WHOLE_MAX and sum % 1 == 0) then
                return corrupt('total of a day')
            end
            local text = string.format(sum < 2147483648 and '%d' or '%.0f', sum) -- the second costs more
            totals[k], into[k + k - 1], into[k + k] = text, text, name
        end
        scored[i], texts[#texts + 1], done = into, table.concat(totals, ' '), done + places
    end
end
if sums and #sums ~= done then
    return corrupt('note of a day')
end

-- From here on nothing can fail; and whatever is stopped, is found by its note.
if not sums then
    redis.call('HSET', KEYS[1], '', number .. ' ' .. keep .. ' ' .. table.concat(texts, ' ') .. '\n' .. work)
end
for i = 1, 3 do
    if #scored[i] > 0 then
        redis.call('ZADD', KEYS[2 + i], unpack(scored[i]))
    end
end
live(keep)
local text = string.format('%s %d %d %d %.0f', their_digest, their_staged, number + 1, their_pieces, their_changed)
redis.call('HSET', KEYS[1], work, text, '', '')
redis.call('HDEL', KEYS[2], field, string.format('%d ', number - 1) .. work)
if work == file then
    return answer(0, number + 1, pieces)
elseif not record then
    return answer(2, 0, 0)
end
return answer(staged < pieces and 1 or 0, added, pieces)
