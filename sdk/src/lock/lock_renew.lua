-- lock_renew: the owner's lease begins anew. A lock that is gone is never made again.
--
-- KEYS  1 gh:{lock:<name>}:s   see lock_acquire.lua
-- ARGV  1 token
--       2 sequence  comes back as the first element of the reply
--       3 lease us
-- reply in one text: sequence, code, fence, remaining us, now us
--       code 0 renewed
--            1 lost     it is free, another's, or its lease was over
-- moving  nothing is removed
--
-- Begins with PEXPIRE, which a server that is out of memory still allows: a full store must not cost leases.

local IDLE_MS = 3600000

local token, lease = ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local stored = redis.call('GET', KEYS[1])
if not stored then
    return string.format('%s 1 0 0 %.0f', ARGV[2], now)
end
local owner, fence, expiry, state, rest = string.match(stored, '^(%S+) (%d+) (%d+) ([hrf])( %d+[ %x:*]*)$')
if not owner or #fence > 16 or #expiry > 16 then
    return redis.error_reply('CORRUPT lock state is not of the form that KEYS.md describes')
end
fence, expiry = tonumber(fence), tonumber(expiry)
if owner ~= token or state ~= 'h' or expiry <= now then
    return string.format('%s 1 0 0 %.0f', ARGV[2], now)
end
if fence > 9007199254740991 or expiry > 9007199254740991 then
    return redis.error_reply('CORRUPT lock state is not of the form that KEYS.md describes')
end
expiry = math.max(expiry, now + lease)
local keep = math.max(IDLE_MS, math.floor(lease / 250))
redis.call('PEXPIRE', KEYS[1], keep)
redis.call('SET', KEYS[1], string.format('%s %.0f %.0f h%s', owner, fence, expiry, rest), 'PX', keep)
return string.format('%s 0 %.0f %.0f %.0f', ARGV[2], fence, expiry - now, now)
