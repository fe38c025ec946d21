-- chat_join: a player becomes a member. Repeating it is harmless: who is a member stays one, and a request
-- from before a later leave of the same client does nothing; see chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:w   see
--       chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 member
--       4 start     1: all messages that are still kept are new to it; 0: only those from now on
-- reply sequence, code, epoch, seen
--       code 0 joined; 1 gone; 2 old; 3 writers; 4 full; 5 was a member already: seen is what it has seen

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request
local MARKS_MS = 3600000

local state_key, list_key, seen_key, mark_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
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
        return {sequence, 0, tonumber(epoch), tonumber(number)}
    elseif tonumber(past) > sequence then
        return {sequence, 2, 0, 0}
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
        return {sequence, 3, 0, 0}
    end
else
    look_at(redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES'))
end

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x')
local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local members_max, largest = tonumber(state[4]), tonumber(state[5])
local length = redis.call('LLEN', list_key)
local members = redis.call('ZCARD', seen_key)
if not epoch or (state[2] and not (last and keep and members_max and largest)) then
    return corrupt('chat state')
end
if not last then
    return {sequence, 1, epoch, 0}
end
local seen = redis.call('ZSCORE', seen_key, member)
if not seen and members >= members_max then
    return {sequence, 4, epoch, 0}
end

local function keep_mark(epoch, number, text)
    local entry = string.format('%.0f %.0f %.0f %.0f %s', sequence, now, epoch, number, text)
    redis.call('HSET', mark_key, client, entry)
    redis.call('PEXPIRE', mark_key, MARKS_MS)
    if #stale > 0 then
        redis.call('HDEL', mark_key, unpack(stale))
    end
end

local code = seen and 5 or 0
if not seen then
    seen = ARGV[4] == '1' and last - length or last
    redis.call('ZADD', seen_key, seen, member)
end
keep_mark(epoch, tonumber(seen), '-')
return {sequence, code, epoch, tonumber(seen)}
