-- files_reserve: room in a channel for a file that is to be sent, and later its announcement. Repeating it is
-- harmless: a file has one place in its channel, and one that was announced under the same id keeps its
-- number.
--
-- KEYS  1 gh:{files:<channel>}:s   hash   b: bytes reserved by all files; n: the last number given; p: 1 while
--                                        a script changes them
--       2 gh:{files:<channel>}:f   hash   file -> "<bytes reserved> <id>"
--       3 gh:{files:<channel>}:l   zset   announced file -> number, in order of announcement
--       4 gh:{files:<channel>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 file      its name
--       3 bytes     to reserve
--       4 cap       bytes that all files of the channel may reserve
--       5 id        of the file
--       6 announce  1: announce it, too, whether there is room or not; 0: reserve only
--       7 not after us: store time after which this is too late; 0: never
-- reply sequence, code, number, probe id, probe text
--       code 0 done
--            1 full   no room, or FILES_MAX are there; probe is one of them, which may have ended without a
--                     word
--            2 stale  it is after `not after`; number: what time it is
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most HINTS_MAX waiting readers
-- Redis 6.2 or later.

--@ client/check.lua

local HINTS_MAX = 16
local IDLE_MS = '2592000000' -- a channel that nobody uses is forgotten after 30 days
local NAME_MAX = 64

local sequence, file, bytes = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local cap, id, announce, not_after = tonumber(ARGV[4]), ARGV[5], ARGV[6] == '1', tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if not_after > 0 and now > not_after then
    return {sequence, 2, now, 0, ''}
end
--@ files/files_sum.lua
local entry = redis.call('HGET', KEYS[2], file)
local had, had_id = parse(entry or '0 0')
local score = redis.call('ZSCORE', KEYS[3], file)
local number = score and whole(score)
if not had or (score and not number) then
    return corrupt('channel')
end

local again = had_id == id
if again and not totals[3] and (number or not announce) then
    return {sequence, 0, number or 0, 0, ''}
elseif not again then
    sum = math.max(sum - tonumber(had), 0) -- of another file of that name, which is gone
    local full = (sum > 0 and sum + bytes > cap) or (not entry and redis.call('HLEN', KEYS[2]) >= FILES_MAX)
    if full and not announce then
        local probe = redis.call('HRANDFIELD', KEYS[2], 1, 'WITHVALUES')
        local _, probe_id = parse(probe[2] or '0 0')
        if not probe_id or #(probe[1] or '') > NAME_MAX then
            return corrupt('channel')
        end
        return {sequence, 1, 0, tonumber(probe_id), probe[1] or ''}
    end
    sum = sum + bytes
end

local waiting, place = {}, number
if announce and not (again and number) then -- a hint is a convenience: nothing about it is in the way
    local after = string.format('(%.0f', now)
    waiting = redis.pcall('ZRANGEBYSCORE', KEYS[4], after, '+inf', 'LIMIT', 0, HINTS_MAX)
    last = math.max(last + 1, now)
    place = last
end
redis.call('HSET', KEYS[1], 'b', string.format('%.0f', sum), 'n', string.format('%.0f', last), 'p', '1')
redis.call('HSET', KEYS[2], file, string.format('%.0f ', again and had or bytes) .. id)
if number and not again then
    redis.call('ZREM', KEYS[3], file)
end
if place ~= number then
    redis.call('ZADD', KEYS[3], string.format('%.0f', place), file)
end
redis.call('HDEL', KEYS[1], 'p')
for i = 1, 3 do
    redis.call('PEXPIRE', KEYS[i], IDLE_MS)
end
if #waiting > 0 then
    redis.call('ZREM', KEYS[4], unpack(waiting))
    --@ client/hint.lua
    for i = 1, #waiting do
        hint(waiting[i], '')
    end
end
return {sequence, 0, announce and place or 0, 0, ''}
