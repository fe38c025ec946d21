-- semaphore_refresh: the leases of many permits begin anew, those of one client of one semaphore together. A
-- permit that is gone is never made again, and no lease gets shorter, so repeating it is harmless.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h   see semaphore_acquire.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 lease us
--       3 ...       members of :h, "<token> <permits>"; at most 100
-- reply in one text: sequence, now us, letters text
--       letters "1" renewed  its lease is whole again
--               "0" lost     it was over or is not there
-- moving  nothing is removed
--
-- Begins with PEXPIRE, which a server that is out of memory still allows: a full store must not cost leases.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local scores = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 3))
local expiry = now + ARGV[2]
expiry = string.format('%.0f', expiry + 1 - expiry % 2) -- odd: no fence is found by it
local letters, longer = {}, {}
for i = 1, #scores do
    local score = scores[i] and tonumber(scores[i])
    if score and score > now and score < 9007199254740992 then
        letters[i] = '1'
        longer[#longer + 1] = expiry
        longer[#longer + 1] = ARGV[2 + i]
    else
        letters[i] = '0'
    end
end
if #longer > 0 then
    local left = redis.call('PTTL', KEYS[1])
    if left >= 0 and left < 7200000 then -- twice the longest lease; longer when the limit was set
        redis.call('PEXPIRE', KEYS[1], '7200000')
    end
    redis.call('PEXPIRE', KEYS[2], '7200000')
    redis.call('ZADD', KEYS[2], 'XX', 'GT', unpack(longer))
end
return ARGV[1] .. ' ' .. time[1] .. string.sub('00000' .. time[2], -6) .. ' ' .. table.concat(letters)
