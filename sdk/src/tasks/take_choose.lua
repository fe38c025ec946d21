-- take_choose: each of the tasks that were found is looked at; those that are ready may be handed out.
--
-- wants match, sub, append, read, MARK, CUT, ids, origin, sources, bytes, most, before, want, need
-- gives reply, taken, count, fence, attempts, states, some_marked
--       last        how many places were looked at; source.used: of each source
--       does_not_fit   there may be more, for which there is no room
--       source.ready   if there have to be `need`: which of its places are those of tasks that are ready
--
-- A part of tasks_take.lua. It writes nothing.

local values, marks = {}, call('HMGET', m_key, unpack(ids))
local attempts, seen, states, some_marked = {}, {}, {}
local fence, used, last, place, does_not_fit = now, 0, #ids, 6
local source = sources[1]
for i = 1, #ids do
    read(values, ids, i)
    local id, value, mark = ids[i], values[i], marks[i]
    if origin then source = origin[i] end
    local state, attempt, old_fence = source.state, 0, 0
    if mark then
        state, attempt, old_fence = match(mark, MARK)
        attempt, old_fence = tonumber(attempt), tonumber(old_fence)
        if not state or old_fence >= WHOLE_MAX then return corrupt('a state') end
        some_marked = true
        -- The place that it had left in its list: the id may be used again.
        if state == 'V' then append(states, id, 'C' .. sub(mark, 2)) end
    end
    if value and not seen[id] and state == source.state and #id <= 64 then
        attempt, seen[id] = attempt + 1, true
        if old_fence >= fence then fence = old_fence + 1 end
        local told = attempt
        if #value > most or #id + #value + 2 > bytes then
            told, before, value = -attempt, before + #value, sub(value, 1, CUT)
        end
        local size = #id + #value + 2
        if count == want or used > 0 and used + before + size > bytes then
            last, does_not_fit = i - 1, count < want
            -- It and those behind it stay where they are.
            break
        end
        used, count = used + size, count + 1
        if need > 1 then
            source.ready = source.ready or {}
            source.ready[source.used + 1] = true
        end
        taken[count] = id
        if mark then attempts[count] = attempt end
        reply[place + 1], reply[place + 2], reply[place + 3] = id, told, value
        place = place + 3
    elseif value then
        before = before + #value
    end
    -- If it was not handed out, its place is left over.
    source.used = source.used + 1
    -- So many bytes were read and not handed out: the rest is for the next take.
    if before > bytes then
        last, does_not_fit = i, true
        break
    end
end
