-- rows_get: the value of a row, and how old it is. Writes nothing, and never waits for a refresh.
--
-- KEYS  1 gh:{rows:<shard>}:v   see rows_finish.lua
-- ARGV  1 sequence   comes back as the first element of the reply
--       2 row
--       3 version    that the reader has already; 0: none
--       4 bytes      that the reader has room for
-- reply sequence, code, version, age us, max age us, size, now us, bytes text
--       code 0 value
--            1 absent     there is no such row, says whoever loaded it
--            2 nothing    is stored
--            3 same       the version is still that one: no bytes
--            4 too small  more bytes than there is room for: none, but their size

local WHOLE_MAX = 9007199254740991

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local sequence = tonumber(ARGV[1])
local stored = redis.call('HGET', KEYS[1], ARGV[2])
if not stored then
    return {sequence, 2, 0, 0, 0, 0, now, ''}
end
local version, loaded, age, kind, at = string.match(stored, '^(%d+) (%d+) (%d+) ([vn]) ()')
if not version or version + 0 > WHOLE_MAX or age + 0 > WHOLE_MAX then
    return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
end
local size, code, bytes = #stored - at + 1, 0, ''
if version == ARGV[3] then
    code = 3
elseif kind == 'n' then
    code = 1
elseif size > tonumber(ARGV[4]) then
    code = 4
else
    bytes = string.sub(stored, at)
end
return {sequence, code, version + 0, math.max(now - loaded, 0), age + 0, size, now, bytes}
