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

local function is_own(setter)
    return string.sub(setter, 1, 17) == string.sub(token, 1, 17)
end

local setters, forgotten = {}, 0
local function set_over(setter, us)
    if not string.match(setter, '^%x+:%x+$') or #setter ~= 33 or math.abs(us - now) > SETTERS_US then
        return
    end
    us = math.min(us, now)
    for _, one in ipairs(setters) do
        if string.sub(one[1], 1, 17) == string.sub(setter, 1, 17) then
            one[1], one[2] = one[1] > setter and one[1] or setter, math.max(one[2], us)
            return
        end
    end
    setters[#setters + 1] = {setter, us}
end

if past ~= '' then
    if #past > 700 or string.gsub(string.gsub(past, ',%x+:%x+:%d+', ''), ',%*:%d+', '') ~= '' then
        return redis.error_reply('CORRUPT who has set it is not of the form that KEYS.md describes')
    end
    for setter, text in string.gmatch(past, ',([%x:*]+):(%d+)') do
        local us = tonumber(text)
        if setter ~= '*' then
            set_over(setter, us)
        elseif us <= now and us >= now - SETTERS_US then -- else the clock went back, and nobody could say `seen`
            forgotten = us
        end
    end
end

local function judge(setter)
    if is_own(setter) then
        return setter > token and 1 or nil
    end
    for _, one in ipairs(setters) do
        if is_own(one[1]) then
            return one[1] >= token and 1 or nil
        end
    end
    return seen <= forgotten and forgotten > 0 and 5 or nil
end

local function past_text()
    local text = ''
    while #setters > SETTERS_MAX do
        local first = 1
        for i, one in ipairs(setters) do
            first = one[2] < setters[first][2] and i or first
        end
        forgotten = math.max(forgotten, table.remove(setters, first)[2])
    end
    for _, one in ipairs(setters) do
        if not is_own(one[1]) then -- it is known by what it sets now
            text = text .. string.format(',%s:%.0f', one[1], one[2])
        end
    end
    return forgotten > 0 and string.format(',*:%.0f', forgotten) .. text or text
end
