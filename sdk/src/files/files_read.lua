-- files_read: what a reader says to a file: I am here, I have read so far, I am done. Repeating it is
-- harmless: what was read only grows, and who has ended has ended.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:c, 3 gh:{file:<name>}:o, 4 gh:{file:<name>}:e
--       see files_open.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 reader    its name
--       3 offset    bytes that it has read and will not ask for again
--       4 done      1: it has read all, and ends; the offset must be the size
--       5 id        that the file must have; 0: any
-- reply sequence, code, id, chunk bytes, chunks, bytes, offset, left, sealed, lease us, digest text
--       code 0 noted
--            1 gone         no such file
--            2 no reader    not one of its readers
--            3 done before
--            4 given up     its lease ran out
--            5 not yet      to be read
--            6 beyond       the offset is beyond the end, or not the end
--       left: readers
--       digest: of the whole, once sealed
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of the sender's op that waits for room
-- The chunks themselves are read with HGET gh:{file:<name>}:c <number>: 16 bytes of digest, then the bytes.

local DONE_MS = '3600000' -- so long it is known who has read a file to which nobody comes any more
local WHOLE_MAX = 9007199254740991
local READERS_MAX = 64
local LEASE_MIN = 1000000
local LEASE_MAX = 86400000000

local state = redis.call('HMGET', KEYS[1], 'i', 'k', 'n', 'b', 'f', 'v', 'z', 'l', 'h', 'g', 'r:' .. ARGV[2])
local sequence, reader, offset = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local id, chunk_bytes = tonumber(state[1]), tonumber(state[2])
local chunks, bytes = tonumber(state[3]), tonumber(state[4])
local freed, lease = tonumber(state[5]), tonumber(state[8])
local sealed, digest = state[7] and 1 or 0, state[7] or ''

local function answer(code, read, left)
    return {sequence, code, id or 0, chunk_bytes or 0, chunks or 0, bytes or 0, read, left, sealed,
            lease or 0, digest}
end

if not state[1] or (ARGV[5] ~= '0' and ARGV[5] ~= state[1]) then
    return {sequence, 1, 0, 0, 0, 0, 0, 0, 0, 0, ''}
elseif not (id and chunk_bytes and chunks and bytes and freed and lease and id > 0 and id <= WHOLE_MAX) or
    not (freed >= 0 and freed <= chunks and chunks <= bytes and bytes <= WHOLE_MAX) or
    not (chunk_bytes > 0 and chunk_bytes <= 131072 and lease >= LEASE_MIN and lease <= LEASE_MAX) or
    (id + freed + chunks + bytes + chunk_bytes + lease) % 1 ~= 0 or (sealed == 1 and #digest ~= 32) then
    return redis.error_reply('CORRUPT file state is not of the form that KEYS.md describes')
end
local left = redis.call('ZCARD', KEYS[3])
local read = tonumber(redis.call('ZSCORE', KEYS[3], reader) or nil)
if left > READERS_MAX or (read and (read < 0 or read > bytes or read % 1 ~= 0)) then
    return redis.error_reply('CORRUPT file readers are not of the form that KEYS.md describes')
elseif state[11] and (state[11] ~= 'd' or state[10] or (left > 0 and not read)) then
    return answer(state[11] == 'd' and 3 or 4, bytes, left)
elseif not (read or state[11]) then
    return answer(2, 0, 0)
elseif not state[6] then
    return answer(5, read, 0)
elseif not state[11] and (offset > bytes or (ARGV[4] == '1' and (sealed == 0 or offset ~= bytes))) then
    return answer(6, read, 0)
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[4] == '1' or state[11] then -- who is named as done and has not left was stopped on its way out
    local ended = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now), 'LIMIT', 0, READERS_MAX)
    if redis.call('ZCARD', KEYS[4]) > READERS_MAX then
        return redis.error_reply('CORRUPT file leases are not of the form that KEYS.md describes')
    end
    redis.call('HDEL', KEYS[1], '-') -- there is none: a first write for which memory is never too little
    redis.call('HSET', KEYS[1], 'r:' .. reader, 'd')
    for i = 1, #ended do
        if redis.call('HEXISTS', KEYS[1], 'r:' .. ended[i]) == 0 then
            redis.call('HSET', KEYS[1], 'r:' .. ended[i], 'x')
        end
        redis.call('ZREM', KEYS[3], ended[i])
        redis.call('ZREM', KEYS[4], ended[i])
    end
    redis.call('ZREM', KEYS[3], reader)
    redis.call('ZREM', KEYS[4], reader)
    read = bytes
    left = redis.call('ZCARD', KEYS[3])
    if left == 0 then -- all have ended: the bytes go, the state stays for those who ask again
        redis.call('HSET', KEYS[1], 'g', '1')
        redis.call('PEXPIRE', KEYS[1], DONE_MS)
        redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
        return answer(state[11] and 3 or 0, read, 0)
    end
else
    redis.call('HDEL', KEYS[1], '-')
    redis.call('ZADD', KEYS[4], string.format('%.0f', now + lease), reader)
    if offset > read then
        redis.call('ZADD', KEYS[3], 'XX', string.format('%.0f', offset), reader)
        read = offset
    end
end

local least = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
--@ files/files_free.lua
if sealed == 1 then -- from now on it lives as long as its readers; before, as long as its sender
    local last = tonumber(redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')[2]) or now
    local ms = math.floor(math.max(math.min(last - now, LEASE_MAX), 0) / 1000) + 1
    for i = 1, 4 do
        redis.call('PEXPIRE', KEYS[i], ms)
    end
end
if upto > freed and state[9] then -- the sender that waits for room is told
    redis.call('HDEL', KEYS[1], 'h')
    --@ client/hint.lua
    hint(state[9], '')
end
return answer(state[11] and 3 or 0, read, left)
