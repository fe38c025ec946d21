-- chat_said: takes apart what a change of a chat was answered before.
--
-- wants past, sequence, said   of mark.lua
-- gives said_epoch, said_number, said_text   if past == sequence

local said_epoch, said_number, said_text
if past == sequence then
    said_epoch, said_number, said_text = string.match(said or '', '^(%d+) (%d+) (%S+)$')
    if not said_epoch or #said_epoch > 16 or #said_number > 16 then
        return redis.error_reply('CORRUPT mark is not of the form that KEYS.md describes')
    end
    said_epoch, said_number = tonumber(said_epoch), tonumber(said_number)
end
