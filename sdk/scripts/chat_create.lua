-- chat_create: makes a chat with its members and a first message. Repeating it is harmless: see
-- chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:w, 5
--       gh:{chat:<name>}:h see chat_send.lua
-- ARGV  1 token, 2 sequence   as there
--       3 keep      messages that are kept at most, 1..100000
--       4 most      members at most, 1..10000
--       5 count     of members that follow, 1..64
--       6 ...       members; then the sender and the body of the first message, or nothing
-- reply sequence, code, epoch
--       code 0 made; 1 exists: epoch is that of the chat that is there; 2 old; 3 writers

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request
local MARKS_MS = 3600000
local HINTS_MAX = 16

local state_key, list_key, seen_key, mark_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local keep_new, most, count = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local sender, body = ARGV[6 + count], ARGV[7 + count]

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
        return {sequence, 0, tonumber(epoch)}
    elseif tonumber(past) > sequence then
        return {sequence, 2, 0}
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
        return {sequence, 3, 0}
    end
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
if last then
    return {sequence, 1, epoch}
end

local function keep_mark(epoch, number, text)
    local entry = string.format('%.0f %.0f %.0f %.0f %s', sequence, now, epoch, number, text)
    redis.call('HSET', mark_key, client, entry)
    redis.call('PEXPIRE', mark_key, MARKS_MS)
    if #stale > 0 then
        redis.call('HDEL', mark_key, unpack(stale))
    end
end

local seen = {}
for i = 1, count do
    seen[2 * i - 1], seen[2 * i] = 0, ARGV[5 + i]
end
epoch = math.max(epoch + 1, now)
last, largest = 0, 0
if length > 0 or members > 0 then
    redis.call('UNLINK', list_key, seen_key) -- of a chat whose state was lost: nobody can tell what they are
end
redis.call('ZADD', seen_key, unpack(seen))
if sender then
    local entry = string.format('1 %.0f %d ', math.floor(now / 1000), #sender) .. sender .. body
    redis.call('RPUSH', list_key, entry)
    last, largest = 1, #entry
end
redis.call('HSET', state_key, 'e', string.format('%.0f', epoch), 'n', last, 'k', keep_new, 'c', most,
           'x', largest)
redis.call('PERSIST', state_key)
keep_mark(epoch, 0, '-')
if #waiting > 0 then
    redis.call('ZREM', hint_key, unpack(waiting))
    local channel = string.match(hint_key, '^([^{]*)') .. 'wake:'
    for i = 1, #waiting do
        -- Last, and its error ignored: without the right to publish the reader finds out by asking.
        redis.pcall('PUBLISH', channel .. string.sub(waiting[i], 1, 16), string.sub(waiting[i], 18))
    end
end
return {sequence, 0, epoch}
