-- tasks_look: how it stands with one task. Writes nothing.
--
-- KEYS  1 gh:{tasks:<queue>}:p   2 :m   3 :l   4 :t   5 :x   6..9 :d0 .. :d3   see tasks_push.lua and
--         tasks_take.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 id
-- reply sequence, now us, state, attempt, time us, note text, group text
--       state   0 not known    never pushed, or over and forgotten
--               1 ready        waits for its turn
--               2 delayed      time: when it is due
--               3 running      time: end of its lease
--               4 cancelling   as 3, and somebody wants it cancelled
--               5 waiting      for its next attempt; time: when it is due; note: why the last one failed
--               6 dead         time: since when; note: why
--               7 done         time: until when it is remembered; note: its result
--               8 cancelled    time: until when it is remembered
--       attempt the one that runs, or the last one; 0: none yet
--       group   empty: none, or the task is over

--@ client/check.lua

local call, match = redis.call, string.match
local p_key, m_key, l_key, t_key, x_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, id = tonumber(ARGV[1]), ARGV[2]

local time = call('TIME')
local now = time[1] * 1000000 + time[2]

local value, mark = call('HGET', p_key, id), call('HGET', m_key, id)
local size, at = match(value or '', '^%d %d+ %d+ (%d%d?):()')
local group = size and string.sub(value, at, at + size - 1) or ''

-- What lies in a zset has a time; 0 if it does not lie there.
local function answer(state, attempt, time_us, text)
    attempt, time_us = whole(attempt, 65535), whole(time_us or '0')
    if not attempt or not time_us then return corrupt('a task') end
    return {sequence, now, state, attempt, time_us, string.sub(text, 1, 1024), string.sub(group, 1, 64)}
end

local state, attempt, text = match(mark or '- 0 0 - ', '^(%S) (%d+) %d+ %S+ ?(.*)$')
if not state then return corrupt('a state') end
--@ tasks/place.lua
local tomb = call('ZSCORE', t_key, id)
if not value and tonumber(tomb or 0) <= now and not has_place(mark or '') then
    tomb, state = nil, '-'
end
if not value and (state == 'C' or state == 'V') then
    return answer(8, attempt, tomb, '')
elseif not value then
    return answer(tomb and 7 or 0, tomb and (mark and attempt or '1') or '0', tomb, tomb and text or '')
elseif state == 'L' or state == 'K' then
    return answer(state == 'L' and 3 or 4, attempt, call('ZSCORE', l_key, id), '')
elseif state == 'X' then
    return answer(6, attempt, call('ZSCORE', x_key, id), text)
end
local due = call('ZSCORE', KEYS[6 + math.min(tonumber(string.sub(value, 1, 1)) or 3, 3)], id)
if due then
    return answer(state == 'W' and attempt ~= '0' and 5 or 2, attempt, due, text)
end
return answer(1, attempt, '0', '')
