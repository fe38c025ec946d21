-- chats_list: the chats that a player has in its own list, which is a hint: ask the chats. Who has seen the
-- whole list may leave a token, to be hinted by the next that is noted. Repeating it is harmless.
--
-- KEYS  1 gh:{chats:<player>}:l, 2 gh:{chats:<player>}:h   see chats_add.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 place     of the first that is wanted, from 0
--       4 count     at most this many, 1..256
--       5 wait us   how long the token is good for a hint; 0: leave none
-- reply sequence, chats, now us, names ...
--       chats: in the list

local list_key, hint_key = KEYS[1], KEYS[2]
local token, sequence, place, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local wait = tonumber(ARGV[5])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local total = redis.call('ZCARD', list_key)
local reply = {sequence, total, now}
local names = redis.call('ZRANGE', list_key, place, place + count - 1)
for i = 1, #names do
    reply[3 + i] = names[i]
end
if wait > 0 and place + #names >= total then
--@ talk/leave_token.lua
end
return reply
