-- files_sum: what the files of a channel reserve. A script that changes it says so first, in field p, and takes that
-- back last; where it still stands, a script was stopped in between, and all is added up anew.
--
-- wants whole, corrupt; KEYS 1 gh:{files:<channel>}:s, 2 gh:{files:<channel>}:f
-- gives FILES_MAX            files that a channel may have
--       parse(entry)         bytes and id of "<bytes reserved> <id>", both as text; nil: not of that form
--       sum, last            bytes that all files reserve, the last number given

local FILES_MAX = 1000

local function parse(entry)
    local bytes, id = string.match(entry, '^(%d+) (%d+)$')
    if whole(bytes) and whole(id) then
        return bytes, id
    end
end

local totals = redis.call('HMGET', KEYS[1], 'b', 'n', 'p')
local sum, last = whole(totals[1] or '0'), whole(totals[2] or '0', WHOLE_MAX - 1) -- one more is given
if not (sum and last) then
    return corrupt('channel state')
elseif totals[3] then
    if redis.call('HLEN', KEYS[2]) > FILES_MAX + 64 then
        return corrupt('channel')
    end
    local all = redis.call('HGETALL', KEYS[2])
    sum = 0
    for i = 2, #all, 2 do
        sum = sum + (tonumber(string.match(all[i], '^(%d+) ')) or 0)
    end
    sum = math.min(sum, WHOLE_MAX)
end
