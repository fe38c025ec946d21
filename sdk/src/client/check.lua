-- check: what a key holds is looked at before it is believed.
--
-- wants nothing
-- gives whole(text, most)   the whole number from 0 to most (2^53 - 1 if left out) that a text is, or nil
--       corrupt(what)       what a script answers that has found something else in a key

local WHOLE_MAX = 9007199254740991

local function whole(text, most)
    local number = text and #text <= 16 and string.match(text, '^%d+$') and tonumber(text)
    return number and number <= (most or WHOLE_MAX) and number or nil
end

local function corrupt(what)
    return redis.error_reply('CORRUPT ' .. what .. ' is not of the form that KEYS.md describes')
end
