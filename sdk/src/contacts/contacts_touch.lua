-- contacts_touch: names come to the front of an owner's list, as if touched one after another; what is beyond
-- capacity goes from its end. Repeating it is harmless: each client's last sequence is kept, so the same
-- sequence, or an older one, changes nothing. A client sends one change of an owner at a time.
--
-- KEYS  1 gh:{contacts:<owner>}:l   list   names, the newest first
--       2 gh:{contacts:<owner>}:z   zset   name -> when it was touched (us): instead of the list, for large
--                                          capacities or with times; up to 1,000,000 only an order
--       3 gh:{contacts:<owner>}:w   hash   client -> its last sequence * 64 + minute of it modulo 64
--       4 gh:{contacts:<owner>}:b   zset   blocked name -> since when (us)
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 capacity  names that are kept
--       4 form      "l": a list will do; "z": a zset, which a list becomes, once. Guildhall says "l"
--                   for up to 250 names alone, because that takes as long as the list is
--       5 idle ms   the list goes after so long without a touch; 0: leave its time to live
--       6 ...       names; at most 64
-- reply sequence, code, now us, blocked
--       code 0 done
--            1 old       the client has changed this owner's contacts again since: nothing was done
--       blocked ""; or a letter for each name: "b" stayed out, "t" was touched
-- Redis 6.2 or later.

local TIME_MAX = 9007199254740992

local list_key, zset_key, mark_key, block_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local capacity, idle = tonumber(ARGV[3]), ARGV[5]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local length = redis.call('LLEN', list_key)

-- The common case: no zset, nobody blocked.
local is_zset, blocked = ARGV[4] == 'z', nil
if redis.call('EXISTS', zset_key, block_key) > 0 then
    is_zset = redis.call('ZCARD', zset_key) > 0 or is_zset
    local since = redis.call('ZMSCORE', block_key, unpack(ARGV, 6))
    for i = 1, #since do
        if since[i] then
            blocked = blocked or string.rep('t', #since)
            blocked = string.sub(blocked, 1, i - 1) .. 'b' .. string.sub(blocked, i + 1)
        end
    end
end

--@ contacts/contacts_mark.lua
if past >= sequence then
    return {sequence, past > sequence and 1 or 0, now, blocked or ''}
end

local newest = 0
if is_zset then
    newest = tonumber(redis.call('ZRANGE', zset_key, -1, -1, 'WITHSCORES')[2] or '0')
    if not newest or newest + #ARGV > TIME_MAX then
        return redis.error_reply('CORRUPT contacts time is not of the form that KEYS.md describes')
    end
end

-- Nothing below can fail any more but for lack of memory, and that shows at the first write.
redis.call('HSET', mark_key, client, string.format('%.0f', sequence * 64 + minute))
redis.call('PEXPIRE', mark_key, '3600000')
if leaver then
    redis.call('HDEL', mark_key, leaver)
end

if not is_zset then
    for i = 6, #ARGV do
        if not blocked or string.sub(blocked, i - 5, i - 5) == 't' then
            if length > 0 then
                redis.call('LREM', list_key, '1', ARGV[i])
            end
            length = redis.call('LPUSH', list_key, ARGV[i])
        end
    end
    if length > capacity then
        redis.call('LTRIM', list_key, '0', capacity - 1)
    end
    if idle ~= '0' then
        redis.call('PEXPIRE', list_key, idle)
    end
    return {sequence, 0, now, blocked or ''}
end

if length > 0 then -- its names keep their order; when they were touched is not known
    local names, scored = redis.call('LRANGE', list_key, '0', '-1'), {}
    for i = 1, #names do
        scored[2 * i - 1], scored[2 * i] = #names + 1 - i, names[i]
        if i % 200 == 0 or i == #names then
            redis.call('ZADD', zset_key, unpack(scored, 2 * (i - (i - 1) % 200) - 1, 2 * i))
        end
    end
    redis.call('DEL', list_key)
end
local score, scored = math.max(now, newest + 1), {}
for i = 6, #ARGV do
    if not blocked or string.sub(blocked, i - 5, i - 5) == 't' then
        scored[#scored + 1] = string.format('%.0f', score)
        scored[#scored + 1] = ARGV[i]
        score = score + 1
    end
end
if #scored > 0 then
    redis.call('ZADD', zset_key, unpack(scored))
end
local excess = redis.call('ZCARD', zset_key) - capacity
if excess > 0 then
    redis.call('ZREMRANGEBYRANK', zset_key, 0, excess - 1)
end
if idle ~= '0' then
    redis.call('PEXPIRE', zset_key, idle)
end
return {sequence, 0, now, blocked or ''}
