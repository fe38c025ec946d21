-- tasks_count: how many tasks are where. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :l   3 :x   4 :t   5 :c   6..9 :r0 .. :r3   10..13 :d0 .. :d3   see
--       tasks_push.lua and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
-- reply sequence, now us, stored, handed out, handed out but past the lease, dead, over and remembered, paused
--       (1 or 0), running_max (0: no limit), ready in the classes 0 to 3 (those that were cancelled meanwhile included), delayed in the
--       classes 0 to 3

local time = redis.call('TIME')
local control = redis.call('HMGET', KEYS[5], 'paused', 'running_max')
local now = time[1] * 1000000 + time[2]
local reply = {tonumber(ARGV[1]), now, redis.call('HLEN', KEYS[1])}
reply[5] = redis.call('ZCOUNT', KEYS[2], '-inf', now)
reply[4] = redis.call('ZCARD', KEYS[2]) - reply[5]
for i = 3, 4 do reply[#reply + 1] = redis.call('ZCARD', KEYS[i]) end
reply[#reply + 1] = control[1] and 1 or 0
reply[#reply + 1] = tonumber(control[2] or 0)
for i = 6, 9 do reply[#reply + 1] = redis.call('LLEN', KEYS[i]) end
for i = 10, 13 do reply[#reply + 1] = redis.call('ZCARD', KEYS[i]) end
return reply
