-- late: copies of requests that hang on a link which their client has given up, and may come when nobody wants
-- what they ask for any more. Each says until when it may be carried out (`not after`). Who leaves while one may
-- still come leaves until when behind; then what may come as late as that is refused, of that client alone. A
-- living op of the client that is refused with it asks again, and its new copy may be carried out for longer.
--
-- wants late, the end of a state's text: " <client>:<not after>" some times, "*" for any client; now; token,
--       not_after; whole, corrupt of check.lua
-- gives is_late                      the request is to be refused
--       add_late(client, not_after)
--       late                         without those that are over

local LATE_MAX, LATE_MAX_US = 8, 120000000 -- clients; twice the longest time that a copy can have

local is_late, lates = false, {}
if late ~= '' then
    if #late > 400 or string.gsub(late, ' [%x*]+:%d+', '') ~= '' then
        return corrupt('state')
    end
    local rest = ''
    for client, text in string.gmatch(late, ' ([%x*]+):(%d+)') do
        local last = whole(text) or 0
        if last >= now and last <= now + LATE_MAX_US then
            lates[#lates + 1] = {client, last}
            rest = rest .. ' ' .. client .. ':' .. text
            is_late = is_late or not_after <= last and (client == '*' or client == string.sub(token, 1, 16))
        end
    end
    late = rest
end

-- More clients than are kept apart count as one that may be any.
local function add_late(client, last)
    if #lates >= LATE_MAX then
        client = '*'
    end
    last, late = math.min(last, now + LATE_MAX_US), ''
    for _, one in ipairs(lates) do
        if one[1] == client or client == '*' then
            last = math.max(last, one[2])
        else
            late = late .. string.format(' %s:%.0f', one[1], one[2])
        end
    end
    late = late .. string.format(' %s:%.0f', client, last)
end
