-- files_look: how far a file is. Writes nothing.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:o   see files_open.lua
-- ARGV  1 sequence  comes back as the first element of the reply
-- reply sequence, code, id, bytes, bytes that lie in the store, readers left, done, lost, visible, sealed,
--       bytes that the slowest reader has read, digest
--       code 0 there; 1 gone: no such file; 2 all readers have ended
--       digest: of the whole, once sealed

local state = redis.call('HMGET', KEYS[1], 'i', 'k', 'n', 'b', 'f', 'v', 'z', 'g')
local sequence, id, chunk_bytes = tonumber(ARGV[1]), tonumber(state[1]), tonumber(state[2])
local bytes, freed = tonumber(state[4]), tonumber(state[5])
if not id then
    return {sequence, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ''}
elseif not (chunk_bytes and bytes and freed) then
    return redis.error_reply('CORRUPT file state is not of the form that KEYS.md describes')
end
local done, lost = 0, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
    if string.sub(all[i], 1, 2) == 'r:' then
        if all[i + 1] == 'd' then
            done = done + 1
        else
            lost = lost + 1
        end
    end
end
local least = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
local stored = state[8] and 0 or math.max(bytes - freed * chunk_bytes, 0)
return {sequence, state[8] and 2 or 0, id, bytes, stored, redis.call('ZCARD', KEYS[2]), done, lost,
        state[6] and 1 or 0, state[7] and 1 or 0, least and tonumber(least) or bytes, state[7] or ''}
