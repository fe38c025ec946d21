-- bundle.lua -- hiredis' reader and xxHash as texts that a single source can have in it: everything in them is static.
--
--   bundle.read()   texts, by the include in whose place they stand; licences, as comments
--
-- Their folders are those of --hiredis and --xxhash; xxHash is one header, which the system may have as well.

local disk = dofile("disk.lua")
local internal = dofile("internal.lua")
local bundle = {}

-- Their code is not ours to mend, and most of it is not called.
local quiet = [[
#if defined(_MSC_VER)
#pragma warning(push, 0)
#pragma warning(disable : 4505 5245)
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wswitch-enum"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#endif
]]
local loud = [[
#if defined(_MSC_VER)
#pragma warning(pop)
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
]]

-- The folder of an option in which the file is.
local function folder_of(name, file, others)
    local folder = _OPTIONS[name]
    if folder and not path.isabsolute(folder) then folder = path.join(_WORKING_DIR or os.getcwd(), folder) end
    for _, place in ipairs(folder and { folder } or others) do
        if os.isfile(path.join(place, file)) then return place end
    end
    error("--bundle wants the folder of " .. name .. "'s sources, with " .. file .. ": --" .. name .. "=DIR", 0)
end

-- A file with those of its folder that it includes, in their places, each once. fmacros.h says which names the system
-- shall show, which is decided here.
local function whole(folder, file, seen)
    local lines = {}
    seen[file] = true
    for line in (disk.read(path.join(folder, file)) .. "\n"):gmatch("([^\n]*)\n") do
        local name = line:match('^%s*#%s*include%s*"([^"]+)"')
        local is_there = name and os.isfile(path.join(folder, name))
        if is_there and not seen[name] and name ~= "fmacros.h" then line = whole(folder, name, seen) end
        if not is_there or line:find("\n") then table.insert(lines, (line:gsub("\r$", ""))) end
    end
    return table.concat(lines, "\n") .. "\n"
end

local function part(title, text)
    return "/* ==== " .. title .. " ==== */\n" .. quiet .. text .. loud
end

-- What a file says of its licence: its first comment that has the word.
local function licence_of(folder, file)
    for comment in disk.read(path.join(folder, file)):gmatch("/%*.-%*/") do
        if comment:find("Copyright") then return (comment:gsub("\r", "")) .. "\n" end
    end
    error(path.join(folder, file) .. " says nothing of its licence", 0)
end

function bundle.read()
    local hiredis = folder_of("hiredis", "read.c", {})
    local xxhash = folder_of("xxhash", "xxhash.h", { "/usr/include", "/usr/local/include" })
    local seen, reader = {}, {}
    for _, file in ipairs({ "alloc.c", "sds.c", "read.c" }) do
        table.insert(reader, internal.hide(whole(hiredis, file, seen), {}, "static"))
    end
    return {
        texts = {
            ["<hiredis/read.h>"] = part("hiredis", table.concat(reader)),
            ["<xxhash.h>"] = part("xxHash", "#define XXH_INLINE_ALL\n" .. whole(xxhash, "xxhash.h", {})),
        },
        licences = "\n/* hiredis, whose reader is below, in part: */\n" .. licence_of(hiredis, "read.c") ..
            "\n/* xxHash, which is below: */\n" .. licence_of(xxhash, "xxhash.h") .. "\n",
    }
end

return bundle
