-- files_list: which files were announced in a channel. Who finds nothing may leave a token, to be hinted by
-- the next announcement. Repeating it is harmless: it changes nothing but the token's time.
--
-- KEYS  1 gh:{files:<channel>}:f, 2 gh:{files:<channel>}:l, 3 gh:{files:<channel>}:h   see files_reserve.lua
-- ARGV  1 token     of the reader
--       2 sequence  comes back as the first element of the reply
--       3 after     only files with a larger number
--       4 count     at most this many files, 1..64
--       5 wait us   how long the token is good for a hint; 0: leave none
-- reply sequence, then for each file: number, name, "<bytes reserved> <id>"

local sequence = tonumber(ARGV[2])
local after = '(' .. ARGV[3]
local found = redis.call('ZRANGEBYSCORE', KEYS[2], after, '+inf', 'WITHSCORES', 'LIMIT', '0', ARGV[4])
local reply = {sequence}
for i = 1, #found, 2 do
    reply[#reply + 1] = tonumber(found[i + 1])
    reply[#reply + 1] = found[i]
    reply[#reply + 1] = redis.call('HGET', KEYS[1], found[i]) or '0 0'
end
if #found == 0 and ARGV[5] ~= '0' then
    -- A hint is a convenience: a server without memory for it must not keep anybody from reading.
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    redis.pcall('ZADD', KEYS[3], string.format('%.0f', now + tonumber(ARGV[5])), ARGV[1])
    redis.pcall('PEXPIRE', KEYS[3], '3600000')
    local ended = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now), 'LIMIT', 0, 4)
    if #ended > 0 then
        redis.call('ZREM', KEYS[3], unpack(ended))
    end
end
return reply
