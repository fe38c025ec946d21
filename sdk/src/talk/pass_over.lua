-- pass_over: an entry for which the reader has no room, however empty its page is: it is told without its body, as
-- "-<size of the body> <id> <ms> <size of the sender> <sender>".
--
-- wants entry   of the form that mailbox_push.lua describes
-- gives entry

local sender, behind = string.match(entry, '^%d+ %d+ (%d+) ()')
local cut = behind and #sender <= 2 and behind - 1 + sender
if not cut or cut > #entry then
    return redis.error_reply('CORRUPT message is not of the form that KEYS.md describes')
end
entry = '-' .. #entry - cut .. ' ' .. string.sub(entry, 1, cut)
