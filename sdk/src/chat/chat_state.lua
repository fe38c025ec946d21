-- chat_state: the numbers of a chat.
--
-- wants state       of the fields e, n, k, x, g
--       given       the client's generation of the store's data, a text; '0': not known
--       list_key; now
-- gives epoch; last, keep, largest, which are nil if there is no such chat
--       head        id of the first message that is stored; last + 1: none is
--       number_of   what a field says, nil: it is no whole number as it is written here

local CHAT_ID_MAX = 9007199254740000
local CHAT_KEEP_MAX = 100000
local CHAT_ENTRY_MAX = 65664

local function number_of(text, form)
    return tonumber(string.match(text or '', form or '^%d+$'))
end

local epoch, last = number_of(state[1] or '0', state[1] and '^[1-9]%d*$'), number_of(state[2])
local keep = number_of(state[3], '^%-?(%d+)$') -- below 0: sends are refused
local largest, known = number_of(state[4]), number_of(state[5] or '0')
local head = redis.call('LINDEX', list_key, 0)
head = head and tonumber(string.match(head, '^(%d+) ')) or not head and last and last + 1
if not epoch or epoch > CHAT_ID_MAX or not known or known > now + 86400000000 or
   (state[2] and not (epoch > 0 and last and last <= CHAT_ID_MAX and keep and keep >= 1 and keep <= CHAT_KEEP_MAX and
                      largest and largest <= CHAT_ENTRY_MAX and
                      head and head >= 1 and head <= last + 1)) then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif given ~= '0' and given + 0 < known then
    return redis.error_reply('STALE the data is of generation ' .. state[5])
end
