-- mailbox_fetch: reads what is unread and removes nothing. Who finds nothing may leave a token, to be hinted
-- by the next push. Repeating it is harmless: it changes nothing but the token's time.
--
-- KEYS  1 gh:{mailbox:<name>}:s, 2 gh:{mailbox:<name>}:m, 3 gh:{mailbox:<name>}:h   see mailbox_push.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 after     only messages with a larger id
--       4 count     at most this many messages, 0..512
--       5 bytes     at most this many bytes of them, each counting one more; but always one message, if there
--                   is one
--       6 newest    1: if they are more than that, the newest; 0: the oldest
--       7 wait us   how long the token is good for a hint; 0: leave none
-- reply sequence, code, epoch, first id, last id, now us, ms at which the first was stored, entries ...
--       code always 0; nothing unread: first id = last id + 1; a mailbox that was never used: epoch 0, last
--       id 0

local ENTRY_MAX = 8192 -- longer than any that mailbox_push.lua is given
local CHUNK = 32
local HINTS_MS = 3600000

local state_key, list_key, hint_key = KEYS[1], KEYS[2], KEYS[3]
local token, sequence, after, count_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local bytes_max, newest, wait = tonumber(ARGV[5]), ARGV[6] == '1', tonumber(ARGV[7])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local epoch, last = unpack(redis.call('HMGET', state_key, 'e', 'n'))
local length = redis.call('LLEN', list_key)
local head = redis.call('LINDEX', list_key, 0)
if not last then
    last = length == 0 and '0' or string.match(redis.call('LINDEX', list_key, -1), '^(%d+) ')
end
local oldest = head and string.match(head, '^%d+ (%d+) ') or '0'
last, epoch, oldest = tonumber(last), tonumber(epoch or '0'), tonumber(oldest)
if not last or not epoch or not oldest then
    return redis.error_reply('WRONGTYPE mailbox state is not of the form that KEYS.md describes')
end
local first = last - length + 1

local from = math.max(after + 1, first) - first -- places in the list, from 0
local to = length - 1
local reply = {sequence, 0, epoch, first, last, now, oldest}
local bytes, found = 0, {}
while from <= to and #found < count_max do
    local step = math.min(CHUNK, count_max - #found)
    local chunk
    if newest then
        chunk = redis.call('LRANGE', list_key, math.max(to - step + 1, from), to)
        to = to - #chunk
    else
        chunk = redis.call('LRANGE', list_key, from, math.min(from + step - 1, to))
        from = from + #chunk
    end
    for i = 1, #chunk do
        local entry = chunk[newest and #chunk + 1 - i or i]
        bytes = bytes + #entry + 1
        if #entry > ENTRY_MAX then
            return redis.error_reply('WRONGTYPE mailbox entry is longer than any message')
        elseif bytes > bytes_max and #found > 0 then
            count_max = 0
            break
        end
        found[#found + 1] = entry
    end
end
for i = 1, #found do
    reply[7 + i] = found[newest and #found + 1 - i or i]
end

-- Nothing is unread behind `after`: perhaps because it was handled, so the ids alone do not tell.
if wait > 0 and math.max(after + 1, first) > last then
    -- A hint is a convenience: a server without memory for it must not keep anybody from reading.
    if redis.pcall('ZADD', hint_key, string.format('%.0f', now + wait), token) == 1 then
        redis.call('PEXPIRE', hint_key, HINTS_MS)
        redis.call('ZREMRANGEBYSCORE', hint_key, '-inf', string.format('%.0f', now)) -- those who are gone
    end
end
return reply
