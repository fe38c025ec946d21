-- tasks_control: whether a queue hands out tasks, how many may run at once, and how fast they may come.
--
-- KEYS  1 gh:{tasks:<queue>}:c   hash   see tasks_take.lua
--       2 gh:{tasks:<queue>}:i   zset   see tasks_push.lua
-- ARGV  1 sequence     comes back as the first element of the reply
--       2 paused       1 or 0
--       3 running_max  tasks that may be handed out at once in all; 0: no limit
--       4 rate         "<count> <period us> <burst>": hand-outs in each period, and how many may come at once
--                      after a pause; empty: no limit
-- reply sequence, now us
-- hint  as tasks_push.lua, when it is not paused
--
-- A repeat sets the same again; what has been used of a burst stays used. Begins with HDEL, which a server
-- that is out of memory still allows.

local HINTS_MAX = 16

local control_key, idle_key = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

redis.call('HDEL', control_key, 'paused', 'running_max', 'rate')
if ARGV[2] == '1' then redis.call('HSET', control_key, 'paused', '1') end
if ARGV[3] ~= '0' then redis.call('HSET', control_key, 'running_max', ARGV[3]) end
if ARGV[4] ~= '' then
    redis.call('HSET', control_key, 'rate', ARGV[4])
else
    redis.call('HDEL', control_key, 'bucket')
end

if ARGV[2] ~= '1' then
    -- Last, and errors ignored: without the right to publish sleepers find out by asking.
    local sleepers = redis.pcall('ZPOPMIN', idle_key, HINTS_MAX)
    for i = 1, #sleepers, 2 do
        if tonumber(sleepers[i + 1]) > now then
            local channel = string.match(idle_key, '^([^{]*)') .. 'wake:' .. string.sub(sleepers[i], 1, 16)
            redis.pcall('PUBLISH', channel, string.sub(sleepers[i], 18))
        end
    end
end
return {tonumber(ARGV[1]), now}
