-- chat_read: notes what members have handled, and reads what comes after. Messages that all members have
-- handled go. Who finds nothing may leave a token, to be hinted by the next send. Repeating it is harmless:
-- what a member has handled only grows, and the rest is reading.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:h   see
--       chat_send.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 epoch     that the handled ids are from; if the chat has another one, they are ignored
--       4 after     only messages with a larger id; "-": after the least that the members below have handled
--       5 count     at most this many messages, 0..64
--       6 bytes     at most this many bytes of them, each counting one more; but always one message, if there
--                   is one
--       7 wait us   how long the token is good for a hint; 0: leave none
--       8, 9 ...    member, the last id that it has handled (0: nothing new); at most 64 pairs
-- reply sequence, code, epoch, first id, last id, now us, bytes of the largest entry, seen ..., entries ...
--       code 0; 1 gone: nothing follows
--       first id is of the oldest message that is kept, or last id + 1
--       seen: one for each pair, the last id that the member has handled; -1: is not a member
--
-- Its writes begin with PEXPIRE, which a server that is out of memory still allows: handling messages frees
-- memory.

local ENTRY_MAX = 8192 -- longer than any that chat_send.lua is given
local CHUNK = 16
local TRIM_BYTES = 262144 -- about so much goes in one call, but always a hundred messages
local HINTS_MS = 3600000

local state_key, list_key, seen_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, count_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[5])
local bytes_max, wait = tonumber(ARGV[6]), tonumber(ARGV[7])
local pairs_count = (#ARGV - 7) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x')
local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local members_max, largest = tonumber(state[4]), tonumber(state[5])
local length = redis.call('LLEN', list_key)
if not epoch or (state[2] and not (last and keep and members_max and largest)) then
    return redis.error_reply('WRONGTYPE chat state is not of the form that KEYS.md describes')
end
if not last then
    return {sequence, 1, epoch, 0, 0, now, 0}
end

local first = last - length + 1
local names, handled = {}, {}
for i = 1, pairs_count do
    names[i] = ARGV[6 + 2 * i]
    local id = tonumber(ARGV[7 + 2 * i])
    if id > 0 and epoch == tonumber(ARGV[3]) then
        handled[#handled + 1] = string.format('%.0f', math.min(id, last))
        handled[#handled + 1] = names[i]
    end
end
if #handled > 0 then
    redis.call('PEXPIRE', hint_key, HINTS_MS)
    redis.call('ZADD', seen_key, 'XX', 'GT', unpack(handled))
    local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2])
    if least and least >= first then
        local most = math.max(100, math.floor(TRIM_BYTES / math.max(largest, 1)))
        local going = math.min(least - first + 1, most)
        redis.call('LTRIM', list_key, going, -1)
        first = first + going
    end
end

local reply = {sequence, 0, epoch, first, last, now, largest}
local after = tonumber(ARGV[4])
if pairs_count > 0 then
    local seen = redis.call('ZMSCORE', seen_key, unpack(names))
    for i = 1, pairs_count do
        reply[7 + i] = tonumber(seen[i] or '-1')
        if ARGV[4] == '-' and seen[i] then
            after = math.min(after or last, reply[7 + i])
        end
    end
end
after = after or last -- no member: nothing to read

local from, size = math.max(after + 1, first), 0
local found = 0
while from <= last and found < count_max do
    local step = math.min(CHUNK, count_max - found)
    local chunk = redis.call('LRANGE', list_key, from - first, from - first + step - 1)
    for i = 1, #chunk do
        size = size + #chunk[i] + 1
        if #chunk[i] > ENTRY_MAX then
            return redis.error_reply('WRONGTYPE chat entry is not of the form that KEYS.md describes')
        elseif size > bytes_max and found > 0 then
            count_max = 0
            break
        end
        found = found + 1
        reply[7 + pairs_count + found] = chunk[i]
    end
    from = from + #chunk
    if #chunk == 0 then
        return redis.error_reply('WRONGTYPE chat list is not of the form that KEYS.md describes')
    end
end

-- Nothing is kept behind `after`: perhaps because all have handled it, so the ids alone do not tell.
if wait > 0 and math.max(after + 1, first) > last then
    -- A hint is a convenience: a server without memory for it must not keep anybody from reading.
    if redis.pcall('ZADD', hint_key, string.format('%.0f', now + wait), token) == 1 then
        redis.call('PEXPIRE', hint_key, HINTS_MS)
        redis.call('ZREMRANGEBYSCORE', hint_key, '-inf', string.format('%.0f', now)) -- those who are gone
    end
end
return reply
