-- third_party.lua -- the libraries that Guildhall stands on: two, and zlib for those who want gzip.

newoption { trigger = "hiredis", value = "DIR", description = "hiredis: headers and libhiredis.a, or its sources" }
newoption { trigger = "xxhash", value = "DIR", description = "xxHash: headers and libxxhash.a, or its sources" }
newoption { trigger = "zlib", value = "DIR", description = "zlib: headers and libz.a, or its sources" }
newoption { trigger = "cares", value = "DIR", description = "c-ares: headers and libcares.a" }
newoption { trigger = "no-cares", description = "Build without c-ares: no guildhall_resolver" }
newoption { trigger = "mbedtls", value = "DIR", description = "mbedTLS 3.6: its sources, for a TLS without the heap" }
newoption { trigger = "no-mbedtls", description = "Build without mbedTLS: no guildhall_tls" }
newoption { trigger = "lua", value = "DIR", description = "Lua 5.1: headers and liblua5.1.a, or its sources" }
newoption { trigger = "no-lua", description = "Build without Lua: no guildhall_embedded" }
newoption { trigger = "no-zlib", description = "Build without zlib: disk.h reads no gzip files" }

local disk = dofile("disk.lua")
local third_party = {}

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

-- Where a library comes from, as the option of its name says: nil fields mean that the system has it.
--   include  folder for the compiler     libdir  folder with the static library     sources  to compile in
local function find(name, headers, source_names)
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
    library.include = disk.generated .. "/third_party/" .. name
    for _, header in ipairs(headers) do
        local real = path.join(include, path.getname(header))
        os.mkdir(path.getdirectory(path.join(library.include, header)))
        if os.isfile(real) then
            disk.write(path.join(library.include, header), string.format(forwarding_header, real))
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

-- c-ares, for platform/resolver alone, which is for POSIX. Nil: there is none.
local function find_cares(target_os)
    if _OPTIONS["no-cares"] or target_os == "windows" then return nil end
    if _OPTIONS["cares"] then return find("cares", { "ares.h" }, {}) end
    for _, place in ipairs({ "/usr/include", "/usr/local/include", "/opt/homebrew/include" }) do
        if os.isfile(place .. "/ares.h") then return {} end
    end
    return nil
end

-- mbedTLS, for platform/tls alone. Nil: there is none.
--   include  folders for the compiler; none if the system has it     sources  to compile in
-- Sources are compiled with platform/tls/mbedtls_config.h, which lies in front of their own.
local function find_mbedtls()
    local folder = _OPTIONS["mbedtls"]
    if _OPTIONS["no-mbedtls"] then return nil end
    if not folder then
        for _, place in ipairs({ "/usr/include", "/usr/local/include", "/opt/homebrew/include" }) do
            if os.isfile(place .. "/mbedtls/ssl.h") then return { include = {} } end
        end
        return nil
    end
    if not path.isabsolute(folder) then folder = path.join(_WORKING_DIR or os.getcwd(), folder) end
    local sources = disk.matching(folder .. "/library/*.c")
    if #sources == 0 or not os.isfile(folder .. "/include/mbedtls/build_info.h") then
        error("--mbedtls=" .. folder .. ": no sources of mbedTLS 3 there", 0)
    end
    local ours = disk.generated .. "/third_party/mbedtls"
    os.mkdir(ours .. "/mbedtls")
    disk.write(ours .. "/mbedtls/mbedtls_config.h", disk.read("platform/tls/mbedtls_config.h"))
    return { include = { ours, folder .. "/include" }, sources = sources, inside = folder .. "/library" }
end

