-- scripts.lua -- the server's scripts, the .lua files of sdk/src, for C: build/generated/gh_scripts.h names them, and
-- build/generated/scripts/<system>_scripts.c, which has their texts as sdk/src/client/script_text.h describes them.
-- <system>_scripts.h beside it has names for what their heads say of replies, for the system's own C: see heads.lua.
--
-- A line "--@ client/check.lua" in a script stands for a part that several may share: sdk/src/client/check.lua. The
-- head of a part says what it wants of the script around it ("-- wants ..."). Each script is there twice:
--
--   readable  with its parts in their places, without comments and indentation, and changed so that it has less to do
--             (lua_constants.lua, lua_functions.lua, lua_locals.lua): what a debug build sends
--   least     and with short names, without blanks: what a release build sends, and has packed. What has one name in
--             several scripts has one short name in them, too, so that they stay alike
--
-- The server's errors name lines of what was sent; it lies in build/generated/scripts/readable and least.

local disk = dofile("disk.lua")
local c = dofile("c.lua")
local heads = dofile("heads.lua")
local minify = dofile("minify.lua")
local lua_constants = dofile("lua_constants.lua")
local lua_functions = dofile("lua_functions.lua")
local lua_locals = dofile("lua_locals.lua")
local pack = dofile("pack.lua")
local scripts = {}

-- A client of the least out_bytes, 16 KiB, must be able to load each script whole, with the words around it.
local bytes_max = 16384 - 64

local function is_part(file)
    return disk.read(file):find("\n%-%- wants ") ~= nil
end

-- Stands in front of the caller's text, which must not see locals of it.
local before_others = "sdk/src/command/fenced.lua"

-- The same with less work.
local function quick_text(file, text)
    if file == before_others then return text end
    return lua_locals.add(lua_functions.move(lua_constants.put(text, file), file), file)
end

-- The text with its parts, and theirs, in their places. Notes in `seen` which parts that are.
local function whole_text(file, seen)
    local lines = {}
    for line in (disk.read(file) .. "\n"):gmatch("([^\n]*)\n") do
        local part = line:match("^ *%-%-@ (%S+)$")
        if part then
            part = "sdk/src/" .. part
            if not os.isfile(part) or not is_part(part) then error(file .. ": there is no part " .. part, 0) end
            seen[part] = true
            line = whole_text(part, seen)
        end
        table.insert(lines, line)
    end
    return table.concat(lines, "\n")
end

-- Carries a command of the game's: what that takes is the game's affair.
local callers_own = "sdk/src/command/command.lua"

-- The commands that a script calls, a set: by `call`, or by a function of its own whose first argument is the command.
-- One whose error it can do without (pcall) does not count.
local function commands_of(file, text)
    local names, callers = {}, {"call"}
    for name in text:gmatch("function ([%w_]+)%(command[,)]") do table.insert(callers, name) end
    for argument in text:gmatch("%f[%w_]call%(([^'][%w_]*)") do
        if argument ~= "command" and file ~= callers_own then
            error(file .. " calls " .. argument .. ": nobody knows which right that takes", 0)
        end
    end
    for _, caller in ipairs(callers) do
        for name in text:gmatch("%f[%w_]" .. caller .. "%('(%u+)'") do names[name] = true end
    end
    return names
end

-- None of these may be called by a script that goes on while its slot moves. ZREM and SREM of a member that cannot be
-- are no removals, so a person looks at those.
local removing = { "DEL", "UNLINK", "GETDEL", "RENAME", "MOVE", "HDEL", "LPOP", "RPOP", "LREM", "LTRIM", "LMOVE",
                   "SPOP", "ZPOPMIN", "ZPOPMAX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE" }

local function check_goes_on(script)
    for _, name in ipairs(removing) do
        if script.head.goes_on and script.commands[name] then
            error(script.file .. " goes on while its slot moves, and calls " .. name, 0)
        end
    end
end

