-- guild_join: players become members, as many as there is room for, in one step. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer,
-- and an older one, which can only be a request from the past, does nothing. A client sends one change of a
-- guild at a time.
--
-- KEYS  1 gh:{guild:<name>}:m   zset   member, all with the score 0, so they lie in the order of their bytes:
--                                      "<folded><0><0><name>" or, with an id,
--                                      "<folded><0><0><name><0><0><id>". <0> is a zero byte; one within
--                                      folded or name has a byte of 255 behind it; a name that is its own
--                                      folded form is left out
--       2 gh:{guild:<name>}:w<2 hex digits>   hash   marks of the clients that change it, each with the letters that
--                                              it was answered: see client/mark.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                   client/mark.lua
--       2 sequence  comes back as the first element of the reply
--       3 capacity  members that the guild may have
--       4, 5, 6 ... folded, name, id; at most 64 times three
-- reply as guild/guild_members.lua
--       letters "j" joined
--               "m" member  was one before
--               "f" full
-- Redis 6.2 or later.

local first = 4 -- of the players, in ARGV
local member_key, shelf_key = KEYS[1], KEYS[2]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local time = redis.call('TIME')
local resident -- all marks lie on shelves

--@ client/mark.lua
--@ guild/guild_members.lua

local capacity = tonumber(ARGV[3])
local letters, joining, is_joining = {}, {}, {}
for i = 1, #members do
    local member = members[i]
    if scores[i] or is_joining[member] then
        letters[i] = 'm'
    elseif size >= capacity then
        letters[i] = 'f'
    else
        letters[i] = 'j'
        size = size + 1
        is_joining[member] = true
        joining[#joining + 1] = '0'
        joining[#joining + 1] = member
    end
end
letters = table.concat(letters)

if #joining > 0 then
    redis.call('ZADD', member_key, unpack(joining)) -- before the mark: until that is there, the repeat does it again
end
shelve(mark_head .. letters)
return ARGV[2] .. ' 0 ' .. size .. ' ' .. letters
