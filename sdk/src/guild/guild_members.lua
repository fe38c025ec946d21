-- guild_members: who of the players that join or leave are members of the guild.
--
-- wants first   where in ARGV the first player's folded form stands; a name and an id come behind each
--       member_key; sequence, and past and said of client/mark.lua
-- gives size      members that the guild has
--       members   the bytes that stand for each player in the guild, see guild_join.lua
--       scores    false for those who are no members
--
-- reply in one text: sequence, code, members, letters text
--       code 0 done  letters: one for each player
--            1 old   the client has changed this guild again since: nothing was done
--
-- Ends the script for a repeat, and for a request from the past.

local CAPACITY_MAX = 1000000 -- no guild of ours has more

local size = redis.call('ZCARD', member_key)
if size > CAPACITY_MAX then
    return redis.error_reply('CORRUPT guild is larger than any that KEYS.md describes')
end
if past > sequence then
    return ARGV[2] .. ' 1 ' .. size .. ' '
elseif past == sequence then
    return ARGV[2] .. ' 0 ' .. size .. ' ' .. (said or '')
end

local members = {}
for i = first, #ARGV, 3 do
    local member = string.gsub(ARGV[i], '%z', '\0\255') .. '\0\0'
    if ARGV[i + 1] ~= ARGV[i] then
        member = member .. string.gsub(ARGV[i + 1], '%z', '\0\255')
    end
    if ARGV[i + 2] ~= '' then
        member = member .. '\0\0' .. ARGV[i + 2]
    end
    members[#members + 1] = member
end
local scores = redis.call('ZMSCORE', member_key, unpack(members))
