-- minify.lua -- a Lua 5.1 text with as few bytes as will do the same.
--
--   minify.readable(text, what)   without comments, indentation and empty lines
--   minify.least(text, what)      and without blanks that nothing needs, and with short names for local variables
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

-- Those that are used most choose first; among equals the first one, so that each build chooses the same.
local function by_uses(variables)
    local sorted = {}
    for i, variable in ipairs(variables) do
        variable.order = i
        if not kept[variable.name] then table.insert(sorted, variable) end
    end
    table.sort(sorted, function(a, b)
        if #a.uses ~= #b.uses then return #a.uses > #b.uses end
        return a.order < b.order
    end)
    return sorted
end

local function rename(tokens, what)
    local variables, globals = lua_scopes.find(tokens, what)
    local owners = {}
    for _, variable in ipairs(by_uses(variables)) do
        local number, name = -1, nil
        repeat
            number = number + 1
            name = short_name(number)
        until not globals[name] and not lua_scopes.keywords[name] and is_free(name, variable, owners)
        owners[name] = owners[name] or {}
        table.insert(owners[name], variable)
        for _, token in ipairs(variable.uses) do token.text = name end
    end
end

function minify.readable(text, what)
    return lua_tokens.join(lua_tokens.cut(text, what), lua_tokens.source_gap)
end

function minify.least(text, what)
    local tokens = lua_tokens.cut(text, what)
    rename(tokens, what)
    return lua_tokens.join(tokens, lua_tokens.least_gap)
end

return minify
