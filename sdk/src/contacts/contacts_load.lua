-- contacts_load: reads a page of an owner's contacts, or of whom the owner has blocked; the newest first. It
-- writes nothing.
--
-- KEYS  1 gh:{contacts:<owner>}:l, 2 gh:{contacts:<owner>}:z, 3 gh:{contacts:<owner>}:w,
--       4 gh:{contacts:<owner>}:b   see contacts_touch.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 which     "c" the contacts; "b" who is blocked
--       3 from      place of the first name, from 0
--       4 count     at most this many names, 1..PAGE_MAX
-- reply sequence, length, timed, version text, names ...
--       length  names in the store
--       timed   1: behind each name the time at which it was touched (us); 0: names alone
--       version bytes that differ as soon as anything was changed: pages of one version belong together
-- Redis 6.2 or later.

local PAGE_MAX = 500

--@ client/check.lua

local from = tonumber(ARGV[3])
local to = from + math.max(math.min(tonumber(ARGV[4]), PAGE_MAX), 1) - 1
local key = ARGV[2] == 'b' and KEYS[4] or KEYS[2]

local length, timed, names = redis.call('ZCARD', key), 1, nil
if length == 0 and ARGV[2] == 'c' then
    length, timed = redis.call('LLEN', KEYS[1]), 0
    names = redis.call('LRANGE', KEYS[1], from, to)
else
    names = redis.call('ZRANGE', key, from, to, 'REV', 'WITHSCORES')
end
for i = 1, #names, 1 + timed do
    if #names[i] == 0 or #names[i] > 64 or (timed == 1 and not whole(names[i + 1])) then
        return corrupt('contact')
    end
end
local version = string.sub(redis.call('HGET', KEYS[3], '') or '', 1, 25)
return {tonumber(ARGV[1]), length, timed, version, unpack(names)}
