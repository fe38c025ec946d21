-- place: whether the id of a cancelled task still lies in a list or a line.
--
-- wants call, match, m_key
-- gives cleared()         when all places of the queue went at once (us, a text; '': never); see over.lua
--       has_place(mark)   a V mark whose place did not go with them
--
-- A mark of V names the clearing before it. When the places have gone since, no turn comes that would take the mark
-- away: it says no more than C does.

local cleared_at

local function cleared()
    cleared_at = cleared_at or match(call('HGET', m_key, '') or '', '^C 0 (%d+) ') or ''
    return cleared_at
end

local function has_place(mark)
    return match(mark, '^V %d+ %d+ %- q?(%d*)$') == cleared()
end
