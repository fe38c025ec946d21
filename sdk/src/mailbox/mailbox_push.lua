-- mailbox_push: what one frame has to say to one recipient, all of it or nothing. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer,
-- and an older one, which can only be a request from the past, does nothing. A client sends one push to a
-- mailbox at a time.
--
-- KEYS  1 gh:{mailbox:<name>}:s   hash   e: epoch, when this row of ids began (us); n: the last id;
--                                        <client, 16 hex digits>: the mark of its last push,
--                                        "<sequence> <seconds since 1970> <epoch> <first id> -"
--       2 gh:{mailbox:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                        first; ids are dense, so the first is n - LLEN + 1
--       3 gh:{mailbox:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 capacity  messages that may be unread at once
--       4, 5 ...    sender, body; at most 64 pairs
-- reply sequence, code, first id, epoch, now us
--       code 0 taken      ids are first id, first id + 1, ...
--            1 full       they would be more than capacity
--            2 old        the client has pushed again since
--            3 writers    64 other clients have pushed within ten minutes
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most 16 waiting readers
-- Redis 6.2 or later.

local state_key, list_key, hint_key = KEYS[1], KEYS[2], KEYS[3]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local count = (#ARGV - 3) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', client)
local length = redis.call('LLEN', list_key)
local mark, fields = state[3], 2
--@ talk/talk_mark.lua
if said_epoch then
    return {sequence, 0, tonumber(said_number), tonumber(said_epoch), now}
elseif is_old then
    return {sequence, 2, 0, 0, now}
elseif is_crowded then
    return {sequence, 3, 0, 0, now}
end

local epoch, last = state[1] or string.format('%.0f', now), state[2]
if not last then -- never used, or the state was lost: the last entry knows
    last = length == 0 and '0' or string.match(redis.call('LINDEX', list_key, -1), '^(%d+) ')
end
last = tonumber(last)
if not last or not tonumber(epoch) then
    return redis.error_reply('WRONGTYPE mailbox state is not of the form that KEYS.md describes')
end
if length + count > tonumber(ARGV[3]) then
    return {sequence, 1, 0, tonumber(epoch), now}
end

-- string.format would end at a zero byte: only the numbers go through it.
local moment = ' ' .. time[1] .. string.format('%03d ', math.floor(time[2] / 1000))
local entries, heads = {}, {}
for i = 1, count do
    local sender = ARGV[2 + 2 * i]
    local head = heads[sender] or moment .. #sender .. ' ' .. sender
    heads[sender] = head
    entries[i] = string.format('%.0f', last + i) .. head .. ARGV[3 + 2 * i]
end
redis.call('RPUSH', list_key, unpack(entries))
local first = string.format('%.0f', last + 1)
redis.call('HSET', state_key, 'e', epoch, 'n', string.format('%.0f', last + count),
           client, ARGV[2] .. ' ' .. time[1] .. ' ' .. epoch .. ' ' .. first .. ' -')
if length == 0 then
    redis.call('PERSIST', state_key)
end
if #stale > 0 then
    redis.call('HDEL', state_key, unpack(stale))
end

--@ talk/hint_readers.lua
return {sequence, 0, last + 1, tonumber(epoch), now}
