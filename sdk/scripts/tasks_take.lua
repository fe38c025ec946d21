-- tasks_take: hands out tasks for the time of a lease. First it puts back those whose lease ran out; then,
-- class by class, come the tasks that are due, first due first, and after them the ready ones, first come
-- first.
--
-- KEYS  1 gh:{tasks:<queue>}:c   hash   paused ("1"), running_max, credit ("<c0> <c1> <c2> <c3>": by how many
--                     tasks each class is behind its share)
--       2 :l   zset   id -> end of the lease (us)
--       3 :p   hash   see tasks_push.lua
--       4 :m   hash   id -> "<state> <attempt> <fence> <worker> <text>"; no entry: not handed out yet, or
--                     over at the first attempt without a result. States: L leased; K leased, to be
--                     cancelled; W waits for another attempt in :d; R ready again in :r; X dead, text is the
--                     reason; D done, text is the result; C cancelled. worker "<client, 16 hex
--                     digits>:<sequence, 16 hex digits>"
--       5 :w   hash   worker -> "<until us> <sequence> <fence> <id>", and NUL and another id for each other
--                     task of its last hand-out: the receipt by which a repeat is known
--       6 :i   zset   see tasks_push.lua
--       7 :x   zset   id -> when it died (us)
--       8 :t   zset   see tasks_push.lua
--       9..12 :r0 .. :r3   13..16 :d0 .. :d3   see tasks_push.lua
-- ARGV  1 worker
--       2 sequence   comes back as the first element of the reply; a worker has one unanswered take at a time
--       3 lease us
--       4 want       tasks at most, up to 100
--       5 bytes      of ids and values together at most
--       6 most       bytes of a single value; a task with more goes to the dead letters and says so
--       7 not after  us of the store's clock; later, nothing is handed out (a frozen server's backlog);
--                    0: no limit
--       8 keep us    how long a task is remembered that turns out to be cancelled
--       9 sleeper    "<client>:<sequence>" that wants a hint when nothing is there; empty: none
--      10 nap us     how long it wants it
--      11 weights    "<w0> <w1> <w2> <w3>": of the tasks handed out, a class that has some gets its weight's
--                    share, less at most 3 tasks; empty: a class is served when all before it are empty
-- reply sequence, code, now us, fence, remaining us, next us, then for each task: id, attempt, value
--       code 0 tasks, perhaps none: then ask again at once   1 empty   2 paused   3 stale: past `not after`
--       fence      of this hand-out: larger than that of every earlier one of each of its tasks
--       remaining  of the lease
--       next       until a task is due or a lease runs out, if nothing was handed out
--
-- A repeat (same worker and sequence) gets the same tasks, with what is left of the lease.
-- Begins with LTRIM or ZREM, which a server that is out of memory still allows: workers must be able to drain
-- it.

local CLASSES = 4
local RECLAIM_MAX = 50
local NEVER_US = 86400000000
local LONG = string.rep('-', 65) -- see tasks_push.lua

local call, match, format = redis.call, string.match, string.format
local control_key, lease_key, payload_key, mark_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local receipt_key, idle_key, dead_key, tomb_key = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local worker, sequence, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local want, bytes, most = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local not_after = tonumber(ARGV[7])

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = format('%.0f', now) -- numbers given to redis.call are formatted anew each time, and slowly

-- ---- a repeat ---------------------------------------------------------------------------------------------

