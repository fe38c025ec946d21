-- wake: tells those who sleep that there is something to take, one for each task.
--
-- wants i_key, now, ready_count; hint of client/hint.lua
-- gives nothing. Comes last, and errors are ignored: without the right to publish sleepers find out by asking

if ready_count > 0 then
    local sleepers = redis.pcall('ZPOPMIN', i_key, math.min(ready_count, 16))
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then hint(sleepers[i], '') end
    end
end
