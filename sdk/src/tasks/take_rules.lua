-- take_rules: whether a queue hands out tasks now, and how many.
--
-- wants call, match, min, max, whole, corrupt, control, weighted, want, need, l_key, now, now_text
-- gives refusal   a code of the reply, if nothing is to be handed out
--       want, interval, burst, full_at
--       credits   by how many tasks each class is behind its share
--
-- A part of tasks_take.lua.

limit = whole(control[2] or '0')
if not limit then return corrupt('running_max') end
if control[1] and control[1] ~= '0' then
    refusal = 2
elseif (control[5] or '') ~= '' then
    -- A bucket of `burst` hand-outs; one more flows in each interval.
    local rate_count, period, size = match(control[5], '^(%d+) (%d+) (%d+)$')
    local bucket = match(control[6] or '0', '^%d+%.?%d*$')
    interval, burst = (whole(period) or 0) / (whole(rate_count) or 0), whole(size)
    if not (bucket and burst and interval > 0 and interval < NEVER_US) then return corrupt('the rate') end
    full_at = min(max(tonumber(bucket), now), now + burst * interval)
    want = min(want, math.floor(burst - (full_at - now) / interval + 0.000001))
    if want < need then refusal = 4 end
end
if limit > 0 and not refusal then
    want = min(want, limit - call('ZCOUNT', l_key, '(' .. now_text, '+inf'))
    if want < need then refusal = 5 end
end
