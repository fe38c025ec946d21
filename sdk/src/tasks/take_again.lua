-- take_again: a repeat gets what it was answered: those that it still has, with what is left of the lease.
--
-- wants call, match, sub, min, whole, corrupt, read, MARK, CUT, sequence, now, lease, want, bytes, most, saved, at,
--       last_fence
-- gives nothing; ends the script with the reply
--
-- A part of tasks_take.lua.

local fence, ids, values, used = whole(last_fence), {}, {}, 0
if not fence or #saved[1] > 4096 then return corrupt('a receipt') end
for id in string.gmatch(sub(saved[1], at), '[^%z]+') do
    ids[#ids + 1] = id
end
local reply = {sequence, 0, now, fence, lease, 0}
if #ids == 0 then return reply end
local marks, ends = call('HMGET', m_key, unpack(ids)), call('ZMSCORE', l_key, unpack(ids))
for i = 1, min(#ids, want) do
    read(values, ids, i)
    local id, value, expiry = ids[i], values[i], tonumber(ends[i] or 0)
    local state, attempt, its_fence = match(marks[i] or '', MARK)
    if value and (state == 'L' or state == 'K') and its_fence == last_fence and expiry > now then
        local told = tonumber(attempt)
        if #value > most or #id + #value + 2 > bytes then told, value = -told, sub(value, 1, CUT) end
        used = used + #id + #value + 2
        if used > bytes and #reply > 6 then break end
        reply[5] = min(reply[5], expiry - now)
        local place = #reply
        reply[place + 1], reply[place + 2], reply[place + 3] = id, told, value
    end
end
return reply
