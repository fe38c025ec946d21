-- counters_flush: one batch of what a client has added to counters of one shard. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer
-- and adds nothing, and an older one, which can only be a request from the past, does nothing. A client
-- sends one batch to a shard at a time.
--
-- Each counter has the name of the batch that it counted last, in the same write as its open slices. So if it ends
-- before the mark is written, a repeat counts what was not counted, unless another batch has met the counter since.
-- Slices are closed before that, which a repeat finds done; but an add that is late and goes into a closed slice would
-- be there already.
--
-- A counter has one open slice of each precision, and behind it the closed ones, newest first. The add of
-- a batch that comes late goes into the slice of its own time, also if that is closed already.
--
-- KEYS  1 gh:{counters:<shard>}:w   hash   client -> "<sequence> <now us> <answers>" of its last batch;
--                                          - -> the largest generation that a client brought
--       2 gh:{counters:<shard>}:k   zset   counter -> when (s) it is to be looked at by counters_clean.lua
--       3 ...   for each counter of the batch
--         gh:{counters:<shard>}:o:<name>            hash  precision (s) -> "<start of its open slice> <sum>";
--                                                         b -> "<client> <sequence>" of the batch counted last
--         gh:{counters:<shard>}:c:<seconds>:<name>  list  "<start> <sum>" of closed slices; a key a precision
-- ARGV  1 client      16 hex digits
--       2 sequence    comes back as the first element of the reply
--       3 age us      how long ago the batch was added; the slice is that of TIME - age. Or "@<us>": the time itself,
--                     on the store's clock, now if it is later
--       4 limit       counters that the shard may have
--       5 not after   us of the store's clock; later, nothing is counted; 0: no limit
--       6 generation  of the store's data, as the client knows it; 0: not known
--       7 counters    in the batch: at most 6, or 2 if it is older than 2 s or has a time
--       8 precisions  how many; at most 8
--       9 ...         for each of them, the finest first: seconds, samples that are kept (the open one included);
--                     then for each counter of the batch: what to add
-- reply in one text: sequence, code, now us, answers text
--       code 0 taken
--            1 old        the client has sent another batch since
--            2 stale      past `not after`
--       an error that begins with STALE: the store has seen a larger generation
--       answers: "-" if every counter was counted; else a letter for each
--       answers "k" counted
--               "s" at limit  counted, but the sum stands at its limit of 2^53 - 1 (or minus that)
--               "f" full      not counted: it would be one counter more than limit
--               "c" corrupt   not counted: one of its keys is not of this form
-- Slices that are too old to be kept are left out without a word.
-- Redis 6.2 or later.

local SUM_MAX = 9007199254740991
local STALE_US = 600000000 -- longer than any client repeats a request
local DAY_US = 86400000000
local KEPT_US = 60000000 -- a client renews the marks' time to live once in this time
local LIST_MAX = 1000 -- slices that a list can have
local TRIM_MAX = 100 -- slices that are removed at once

local client, sequence = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_s = tonumber(time[1])
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

-- What this client did last.
local CORRUPT = 'CORRUPT mark of counters is not of the form that KEYS.md describes'
local marks = redis.call('HMGET', KEYS[1], client, '-')
local mark, kept, generation = marks[1], marks[2], ARGV[6]
local renew_marks, look = true, '-8'
local is_newer = generation ~= '0' and generation ~= kept
if kept and is_newer then
    if not string.find(kept, '^%d+$') or kept + 0 > now + DAY_US then
        return redis.error_reply(CORRUPT)
    elseif kept + 0 > generation + 0 then
        return redis.error_reply('STALE the data is of generation ' .. kept)
    end
end
if mark then
    local past, used, answers = string.match(mark, '^(%d+) (%d+) ([%a-]+)$')
    past = tonumber(past)
    if not past or past > SUM_MAX or used + 0 > SUM_MAX or #answers > 6 then
        return redis.error_reply(CORRUPT)
    elseif past == sequence then
        return ARGV[2] .. ' 0 ' .. now_text .. ' ' .. answers
    elseif past > sequence then
        return ARGV[2] .. ' 1 ' .. now_text .. ' -'
    end
    renew_marks, look = now - now % KEPT_US > used + 0, now % 8 == 0 and '-4'
