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

local WRITERS_MAX = 64
local STALE_S = 600 -- longer than any client repeats a request

local state_key, list_key, seen_key = KEYS[1], KEYS[2], KEYS[3]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local keep_new, most_new, count = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local sender, body = ARGV[6 + count], ARGV[7 + count]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x', client)
local length, members = redis.call('LLEN', list_key), redis.call('ZCARD', seen_key)
-- What this client did last: the same again, or something from the past?
local mark = state[6]
if mark then
    local past = tonumber(string.match(mark, '^%d+'))
    if not past then
        return redis.error_reply('WRONGTYPE chat mark is not of the form that KEYS.md describes')
    elseif past == sequence then
        local epoch = string.match(mark, '^%d+ %d+ (%d+) (%d+) (%S+)$')
        return {sequence, 0, tonumber(epoch)}
    elseif past > sequence then
        return {sequence, 2, 0}
    end
end
-- Marks of clients that have been silent for long go, a few at a time; for a new one there must be room.
local marks, stale = {}, {}
if not mark and redis.call('HLEN', state_key) >= WRITERS_MAX + 5 then
    marks = redis.call('HGETALL', state_key)
elseif time[2] % 4 == 0 then
    marks = redis.call('HRANDFIELD', state_key, -2, 'WITHVALUES')
end
for i = 1, #marks, 2 do
    local used = #marks[i] == 16 and marks[i] ~= client and string.match(marks[i + 1], '^%d+ (%d+) ')
    if used and used + STALE_S < tonumber(time[1]) then
        stale[#stale + 1] = marks[i]
    end
end
if #marks > 4 and #stale == 0 then
    return {sequence, 3, 0}
end

local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local most, largest = tonumber(state[4]), tonumber(state[5])
if not epoch or (state[2] and not (last and keep and most and largest)) then
    return redis.error_reply('WRONGTYPE chat state is not of the form that KEYS.md describes')
end
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
