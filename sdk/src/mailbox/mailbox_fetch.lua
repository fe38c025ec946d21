-- mailbox_fetch: reads what is unread and removes nothing. Who finds nothing may leave a token, to be hinted
-- by the next push. Repeating it is harmless: it changes nothing but the token's time.
--
-- KEYS  1 gh:{mailbox:<name>}:s, 2 gh:{mailbox:<name>}:m, 3 gh:{mailbox:<name>}:h   see mailbox_push.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 after     only messages with a larger id
--       4 count     at most this many messages, 0..512
--       5 bytes     at most this many bytes of them, each counting one more
--       6 newest    1: if they are more than that, the newest; 0: the oldest
--       7 wait us   how long the token is good for a hint; 0: leave none
--       8 room      the reader's bytes when its page is empty, at least argument 5. What is larger comes as
--                   page_entry.lua says, so there is always one message in an empty page, if there is one at all
-- reply sequence, code, epoch, first id, last id, now us, oldest ms, read us, epochs text, entries ...
--       code 0 there  always; nothing unread: first id = last id + 1; a mailbox that was never used: epoch 0, last id 0
--       oldest: when the first was stored
--       read: when a commit last took messages away; 0: none has
--       epochs  "<epoch>:<last id> ..." of those before this one: a message is of the first whose last id is not
--               smaller than its own

local ENTRY_MAX = 65664 -- the longest that mailbox_push.lua writes
local ID_MAX = 9007199254740000
local CHUNK, CHUNK_OF_LARGE = 32, 4 -- a large one takes its time to be read
local PASSED_MAX = 131072 -- bytes of messages that are passed over in one call

local state_key, list_key, hint_key = KEYS[1], KEYS[2], KEYS[3]
local token, sequence, after, count_max = ARGV[1], ARGV[2] + 0, ARGV[3] + 0, ARGV[4] + 0
local bytes_max, newest, wait = ARGV[5] + 0, ARGV[6] == '1', ARGV[7] + 0
local room = ARGV[8] + 0

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'b', 'r', 'x')
local head = redis.call('LINDEX', list_key, 0)
local epoch, last, ended = tonumber(state[1] or '0'), tonumber(state[2] or '0'), state[3] or ''
local read = tonumber(state[4] or '0')
local first, oldest = nil, 0
if head then
    first, oldest = string.match(head, '^(%d+) (%d+) ')
    first, oldest = tonumber(first), tonumber(oldest)
elseif last then
    first = last + 1
end
if head and not (state[1] and state[2]) then -- the state was lost: a later epoch than any that these have had
    last, epoch = string.match(redis.call('LINDEX', list_key, -1), '^(%d+) (%d+) ')
    last, epoch, ended = tonumber(last), epoch and 1000 * (1 + epoch), ''
end
if not epoch or not string.find(state[1] or '1', '^[1-9]%d*$') or epoch > ID_MAX or not last or
   last < 0 or last > ID_MAX or
   last % 1 ~= 0 or not first or first < 1 or first > last + 1 or not oldest or oldest > ID_MAX / 1000 or
   #ended > 2048 or not read or read < 0 or read > ID_MAX or read % 1 ~= 0 then
    return redis.error_reply('CORRUPT mailbox state is not of the form that KEYS.md describes')
end

local from = after < first and 0 or after + 1 - first -- places in the list, from 0
local to = last - first
local reply = {sequence, 0, epoch, first, last, now, oldest, read, ended}
local bytes, passed, found, page = 0, 0, 0, {}
local most = state[5] and CHUNK_OF_LARGE or CHUNK
while from <= to and found < count_max do
    local step = math.min(most, count_max - found, to - from + 1)
    local chunk
    if newest then
        chunk = redis.call('LRANGE', list_key, to - step + 1, to)
        to = to - step
    else
        chunk = redis.call('LRANGE', list_key, from, from + step - 1)
        from = from + step
    end
    if #chunk ~= step then
        return redis.error_reply('CORRUPT mailbox state is not of the form that KEYS.md describes')
    end
    for i = 1, #chunk do
        local entry = chunk[newest and #chunk + 1 - i or i]
--@ talk/page_entry.lua
        found = found + 1
        page[found] = entry
    end
end
for i = 1, found do
    reply[9 + i] = page[newest and found + 1 - i or i]
end

-- Nothing is unread behind `after`: perhaps because it was handled, so the ids alone do not tell.
if wait > 0 and (after >= last or first > last) then
--@ talk/leave_token.lua
end
return reply
