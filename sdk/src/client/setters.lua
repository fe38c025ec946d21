-- setters: who has set lately what clients set over one another. A copy of a request may hang on a link that its client
-- has given up, and come when its client was told long since that it is done, and others have set something else: it
-- must not undo that. A client's tokens grow, and it has one such request under way at a time: so the last token of
-- each client that was set over tells which of its requests have had their time.
--
-- More clients than are kept apart are forgotten, the first ones first. Whoever is not known and may be one of them has
-- to ask again, and to say when it was told so: by then it was not told that it is done. That a copy of what is done
-- cannot say.
--
-- wants past     ",<client>:<sequence>:<us>" some times: who was set over, and when at the latest; and ",*:<us>" if
--                some are not known any more: until when others have set over them
--       token, now
--       seen       when the request's sender was told to ask again, us of the store's clock; 0: it was not
-- gives judge(setter)        whether the request may set over that one; "-": over nobody. nil: it may; 1: it has been
--                            carried out, or a later one of its client; 5: it has to ask again
--       set_over(setter, us) notes that it was, or is; nothing happens if it is none, or that is long ago
--       past_text()          what is to be kept from now on

local SETTERS_MAX = 8
local SETTERS_US = 120000000 -- twice the longest time that a copy can have

local own = string.sub(token, 1, 17) -- the client and the colon
local setters, forgotten, size = {}, 0, 0 -- of each: client, token, us
for setter, text in string.gmatch(string.sub(past, 1, 700), ',([%x:*]+):(%d+)') do
    local us = text + 0
    size = size + #setter + #text + 2
    if setter == '*' then
        forgotten = us <= now and us >= now - SETTERS_US and us or 0 -- the clock went back: nobody could say `seen`
    elseif #setter ~= 33 then
        size = -1000
    elseif math.abs(us - now) <= SETTERS_US then
        setters[#setters + 1] = {string.sub(setter, 1, 17), setter, math.min(us, now)}
    end
end
if size ~= #past then
    return redis.error_reply('CORRUPT who has set it is not of the form that KEYS.md describes')
end

local function is_own(setter)
    return string.sub(setter, 1, 17) == own
end

local function set_over(setter, us)
    if #setter ~= 33 or not string.match(setter, '^%x+:%x+$') or math.abs(us - now) > SETTERS_US then
        return
    end
    local client = string.sub(setter, 1, 17)
    for _, one in ipairs(setters) do
        if one[1] == client then
            one[2], one[3] = one[2] > setter and one[2] or setter, math.max(one[3], math.min(us, now))
            return
        end
    end
    setters[#setters + 1] = {client, setter, math.min(us, now)}
end

local function judge(setter)
    if is_own(setter) then
        return setter > token and 1 or nil
    end
    for _, one in ipairs(setters) do
        if one[1] == own then
            return one[2] >= token and 1 or nil
        end
    end
    return seen <= forgotten and forgotten > 0 and 5 or nil
end

local function past_text()
    while #setters > SETTERS_MAX do
        local first = 1
        for i, one in ipairs(setters) do
            first = one[3] < setters[first][3] and i or first
        end
        forgotten = math.max(forgotten, table.remove(setters, first)[3])
    end
    local text = forgotten > 0 and string.format(',*:%.0f', forgotten) or ''
    for _, one in ipairs(setters) do
        if one[1] ~= own then -- it is known by what it sets now
            text = text .. string.format(',%s:%.0f', one[2], one[3])
        end
    end
    return text
end
