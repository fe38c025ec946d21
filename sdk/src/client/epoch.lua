-- epoch: what is known of the store's data: when it was born, of which generation it is, and how its keys are laid
-- out. Asked once per connection.
--
-- KEYS  1 <prefix>:epoch     string "<birth us> <generation> <layout> <server>"
--                            birth: when the first client found the store empty
--                            generation: grows, at least to the time, when the server is another or was started anew
-- ARGV  1 layout             the number of the layout that the client's keys have
--       2 server             which server it is, and since which start: from INFO; "-": not known
--       [3] generation       the largest that the client has heard of; 0, or left out: of none
--       [4] its generation   the one that stood in this key when the client last asked; 0, or left out: it has not
-- reply birth us, now us, generation
--       or the error LAYOUT, if the keys are laid out in another way
--
-- A client that gets another birth than last time knows that the store lost its data in between; another generation
-- says that the newest of the data may be lost. Where the clock went back over a loss, the time is not larger than what
-- some still know and write down; who has seen that brings it here. Where the generation is smaller than it was when a
-- client last asked, these data are older, although the server may be the one that the key names: a failover was
-- undone, and the master of before goes on with what it had. Begins with PEXPIRE, which a server that is out of memory
-- still allows: it is there for those who give back. What it sets is gone with SET.

--@ client/check.lua

local DAY_US = 86400000000

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local least = whole(ARGV[3] or '0', now + DAY_US) or 0
local known = whole(ARGV[4] or '0', now + DAY_US) or 0
-- The time, where it is later. Where the clock went back it tells generations no more apart: two losses, of the first
-- of which the client knows nothing that comes first behind the second, have different steps by who the server is.
local step = 1 + (tonumber(string.sub(ARGV[2], 1, 4), 16) or 0) + (tonumber(string.sub(ARGV[2], 17, 20), 16) or 0)
local function next_of(generation)
    return now > generation and now or generation + step
end
local birth, generation, server = now, next_of(least), ARGV[2]
local stored = redis.call('GET', KEYS[1])
if stored then
    local layout
    birth, generation, layout, server = string.match(stored, '^(%d+) (%d+) (%d+) (%S+)$')
    layout = layout or (whole(stored) and '1')
    if not layout then
        return corrupt('the epoch')
    elseif layout ~= ARGV[1] then
        return redis.error_reply('LAYOUT the keys with this prefix have the layout ' .. layout ..
                                 ', and this version of Guildhall writes ' .. ARGV[1])
    end
    birth, generation = whole(birth, now + DAY_US), whole(generation, now + DAY_US)
    if not birth or not generation then
        return corrupt('the epoch')
    elseif ARGV[2] ~= '-' and ARGV[2] ~= server then
        generation, server = next_of(math.max(generation, least)), ARGV[2]
    elseif generation < known then
        generation = next_of(math.max(least, known))
    elseif generation < least then
        generation = least
    else
        return {birth, now, generation}
    end
    redis.call('PEXPIRE', KEYS[1], '86400000')
end
redis.call('SET', KEYS[1], string.format('%.0f %.0f %s %s', birth, generation, ARGV[1], server))
return {birth, now, generation}
