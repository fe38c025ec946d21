-- files_look: how far a file is. Writes nothing.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:o   see files_open.lua
-- ARGV  1 sequence  comes back as the first element of the reply
-- reply sequence, code, id, bytes, stored, left, done, lost, visible, sealed, read, digest text
--       code 0 there
--            1 gone   no such file
--            2 ended  all readers have
--       stored: bytes that lie in the store
--       left, done, lost: readers
--       read: bytes that the slowest reader has read
--       digest: of the whole, once sealed

--@ client/check.lua

local READERS_MAX = 64
local FIELDS_MAX = 24 -- of the state, besides its readers'
local CHUNK_MAX = 131072

local state = redis.call('HMGET', KEYS[1], 'i', 'k', 'n', 'b', 'f', 'v', 'z', 'g')
local sequence = tonumber(ARGV[1])
if not state[1] then
    return {sequence, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ''}
end
local id, chunk_bytes, bytes = whole(state[1]), whole(state[2], CHUNK_MAX), whole(state[4])
local freed, left = whole(state[5]), redis.call('ZCARD', KEYS[2])
local least = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
local read = least and whole(least) or bytes
if not (id and chunk_bytes and bytes and freed and whole(least or '0')) or read > bytes or left > READERS_MAX or
    (state[7] and #state[7] ~= 32) or redis.call('HLEN', KEYS[1]) > FIELDS_MAX + READERS_MAX then
    return corrupt('file state')
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
local stored = state[8] and 0 or math.max(bytes - freed * chunk_bytes, 0)
return {sequence, state[8] and 2 or 0, id, bytes, stored, left, done, lost, state[6] and 1 or 0, state[7] and 1 or 0,
        read, state[7] or ''}
