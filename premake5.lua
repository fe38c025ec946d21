-- The one build description of Guildhall. Everything that it makes lies under build/.
--
--   premake5 gmake                              and then  make -C build config=release
--   premake4 --file=premake5.lua gmake          the same on a Debian that has only premake 4.3
--   premake5 vs2022 --hiredis=DIR --xxhash=DIR  Windows
--   premake5 amalgamate                         build/amalgamated/guildhall.h and guildhall.c
--
-- Rules that the sources follow, and that this file checks:
--   * file names are unique within a target: premake 4.3 puts all objects of a target into one folder
--   * names of static functions, of enum values and of types in .c files are unique over the library, so that
--     the amalgamation can put the files behind one another as they are; macros end with their file

-- Bridge: what is written below in the words of premake 5, for premake 4.3. ------------------------------

if not workspace then
    workspace = solution
    function filter(terms)
        local plain = {} -- "configurations:debug" is "debug" there
        for _, term in ipairs(terms) do table.insert(plain, (term:gsub("^%a+:", ""))) end
        configuration(plain)
    end
    function cdialect(name) buildoptions { "-std=" .. name:lower() } end
    function symbols(value) if value == "On" then flags { "Symbols" } end end
    function optimize(value) if value == "On" then flags { "Optimize" } end end
end

-- Options and folders. -----------------------------------------------------------------------------------

newoption { trigger = "sanitize", description = "Build with ASan and UBSan, under build/sanitize" }
newoption { trigger = "hiredis", value = "DIR", description = "hiredis: headers and libhiredis.a, or its sources" }
newoption { trigger = "xxhash", value = "DIR", description = "xxHash: headers and libxxhash.a, or its sources" }
newoption { trigger = "zlib", value = "DIR", description = "zlib: headers and libz.a, or its sources" }
newoption { trigger = "no-zlib", description = "Build without zlib: files.h reads no gzip files" }

local target_os = os.target and os.target() or os.get()
local windows = target_os == "windows"
local sanitize = _OPTIONS["sanitize"] ~= nil
local out = sanitize and "build/sanitize" or "build"
local generated = "build/generated"

