-- take_hand_out: each of the tasks that were found is looked at, and handed out if it is ready.
--
-- wants call, match, sub, format, append, add_all, read, MARK, CUT, LONG, ids, origin, sources, spent, end_turns,
--       deal, credit, soonest, interval, full_at, lease, bytes, most, before, weighted, want, missing
-- gives reply, taken, fence_text, count
--
-- A part of tasks_take.lua, whose head says in which order it writes.

local values, marks = {}, call('HMGET', m_key, unpack(ids))
local attempts, seen, states, some_marked = {}, {}, {}
local fence, used, last, place = now, 0, #ids, 6
local source = sources[1]
for i = 1, #ids do
    read(values, ids, i)
    local id, value, mark = ids[i], values[i], marks[i]
    if origin then source = origin[i] end
    local state, attempt, old_fence = source.state, 0, 0
    if mark then
        state, attempt, old_fence = match(mark, MARK)
        attempt, old_fence = tonumber(attempt), tonumber(old_fence)
        if not state or old_fence >= WHOLE_MAX then return corrupt('a state') end
        some_marked = true
        -- The place that it had left in its list: the id may be used again.
        if state == 'V' then append(states, id, 'C' .. sub(mark, 2)) end
    end
    if value and not seen[id] and state == source.state and #id <= 64 then
        attempt, seen[id] = attempt + 1, true
        if old_fence >= fence then fence = old_fence + 1 end
        local told = attempt
        if #value > most or #id + #value + 2 > bytes then
            told, before, value = -attempt, before + #value, sub(value, 1, CUT)
        end
        local size = #id + #value + 2
        if count == want or used > 0 and used + before + size > bytes then
            last = i - 1
            -- It and those behind it stay where they are.
            break
        end
        used, count = used + size, count + 1
        taken[count] = id
        if mark then attempts[count] = attempt end
        reply[place + 1], reply[place + 2], reply[place + 3] = id, told, value
        place = place + 3
    elseif value then
        before = before + #value
    end
    -- If it was not handed out, its place is left over.
    source.used = source.used + 1
    -- So many bytes were read and not handed out: the rest is for the next take.
    if before > bytes then
        last = i
        break
    end
end

-- All types are known by now.

call('PERSIST', m_key) -- from now on it says how a task stands that is not over
if count > 0 then
    fence_text = fence == now and now_text or format('%.0f', fence)
    local behind = ' ' .. fence_text .. ' ' .. worker
    local first, expiry = 'L 1' .. behind, format('%.0f', now + lease)
    local leases, at_state = {}, #states
    for i = 1, count do
        local id, attempt = taken[i], attempts[i]
        local k = i + i
        leases[k - 1], leases[k] = expiry, id
        states[at_state + k - 1], states[at_state + k] = id, attempt and 'L ' .. attempt .. behind or first
    end
    if soonest then
        call('ZADD', l_key, unpack(leases))
    else
        call('ZADD', l_key, 0, LONG, unpack(leases))
        call('ZREM', l_key, LONG)
    end
end
if count > 0 and not some_marked and call('HLEN', m_key) == 0 then
    call('HSET', m_key, '', LONG, unpack(states))
    call('HDEL', m_key, '')
else
    add_all('HSET', m_key, states)
end
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
add_all('ZREM', g_key, spent)
if weighted then
    -- Once more, for as many as were handed out.
    if not credit or last < missing then deal(last) end
    call('HSET', c_key, 'credit', format('%.9f %.9f %.9f %.9f', unpack(credit)))
end
if interval then call('HSET', c_key, 'bucket', format('%.3f', full_at + count * interval)) end
reply[4] = fence
