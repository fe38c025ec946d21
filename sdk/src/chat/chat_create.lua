-- chat_create: makes a chat with its members and a first message. Repeating it is harmless: see
-- chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:w<2 hex digits>
--       see chat_send.lua
-- ARGV  1 token, 2 sequence, 3 generation   as there
--       4 keep      messages that are kept at most, 1..100000; below 0: and what would be more is refused
--       5 most      members at most, 1..10000
--       6 count     of members that follow, 1..64
--       7 ...       members; then the sender and the body of the first message, or nothing
-- reply in one text: sequence, code, epoch
--       code 0 made
--            1 exists  epoch is that of the chat that is there
--            2 old
--       or the error STALE, as there

local state_key, list_key, seen_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence, given = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), ARGV[3]
local keep_new, most_new, count = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local sender, body = ARGV[7 + count], ARGV[8 + count]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'x', 'g', 'w')
local resident = state[6]
--@ client/mark.lua
--@ chat/chat_said.lua
if past > sequence then
    return ARGV[2] .. ' 2 0'
elseif past == sequence and said_epoch <= (tonumber(state[1]) or 0) then -- else it was stopped before the end
    return string.format('%s 0 %.0f', ARGV[2], said_epoch)
end

local members = redis.call('ZCARD', seen_key)
--@ chat/chat_state.lua
if last and members > 0 then
    return string.format('%s 1 %.0f', ARGV[2], epoch)
end

local seen = {}
for i = 1, count do
    seen[2 * i - 1], seen[2 * i] = 0, ARGV[6 + i]
end
epoch = string.format('%.0f', math.max(epoch + 1, now, tonumber(given)))
last, largest = 0, 0
if members > 0 or redis.call('EXISTS', list_key) > 0 then
    redis.call('UNLINK', list_key, seen_key) -- of a chat whose state was lost: nobody can tell what they are
end
if state[2] then
    redis.call('HDEL', state_key, 'n', 'y', 'b') -- its last member has left, and the script was stopped there
end
redis.call('ZADD', seen_key, unpack(seen))
if sender then
    local moment = time[1] .. string.format('%03d ', math.floor(time[2] / 1000))
    local entry = '1 ' .. moment .. #sender .. ' ' .. sender .. body
    redis.call('RPUSH', list_key, entry)
    last, largest = 1, #entry
end
redis.call('PERSIST', state_key)
local mark_text = mark_head .. epoch .. ' 0 -'
if is_resident then
    redis.call('HSET', state_key, 'e', epoch, 'n', last, 'k', keep_new, 'c', most_new, 'x', largest, 'g', given,
               'w', mark_text)
else
    shelve(mark_text)
    redis.call('HSET', state_key, 'e', epoch, 'n', last, 'k', keep_new, 'c', most_new, 'x', largest, 'g', given)
end
return ARGV[2] .. ' 0 ' .. epoch
