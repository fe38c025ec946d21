-- api.lua -- the API as data, read from the public headers: build/generated/api.json, for those who generate bindings,
-- and build/generated/gh_structs.h, the list of structs that gh_sizeof knows.
--
-- The headers are written in one way, which tests/checks/check_api.sh holds against the compiler's view of them:
--
--   GH_API type name(parameters);     a function
--   typedef struct gh_x {...} gh_x;   a struct; its fields come as they are declared
--   typedef enum gh_x {...} gh_x;     an enum; a value may be left out, or an expression of numbers
--   #define GH_X number               a constant

local disk = dofile("disk.lua")
local c = dofile("c.lua")
local api = {}

local function trim(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

local function quoted(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

-- Without comments and continued lines.
local function plain(text) return (text:gsub("/%*.-%*/", " "):gsub("\\\n", " ")) end

-- The parts between separators that stand in no bracket.
local function split(text, separator)
    local parts, depth, part = {}, 0, ""
    for at = 1, #text do
        local letter = text:sub(at, at)
        if letter:find("[%({%[]") then depth = depth + 1 end
        if letter:find("[%)}%]]") then depth = depth - 1 end
        if letter == separator and depth == 0 then
            table.insert(parts, trim(part))
            part = ""
        else
            part = part .. letter
        end
    end
    if trim(part) ~= "" then table.insert(parts, trim(part)) end
    return parts
end

local function list(items) return "[" .. table.concat(items, ", ") .. "]" end

local function functions_of(text, header, found)
    for returns, name, parameters in text:gmatch("GH_API%s+([^;%(]-)([%w_]+)%s*(%b())%s*;") do
        local given = {}
        for _, parameter in ipairs(split(parameters:sub(2, -2), ",")) do
            if parameter ~= "void" then table.insert(given, quoted(parameter)) end
        end
        table.insert(found, string.format('{"name": %s, "returns": %s, "parameters": %s, "header": %s}', quoted(name),
            quoted(trim(returns)), list(given), quoted(header)))
    end
end

local function structs_of(text, header, found, names)
    for name, body in text:gmatch("typedef%s+struct%s+(gh_[%w_]+)%s*(%b{})") do
        local fields = {}
        for _, field in ipairs(split(body:sub(2, -2), ";")) do table.insert(fields, quoted(field)) end
        table.insert(names, name)
        table.insert(found, string.format('{"name": %s, "fields": %s, "header": %s}', quoted(name), list(fields),
            quoted(header)))
    end
end

-- A macro's list of values stands in its enum as it is: it has no names of its own.
local function enums_of(text, header, found)
    for name, body in text:gmatch("typedef%s+enum%s+(gh_[%w_]+)%s*(%b{})") do
        local values = {}
        local clean = body:sub(2, -2):gsub("\n%s*#[^\n]*", "")
        for _, value in ipairs(split(clean, ",")) do
            if value:find("^GH_[%w_]+$") or value:find("^GH_[%w_]+ =") then table.insert(values, quoted(value)) end
        end
        table.insert(found, string.format('{"name": %s, "values": %s, "header": %s}', quoted(name), list(values),
            quoted(header)))
    end
end

local function constants_of(text, header, found)
    for name, value in text:gmatch("#define%s+(GH_[%w_]+)[ \t]+([%w%(%)%*%+ ]+)\n") do
        if value:find("^[%d%(]") then
            table.insert(found, string.format('{"name": %s, "value": %s, "header": %s}', quoted(name),
                quoted(trim(value)), quoted(header)))
        end
    end
end

local function section(name, items)
    return '  "' .. name .. '": [\n    ' .. table.concat(items, ",\n    ") .. "\n  ]"
end

-- The lists of status.h, a word or a detail of one in each line: what its enum is made of.
local function statuses()
    local found, words = {}, {}
    local text = disk.read("sdk/include/guildhall/status.h"):gsub("\\\n", " "):gsub("%s+", " ")
    local function add(name, value, sentence)
        table.insert(found, ('{"name": %s, "value": %d, "text": %s}'):format(quoted("GH_" .. name), value,
            quoted(sentence)))
    end
    for name, value, sentence in text:gmatch('X%(([%u%d_]+), (%-?%d+), "(.-)"%)') do
        words[name] = tonumber(value)
        add(name, words[name], sentence)
    end
    for name, word, value, sentence in text:gmatch('X%(([%u%d_]+), (%u[%u_]*), (%d+), "(.-)"%)') do
        add(name, words[word] - 256 * tonumber(value), sentence)
    end
    return found
end

-- To a folder: build/generated, or sdk/generated for those who build without premake.
function api.generate(to)
    local functions, structs, enums, constants, names = {}, {}, {}, {}, {}
    for _, path in ipairs(disk.matching("sdk/include/guildhall/*.h")) do
        local header = path:match("[^/]+$")
        local text = plain(disk.read(path))
        functions_of(text, header, functions)
        structs_of(text, header, structs, names)
        enums_of(text, header, enums)
        constants_of(text, header, constants)
    end
    disk.write(to .. "/api.json", "{\n" .. table.concat({ section("functions", functions),
        section("structs", structs), section("enums", enums), section("statuses", statuses()),
        section("constants", constants) }, ",\n") .. "\n}\n")
    for i, name in ipairs(names) do names[i] = name:gsub("^gh_", "") end
    disk.write(to .. "/gh_structs.h",
        "/* gh_structs.h -- structs of the public headers, without gh_ in front; generated by premake5.lua. */\n\n" ..
        "#ifndef GH_STRUCTS_H\n#define GH_STRUCTS_H\n\n" .. c.list("GH_STRUCTS", names) .. "\n#endif\n")
end

return api