-- Lua 5.1, for platform/embedded alone. Nil: there is none.
--   include  folder for the compiler     sources  to compile in; none if the system has it
local function find_lua(target_os)
    local folder = _OPTIONS["lua"]
    if _OPTIONS["no-lua"] then return nil end
    if not folder then
        for _, place in ipairs({ "/usr/include/lua5.1", "/usr/local/include/lua5.1", "/usr/local/include/lua51" }) do
            if target_os ~= "windows" and os.isfile(place .. "/lua.h") then return { include = place } end
        end
        return nil
    end
    if not path.isabsolute(folder) then folder = path.join(_WORKING_DIR or os.getcwd(), folder) end
    for _, place in ipairs({ folder, folder .. "/src" }) do
        if os.isfile(place .. "/lapi.c") then
            local sources = {}
            for _, source in ipairs(disk.matching(place .. "/l*.c")) do
                local name = path.getname(source)
                if name ~= "lua.c" and name ~= "luac.c" then table.insert(sources, source) end
            end
            return { include = place, sources = sources }
        end
        for _, include in ipairs({ place, place .. "/include", place .. "/include/lua5.1" }) do
            if os.isfile(include .. "/lua.h") then return { include = include, libdir = place } end
        end
    end
    error("--lua=" .. folder .. ": neither headers nor sources of Lua 5.1 there", 0)
end

-- To be called first.
--   third_party.libraries  those that are linked: { name, and the fields of find }
--   third_party.cares      see find_cares
--   third_party.mbedtls    see find_mbedtls
--   third_party.lua        see find_lua
--   third_party.with_zlib
function third_party.find_all(target_os)
    third_party.with_zlib = not _OPTIONS["no-zlib"] and (_OPTIONS["zlib"] ~= nil or target_os ~= "windows")
    third_party.is_linux = target_os == "linux"
    local hiredis = find("hiredis", { "hiredis/read.h", "hiredis/hiredis.h" },
                         { "read.c", "sds.c", "alloc.c" })
    local xxhash = find("xxhash", { "xxhash.h" }, { "xxhash.c" })
    local zlib = find("zlib", { "zlib.h", "zconf.h" },
                      { "inflate.c", "inftrees.c", "inffast.c", "crc32.c", "adler32.c", "zutil.c" })
    hiredis.name, xxhash.name, zlib.name = "hiredis", "xxhash", "z"
    third_party.cares = find_cares(target_os)
    local has_mbedtls = target_os ~= "windows" or _OPTIONS["mbedtls"]
    third_party.mbedtls = has_mbedtls and find_mbedtls() or nil
    third_party.lua = find_lua(target_os)
    third_party.libraries = { hiredis, xxhash, third_party.with_zlib and zlib or nil }
end

-- Static on Linux: the tests watch every call of the heap in the whole program, hiredis' too, which the linker can
-- only do within it.
function third_party.link()
    for _, library in ipairs(third_party.libraries) do
        if library.libdir then libdirs { library.libdir } end
        if library.sources or not third_party.is_linux then
            links { library.name }
        else
            links { ":lib" .. library.name .. ".a" }
        end
    end
end

-- Behind what uses guildhall_resolver. Static on Linux as the others are.
function third_party.link_cares()
    if third_party.cares.libdir then libdirs { third_party.cares.libdir } end
    links { third_party.is_linux and ":libcares.a" or "cares" }
end

-- Behind what uses guildhall_tls. Static on Linux as the others are.
function third_party.link_mbedtls()
    for _, name in ipairs({ "mbedtls", "mbedx509", "mbedcrypto" }) do
        if third_party.mbedtls.sources then
            if name == "mbedtls" then links { name } end
        else
            links { third_party.is_linux and ":lib" .. name .. ".a" or name }
        end
    end
end

-- Behind what uses guildhall_embedded. Static on Linux as the others are.
function third_party.link_lua()
    local lua = third_party.lua
    if lua.libdir then libdirs { lua.libdir, lua.libdir .. "/lib" } end
    if lua.sources then links { "lua51" } else links { third_party.is_linux and ":liblua5.1.a" or "lua5.1" } end
    if third_party.is_linux then links { ":libm.so" } end -- "m" stands in front of Lua already, and nothing comes twice
end

function third_party.include()
    for _, library in ipairs(third_party.libraries) do
        if library.include then includedirs { library.include } end
    end
end

return third_party
