-- minify.lua -- a Lua 5.1 text with as few bytes as will do the same.
--
--   minify.readable(text, what)       without comments, indentation and empty lines
--   minify.least(text, what, names)   and without blanks that nothing needs, and with short names for local variables
--   minify.names(texts)               short names that suit all of these texts, for least: what has one name in two of
--                                     them keeps having one, so that what they have in common stays the same text.
--                                     Without them, those that are used most in the one text choose first
--
-- Never touched: strings, numbers, globals, fields and methods; nor KEYS, ARGV and redis, also where a script has local
-- variables of these names, because another text may stand behind it. `what` names the text in errors.

local lua_tokens = dofile("lua_tokens.lua")
local lua_scopes = dofile("lua_scopes.lua")
local minify = {}

local kept = { KEYS = true, ARGV = true, redis = true, self = true } -- self has no token where it is declared

-- a, b, ..., Z, _, aa, ab, ...: the number counts from 0.
local letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

local function short_name(number)
    local last = number % #letters
    local front = math.floor(number / #letters)
    return (front > 0 and short_name(front - 1) or "") .. letters:sub(last + 1, last + 1)
end

-- Two variables can have one name if they are never seen at the same place.
local function is_free(name, variable, owners)
    for _, other in ipairs(owners[name] or {}) do
        if variable.first < other.last and other.first < variable.last then return false end
    end
    return true
end

local function may_be_called(name, variable, globals, owners)
    return not globals[name] and not lua_scopes.keywords[name] and is_free(name, variable, owners)
end

local function own(name, variable, owners)
    owners[name] = owners[name] or {}
    table.insert(owners[name], variable)
end

-- Those that choose first: by the ranks of their names, or by their uses; among equals the first one, so that each
-- build chooses the same.
local function in_order(variables, names)
    local sorted = {}
    for i, variable in ipairs(variables) do
        variable.order = i
        variable.rank = names and names[variable.name].rank or -#variable.uses
        if not kept[variable.name] then table.insert(sorted, variable) end
    end
    table.sort(sorted, function(a, b)
        if a.rank ~= b.rank then return a.rank < b.rank end
        return a.order < b.order
    end)
    return sorted
end

local function rename(tokens, what, names)
    local variables, globals = lua_scopes.find(tokens, what)
    local owners = {}
    for _, variable in ipairs(in_order(variables, names)) do
        local number, name = -1, names and names[variable.name].short
        while not name or not may_be_called(name, variable, globals, owners) do
            number = number + 1
            name = short_name(number)
        end
        own(name, variable, owners)
        for _, token in ipairs(variable.uses) do token.text = name end
    end
end

-- The names of all texts' variables, those that are used most first, and by name where each is: { variable, text }.
local function all_names(texts)
    local list, uses, places = {}, {}, {}
    for i, text in ipairs(texts) do
        local variables, globals = lua_scopes.find(lua_tokens.cut(text, i), i)
        for _, variable in ipairs(variables) do
            local name = variable.name
            if not uses[name] then
                table.insert(list, name)
                uses[name], places[name] = 0, {}
            end
            uses[name] = uses[name] + #variable.uses
            table.insert(places[name], { variable = variable, text = i, globals = globals })
        end
    end
    table.sort(list, function(a, b)
        if uses[a] ~= uses[b] then return uses[a] > uses[b] end
        return a < b
    end)
    return list, places
end

-- The first of the shortest names that is free at all these places, or else at most of them.
local function best_name(places, owners)
    local best, fewest = nil, math.huge
    for number = 0, 6 * #letters - 1 do
        local name, taken = short_name(number), 0
        for _, place in ipairs(places) do
            if not may_be_called(name, place.variable, place.globals, owners[place.text]) then taken = taken + 1 end
        end
        if taken < fewest then best, fewest = name, taken end
        if fewest == 0 then break end
    end
    return best
end

function minify.names(texts)
    local names, owners = {}, {}
    local list, places = all_names(texts)
    for i = 1, #texts do owners[i] = {} end
    for rank, name in ipairs(list) do
        local short = not kept[name] and best_name(places[name], owners) or nil
        names[name] = { rank = rank, short = short }
        for _, place in ipairs(short and places[name] or {}) do
            if may_be_called(short, place.variable, place.globals, owners[place.text]) then
                own(short, place.variable, owners[place.text])
            end
        end
    end
    return names
end

function minify.readable(text, what)
    return lua_tokens.join(lua_tokens.cut(text, what), lua_tokens.source_gap)
end

function minify.least(text, what, names)
    local tokens = lua_tokens.cut(text, what)
    rename(tokens, what, names)
    return lua_tokens.join(tokens, lua_tokens.least_gap)
end

return minify
