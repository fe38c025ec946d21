-- once: a change is made once, however many copies of its request arrive, and whenever they do.
--
-- wants call, now, now_text, w_key, sequence, token, not_after, receipt_us, corrupt
-- gives keep_receipt(codes)   what every other copy is answered from now on
--
-- reply in one text: sequence, now us, codes text
--       codes: one letter for each of what was to be changed, or none at all: it came too late
--       codes "o" done
--             "n" not known
--
-- Ends the script for a copy that is a repeat, or too late: then there are no codes. A receipt that cannot be is no
-- answer: whoever was told nothing would ask for ever.

if not_after > 0 and now > not_after then return sequence .. ' ' .. now_text .. ' ' end
local answered = call('HGET', w_key, token .. 'o')
if answered then
    local codes = string.match(answered, '^%d+ %d+ (%a+)$')
    if not codes then return corrupt('a receipt') end
    return sequence .. ' ' .. now_text .. ' ' .. codes
end

local function keep_receipt(codes)
    call('HSET', w_key, token .. 'o', now_text .. ' ' .. receipt_us .. ' ' .. codes)
    keep_until(w_key, now + receipt_us)
end
