-- hint_readers: wakes readers that wait, each at most once. Last in its script, and errors ignored: a hint is
-- a convenience, and who gets none finds out by asking.
--
-- wants hint_key   zset, "<client>:<sequence>" -> until when (us)
--       now; hint of client/hint.lua

local waiting = redis.pcall('ZPOPMIN', hint_key, 16)
for i = 1, #waiting, 2 do
    if tonumber(waiting[i + 1]) > now then
        hint(waiting[i], '')
    end
end
