-- rows_schedule: a row is to be refreshed every so often from now on. Repeating it is harmless: of the
-- requests of one client for a row, an older one never undoes a newer, and the same one finds itself done; or finds
-- that others have scheduled or unscheduled the row since.
--
-- KEYS  1 gh:{rows:<shard>}:d   zset   row -> when it is due (us); claimed: when that is over
--       2 gh:{rows:<shard>}:m   hash   row -> "<period> <max age> <failures> <version>
--                                      <claimed> <state> <claim> <setter>"
--                                      times in us; claimed: when it was last; state n: never claimed, c:
--                                      claimed, a: claimed, and due again at once, d: that claim was
--                                      refreshed, f: it failed
--       3 gh:{rows:<shard>}:t   hash   row -> "<token> <us> <setter><past>": who unscheduled it last, 0:0: nobody;
--                                      when this was written; who had scheduled it, -: nobody; and who else had, or
--                                      had unscheduled it, and was set over since: see client/setters.lua
--       4 gh:{rows:<shard>}:i   zset   refreshers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token      "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is done; 0: no limit
--       4 row        any bytes; shard is XXH3-64 of them, modulo 64
--       5 period us, 6 max age us
--       7 now        1: due now, even if it was not
--       8 letter     of the shard, for hints: the byte 48 + shard
--       9 seen       "now us" of the reply that said "again"; 0: none did
-- reply as rows/rows_change.lua
--       full: ROWS_MAX rows in the shard
-- hint  to gh:wake:<client> "<sequence, 16 hex digits><letter>" of one refresher that waits, if the row is
--       due sooner than before
-- Redis 6.2 or later. The row is due before it is known: if it ends in between, rows_claim.lua finds that there is
-- no such row.

local ROWS_MAX = 100000
local WHOLE_MAX = 9007199254740991

local due_key, row_key, idle_key = KEYS[1], KEYS[2], KEYS[4]
local seen = tonumber(ARGV[9])

--@ rows/rows_change.lua
--@ client/setters.lua
--@ rows/rows_keep.lua

local due = tonumber(redis.call('ZSCORE', due_key, row) or nil)
if due and (due < 0 or due > WHOLE_MAX) then
    due = nil
end
local due_before = due
local middle, claim, setter = ' 0 0 0 ', 'n -', '-'
local period, numbers, state, holder
if stored then
    period, numbers, state, holder, setter =
        string.match(stored, '^(%d+) %d+( %d+ %d+ %d+ )([ncadf]) (%S+) (%S+)$')
    if not period then
        return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
    end
end
local verdict = judge(setter) or (setter == token and due and 0)
if verdict then
    return ARGV[2] .. ' ' .. verdict .. ' ' .. now_text
end
if stored then
    local claimed = state == 'c' or state == 'a'
    if claimed then
        state = ARGV[7] == '1' and 'a' or state
    elseif ARGV[7] == '1' then
        due = now
    elseif period ~= ARGV[5] then
        due = math.min(due or now, now + ARGV[5])
    end
    middle, claim = numbers, state .. ' ' .. holder
elseif redis.call('HLEN', row_key) >= ROWS_MAX then
    return ARGV[2] .. ' 3 ' .. now_text
else
    due = now
end
due = due or now
-- Who asked last is likeliest to live.
local idle = (not due_before or due < due_before) and
    redis.call('ZREVRANGEBYSCORE', idle_key, '+inf', '(' .. now_text, 'LIMIT', 0, 4)
if setter ~= '-' and not is_own(setter) then -- known before it is set over
    set_over(setter, now)
    keep(by, had)
end
redis.call('ZADD', due_key, string.format('%.0f', due), row)
redis.call('HSET', row_key, row, ARGV[5] .. ' ' .. ARGV[6] .. middle .. claim .. ' ' .. token)
if idle then
    --@ client/hint.lua
    for _, other in ipairs(idle) do
        redis.call('ZREM', KEYS[4], other)
        if hint(other, ARGV[8]) then
            break
        end
    end
end
return ARGV[2] .. ' 0 ' .. now_text
