-- fenced: stands in front of a caller's script and lets it run only while a lock's grant is the current one.
-- Its text and the caller's are sent as one script; the first key and the first argument are taken away, so
-- the caller's KEYS and ARGV look as if it ran alone.
--
-- KEYS  1 gh:{lock:<name>}:s   see lock_acquire.lua
--       2 ...   the caller's
-- ARGV  1 fence
--       2 ...   the caller's
-- reply is error FENCED if the lock is not held with this fence, error CORRUPT if its key is not a lock's, else
--       what the caller's script returns

do
    local stored = redis.pcall('GET', KEYS[1])
    local fence, expiry, state
    if type(stored) == 'table' and not string.find(stored.err, 'WRONGTYPE', 1, true) then
        return stored -- a right is missing: that says nothing of the lock
    elseif type(stored) == 'string' then
        fence, expiry, state = string.match(stored, '^%S+ (%d+) (%d+) ([hrf]) %d+[ %x:*]*$')
    end
    if stored and not (state and #fence < 17 and #expiry < 17 and tonumber(fence) < 9007199254740992) then
        return redis.error_reply('CORRUPT the lock is not of the form that KEYS.md describes')
    end
    local time = redis.call('TIME')
    if state ~= 'h' or fence ~= ARGV[1] or tonumber(expiry) <= time[1] * 1000000 + time[2] then
        return redis.error_reply('FENCED the lock is not held with this fence')
    end
end
local KEYS, ARGV = {unpack(KEYS, 2)}, {unpack(ARGV, 2)}
