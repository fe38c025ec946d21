-- counters_read: slices of one precision of a counter, the newest first. It changes nothing, so repeating
-- it is harmless.
--
-- KEYS  1 gh:{counters:<shard>}:o:<name>              hash   see counters_flush.lua
--       2 gh:{counters:<shard>}:c:<seconds>:<name>    list
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 seconds   the precision
--       3 until     the newest slice is the one that holds this second; 0 or later than now: now
--       4 slices    how many there are from the oldest to the newest, stored or not; at most 1000
--       5 before    for reading on: only slices that start before this second; 0: all
--       6 count     at most this many in the reply
-- reply sequence, code, newest s, now us, slices ...
--       code 0 all
--            1 more  ask again, with before = the start of the last one and until = the start of the newest slice
--       newest: start of the newest slice
--       of each slice "<start> <sum>"
-- Redis 6.2 or later.

local sequence, precision = tonumber(ARGV[1]), tonumber(ARGV[2])
local before, count = tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now_s = tonumber(time[1])
local last_s = tonumber(ARGV[3])
if last_s == 0 or last_s > now_s then
    last_s = now_s
end
local newest = last_s - last_s % precision
local oldest = newest - precision * (tonumber(ARGV[4]) - 1)
if before == 0 then
    before = newest + precision
end

local LIST_MAX = 1000 -- slices that a list can have
local TEXT_MAX = 33
local WHOLE_MAX = 9007199254740991

local function start_of(text)
    local start = #text <= TEXT_MAX and tonumber(string.match(text, '^(%d+) %-?%d+$'))
    return start and start <= WHOLE_MAX and start or nil
end

local function corrupt()
    return redis.error_reply('CORRUPT slice of a counter is not of the form that KEYS.md describes')
end

local reply = {sequence, 0, newest, time[1] * 1000000 + time[2]}
local found = 0
local open = redis.call('HGET', KEYS[1], ARGV[2])
if open then
    local start = start_of(open)
    if not start then
        return corrupt()
    elseif start < before and start >= oldest then
        found = 1
        reply[5] = open
    end
    before = math.min(before, start) -- the list may have it too, from a batch that ended before it was done
end

-- The first that starts before `before`.
local low, high = 0, redis.call('LLEN', KEYS[2])
if high > LIST_MAX then
    return corrupt()
end
while low < high do
    local middle = math.floor((low + high) / 2)
    local start = start_of(redis.call('LINDEX', KEYS[2], middle))
    if not start then
        return corrupt()
    elseif start >= before then
        low = middle + 1
    else
        high = middle
    end
end
-- One more than fits, to see whether there is more.
local closed = redis.call('LRANGE', KEYS[2], low, low + count - found)
for i = 1, #closed do
    local start = start_of(closed[i])
    if not start then
        return corrupt()
    elseif start < oldest then
        break
    elseif found == count then
        reply[2] = 1
        break
    end
    found = found + 1
    reply[4 + found] = closed[i]
end
return reply
