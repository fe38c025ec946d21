-- chat_read: notes what members have handled, and reads what comes after. Messages that all members have
-- handled go. Who finds nothing may leave a token, to be hinted by the next send. Repeating it is harmless:
-- what a member has handled only grows, and the rest is reading.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:h   see
--       chat_send.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 epoch     of the messages that were handled, or of the fetch that they came with
--       4 after     only messages with a larger id; "-": after the least that the members below have handled
--       5 count     at most this many messages, 0..64
--       6 bytes     at most this many bytes of them, each counting one more
--       7 wait us   how long the token is good for a hint; 0: leave none
--       8 room      the reader's bytes when its page is empty, at least argument 6. What is larger comes as
--                   page_entry.lua says, so there is always one message in an empty page, if there is one at all
--       9, 10 ...   member, the last id that it has handled (0: nothing new), or "<epoch>:<id>" if it is of another
--                   epoch; at most 64 pairs
-- reply sequence, code, epoch, first id, last id, now us, largest, epochs text, seen ..., entries ...
--       code 0 there
--            1 gone   nothing follows
--            2 lost   as 0, but of what was handled something is not there, and was not: noted is what was before it
--       largest: bytes of the largest entry
--       first id is of the oldest message that is kept, or last id + 1
--       epochs: "<epoch>:<last id> ..." of those before this one: a message is of the first whose last id is not
--       smaller than its own
--       seen: one for each pair, the last id that the member has handled; -1: is not a member
--
-- Its writes begin with PERSIST or LTRIM, which a server that is out of memory still allows: handling messages frees
-- memory.

local ENTRY_MAX = 65664 -- the longest that chat_send.lua writes
local ID_MAX = 9007199254740000
local CHUNK, CHUNK_OF_LARGE = 16, 4 -- a large one takes its time to be read
local LARGE = 8192
local PASSED_MAX = 131072 -- bytes of messages that are passed over in one call
local TRIM_BYTES = 262144 -- about so much goes in one call, but always a hundred messages

local state_key, list_key, seen_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, count_max = ARGV[1], ARGV[2] + 0, ARGV[5] + 0
local bytes_max, wait, room = ARGV[6] + 0, ARGV[7] + 0, ARGV[8] + 0
local pairs_count = (#ARGV - 8) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'x', 'b')
local epoch, last, largest, ended = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3]), state[4] or ''
local first = redis.call('LINDEX', list_key, 0)
first = not first and last and last + 1 or first and tonumber(string.match(first, '^%d+'))
if not epoch or not string.find(state[1] or '1', '^[1-9]%d*$') or epoch > ID_MAX or #ended > 2048 or
   (state[2] and not (epoch > 0 and last and last >= 0 and last <= ID_MAX and last % 1 == 0 and
                      largest and largest >= 0 and largest <= ENTRY_MAX and
                      first and first >= 1 and first <= last + 1)) then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif not last then
    return {sequence, 1, epoch, 0, 0, now, 0, ''}
end

local reply = {sequence, 0, epoch, first, last, now, largest, ended}
local after = tonumber(ARGV[4])
if pairs_count > 0 then
    local function last_of(some) -- the last id of an epoch
        return some == state[1] and last or tonumber(string.match(' ' .. ended .. ' ', ' ' .. some .. ':(%d+) '))
    end
    local names, handled, is_any, there_all = {}, {}, false, false
    for i = 1, pairs_count do
        names[i] = ARGV[7 + 2 * i]
    end
    local seen = redis.call('ZMSCORE', seen_key, unpack(names))
    for i = 1, pairs_count do
        local at, id, there = seen[i] and tonumber(seen[i]) or -1, tonumber(ARGV[8 + 2 * i]), there_all
        if not id then
            there, id = string.match(ARGV[8 + 2 * i], '^(%d+):(%d+)$')
            there, id = last_of(there), tonumber(id)
        end
        if seen[i] and not (at >= 0 and at <= last and at % 1 == 0) then
            return redis.error_reply('CORRUPT member is not of the form that KEYS.md describes')
        elseif id > 0 then
            if there == false then -- of the epoch of all
                there_all = there_all or last_of(ARGV[3])
                there = there_all
            end
            if not there or id > there then
                reply[2], id = 2, there or 0
            end
            is_any = true
            if at >= 0 and id > at then
                at = id
                handled[#handled + 1] = string.format('%.0f', id)
                handled[#handled + 1] = names[i]
            end
        end
        reply[8 + i] = at
        if ARGV[4] == '-' and at >= 0 and (not after or at < after) then
            after = at
        end
    end
    if #handled > 0 then
        redis.call('PERSIST', state_key)
        redis.call('ZADD', seen_key, 'XX', 'GT', unpack(handled))
    end
    if is_any then
        local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2])
        if least and least >= first then
            local most = math.max(100, math.floor(TRIM_BYTES / math.max(largest, 1)))
            local going = math.min(math.floor(math.min(least, last)) - first + 1, most)
            redis.call('LTRIM', list_key, going, -1)
            first = first + going
            reply[4] = first
        end
    end
end
after = after or last -- no member: nothing to read

local from, bytes, found, passed = after < first and first or after + 1, 0, 0, 0
local at_once = largest > LARGE and CHUNK_OF_LARGE or CHUNK
while from <= last and found < count_max do
    local step = math.min(at_once, count_max - found, last - from + 1)
    local chunk = redis.call('LRANGE', list_key, from - first, from - first + step - 1)
    if #chunk ~= step then
        return redis.error_reply('CORRUPT chat list is not of the form that KEYS.md describes')
    end
    for i = 1, step do
        local entry = chunk[i]
--@ talk/page_entry.lua
        found = found + 1
        reply[8 + pairs_count + found] = entry
    end
    from = from + step
end

-- Nothing is kept behind `after`: perhaps because all have handled it, so the ids alone do not tell.
if wait > 0 and (after >= last or first > last) then
--@ talk/leave_token.lua
end
return reply
