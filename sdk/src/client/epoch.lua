-- epoch: when was this store born, and what time is it? Asked once per connection.
--
-- KEYS  1 <prefix>:epoch     string: microseconds at which the first client found the store empty
-- ARGV  none
-- reply birth us, now us
--
-- A client that gets another birth than last time knows that the store lost its data in between.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local birth = tonumber(redis.call('GET', KEYS[1]))
if not birth then
    birth = now
    redis.call('SET', KEYS[1], string.format('%.0f', now))
end
return {birth, now}
