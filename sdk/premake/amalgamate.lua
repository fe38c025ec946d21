-- amalgamate.lua -- the whole library as two files, to drop into an engine: build/amalgamated/guildhall.h and
-- guildhall.c; with --bundle also guildhall_bundle.c, which has hiredis' reader and xxHash in it. What is not public is
-- static there. It also checks that the .c files can be put behind one another as they are: see premake5.lua.

newoption { trigger = "bundle", description = "amalgamate: also guildhall_bundle.c, with hiredis and xxHash inside" }

local disk = dofile("disk.lua")
local internal = dofile("internal.lua")
local bundle = dofile("bundle.lua")

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
        for name in pairs(private_names(disk.read(source))) do
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
    local places = { path.getdirectory(includer), "sdk/include", "sdk/src", disk.generated }
    for _, place in ipairs(places) do
        local candidate = path.join(place, name)
        if os.isfile(candidate) then
            -- However it is written, a file is one file.
            return path.getrelative(os.getcwd(), path.getabsolute(candidate))
        end
    end
end

-- Appends a file to the pieces; project files that it includes come before it, each once. Before all of it, because
-- an include may stand within an #if, and what it brings is wanted by others who do not.
--   out  pieces; seen, a set of files; public, the names that are not hidden; third_party, by what stands in <>: a text
--        that takes the place of that include, once
local function paste(file, out)
    if out.seen[file] then return end
    out.seen[file] = true
    local own = {}
    for line in (disk.read(file) .. "\n"):gmatch("([^\n]*)\n") do
        local name = line:match('^%s*#%s*include%s*"([^"]+)"')
        local inner = name and resolve(file, name)
        local foreign = out.third_party[line:match("^#include (%b<>)")]
        if name and not inner then error(file .. " includes " .. name .. ", which is nowhere", 0) end
        if foreign then table.insert(out.pieces, foreign)
        elseif inner then paste(inner, out)
        else table.insert(own, line .. "\n") end
    end
    local text = table.concat(own)
    if not file:find("^sdk/include/") then text = internal.hide(text, out.public, "GH_INTERNAL") end
    table.insert(out.pieces, "/* ==== " .. file .. " ==== */\n" .. text)
end

local first_lines = [[
/* Guildhall in two files, guildhall.h and guildhall.c, made by "premake5 amalgamate" from the sources.
   Compile as C11 with the headers of hiredis and xxHash on the include path, and link both. With GH_WITH_ZLIB
   defined, it needs zlib as well, and reads gzip files. With GH_NO_DEFAULT_PLATFORM defined, also where guildhall.h
   is included, there is no gh_platform_default, and nothing here calls an operating system.

]]

local first_lines_of_bundle = [[
/* Guildhall with the parts of hiredis and xxHash that it needs, made by "premake5 amalgamate --bundle" from the
   sources. Compile as C11 with guildhall.h beside it; it shows no names but those of guildhall.h, so that a program
   may have a hiredis of its own. GH_WITH_ZLIB and GH_NO_DEFAULT_PLATFORM are as in guildhall.c.

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
#include "guildhall.h"

/* Some of it is called in some configurations alone. */
#if defined(__GNUC__)
#define GH_INTERNAL static __attribute__((unused))
#else
#define GH_INTERNAL static
#endif
]]

local function licence()
    local text = disk.read("LICENSE"):gsub("%s+$", "")
    return "   " .. text:gsub("\n", "\n   "):gsub("\n   \n", "\n\n") .. " */\n"
end

local function header_text(headers, seen)
    local out = { pieces = {}, seen = seen, public = {}, third_party = {} }
    for _, file in ipairs(headers) do paste(file, out) end
    return first_lines .. licence() .. "#ifndef GUILDHALL_AMALGAMATED_H\n#define GUILDHALL_AMALGAMATED_H\n" ..
        table.concat(out.pieces) .. "#endif\n"
end

-- third_party: see paste. The headers have been seen.
local function code_text(sources, headers, third_party)
    local out = { pieces = {}, seen = {}, public = internal.public(headers), third_party = third_party }
    for _, file in ipairs(headers) do out.seen[file] = true end
    for _, file in ipairs(sources) do
        paste(file, out)
        for _, name in ipairs(macros(disk.read(file))) do table.insert(out.pieces, "#undef " .. name .. "\n") end
    end
    return system_choice .. table.concat(out.pieces)
end

-- script_sources: the .c files that were generated from the scripts.
return function(script_sources)
    local sources = disk.matching("sdk/src/base/*.c", "sdk/src/wire/*.c", "sdk/src/client/*.c", "sdk/src/**.c",
                               "platform/posix/*.c", "platform/windows/*.c")
    local headers = disk.matching("sdk/include/guildhall/*.h")
    local to = "build/amalgamated/"
    for _, source in ipairs(script_sources) do table.insert(sources, source) end
    -- The platforms may share names: each compiles to nothing where the other one does something.
    check_private_names(disk.matching("sdk/src/**.c", "platform/posix/*.c"))
    check_private_names(disk.matching("sdk/src/**.c", "platform/windows/*.c"))

    os.mkdir("build/amalgamated")
    disk.write(to .. "guildhall.h", header_text(headers, {}))
    disk.write(to .. "guildhall.c", first_lines .. licence() .. code_text(sources, headers, {}))
    print("build/amalgamated/guildhall.h and guildhall.c are up to date")
    if not _OPTIONS["bundle"] then return end
    local third_party = bundle.read()
    disk.write(to .. "guildhall_bundle.c", first_lines_of_bundle .. licence() .. third_party.licences ..
        code_text(sources, headers, third_party.texts))
    print("build/amalgamated/guildhall_bundle.c is up to date")
end
