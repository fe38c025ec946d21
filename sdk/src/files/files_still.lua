-- files_still: how long the keys of an upload live. The first chunk after each quarter of the time that an upload
-- may stand still moves their times to live; those before it have to count for the whole of that time, too.
--
-- wants nothing
-- gives still_ms(still)   the time to live of an upload that may stand still for so many us

local function still_ms(still)
    return math.floor(still / 800) + 1
end
