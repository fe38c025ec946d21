-- chat_state: the numbers of a chat.
--
-- wants state   of the fields e, n, k, c, x
-- gives epoch; last, keep, most, largest, which are nil if there is no such chat

local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
local most, largest = tonumber(state[4]), tonumber(state[5])
if not epoch or (state[2] and not (last and keep and most and largest)) then
    return redis.error_reply('WRONGTYPE chat state is not of the form that KEYS.md describes')
end
