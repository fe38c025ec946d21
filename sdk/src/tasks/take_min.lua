-- take_min: whether so few tasks wait that those that have to come together cannot be there. Counting them costs the
-- same however many there are; reading them would not.
--
-- wants call, plain, grouped, need, q_key, now_text
-- gives short
--
-- A part of tasks_take.lua.

local there = grouped and call('ZCARD', q_key) or 0
for class = 0, 3 do
    there = there + call('LLEN', KEYS[8 + class])
    if not plain then there = there + call('ZCOUNT', KEYS[12 + class], '-inf', now_text) end
end
short = there < need
