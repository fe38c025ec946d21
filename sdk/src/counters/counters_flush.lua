-- counters_flush: one batch of what a client has added to counters of one shard. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer
-- and adds nothing, and an older one, which can only be a request from the past, does nothing. A client
-- sends one batch to a shard at a time.
--
-- A counter has one open slice of each precision, and behind it the closed ones, newest first. The add of
-- a batch that comes late goes into the slice of its own time, also if that is closed already.
--
-- KEYS  1 gh:{counters:<shard>}:w   hash   client -> "<sequence> <now us> <answers>" of its last batch
--       2 gh:{counters:<shard>}:k   zset   counter -> when (s) it is to be looked at by counters_clean.lua
--       then for each counter of the batch
--         gh:{counters:<shard>}:o:<name>            hash  precision (s) -> "<start of its open slice> <sum>"
--         gh:{counters:<shard>}:c:<seconds>:<name>  list  "<start> <sum>" of closed slices; a key a precision
-- ARGV  1 client      16 hex digits
--       2 sequence    comes back as the first element of the reply
--       3 age us      how long ago the batch was added; the slice is that of TIME - age
--       4 limit       counters that the shard may have
--       5 precisions  how many; at most 8
--       then for each of them, the finest first: seconds, samples that are kept (the open one included)
--       then for each counter of the batch, at most 6, or 2 if the batch is older than 2 s: what to add
-- reply sequence, code, now us, answers
--       code 0 taken
--            1 old        the client has sent another batch since
--            2 writers    WRITERS_MAX other clients have sent batches within STALE_US
--       answers: "-" if every counter was counted; else a letter for each
--            k counted    s counted, but the sum stands at its limit of 2^53 - 1 (or minus that)
--            f not counted: it would be one counter more than limit
--            c not counted: one of its keys is not of this form
-- Slices that are too old to be kept are left out without a word.
-- Redis 6.2 or later.

local SUM_MAX = 9007199254740991
local WRITERS_MAX = 4096
local WRITERS_LOOK = 16
local STALE_US = 600000000 -- longer than any client repeats a request

local client, sequence = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_s = tonumber(time[1])

