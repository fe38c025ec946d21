-- files_free: what all readers have gone past goes, 64 chunks or 4 MiB at a time.
--
-- wants KEYS[1], KEYS[2]  state and chunks, see files_open.lua
--       least             how many bytes the reader has read that has read the least
--       chunk_bytes, chunks, freed  of the state
-- gives upto              so many chunks from the first are gone now; more than freed: some have just gone

local upto = math.min(math.floor(tonumber(least) / chunk_bytes), chunks,
                      freed + math.max(math.min(math.floor(4194304 / chunk_bytes), 64), 1))
if upto > freed then
    local fields = {}
    for i = freed, upto - 1 do
        fields[#fields + 1] = string.format('%.0f', i)
    end
    redis.call('HDEL', KEYS[2], unpack(fields))
    redis.call('HSET', KEYS[1], 'f', string.format('%.0f', upto))
end
