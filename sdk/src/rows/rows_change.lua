-- rows_change: what is known of a row that is to be scheduled or unscheduled.
--
-- wants nothing; ARGV 1 to 4 as rows_schedule.lua says, KEYS 2 and 3 too
-- gives token, row; now, and now_text
--       stored    what KEYS[2] has of the row; false: nothing
--       by, had   who unscheduled it last, "0:0": nobody; and who had scheduled it, "-": nobody
--       us, past  when that was written, and what client/setters.lua wants
--
-- reply in one text: sequence, code, now us
--       code 0 done
--            1 older      than what this client has asked for since; or it is done, and others have asked
--                         for something else since
--            2 not there  it was not scheduled
--            3 full       the shard is
--            4 stale      past `not after`
--            5 again      nothing is done: ask once more, with `seen`
--
-- Ends the script for one that comes too late.

local token, row = ARGV[1], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

if tonumber(ARGV[3]) > 0 and now > tonumber(ARGV[3]) then
    return ARGV[2] .. ' 4 ' .. now_text
end
local stored = redis.call('HGET', KEYS[2], row)
local gone = redis.call('HGET', KEYS[3], row)
local by, us, had, past = '0:0', '0', '-', ''
if gone then
    by, us, had, past = string.match(gone, '^(%x+:%x+) (%d+) ([^%s,]+)(%S*)$')
    if not by then
        return redis.error_reply('CORRUPT a row is not of the form that KEYS.md describes')
    end
end
