-- chat_leave: a member goes, and with the last one the chat. Messages that all who remain have seen go too.
-- Repeating it is harmless: who is gone stays gone, and a request from before a later join of the same client
-- does nothing.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:h
--       see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 member
-- reply sequence, code, members that remain, now us
--       code 0 left; 1 gone; 2 old; 4 was not a member
-- hint  to waiting readers when the chat is gone
--
-- Begins with ZREM, which a server that is out of memory still allows.

local WRITERS_MAX = 64
local STALE_S = 600 -- longer than any client repeats a request
local HINTS_MAX = 16
local TOMBSTONE_MS = 3600000

local state_key, list_key, seen_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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
        local _, number = string.match(mark, '^%d+ %d+ (%d+) (%d+) (%S+)$')
        return {sequence, 0, tonumber(number), now}
    elseif past > sequence then
        return {sequence, 2, 0, now}
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
local keeps_mark = #marks <= 4 or #stale > 0 -- nobody is kept from leaving

local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local most, largest = tonumber(state[4]), tonumber(state[5])
if not epoch or (state[2] and not (last and keep and most and largest)) then
    return redis.error_reply('WRONGTYPE chat state is not of the form that KEYS.md describes')
end
if not last then
    return {sequence, 1, 0, now}
end
local length, members = redis.call('LLEN', list_key), redis.call('ZCARD', seen_key)
if not redis.call('ZSCORE', seen_key, member) then
    return {sequence, 4, members, now}
end

redis.call('ZREM', seen_key, member)
if keeps_mark then
    local mark_text = ARGV[2] .. ' ' .. time[1] .. ' ' .. state[1] .. ' ' .. members - 1 .. ' -'
    redis.call('HSET', state_key, client, mark_text)
end
if #stale > 0 then
    redis.call('HDEL', state_key, unpack(stale))
end
if members > 1 then
    local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2])
    if least > last - length then
        redis.call('LTRIM', list_key, least - last + length, -1)
    end
    return {sequence, 0, members - 1, now}
end
redis.call('UNLINK', list_key, seen_key)
redis.call('HDEL', state_key, 'n', 'k', 'c', 'x')
redis.call('PEXPIRE', state_key, TOMBSTONE_MS)
-- Last, and errors ignored: a hint is a convenience, and who gets none finds out by asking.
local waiting = redis.pcall('ZPOPMIN', hint_key, HINTS_MAX)
for i = 1, #waiting, 2 do
    if tonumber(waiting[i + 1]) > now then
        local channel = string.match(hint_key, '^([^{]*)') .. 'wake:' .. string.sub(waiting[i], 1, 16)
        redis.pcall('PUBLISH', channel, string.sub(waiting[i], 18))
    end
end
return {sequence, 0, 0, now}
