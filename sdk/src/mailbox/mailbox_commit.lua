-- mailbox_commit: everything up to an id has been handled and goes. Repeating it is harmless: what is gone
-- stays gone, and a smaller id changes nothing.
--
-- KEYS  1 gh:{mailbox:<name>}:s, 2 gh:{mailbox:<name>}:m   see mailbox_push.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 epoch     of the fetch that the id is from
--       3 id        beyond the end: the end
-- reply sequence, code, first id, last id; unread are last - first + 1
--       code 0 done; 1 the ids began anew since that fetch: nothing was removed
--
-- Writes with LTRIM alone, which a server that is out of memory still allows.

local IDLE_MS = 2592000000 -- an empty mailbox is forgotten after 30 days

local state_key, list_key = KEYS[1], KEYS[2]
local sequence, id = tonumber(ARGV[1]), tonumber(ARGV[3])

local epoch, last = unpack(redis.call('HMGET', state_key, 'e', 'n'))
local length = redis.call('LLEN', list_key)
if not last then
    last = length == 0 and '0' or string.match(redis.call('LINDEX', list_key, -1), '^(%d+) ')
end
last, epoch = tonumber(last), tonumber(epoch or '0')
if not last or not epoch then
    return redis.error_reply('WRONGTYPE mailbox state is not of the form that KEYS.md describes')
end
local first = last - length + 1
if epoch ~= tonumber(ARGV[2]) then
    return {sequence, 1, first, last}
end
local count = math.min(id, last) - first + 1
if count > 0 then
    redis.call('LTRIM', list_key, count, -1)
    if count == length then
        redis.call('PEXPIRE', state_key, IDLE_MS)
    end
    first = first + count
end
return {sequence, 0, first, last}
