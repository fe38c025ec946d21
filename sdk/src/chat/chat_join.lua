-- chat_join: a player becomes a member. Repeating it is harmless: who is a member stays one, and a request
-- from before a later leave of the same client does nothing; see chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v   see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 member
--       4 start     1: all messages that are still kept are new to it; 0: only those from now on
-- reply sequence, code, epoch, seen
--       code 0 joined; 1 gone; 2 old; 3 writers; 4 full; 5 was a member already: seen is what it has seen

local state_key, list_key, seen_key = KEYS[1], KEYS[2], KEYS[3]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local member = ARGV[3]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x', client)
local mark, fields = state[6], 5
--@ talk/talk_mark.lua
if said_epoch then
    return {sequence, 0, tonumber(said_epoch), tonumber(said_number)}
elseif is_old then
    return {sequence, 2, 0, 0}
elseif is_crowded then
    return {sequence, 3, 0, 0}
end

--@ chat/chat_state.lua
if not last then
    return {sequence, 1, epoch, 0}
end
local length = redis.call('LLEN', list_key)
local seen = redis.call('ZSCORE', seen_key, member)
if not seen and redis.call('ZCARD', seen_key) >= most then
    return {sequence, 4, epoch, 0}
end

local code = seen and 5 or 0
if not seen then
    seen = string.format('%.0f', ARGV[4] == '1' and last - length or last)
    redis.call('ZADD', seen_key, seen, member)
end
redis.call('HSET', state_key, client, ARGV[2] .. ' ' .. time[1] .. ' ' .. state[1] .. ' ' .. seen .. ' -')
if #stale > 0 then
    redis.call('HDEL', state_key, unpack(stale))
end
return {sequence, code, epoch, tonumber(seen)}
