-- tasks_control: whether a queue hands out tasks, how many may run at once, and how fast they may come.
--
-- KEYS  1 gh:{tasks:<queue>}:c   hash   see tasks_take.lua
--       2 gh:{tasks:<queue>}:i   zset   see tasks_push.lua
--       3 gh:{tasks:<queue>}:w   hash   see tasks_take.lua; besides, "<client>:<sequence>o" -> "<written us>
--                                       <receipt us> <codes>": what other copies are answered
-- ARGV  1 token        "<client>:<sequence>" of the op
--       2 sequence     comes back as the first element of the reply
--       3 not after    us of the store's clock; later, nothing is done; 0: no limit
--       4 receipt us   how long a copy of this request may be sent or under way
--       5 paused       1 or 0
--       6 running_max  tasks that may be handed out at once in all; 0: no limit
--       7 rate         "<count> <period us> <burst>": hand-outs in each period, and how many may come at once
--                      after a pause; empty: no limit
-- reply as tasks/once.lua
-- hint  as tasks_push.lua, when it is not paused
--
-- A copy of what was done does nothing: others may have set other rules since. What has been used of a burst stays
-- used. All rules are set by one command. Begins with HDEL, which a server that is out of memory still allows.

local call = redis.call
local c_key, i_key, w_key = KEYS[1], KEYS[2], KEYS[3]
local token, sequence, not_after, receipt_us = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

--@ client/check.lua
--@ tasks/over.lua
--@ tasks/once.lua

if ARGV[5] == '0' and ARGV[6] == '0' and ARGV[7] == '' then
    call('HDEL', c_key, 'paused', 'running_max', 'rate', 'bucket')
else
    call('HDEL', c_key, '')
    call('HSET', c_key, 'paused', ARGV[5], 'running_max', ARGV[6], 'rate', ARGV[7])
    if ARGV[7] == '' then call('HDEL', c_key, 'bucket') end
end
keep_receipt('o')
local ready_count = ARGV[5] == '0' and 16 or 0
--@ client/hint.lua
--@ tasks/wake.lua
return sequence .. ' ' .. now_text .. ' o'