local receipt = call('HGET', receipt_key, worker)
local last_sequence, last_fence, at
if receipt then last_sequence, last_fence, at = match(receipt, '^%d+ (%d+) (%d+) ()') end
if last_sequence == ARGV[2] then
    local reply = {sequence, 0, now, tonumber(last_fence), lease, 0}
    for id in string.gmatch(string.sub(receipt, at), '[^%z]+') do
        local value, mark = call('HGET', payload_key, id), call('HGET', mark_key, id)
        local state, attempt, fence = match(mark or '', '^(%u) (%d+) (%d+)')
        local expiry = tonumber(call('ZSCORE', lease_key, id) or 0)
        if value and (state == 'L' or state == 'K') and fence == last_fence and expiry > now then
            reply[5] = math.min(reply[5], expiry - now)
            reply[#reply + 1] = id
            reply[#reply + 1] = tonumber(attempt)
            reply[#reply + 1] = value
        end
    end
    return reply
end
if not_after > 0 and now > not_after then return {sequence, 3, now, 0, 0, 0} end

-- ---- leases that ran out ----------------------------------------------------------------------------------

if call('ZCOUNT', lease_key, '-inf', now_text) > 0 then
    local expired =
        call('ZRANGEBYSCORE', lease_key, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', RECLAIM_MAX)
    for i = 7, 8 + 2 * CLASSES do call(i > 8 and i <= 8 + CLASSES and 'LLEN' or 'ZCARD', KEYS[i]) end
    call('HLEN', payload_key)
    call('HLEN', mark_key) -- all types are known, before the first write
    for i = 1, #expired, 2 do
        local id = expired[i]
        local value, mark = call('HGET', payload_key, id), call('HGET', mark_key, id)
        local state, made = match(mark or '', '^(%u) (%d+ %d+)')
        call('ZREM', lease_key, id)
        if not value or not (state == 'L' or state == 'K') then
            call('HDEL', payload_key, id) -- torn by hand: what is left of it goes
        elseif state == 'K' then
            call('HDEL', payload_key, id)
            call('HSET', mark_key, id, 'C ' .. made .. ' - ')
            call('ZADD', tomb_key, now + tonumber(ARGV[8]), id)
        elseif tonumber(match(made, '^%d+')) >= tonumber(match(value, '^%d (%d+)') or 1) then
            call('HSET', mark_key, id, 'X ' .. made .. ' - the lease of its last attempt ran out')
            call('ZADD', dead_key, now_text, id)
        else
            call('HSET', mark_key, id, 'W ' .. made .. ' - the lease ran out')
            local class = tonumber(string.sub(value, 1, 1)) or CLASSES
            call('ZADD', KEYS[13 + math.min(class, CLASSES - 1)], expired[i + 1], id)
        end
    end
end

-- ---- which ones -------------------------------------------------------------------------------------------

-- Most queues have neither a word said about them nor a task delayed, and one call tells that.
local plain = call('EXISTS', control_key, KEYS[13], KEYS[14], KEYS[15], KEYS[16]) == 0
local control = plain and {} or call('HMGET', control_key, 'paused', 'running_max', 'credit')
local weighted = ARGV[11] ~= ''
if control[2] then want = math.min(want, tonumber(control[2]) - call('ZCARD', lease_key)) end
if control[1] then want = 0 end

-- The first `count` of a class, as sources: where they are, and how many were taken of them.
local ids, sources = nil, {}
local function gather(class, count)
    local found = 0
    if not plain then
        local due = call('ZRANGEBYSCORE', KEYS[13 + class], '-inf', now_text, 'LIMIT', '0', count)
        if #due > 0 then
            sources[#sources + 1] = {class = class, key = KEYS[13 + class], state = 'W', ids = due, used = 0}
        end
        found = #due
    end
    if found >= count then return found end
    local ready = call('LRANGE', KEYS[9 + class], '0', count - found - 1)
    if #ready > 0 then
        sources[#sources + 1] = {class = class, key = KEYS[9 + class], state = 'R', ids = ready, used = 0}
    end
    return found + #ready
end

local missing = want
for class = 0, CLASSES - 1 do
    if missing > 0 then
        local found = gather(class, missing)
        if not weighted then missing = missing - found end
    end
end

-- By weight: task by task, the class goes next that is furthest behind its share, of those that have
-- something left. One that has nothing saves nothing up and owes nothing.
local weight, credit, left
local function begin_shares()
    local function numbers(text)
        local list = {}
        for number in string.gmatch(text, '%S+') do list[#list + 1] = tonumber(number) end
        return list
    end
    weight, credit, left = numbers(ARGV[11]), numbers(control[3] or '0 0 0 0'), {0, 0, 0, 0}
    for i = 1, #sources do left[sources[i].class + 1] = left[sources[i].class + 1] + #sources[i].ids end
end

local function next_share()
    local sum, best = 0, nil
    for class = 1, CLASSES do
        if left[class] > 0 then sum = sum + weight[class] end
    end
    for class = 1, CLASSES do
        credit[class] = left[class] > 0 and credit[class] + weight[class] / sum or 0
        if left[class] > 0 and (not best or credit[class] > credit[best]) then best = class end
    end
    if best then credit[best], left[best] = credit[best] - 1, left[best] - 1 end
    return best
end

local origin
if #sources == 1 then
    ids = sources[1].ids
elseif #sources > 1 then
    ids, origin = {}, {}
    if weighted then
        local drawn = {}
        begin_shares()
        for _ = 1, want do
            local class = next_share()
            if not class then break end
            for i = 1, #sources do
                local source, place = sources[i], (drawn[i] or 0) + 1
                if source.class == class - 1 and place <= #source.ids then
                    drawn[i] = place
                    ids[#ids + 1], origin[#ids + 1] = source.ids[place], source
                    break
                end
            end
        end
    else
        for i = 1, #sources do
            for k = 1, #sources[i].ids do ids[#ids + 1], origin[#ids + 1] = sources[i].ids[k], sources[i] end
        end
    end
end

if not ids then
    local next_us = NEVER_US
    for i = 12, 16 do
        local key = i == 12 and lease_key or KEYS[i]
        local first = (i == 12 or (want > 0 and not plain)) and call('ZRANGE', key, '0', '0', 'WITHSCORES')[2]
        if first then next_us = math.min(next_us, math.max(tonumber(first) - now, 0)) end
    end
    call('ZREMRANGEBYSCORE', idle_key, '-inf', now_text)
    if ARGV[9] ~= '' then call('ZADD', idle_key, now + tonumber(ARGV[10]), ARGV[9]) end
    return {sequence, control[1] and 2 or 1, now, 0, 0, control[1] and NEVER_US or next_us}
end

-- ---- each one looked at -----------------------------------------------------------------------------------

local values = call('HMGET', payload_key, unpack(ids))
local marks = call('HMGET', mark_key, unpack(ids))
local reply = {sequence, 0, now, 0, lease, 0}
local taken, attempts, cancelled, too_large, seen = {}, {}, {}, {}, {}
local fence, used, last, count, place = now, 0, #ids, 0, 6
local source = sources[1]
for i = 1, #ids do
    local id, value, mark = ids[i], values[i], marks[i]
    if origin then source = origin[i] end
    local state, attempt, old_fence = nil, 0, 0
    if mark then state, attempt, old_fence = match(mark, '^(%u) (%d+) (%d+)') end
    if value == '' then
        cancelled[#cancelled + 1] = id
    elseif value and not seen[id] and (not mark or state == source.state) then
        local size = #id + #value + 2
        attempt, seen[id] = attempt + 1, true
        if mark then fence = math.max(fence, old_fence + 1) end
        if #value > most or size > bytes then
            too_large[#too_large + 1] = id
            too_large[#too_large + 1] = attempt
        elseif used + size > bytes then
            last = i - 1
            break -- it and those behind it stay where they are
        else
            used, count = used + size, count + 1
            taken[count] = id
            if mark then attempts[count] = attempt end
            reply[place + 1], reply[place + 2], reply[place + 3] = id, attempt, value
            place = place + 3
        end
    end -- else: its place is left over from something torn by hand
    source.used = source.used + 1
end
if #too_large > 0 then call('ZCARD', dead_key) end

-- ---- and handed out: all types are known by now -----------------------------------------------------------

for i = 1, #sources do
    source = sources[i]
    if source.used > 0 and source.state == 'R' then
        call('LTRIM', source.key, source.used, '-1')
    elseif source.used > 0 then
        call('ZREM', source.key, unpack(source.ids, 1, source.used))
    end
end
if #cancelled > 0 then call('HDEL', payload_key, unpack(cancelled)) end

local fence_text = fence == now and now_text or format('%.0f', fence)
for i = 1, #too_large, 2 do
    local id = too_large[i]
    call('HSET', mark_key, id, 'X ' .. too_large[i + 1] .. ' ' .. fence_text .. ' - its ' ..
         #call('HGET', payload_key, id) .. ' bytes are more than a worker has room for')
    call('ZADD', dead_key, now_text, id)
end
if count > 0 then
    local behind = ' ' .. fence_text .. ' ' .. worker
    local first, expiry = 'L 1' .. behind, format('%.0f', now + lease)
    local leases, states = {}, {}
    for i = 1, count do
        local id, attempt = taken[i], attempts[i]
        local k = i + i
        leases[k - 1], leases[k] = expiry, id
        states[k - 1], states[k] = id, attempt and 'L ' .. attempt .. behind or first
    end
    if call('HLEN', mark_key) == 0 then
        call('HSET', mark_key, '', LONG, unpack(states))
        call('HDEL', mark_key, '')
    else
        call('HSET', mark_key, unpack(states))
    end
    if call('ZCARD', lease_key) == 0 then
        call('ZADD', lease_key, 0, LONG, unpack(leases))
        call('ZREM', lease_key, LONG)
    else
        call('ZADD', lease_key, unpack(leases))
    end
    call('HSET', receipt_key, worker,
         expiry .. ' ' .. ARGV[2] .. ' ' .. fence_text .. ' ' .. table.concat(taken, '\0'))
end
if weighted then
    begin_shares() -- once more, for as many as were handed out
    for _ = 1, last do next_share() end
    call('HSET', control_key, 'credit', format('%.9f %.9f %.9f %.9f', unpack(credit)))
end
if sequence % 16 == 0 then -- workers that are gone leave their receipts behind
    local sample = call('HRANDFIELD', receipt_key, 2, 'WITHVALUES')
    for i = 1, #sample, 2 do
        if tonumber(match(sample[i + 1], '^%d+')) < now then call('HDEL', receipt_key, sample[i]) end
    end
end
reply[4] = fence
return reply
