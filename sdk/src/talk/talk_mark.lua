-- talk_mark: what a client did last to a chat or a mailbox: is this the same again, or something from the
-- past? And who has to make room for it: marks of clients that were silent for long go, a few at a time.
--
-- wants state_key; client, sequence; time; mark (of this client, or false); fields (of the hash, no marks)
-- gives said_epoch, said_number, said_text   what the same sequence was answered before; nil: it is new
--       is_old       the client has sent a later one since
--       is_crowded   64 other clients have a mark, none of which is stale
--       stale        fields to remove

local WRITERS_MAX = 64
local STALE_S = 600 -- longer than any client repeats a request

local said_epoch, said_number, said_text, is_old
if mark then
    local past = tonumber(string.match(mark, '^%d+'))
    if past == sequence then
        said_epoch, said_number, said_text = string.match(mark, '^%d+ %d+ (%d+) (%d+) (%S+)$')
    end
    if not past or (past == sequence and not said_epoch) then
        return redis.error_reply('WRONGTYPE mark is not of the form that KEYS.md describes')
    end
    is_old = past > sequence
end
local marks, stale = {}, {}
if not mark and redis.call('HLEN', state_key) >= WRITERS_MAX + fields then
    marks = redis.call('HGETALL', state_key)
elseif time[2] % 4 == 0 then
    marks = redis.call('HRANDFIELD', state_key, -2, 'WITHVALUES')
end
for i = 1, #marks, 2 do
    local used = #marks[i] == 16 and marks[i] ~= client and string.match(marks[i + 1], '^%d+ (%d+) ')
    if used and used + STALE_S < tonumber(time[1]) then
        stale[#stale + 1] = marks[i]
    end
end
local is_crowded = #marks > 4 and #stale == 0
