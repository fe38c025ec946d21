-- contacts_remove: takes a name out of an owner's list; and blocks it, or unblocks it. Repeating it is
-- harmless: each client's last sequence is kept, so the same sequence, or an older one, changes nothing.
--
-- KEYS  1 gh:{contacts:<owner>}:l, 2 gh:{contacts:<owner>}:z, 3 gh:{contacts:<owner>}:w,
--       4 gh:{contacts:<owner>}:b, 5 gh:{contacts:<owner>}:w<2 hex digits>   see contacts_touch.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                   client/mark.lua
--       2 sequence  comes back as the first element of the reply
--       3 what      "r" remove; "b" remove and block; "u" unblock, which leaves the list alone
--       4 name
-- reply in one text: sequence, code
--       code 0 done      it may have been so before
--            1 old       the client has changed this owner's contacts again since: nothing was done
--            2 full      BLOCKED_MAX are blocked already: nothing was done
--
-- To remove or unblock begins with LREM or ZREM, which a server that is out of memory still allows.
-- Redis 6.2 or later.

local BLOCKED_MAX = 1000
local LIST_MAX = 512 -- no list of ours is longer
local MARKS_MS = 1200000

local list_key, zset_key, mark_key, block_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence, what, name = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), ARGV[3], ARGV[4]

local time = redis.call('TIME')
local blocked = redis.call('ZCARD', block_key)
redis.call('ZCARD', zset_key) -- only looks at the type, before the first write
if redis.call('LLEN', list_key) > LIST_MAX then
    return redis.error_reply('CORRUPT contacts list is longer than any that KEYS.md describes')
end

--@ contacts/contacts_mark.lua
local last, put, head = -1, nil, nil -- see contacts_touch.lua
if number then
    last = (number - number % 64) / 64
else
    local resident = number
--@ client/mark.lua
    last, put, head, told = past, not is_resident and shelve, mark_head, said
end
if last > sequence then
    return ARGV[2] .. ' 1'
elseif last == sequence then
    return ARGV[2] .. (told == 'f' and ' 2' or ' 0')
end
local is_full = what == 'b' and blocked >= BLOCKED_MAX and not redis.call('ZSCORE', block_key, name)

if what ~= 'u' and not is_full then
    redis.call('LREM', list_key, '1', name)
    redis.call('ZREM', zset_key, name)
end
if what == 'b' and not is_full then
    redis.call('ZADD', block_key, 'NX', string.format('%.0f', time[1] * 1000000 + time[2]), name)
elseif what == 'u' then
    redis.call('ZREM', block_key, name)
end
if put then
    redis.call('HSET', mark_key, '', string.sub(ARGV[1], 9, 33))
    put(head .. (is_full and 'f' or ''))
else
    local mark = string.format(is_full and '%.0f f' or '%.0f', sequence * 64)
    redis.call('HSET', mark_key, '', string.sub(ARGV[1], 9, 33), client, mark)
end
redis.call('PEXPIRE', mark_key, MARKS_MS)
return ARGV[2] .. (is_full and ' 2' or ' 0')
