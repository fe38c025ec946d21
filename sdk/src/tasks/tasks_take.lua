-- tasks_take: hands out tasks for the time of a lease. First it puts back those whose lease ran out; then,
-- class by class, come the tasks that are due, first due first, and after them the ready ones, first come
-- first. In a queue with groups, tasks that are due join the lines; then, class by class, the groups take
-- turns.
--
-- KEYS  1 gh:{tasks:<queue>}:c   hash   paused ("1"), running_max, rate ("<count> <period us> <burst>"),
--                     bucket (us when the burst is whole again), groups ("1": there may be tasks with a
--                     group), credit ("<c0> <c1> <c2> <c3>": by how many tasks each class is behind its
--                     share)
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
--       9..12 :r0 .. :r3   13..16 :d0 .. :d3   17 :q   18 :g   see tasks_push.lua
-- ARGV  1 worker
--       2 sequence   comes back as the first element of the reply; a worker has one unanswered take at a time
--       3 lease us
--       4 want       tasks at most, up to 50
--       5 bytes      of ids and values together at most
--       6 most       bytes of a single value; of a longer one the beginning comes, and says so
--       7 not after  us of the store's clock; later, nothing is handed out (a frozen server's backlog);
--                    0: no limit
--       8 keep us    how long a task is remembered that turns out to be cancelled
--       9 sleeper    "<client>:<sequence>" that wants a hint when nothing is there; empty: none
--      10 nap us     how long it wants it
--      11 weights    "<w0> <w1> <w2> <w3>": of the tasks handed out, a class that has some gets its weight's
--                    share, less at most 3 tasks; empty: a class is served when all before it are empty
-- reply sequence, code, now us, fence, remaining us, next us, then for each task: id, attempt, value
--       code 0 tasks, perhaps none: then ask again at once   1 empty   2 paused   3 stale: past `not after`
--            4 limited by rate   5 limited by running_max
--       attempt    1, 2, 3, ...; below zero: the value was too long and is cut, and should be tried again, as
--                  another worker may have the room
--       fence      of this hand-out: larger than that of every earlier one of each of its tasks
--       remaining  of the lease
--       next       if nothing was handed out: until a task is due or a lease runs out; 4: until one may be
--                  handed out
--
-- A repeat (same worker and sequence) gets the same tasks, with what is left of the lease.
-- Begins with LTRIM or ZREM, which a server that is out of memory still allows: workers must be able to drain
-- it.

local CLASSES = 4
-- Leases that ran out, and due tasks that join their lines: each is a task less that is handed out.
local RECLAIM_MAX = 32
local JOIN_MAX = 12
-- Values are read so many at a time, until there are enough bytes of them: an answer of more than 16 KiB is
-- copied about by the server, and nobody knows how large the next values are.
local PIECE = 4
-- Handed out, in a queue with groups; by weight this many are looked at.
local TURNS_MAX = 30
-- 2^50: see :g in tasks_push.lua.
local TURNS = 1125899906842624
local NEVER_US = 86400000000
-- What is left of a value that is cut: all that comes before the payload.
local CUT = 192
-- See tasks_push.lua.
local LONG = string.rep('-', 65)

local call, match, format = redis.call, string.match, string.format
local min, max = math.min, math.max
local control_key, lease_key, value_key, mark_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local receipt_key, idle_key, dead_key, tomb_key = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local line_key, ring_key = KEYS[17], KEYS[18]
local worker, sequence, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local want, bytes, most = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local not_after = tonumber(ARGV[7])

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
-- Numbers given to redis.call are formatted anew each time, and slowly.
local now_text = format('%.0f', now)

