-- mailbox_push: what one frame has to say to one recipient, all of it or nothing. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer,
-- and an older one, which can only be a request from the past, does nothing. A client sends one push to a
-- mailbox at a time.
--
-- KEYS  1 gh:{mailbox:<name>}:s   hash   e: epoch, when this row of ids began (us); n: the last id
--       2 gh:{mailbox:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                        first; ids are dense, so the first is n - LLEN + 1
--       3 gh:{mailbox:<name>}:w   hash   client -> "<sequence> <now us> <first id> <epoch>" of its last push
--       4 gh:{mailbox:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 capacity  messages that may be unread at once
--       4, 5 ...    sender, body; at most 64 pairs
-- reply sequence, code, first id, epoch, now us
--       code 0 taken      ids are first id, first id + 1, ...
--            1 full       they would be more than capacity
--            2 old        the client has pushed again since
--            3 writers    64 other clients have pushed within STALE_US
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most HINTS_MAX waiting readers
-- Redis 6.2 or later.

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request
local MARKS_MS = 3600000
local HINTS_MAX = 16

local state_key, list_key, mark_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence, capacity = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), tonumber(ARGV[3])
local count = (#ARGV - 3) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function corrupt(what)
    return redis.error_reply('WRONGTYPE ' .. what .. ' is not of the form that KEYS.md describes')
end

-- What this client did last, and whether there is room for one more.
local mark = redis.call('HGET', mark_key, client)
if mark then
    local past, _, first, epoch = string.match(mark, '^(%d+) (%d+) (%d+) (%d+)$')
    if not past then
        return corrupt('mailbox mark')
    elseif tonumber(past) == sequence then
        return {sequence, 0, tonumber(first), tonumber(epoch), now}
    elseif tonumber(past) > sequence then
        return {sequence, 2, 0, 0, now}
    end
end
local stale = {}
local function look_at(fields)
    for i = 1, #fields, 2 do
        local used = string.match(fields[i + 1], '^%d+ (%d+) ')
        if fields[i] ~= client and (not used or tonumber(used) + STALE_US < now) then
            stale[#stale + 1] = fields[i]
        end
    end
end
if not mark and redis.call('HLEN', mark_key) >= WRITERS_MAX then
    look_at(redis.call('HGETALL', mark_key))
    if #stale == 0 then
        return {sequence, 3, 0, 0, now}
    end
else
    look_at(redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES'))
end

local epoch, last = unpack(redis.call('HMGET', state_key, 'e', 'n'))
local length = redis.call('LLEN', list_key)
local after_now = string.format('(%.0f', now)
local waiting = redis.call('ZRANGEBYSCORE', hint_key, after_now, '+inf', 'LIMIT', 0, HINTS_MAX)
epoch = epoch or string.format('%.0f', now)
if not last then -- never used, or the state was lost: the last entry knows
    last = length == 0 and '0' or string.match(redis.call('LINDEX', list_key, -1), '^(%d+) ')
end
last = tonumber(last)
if not last or not tonumber(epoch) then
    return corrupt('mailbox state')
end
if length + count > capacity then
    return {sequence, 1, 0, tonumber(epoch), now}
end

local entries = {}
for i = 1, count do
    local sender = ARGV[2 + 2 * i]
    -- string.format would end at a zero byte: only the numbers go through it.
    local head = string.format('%.0f %.0f %d ', last + i, math.floor(now / 1000), #sender)
    entries[i] = head .. sender .. ARGV[3 + 2 * i]
end
redis.call('RPUSH', list_key, unpack(entries))
redis.call('HSET', state_key, 'e', epoch, 'n', string.format('%.0f', last + count))
if length == 0 then
    redis.call('PERSIST', state_key)
end
redis.call('HSET', mark_key, client, string.format('%.0f %.0f %.0f %s', sequence, now, last + 1, epoch))
redis.call('PEXPIRE', mark_key, MARKS_MS)
if #stale > 0 then
    redis.call('HDEL', mark_key, unpack(stale))
end
if #waiting > 0 then
    redis.call('ZREM', hint_key, unpack(waiting))
    local channel = string.match(hint_key, '^([^{]*)') .. 'wake:'
    for i = 1, #waiting do
        -- Last, and its error ignored: without the right to publish the reader finds out by asking.
        redis.pcall('PUBLISH', channel .. string.sub(waiting[i], 1, 16), string.sub(waiting[i], 18))
    end
end
return {sequence, 0, last + 1, tonumber(epoch), now}
