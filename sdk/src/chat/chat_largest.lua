-- chat_largest: the size of the largest entry goes down when the entries have gone that made it so large.
--
-- wants state_key; state[7] (y); last, taken, length, sent (bytes of the largest of those that were taken), largest
--       SMALL, ENTRY_MAX
-- gives nothing
--
-- Ids are dense, so it is known what is kept. Two windows are enough: when all has gone that came before the present
-- one, what is kept is no larger than what is in there, and the next one begins. One that is let down too far costs a
-- reader a second question, and no more.

local oldest = last + taken - length + 1
local from, most = string.match(state[7] or '', '^(%d+) (%d+)$')
from, most = math.min(tonumber(from or last + 1), last + 1), math.min(math.max(tonumber(most or 0), sent), ENTRY_MAX)
if oldest > last then -- nothing else is kept
    most = sent
end
if oldest >= from then
    largest, from, most = most, last + 1, sent
end
local window = string.format('%.0f %d', from, most)
if largest <= SMALL then
    redis.call('HDEL', state_key, 'y')
    redis.call('HSET', state_key, 'x', largest)
elseif window ~= state[7] then
    redis.call('HSET', state_key, 'x', largest, 'y', window)
end
