-- lock_state: the state of a lock.
--
-- wants stored
-- gives owner, fence, expiry, state, waiters, late   see lock_acquire.lua
--       IDLE_MS

local IDLE_MS = 3600000

local owner, fence, expiry, state, waiters, late = '-', 0, 0, 'f', 0, ''
if stored then
    owner, fence, expiry, state, waiters, late = string.match(stored, '^(%S+) (%d+) (%d+) ([hrf]) (%d+)([ %x:*]*)$')
    fence, expiry, waiters = tonumber(fence), tonumber(expiry), tonumber(waiters)
    -- all below 2^53, the next fence included
    if not owner or fence > 9007199254740990 or math.max(expiry, waiters) > 9007199254740991 then
        return redis.error_reply('CORRUPT lock state is not of the form that KEYS.md describes')
    end
end
