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
--                                    g: 1 when the last has ended; u: the token that w took over from
--       2 gh:{file:<name>}:c   hash   number of a chunk, from 0 -> its digest (16 bytes) and its bytes
--       3 gh:{file:<name>}:o   zset   reader that has not ended -> how many bytes it has read
--       4 gh:{file:<name>}:e   zset   reader that has not ended -> until when its lease runs (us), of no
--                              meaning before v
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>", of the sender
--       2 sequence  comes back as the first element of the reply
--       3 chunk bytes, 4 cap bytes, 5 lease us, 6 standstill us
--       7 not after us: store time after which this is too late; 0: never
--       8 ...       names of the readers, 1..64, each once
-- reply sequence, code, id, chunk bytes, chunks, bytes, shown, digest text
--       code 0 open           to be written from chunk `chunks` on; digest: of the bytes that are there, in hex, '' if
--                             none are
--            1 sealed         before; digest: of the whole
--            2 other readers  there with them
--            3 taken          another sender has opened it after this one: this is a copy that comes late
--            4 stale          it is after `not after`; id: what time it is
--       shown 0 hidden   not to be read yet
--             1 visible  readers may read
--             2 ended    all of them have
--       digests are XXH3-128 as 32 hex digits
-- The readers come first and the state last: without it there is no file, and what is left of one is dropped.
-- Redis 6.2 or later.
--@ client/check.lua
--@ files/files_still.lua

local READERS_MAX = 64
local CHUNK_MAX = 131072
local STILL_MAX = 604800000000

local state_key, reader_key = KEYS[1], KEYS[3]
local token, sequence, not_after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[7])

-- Of the whole, of what is there, or of nothing yet.
local function is_digest(text)
    return not text or (#text == 32 and not string.find(text, '%X'))
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if not_after > 0 and now > not_after then
    return {sequence, 4, now, 0, 0, 0, 0, ''}
end
local state = redis.call('HMGET', state_key, 'i', 'k', 'n', 'b', 'p', 'v', 'z', 'm', 't', 'g', 'w', 'u')
local shown = state[10] and 2 or state[6] and 1 or 0

if state[1] then
    local id, readers, still = whole(state[1]), whole(state[8], READERS_MAX), whole(state[9], STILL_MAX)
    local chunk_bytes, chunks, bytes = whole(state[2], CHUNK_MAX), whole(state[3]), whole(state[4])
    if not (id and readers and chunk_bytes and chunks and bytes and still) or
        math.ceil(bytes / chunk_bytes) ~= chunks or not is_digest(state[7] or state[5]) then
        return corrupt('file state')
    end
    local same = readers == #ARGV - 7
    for i = 8, #ARGV do
        same = same and (redis.call('HEXISTS', state_key, 'r:' .. ARGV[i]) == 1 or
                         redis.call('ZSCORE', reader_key, ARGV[i])) and true
    end
    if not same then
        return {sequence, 2, id, chunk_bytes, chunks, bytes, shown, ''}
    elseif state[7] then
        return {sequence, 1, id, chunk_bytes, chunks, bytes, shown, state[7]}
    elseif state[12] == token and state[11] ~= token then
        return {sequence, 3, id, chunk_bytes, chunks, bytes, shown, ''}
    end
    redis.call('HSET', state_key, 'w', token, 'u', state[11] ~= token and state[11] or state[12] or '',
               'x', string.format('%.0f', now + math.floor(still / 4)))
    for i = 1, 4 do
        local left = redis.call('PTTL', KEYS[i])
        if left >= -1 and left < still_ms(still) then
            redis.call('PEXPIRE', KEYS[i], still_ms(still))
        end
    end
    return {sequence, 0, id, chunk_bytes, chunks, bytes, shown, state[5] or ''}
end

local ms = still_ms(tonumber(ARGV[6]))
if redis.call('HLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]) > 0 then
    redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
end
local readers = {}
for i = 8, #ARGV do
    readers[#readers + 1], readers[#readers + 2] = '0', ARGV[i]
end
redis.call('ZADD', reader_key, unpack(readers))
redis.call('PEXPIRE', reader_key, ms)
redis.call('HSET', state_key, 'i', string.format('%.0f', now), 'w', token, 'k', ARGV[3], 'n', '0', 'b', '0',
           'f', '0', 'a', ARGV[4], 'l', ARGV[5], 't', ARGV[6], 'm', tostring(#ARGV - 7),
           'x', string.format('%.0f', now + math.floor(tonumber(ARGV[6]) / 4)))
redis.call('PEXPIRE', state_key, ms)
return {sequence, 0, now, tonumber(ARGV[3]), 0, 0, 0, ''}
