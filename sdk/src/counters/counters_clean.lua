-- counters_clean: removes what is older than the samples that are kept, for the counters that are named,
-- and names those that are due next. A counter that nobody adds to goes when its last sample does.
-- Repeating it is harmless: what is gone is gone.
--
-- When a counter is due: when the oldest sample of one of its precisions gets too old, but each precision
-- is looked after at its own pace, no sooner than max(precision, pace) from now.
--
-- KEYS  1 gh:{counters:<shard>}:k   zset   counter -> when (s) it is due
--       2 ...   for each counter that is to be cleaned
--         gh:{counters:<shard>}:o:<name>             hash   see counters_flush.lua
--         gh:{counters:<shard>}:c:<seconds>:<name>   list   one key for each precision
-- ARGV  1 sequence    comes back as the first element of the reply
--       2 pace s
--       3 count       name at most this many that are due; at most 8
--       4 counters    that are to be cleaned; at most 8
--       5 precisions  how many; at most 8
--       6, 7 ...      seconds, samples that are kept (the open one included)
-- reply sequence, code, counters, samples, due ...
--       code 0 done
--            1 more  there is more to remove than was, of what should not be there: ask on, a few times
--       counters, samples: so many were removed
--       due: counters, named as they stand in their keys. What is no such name is removed from the list.
-- Redis 6.2 or later. Begins with a write that a server which is out of memory still allows. Each write is of use by
-- itself, and a counter is due until its last one.

-- Looks at entries of lists, and removals; the counters behind stay due, for the next call.
local WORK_MAX = 100
local LIST_MAX = 1000 -- slices that a list can have
local TRIM_MAX = 100 -- of those that are beyond, so many are removed at once
local NAME_MAX = 192
local STRANGE_MAX = 200 -- names that are looked at, if the first are none
local WHOLE_MAX = 9007199254740991

local sequence, pace = tonumber(ARGV[1]), tonumber(ARGV[2])
local precisions = tonumber(ARGV[5])
local now_s = tonumber(redis.call('TIME')[1])

local seconds, samples, gone = {}, {}, {}
local span_max, pace_max = 0, pace
for j = 1, precisions do
    seconds[j], samples[j] = ARGV[4 + 2 * j], tonumber(ARGV[5 + 2 * j])
    gone[j] = now_s - now_s % seconds[j] - seconds[j] * samples[j] -- what starts here or before goes
    span_max = math.max(span_max, seconds[j] * samples[j])
    pace_max = math.max(pace_max, tonumber(seconds[j]))
end
seconds[precisions + 1] = 'b' -- which is there as long as a slice is
local type_of_known = redis.call('TYPE', KEYS[1]).ok
if type_of_known ~= 'zset' and type_of_known ~= 'none' then
    return redis.error_reply('CORRUPT list of counters is not of the form that KEYS.md describes')
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', span_max * 3000))

local function start_of(text)
    local start = text and tonumber(string.match(text, '^(%d+) '))
    return start and start <= WHOLE_MAX and start or nil
end

local work = 0
local unfinished -- of the counter at hand

-- Trims one list. Start of the oldest that is left, or nil; and how many went.
local function trim(list, limit)
    work = work + 1
    local tail = redis.pcall('LINDEX', list, '-1')
    if not tail or type(tail) == 'table' then
        return nil, 0
    end
    local length = redis.call('LLEN', list)
    if length > LIST_MAX then
        local over = math.min(length - LIST_MAX, TRIM_MAX)
        redis.call('LTRIM', list, '0', -1 - over)
        unfinished = true
        return nil, over
    end
    local oldest = start_of(tail)
    if oldest and oldest > limit then
        return oldest, 0
    end
    local low, high = 0, length - 1 -- the first that is too old
    work = work + 3
    while low < high do
        work = work + 1
        local middle = math.floor((low + high) / 2)
        if (start_of(redis.call('LINDEX', list, middle)) or 0) > limit then
            low = middle + 1
        else
            high = middle
        end
    end
    if low == 0 then
        redis.call('DEL', list)
        return nil, length
    end
    redis.call('LTRIM', list, '0', low - 1)
    return start_of(redis.call('LINDEX', list, '-1')), length - low
end

local counters_removed, samples_removed, more = 0, 0, 0
local name_at = #KEYS[1] + 2
for i = 1, tonumber(ARGV[4]) do
    if work >= WORK_MAX then
        break
    end
    local first = 2 + (i - 1) * (1 + precisions)
    local open_key = KEYS[first]
    local name = string.sub(open_key, name_at)
    local olds = redis.pcall('HMGET', open_key, unpack(seconds))
    local due, closed = nil, {}
    unfinished = false
    for j = 1, precisions do
        local oldest, went = trim(KEYS[first + j], gone[j])
        local start = not olds.err and start_of(olds[j])
        if start and start <= gone[j] then
            closed[#closed + 1] = seconds[j]
        elseif start then
            oldest = oldest or start
        end
        if oldest then
            local span = seconds[j] * samples[j]
            local next_due = math.max(math.min(oldest, now_s) + span, now_s + math.max(seconds[j], pace))
            due = math.min(due or next_due, next_due)
        end
        samples_removed = samples_removed + went
    end
    if #closed > 0 then
        redis.call('HDEL', open_key, unpack(closed))
        samples_removed = samples_removed + #closed
    end
    local left = (due or olds.err) and 1 or redis.call('HLEN', open_key)
    if left == 1 and not due and not olds.err and olds[precisions + 1] then
        left = left - redis.call('HDEL', open_key, 'b')
    end
    if unfinished then
        more = 1
        work = work + TRIM_MAX -- it stays due
    elseif left == 0 then
        counters_removed = counters_removed + redis.call('ZREM', KEYS[1], name)
    else -- it may have precisions that are not ours
        redis.call('ZADD', KEYS[1], 'XX', due or now_s + pace_max, name)
    end
end

local most = tonumber(ARGV[3])
local function due_names(count)
    local names, strange = {}, {}
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now_s, 'LIMIT', '0', count)) do
        if #name > NAME_MAX or not string.find(name, '^[%w_.%%-]+$') then
            strange[#strange + 1] = name
        elseif #names < most then
            names[#names + 1] = name
        end
    end
    return names, strange
end
local names, strange = due_names(most)
if #strange > 0 then
    names, strange = due_names(STRANGE_MAX)
    redis.call('ZREM', KEYS[1], unpack(strange))
    more = 1
end
return {sequence, more, counters_removed, samples_removed, unpack(names)}
