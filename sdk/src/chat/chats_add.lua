-- chats_add: notes in a player's own list that it is, or is about to be, in a chat. The list is a hint: the
-- chat alone says who is a member. Repeating it is harmless: it only makes the note younger.
--
-- KEYS  1 gh:{chats:<player>}:l   zset   chat -> when it was noted last (us)
--       2 gh:{chats:<player>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 chat
-- reply in one text: sequence, code
--       code 0 noted
--            1 full   CHATS_MAX others are noted
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most 16 waiting readers

local CHATS_MAX = 1000

local list_key, hint_key = KEYS[1], KEYS[2]
local chat = ARGV[2]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

if not redis.call('ZSCORE', list_key, chat) and redis.call('ZCARD', list_key) >= CHATS_MAX then
    return ARGV[1] .. ' 1'
end
redis.call('ZADD', list_key, string.format('%.0f', now), chat)
--@ client/hint.lua
--@ talk/hint_readers.lua
return ARGV[1] .. ' 0'
