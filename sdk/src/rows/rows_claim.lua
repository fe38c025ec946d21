-- rows_claim: the rows that are due for longest are given to one refresher, for as long as its lease.
-- Repeating it is harmless: each refresher's last claim is kept, so the same number gets the same rows again as
-- long as they are its own, and a number that is older, or whose lease is over, gets nothing: nobody waits for it.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m   see rows_schedule.lua
--       3 gh:{rows:<shard>}:w   hash   "<client>:<sequence>" of a refresher -> "<number> <us>" of its last claim;
--                                      the rows of that claim have the score us + lease in :d
--       4 gh:{rows:<shard>}:i   zset   refreshers that wait, "<client>:<sequence>" -> until when (us)
--       5 gh:{rows:<shard>}:v   hash   row -> its value, see rows_finish.lua
-- ARGV  1 token      "<client, 16 hex digits>:<sequence, 16 hex digits>" of the refresher
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is given; 0: no limit
--       4 number     of the claim, which grows
--       5 lease us   the same in all claims of a refresher
--       6 rows       at most so many; up to 10
--       7 wait us    if there is less to do: until then from now, it wants to be told of more; 0: it does not
--       8 letter     of the shard, for hints: the byte 48 + shard
--       9 again      1: an earlier copy may be on its way still, so the claim is kept even if it gets nothing
-- reply sequence, code, now us, due us, late us, remaining us, rows ...
--       code 0 given
--            4 stale    past `not after`, an older claim, or one whose lease is over
--            5 corrupt  as 0; what was due and not of its form was put off for PUT_OFF_US
--       of each row its name, failures
--       due: of the next row, 0 if there is none; late: how long the first row was due; remaining: of the
--       lease, not extended by a repeat
-- hint  to gh:wake:<client> "<sequence, 16 hex digits><letter>" of one refresher that waits, if more rows are
--       due
--
-- Rows are marked, then the claim is kept, then the rows get their lease: if it ends in between, the rows are due
-- as before. A row that is due and is not in :m was half unscheduled: the rest of it goes.

local KEEP_MS = '1200000'
local KEEP_US = 300000000 -- of a claim: longer than any copy of it may be on its way
local PUT_OFF_US = 60000000
local PERIOD_MIN = 100000 -- one that is due again at once is loaded without a pause
local PERIOD_MAX = 86400000000
local WHOLE_MAX = 9007199254740991
local NAME_MAX = 64

local due_key, row_key, claim_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, most = ARGV[1], tonumber(ARGV[2]), math.min(tonumber(ARGV[6]), 10)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = string.format('%.0f', now)
local claim = token .. '.' .. ARGV[4]

local function next_due(known)
    local due = known or redis.call('ZRANGE', due_key, 0, 0, 'WITHSCORES')[2] or 0
    return math.max(0, math.min(math.floor(due), WHOLE_MAX))
end

local past = redis.call('HGET', claim_key, token)
if past then
    local number, claimed = string.match(past, '^(%d+) (%d+)$')
    if not number or number + 0 > WHOLE_MAX or claimed + 0 > WHOLE_MAX then
        return redis.error_reply('CORRUPT claim of a refresher is not of the form that KEYS.md describes')
    end
    local newer, score = number - ARGV[4], claimed + ARGV[5]
    if newer > 0 or (newer == 0 and score <= now) then
        return {sequence, 4, now, 0, 0, 0}
    elseif newer == 0 then
        local reply = {sequence, 0, now, next_due(), 0, score - now}
        score = string.format('%.0f', score)
        for _, row in ipairs(redis.call('ZRANGEBYSCORE', due_key, score, score, 'LIMIT', 0, 20)) do
            local stored = redis.call('HGET', row_key, row) or ''
            local failures, holder = string.match(stored, '^%d+ %d+ (%d+) %d+ %d+ [ca] (%S+) ')
            if holder == claim and #row <= NAME_MAX then
                reply[#reply + 1] = row
                reply[#reply + 1] = math.min(failures, WHOLE_MAX)
            end
        end
        return reply
    end
end
if tonumber(ARGV[3]) > 0 and now > tonumber(ARGV[3]) then
    return {sequence, 4, now, 0, 0, 0}
end

-- One more than is given, to see whether there is more to do.
local due = redis.call('ZRANGEBYSCORE', due_key, '-inf', now_text, 'WITHSCORES', 'LIMIT', 0, most + 1)
local more = due[2 * most + 2]
local idle = more and redis.call('ZREVRANGEBYSCORE', idle_key, '+inf', '(' .. now_text, 'LIMIT', 0, 1)
local late = due[2] and math.min(math.max(now - due[2], 0), WHOLE_MAX) or 0
local reply = {sequence, 0, now, 0, late, tonumber(ARGV[5])}
local expiry = string.format('%.0f', now + ARGV[5])
local rows, scores, orphans = {}, {}, {}
for i = 1, more and 2 * most or #due, 2 do
    local row = due[i]
    local stored = #row <= NAME_MAX and redis.call('HGET', row_key, row)
    local front, period, failures, version, setter =
        string.match(stored or '', '^((%d+) %d+) (%d+) (%d+) %d+ [ncadf] %S+ (%S+)$')
    if front and #failures <= 9 and period + 0 >= PERIOD_MIN and period + 0 <= PERIOD_MAX then
        rows[#rows + 1] = row
        rows[#rows + 1] = string.format('%s %s %s %s c %s %s', front, failures, version, now_text, claim, setter)
        scores[#scores + 1] = expiry
        scores[#scores + 1] = row
        reply[#reply + 1] = row
        reply[#reply + 1] = failures + 0
    elseif stored then
        reply[2] = 5
        scores[#scores + 1] = string.format('%.0f', now + PUT_OFF_US)
        scores[#scores + 1] = row
    else
        orphans[#orphans + 1] = row
    end
end
if not more and ARGV[7] ~= '0' then
    local is_new = redis.call('ZADD', idle_key, string.format('%.0f', now + ARGV[7]), token) == 1
    if is_new or now % 4 == 0 then
        redis.call('PEXPIRE', idle_key, KEEP_MS)
        local over = redis.call('ZRANGEBYSCORE', idle_key, '-inf', now_text, 'LIMIT', 0, 8)
        if #over > 0 then
            redis.call('ZREM', idle_key, unpack(over))
        end
    end
end
if #orphans > 0 then
    redis.call('HDEL', KEYS[5], unpack(orphans))
    redis.call('ZREM', due_key, unpack(orphans))
end
if #rows > 0 then
    redis.call('HSET', row_key, unpack(rows))
end
if #rows > 0 or ARGV[9] == '1' then
    redis.call('HSET', claim_key, token, ARGV[4] .. ' ' .. now_text)
    redis.call('PEXPIRE', claim_key, KEEP_MS)
    local some = redis.call('HRANDFIELD', claim_key, 2, 'WITHVALUES')
    for i = 1, #some, 2 do
        if (tonumber(string.match(some[i + 1], ' (%d+)$')) or 0) + KEEP_US < now then
            redis.call('HDEL', claim_key, some[i])
        end
    end
end
if #scores > 0 then
    redis.call('ZADD', due_key, unpack(scores))
end
reply[4] = next_due(more)
local other = idle and idle[1]
if other then
    redis.call('ZREM', idle_key, other)
    --@ client/hint.lua
    hint(other, ARGV[8])
end
return reply
