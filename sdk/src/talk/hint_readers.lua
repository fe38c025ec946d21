-- hint_readers: wakes readers that wait, each at most once. Last in its script, and errors ignored: a hint is
-- a convenience, and who gets none finds out by asking.
--
-- wants hint_key   zset, "<client>:<sequence>" -> until when (us)
--       now

local waiting = redis.pcall('ZPOPMIN', hint_key, 16)
for i = 1, #waiting, 2 do
    if tonumber(waiting[i + 1]) > now then
        local channel = string.match(hint_key, '^([^{]*)') .. 'wake:' .. string.sub(waiting[i], 1, 16)
        redis.pcall('PUBLISH', channel, string.sub(waiting[i], 18))
    end
end
