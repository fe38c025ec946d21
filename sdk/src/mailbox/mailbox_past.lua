-- mailbox_past: a commit names an epoch that is not the present one: one before, perhaps; or the one that a mailbox is
-- told in whose state was lost, see mailbox_fetch.lua.
--
-- wants state_key, list_key; state (of the fields e, n), head; last
-- gives last, nil: the present epoch is none; is_lost; there   the last id that was given in that epoch, -1: it is none
--       of this mailbox

local ended = redis.call('HGET', state_key, 'b') or ''
there, is_lost = -1, head and not (state[1] and state[2])
if not string.find(state[1] or '1', '^[1-9]%d*$') then
    last = nil
elseif is_lost then
    local id, time_ms = string.match(redis.call('LINDEX', list_key, -1), '^(%d+) (%d+) ')
    last = tonumber(id)
    if last and string.format('%.0f', 1000 * (1 + time_ms)) == ARGV[2] then
        there = last
    end
elseif not (state[1] and state[2]) then
    last, first = 0, 1
elseif #ended < 2048 then
    for epoch, id in string.gmatch(ended, '(%d+):(%d+)') do
        if epoch == ARGV[2] then
            there = tonumber(id)
        end
    end
end
