-- aggregate_record: what is known of a file that is counted for a day.
--
-- wants client/check.lua
-- gives record_of(text)                        digest, staged, added, pieces, changed; nil: not of that form
--       record_text(record, staged, added)     the text with other numbers
--       PIECES_MAX                           of a file

local PIECES_MAX = 16777217

local function record_of(text)
    local record = {}
    if #text > 100 then
        return nil
    end
    record.digest, record.staged, record.added, record.pieces, record.changed =
        string.match(text, '^(%x+) (%d+) (%d+) (%d+) (%d+)$')
    record.staged, record.added = whole(record.staged, PIECES_MAX), whole(record.added, PIECES_MAX)
    record.pieces, record.changed = whole(record.pieces, PIECES_MAX), whole(record.changed)
    if not record.digest or #record.digest ~= 32 or not record.staged or not record.added or not record.pieces or
       not record.changed or record.staged > record.pieces or record.added > record.staged or
       (record.added > 0 and record.staged < record.pieces) then
        return nil
    end
    return record
end

local function record_text(record, staged, added)
    return string.format('%s %d %d %d %.0f', record.digest, staged, added, record.pieces, record.changed)
end
