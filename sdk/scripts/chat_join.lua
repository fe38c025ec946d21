-- chat_join: a player becomes a member. Repeating it is harmless: who is a member stays one, and a request
-- from before a later leave of the same client does nothing; see chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v   see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 member
--       4 start     1: all messages that are still kept are new to it; 0: only those from now on
-- reply sequence, code, epoch, seen
--       code 0 joined; 1 gone; 2 old; 3 writers; 4 full; 5 was a member already: seen is what it has seen

local WRITERS_MAX = 64
local STALE_S = 600 -- longer than any client repeats a request

local state_key, list_key, seen_key = KEYS[1], KEYS[2], KEYS[3]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local member = ARGV[3]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x', client)
-- What this client did last: the same again, or something from the past?
local mark = state[6]
if mark then
    local past = tonumber(string.match(mark, '^%d+'))
    if not past then
        return redis.error_reply('WRONGTYPE chat mark is not of the form that KEYS.md describes')
    elseif past == sequence then
        local epoch, number = string.match(mark, '^%d+ %d+ (%d+) (%d+) (%S+)$')
        return {sequence, 0, tonumber(epoch), tonumber(number)}
    elseif past > sequence then
        return {sequence, 2, 0, 0}
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
    return {sequence, 3, 0, 0}
end

local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local most, largest = tonumber(state[4]), tonumber(state[5])
if not epoch or (state[2] and not (last and keep and most and largest)) then
    return redis.error_reply('WRONGTYPE chat state is not of the form that KEYS.md describes')
end
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