-- Sees to it that the value of the i-th is there. They are asked for in their order.
local function read(values, ids, i)
    if i <= #values then return end
    local piece = call('HMGET', value_key, unpack(ids, i, min(i + PIECE - 1, #ids)))
    for k = 1, #piece do values[i + k - 1] = piece[k] end
end

-- ---- a repeat ---------------------------------------------------------------------------------------------

local receipt = call('HGET', receipt_key, worker)
local past, last_fence, at
if receipt then past, last_fence, at = match(receipt, '^%d+ (%d+) (%d+) ()') end
if past == ARGV[2] then
    local reply = {sequence, 0, now, tonumber(last_fence), lease, 0}
    local ids, values = {}, {}
    for id in string.gmatch(string.sub(receipt, at), '[^%z]+') do ids[#ids + 1] = id end
    local marks, ends = call('HMGET', mark_key, unpack(ids)), call('ZMSCORE', lease_key, unpack(ids))
    for i = 1, #ids do
        read(values, ids, i)
        local id, value, expiry = ids[i], values[i], tonumber(ends[i] or 0)
        local state, attempt, fence = match(marks[i] or '', '^(%u) (%d+) (%d+)')
        if value and (state == 'L' or state == 'K') and fence == last_fence and expiry > now then
            reply[5] = min(reply[5], expiry - now)
            reply[#reply + 1] = id
            local fits = #value <= most and #id + #value + 2 <= bytes
            reply[#reply + 1] = fits and tonumber(attempt) or -attempt
            reply[#reply + 1] = fits and value or string.sub(value, 1, CUT)
        end
    end
    return reply
end
if not_after > 0 and now > not_after then return {sequence, 3, now, 0, 0, 0} end

-- ---- leases that ran out ----------------------------------------------------------------------------------

-- Most queues have neither a word said about them nor a task delayed, and one call tells that.
local plain = call('EXISTS', control_key, KEYS[13], KEYS[14], KEYS[15], KEYS[16]) == 0
local control, interval, burst, full_at = {}, nil, nil, nil
if not plain then
    control = call('HMGET', control_key, 'paused', 'running_max', 'credit', 'groups', 'rate', 'bucket')
end
local weighted, grouped = ARGV[11] ~= '', control[4]
local lapsed = call('ZCOUNT', lease_key, '-inf', now_text)

local function add_all(command, key, list)
    if #list > 0 then call(command, key, unpack(list)) end
end

local function append(list, first, second)
    local at = #list
    list[at + 1], list[at + 2] = first, second
end

local checked
-- Before the first write.
local function check_types()
    if checked then return end
    checked = true
    for i = 7, 18 do call(i > 8 and i <= 8 + CLASSES and 'LLEN' or 'ZCARD', KEYS[i]) end
    call('HLEN', value_key)
    call('HLEN', mark_key)
    call('HLEN', control_key)
end

-- What putting back has cost: tasks, and bytes that were read.
local freed, before = 0, 0
if lapsed > 0 then
    plain = false
    local found = call('ZRANGEBYSCORE', lease_key, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', RECLAIM_MAX)
    local expired, gone, states, forgets, dead, due = {}, {}, {}, {}, {}, {{}, {}, {}, {}}
    local forget_text = format('%.0f', now + ARGV[8])
    for i = 1, #found, 2 do expired[#expired + 1] = found[i] end
    local values, marks = {}, call('HMGET', mark_key, unpack(expired))
    check_types()
    for i = 1, #expired do
        if before > bytes / 2 then
            -- The next call goes on.
            for k = #expired, i, -1 do expired[k] = nil end
            break
        end
        read(values, expired, i)
        local id, value = expired[i], values[i]
        before = before + (value and #value or 0)
        local state, made, attempt = match(marks[i] or '', '^(%u) ((%d+) %d+)')
        local text
        if not value or not (state == 'L' or state == 'K') then
            -- Torn by hand: what is left of it goes.
            gone[#gone + 1] = id
        elseif state == 'K' then
            text = 'C ' .. made .. ' - '
            gone[#gone + 1] = id
            append(forgets, forget_text, id)
        elseif tonumber(attempt) >= tonumber(match(value, '^%d (%d+)') or 1) then
            text = 'X ' .. made .. ' - the lease of its last attempt ran out'
            append(dead, now_text, id)
        else
            text = 'W ' .. made .. ' - the lease ran out'
            local class = min(tonumber(string.sub(value, 1, 1)) or CLASSES, CLASSES - 1)
            append(due[1 + class], found[2 * i], id)
        end
        if text then append(states, id, text) end
    end
    want = min(want, 2 * RECLAIM_MAX - #expired)
    freed = #expired
    call('ZREM', lease_key, unpack(expired))
    add_all('HDEL', value_key, gone)
    add_all('HSET', mark_key, states)
    add_all('ZADD', tomb_key, forgets)
    add_all('ZADD', dead_key, dead)
    for class = 0, CLASSES - 1 do add_all('ZADD', KEYS[13 + class], due[1 + class]) end
end

-- ---- whether, and how many --------------------------------------------------------------------------------

-- A code of the reply.
local refusal
if control[1] then
    refusal = 2
-- A bucket of `burst` hand-outs; one more flows in each interval.
elseif control[5] then
    local rate_count, period, size = match(control[5], '^(%d+) (%d+) (%d+)$')
    interval, burst = period / rate_count, tonumber(size)
    full_at = min(max(tonumber(control[6] or 0), now), now + burst * interval)
    want = min(want, math.floor(burst - (full_at - now) / interval + 0.000001))
    if want < 1 then refusal = 4 end
end
if control[2] and not refusal then
    want = min(want, tonumber(control[2]) - call('ZCOUNT', lease_key, '(' .. now_text, '+inf'))
    if want < 1 then refusal = 5 end
end
if refusal then want = 0 end

-- ---- groups -----------------------------------------------------------------------------------------------

local sources, joined, turns_max, join, take_turns, end_turns = {}, 0, nil, nil, nil, nil
-- In the ring, with empty lines: their tasks were cancelled.
local spent = {}

if grouped and want > 0 then
    turns_max = max(1, TURNS_MAX - freed - (weighted and 6 or 0))
    want = min(want, math.ceil(turns_max / (weighted and CLASSES or 1)))
    local function text_of(number)
        return format('%.0f', number)
    end

    local function group_of(value)
        local size, at = match(value, '^%d %d+ %d+ (%d+):()')
        local group = size and string.sub(value, at, at + size - 1) or ''
        return string.find(group, '%z') and '' or group
    end

    local function last_turn(class)
        local last = call('ZREVRANGEBYSCORE', ring_key, text_of((class + 1) * TURNS - 1),
                          text_of(class * TURNS), 'WITHSCORES', 'LIMIT', '0', '1')
        return tonumber(last[2] or class * TURNS)
    end

    -- Tasks of a class that are due go where those that are ready wait, by the time when they were due.
    join = function(class)
        if joined == JOIN_MAX then return end
        local found =
            call('ZRANGEBYSCORE', KEYS[13 + class], '-inf', now_text, 'WITHSCORES', 'LIMIT', '0',
                 JOIN_MAX - joined)
        if #found == 0 then return end
        local due, lines, ready, states, turns, known = {}, {}, {}, {}, {}, {}
        for i = 1, #found, 2 do due[#due + 1] = found[i] end
        local values, marks = {}, call('HMGET', mark_key, unpack(due))
        local turn = last_turn(class)
        check_types()
        for i = 1, #due do
            if before > bytes / 2 and joined > 0 then
                for k = #due, i, -1 do due[k] = nil end
                break
            end
            read(values, due, i)
            local id, value = due[i], values[i]
            joined, before = joined + 1, before + (value and #value or 0)
            local made = marks[i] and match(marks[i], '^W (%d+ %d+)')
            if value and value ~= '' and (made or not marks[i]) then
                local group = group_of(value)
                local place = format('%016.0f000', found[2 * i])
                if group == '' then
                    ready[#ready + 1] = id
                    if made then append(states, id, 'R ' .. made .. ' - ') end
                else
                    append(lines, '0', class .. group .. '\0' .. place .. '\0' .. id)
                    append(states, id, 'R ' .. (made or '0 0') .. ' - ' .. place)
                    if not known[group] then
                        turn, known[group] = turn + 1, true
                        append(turns, text_of(turn), class .. group)
                    end
                end
                -- else: its place is left over from something torn by hand
            end
        end
        add_all('ZREM', KEYS[13 + class], due)
        add_all('ZADD', line_key, lines)
        if #turns > 0 then call('ZADD', ring_key, 'NX', unpack(turns)) end
        add_all('RPUSH', KEYS[9 + class], ready)
        add_all('HSET', mark_key, states)
    end

    -- The next `count` of a group's line, and whether there are more.
    local function look_ahead(source, group, count)
        local list
        if group.name == '' then
            list = call('LRANGE', source.key, group.seen, group.seen + count)
        else
            list = call('ZRANGEBYLEX', line_key, '(' .. group.behind, '(' .. group.member .. '\1', 'LIMIT',
                        '0', count + 1)
        end
        group.more = #list > count
        if group.more then list[#list] = nil end
        group.list, group.at, group.seen = list, 0, group.seen + #list
        group.behind = list[#list]
    end

    -- The first `count` tasks of a class as the groups take turns, beginning with the one that waits longest.
    -- If there are more groups than tasks, none gets a second one.
    take_turns = function(class, count)
        local order = call('ZRANGEBYSCORE', ring_key, text_of(class * TURNS),
                           text_of((class + 1) * TURNS - 1), 'LIMIT', '0', count)
        local all = #order < count
        local source = {class = class, key = KEYS[9 + class], state = 'R', ids = {}, used = 0}
        -- Of the ids.
        source.groups, source.members = {}, {}
        if call('LLEN', source.key) > 0 and not call('ZSCORE', ring_key, class .. '') then
            -- Those without a group.
            source.joins = true
            if all then order[#order + 1] = class .. '' end
        end
        local rest = #order
        local last = all and math.huge or rest
        for i = 1, rest do
            local member = order[i]
            order[i] = {name = string.sub(member, 2), member = member, behind = member .. '\0', list = {},
                        at = 0, seen = 0, used = 0, more = true}
        end
        local at, found = 1, 0
        while found < count and order[at] and at <= last do
            local group = order[at]
            at = at + 1
            if group.at == #group.list and group.more then
                look_ahead(source, group, math.ceil((count - found) / rest))
            end
            if group.at < #group.list then
                group.at, found = group.at + 1, found + 1
                local member = group.list[group.at]
                source.ids[found] = group.name == '' and member or string.sub(member, #group.member + 22)
                source.members[found], source.groups[found] = group.name ~= '' and member, group
                order[#order + 1] = group
            else
                rest = rest - 1
                if group.seen == 0 then spent[#spent + 1] = group.member end
            end
        end
        if found > 0 then sources[#sources + 1] = source end
        return found
    end

    -- Those who had their turn go to the end of the ring, in the order of their turns.
    end_turns = function(source)
        local out, turns, leave, ready = {}, {}, {}, 0
        for i = 1, source.used do
            local group = source.groups[i]
            if source.members[i] then out[#out + 1] = source.members[i] else ready = ready + 1 end
            group.used, group.last = group.used + 1, i
        end
        local turn = last_turn(source.class)
        if source.joins and ready == 0 then
            turn = turn + 1
            append(turns, text_of(turn), source.class .. '')
        end
        for i = 1, source.used do
            local group = source.groups[i]
            if group.last == i and (group.used < group.seen or group.more) then
                turn = turn + 1
                append(turns, text_of(turn), group.member)
            elseif group.last == i then
                leave[#leave + 1] = group.member
            end
        end
        if ready > 0 then call('LTRIM', source.key, ready, '-1') end
        add_all('ZREM', line_key, out)
        add_all('ZREM', ring_key, leave)
        add_all('ZADD', ring_key, turns)
    end
end

-- ---- which ones -------------------------------------------------------------------------------------------

-- The first `count` of a class, as sources: where they are, and how many were taken of them.
local ids
local function gather(class, count)
    if grouped then
        join(class)
        return take_turns(class, max(1, min(count, turns_max - joined)))
    end
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
local function share_out()
    local function numbers(text)
        local list = {}
        for number in string.gmatch(text, '%S+') do list[#list + 1] = tonumber(number) end
        return list
    end
    weight, credit, left = numbers(ARGV[11]), numbers(control[3] or '0 0 0 0'), {0, 0, 0, 0}
    for i = 1, #sources do left[sources[i].class + 1] = left[sources[i].class + 1] + #sources[i].ids end
end

local function draw()
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
        share_out()
        for _ = 1, want do
            local class = draw()
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

if not ids and #spent > 0 then
    add_all('ZREM', ring_key, spent)
    return {sequence, 0, now, 0, lease, 0}
elseif not ids then
    local next_us = NEVER_US
    for i = 12, (plain or refusal) and 12 or 16 do
        local first = call('ZRANGE', i == 12 and lease_key or KEYS[i], '0', '0', 'WITHSCORES')[2]
        if first then next_us = min(next_us, max(tonumber(first) - now, 0)) end
    end
    if refusal == 2 then next_us = NEVER_US end
    if refusal == 4 then next_us = max(1, math.ceil(full_at - now - (burst - 1) * interval)) end
    -- Others know when to ask, or hear of it from their own tasks.
    if not refusal or refusal == 2 then
        call('ZREMRANGEBYSCORE', idle_key, '-inf', now_text)
        if ARGV[9] ~= '' then call('ZADD', idle_key, now + tonumber(ARGV[10]), ARGV[9]) end
    end
    if grouped and not refusal and
       call('EXISTS', lease_key, ring_key, line_key, KEYS[13], KEYS[14], KEYS[15], KEYS[16]) == 0 then
        -- The next push with a group says so again.
        call('HDEL', control_key, 'groups')
    end
    return {sequence, refusal or 1, now, 0, 0, next_us}
end

-- ---- each one looked at -----------------------------------------------------------------------------------

local values, marks = {}, call('HMGET', mark_key, unpack(ids))
local reply = {sequence, 0, now, 0, lease, 0}
local taken, attempts, void, seen = {}, {}, {}, {}
local fence, used, last, count, place = now, 0, #ids, 0, 6
local source = sources[1]
for i = 1, #ids do
    read(values, ids, i)
    local id, value, mark = ids[i], values[i], marks[i]
    if origin then source = origin[i] end
    local state, attempt, old_fence = nil, 0, 0
    if mark then state, attempt, old_fence = match(mark, '^(%u) (%d+) (%d+)') end
    if value == '' then
        void[#void + 1] = id
    elseif value and not seen[id] and (not mark or state == source.state) then
        attempt, seen[id] = attempt + 1, true
        if mark then fence = max(fence, old_fence + 1) end
        local told = attempt
        if #value > most or #id + #value + 2 > bytes then
            told, before, value = -attempt, before + #value, string.sub(value, 1, CUT)
        end
        local size = #id + #value + 2
        if used > 0 and used + before + size > bytes then
            last = i - 1
            -- It and those behind it stay where they are.
            break
        end
        used, count = used + size, count + 1
        taken[count] = id
        if mark then attempts[count] = attempt end
        reply[place + 1], reply[place + 2], reply[place + 3] = id, told, value
        place = place + 3
        -- else: its place is left over from something torn by hand
    end
    source.used = source.used + 1
end

-- ---- and handed out: all types are known by now -----------------------------------------------------------

for i = 1, #sources do
    source = sources[i]
    if source.groups then
        end_turns(source)
    elseif source.used > 0 and source.state == 'R' then
        call('LTRIM', source.key, source.used, '-1')
    elseif source.used > 0 then
        call('ZREM', source.key, unpack(source.ids, 1, source.used))
    end
end
add_all('HDEL', value_key, void)
add_all('ZREM', ring_key, spent)

local fence_text = format('%.0f', fence)
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
    if interval then call('HSET', control_key, 'bucket', format('%.3f', full_at + count * interval)) end
    call('HSET', receipt_key, worker,
         expiry .. ' ' .. ARGV[2] .. ' ' .. fence_text .. ' ' .. table.concat(taken, '\0'))
end
if weighted then
    -- Once more, for as many as were handed out.
    if not credit or last < #ids or last < want then
        share_out()
        for _ = 1, last do draw() end
    end
    call('HSET', control_key, 'credit', format('%.9f %.9f %.9f %.9f', unpack(credit)))
end
-- Workers that are gone leave their receipts behind.
if sequence % 16 == 0 then
    local sample = call('HRANDFIELD', receipt_key, 2, 'WITHVALUES')
    for i = 1, #sample, 2 do
        if tonumber(match(sample[i + 1], '^%d+')) < now then call('HDEL', receipt_key, sample[i]) end
    end
end
reply[4] = fence
return reply
