-- take_hold: fewer are ready than have to come together, so none is handed out, and all of them stay where they are.
-- Places that are left over go: otherwise they would hide what is behind them for ever.
--
-- wants call, append, add_all, spent, joined, hold_turns, sources, sequence, now, need, and what take_choose gives
-- gives reply, taken, count   nothing is handed out
--       short                 nobody need ask again at once: no place has gone
--
-- A part of tasks_take.lua, whose head says in which order it writes.

local left_over = last - count
if left_over > 0 then
    call('PERSIST', m_key)
    add_all('HSET', m_key, states)
end
for i = 1, #sources do
    source = sources[i]
    local ready, members, out, listed, keep = source.ready or {}, source.members, {}, 0, {}
    for k = 1, source.used do
        if members and not source.groups[k].nobody then
            if not ready[k] then append(out, members[k]) end
        elseif source.state == 'R' then
            listed = listed + 1
            if ready[k] then append(keep, source.ids[k]) end
        elseif not ready[k] then
            append(out, source.ids[k])
        end
    end
    if #out > 0 then call('ZREM', members and q_key or source.key, unpack(out)) end
    -- Those that stay move up to the last of the places that were looked at, the last one first: each of them is always
    -- in the list. What is before them is left over then.
    if #keep < listed then
        for k = 0, #keep - 1 do call('LSET', source.key, listed - 1 - k, keep[#keep - k]) end
        call('LTRIM', source.key, listed - #keep, '-1')
    end
    if source.joins then hold_turns(source) end
end
reply, taken, count = {sequence, 0, now, 0, 0, 0}, {}, 0
if left_over == 0 and #spent == 0 and joined == 0 then
    short = true
    if does_not_fit then reply[2] = 8 end
else
    add_all('ZREM', g_key, spent)
end
