-- forget: some of the ids that were remembered for long enough.
--
-- wants call, match, sub, now, count, oldest, keep, t_key, m_key, TOMBS_MAX
-- gives nothing
--
-- An id that was cancelled while its place in a ready list was still there is remembered until that has come.

local most = math.min(2 * count, count + 10)
local old = oldest and call('ZRANGEBYSCORE', t_key, '-inf', now, 'LIMIT', '0', most) or {}
if #old == 0 and call('ZCARD', t_key) > TOMBS_MAX then old = call('ZRANGE', t_key, '0', 4 * most - 1) end
if #old > 0 then
    --@ tasks/place.lua
    local ended, later, over = call('HMGET', m_key, unpack(old)), {}, {}
    local marked = {}
    for i = 1, #old do
        local state = ended[i] and sub(ended[i], 1, 1)
        if state == 'V' and has_place(ended[i]) then
            later[#later + 1], later[#later + 2] = now + keep, old[i]
        else
            over[#over + 1] = old[i]
            if state == 'C' or state == 'D' or state == 'V' then marked[#marked + 1] = old[i] end
        end
    end
    if #later > 0 then call('ZADD', t_key, unpack(later)) end
    if #marked > 0 then call('HDEL', m_key, unpack(marked)) end
    if #over > 0 then call('ZREM', t_key, unpack(over)) end
end
