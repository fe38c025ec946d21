-- aggregate_record: what is known of a file that is counted for a day.
--
-- wants nothing
-- gives record_of(text)   digest, staged, added, pieces, changed; nil: not of that form
--       live(keep)        all of the day lives so many ms from now on, whoever has said what before; '0': for ever
--       corrupt(what)     what a script answers that has found something else in a key
--       PIECES_MAX        of a file

local PIECES_MAX = 16777217
local WHOLE_MAX = 9007199254740991

local function record_of(text)
    local digest, staged, added, pieces, changed = string.match(text, '^(%x+) (%d+) (%d+) (%d+) (%d+)$')
    if not digest or #digest ~= 32 or #text > 100 then
        return nil
    end
    staged, added, pieces, changed = staged + 0, added + 0, pieces + 0, changed + 0
    if pieces > PIECES_MAX or staged > pieces or added > staged or changed > WHOLE_MAX or
       (added > 0 and staged < pieces) then
        return nil
    end
    return digest, staged, added, pieces, changed
end

local function live(keep)
    for i = 1, 5 do
        if keep == '0' then
            redis.call('PERSIST', KEYS[i])
        else
            redis.call('PEXPIRE', KEYS[i], keep)
        end
    end
end

local function corrupt(what)
    return redis.error_reply('CORRUPT ' .. what .. ' is not of the form that KEYS.md describes')
end
