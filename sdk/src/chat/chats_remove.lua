-- chats_remove: takes a chat from a player's own list, unless it was noted again in the meantime. Repeating
-- it is harmless.
--
-- KEYS  1 gh:{chats:<player>}:l   see chats_add.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 chat
--       3 until us  removed if it was noted at this time or before, by the clock of this key's node, which need
--                   not be the chat's; 0: if it was noted GRACE_US ago or before. Who makes a chat notes it first,
--                   so that no crash can leave a member without its note: a young note of a chat that the player
--                   is not in yet is none of anybody's business
--       [4] asked   us of the node's clock: where until is 0, GRACE_US counts from then, so that a copy which comes
--                   late takes no note that was made since
-- reply in one text: sequence, code
--       code 0 removed  not in the list now
--            1 kept     left alone
--
-- Writes with ZREM alone, which a server that is out of memory still allows.

local GRACE_US = 120000000 -- longer than any client takes to make a chat

local chat, limit, asked = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4] or '')

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local noted = tonumber(redis.call('ZSCORE', KEYS[1], chat) or '0')
if noted > (limit > 0 and limit or math.min(now, asked or now) - GRACE_US) then
    return ARGV[1] .. ' 1'
end
redis.call('ZREM', KEYS[1], chat)
return ARGV[1] .. ' 0'
