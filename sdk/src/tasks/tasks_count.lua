-- tasks_count: how many tasks are where. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :l   3 :x   4 :t   5 :c   6..9 :r0 .. :r3   10..13 :d0 .. :d3   14 :q
--       15 :g   see tasks_push.lua and tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
-- reply sequence, now us, stored, running, lapsed, dead, over, paused, running max, rate count, rate period us,
--       rate burst, ready 0, delayed 0, groups 0, ready 1, delayed 1, groups 1, ready 2, delayed 2, groups 2, ready 3,
--       delayed 3, groups 3
--       running: handed out; lapsed: of those, past the lease; over: and remembered
--       paused: 1 or 0; running max, rate: 0: no limit
--       ready: of a class, those in a list that were cancelled meanwhile included; groups: in the ring

local CLASSES = 4
local TURNS = 1125899906842624 -- 2^50: see :g in tasks_push.lua

--@ client/check.lua

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local control = redis.call('HMGET', KEYS[5], 'paused', 'running_max', 'rate')
local limit, rate = whole(control[2] or '0', 100000000), control[3] or ''
local count, period, burst = string.match(rate == '' and '0 0 0' or rate, '^(%d+) (%d+) (%d+)$')
count, period, burst = whole(count, 1000000), whole(period, 86400000000), whole(burst, 1000000)
if not limit or not count or not period or not burst then return corrupt('what is said of the queue') end

local leased = redis.call('ZCARD', KEYS[2])
local expired = redis.call('ZCOUNT', KEYS[2], '-inf', now)
local reply = {tonumber(ARGV[1]), now, redis.call('HLEN', KEYS[1]), leased - expired, expired,
               redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4]),
               control[1] and control[1] ~= '0' and 1 or 0, limit, count, period, burst}
local groups = redis.call('ZCARD', KEYS[15])
for class = 0, CLASSES - 1 do
    local ready, waiting = redis.call('LLEN', KEYS[6 + class]), 0
    if groups > 0 then
        ready = ready + redis.call('ZLEXCOUNT', KEYS[14], '[' .. class, '(' .. class + 1)
        waiting = redis.call('ZCOUNT', KEYS[15], string.format('%.0f', class * TURNS),
                             string.format('%.0f', (class + 1) * TURNS - 1))
    end
    reply[#reply + 1] = ready
    reply[#reply + 1] = redis.call('ZCARD', KEYS[10 + class])
    reply[#reply + 1] = waiting
end
return reply
