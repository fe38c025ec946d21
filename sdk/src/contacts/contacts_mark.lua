-- contacts_mark: what a client did last to an owner's contacts, and whose mark makes room for a new client's.
--
-- wants mark_key; client, sequence; time
-- gives minute   for the new mark
--       past     sequence of its last change, or -1: as large as this one is the same again, larger is later
--       leaver   the client that wrote longest ago, if a ninth comes

local WRITERS_MAX = 8

local minute = math.floor(time[1] / 60) % 64
local mark, past, leaver = redis.call('HGET', mark_key, client), -1, nil
if mark then
    past = math.floor((tonumber(mark) or -64) / 64)
    if past < 0 then
        return redis.error_reply('CORRUPT contacts mark is not of the form that KEYS.md describes')
    end
elseif redis.call('HLEN', mark_key) >= WRITERS_MAX then
    local oldest, marks = -1, redis.call('HGETALL', mark_key)
    for i = 1, #marks, 2 do
        local age = (minute - (tonumber(marks[i + 1]) or 0)) % 64
        if age > oldest then
            oldest, leaver = age, marks[i]
        end
    end
end
