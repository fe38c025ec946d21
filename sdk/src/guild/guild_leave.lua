-- guild_leave: players are members no more. Repeating it is harmless: each client's last sequence is kept
-- with what it was answered, so the same sequence gets the same answer, and an older one, which can only be a
-- request from the past, does nothing.
--
-- KEYS  1 gh:{guild:<name>}:m, 2 gh:{guild:<name>}:w   see guild_join.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3, 4, 5 ... folded, name, id, as they joined; at most 64 times three
-- reply sequence, code, members, letters
--       code 0 done       letters: one for each: "l" left, "n" was no member
--            1 old        the client has changed this guild again since: nothing was done
--            2 writers    64 other clients have changed it within ten minutes: nothing was done
--
-- Begins with ZREM, which a server that is out of memory still allows.
-- Redis 6.2 or later.

local member_key, mark_key = KEYS[1], KEYS[2]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])

--@ guild/guild_mark.lua

local letters = ''
for i = 3, #ARGV, 3 do
    local member = string.gsub(ARGV[i], '%z', '\0\255') .. '\0\0'
    if ARGV[i + 1] ~= ARGV[i] then
        member = member .. string.gsub(ARGV[i + 1], '%z', '\0\255')
    end
    if ARGV[i + 2] ~= '' then
        member = member .. '\0\0' .. ARGV[i + 2]
    end
    local left = redis.call('ZREM', member_key, member)
    size = size - left
    letters = letters .. (left == 1 and 'l' or 'n')
end
redis.call('HSET', mark_key, client, string.format('%.0f %.0f %s', sequence, now, letters))
redis.call('PEXPIRE', mark_key, '3600000')
if #stale > 0 then
    redis.call('HDEL', mark_key, unpack(stale))
end
return {sequence, 0, size, letters}
