-- lock_look: who has a lock, since when, and how many wait. Writes nothing.
--
-- KEYS  1 gh:{lock:<name>}:s, 2 gh:{lock:<name>}:q   see lock_acquire.lua
--       [3] gh:epoch   only with a birth: see birth.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       [2] birth   of the store as the client knows it; left out: it does not matter
-- reply sequence, code, fence, remaining us, waiters, now us, token text
--       code 0 held     fence: of the grant, which is its time or larger; remaining: of the lease
--            1 kept     for token, which is next; fence: as of a grant when the turn began; remaining: of the turn
--            2 nobodys  free, or the time of who had it is over; fence and remaining are 0, token is -
--       error STALE if the store has another birth, CORRUPT if a key is not of the form that KEYS.md describes

local birth_key, birth = KEYS[3], ARGV[2]
--@ client/birth.lua

local WAITERS_MAX = 100000

local stored, time = redis.call('GET', KEYS[1]), redis.call('TIME')
local now = time[1] * 1000000 + time[2]

--@ lock/lock_state.lua
local queued = redis.call('ZCARD', KEYS[2])
if queued > WAITERS_MAX then
    return redis.error_reply('CORRUPT lock queue is not of the form that KEYS.md describes')
end
if state == 'f' or expiry <= now then
    return {tonumber(ARGV[1]), 2, 0, 0, queued, now, '-'}
end
return {tonumber(ARGV[1]), state == 'h' and 0 or 1, fence, expiry - now, queued, now, owner}
