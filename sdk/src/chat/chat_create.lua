-- chat_create: makes a chat with its members and a first message. Repeating it is harmless: see
-- chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v   see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 keep      messages that are kept at most, 1..100000
--       4 most      members at most, 1..10000
--       5 count     of members that follow, 1..64
--       6 ...       members; then the sender and the body of the first message, or nothing
-- reply sequence, code, epoch
--       code 0 made; 1 exists: epoch is that of the chat that is there; 2 old; 3 writers

local state_key, list_key, seen_key = KEYS[1], KEYS[2], KEYS[3]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local keep_new, most_new, count = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local sender, body = ARGV[6 + count], ARGV[7 + count]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x', client)
local length, members = redis.call('LLEN', list_key), redis.call('ZCARD', seen_key)
local mark, fields = state[6], 5
--@ talk/talk_mark.lua
if said_epoch then
    return {sequence, 0, tonumber(said_epoch)}
elseif is_old then
    return {sequence, 2, 0}
elseif is_crowded then
    return {sequence, 3, 0}
end

--@ chat/chat_state.lua
if last then
    return {sequence, 1, epoch}
end

local seen = {}
for i = 1, count do
    seen[2 * i - 1], seen[2 * i] = 0, ARGV[5 + i]
end
epoch = string.format('%.0f', math.max(epoch + 1, now))
last, largest = 0, 0
if length > 0 or members > 0 then
    redis.call('UNLINK', list_key, seen_key) -- of a chat whose state was lost: nobody can tell what they are
end
redis.call('ZADD', seen_key, unpack(seen))
if sender then
    local moment = time[1] .. string.format('%03d ', math.floor(time[2] / 1000))
    local entry = '1 ' .. moment .. #sender .. ' ' .. sender .. body
    redis.call('RPUSH', list_key, entry)
    last, largest = 1, #entry
end
redis.call('HSET', state_key, 'e', epoch, 'n', last, 'k', keep_new, 'c', most_new, 'x', largest,
           client, ARGV[2] .. ' ' .. time[1] .. ' ' .. epoch .. ' 0 -')
redis.call('PERSIST', state_key)
if #stale > 0 then
    redis.call('HDEL', state_key, unpack(stale))
end
return {sequence, 0, tonumber(epoch)}
