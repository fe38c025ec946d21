-- lua_constants.lua -- puts into a Lua 5.1 text the numbers themselves where it uses local variables that are never
-- anything else: these cost something each time that the text runs, and each time that a function is made which uses
-- them.
--
--   lua_constants.put(text, what)   the text, without comments and indentation; `what` names it in errors
--
-- A constant is a variable of a statement "local A, B = 1, 2" that gives all its variables numbers, written down as
-- such, of which none is ever given another value.

local lua_tokens = dofile("lua_tokens.lua")
local lua_scopes = dofile("lua_scopes.lua")
local lua_constants = {}

-- The numbers that stand here, with commas between them, and where they end.
local function numbers_at(tokens, at)
    local numbers = {}
    while tokens[at] and tokens[at].kind == "number" do
        table.insert(numbers, tokens[at].text)
        at = at + 1
        if not tokens[at] or tokens[at].text ~= "," then break end
        at = at + 1
    end
    return numbers, at
end

-- What may stand behind a statement, so that the last number is all of its expression.
local function begins_statement(token)
    return token.kind == "name" and token.text ~= "and" and token.text ~= "or" or token.text == ";"
end

-- Of the statement that begins here: its variables, as many numbers, and where it ends. nil: it is another one.
local function constants_at(tokens, at, by_token)
    local names = {}
    if tokens[at].text ~= "local" then return nil end
    repeat
        at = at + 1
        if not by_token[tokens[at]] or by_token[tokens[at]].is_set then return nil end
        table.insert(names, by_token[tokens[at]])
        at = at + 1
    until not tokens[at] or tokens[at].text ~= ","
    if not tokens[at] or tokens[at].text ~= "=" then return nil end
    local numbers, behind = numbers_at(tokens, at + 1)
    if #numbers ~= #names or tokens[behind] and not begins_statement(tokens[behind]) then return nil end
    return names, numbers, behind
end

function lua_constants.put(text, what)
    local tokens = lua_tokens.cut(text, what)
    local all, by_token, at = {}, {}, 1
    for _, variable in ipairs((lua_scopes.find(tokens, what))) do by_token[variable.uses[1]] = variable end
    while at <= #tokens do
        local names, numbers, behind = constants_at(tokens, at, by_token)
        for i, variable in ipairs(names or {}) do
            for _, token in ipairs(variable.uses) do token.kind, token.text = "number", numbers[i] end
        end
        if names and tokens[behind] and tokens[behind].text == ";" then behind = behind + 1 end
        if not names then table.insert(all, tokens[at]) end
        at = behind or at + 1
    end
    return lua_tokens.join(all, lua_tokens.source_gap)
end

return lua_constants
