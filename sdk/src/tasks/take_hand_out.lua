-- take_hand_out: what was chosen is handed out.
--
-- wants call, format, add_all, LONG, sources, spent, end_turns, deal, credit, soonest, interval, full_at, lease,
--       weighted, missing, and what take_choose gives
-- gives reply, fence_text
--
-- A part of tasks_take.lua, whose head says in which order it writes. All types are known by now.

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
