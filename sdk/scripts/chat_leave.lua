-- chat_leave: a member goes, and with the last one the chat. Messages that all who remain have seen go too.
-- Repeating it is harmless: who is gone stays gone, and a request from before a later join of the same client
-- does nothing.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:w, 5
--       gh:{chat:<name>}:h see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 member
-- reply sequence, code, members that remain, now us
--       code 0 left; 1 gone; 2 old; 4 was not a member
-- hint  to waiting readers when the chat is gone
--
-- Begins with ZREM, which a server that is out of memory still allows.

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request
local MARKS_MS = 3600000
local HINTS_MAX = 16
local TOMBSTONE_MS = 3600000

local state_key, list_key, seen_key, mark_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence, member = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), ARGV[3]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function corrupt(what)
    return redis.error_reply('WRONGTYPE ' .. what .. ' is not of the form that KEYS.md describes')
end

-- What this client did last, and whether there is room for one more.
local mark = redis.call('HGET', mark_key, client)
if mark then
    local past, _, epoch, number, text = string.match(mark, '^(%d+) (%d+) (%d+) (%d+) (%S+)$')
    if not past then
        return corrupt('chat mark')
    elseif tonumber(past) == sequence then
        return {sequence, 0, tonumber(number), now}
    elseif tonumber(past) > sequence then
        return {sequence, 2, 0, now}
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
local keeps_mark = true
if not mark and redis.call('HLEN', mark_key) >= WRITERS_MAX then
    look_at(redis.call('HGETALL', mark_key))
    keeps_mark = #stale > 0 -- nobody is kept from leaving
else
    look_at(redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES'))
end

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x')
local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local members_max, largest = tonumber(state[4]), tonumber(state[5])
local length = redis.call('LLEN', list_key)
local members = redis.call('ZCARD', seen_key)
local after_now = string.format('(%.0f', now)
local waiting = redis.call('ZRANGEBYSCORE', hint_key, after_now, '+inf', 'LIMIT', 0, HINTS_MAX)
if not epoch or (state[2] and not (last and keep and members_max and largest)) then
    return corrupt('chat state')
end
if not last then
    return {sequence, 1, 0, now}
end
if not redis.call('ZSCORE', seen_key, member) then
    return {sequence, 4, members, now}
end

local function keep_mark(epoch, number, text)
    local entry = string.format('%.0f %.0f %.0f %.0f %s', sequence, now, epoch, number, text)
    redis.call('HSET', mark_key, client, entry)
    redis.call('PEXPIRE', mark_key, MARKS_MS)
    if #stale > 0 then
        redis.call('HDEL', mark_key, unpack(stale))
    end
end

redis.call('ZREM', seen_key, member)
if members == 1 then
    redis.call('UNLINK', list_key, seen_key)
    redis.call('HDEL', state_key, 'n', 'k', 'c', 'x')
    redis.call('PEXPIRE', state_key, TOMBSTONE_MS)
else
    local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2])
    if least > last - length then
        redis.call('LTRIM', list_key, least - last + length, -1)
    end
    waiting = {}
end
if keeps_mark then
    keep_mark(epoch, members - 1, '-')
end
if #waiting > 0 then
    redis.call('ZREM', hint_key, unpack(waiting))
    local channel = string.match(hint_key, '^([^{]*)') .. 'wake:'
    for i = 1, #waiting do
        -- Last, and its error ignored: without the right to publish the reader finds out by asking.
        redis.pcall('PUBLISH', channel .. string.sub(waiting[i], 1, 16), string.sub(waiting[i], 18))
    end
end
return {sequence, 0, members - 1, now}
