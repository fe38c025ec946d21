-- rows_finish: what became of a row that was claimed: its value, that there is none, that loading failed, or
-- that it is given back. Only the current claim is heard, and only while its lease lasts: after an unschedule, or
-- when another has claimed it, nothing is written. Repeating it is harmless: the claim finds itself ended; if it
-- was stopped before that, it does it all again.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m   see rows_schedule.lua
--       3 gh:{rows:<shard>}:v   hash   row -> "<version> <loaded us> <max age us> <kind> <bytes>"
--                                      kind v: the bytes are the value; n: there is no such row. Loaded: when
--                                      the claim began
--       4 gh:{rows:<shard>}:i   zset   refreshers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 claim      "<token of the refresher>.<number of the claim>"
--       2 sequence   comes back as the first element of the reply
--       3 row
--       4 outcome    v, n, f: failed, b: given back
--       5 pause      f: us until it is due again; v and n: 0..1023, how much of a tenth of the period it is
--                    due earlier, so that rows that were loaded together part
--       6 bytes      of v
--       7 letter     of the shard, for hints: the byte 48 + shard
--       8 lease us   of the claim, before it was renewed: until then nothing else is looked at
-- reply in one text: sequence, code, now us, due us
--       code 0 done
--            1 lost  not the current claim, or its lease is over: nothing was done
--       due: when the row is to be refreshed next; 0: not known
-- hint  to gh:wake:<client> "<sequence, 16 hex digits><letter>" of one refresher that waits, if the row is
--       given back

local KEEP_MS = '604800000' -- renewed once an hour
local HOUR_US = 3600000000
local WHOLE_MAX = 9007199254740991

local row, outcome = ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

local stored = redis.call('HGET', KEYS[2], row)
if not stored then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
local period, age, failures, version, claimed, state, claim, setter =
    string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%d+) ([ncadf]) (%S+) (%S+)$')
if not period or #period > 11 or #age > 12 or #failures > 9 or version + 0 >= WHOLE_MAX or
    claimed + 0 > WHOLE_MAX then
    return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
end
if claim ~= ARGV[1] then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
if state == 'd' or state == 'f' then
    return ARGV[2] .. ' 0 ' .. now_text .. ' 0'
end
if claimed + ARGV[8] <= now and tonumber(redis.call('ZSCORE', KEYS[1], row) or 0) <= now then
    return ARGV[2] .. ' 1 ' .. now_text .. ' 0'
end
local idle = outcome == 'b' and
    redis.call('ZREVRANGEBYSCORE', KEYS[4], '+inf', '(' .. now_text, 'LIMIT', 0, 4)
local due = now
if outcome == 'v' or outcome == 'n' then
    local last = version + 0
    version, failures = last < now and now_text or string.format('%.0f', last + 1), '0'
    due = now + period - math.floor(period * ARGV[5] / 10240)
    local head = version .. ' ' .. claimed .. ' ' .. age .. ' ' .. outcome .. ' '
    local is_new = redis.call('HSET', KEYS[3], row, head .. ARGV[6]) == 1
    if is_new or math.floor(last / HOUR_US) ~= math.floor(now / HOUR_US) then
        redis.call('PEXPIRE', KEYS[3], KEEP_MS)
    end
elseif outcome == 'f' then
    failures = string.format('%.0f', failures + 1)
    due = now + ARGV[5]
end
if state == 'a' then -- asked for again while it was being loaded
    due = now
end
due = string.format('%.0f', due)
redis.call('ZADD', KEYS[1], due, row)
local letter = (outcome == 'v' or outcome == 'n') and 'd' or 'f'
redis.call('HSET', KEYS[2], row, string.format('%s %s %s %s %s %s %s %s', period, age, failures, version,
                                               claimed, letter, claim, setter))
if idle then
    --@ client/hint.lua
    local own = string.match(claim, '^[^.]*')
    for _, other in ipairs(idle) do
        redis.call('ZREM', KEYS[4], other)
        if other ~= own and hint(other, ARGV[7]) then
            break
        end
    end
end
return ARGV[2] .. ' 0 ' .. now_text .. ' ' .. due