-- What this client did last, and whether there is room for one more.
local stale = {}
local function look_at(writers)
    for i = 1, #writers, 2 do
        local used = string.match(writers[i + 1], '^%d+ (%d+) ')
        if writers[i] ~= client and (not used or tonumber(used) + STALE_US < now) then
            stale[#stale + 1] = writers[i]
        end
    end
end
local mark = redis.call('HGET', KEYS[1], client)
if mark then
    local past, answers = string.match(mark, '^(%d+) %d+ ([%a-]+)$')
    past = tonumber(past)
    if not past then
        return redis.error_reply('CORRUPT mark of counters is not of the form that KEYS.md describes')
    elseif past == sequence then
        return {sequence, 0, now, answers}
    elseif past > sequence then
        return {sequence, 1, now, '-'}
    end
    if now % 8 == 0 then
        look_at(redis.call('HRANDFIELD', KEYS[1], '-2', 'WITHVALUES'))
    end
elseif redis.call('HLEN', KEYS[1]) >= WRITERS_MAX then
    look_at(redis.call('HRANDFIELD', KEYS[1], WRITERS_LOOK, 'WITHVALUES'))
    if #stale == 0 then
        return {sequence, 2, now, '-'}
    end
end

-- The slices of this batch, one a precision. What is only needed when a slice closes is worked out then.
local sub, format, tonumber = string.sub, string.format, tonumber
local precisions, limit = tonumber(ARGV[5]), tonumber(ARGV[4])
local at = math.max(0, math.floor((now - tonumber(ARGV[3])) / 1000000))
local seconds, samples, heads, texts, fields = {}, {}, {}, {}, {}
local longest, span_max = 1, 0
for j = 1, precisions do
    local precision, count = ARGV[4 + 2 * j], tonumber(ARGV[5 + 2 * j])
    local head = format('%d ', at - at % precision)
    seconds[j], samples[j], heads[j], texts[j] = precision, count, head, head .. '%d'
    fields[2 * j - 1] = precision
    if precision * count > span_max then
        longest, span_max = j, precision * count
    end
end
local KEEP_MS = format('%.0f', span_max * 3000) -- of keys that the longest precision writes to

local function slice_of(j)
    return at - at % seconds[j]
end

local function is_gone(start, j) -- so old that it is not kept any more
    return start <= now_s - now_s % seconds[j] - seconds[j] * samples[j]
end

local function last_kept(j) -- place in the list of the last closed slice that is kept
    return format('%d', samples[j] - 2)
end

local function text_of(start, sum)
    return string.format('%d %d', start, sum)
end

local function limited(sum)
    return math.max(-SUM_MAX, math.min(SUM_MAX, sum))
end

local function parts_of(text)
    local start, sum = string.match(text, '^(%d+) (%-?%d+)$')
    return tonumber(start), tonumber(sum)
end

-- How a closed slice gets its place among those in the list: adds to writes what is to be done. Nil: the
-- list is not of its form. `newer` is the most entries that can stand before it; text, if it is at hand, that
-- of start and sum.
local function place(writes, list, j, start, sum, newer, text)
    local head = redis.pcall('LINDEX', list, '0')
    if type(head) == 'table' then
        return nil
    elseif is_gone(start, j) or samples[j] == 1 then
        return writes
    end
    local head_start = parts_of(head or '0 0')
    if not head_start then
        return nil
    elseif head_start < start then
        local span = seconds[j] * samples[j]
        writes[#writes + 1] = function()
            if redis.call('LPUSH', list, text or text_of(start, sum)) >= samples[j] then
                redis.call('LTRIM', list, '0', last_kept(j))
            end
            -- What it is given then is enough for all that comes within one span.
            if math.floor(start / span) ~= math.floor(head_start / span) then
                redis.call('PEXPIRE', list, string.format('%.0f', span * 3000))
            end
        end
        return writes
    end
    local low, high = 0, head_start == start and 0 or redis.call('LLEN', list)
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
            redis.call('LSET', list, low, text_of(start, limited(had + sum)))
            return
        elseif there then
            redis.call('LINSERT', list, 'BEFORE', there, text_of(start, sum))
        else
            redis.call('RPUSH', list, text_of(start, sum))
        end
        redis.call('LTRIM', list, '0', last_kept(j))
    end
    return writes
end

-- Everything about a counter is looked at before anything of it is written.
local name_at = #KEYS[2] + 2
local values = 5 + 2 * precisions
local answers, plain = {}, true
for i = 1, #ARGV - values do
    local first = 3 + (i - 1) * (1 + precisions)
    local open_key, delta = KEYS[first], tonumber(ARGV[values + i])
    local olds = redis.pcall('HMGET', open_key, unpack(seconds))
    local answer, is_new, renew, writes = 'k', true, false, {}
    if olds.err then
        answer = 'c'
    end
    for j = 1, answer == 'k' and precisions or 0 do
        local old, head, sum = olds[j], heads[j], delta
        if not old then
            renew = renew or j == longest
        elseif sub(old, 1, #head) == head then
            is_new = false
            sum = tonumber(sub(old, #head + 1))
            sum = sum and sum + delta
        else
            is_new = false
            local start, had = parts_of(old)
            if not start then
                sum = nil
            elseif start > slice_of(j) then -- the slice of this batch is closed: what is open stays as it is
                local newer = (start - slice_of(j)) / seconds[j] - 1
                sum = place(writes, KEYS[first + j], j, slice_of(j), delta, newer) and false
            else
                renew = renew or j == longest
                sum = place(writes, KEYS[first + j], j, start, had, 0, old) and delta
            end
        end
        if sum == nil then
            answer = 'c'
            break
        elseif sum == false then
            fields[2 * j] = old
        elseif sum > SUM_MAX or sum < -SUM_MAX then
            answer = 's'
            fields[2 * j] = format(texts[j], limited(sum))
        else
            fields[2 * j] = format(texts[j], sum)
        end
    end
    if is_new and answer ~= 'c' then
        local name = sub(open_key, name_at)
        if not redis.call('ZSCORE', KEYS[2], name) then
            if redis.call('ZCARD', KEYS[2]) >= limit then
                answer = 'f'
            else
                writes[1] = function()
                    redis.call('ZADD', KEYS[2], at + seconds[1] * samples[1], name)
                end
            end
        end
    end
    if answer == 'k' or answer == 's' then
        redis.call('HSET', open_key, unpack(fields))
        for w = 1, #writes do
            writes[w]()
        end
        if renew then
            redis.call('PEXPIRE', open_key, KEEP_MS)
            redis.call('PEXPIRE', KEYS[2], KEEP_MS)
        end
    end
    answers[i] = answer
    plain = plain and answer == 'k'
end

local said = plain and '-' or table.concat(answers)
redis.call('HSET', KEYS[1], client, string.format('%.0f %.0f %s', sequence, now, said))
redis.call('PEXPIRE', KEYS[1], '3600000')
if #stale > 0 then
    redis.call('HDEL', KEYS[1], unpack(stale))
end
return {sequence, 0, now, said}
