-- c.lua -- writes texts and lists of names as C.

local c = {}

-- One line as a C string literal. '?' is escaped because "??=" means something else in C11.
local function literal(line)
    local escaped = line:gsub('[\\"?]', "\\%0"):gsub("\n", "\\n")
    escaped = escaped:gsub("[^ -~]", function(byte) return string.format("\\%03o", byte:byte()) end)
    return '"' .. escaped .. '"'
end

-- A text as C string literals, one a line.
function c.text(text)
    local lines = {}
    for line in text:gmatch("[^\n]*\n?") do
        if line ~= "" then table.insert(lines, "    " .. literal(line)) end
    end
    return #lines == 0 and '    ""' or table.concat(lines, "\n")
end

-- Bytes of any kind as C string literals, a few a line. None of them looks like the beginning of a comment, as
-- internal.lua reads C by its lines.
function c.bytes(text)
    local lines = {}
    for i = 1, #text, 28 do
        local line = literal(text:sub(i, i + 27)):gsub("/", "\\057")
        table.insert(lines, "    " .. line)
    end
    return table.concat(lines, "\n")
end

-- A macro NAME(X) that is X(one) X(two) ... of all names: C's way to say something of each of them.
function c.list(name, names)
    local parts = { "#define " .. name .. "(X)" }
    for _, one in ipairs(names) do table.insert(parts, " \\\n    X(" .. one .. ")") end
    return table.concat(parts) .. "\n"
end

return c
