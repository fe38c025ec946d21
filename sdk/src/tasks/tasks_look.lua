-- tasks_look: how it stands with one task. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :m   3 :l   4 :t   5 :x   6..9 :d0 .. :d3   see tasks_push.lua and
--         tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 id
-- reply sequence, now us, state, attempt, time us, text, group
--       state   0 not known    never pushed, or over and forgotten
--               1 ready        waits for its turn
--               2 delayed      time: when it is due
--               3 running      time: end of its lease
--               4 cancelling   as 3, and somebody wants it cancelled
--               5 waiting      for its next attempt; time: when it is due; text: why the last one failed
--               6 dead         time: since when; text: why
--               7 done         time: until when it is remembered; text: its result
--               8 cancelled    time: until when it is remembered
--       attempt the one that runs, or the last one; 0: none yet
--       group   empty: none, or the task is over

local payload_key, mark_key, lease_key, tomb_key, dead_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, id = tonumber(ARGV[1]), ARGV[2]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local value, mark = redis.call('HGET', payload_key, id), redis.call('HGET', mark_key, id)
local size, at = string.match(value or '', '^%d %d+ %d+ (%d+):()')
local group = size and string.sub(value, at, at + size - 1) or ''

local function answer(state, attempt, time_us, text)
    return {sequence, now, state, tonumber(attempt), tonumber(time_us or 0), text, group}
end

local state, attempt, text = string.match(mark or '', '^(%u) (%d+) %d+ %S+ ?(.*)$')
local tomb = redis.call('ZSCORE', tomb_key, id)
if tomb and tonumber(tomb) <= now and not value then
    tomb, state = nil, nil
end
if state == 'C' or value == '' then
    return answer(8, attempt or 0, tomb, '')
elseif not value then
    return answer(tomb and 7 or 0, tomb and (attempt or 1) or 0, tomb, tomb and text or '')
elseif state == 'L' or state == 'K' then
    return answer(state == 'L' and 3 or 4, attempt, redis.call('ZSCORE', lease_key, id), '')
elseif state == 'X' then
    return answer(6, attempt, redis.call('ZSCORE', dead_key, id), text)
end
local due = redis.call('ZSCORE', KEYS[6 + math.min(tonumber(string.sub(value, 1, 1)) or 3, 3)], id)
if due then
    return answer(state == 'W' and attempt ~= '0' and 5 or 2, attempt or 0, due, text or '')
end
return answer(1, attempt or 0, 0, '')
