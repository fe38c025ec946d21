-- guild_leave: players are members no more. Repeating it is harmless: each client's last sequence is kept with what it
-- was answered, so the same sequence gets the same answer, and an older one, which can only be a request from the past,
-- does nothing.
--
-- KEYS  1 gh:{guild:<name>}:m, 2 gh:{guild:<name>}:w   see guild_join.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3, 4, 5 ... folded, name, id, as they joined; at most 64 times three
-- reply sequence, code, members, letters
--       code 0 done       letters: one for each: "l" left, "n" was no member
--            1 old        the client has changed this guild again since: nothing was done
--            2 writers    64 other clients have changed it within STALE_US: nothing was done
--
-- Begins with ZREM, which a server that is out of memory still allows.
-- Redis 6.2 or later.

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request

local member_key, mark_key = KEYS[1], KEYS[2]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size = redis.call('ZCARD', member_key)

-- What this client did last, and whether there is room for one more.
local mark = redis.call('HGET', mark_key, client)
if mark then
    local past, letters = string.match(mark, '^(%d+) %d+ (%l*)$')
    if not past then
        return redis.error_reply('CORRUPT guild mark is not of the form that KEYS.md describes')
    elseif tonumber(past) >= sequence then
        local is_old = tonumber(past) > sequence
        return {sequence, is_old and 1 or 0, size, is_old and '' or letters}
    end
end
local stale = {}
local function look_at(fields)
    for i = 1, #fields, 2 do
        local used = string.match(fields[i + 1], '^%d+ (%d+) ')
        if fields[i] ~= client and (not used or tonumber(used) + STALE_US < now) then
            stale[#stale + 1] = fields[i]
        end
    end
end
local writers = redis.call('HLEN', mark_key)
if not mark and writers >= WRITERS_MAX then
    look_at(redis.call('HGETALL', mark_key))
    if #stale == 0 then
        return {sequence, 2, size, ''}
    end
elseif writers > 1 then
    look_at(redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES'))
end

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
