-- rows_claim: the rows that are due for longest are given to one refresher, for as long as its lease.
-- Repeating it is harmless: each refresher's last claim is kept, so the same number gets the same rows again.
--
-- KEYS  1 gh:{rows:<shard>}:d, 2 gh:{rows:<shard>}:m   see rows_schedule.lua
--       3 gh:{rows:<shard>}:w   hash   "<client>:<sequence>" of a refresher -> "<number> <score>" of its
--                                      last claim; the rows of that claim have that score in :d
--       4 gh:{rows:<shard>}:i   zset   refreshers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token      "<client, 16 hex digits>:<sequence, 16 hex digits>" of the refresher
--       2 sequence   comes back as the first element of the reply
--       3 not after  us of the store's clock; later, nothing is given; 0: no limit
--       4 number     of the claim, which grows
--       5 lease us
--       6 rows       at most so many; up to 10
--       7 wait us    if there is less to do: until then from now, it wants to be told of more; 0: it does not
--       8 letter     of the shard, for hints: the byte 48 + shard
-- reply sequence, code, now us, due us, late us, remaining us, then pairs: row, failures
--       code 0, or 4 stale: past `not after`
--       due: of the next row, 0 if there is none; late: how long the first row was due; remaining: of the
--       lease, not extended by a repeat
-- hint  to gh:wake:<client> "<sequence, 16 hex digits><letter>" of one refresher that waits, if more rows are
--       due

local KEEP_MS = '3600000'

local due_key, row_key, claim_key, idle_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, sequence, most = ARGV[1], tonumber(ARGV[2]), math.min(tonumber(ARGV[6]), 10)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local claim = token .. '.' .. ARGV[4]

local function next_due()
    return math.floor(tonumber(redis.call('ZRANGE', due_key, 0, 0, 'WITHSCORES')[2] or 0))
end

local past = redis.call('HGET', claim_key, token)
local number, score = string.match(past or '', '^(%d+) (%d+)$')
if number == ARGV[4] and tonumber(score) > now then
    local reply = {sequence, 0, now, next_due(), 0, score - now}
    for _, row in ipairs(redis.call('ZRANGEBYSCORE', due_key, score, score, 'LIMIT', 0, 20)) do
        local stored = redis.call('HGET', row_key, row) or ''
        local failures, holder = string.match(stored, '^%d+ %d+ (%d+) %d+ %d+ [ca] (%S+) ')
        if holder == claim then
            reply[#reply + 1] = row
            reply[#reply + 1] = tonumber(failures)
        end
    end
    return reply
end
if tonumber(ARGV[3]) > 0 and now > tonumber(ARGV[3]) then
    return {sequence, 4, now, 0, 0, 0}
end

local due = redis.call('ZRANGEBYSCORE', due_key, '-inf', string.format('%.0f', now), 'WITHSCORES',
                       'LIMIT', 0, most)
local expiry = string.format('%.0f', now + ARGV[5])
local reply = {sequence, 0, now, 0, due[2] and math.max(now - due[2], 0) or 0, tonumber(ARGV[5])}
local rows, scores, orphans = {}, {}, {}
for i = 1, #due, 2 do
    local stored = redis.call('HGET', row_key, due[i])
    local front, failures, version, setter =
        string.match(stored or '', '^(%d+ %d+) (%d+) (%d+) %d+ [ncadf] %S+ (%S+)$')
    if front then
        rows[#rows + 1] = due[i]
        rows[#rows + 1] = string.format('%s %s %s %.0f c %s %s', front, failures, version, now, claim, setter)
        scores[#scores + 1] = expiry
        scores[#scores + 1] = due[i]
        reply[#reply + 1] = due[i]
        reply[#reply + 1] = tonumber(failures)
    elseif stored then
        return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
    else
        orphans[#orphans + 1] = due[i]
    end
end
if #rows > 0 then
    redis.call('HSET', row_key, unpack(rows))
    redis.call('ZADD', due_key, unpack(scores))
    redis.call('HSET', claim_key, token, ARGV[4] .. ' ' .. expiry)
    redis.call('PEXPIRE', claim_key, KEEP_MS)
    local some = redis.call('HRANDFIELD', claim_key, 2, 'WITHVALUES')
    for i = 1, #some, 2 do
        if (tonumber(string.match(some[i + 1], ' (%d+)$')) or 0) < now then
            redis.call('HDEL', claim_key, some[i])
        end
    end
end
if #orphans > 0 then
    redis.call('ZREM', due_key, unpack(orphans))
end
reply[4] = next_due()
if #due == 2 * most and reply[4] > 0 and reply[4] <= now then
    local idle = redis.call('ZREVRANGEBYSCORE', idle_key, '+inf', string.format('(%.0f', now), 'LIMIT', 0, 1)
    local other = idle[1]
    if other then
        redis.call('ZREM', idle_key, other)
        -- Its error is ignored: without the right to publish, refreshers find out by asking.
        redis.pcall('PUBLISH', string.match(idle_key, '^([^{]*)') .. 'wake:' .. string.sub(other, 1, 16),
                    string.sub(other, 18) .. ARGV[8])
    end
elseif ARGV[7] ~= '0' then
    redis.call('ZREMRANGEBYSCORE', idle_key, '-inf', string.format('%.0f', now))
    redis.call('ZADD', idle_key, string.format('%.0f', now + ARGV[7]), token)
    redis.call('PEXPIRE', idle_key, KEEP_MS)
end
return reply
