-- aggregate_read: the largest totals of a day, from a place in their order on. Writes nothing.
--
-- KEYS  1 gh:{daily:<set>.<day>}:0, :1 or :2   see aggregate_add.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 first     place, from 0
--       3 last      at most 250 more
-- reply sequence, then for each: "country\tregion\tcity", how many, in decimal

local reply = redis.call('ZREVRANGE', KEYS[1], ARGV[2], ARGV[3], 'WITHSCORES')
table.insert(reply, 1, tonumber(ARGV[1]))
return reply
