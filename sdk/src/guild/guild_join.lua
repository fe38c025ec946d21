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
--       2 gh:{guild:<name>}:w   hash   client -> "<sequence> <now us> <letters>" of its last change
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 capacity  members that the guild may have
--       4, 5, 6 ... folded, name, id; at most 64 times three
-- reply sequence, code, members, letters
--       code 0 done       letters: one for each: "j" joined, "m" was a member before, "f" the guild is full
--            1 old        the client has changed this guild again since: nothing was done
--            2 writers    64 other clients have changed it within ten minutes: nothing was done
-- Redis 6.2 or later.

local member_key, mark_key = KEYS[1], KEYS[2]
local client, sequence, capacity = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), tonumber(ARGV[3])

--@ guild/guild_mark.lua

local members = {}
for i = 4, #ARGV, 3 do
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

redis.call('HSET', mark_key, client, string.format('%.0f %.0f %s', sequence, now, letters))
if #joining > 0 then
    redis.call('ZADD', member_key, unpack(joining))
end
redis.call('PEXPIRE', mark_key, '3600000')
if #stale > 0 then
    redis.call('HDEL', mark_key, unpack(stale))
end
return {sequence, 0, size, letters}