local function read_file(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

-- Leaves a file alone that already says the same, so that nothing is compiled for nothing.
local function write_file(path, text)
    local old = io.open(path, "rb")
    local same = old and old:read("*a") == text
    if old then old:close() end
    if same then return end
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
end

-- Sorted, because folders list their files in any order and builds should not differ by it.
local function sources_of(...)
    local found = {}
    for _, pattern in ipairs({ ... }) do
        local part = os.matchfiles(pattern)
        table.sort(part)
        for _, name in ipairs(part) do table.insert(found, name) end
    end
    return found
end

local function folders_of(pattern)
    local found = os.matchdirs(pattern)
    table.sort(found)
    return found
end

-- The server's scripts as C strings. ---------------------------------------------------------------------

-- One line of a script as a C string literal. '?' is escaped because "??=" means something else in C11.
local function c_literal(line)
    local escaped = line:gsub('[\\"?]', "\\%0"):gsub("\n", "\\n")
    escaped = escaped:gsub("[^ -~]", function(byte) return string.format("\\%03o", byte:byte()) end)
    return '"' .. escaped .. '"'
end

local function c_text(text)
    local lines = {}
    for line in text:gmatch("[^\n]*\n?") do
        if line ~= "" then table.insert(lines, "    " .. c_literal(line)) end
    end
    return #lines == 0 and '    ""' or table.concat(lines, "\n")
end

-- A script without its comments, empty lines and indentation, which are half of it: the server gets it like that.
-- A line "--@ lock/x.lua" stands for a piece that several scripts share: sdk/src/lock/x.lua, whose head says what it
-- wants. The piece goes into the library once, and the line becomes a byte that is its number; a piece of one script
-- alone takes the place of its line. sdk/KEYS.md shows the same for a shell; the digests agree.
local function slim_script(file, number_of)
    local lines, pieces = {}, 0
    for line in (read_file(file) .. "\n"):gmatch("([^\n]*)\n") do
        local slim = line:gsub("^ +", ""):gsub("\r$", ""):gsub(" +%-%- [^'\"]*$", "") -- with a quote it may be a string
        local piece = slim:match("^%-%-@ (.*)")
        local is_code = slim ~= "" and not slim:match("^%-%-")
        if (is_code and slim:find("[^ -~]")) or line:find("%[=*%[") or (piece and not number_of[piece]) then
            error(file .. ": no long strings, no odd bytes, and only parts that are there: " .. line, 0)
        end
        if piece and number_of[piece] == "alone" then
            table.insert(lines, (slim_script("sdk/src/" .. piece, {})))
        elseif piece then
            pieces = pieces + 1
            table.insert(lines, string.char(10 + number_of[piece])) -- 10 is the line feed
        elseif is_code then
            table.insert(lines, slim .. "\n")
        end
    end
    if pieces > 8 then error(file .. ": more than eight pieces; scripts.c has no room for them", 0) end
    return table.concat(lines)
end

-- A client of the least out_bytes, 16 KiB, must be able to load each script whole, with the words around it.
local script_bytes_max = 16384 - 64

local function check_script_size(file, text, parts)
    local bytes = #text
    for byte in text:gmatch("[\11-\31]") do bytes = bytes - 1 + parts[byte:byte() - 10] end
    if bytes > script_bytes_max then
        error(string.format("%s: %d bytes without its comments, and the smallest client can load %d",
                            file, bytes, script_bytes_max), 0)
    end
end

-- Returns what is to be written of the files: the lines of a list X(name) ..., and the text of each.
local function script_texts(script_files, kind, number_of, parts)
    local list, texts, sizes = {}, {}, {}
    for _, file in ipairs(script_files) do
        local name = file:match("([^/]+)%.lua$")
        local text = slim_script(file, number_of)
        check_script_size(file, text, parts)
        table.insert(sizes, #text)
        table.insert(list, " \\\n    X(" .. name .. ")")
        table.insert(texts, "static const char gh_script_" .. kind .. "_" .. name .. "[] =\n" ..
                            c_text(text) .. ";\n")
    end
    return table.concat(list), table.concat(texts), sizes
end

-- Carries a command of the game's: what that takes is the game's affair.
local callers_own = "sdk/src/command/command.lua"

local function with_parts(file)
    local text = read_file(file)
    for part in text:gmatch("\n *%-%-@ (%S+)") do text = text .. with_parts("sdk/src/" .. part) end
    return text
end

-- The commands that a script calls, its parts' too, in words of capitals: by `call`, or by a function of its own whose
-- first argument is the command. One whose error it can do without (pcall) does not count.
local function commands_of(file)
    local text, into, callers = with_parts(file), {}, {"call"}
    for name in text:gmatch("function ([%w_]+)%(command[,)]") do table.insert(callers, name) end
    for argument in text:gmatch("%f[%w_]call%(([^'][%w_]*)") do
        if argument ~= "command" and file ~= callers_own then
            error(file .. " calls " .. argument .. ": nobody knows which right that takes", 0)
        end
    end
    for _, caller in ipairs(callers) do
        for name in text:gmatch("%f[%w_]" .. caller .. "%('(%u+)'") do into[name] = true end
    end
    return into
end

-- The list of all commands, X(NAME) ..., and what each script calls: a bit for each of the list.
local function script_rights(scripts)
    local all, names, by_script, rows = {}, {}, {}, {}
    for _, file in ipairs(scripts) do
        by_script[file] = commands_of(file)
        for name in pairs(by_script[file]) do all[name] = true end
    end
    for name in pairs(all) do table.insert(names, name) end
    table.sort(names)
    if #names > 64 then error("more than 64 commands in scripts: rights.c keeps a bit for each", 0) end
    for _, file in ipairs(scripts) do
        local high, low = 0, 0
        for i, name in ipairs(names) do
            if by_script[file][name] and i > 32 then high = high + 2 ^ (i - 33) end
            if by_script[file][name] and i <= 32 then low = low + 2 ^ (i - 1) end
        end
        table.insert(rows, string.format("    0x%08x%08xull, /* %s */\n", high, low, file:match("([^/]+)%.lua$")))
    end
    for i, name in ipairs(names) do names[i] = " \\\n    X(" .. name .. ")" end
    return "#define GH_COMMAND_LIST(X)" .. table.concat(names) ..
           "\n\nstatic const uint64_t gh_script_commands[] = {\n" .. table.concat(rows) .. "};\n\n"
end

-- How many scripts have each part.
local function part_uses(scripts)
    local uses = {}
    for _, file in ipairs(scripts) do
        for part in read_file(file):gmatch("\n *%-%-@ (%S+)") do uses[part] = (uses[part] or 0) + 1 end
    end
    return uses
end

local function embed_scripts()
    local number_of, scripts, parts, all_parts = {}, {}, {}, {}
    for _, file in ipairs(sources_of("sdk/src/**.lua")) do
        table.insert(read_file(file):find("\n%-%- wants ") and all_parts or scripts, file)
    end
    local uses = part_uses(scripts)
    for _, file in ipairs(all_parts) do
        local part = file:match("^sdk/src/(.*)")
        if not uses[part] then error("no script has the part " .. part, 0) end
        if uses[part] ~= 1 then table.insert(parts, file) end
        number_of[part] = uses[part] == 1 and "alone" or #parts
    end
    if #parts > 21 then error("no bytes are left for parts: the next one is a blank", 0) end
    local part_list, part_texts, sizes = script_texts(parts, "part", {}, {})
    local list, texts = script_texts(scripts, "text", number_of, sizes)
    os.mkdir(generated)
    write_file(generated .. "/gh_scripts.h",
        "/* Generated from the scripts of sdk/src by premake5.lua; edit the .lua files. */\n" ..
        "#ifndef GH_SCRIPT_LIST\n#define GH_SCRIPT_LIST(X)" .. list .. "\n#endif\n\n" ..
        "/* Asked for by one file, which may have seen the list before. */\n" ..
        "#if defined(GH_SCRIPT_TEXTS) && !defined(GH_SCRIPT_TEXTS_SEEN)\n#define GH_SCRIPT_TEXTS_SEEN\n" ..
        "#define GH_SCRIPT_PART_LIST(X)" .. part_list .. "\n\n" .. part_texts .. texts .. "#endif\n\n" ..
        "#if defined(GH_SCRIPT_COMMANDS) && !defined(GH_SCRIPT_COMMANDS_SEEN)\n#define GH_SCRIPT_COMMANDS_SEEN\n" ..
        "#include <stdint.h>\n\n" ..
        script_rights(scripts) .. "#endif\n")
end

-- The page of the sample's fleet, to be served without a file beside the program.
local function embed_page()
    write_file(generated .. "/game_page.h",
        "/* Generated from samples/game_server/fleet/page.html by premake5.lua; edit that file. */\n" ..
        "static const char game_page[] =\n" .. c_text(read_file("samples/game_server/fleet/page.html")) .. ";\n")
end

-- The libraries that Guildhall stands on: two, and zlib for those who want gzip. -----------------------

local forwarding_header = [[
#if defined(_MSC_VER)
#pragma warning(push, 0)
#else
#pragma GCC system_header
#endif
#include "%s"
#if defined(_MSC_VER)
#pragma warning(pop)
#endif
]]

-- Where a library comes from: nil fields mean that the system has it.
--   include  folder for the compiler     libdir  folder with the static library     sources  to compile in
local function third_party(name, headers, source_names)
    local folder = _OPTIONS[name]
    if not folder then return {} end
    if not path.isabsolute(folder) then folder = path.join(_WORKING_DIR or os.getcwd(), folder) end
    local function first(candidates, file)
        for _, candidate in ipairs(candidates) do
            if os.isfile(path.join(candidate, file)) then return candidate end
        end
    end
    local library = {}
    local places = { folder, folder .. "/include", folder .. "/include/" .. name, folder .. "/" .. name }
    local include = first(places, path.getname(headers[1]))
    if not include then error("--" .. name .. "=" .. folder .. ": no " .. headers[1] .. " there", 0) end
    -- The folder may have any name, but the code says <hiredis/read.h>: small headers lead the way. Warnings in
    -- there are not ours to mend.
    library.include = generated .. "/third_party/" .. name
    for _, header in ipairs(headers) do
        local real = path.join(include, path.getname(header))
        os.mkdir(path.getdirectory(path.join(library.include, header)))
        if os.isfile(real) then
            write_file(path.join(library.include, header), string.format(forwarding_header, real))
        end
    end
    library.libdir = first({ folder, folder .. "/lib", folder .. "/build" }, "lib" .. name .. ".a")
    if not library.libdir then
        library.sources = {}
        for _, source in ipairs(source_names) do
            local full = path.join(include, source)
            if os.isfile(full) then table.insert(library.sources, full) end
        end
        if #library.sources == 0 then error("--" .. name .. "=" .. folder .. ": neither library nor sources", 0) end
    end
    return library
end

local libraries = {
    hiredis = third_party("hiredis", { "hiredis/read.h", "hiredis/sds.h", "hiredis/alloc.h", "hiredis/hiredis.h" },
                          { "read.c", "sds.c", "alloc.c" }),
    xxhash = third_party("xxhash", { "xxhash.h" }, { "xxhash.c" }),
    z = third_party("zlib", { "zlib.h", "zconf.h" },
                    { "inflate.c", "inftrees.c", "inffast.c", "crc32.c", "adler32.c", "zutil.c" })
}
local with_zlib = not _OPTIONS["no-zlib"] and (_OPTIONS["zlib"] ~= nil or not windows)
local library_names = with_zlib and { "hiredis", "xxhash", "z" } or { "hiredis", "xxhash" }

-- Static on Linux: the reader of libhiredis takes its memory from us, and the tests watch every call of the
-- heap in the whole program, which the linker can only do within it.
local function link_libraries()
    for _, name in ipairs(library_names) do
        local library = libraries[name]
        if library.libdir then libdirs { library.libdir } end
        if library.sources or target_os ~= "linux" then links { name } else links { ":lib" .. name .. ".a" } end
    end
end

local function include_libraries()
    for _, name in ipairs(library_names) do
        if libraries[name].include then includedirs { libraries[name].include } end
    end
end

-- Targets. -----------------------------------------------------------------------------------------------

local function check_names(target, sources)
    local seen = {}
    for _, source in ipairs(sources) do
        local name = path.getname(source)
        if seen[name] then
            error(target .. ": " .. seen[name] .. " and " .. source .. " have the same name; rename one", 0)
        end
        seen[name] = source
    end
end

-- What every target has in common. False if there is nothing to build.
local function target(name, what, sources)
    if #sources == 0 then return false end
    check_names(name, sources)
    project(name)
    kind(what)
    language "C"
    files(sources)
    objdir(out .. "/obj/" .. name)
    filter { "configurations:debug" }
    targetdir(out .. "/bin/debug")
    filter { "configurations:release" }
    targetdir(out .. "/bin/release")
    defines { "NDEBUG" }
    optimize "On"
    filter {}
    symbols "On" -- in release too: a crash in the field should name its lines
    return true
end

local function our_warnings()
    cdialect "C11"
    filter { "action:not vs*" }
    buildoptions { "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wswitch-enum", "-Werror" }
    filter { "action:vs*" }
    buildoptions { "/W4" } -- not /WX: its warnings differ from one release of the compiler to the next
    filter {}
end

-- Samples with a build of their own.
local foreign_builds = { engine_drop_in = true }

-- What a sample needs beside Guildhall.
local sample_libraries = { game_server = { "enet", "sqlite3", "microhttpd" } }

-- Wants the public headers and nothing else, as a game would.
local function program(name, sources)
    if not target(name, "ConsoleApp", sources) then return false end
    our_warnings()
    includedirs { "sdk/include", "platform" }
    links { "guildhall" }
    link_libraries()
    defines { "_POSIX_C_SOURCE=200809L" } -- -std=c11 hides what C itself does not have
    links { "pthread", "m" }
    return true
end

-- Calls of the heap go through tests/support/heap.c, which counts them.
local function count_heap_calls()
    if target_os ~= "linux" then return end
    for _, name in ipairs({ "malloc", "calloc", "realloc", "free", "strdup", "posix_memalign" }) do
        linkoptions { "-Wl,--wrap=" .. name }
    end
end

local function describe()
    workspace "guildhall"
    configurations { "debug", "release" }
    location(out)
    if sanitize then
        buildoptions { "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer" }
        linkoptions { "-fsanitize=address,undefined" }
    end

    local platform = "platform/" .. (windows and "windows" or "posix") .. "/*.c"
    if target("guildhall", "StaticLib", sources_of("sdk/src/**.c", platform)) then
        our_warnings()
        includedirs { "sdk/include", "platform", "sdk/src", generated }
        include_libraries()
        if with_zlib then defines { "GH_WITH_ZLIB" } end
        filter { "action:not vs*" }
        -- No extensions. The texts of the scripts are longer than the 4095 bytes that C11 promises; every compiler
        -- that we know takes them.
        buildoptions { "-Wpedantic", "-Wno-overlength-strings" }
        filter {}
    end

    for _, name in ipairs(library_names) do
        if libraries[name].sources then target(name, "StaticLib", libraries[name].sources) end
    end

    if windows then return end -- samples, tests and benches use POSIX

    -- Parts of the sample that know neither store nor network are tested here too.
    local game = "samples/game_server/"
    local parts = sources_of(game .. "messages.c", game .. "board.c", game .. "bots/said.c", game .. "bots/ears.c",
                             game .. "bots/letters.c", game .. "bots/account.c", game .. "bots/sales.c",
                             game .. "bots/names.c")
    local tests = sources_of("tests/*.c", "tests/support/*.c")
    for _, part in ipairs(parts) do table.insert(tests, part) end
    if program("guildhall_tests", tests) then
        -- Special access: the tests look at the rooms inside, a game must not.
        includedirs { "sdk/src", generated, "tests", game }
        include_libraries()
        links { "cmocka" }
        count_heap_calls()
    end

    -- The storm is a program of its own: its processes live and die as the weather wants.
    local support = {}
    for _, name in ipairs({ "cleanup", "clock", "process", "random", "redis_process", "redis_server", "scratch",
                            "source_tree", "stream", "suite", "wait" }) do
        table.insert(support, "tests/support/" .. name .. ".c")
    end
    for _, source in ipairs(sources_of("tests/storm/*.c")) do table.insert(support, source) end
    if program("guildhall_storm", support) then
        includedirs { "tests" }
        include_libraries()
        links { "cmocka" }
    end

    -- A sample is one file, or a folder.
    for _, source in ipairs(sources_of("samples/*.c")) do program(path.getbasename(source), { source }) end
    for _, folder in ipairs(folders_of("samples/*")) do
        local name = path.getname(folder)
        if not foreign_builds[name] and program(name, sources_of(folder .. "/**.c")) then
            includedirs { folder, generated }
            links(sample_libraries[name] or {})
        end
    end
    if program("guildhall_bench", sources_of("bench/*.c", "tests/support/heap.c")) then
        includedirs { "tests" }
        include_libraries() -- measures hiredis too
        count_heap_calls()
    end
end

-- Two files to drop into an engine. ----------------------------------------------------------------------

-- The names that a .c file keeps to itself: static functions and objects, types, enum values.
local function private_names(text)
    local names = {}
    text = "\n" .. text:gsub("\\\n", " "):gsub("/%*.-%*/", "")
    for line in text:gmatch("\n(static [^\n]*)") do
        local head = line:gsub("%b()%s*$", "()"):match("^([^=;(%[]*)")
        local name = head and head:match("([%a_][%w_]*)%s*$")
        if name then names[name] = true end
    end
    for name in text:gmatch("\n}%s*([%a_][%w_]*)%s*;") do names[name] = true end
    for name in text:gmatch("\ntypedef [^\n{]*[ %*]([%a_][%w_]*)%s*;") do names[name] = true end
    for list in text:gmatch("\n[%l ]*enum[%w_ ]*%s*(%b{})") do
        for name in list:gmatch("[{,]%s*([%a_][%w_]*)") do names[name] = true end
    end
    return names
end

-- The macros that a .c file still has at its end. Those that begin with _ are questions to the system's headers.
local function macros(text)
    local alive, order = {}, {}
    for kind, name in ("\n" .. text):gmatch("\n%s*#%s*(%l+)%s+([%a][%w_]*)") do
        if kind == "define" and not alive[name] then table.insert(order, name) end
        if kind == "define" or kind == "undef" then alive[name] = kind == "define" end
    end
    local found = {}
    for _, name in ipairs(order) do
        if alive[name] then
            table.insert(found, name)
            alive[name] = false
        end
    end
    return found
end

local function check_private_names(sources)
    local owner, clashes = {}, {}
    for _, source in ipairs(sources) do
        for name in pairs(private_names(read_file(source))) do
            if owner[name] then
                table.insert(clashes, name .. ": in " .. owner[name] .. " and in " .. source)
            end
            owner[name] = source
        end
    end
    table.sort(clashes)
    if #clashes > 0 then
        error("names must be unique over the library's .c files:\n  " .. table.concat(clashes, "\n  "), 0)
    end
end

-- Where an include of the project leads, or nil for one of the system.
local function resolve(includer, name)
    local places = { path.getdirectory(includer), "sdk/include", "sdk/src", "platform", generated }
    for _, place in ipairs(places) do
        local candidate = path.join(place, name)
        if os.isfile(candidate) then
            -- "platform/posix/../platform.h" and "platform/platform.h" are one file.
            return path.getrelative(os.getcwd(), path.getabsolute(candidate))
        end
    end
end

-- Appends a file to the pieces; project files that it includes come before it, each once. Before all of it, because
-- an include may stand within an #if, and what it brings is wanted by others who do not.
local function paste(file, seen, pieces)
    if seen[file] then return end
    seen[file] = true
    local own = { "/* ==== " .. file .. " ==== */\n" }
    for line in (read_file(file) .. "\n"):gmatch("([^\n]*)\n") do
        local name = line:match('^%s*#%s*include%s*"([^"]+)"')
        local inner = name and resolve(file, name)
        if name and not inner then error(file .. " includes " .. name .. ", which is nowhere", 0) end
        if inner then paste(inner, seen, pieces) else table.insert(own, line .. "\n") end
    end
    table.insert(pieces, table.concat(own))
end

local first_lines = [[
/* Guildhall in two files, guildhall.h and guildhall.c, made by "premake5 amalgamate" from the sources.
   Compile as C11 with the headers of hiredis and xxHash on the include path, and link both. With GH_WITH_ZLIB
   defined, it needs zlib as well, and reads gzip files. */
]]

-- The first include of a file decides which names the system shows, so this has to come before all.
local system_choice = [[
#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#else
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE
#endif
#endif
#define GH_SCRIPT_TEXTS
#define GH_SCRIPT_COMMANDS
#include "guildhall.h"
]]

local function amalgamate()
    local sources = sources_of("sdk/src/base/*.c", "sdk/src/wire/*.c", "sdk/src/client/*.c", "sdk/src/**.c",
                               "platform/posix/*.c", "platform/windows/*.c")
    -- The platforms may share names: each compiles to nothing where the other one does something.
    check_private_names(sources_of("sdk/src/**.c", "platform/posix/*.c"))
    check_private_names(sources_of("sdk/src/**.c", "platform/windows/*.c"))

    local seen = {}
    local header = { first_lines, "#ifndef GUILDHALL_AMALGAMATED_H\n#define GUILDHALL_AMALGAMATED_H\n" }
    for _, file in ipairs(sources_of("sdk/include/guildhall/*.h", "platform/platform.h")) do
        paste(file, seen, header)
    end
    table.insert(header, "#endif\n")

    local code = { first_lines, system_choice }
    for _, file in ipairs(sources) do
        paste(file, seen, code)
        for _, name in ipairs(macros(read_file(file))) do table.insert(code, "#undef " .. name .. "\n") end
    end

    os.mkdir("build/amalgamated")
    write_file("build/amalgamated/guildhall.h", table.concat(header))
    write_file("build/amalgamated/guildhall.c", table.concat(code))
    print("build/amalgamated/guildhall.h and guildhall.c are up to date")
end

newaction {
    trigger = "amalgamate",
    description = "Write build/amalgamated/guildhall.h and guildhall.c",
    execute = amalgamate
}

if _ACTION then
    embed_scripts()
    embed_page()
end
describe()
