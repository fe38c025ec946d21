-- files_reserve: room in a channel for a file that is to be sent, and later its announcement. Repeating it is
-- harmless: a file has one place in its channel, and one that was announced under the same id keeps its
-- number.
--
-- KEYS  1 gh:{files:<channel>}:s   hash   b: bytes reserved by all files; n: the last number given
--       2 gh:{files:<channel>}:f   hash   file -> "<bytes reserved> <id>"
--       3 gh:{files:<channel>}:l   zset   announced file -> number, in order of announcement
--       4 gh:{files:<channel>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 bytes     to reserve
--       4 cap       bytes that all files of the channel may reserve
--       5 id        of the file
--       6 announce  1: announce it, too, whether there is room or not; 0: reserve only
-- reply sequence, code, number, probe id, probe
--       code 0 done
--            1 full   no room, or FILES_MAX are there; probe is one of them, which may have ended without a
--                     word
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most HINTS_MAX waiting readers
-- Redis 6.2 or later.

local FILES_MAX = 1000
local HINTS_MAX = 16
local IDLE_MS = '2592000000' -- a channel that nobody uses is forgotten after 30 days

local sequence, file, bytes = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local cap, id, announce = tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1'
local sum, last = unpack(redis.call('HMGET', KEYS[1], 'b', 'n'))
sum, last = tonumber(sum or '0'), tonumber(last or '0')
local entry = redis.call('HGET', KEYS[2], file)
local had, had_id = string.match(entry or '0 0', '^(%d+) (%d+)$')
local number = tonumber(redis.call('ZSCORE', KEYS[3], file) or nil)
if not sum or not last or not had then
    return redis.error_reply('CORRUPT channel state is not of the form that KEYS.md describes')
end

local again = had_id == id
if again and (number or not announce) then
    return {sequence, 0, number or 0, 0, ''}
elseif not again then
    sum = sum - tonumber(had) -- of another file of that name, which is gone
    local full = (sum > 0 and sum + bytes > cap) or (not entry and redis.call('HLEN', KEYS[2]) >= FILES_MAX)
    if full and not announce then
        local probe = redis.call('HRANDFIELD', KEYS[2], 1, 'WITHVALUES')
        return {sequence, 1, 0, tonumber(string.match(probe[2] or '', ' (%d+)$') or 0), probe[1] or ''}
    end
    sum = sum + bytes
end

local waiting = {}
redis.call('HSET', KEYS[2], file, again and entry or string.format('%.0f ', bytes) .. id)
if number then
    redis.call('ZREM', KEYS[3], file)
end
if announce then
    local time = redis.call('TIME')
    local now = time[1] * 1000000 + time[2]
    last = math.max(last + 1, now)
    redis.call('ZADD', KEYS[3], string.format('%.0f', last), file)
    waiting = redis.call('ZRANGEBYSCORE', KEYS[4], string.format('(%.0f', now), '+inf', 'LIMIT', 0, HINTS_MAX)
end
redis.call('HSET', KEYS[1], 'b', string.format('%.0f', sum), 'n', string.format('%.0f', last))
redis.call('PEXPIRE', KEYS[1], IDLE_MS)
redis.call('PEXPIRE', KEYS[2], IDLE_MS)
redis.call('PEXPIRE', KEYS[3], IDLE_MS)
if #waiting > 0 then
    redis.call('ZREM', KEYS[4], unpack(waiting))
    local channel = string.match(KEYS[1], '^([^{]*)') .. 'wake:'
    for i = 1, #waiting do
        redis.pcall('PUBLISH', channel .. string.sub(waiting[i], 1, 16), string.sub(waiting[i], 18))
    end
end
return {sequence, 0, announce and last or 0, 0, ''}