-- `quick` is the text that has less to do. A debug build, too, must be able to load it: where the readable text is too
-- long it sends the other one.
local function read_script(file, text, quick, names, head)
    local script = { file = file, name = file:match("([^/]+)%.lua$") }
    script.readable = minify.readable(quick, script.name)
    script.least = minify.least(quick, script.name, names)
    script.commands = commands_of(file, minify.readable(text, script.name))
    script.head = head
    heads.check(file, head, text)
    check_goes_on(script)
    if script.readable:find("[^\n -~]") then error(file .. ": bytes that are not ASCII, or tabs", 0) end
    if #script.least > bytes_max then
        error(string.format("%s: %d bytes, and the smallest client can load %d", file, #script.least, bytes_max), 0)
    end
    if #script.readable > bytes_max then script.readable = script.least end
    return script
end

local function read_all()
    local all, files, texts, all_heads, parts, seen = {}, {}, {}, {}, {}, {}
    for _, file in ipairs(disk.matching("sdk/src/**.lua")) do
        if is_part(file) then
            table.insert(parts, file)
        else
            local head = heads.read(file)
            table.insert(files, file)
            table.insert(texts, whole_text(file, seen))
            table.insert(all_heads, head)
            if head.reply and head.reply.other then seen[head.reply.other] = true end
        end
    end
    for _, part in ipairs(parts) do
        if not seen[part] then error("no script has the part " .. part, 0) end
    end
    local quick = {}
    for i, file in ipairs(files) do quick[i] = quick_text(file, texts[i]) end
    local names = minify.names(quick)
    for i, file in ipairs(files) do all[i] = read_script(file, texts[i], quick[i], names, all_heads[i]) end
    return all
end

local function write_texts(all)
    for _, kind in ipairs({ "readable", "least" }) do
        local folder = disk.generated .. "/scripts/" .. kind
        os.mkdir(folder)
        for _, script in ipairs(all) do disk.write(folder .. "/" .. script.name .. ".lua", script[kind]) end
    end
end

-- The names of all commands that scripts call.
local function all_commands(all)
    local set, names = {}, {}
    for _, script in ipairs(all) do
        for name in pairs(script.commands) do set[name] = true end
    end
    for name in pairs(set) do table.insert(names, name) end
    table.sort(names)
    if #names > 64 then error("more than 64 commands in scripts: rights.c keeps a bit for each", 0) end
    return names
end

-- A bit for each of the names that the script calls, as C writes it.
local function command_bits(script, names)
    local high, low = 0, 0
    for i, name in ipairs(names) do
        if script.commands[name] and i > 32 then high = high + 2 ^ (i - 33) end
        if script.commands[name] and i <= 32 then low = low + 2 ^ (i - 1) end
    end
    return string.format("0x%08x%08xull", high, low)
end

local function c_items(items)
    return string.format("{%d, %d, %d}", items.least, items.more, items.each)
end

-- What is said of a text: where it begins in a packed one, of how many numbers it is there, and what it becomes.
local function c_script(script, literals, at, count, place_bits, size)
    local head = script.head
    return string.format("const gh_script_text gh_%s_lua = {\n" ..
                         "    %s, %s, %s, %d, %d, %d,\n    GH_SCRIPT_%s, %d, %s, %s, %s};\n\n",
                         script.name, literals, head.reply and '"' .. heads.shape(head.reply) .. '"' or "NULL",
                         script.bits, at, count, size, script.name, place_bits, c_items(head.keys),
                         c_items(head.arguments), tostring(head.goes_on))
end

local function c_readable(system)
    local texts = {}
    for i, script in ipairs(system.scripts) do
        texts[i] = string.format("static const char %s_text[] =\n%s;\n", script.name, c.text(script.readable)) ..
            c_script(script, script.name .. "_text", 0, 0, 0, #script.readable)
    end
    return table.concat(texts)
end

-- Two bytes more than there are, as numbers are read by threes.
local function c_packed(system)
    local packed = system.packed
    local bytes = c.bytes(packed.bytes)
    local texts = { string.format("static const char %s_packed[] =\n%s \"\\0\";\n", system.name, bytes) }
    for i, script in ipairs(system.scripts) do
        local where = packed.texts[i]
        table.insert(texts, c_script(script, system.name .. "_packed", where.at, where.count, packed.place_bits,
                                     #script.least))
    end
    return table.concat(texts)
end

local function first_line(file)
    return "/* " .. file .. " -- generated from the .lua files of sdk/src by premake5.lua; edit those. */\n"
end

local function pack_all(systems)
    local groups = {}
    for i, system in ipairs(systems) do
        groups[i] = {}
        for j, script in ipairs(system.scripts) do groups[i][j] = script.least end
    end
    local packed, codes, widths = pack(groups)
    for i, system in ipairs(systems) do system.packed = packed[i] end
    return codes, widths
end

local function c_header(all, commands, codes, widths)
    local names = {}
    for i, script in ipairs(all) do names[i] = script.name end
    return first_line("gh_scripts.h") .. "#ifndef GH_SCRIPTS_H\n#define GH_SCRIPTS_H\n\n" ..
        c.list("GH_SCRIPT_LIST", names) .. "\n" .. c.list("GH_COMMAND_LIST", commands) ..
        "\n#define GH_SCRIPT_CODES " .. #codes .. "\n#define GH_SCRIPT_WIDTHS " .. table.concat(widths, ", ") ..
        "\n\n#endif\n"
end

-- Of each code the 12 bits of its left half, then the 12 of its right one; 4095: the left one is a byte.
local function c_codes(codes)
    local rows = {}
    for i, code in ipairs(codes) do
        local left, right = code[1], code[2] or 4095
        rows[i] = string.format("%s{%d, %d, %d},%s", i % 6 == 1 and "    " or " ", left % 256,
                                math.floor(left / 256) + right % 16 * 16, math.floor(right / 16),
                                (i % 6 == 0 or i == #codes) and "\n" or "")
    end
    return first_line("script_codes.c") .. "#include \"client/script_text.h\"\n\n" ..
        "const unsigned char gh_script_codes[GH_SCRIPT_CODES][3] = {\n" .. table.concat(rows) .. "};\n"
end

-- `readable`: the texts of a debug build are in it, too.
local function c_system(system, readable)
    local head = first_line(system.name .. "_scripts.c") .. "#include \"client/script_text.h\"\n\n"
    if not readable then return head .. c_packed(system):gsub("\n\n$", "\n") end
    return head .. "#if defined(GH_READABLE_SCRIPTS)\n\n" .. c_readable(system) .. "#else\n\n" ..
        c_packed(system) .. "#endif\n"
end

-- ---- the names that C has for what the heads say ------------------------------------------------------------------

-- An enum of { name, value }; a name that is there twice is an error.
local function c_enum(file, prefix, typename, values, seen)
    local lines = {}
    for i, value in ipairs(values) do
        local name = prefix .. value[1]:upper()
        if seen[name] then error(file .. ": its head names two things " .. name, 0) end
        seen[name] = true
        lines[i] = "    " .. name .. " = " .. value[2]
    end
    if #lines == 0 then return "" end
    return (typename and "typedef enum " .. typename or "enum") .. "\n{\n" .. table.concat(lines, ",\n") .. "\n}" ..
        (typename and " " .. typename or "") .. ";\n"
end

-- What a reply has beyond that of another head that it begins like.
local function element_names(reply)
    local values = {}
    for i = reply.own + 1, #reply.elements do table.insert(values, { reply.elements[i].name, i - 1 }) end
    if reply.rest and not reply.rest_of_other then table.insert(values, { reply.rest, #reply.elements }) end
    return values
end

-- By the element that may be that: a list of { element, words }.
local function word_names(reply)
    local lists, by_element = {}, {}
    for i = reply.own_words + 1, #reply.words do
        local word = reply.words[i]
        local list = by_element[word.element]
        if not list then
            list = { word.element, {} }
            by_element[word.element] = list
            table.insert(lists, list)
        end
        table.insert(list[2], { word.name, word.value })
    end
    return lists
end

local function c_names(file, reply)
    local name = file:match("([^/]+)%.lua$")
    local prefix, seen = "GH_" .. name:upper() .. "_", {}
    local parts = { "/* " .. path.getname(file) .. " */\n", c_enum(file, prefix, nil, element_names(reply), seen) }
    for _, list in ipairs(word_names(reply)) do
        table.insert(parts, c_enum(file, prefix, "gh_" .. name .. "_" .. list[1], list[2], seen))
    end
    return #parts == 2 and parts[2] == "" and "" or table.concat(parts) .. "\n"
end

local function c_system_header(system, files)
    local guard = "GH_" .. system:upper() .. "_SCRIPTS_H"
    local parts = {}
    for i, file in ipairs(files) do
        local reply = heads.read_reply(file)
        parts[i] = reply and c_names(file, reply) or ""
    end
    return first_line(system .. "_scripts.h") .. "#ifndef " .. guard .. "\n#define " .. guard .. "\n\n" ..
        table.concat(parts) .. "#endif\n"
end

-- By the folders that they lie in: a list of { name, scripts, files }: those whose heads have names for C. `parts` are
-- those that replies begin with.
local function by_system(all, parts)
    local systems, list = {}, {}
    local function of(file)
        local name = path.getname(path.getdirectory(file))
        if not systems[name] then
            systems[name] = { name = name, scripts = {}, files = {} }
            table.insert(list, systems[name])
        end
        return systems[name]
    end
    for _, script in ipairs(all) do
        table.insert(of(script.file).scripts, script)
        table.insert(of(script.file).files, script.file)
    end
    for _, part in ipairs(parts) do table.insert(of(part).files, part) end
    return list
end

local function reply_parts(all)
    local seen, parts = {}, {}
    for _, script in ipairs(all) do
        local other = script.head.reply and script.head.reply.other
        if other and not seen[other] and is_part(other) then table.insert(parts, other) end
        if other then seen[other] = true end
    end
    return parts
end

-- Writes what C wants of the scripts into the folder. Returns the .c files.
local function write_c(all, to, readable)
    local systems = by_system(all, reply_parts(all))
    local commands = all_commands(all)
    local codes, widths = pack_all(systems)
    local folder = to .. "/scripts/"
    local sources = { folder .. "script_codes.c" }
    os.mkdir(folder)
    for _, script in ipairs(all) do script.bits = command_bits(script, commands) end
    disk.write(to .. "/gh_scripts.h", c_header(all, commands, codes, widths))
    disk.write(sources[1], c_codes(codes))
    for _, system in ipairs(systems) do
        local source = folder .. system.name .. "_scripts.c"
        disk.write(source, (c_system(system, readable)))
        disk.write(folder .. system.name .. "_scripts.h", c_system_header(system.name, system.files))
        table.insert(sources, source)
    end
    return sources
end

-- For the builds of premake: with the readable texts, beside which they lie as files. Returns the .c files.
function scripts.embed()
    local all = read_all()
    write_texts(all)
    return write_c(all, disk.generated, true)
end

-- For those who build without premake: what is in sdk/generated.
function scripts.write_release(to) write_c(read_all(), to, false) end

return scripts
