-- take_shares: by weight, task by task, the class goes next that is furthest behind its share, of those that have
-- something left. One that has nothing saves nothing up and owes nothing.
--
-- wants match, corrupt, control, sources
-- gives deal(count)   the classes of so many tasks, or of as many as there are; begins anew each time
--       credit        after that: by how many tasks each class is behind its share
--
-- A part of tasks_take.lua.

local function numbers(text)
    local list = {}
    for number in string.gmatch(text, '%S+') do
        list[#list + 1] = match(number, '^%-?%d%d?%d?%.?%d*$') and tonumber(number)
    end
    return list
end

local weight, kept = numbers(ARGV[10]), control[3] or '0 0 0 0'
if #numbers(kept) ~= 4 then return corrupt('the credit') end

deal = function(count)
    local left, dealt, best = {0, 0, 0, 0}, {}, 1
    credit = numbers(kept)
    for _, source in ipairs(sources) do left[source.class + 1] = left[source.class + 1] + #source.ids end
    while best and #dealt < count do
        local sum = 0
        best = nil
        for class = 1, 4 do
            if left[class] > 0 then sum = sum + weight[class] end
        end
        for class = 1, 4 do
            credit[class] = left[class] > 0 and credit[class] + weight[class] / sum or 0
            if left[class] > 0 and (not best or credit[class] > credit[best]) then best = class end
        end
        if best then
            credit[best], left[best], dealt[#dealt + 1] = credit[best] - 1, left[best] - 1, best - 1
        end
    end
    return dealt
end
