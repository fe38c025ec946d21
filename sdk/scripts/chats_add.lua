-- chats_add: notes in a player's own list that it is, or is about to be, in a chat. The list is a hint: the
-- chat alone says who is a member. Repeating it is harmless: it only makes the note younger.
--
-- KEYS  1 gh:{chats:<player>}:l   zset   chat -> when it was noted last (us)
--       2 gh:{chats:<player>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 chat
-- reply sequence, code
--       code 0 noted; 1 full: CHATS_MAX others are noted
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most HINTS_MAX waiting readers

local CHATS_MAX = 1000
local HINTS_MAX = 16

local list_key, hint_key = KEYS[1], KEYS[2]
local sequence, chat = tonumber(ARGV[1]), ARGV[2]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

if not redis.call('ZSCORE', list_key, chat) and redis.call('ZCARD', list_key) >= CHATS_MAX then
    return {sequence, 1}
end
redis.call('ZADD', list_key, string.format('%.0f', now), chat)
-- Last, and errors ignored: a hint is a convenience, and who gets none finds out by asking.
local waiting = redis.pcall('ZPOPMIN', hint_key, HINTS_MAX)
for i = 1, #waiting, 2 do
    if tonumber(waiting[i + 1]) > now then
        local channel = string.match(hint_key, '^([^{]*)') .. 'wake:' .. string.sub(waiting[i], 1, 16)
        redis.pcall('PUBLISH', channel, string.sub(waiting[i], 18))
    end
end
return {sequence, 0}
