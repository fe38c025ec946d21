-- files_open: makes a file that is to be sent, or takes up one whose sender has died. Repeating it is
-- harmless: what is there stays as it is, and the same token becomes its sender again.
--
-- KEYS  1 gh:{file:<name>}:s   hash   i: id, the time (us) at which it was made; w: token of the sender that
--                                    may write; k: bytes of a chunk; n: chunks stored; b: bytes stored;
--                                    p: digest of the first b bytes; f: chunks that all readers have read,
--                                    which are gone; a: cap, bytes that may lie in :c; l: lease of a reader
--                                    (us); t: until an upload that stands still is dropped (us); x: when the
--                                    times to live must be looked after (us); v: 1 once readers may read;
--                                    z: digest of the whole, once sealed; h: token that waits for room;
--                                    m: readers; r:<reader>: d has read it all, x its lease ran out;
--                                    g: 1 when the last has ended
--       2 gh:{file:<name>}:c   hash   number of a chunk, from 0 -> its digest (16 bytes) and its bytes
--       3 gh:{file:<name>}:o   zset   reader that has not ended -> how many bytes it has read
--       4 gh:{file:<name>}:e   zset   reader that has not ended -> until when its lease runs (us); empty
--                              before v
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>", of the sender
--       2 sequence  comes back as the first element of the reply
--       3 chunk bytes, 4 cap bytes, 5 lease us, 6 standstill us
--       7 ...       names of the readers, 1..64, each once
-- reply sequence, code, id, chunk bytes, chunks, bytes, shown, digest
--       code 0 to be written from chunk `chunks` on; digest: of the bytes that are there, in hex, '' if none
--              are
--            1 sealed before; digest: of the whole
--            2 there with other readers
--       shown 0 not to be read yet; 1 readers may read; 2 all of them have ended
--       digests are XXH3-128 as 32 hex digits
-- Redis 6.2 or later.

local state_key, reader_key = KEYS[1], KEYS[3]
local token, sequence = ARGV[1], tonumber(ARGV[2])

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', state_key, 'i', 'k', 'n', 'b', 'p', 'v', 'z', 'm', 't', 'g')
local id, shown = tonumber(state[1]), state[10] and 2 or state[6] and 1 or 0

if id then
    local readers = tonumber(state[8])
    local chunk_bytes, chunks = tonumber(state[2]), tonumber(state[3])
    local bytes, still = tonumber(state[4]), tonumber(state[9])
    if not (readers and chunk_bytes and chunks and bytes and still) then
        return redis.error_reply('CORRUPT file state is not of the form that KEYS.md describes')
    end
    local same = readers == #ARGV - 6
    for i = 7, #ARGV do
        same = same and (redis.call('HEXISTS', state_key, 'r:' .. ARGV[i]) == 1 or
                         redis.call('ZSCORE', reader_key, ARGV[i])) and true
    end
    if not same then
        return {sequence, 2, id, chunk_bytes, chunks, bytes, shown, ''}
    elseif state[7] then
        return {sequence, 1, id, chunk_bytes, chunks, bytes, shown, state[7]}
    end
    redis.call('HSET', state_key, 'w', token, 'x', string.format('%.0f', now + math.floor(still / 4)))
    for i = 1, 4 do
        local left = redis.call('PTTL', KEYS[i])
        if left >= 0 and left < still / 1000 then
            redis.call('PEXPIRE', KEYS[i], math.floor(still / 1000) + 1)
        end
    end
    return {sequence, 0, id, chunk_bytes, chunks, bytes, shown, state[5] or ''}
end

local still = tonumber(ARGV[6])
local ms = math.floor(still / 1000) + 1
if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then
    return redis.error_reply('CORRUPT file without a state')
end
redis.call('HSET', state_key, 'i', string.format('%.0f', now), 'w', token, 'k', ARGV[3], 'n', '0', 'b', '0',
           'f', '0', 'a', ARGV[4], 'l', ARGV[5], 't', ARGV[6], 'm', tostring(#ARGV - 6),
           'x', string.format('%.0f', now + math.floor(still / 4)))
redis.call('PEXPIRE', state_key, ms)
for i = 7, #ARGV do
    redis.call('ZADD', reader_key, '0', ARGV[i])
end
redis.call('PEXPIRE', reader_key, ms)
return {sequence, 0, now, tonumber(ARGV[3]), 0, 0, 0, ''}
