-- chat_state: the numbers of a chat.
--
-- wants state       of the fields e, n, k, x, g
--       given       the client's generation of the store's data, a text; '0': not known
--       list_key; now
-- gives epoch; last, keep, largest, which are nil if there is no such chat
--       head        id of the first message that is stored; last + 1: none is

local CHAT_ID_MAX = 9007199254740000
local CHAT_KEEP_MAX = 100000
local CHAT_ENTRY_MAX = 65664

local epoch, last, keep = tonumber(state[1] or '0'), tonumber(state[2]), tonumber(state[3])
keep = keep and math.abs(keep) -- below 0: sends are refused
local largest, known = tonumber(state[4]), tonumber(state[5] or '0')
local head = redis.call('LINDEX', list_key, 0)
head = head and tonumber(string.match(head, '^(%d+) ')) or not head and last and last + 1
if not epoch or epoch < 0 or epoch > CHAT_ID_MAX or epoch % 1 ~= 0 or
   not known or known < 0 or known > now + 86400000000 or
   (state[2] and not (epoch > 0 and last and last >= 0 and last <= CHAT_ID_MAX and last % 1 == 0 and
                      keep and keep >= 1 and keep <= CHAT_KEEP_MAX and keep % 1 == 0 and
                      largest and largest >= 0 and largest <= CHAT_ENTRY_MAX and
                      head and head >= 1 and head <= last + 1)) then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif given ~= '0' and given + 0 < known then
    return redis.error_reply('STALE the data is of generation ' .. state[5])
end
