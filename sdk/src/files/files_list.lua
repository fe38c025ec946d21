-- files_list: which files were announced in a channel. Who finds nothing may leave a token, to be hinted by
-- the next announcement. Repeating it is harmless: it changes nothing but the token's time.
--
-- KEYS  1 gh:{files:<channel>}:s, 2 gh:{files:<channel>}:f, 3 gh:{files:<channel>}:l, 4 gh:{files:<channel>}:h
--       see files_reserve.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 after     only files with a larger number. If no number so large was given here, the store went back
--                   behind it: then all are listed
--       4 count     at most this many files, 1..64
--       5 wait us   how long the token is good for a hint; 0: leave none
-- reply sequence, files ...
--       of each file number, name, "<bytes reserved> <id>"

--@ client/check.lua

local NAME_MAX = 64
local PAIR_MAX = 40
local DAY_US = 86400000000

local sequence, after = tonumber(ARGV[2]), tonumber(ARGV[3])
local last = whole(redis.call('HGET', KEYS[1], 'n') or '0')
if not last then
    return corrupt('channel state')
end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if after > last and after < now + DAY_US then -- numbers are times
    after = 0
end
local from = string.format('(%.0f', after)
local found = redis.call('ZRANGEBYSCORE', KEYS[3], from, '+inf', 'WITHSCORES', 'LIMIT', '0', ARGV[4])
local reply = {sequence}
for i = 1, #found, 2 do
    local name, number = found[i], whole(found[i + 1])
    local pair = redis.call('HGET', KEYS[2], name) or '0 0'
    if not number or #name > NAME_MAX or #pair > PAIR_MAX then
        return corrupt('channel')
    end
    reply[#reply + 1] = number
    reply[#reply + 1] = name
    reply[#reply + 1] = pair
end
if #found == 0 and ARGV[5] ~= '0' then
    -- A hint is a convenience: nothing about it must keep anybody from reading.
    redis.pcall('ZADD', KEYS[4], string.format('%.0f', now + tonumber(ARGV[5])), ARGV[1])
    redis.pcall('PEXPIRE', KEYS[4], '3600000')
    local ended = redis.pcall('ZRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now), 'LIMIT', 0, 4)
    if #ended > 0 then
        redis.pcall('ZREM', KEYS[4], unpack(ended))
    end
end
return reply
