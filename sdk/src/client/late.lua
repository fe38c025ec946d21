-- late: copies of requests that hang on a link which their client has given up, and may come when nobody wants
-- what they ask for any more. Each says until when it may be carried out (`not after`). Who leaves while one may
-- still come leaves until when behind; then what may come as late as that is refused, of that client alone. A
-- living op of the client that is refused with it asks again, and its new copy may be carried out for longer.
--
-- wants late, the end of a state's text: " <client>:<not after>" some times, "*" for any client; now; token,
--       not_after; added (the `not after` of a copy that may come late; nil: none)
-- gives is_late   the request is to be refused
--       late      without those that are over, and with the one that was added

local LATE_MAX, LATE_MAX_US = 8, 120000000 -- clients; twice the longest time that a copy can have

local is_late, lates = false, nil
if late ~= '' then
    if #late > 400 or string.gsub(late, ' [%x*]+:%d+', '') ~= '' then
        return redis.error_reply('CORRUPT state is not of the form that KEYS.md describes')
    end
    local rest = ''
    lates = {}
    for client, text in string.gmatch(late, ' ([%x*]+):(%d+)') do
        local last = tonumber(text)
        if last >= now and last <= now + LATE_MAX_US then
            lates[#lates + 1] = {client, last}
            rest = rest .. ' ' .. client .. ':' .. text
            is_late = is_late or not_after <= last and (client == '*' or client == string.sub(token, 1, 16))
        end
    end
    late = rest
end

-- More clients than are kept apart count as one that may be any.
if added then
    local client = lates and #lates >= LATE_MAX and '*' or string.sub(token, 1, 16)
    local rest = ''
    for _, one in ipairs(lates or {}) do
        if one[1] == client or client == '*' then
            added = math.max(added, one[2])
        else
            rest = rest .. string.format(' %s:%.0f', one[1], one[2])
        end
    end
    late = rest .. string.format(' %s:%.0f', client, math.min(added, now + LATE_MAX_US))
end
