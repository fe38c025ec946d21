-- mailbox_commit: everything up to a message has been handled and goes. Repeating it is harmless: what is gone
-- stays gone, and a smaller id changes nothing.
--
-- KEYS  1 gh:{mailbox:<name>}:s, 2 gh:{mailbox:<name>}:m   see mailbox_push.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 epoch     of that message, or of the fetch that it came with
--       3 id        of that message
-- reply sequence, code, first id, last id
--       code 0 done
--            1 not there  that message is not, and was not: nothing was removed
--            2 more       so many were to go that some are left. The same again
--       unread are last - first + 1
--
-- Its writes begin with LTRIM or PEXPIRE, which a server that is out of memory still allows. When it was read is
-- written behind that, and only where something goes: neither a copy that comes late nor a smaller id changes it. A
-- script that is stopped in between leaves the time before.

local IDLE_MS = 2592000000 -- an empty mailbox is forgotten after 30 days
local GOING_MAX, GOING_MAX_OF_LARGE = 1024, 64

local state_key, list_key = KEYS[1], KEYS[2]
local sequence, id = ARGV[1] + 0, ARGV[3] + 0

local state = redis.call('HMGET', state_key, 'e', 'n', 'x')
local head = redis.call('LINDEX', list_key, 0)
local last = tonumber(state[2])
local first = head and tonumber(string.match(head, '^%d+')) or last and last + 1
local there, is_lost = last, false
if state[1] ~= ARGV[2] or not last then
--@ mailbox/mailbox_past.lua
end
if not last or last < 0 or last > 9007199254740000 or last % 1 ~= 0 or not first or first > last + 1 or first < 1 then
    return redis.error_reply('CORRUPT mailbox state is not of the form that KEYS.md describes')
elseif id > there then
    return {sequence, 1, first, last}
end

local going = math.min(id - first + 1, state[3] and GOING_MAX_OF_LARGE or GOING_MAX)
if going > 0 then
    redis.call('LTRIM', list_key, going, -1)
    first = first + going
end
if first > last then
    redis.call('PEXPIRE', state_key, IDLE_MS)
    if state[3] then redis.call('HDEL', state_key, 'x') end -- the large ones are gone with all others
end
if going > 0 then
    local time = redis.call('TIME')
    local read = string.format('%.0f', time[1] * 1000000 + time[2])
    if first > last and is_lost then
        redis.call('HSET', state_key, 'e', ARGV[2], 'n', string.format('%.0f', last), 'r', read)
        redis.call('PEXPIRE', state_key, IDLE_MS)
    else
        redis.call('HSET', state_key, 'r', read)
    end
end
return {sequence, first > id and 0 or 2, first, last}
