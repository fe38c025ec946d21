-- files_chunk: stores the next chunk of a file. Repeating it is harmless: a chunk that is there is compared
-- and not written again, and one that comes too early is not taken.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:c, 3 gh:{file:<name>}:o, 4 gh:{file:<name>}:e
--       see files_open.lua
-- ARGV  1 token     of the sender
--       2 sequence  comes back as the first element of the reply
--       3 number    of the chunk, from 0
--       4 value     its digest (16 bytes), then its bytes
--       5 digest    of all bytes of the file up to its end, 32 hex digits
--       6 waiter    token that gets a hint when there is room again
-- reply in one text: sequence, code, chunks, again
--       code 0 stored    now, or before
--            1 full      the cap is reached: readers must read; again 1: there was something to drop, ask
--                        again at once
--            2 early     an earlier one is missing: `chunks` is the number of the next
--            3 taken     another sender writes this file
--            4 gone      there is no such file, or no reader is left
--            5 differs   the chunk is there with other bytes, or the file is sealed without it
-- A chunk is stored with HSET as the first write: one that was stored alone is written again. Making room is a step of
-- its own, which begins with HDEL, for which memory is never too little; a reader is named as lost before it leaves.

local WHOLE_MAX = 9007199254740991
local READERS_MAX = 64

--@ files/files_still.lua

local state = redis.call('HMGET', KEYS[1], 'w', 'n', 'b', 'k', 'f', 'a', 'x', 'z', 't', 'g', 'v')
local number = tonumber(ARGV[3])
local chunks, bytes, chunk_bytes = tonumber(state[2]), tonumber(state[3]), tonumber(state[4])
local freed, cap, still = tonumber(state[5]), tonumber(state[6]), tonumber(state[9])
local due = tonumber(state[7])
local size = #ARGV[4] - 16

local function answer(code)
    return string.format('%s %d %.0f 0', ARGV[2], code, chunks)
end

local function corrupt()
    return redis.error_reply('CORRUPT file state is not of the form that KEYS.md describes')
end

if not state[1] or state[10] then
    return ARGV[2] .. ' 4 0 0'
elseif not (chunks and bytes and chunk_bytes and freed and cap and still and due and due <= WHOLE_MAX) or
    not (freed >= 0 and freed <= chunks and chunks <= bytes and bytes <= WHOLE_MAX and cap <= WHOLE_MAX) or
    not (chunk_bytes > 0 and chunk_bytes <= 131072 and still > 0 and still <= 604800000000) or
    (freed + chunks + bytes + chunk_bytes + still) % 1 ~= 0 then
    return corrupt()
elseif number < chunks then
    local there = redis.call('HGET', KEYS[2], ARGV[3])
    return answer((not there or there == ARGV[4]) and 0 or 5)
elseif state[8] then
    return answer(5)
elseif state[1] ~= ARGV[1] then
    return answer(3)
elseif number > chunks then
    return answer(2)
elseif bytes ~= chunks * chunk_bytes then -- the last one was short: that was the end
    return answer(5)
end

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = bytes - freed * chunk_bytes
if stored == 0 or stored + size <= cap then
    redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
    chunks = number + 1
    redis.call('HSET', KEYS[1], 'n', chunks, 'b', string.format('%.0f', bytes + size), 'p', ARGV[5])
    if stored == 0 or now >= due then
        redis.call('HSET', KEYS[1], 'x', string.format('%.0f', now + math.floor(still / 4)))
        for i = 1, 4 do
            local left = redis.call('PTTL', KEYS[i])
            if left < still_ms(still) then
                redis.call('PEXPIRE', KEYS[i], still_ms(still))
            end
        end
        if stored == 0 then -- :c is new, and must live as long as the others
            redis.call('PEXPIRE', KEYS[2], math.max(redis.call('PTTL', KEYS[1]), 1))
        end
    end
    return answer(0)
end

-- No room. Readers whose lease is over do not count any more, once they may read; what all others have read goes, in
-- steps of 64 chunks or 4 MiB.
local ends = string.format('%.0f', state[11] and now or 0)
local ended = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ends, 'LIMIT', 0, READERS_MAX)
local farthest = tonumber(redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2] or 0)
if redis.call('ZCARD', KEYS[4]) > READERS_MAX or redis.call('ZCARD', KEYS[3]) > READERS_MAX or farthest > bytes then
    return corrupt()
end
redis.call('HDEL', KEYS[1], '-') -- there is none
for i = 1, #ended do
    if redis.call('HEXISTS', KEYS[1], 'r:' .. ended[i]) == 0 then
        redis.call('HSET', KEYS[1], 'r:' .. ended[i], 'x')
    end
end
if #ended > 0 then
    redis.call('ZREM', KEYS[3], unpack(ended))
    redis.call('ZREM', KEYS[4], unpack(ended))
end
local least = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
if not least then
    redis.call('HSET', KEYS[1], 'g', '1')
    redis.call('PEXPIRE', KEYS[1], '3600000')
    redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
    return answer(4)
end
--@ files/files_free.lua
if upto > freed then
    return string.format('%s 1 %.0f 1', ARGV[2], chunks)
end
redis.call('HSET', KEYS[1], 'h', ARGV[6])
return answer(1)