end
if ARGV[5] ~= '0' and now > ARGV[5] + 0 then
    return ARGV[2] .. ' 2 ' .. now_text .. ' -'
end

-- Some marks, and of those which are of no use any more.
local stale = {}
local some = look and redis.call('HRANDFIELD', KEYS[1], look, 'WITHVALUES') or stale
for i = 1, #some, 2 do
    local used = string.match(some[i + 1], '^%d+ (%d+) ')
    if some[i] ~= client and some[i] ~= '-' and (not used or used + STALE_US < now) then
        stale[#stale + 1] = some[i]
    end
end

-- The slices of this batch, one a precision. What is only needed when a slice closes is worked out then.
local find, sub, match, format, tonumber = string.find, string.sub, string.match, string.format, tonumber
local precisions, limit = tonumber(ARGV[8]), tonumber(ARGV[4])
local given = tonumber(string.match(ARGV[3], '^@(%d+)$'))
local at = math.max(0, math.floor((given and math.min(given, now) or now - ARGV[3]) / 1000000))
local seconds, samples, heads, texts, fields = {}, {}, {}, {}, {}
local longest, span_max = 1, 0
for j = 1, precisions do
    local precision, count = ARGV[7 + 2 * j], tonumber(ARGV[8 + 2 * j])
    local head = format('%d ', at - at % precision)
    seconds[j], samples[j], heads[j], texts[j] = precision, count, head, head .. '%d'
    fields[2 * j - 1] = precision
    if precision * count > span_max then
        longest, span_max = j, precision * count
    end
end

local function parts_of(text)
    local start, sum = string.match(text, '^(%d+) (%-?%d+)$')
    start, sum = tonumber(start), tonumber(sum)
    if start and start <= SUM_MAX and sum <= SUM_MAX and sum >= -SUM_MAX then
        return start, sum
    end
end

-- How a closed slice gets its place among those in the list: adds to writes what is to be done. Nil: the
-- list is not of its form. An add that is late goes behind open_start; else text is that of the slice which closes,
-- and if the list has it already, a batch ended between closing it and opening the next.
local function place(writes, list, j, start, sum, open_start, text)
    local head = redis.pcall('LINDEX', list, '0')
    if type(head) == 'table' then
        return nil
    elseif start <= now_s - now_s % seconds[j] - seconds[j] * samples[j] or samples[j] == 1 then
        return writes -- so old that it is not kept any more
    end
    local head_start = parts_of(head or '0 0')
    if not head_start then
        return nil
    elseif text and head_start == start then
        writes[#writes + 1] = function()
            redis.call('LSET', list, '0', text)
        end
        return writes
    elseif head_start < start then
        local span = seconds[j] * samples[j]
        writes[#writes + 1] = function()
            local over = redis.call('LPUSH', list, text or format('%d %d', start, sum)) - samples[j] + 1
            if over > 0 then
                redis.call('LTRIM', list, '0', format('%d', -1 - math.min(over, TRIM_MAX)))
            end
            -- What it is given then is enough for all that comes within one span.
            if math.floor(start / span) ~= math.floor(head_start / span) then
                redis.call('PEXPIRE', list, string.format('%.0f', span * 3000))
            end
        end
        return writes
    end
    local low, high = 0, redis.call('LLEN', list)
    if high > LIST_MAX then
        return nil
    elseif head_start == start then
        high = 0
    end
    local newer = open_start and math.floor((open_start - start) / seconds[j]) - 1 or 0
    if open_start and head_start >= open_start then
        newer = newer + 1 -- it is closed, and was open still when a batch ended
    end
    if newer > 0 and newer < high then
        high = newer
        -- Without gaps it is just there.
        if parts_of(redis.call('LINDEX', list, newer)) == start then
            low = newer
        end
    end
    while low < high do
        local middle = math.floor((low + high) / 2)
        local found = parts_of(redis.call('LINDEX', list, middle))
        if not found then
            return nil
        elseif found > start then
            low = middle + 1
        else
            high = middle
        end
    end
    local there = redis.call('LINDEX', list, low)
    local found, had = parts_of(there or '0 0')
    if not found then
        return nil
    end
    writes[#writes + 1] = function()
        if found == start then
            redis.call('LSET', list, low, format('%d %d', start, math.max(-SUM_MAX, math.min(SUM_MAX, had + sum))))
            return
        elseif there then
            redis.call('LINSERT', list, 'BEFORE', there, format('%d %d', start, sum))
        else
            redis.call('RPUSH', list, format('%d %d', start, sum))
        end
        redis.call('LTRIM', list, '0', samples[j] - 2)
    end
    return writes
end

-- Everything about a counter is looked at before anything of it is written.
local name_at = #KEYS[2] + 2
local values = 8 + 2 * precisions
local answers, plain = {}, true
local last, batch = precisions + 1, client .. ' ' .. ARGV[2]
seconds[last], fields[2 * last - 1], fields[2 * last] = 'b', 'b', batch
for i = 1, tonumber(ARGV[7]) do
    local first = 3 + (i - 1) * (1 + precisions)
    local open_key, delta = KEYS[first], tonumber(ARGV[values + i])
    local olds = redis.pcall('HMGET', open_key, unpack(seconds))
    local answer, is_new, renew, writes = 'k', true, false, nil
    if olds.err then
        answer = 'c'
    elseif olds[last] == batch then
        answer = 'done'
    end
    for j = 1, answer == 'k' and precisions or 0 do
        local old, head, sum = olds[j], heads[j], delta
        if not old then
            renew = renew or j == longest
        elseif find(old, head, 1, true) == 1 then
            is_new = false
            local had = tonumber(match(old, '^%-?%d+$', #head + 1))
            sum = had and had + delta
        else
            is_new = false
            local start, had = parts_of(old)
            writes = writes or {}
            if not start then
                sum = nil
            elseif start > at - at % seconds[j] then -- the slice of this batch is closed: what is open stays as it is
                sum = place(writes, KEYS[first + j], j, at - at % seconds[j], delta, start) and false
            else
                renew = renew or j == longest
                sum = place(writes, KEYS[first + j], j, start, had, nil, old) and delta
            end
        end
        if sum == nil then
            answer = 'c'
            break
        elseif sum == false then
            fields[2 * j] = old
        elseif sum > SUM_MAX or sum < -SUM_MAX then
            if old and not parts_of(old) then
                answer = 'c'
                break
            end
            answer = 's'
            fields[2 * j] = format(texts[j], math.max(-SUM_MAX, math.min(SUM_MAX, sum)))
        else
            fields[2 * j] = format(texts[j], sum)
        end
    end
    if is_new and (answer == 'k' or answer == 's') then
        local name = sub(open_key, name_at)
        local due = redis.pcall('ZSCORE', KEYS[2], name)
        if type(due) == 'table' then
            answer = 'c'
        elseif not due then
            if redis.call('ZCARD', KEYS[2]) >= limit then
                answer = 'f'
            else
                redis.call('ZADD', KEYS[2], at + seconds[1] * samples[1], name)
            end
        end
    end
    if answer == 'k' or answer == 's' then
        for w = 1, writes and #writes or 0 do
            writes[w]()
        end
        redis.call('HSET', open_key, unpack(fields))
        if renew then
            local keep_ms = format('%.0f', span_max * 3000)
            redis.call('PEXPIRE', open_key, keep_ms)
            redis.call('PEXPIRE', KEYS[2], keep_ms)
        end
    end
    answers[i] = answer == 'done' and 'k' or answer
    plain = plain and answers[i] == 'k'
end

local said = plain and '-' or table.concat(answers)
local mark_text = ARGV[2] .. ' ' .. now_text .. ' ' .. said
if is_newer then
    redis.call('HSET', KEYS[1], client, mark_text, '-', generation)
else
    redis.call('HSET', KEYS[1], client, mark_text)
end
if renew_marks then
    redis.call('PEXPIRE', KEYS[1], '1200000')
end
if #stale > 0 then
    redis.call('HDEL', KEYS[1], unpack(stale))
end
return ARGV[2] .. ' 0 ' .. now_text .. ' ' .. said
