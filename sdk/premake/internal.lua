-- internal.lua -- what a file of C keeps to itself when it is one of many in a single source: each function and object
-- that is not public becomes static. By lines, as declarations and definitions begin at a line's beginning, and nothing
-- else does that looks like one.
--
--   internal.public(headers)            the names that stand behind GH_API there: a set
--   internal.hide(text, public, word)   the text, with the word ("static") where it belongs

local disk = dofile("disk.lua")
local internal = {}

-- Words that a declaration of something with a name for the linker cannot begin with.
local other_words = { static = true, typedef = true, ["return"] = true, ["else"] = true, ["if"] = true,
                      ["for"] = true, ["while"] = true, ["switch"] = true, ["case"] = true, ["goto"] = true }

function internal.public(headers)
    local names = {}
    for _, file in ipairs(headers) do
        for name in disk.read(file):gmatch("\nGH_API[^;(]-([%a_][%w_]*)%s*%(") do names[name] = true end
    end
    return names
end

-- The name that a line declares or defines: a function's with the types before it, an object's that has a value.
local function declared(line, words)
    local first = line:match("^[%a_][%w_]*")
    if other_words[first] or words[first] or line:find(" static ", 1, true) then return nil end
    return line:match("^[%a_][%w_ *]*[ *]([%a_][%w_]*)%(") or line:match("^[%a_][%w_ *]*[ *]([%a_][%w_]*)[%[%]%w_]* = ")
end

local function hide_line(line, public, word, words)
    if line:find('^extern "C"') then return line end
    if line:find("^extern ") or line:find("^#define .* extern const ") then
        return (line:gsub("extern", word, 1))
    end
    local name = declared(line, words)
    return name and not public[name] and word .. " " .. line or line
end

function internal.hide(text, public, word)
    local lines, words, in_comment, goes_on = {}, {}, false, false
    for other in text:gmatch("#define ([%w_]+) static\n") do words[other] = true end
    for line in text:gmatch("([^\n]*)\n") do
        table.insert(lines, (in_comment or goes_on) and line or hide_line(line, public, word, words))
        -- Nothing but words: the next line that is no comment has the name.
        if not line:find("^//") then goes_on = line:find("^[%a_][%w_ ]*$") ~= nil end
        if line:find("*/", 1, true) then in_comment = false end
        if line:find("/%*[^/]*$") and not line:find("/%*.*%*/[^/]*$") then in_comment = true end
    end
    return table.concat(lines, "\n") .. "\n"
end

return internal
