-- contacts_touch: names come to the front of an owner's list, as if touched one after another; what is beyond
-- capacity goes from its end. Repeating it is harmless: each client's last sequence is kept, so the same
-- sequence, or an older one, changes nothing. A client sends one change of an owner at a time. If it is stopped in the
-- middle, its repeat does all of it again.
--
-- KEYS  1 gh:{contacts:<owner>}:l   list   names, the newest first
--       2 gh:{contacts:<owner>}:z   zset   name -> when it was touched (us): instead of the list, for large
--                                          capacities or with times; up to 1,000,000 only an order
--       3 gh:{contacts:<owner>}:w   hash   client -> its last sequence * 64, and if it was answered more than that it
--                                          is done, " " and that; for eight clients.
--                                          "" -> the version: 25 bytes of the token that was here last
--       4 gh:{contacts:<owner>}:b   zset   blocked name -> since when (us)
--       5 gh:{contacts:<owner>}:w<2 hex digits>   hash   marks of other clients, see client/mark.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                   client/mark.lua
--       2 sequence  comes back as the first element of the reply
--       3 capacity  names that are kept
--       4 form      "l": a list will do; "z": a zset, which a list becomes, once. Guildhall says "l"
--                   for up to 250 names alone, because that takes as long as the list is
--       5 idle ms   the list goes after so long without a touch; 0: leave its time to live
--       6 ...       names; at most 64
-- reply as contacts/contacts_remove.lua, now us, blocked text
--       code: never full
--       blocked: empty, or a letter for each name
--       blocked "b" stayed out
--               "t" touched
-- Redis 6.2 or later.

local TIME_MAX = 9007199254740991 - 64
local LIST_MAX = 512  -- no list of ours is longer
local ZSET_MAX = 10500
local DROP_MAX = 500  -- names beyond capacity that one call lets go
local MARKS_MS = 1200000

local list_key, zset_key, mark_key, block_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local capacity, idle = tonumber(ARGV[3]), ARGV[5]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)
local length = redis.call('LLEN', list_key)
if length > LIST_MAX then
    return redis.error_reply('CORRUPT contacts list is longer than any that KEYS.md describes')
end

-- The common case: no zset, nobody blocked.
local is_zset, blocked, size = ARGV[4] == 'z', nil, 0
if redis.call('EXISTS', zset_key, block_key) > 0 then
    size = redis.call('ZCARD', zset_key)
    if size > ZSET_MAX then
        return redis.error_reply('CORRUPT contacts zset is longer than any that KEYS.md describes')
    end
    is_zset = size > 0 or is_zset
    local since = redis.call('ZMSCORE', block_key, unpack(ARGV, 6))
    for i = 1, #since do
        if since[i] then
            blocked = blocked or string.rep('t', #since)
            blocked = string.sub(blocked, 1, i - 1) .. 'b' .. string.sub(blocked, i + 1)
        end
    end
end

--@ contacts/contacts_mark.lua
local last, put, head = -1, nil, nil -- the sequence of this client's last change; how its mark is put on a shelf
if number then
    last = (number - number % 64) / 64
else
    local resident = number
--@ client/mark.lua
    last, put, head, told = past, not is_resident and shelve, mark_head, said
end

local newest = 0
if size > 0 then
    local score = redis.call('ZRANGE', zset_key, -1, -1, 'WITHSCORES')[2]
    newest = #score <= 16 and string.find(score, '^%d+$') and tonumber(score)
    if not newest or newest > TIME_MAX then
        return redis.error_reply('CORRUPT contacts time is not of the form that KEYS.md describes')
    end
end

-- Nothing below can fail any more but for lack of memory, and that shows at the first write.
if last >= sequence then
    local code = last > sequence and ' 1 ' or ' 0 '
    return ARGV[2] .. code .. now_text .. ' ' .. (told or '') -- whoever has been unblocked since, stayed out
end
local from, names = 6, ARGV
if blocked then
    from, names = 1, {}
    for i = 6, #ARGV do
        if string.sub(blocked, i - 5, i - 5) == 't' then
            names[#names + 1] = ARGV[i]
        end
    end
end

if not is_zset then
    for i = from, #names do
        -- The only name stays where it is: a list that is empty for a moment loses its time to live.
        if length ~= 1 or redis.call('LRANGE', list_key, '0', '0')[1] ~= names[i] then
            if length > 0 then
                redis.call('LREM', list_key, '1', names[i])
            end
            length = redis.call('LPUSH', list_key, names[i])
        end
    end
    if length > capacity then
        redis.call('LTRIM', list_key, '0', capacity - 1)
    end
    if idle ~= '0' then
        redis.call('PEXPIRE', list_key, idle)
    end
else
    if length > 0 then -- its names keep their order; when they were touched is not known
        local listed, scored = redis.call('LRANGE', list_key, '0', '-1'), {}
        for i = 1, #listed do
            scored[2 * i - 1], scored[2 * i] = #listed + 1 - i, listed[i]
            if i % 200 == 0 or i == #listed then
                redis.call('ZADD', zset_key, unpack(scored, 2 * (i - (i - 1) % 200) - 1, 2 * i))
            end
        end
        redis.call('DEL', list_key)
    end
    local score, scored = math.max(now, newest + 1), {}
    for i = from, #names do
        scored[#scored + 1] = string.format('%.0f', score)
        scored[#scored + 1] = names[i]
        score = score + 1
    end
    if #scored > 0 then
        redis.call('ZADD', zset_key, unpack(scored))
    end
    local excess = redis.call('ZCARD', zset_key) - capacity
    if excess > 0 then
        redis.call('ZREMRANGEBYRANK', zset_key, 0, math.min(excess, DROP_MAX) - 1)
    end
    if idle ~= '0' then
        redis.call('PEXPIRE', zset_key, idle)
    end
end

-- Until the mark is there, the repeat does it all.
if put then
    redis.call('HSET', mark_key, '', string.sub(ARGV[1], 9, 33))
    put(head .. (blocked or ''))
else
    local mark = string.format('%.0f', sequence * 64)
    if blocked then
        mark = mark .. ' ' .. blocked
    end
    redis.call('HSET', mark_key, '', string.sub(ARGV[1], 9, 33), client, mark)
end
redis.call('PEXPIRE', mark_key, MARKS_MS)
return ARGV[2] .. ' 0 ' .. now_text .. ' ' .. (blocked or '')
