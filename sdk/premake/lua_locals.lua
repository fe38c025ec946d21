-- lua_locals.lua -- gives a Lua 5.1 text a local variable for each function of Lua's and of the server's libraries, and
-- for ARGV, where it uses that often: Lua looks a global up, and a field of one, each time anew.
--
--   lua_locals.add(text, what)   the text, without comments and indentation; `what` names it in errors
--
-- Each function, and the text itself, has its own: one from outside would cost more, each time that the function is
-- made, than it saves. A local stands in the smallest block that has all the uses, but in no loop, before the first
-- statement with one: who leaves before that does not pay for it. What the text gives a value, or what is a variable
-- there, stays as it is. In no other way, as by _G, may a text change a library.

local lua_tokens = dofile("lua_tokens.lua")
local lua_scopes = dofile("lua_scopes.lua")
local lua_locals = {}

local uses_least = 5      -- fewer would save less time than their local takes room
local repeated_uses = 2   -- so many is one in a loop
local variables_max = 180 -- of a function; Lua takes 200

local libraries = { "math", "redis", "string", "table" }
local plain = { "ARGV", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "unpack" }

-- What is used in one function: by scope, and then by name, { name, length, places, count }; length: in tokens.
local function note(all, name, length, place)
    local scope, is_repeated = lua_scopes.function_around(place)
    all.by_scope[scope] = all.by_scope[scope] or {}
    local used = all.by_scope[scope][name]
    if not used then
        used = { name = name, length = length, scope = scope, places = {}, count = 0 }
        all.by_scope[scope][name] = used
        table.insert(all, used)
    end
    table.insert(used.places, place)
    used.count = used.count + (is_repeated and repeated_uses or 1)
end

local function places_of(globals, name)
    local global = globals[name]
    return global and not global.is_set and global.places or {}
end

-- All that is used, by function, as it comes in the text.
local function find_used(tokens, globals)
    local all = { by_scope = {} }
    for _, name in ipairs(plain) do
        for _, place in ipairs(places_of(globals, name)) do note(all, name, 1, place) end
    end
    for _, name in ipairs(libraries) do
        for _, place in ipairs(places_of(globals, name)) do
            local sign, field = tokens[place.at + 1], tokens[place.at + 2]
            if sign and sign.text == "." then note(all, name .. "." .. field.text, 3, place) end
        end
    end
    table.sort(all, function(a, b) return a.places[1].at < b.places[1].at end)
    return all
end

local function free_name(name, taken)
    name = name:gsub("%.", "_")
    while taken[name] do name = name .. "_" end
    return name
end

-- By the numbers of tokens: the locals that are to stand before one, and what is used there.
local function choose(tokens, globals)
    local before, uses, taken = {}, {}, {}
    for _, token in ipairs(tokens) do taken[token.text] = true end
    for _, used in ipairs(find_used(tokens, globals)) do
        local scope = used.scope
        if used.count >= uses_least and scope.count < variables_max then
            local at = lua_scopes.home(scope, used.places).statement
            used.short = free_name(used.name, taken)
            scope.count = scope.count + 1
            before[at] = before[at] or {}
            table.insert(before[at], used)
            for _, place in ipairs(used.places) do uses[place.at] = used end
        end
    end
    return before, uses
end

-- "local a, b = c.d, e", and what keeps a bracket behind it from being arguments of e.
local function declaration(list, behind)
    local left, right = {}, {}
    for i, used in ipairs(list) do left[i], right[i] = used.short, used.name end
    local text = "\nlocal " .. table.concat(left, ", ") .. " = " .. table.concat(right, ", ")
    return lua_tokens.cut(text .. (behind.text == "(" and ";" or ""), "a local")
end

function lua_locals.add(text, what)
    local tokens = lua_tokens.cut(text, what)
    local _, globals = lua_scopes.find(tokens, what)
    local before, uses = choose(tokens, globals)
    local all, at = {}, 1
    while at <= #tokens do
        local token, used = tokens[at], uses[at]
        if before[at] then
            for _, one in ipairs(declaration(before[at], token)) do table.insert(all, one) end
            token.gap = "\n"
        end
        if used then token.text = used.short end
        table.insert(all, token)
        at = at + (used and used.length or 1)
    end
    return lua_tokens.join(all, lua_tokens.source_gap)
end

return lua_locals
