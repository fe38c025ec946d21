-- tasks_back: tasks whose lease ran out wait for their next attempt, or are over, or dead letters; up to 32 of them.
--
-- KEYS  1 gh:{tasks:<queue>}:l   2 :p   3 :m   4 :t   5 :x   6..9 :d0 .. :d3   see tasks_take.lua and tasks_push.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 keep us   how long a task is remembered that was to be cancelled
-- reply in one text: sequence, now us, tasks
--       tasks: how many were put back
--
-- A repeat or a late copy puts back what has run out by then: harmless. In which order it writes: see tasks_take.lua.
-- Begins with PERSIST, which a server that is out of memory still allows: workers must be able to drain it.

--@ client/check.lua

local CLASSES = 4
local BACK_MAX = 32
local PIECE = 4 -- see tasks_take.lua
local READ_MAX = 32768

local call, match = redis.call, string.match
local l_key, p_key, m_key, t_key, x_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local sequence, keep = ARGV[1], tonumber(ARGV[2])

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

local found = call('ZRANGEBYSCORE', l_key, '-inf', now_text, 'WITHSCORES', 'LIMIT', '0', BACK_MAX)
if #found == 0 then return sequence .. ' ' .. now_text .. ' 0' end
local ids, gone, states, forgets, dead, due = {}, {}, {}, {}, {}, {{}, {}, {}, {}}
for i = 1, #found, 2 do ids[#ids + 1] = found[i] end

local function append(list, first, second)
    local at = #list
    list[at + 1], list[at + 2] = first, second
end

-- What becomes of it: the state, and why.
local function put_back(state, attempt, id, value, ended)
    if state == 'K' or not value then
        -- It was to be cancelled; or it was done, by a finish that was stopped half-way.
        append(gone, id)
        append(forgets, now + keep, id)
        return state == 'K' and 'C' or 'D', ''
    elseif tonumber(attempt) >= tonumber(match(value, '^%d (%d+)') or 1) then
        append(dead, now, id)
        return 'X', 'the lease of its last attempt ran out'
    end
    append(due[1 + math.min(tonumber(string.sub(value, 1, 1)) or CLASSES, CLASSES - 1)], ended, id)
    return 'W', 'the lease ran out'
end

local marks, values, read, last = call('HMGET', m_key, unpack(ids)), {}, 0, #ids
for i = 1, #ids do
    if i > #values then
        if read > READ_MAX then
            last = i - 1 -- the next call goes on
            break
        end
        local piece = call('HMGET', p_key, unpack(ids, i, math.min(i + PIECE - 1, #ids)))
        for k = 1, #piece do
            values[i + k - 1] = piece[k]
            read = read + (piece[k] and #piece[k] or 0)
        end
    end
    local state, attempt, fence = match(marks[i] or 'R 0 0 ', '^(%u) (%d%d?%d?%d?%d?) (%d+) ')
    if not state then return corrupt('a state') end
    if state == 'L' or state == 'K' then -- else it lies elsewhere
        local anew, why = put_back(state, attempt, ids[i], values[i], found[2 * i])
        append(states, ids[i], anew .. ' ' .. attempt .. ' ' .. fence .. ' - ' .. why)
    end
end

for i = 4, 9 do call('ZCARD', KEYS[i]) end -- all types are known, before the first write
--@ tasks/over.lua
call('PERSIST', m_key)
if #forgets > 0 then
    call('ZADD', t_key, unpack(forgets))
    keep_until(t_key, now + keep)
    call('HDEL', p_key, unpack(gone))
end
if #dead > 0 then call('ZADD', x_key, unpack(dead)) end
for class = 1, CLASSES do
    if #due[class] > 0 then call('ZADD', KEYS[5 + class], unpack(due[class])) end
end
if #states > 0 then call('HSET', m_key, unpack(states)) end
call('ZREM', l_key, unpack(ids, 1, last))
if call('EXISTS', p_key) == 0 then clear() end
return sequence .. ' ' .. now_text .. ' ' .. last
