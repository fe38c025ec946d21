-- leave_token: leaves a reader's token, to be hinted when there is something new, and takes a few away whose time is
-- over. A hint is a convenience: a server without memory for it must not keep anybody from reading.
--
-- wants hint_key, token; now, wait (us)

local TOKENS_MAX = 16384
local TOKENS_MS = 3600000

local tokens = redis.pcall('ZCARD', hint_key)
local is_new = type(tokens) == 'number' and tokens < TOKENS_MAX and
    redis.pcall('ZADD', hint_key, string.format('%.0f', now + wait), token)
if is_new == 0 or is_new == 1 then -- not an error
    redis.call('PEXPIRE', hint_key, math.max(TOKENS_MS, math.floor(wait / 1000) + 1))
end
if is_new == 1 then
    local gone = redis.call('ZRANGEBYSCORE', hint_key, '-inf', string.format('%.0f', now), 'LIMIT', '0', '16')
    if #gone > 0 then
        redis.call('ZREM', hint_key, unpack(gone))
    end
end
