-- rows_keep: who has scheduled or unscheduled a row, and was set over.
--
-- wants what rows/rows_change.lua and client/setters.lua give
-- gives keep(new_by, new_had)  writes to KEYS[3] who they are from now on, and who else there was

local GONE_MS = '1200000'
local GONE_US = 600000000 -- longer than any client repeats a request

set_over(had, tonumber(us))
set_over(by, tonumber(us))

local function keep(new_by, new_had)
    local is_new = redis.call('HSET', KEYS[3], row, new_by .. ' ' .. now_text .. ' ' .. new_had .. past_text()) == 1
    redis.call('PEXPIRE', KEYS[3], GONE_MS)
    if not is_new and now % 4 > 0 then
        return
    end
    local some = redis.call('HRANDFIELD', KEYS[3], 4, 'WITHVALUES')
    for i = 1, #some, 2 do
        if (tonumber(string.match(some[i + 1], '^%S+ (%d+) ')) or 0) + GONE_US < now then
            redis.call('HDEL', KEYS[3], some[i])
        end
    end
end
