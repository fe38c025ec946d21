-- chat_send: what one frame has to say in one chat. Repeating it is harmless: each client's last sequence is
-- kept with what it was answered, so the same sequence gets the same answer, and an older one, which can only
-- be a request from the past, does nothing. A client has one request that changes a chat under way at a time.
--
-- KEYS  1 gh:{chat:<name>}:s   hash   e: epoch (us), larger each time the chat is made anew; n: the last id;
--                                     k: messages that are kept at most; c: members at most; x: bytes of the
--                                     largest entry so far. A chat whose last member has left has e alone,
--                                     for an hour
--       2 gh:{chat:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                     first; ids are dense, so the first is n - LLEN + 1
--       3 gh:{chat:<name>}:v   zset   member -> the last id that it has handled
--       4 gh:{chat:<name>}:w   hash   client -> "<sequence> <now us> <epoch> <number> <text>": its last
--                                     change and the answer
--       5 gh:{chat:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3, 4 ...    sender (a member, or empty: the server speaks), body; at most 64 pairs
-- reply sequence, code, first id, epoch, now us, text
--       code 0 taken      text: "-", or one digit a pair: 0 taken, 1 its sender is not a member. The ids of
--                         those that were taken are first id, first id + 1, ...
--            1 gone       there is no such chat
--            2 old        the client has changed this chat again since
--            3 writers    64 other clients have changed this chat within STALE_US
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most HINTS_MAX waiting readers
-- Redis 6.2 or later.

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request
local MARKS_MS = 3600000
local HINTS_MAX = 16

local state_key, list_key, seen_key, mark_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local count = (#ARGV - 2) / 2

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
        return {sequence, 0, tonumber(number), tonumber(epoch), now, text}
    elseif tonumber(past) > sequence then
        return {sequence, 2, 0, 0, now, '-'}
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
        return {sequence, 3, 0, 0, now, '-'}
    end
else
    look_at(redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES'))
end

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x')
local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local members_max, largest = tonumber(state[4]), tonumber(state[5])
local length = redis.call('LLEN', list_key)
local after_now = string.format('(%.0f', now)
local waiting = redis.call('ZRANGEBYSCORE', hint_key, after_now, '+inf', 'LIMIT', 0, HINTS_MAX)
if not epoch or (state[2] and not (last and keep and members_max and largest)) then
    return corrupt('chat state')
end
if not last then
    return {sequence, 1, 0, epoch, now, '-'}
end

local entries, codes, is_member = {}, {}, {['']  = true}
for i = 1, count do
    local sender, body = ARGV[1 + 2 * i], ARGV[2 + 2 * i]
    if is_member[sender] == nil then
        is_member[sender] = redis.call('ZSCORE', seen_key, sender) and true or false
    end
    codes[i] = is_member[sender] and '0' or '1'
    if is_member[sender] then
        -- string.format would end at a zero byte: only the numbers go through it.
        local head = string.format('%.0f %.0f %d ', last + #entries + 1, math.floor(now / 1000), #sender)
        entries[#entries + 1] = head .. sender .. body
        largest = math.max(largest, #entries[#entries])
    end
end
local text = #entries == count and '-' or table.concat(codes)

local function keep_mark(epoch, number, text)
    local entry = string.format('%.0f %.0f %.0f %.0f %s', sequence, now, epoch, number, text)
    redis.call('HSET', mark_key, client, entry)
    redis.call('PEXPIRE', mark_key, MARKS_MS)
    if #stale > 0 then
        redis.call('HDEL', mark_key, unpack(stale))
    end
end

if #entries > 0 then
    redis.call('RPUSH', list_key, unpack(entries))
    redis.call('HSET', state_key, 'n', string.format('%.0f', last + #entries), 'x', largest)
    if length + #entries > keep then
        redis.call('LTRIM', list_key, -keep, -1) -- whoever had not seen them is told of the gap
    end
end
keep_mark(epoch, last + 1, text)
if #entries == 0 then
    return {sequence, 0, last + 1, epoch, now, text}
end
if #waiting > 0 then
    redis.call('ZREM', hint_key, unpack(waiting))
    local channel = string.match(hint_key, '^([^{]*)') .. 'wake:'
    for i = 1, #waiting do
        -- Last, and its error ignored: without the right to publish the reader finds out by asking.
        redis.pcall('PUBLISH', channel .. string.sub(waiting[i], 1, 16), string.sub(waiting[i], 18))
    end
end
return {sequence, 0, last + 1, epoch, now, text}
