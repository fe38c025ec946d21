-- take_turns: in a queue with groups, whose turn it is, and what is in their lines.
--
-- wants call, match, sub, min, max, append, add_all, read, sources, spent, want, missing, bytes, before, joined,
--       weighted
-- gives broken                    a state is not of its form
--       turns_max                 tasks that may be handed out
--       join(class)               tasks that are due go to the lines
--       take_turns(class, count)  adds a source, as the groups take turns; how many tasks it has, or `missing`: there
--                                 may be more of them
--       end_turns(source)         those that had their turn go to the end of the ring
--       hold_turns(source)        nobody had a turn; the tasks without a group begin to wait for theirs
--
-- A part of tasks_take.lua, whose head says in which order it writes.

-- By weight fewer, because more are looked at: so many of each class.
turns_max = weighted and 18 or 30
want = min(want, weighted and 6 or 30)
local function text_of(number)
    return format('%.0f', number)
end

local function group_of(value)
    local size, at = match(value, '^%d %d+ %d+ (%d+):()')
    local group = size and sub(value, at, at + size - 1) or ''
    return string.find(group, '%z') and '' or group
end

local function last_turn(class)
    local first = class * TURNS
    local last = call('ZREVRANGEBYSCORE', g_key, text_of(first + TURNS - 1), text_of(first), 'WITHSCORES', 'LIMIT', '0',
                      '1')
    return min(tonumber(last[2] or first), first + TURNS - 1000)
end

-- Tasks of a class that are due go where those that are ready wait, by the time when they were due: 12 at most, because
-- each is a task less that is handed out.
join = function(class)
    local due, scores = {}, {}
    local found = joined < 12 and
                  call('ZRANGEBYSCORE', KEYS[12 + class], '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', 12 - joined)
    for i = 1, found and #found or 0, 2 do append(due, found[i]) append(scores, found[i + 1]) end
    if #due == 0 then return end
    local lines, ready, states, turns, moved = {}, {}, {}, {}, 0
    local values, marks, turn = {}, call('HMGET', m_key, unpack(due)), last_turn(class)
    for i = 1, #due do
        if before > bytes / 2 and moved > 0 then break end
        read(values, due, i)
        local id, value = due[i], values[i]
        joined, moved, before = joined + 1, i, before + (value and #value or 0)
        local state, attempt, fence = match(marks[i] or 'W 0 0 ', MARK)
        broken = broken or not state
        if value and state == 'W' then
            local group, made = group_of(value), 'R ' .. attempt .. ' ' .. fence .. ' - '
            local place = format('%016.0f000', min(max(tonumber(scores[i]), 0), now))
            if group == '' then
                append(ready, id)
                if marks[i] then append(states, id, made) end
            else
                turn = turn + 1
                append(lines, '0', class .. group .. '\0' .. place .. '\0' .. id)
                append(states, id, made .. place)
                append(turns, text_of(turn), class .. group)
            end
            -- else: its place is left over
        end
    end
    if broken then return end
    call('LLEN', KEYS[8 + class])
    call('ZCARD', q_key)
    call('PERSIST', m_key)
    add_all('ZADD', q_key, lines)
    if #turns > 0 then call('ZADD', g_key, 'NX', unpack(turns)) end
    add_all('RPUSH', KEYS[8 + class], ready)
    add_all('HSET', m_key, states)
    call('ZREM', KEYS[12 + class], unpack(due, 1, moved))
end

-- The next `count` of a group's line, and whether there are more.
local function look_ahead(source, group, count)
    local list = group.nobody and call('LRANGE', source.key, group.seen, group.seen + count) or
                 call('ZRANGEBYLEX', q_key, '(' .. group.behind, '(' .. group.member .. '\1', 'LIMIT', '0', count + 1)
    group.more = #list > count
    if group.more then list[#list] = nil end
    group.list, group.at, group.seen = list, 0, group.seen + #list
    group.behind = list[#list]
end

-- The first `count` tasks of a class as the groups take turns, beginning with the one that waits longest.
-- If there are more groups than tasks, none gets a second one. One that looks on looks at more groups, as all of the
-- first ones may be spent: at 48 at most, each of which costs nearly ten us.
take_turns = function(class, count)
    local ring = weighted and count or max(count, min(missing, 48) - #spent)
    local order = call('ZRANGEBYSCORE', g_key, text_of(class * TURNS), text_of((class + 1) * TURNS - 1), 'LIMIT', '0',
                       ring)
    local all = #order < ring
    local source = {class = class, key = KEYS[8 + class], state = 'R', ids = {}, groups = {}, members = {}, used = 0}
    if call('LLEN', source.key) > 0 and not call('ZSCORE', g_key, class .. '') then
        -- Those without a group.
        source.joins = true
        if all then order[#order + 1] = class .. '' end
    end
    local rest = #order
    local last = all and TURNS or rest
    for i = 1, rest do
        local member = order[i]
        order[i] = {member = member, nobody = #member == 1, behind = member .. '\0', list = {}, at = 0, seen = 0,
                    used = 0, more = true}
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
            source.ids[found] = group.nobody and member or sub(member, #group.member + 22)
            source.members[found], source.groups[found] = member, group
            order[#order + 1] = group
        else
            rest = rest - 1
            if group.seen == 0 then append(spent, group.member) end
        end
    end
    if found > 0 then append(sources, source) end
    return all and found < count and found or missing
end

-- Those who had their turn go to the end of the ring, in the order of their turns.
end_turns = function(source)
    local out, turns, ready = {LONG}, {}, 0 -- tasks_push.lua may have left that there
    for i = 1, source.used do
        local group = source.groups[i]
        if group.nobody then ready = ready + 1 else append(out, source.members[i]) end
        group.used, group.last = group.used + 1, i
    end
    local turn = last_turn(source.class)
    if source.joins and ready == 0 then
        turn = turn + 1
        append(turns, text_of(turn), source.class .. '')
    end
    for i = 1, source.used do
        local group = source.groups[i]
        if group.last == i then
            if group.used < group.seen or group.more then
                turn = turn + 1
                append(turns, text_of(turn), group.member)
            else
                append(spent, group.member)
            end
        end
    end
    if ready > 0 then call('LTRIM', source.key, ready, '-1') end
    call('ZREM', q_key, unpack(out))
    add_all('ZADD', g_key, turns)
end

hold_turns = function(source)
    call('ZADD', g_key, 'NX', text_of(last_turn(source.class) + 1), source.class .. '')
end
