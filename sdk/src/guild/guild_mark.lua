-- guild_mark: what a client did last to a guild: is this the same again, or something from the past? And is
-- there room for one more client that changes it? If there is nothing to do any more, the script ends here.
--
-- wants member_key, mark_key; client, sequence
-- gives now, size (of the guild), stale (marks to remove)

local WRITERS_MAX = 64
local STALE_US = 600000000 -- longer than any client repeats a request

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local size = redis.call('ZCARD', member_key)
local mark = redis.call('HGET', mark_key, client)
if mark then
    local past, letters = string.match(mark, '^(%d+) %d+ (%l*)$')
    if not past then
        return redis.error_reply('CORRUPT guild mark is not of the form that KEYS.md describes')
    elseif tonumber(past) >= sequence then
        local is_old = tonumber(past) > sequence
        return {sequence, is_old and 1 or 0, size, is_old and '' or letters}
    end
end
local marks, stale, writers = {}, {}, redis.call('HLEN', mark_key)
local is_crowded = not mark and writers >= WRITERS_MAX
if is_crowded then
    marks = redis.call('HGETALL', mark_key)
elseif writers > 1 then
    marks = redis.call('HRANDFIELD', mark_key, -2, 'WITHVALUES')
end
for i = 1, #marks, 2 do
    local used = string.match(marks[i + 1], '^%d+ (%d+) ')
    if marks[i] ~= client and (not used or tonumber(used) + STALE_US < now) then
        stale[#stale + 1] = marks[i]
    end
end
if is_crowded and #stale == 0 then
    return {sequence, 2, size, ''}
end
