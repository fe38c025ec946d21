-- files_seal: lets the readers begin, and seals a file that is whole. Repeating it is harmless: what is
-- sealed with the same digest is sealed, and leases that run are left alone.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:c, 3 gh:{file:<name>}:o, 4 gh:{file:<name>}:e
--       see files_open.lua
-- ARGV  1 token     of the sender
--       2 sequence  comes back as the first element of the reply
--       3 seal      1: seal; 0: let the readers begin, the rest is still to come
--       4 bytes     of the whole file (of no meaning without sealing)
--       5 digest    XXH3-128 of the whole file, 32 hex digits (the same)
-- reply in one text: sequence, code
--       code 0 done     now or before
--            2 early    bytes that were stored are not there any more, the store went back
--            3 taken    another sender writes this file
--            4 gone     no such file
--            5 differs  other bytes are stored, or it was sealed with another digest
-- Leases and times to live come before what they are for, so that a seal that was stopped does no harm.
--@ client/check.lua
--@ files/files_still.lua

local READERS_MAX = 64
local LEASE_MIN = 1000000
local LEASE_MAX = 86400000000
local STILL_MAX = 604800000000

local state = redis.call('HMGET', KEYS[1], 'w', 'b', 'p', 'z', 'v', 'l', 't', 'g', 'n')
local lease, still = whole(state[6], LEASE_MAX), whole(state[7], STILL_MAX)
if state[4] then
    return ARGV[2] .. ((ARGV[3] == '0' or (state[4] == ARGV[5] and state[2] == ARGV[4])) and ' 0' or ' 5')
elseif not state[1] or state[8] then
    return ARGV[2] .. ' 4'
elseif not (lease and lease >= LEASE_MIN and still and whole(state[2])) then
    return corrupt('file state')
elseif state[1] ~= ARGV[1] then
    return ARGV[2] .. ' 3'
elseif ARGV[3] == '1' and tonumber(state[2]) < tonumber(ARGV[4]) then
    return ARGV[2] .. ' 2'
elseif ARGV[3] == '1' and (state[2] ~= ARGV[4] or (state[3] and state[3] ~= ARGV[5])) then
    return ARGV[2] .. ' 5'
end

local readers = redis.call('ZRANGE', KEYS[3], 0, READERS_MAX)
if #readers > READERS_MAX then
    return corrupt('file readers')
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if not state[5] and #readers > 0 then -- leases begin when there is something to read
    local until_us, leases = string.format('%.0f', now + lease), {}
    for i = 1, #readers do
        leases[2 * i - 1], leases[2 * i] = until_us, readers[i]
    end
    redis.call('ZADD', KEYS[4], unpack(leases))
end
-- Until it is sealed, a file lives as long as its sender does; from then on, as long as its readers.
local ms = still_ms(still)
if ARGV[3] == '1' then
    local last = tonumber(redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')[2]) or now
    ms = math.floor(math.max(math.min(last - now, LEASE_MAX), 0) / 1000) + 1
end
for i = 1, 4 do
    if redis.call('PTTL', KEYS[i]) < ms then
        redis.call('PEXPIRE', KEYS[i], ms)
    end
end
if ARGV[3] == '1' then
    redis.call('HSET', KEYS[1], 'z', ARGV[5], 'v', '1')
else
    redis.call('HSET', KEYS[1], 'v', '1')
end
for i = 1, 4 do
    redis.call('PEXPIRE', KEYS[i], ms)
end
return ARGV[2] .. ' 0'
