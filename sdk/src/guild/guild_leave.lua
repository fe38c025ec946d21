-- guild_leave: players are members no more. Repeating it is harmless: each client's last sequence is kept
-- with what it was answered, so the same sequence gets the same answer, and an older one, which can only be a
-- request from the past, does nothing.
--
-- KEYS  1 gh:{guild:<name>}:m, 2 gh:{guild:<name>}:w<2 hex digits>   see guild_join.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                   client/mark.lua
--       2 sequence  comes back as the first element of the reply
--       3, 4, 5 ... folded, name, id, as they joined; at most 64 times three
-- reply as guild/guild_members.lua
--       letters "l" left
--               "n" no member
--
-- Begins with ZREM, which a server that is out of memory still allows.
-- Redis 6.2 or later.

local first = 3 -- of the players, in ARGV
local member_key, shelf_key = KEYS[1], KEYS[2]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local time = redis.call('TIME')
local resident -- all marks lie on shelves

--@ client/mark.lua
--@ guild/guild_members.lua

local letters, is_leaving = {}, {}
for i = 1, #members do
    local leaves = scores[i] and not is_leaving[members[i]]
    letters[i] = leaves and 'l' or 'n'
    is_leaving[members[i]] = true
end
letters = table.concat(letters)

-- All at once, and before the mark: until that is there, the repeat does it again.
size = size - redis.call('ZREM', member_key, unpack(members))
shelve(mark_head .. letters)
return ARGV[2] .. ' 0 ' .. size .. ' ' .. letters
