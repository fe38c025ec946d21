-- aggregate_read: the largest totals of a day, from a place in their order on. Writes nothing.
--
-- KEYS  1 gh:{daily:<set>.<day>}:0, :1 or :2   see aggregate_add.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 first     place, from 0
--       3 last      at most 250 more
-- reply sequence, totals ...
--       of each "country\tregion\tcity", and how many, in decimal
-- Redis 6.2 or later.

local PLACE_MAX = 400
local PAGE_MAX = 250

--@ client/check.lua

local first = tonumber(ARGV[2])
local last = math.min(tonumber(ARGV[3]), first + PAGE_MAX)
local reply = redis.call('ZREVRANGE', KEYS[1], string.format('%.0f', first), string.format('%.0f', last), 'WITHSCORES')
for i = 1, #reply, 2 do
    if #reply[i] > PLACE_MAX or not whole(reply[i + 1]) then
        return corrupt('total of a day')
    end
end
table.insert(reply, 1, tonumber(ARGV[1]))
return reply
