-- tasks_renew: the leases of tasks that are still being worked on begin anew.
--
-- KEYS  1 gh:{tasks:<queue>}:m   2 :l   see tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 lease us
--       3, 4 ...    n ids, then n receipts "<attempt> <fence> <worker>"
-- reply in one text: sequence, now us, codes text
--       codes: one letter a task
--       codes "o" renewed
--             "c" cancelled  renewed, and somebody wants it cancelled
--             "l" lost       not the current hand-out
-- moving  nothing is removed: no id is empty
--
-- A repeat renews once more, and a lease never gets shorter. A late copy renews what is still the same hand-out, once:
-- the task of a worker that is gone comes back a lease later. Harmless.
-- Begins with ZREM, which a server that is out of memory still allows: a full store must not cost leases.

local m_key, l_key = KEYS[1], KEYS[2]
local lease, count = tonumber(ARGV[2]), (#ARGV - 2) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local marks = redis.call('HMGET', m_key, unpack(ARGV, 3, 2 + count))
local codes, leases = {}, {}
for i = 1, count do
    local state = marks[i] and string.sub(marks[i], 3) == ARGV[2 + count + i] and string.sub(marks[i], 1, 1)
    if state == 'L' or state == 'K' then
        codes[i] = state == 'L' and 'o' or 'c'
        leases[#leases + 1] = now + lease
        leases[#leases + 1] = ARGV[2 + i]
    else
        codes[i] = 'l'
    end
end
if #leases > 0 then
    redis.call('ZREM', l_key, '')
    redis.call('ZADD', l_key, 'GT', unpack(leases))
end
return ARGV[1] .. ' ' .. time[1] .. string.sub('00000' .. time[2], -6) .. ' ' .. table.concat(codes)
