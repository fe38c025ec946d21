-- page_entry: whether the next entry goes into the page that is read; behind the last that does, it leaves the loop
-- that it stands in. An entry for which the reader has no room, however empty its page is, is told without its body, as
-- "-<size of the body> <id> <ms> <size of the sender> <sender>".
--
-- wants ENTRY_MAX   bytes of the longest that a script writes
--       PASSED_MAX  bytes of entries that one call cuts
--       entry       of the form that mailbox_push.lua describes
--       found       how many are in the page already
--       bytes_max   of the page; room: the reader's, when its page is empty
-- gives entry       as it goes into the page
--       bytes       of the page, from 0; passed: what was cut, from 0
--       count_max   as it was, or 0: no more are read

bytes = bytes + #entry + 1
if #entry > ENTRY_MAX then
    return redis.error_reply('CORRUPT message is not of the form that KEYS.md describes')
elseif bytes > bytes_max then
    local is_passed = #entry >= room
    if is_passed then
        bytes, passed = bytes - #entry, passed + #entry
        local sender, behind = string.match(entry, '^%d+ %d+ (%d+) ()')
        local cut = behind and #sender <= 2 and behind - 1 + sender
        if not cut or cut > #entry then
            return redis.error_reply('CORRUPT message is not of the form that KEYS.md describes')
        end
        entry = '-' .. #entry - cut .. ' ' .. string.sub(entry, 1, cut)
        bytes = bytes + #entry
        count_max = passed > PASSED_MAX and 0 or count_max
    end
    if bytes > bytes_max and (found > 0 or not is_passed) then
        count_max = 0
        break
    end
end
