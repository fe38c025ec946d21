-- take_nothing: what is answered when nothing is handed out.
--
-- wants call, min, max, add_all, spent, joined, plain, soonest, refusal, short, need, burst, interval,
--       full_at, now, now_text
-- gives reply
--
-- A part of tasks_take.lua.

if #spent > 0 or joined > 0 then
    add_all('ZREM', g_key, spent) -- and ask again at once
else
    local next_us = NEVER_US
    for i = 11, (plain or refusal) and 11 or 15 do
        -- What is due already, and held back, will not be due again.
        local first = i == 11 and soonest or
                      i > 11 and short and
                      call('ZRANGEBYSCORE', KEYS[i], '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')[2] or
                      i > 11 and not short and call('ZRANGE', KEYS[i], '0', '0', 'WITHSCORES')[2]
        if first then next_us = min(next_us, max(tonumber(first) - now, 0)) end
    end
    if refusal == 2 then next_us = NEVER_US end
    if refusal == 4 then next_us = max(1, math.ceil(full_at - now - (burst - need) * interval)) end
    -- The bucket never holds so many.
    if refusal == 4 and burst < need then next_us = NEVER_US end
    reply[2], reply[5], reply[6] = refusal or 1, 0, next_us
    -- Others know when to ask, or hear of it from their own tasks.
    if not refusal or refusal == 2 then
        add_all('ZREM', i_key, call('ZRANGEBYSCORE', i_key, '-inf', now_text, 'LIMIT', '0', '8'))
        if ARGV[8] ~= '' then
            call('ZADD', i_key, now + 250000, ARGV[8])
            call('PEXPIRE', i_key, '10000')
        end
    end
end
