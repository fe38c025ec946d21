-- lua_functions.lua -- moves the local functions of a Lua 5.1 text to where they are first wanted: making one takes
-- time, and who leaves before, or goes another way, need not.
--
--   lua_functions.move(text, what)   the text, without comments and indentation; `what` names it in errors
--
-- A function moves into the smallest block that has all its uses, but into no loop, to the first statement with one.
-- One that would meet there other variables of the names that it uses stays where it is.

local lua_tokens = dofile("lua_tokens.lua")
local lua_scopes = dofile("lua_scopes.lua")
local lua_functions = {}

-- Where it is used, other than by itself.
local function places_outside(variable)
    local places = {}
    for _, place in ipairs(variable.places) do
        if place.at >= variable.statement.behind then table.insert(places, place) end
    end
    return places
end

-- Whether on the way there is something that it knows by another variable, or would know.
local function meets_others(tokens, variables, statement, target)
    local names = {}
    for at = statement.first, statement.behind - 1 do names[tokens[at].text] = true end
    for _, other in ipairs(variables) do
        if other.first >= statement.behind and other.first <= target and names[other.name] then return true end
    end
    return false
end

-- Who goes that way may leave before it needs the function: there is a "return", and not of a local function.
local function may_leave(tokens, variables, from, to)
    local behind = {}
    for _, variable in ipairs(variables) do
        local statement = variable.statement
        if statement then behind[statement.first] = statement.behind end
    end
    while from < to do
        if tokens[from].text == "return" then return true end
        from = behind[from] or from + 1
    end
    return false
end

-- The token before which it is to stand; nil: it is to stay.
local function target_of(tokens, variables, variable)
    local statement = variable.statement
    local places = statement and not variable.is_set and places_outside(variable) or {}
    if #places == 0 then return nil end
    local behind = tokens[statement.behind].text
    local home = lua_scopes.home(statement.scope, places)
    local is_better = home.scope ~= statement.scope or may_leave(tokens, variables, statement.behind, home.statement)
    if not is_better or behind == "(" or behind == ";" then return nil end
    return not meets_others(tokens, variables, statement, home.statement) and home.statement or nil
end

-- The last one first: what others use moves behind them.
local function move_one(tokens, what)
    local variables = lua_scopes.find(tokens, what)
    for i = #variables, 1, -1 do
        local target = target_of(tokens, variables, variables[i])
        if target then return variables[i].statement, target end
    end
end

local function moved(tokens, statement, target)
    local all = {}
    local function add(from, to)
        if tokens[from] then tokens[from].gap = "\n" end
        for at = from, to do table.insert(all, tokens[at]) end
    end
    add(1, statement.first - 1)
    add(statement.behind, target - 1)
    add(statement.first, statement.behind - 1)
    add(target, #tokens)
    return all
end

function lua_functions.move(text, what)
    local tokens = lua_tokens.cut(text, what)
    local statement, target = move_one(tokens, what)
    while statement do
        tokens = moved(tokens, statement, target)
        statement, target = move_one(tokens, what)
    end
    return lua_tokens.join(tokens, lua_tokens.source_gap)
end

return lua_functions
