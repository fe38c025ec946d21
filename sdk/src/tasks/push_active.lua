-- push_active: a task that is unique while it is active takes the id of one that is over, or a dead letter.
--
-- wants call, match, sub, whole, corrupt, has_place, m_key, classes
-- gives free_of(i, id, is_stored)   the fence of the task that had the id of the i-th, which is free, and whether it is
--                                 a letter; nil: it is not free, or another kind of task asks
--       place_of[id]              the list in which a cancelled task has left its id, and from which end LREM counts
--       broken                    what the script answers: a state is not of its form
--
-- A part of tasks_push.lua. It writes nothing. A task that was cancelled while it was ready has left its id in a list,
-- and a new place behind it would be one too many: so that is looked for where it costs little, at both ends of the
-- lists. If it may be elsewhere, the id is not free until its turn comes.

local LOOK_MAX = 256
local left_over, is_seen_all

local function look_through(key, from, to, counts)
    local ids = call('LRANGE', key, from, to)
    for i = 1, #ids do
        if not left_over[ids[i]] then left_over[ids[i]] = {key, counts} end
    end
end

local function find_places()
    left_over, is_seen_all = {}, classes == 4
    for class = 0, classes - 1 do
        local key = KEYS[5 + class]
        local size = call('LLEN', key)
        if size > 0 then look_through(key, '0', LOOK_MAX - 1, '1') end
        if size > LOOK_MAX then look_through(key, -math.min(LOOK_MAX, size - LOOK_MAX), '-1', '-1') end
        is_seen_all = is_seen_all and size <= 2 * LOOK_MAX
    end
end

-- Whether the place of a cancelled task is found, or is gone.
local function is_out_of_the_way(id, mark)
    if match(mark, '%- q%d*$') then return false end
    if not left_over then find_places() end
    local place = left_over[id]
    place_of[id] = place
    return place or is_seen_all
end

free_of = function(i, id, is_stored)
    if sub(ARGV[#ARGV], i, i) ~= 'a' then return nil end
    local mark = call('HGET', m_key, id)
    if not mark then return not is_stored and '0' or nil end
    local state, fence = match(mark, '^(%u) %d+ (%d+) ')
    if not whole(fence) then
        broken = corrupt('a state')
        return nil
    elseif is_stored then
        if state ~= 'X' then return nil end
    elseif has_place(mark) and not is_out_of_the_way(id, mark) then
        return nil
    end
    return fence, is_stored
end
