-- The one build description of Guildhall. Everything that it makes lies under build/.
--
--   premake5 gmake                              and then  make -C build config=release
--   premake4 --file=premake5.lua gmake          the same on a Debian that has only premake 4.3
--   premake5 vs2022 --hiredis=DIR --xxhash=DIR  Windows, x64 and arm64: the library, a DLL of it, the small samples
--   premake5 --unwind-tables gmake              release: a larger library, see README.md
--   premake5 amalgamate                         build/amalgamated/guildhall.h and guildhall.c
--   premake5 generate                           sdk/generated, for CMakeLists.txt and others without premake: to be
--                                               committed with whatever changed a script
--
-- The targets are here; what is made for them is in sdk/premake:
--
--   bridge.lua       the words of premake 5, for premake 4.3
--   disk.lua         reads, writes and lists files
--   c.lua            writes texts as C
--   third_party.lua  where hiredis, xxHash, zlib, mbedTLS and c-ares are
--   scripts.lua      the server's scripts, for C; made quicker by lua_constants.lua, lua_functions.lua and
--                    lua_locals.lua, and smaller by minify.lua, with lua_tokens.lua and lua_scopes.lua, and packed
--                    by pack.lua
--   hot.txt          the files that are compiled for speed, and not for size
--   embed.lua        a sample's page and the list of the test files, for C
--   api.lua          the API as data, for bindings
--   amalgamate.lua   two files to drop into an engine; with internal.lua, which makes static what is not public, and
--                    bundle.lua, which puts hiredis and xxHash in
--
-- Rules that the sources follow, and that are checked here and in amalgamate.lua:
--   * file names are unique within a target: premake 4.3 puts all objects of a target into one folder
--   * names of static functions, of enum values and of types in .c files are unique over the library, so that
--     the amalgamation can put the files behind one another as they are; macros end with their file

newoption { trigger = "sanitize", description = "Build with ASan and UBSan, under build/sanitize" }
newoption { trigger = "coverage", description = "Count which lines of the library run, under build/coverage" }
newoption { trigger = "unwind-tables", description = "Release: for crash handlers; see README.md" }
newoption { trigger = "to", value = "DIR", description = "generate: another folder than sdk/generated" }

dofile("sdk/premake/bridge.lua")
local disk = dofile("sdk/premake/disk.lua")
local third_party = dofile("sdk/premake/third_party.lua")
local scripts = dofile("sdk/premake/scripts.lua")
local embed = dofile("sdk/premake/embed.lua")
local api = dofile("sdk/premake/api.lua")
local amalgamate = dofile("sdk/premake/amalgamate.lua")

local target_os = os.target and os.target() or os.get()
local windows = target_os == "windows"
local visual_studio = _ACTION ~= nil and _ACTION:find("^vs") ~= nil
local sanitize = _OPTIONS["sanitize"] ~= nil
local coverage = _OPTIONS["coverage"] ~= nil -- with gcc; see tests/coverage.sh
local script_sources = {} -- generated
local out = sanitize and "build/sanitize" or coverage and "build/coverage" or "build"

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

-- What every target has in common; optimised_for says how a release is: see bridge.lua. False if there is nothing to
-- build.
local function target(name, what, sources, optimised_for)
    if #sources == 0 then return false end
    check_names(name, sources)
    project(name)
    kind(what)
    language "C"
    files(sources)
    objdir(out .. "/obj/" .. name)
    -- One configuration for all processors but in a solution, where each has a folder.
    local bin = visual_studio and out .. "/bin/%{cfg.platform}/" or out .. "/bin/"
    filter { "configurations:debug" }
    targetdir(bin .. "debug")
    defines { "GH_READABLE_SCRIPTS" } -- the server's errors name lines that a person can read
    filter { "configurations:release" }
    targetdir(bin .. "release")
    defines { "NDEBUG" }
    optimize(optimised_for or "On")
    filter {}
    symbols "On" -- in release too: a crash in the field should name its lines
    return true
end

local function our_warnings()
    cdialect "C11"
    if visual_studio then
        warnings "Extra" -- no errors of them: they differ from one release of the compiler to the next
        buildoptions { "/utf-8" }
    else
        buildoptions { "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wswitch-enum", "-Werror" }
    end
end

-- Samples with a build of their own.
local foreign_builds = { engine_drop_in = true }

-- What a sample needs beside Guildhall.
local sample_libraries = { game_server = { "enet", "sqlite3", "microhttpd" } }

-- The files of hot.txt.
local function hot_files()
    local files = {}
    for line in disk.read("sdk/premake/hot.txt"):gmatch("[^\n]+") do
        if not line:find("^#") then
            if not os.isfile(line) then error("sdk/premake/hot.txt: there is no " .. line, 0) end
            table.insert(files, line)
        end
    end
    return files
end

-- A release is small, but where it must be fast. Each function is apart, so that a program has those that it calls and
-- no others. The tables by which a program walks its own stack are a tenth of it.
local function small_release()
    filter { "configurations:release" }
    if not visual_studio then
        buildoptions { "-ffunction-sections", "-fdata-sections" } -- Visual Studio does so by itself
        if not _OPTIONS["unwind-tables"] and not windows then
            buildoptions { "-fno-asynchronous-unwind-tables", "-fno-unwind-tables" }
        end
    end
    filter {}
    for_speed(hot_files(), visual_studio)
end

local function leave_out_uncalled()
    if target_os ~= "linux" then return end
    filter { "configurations:release" }
    linkoptions { "-Wl,--gc-sections" }
    filter {}
end

-- Wants the public headers and nothing else, as a game would.
local function program(name, sources)
    if not target(name, "ConsoleApp", sources) then return false end
    our_warnings()
    leave_out_uncalled()
    includedirs { "sdk/include" }
    links { "guildhall" }
    third_party.link()
    defines { "_POSIX_C_SOURCE=200809L" } -- -std=c11 hides what C itself does not have
    links(windows and { "ws2_32", "bcrypt" } or { "pthread", "m" })
    return true
end

-- The library itself, static or as a DLL. False if there is nothing to build.
local function library(name, what, sources)
    if not target(name, what, sources, "Size") then return false end
    our_warnings()
    small_release()
    includedirs { "sdk/include", "sdk/src", disk.generated }
    third_party.include()
    if third_party.with_zlib then defines { "GH_WITH_ZLIB" } end
    -- No extensions. The texts of the scripts are longer than the 4095 bytes that C11 promises; every compiler
    -- that we know takes them.
    if not visual_studio then buildoptions { "-Wpedantic", "-Wno-overlength-strings" } end
    -- Tests have clients on several threads at once.
    if coverage then buildoptions { "--coverage", "-fprofile-update=atomic" } end
    return true
end

-- Host names, for those who want them: a library of its own, of a public header and of c-ares.
local function resolver_library()
    if not third_party.cares then return end
    if not target("guildhall_resolver", "StaticLib", disk.matching("platform/resolver/*.c"), "Size") then return end
    our_warnings()
    small_release()
    includedirs { "sdk/include", "platform/resolver/include", third_party.cares.include }
end

-- To be called by a program, behind "program": links go from those who call to those who are called.
local function with_resolver()
    if not third_party.cares then return end
    includedirs { "platform/resolver/include" }
    links { "guildhall_resolver" }
    third_party.link_cares()
end

-- TLS, for those who want it: a library of its own, of a public header and of mbedTLS.
local function tls_library()
    if not third_party.mbedtls then return end
    if third_party.mbedtls.sources and target("mbedtls", "StaticLib", third_party.mbedtls.sources) then
        includedirs(third_party.mbedtls.include)
        includedirs { third_party.mbedtls.inside }
    end
    if not target("guildhall_tls", "StaticLib", disk.matching("platform/tls/*.c"), "Size") then return end
    our_warnings()
    small_release()
    includedirs { "sdk/include", "platform/tls/include" }
    includedirs(third_party.mbedtls.include)
end

-- To be called by a program, behind "program": links go from those who call to those who are called.
local function with_tls()
    if not third_party.mbedtls then return end
    defines { "GH_WITH_TLS" }
    includedirs { "platform/tls/include" }
    includedirs(third_party.mbedtls.include)
    links { "guildhall_tls" }
    third_party.link_mbedtls()
end

-- A store in the program itself, for those who want it: a library of its own, of a public header and of Lua 5.1.
local function embedded_library()
    if not third_party.lua then return end
    if third_party.lua.sources and target("lua51", "StaticLib", third_party.lua.sources) then
        includedirs { third_party.lua.include }
    end
    if not target("guildhall_embedded", "StaticLib", disk.matching("platform/embedded/*.c")) then return end
    our_warnings()
    includedirs { "sdk/include", "platform/embedded", "platform/embedded/include", third_party.lua.include }
end

-- To be called by a program, behind "program": links go from those who call to those who are called.
local function with_embedded()
    if not third_party.lua then return end
    defines { "GH_WITH_EMBEDDED" }
    includedirs { "platform/embedded/include", "platform/embedded" }
    links { "guildhall_embedded" }
    third_party.link_lua()
end

-- A DLL has all that it needs in it; who uses it defines GH_DLL.
local function dll(sources)
    if not library("guildhall_dll", "SharedLib", sources) then return end
    defines { "GH_DLL_EXPORTS" }
    third_party.link()
    links { "ws2_32", "bcrypt" }
end

-- Samples that are one file know no operating system, but that they sleep until the next frame.
local function small_samples()
    for _, source in ipairs(disk.matching("samples/*.c")) do
        if program(path.getbasename(source), { source }) and visual_studio then
            forceincludes { "samples/windows/nanosleep.h" }
        end
    end
end

local function put_between(names)
    if target_os ~= "linux" then return end
    for _, name in ipairs(names) do linkoptions { "-Wl,--wrap=" .. name } end
end

-- Calls of the heap go through tests/support/faults/heap.c, which counts them.
local function count_heap_calls()
    put_between({ "malloc", "calloc", "realloc", "free", "strdup", "posix_memalign" })
end

local function describe()
    workspace "guildhall"
    configurations { "debug", "release" }
    location(out)
    if visual_studio then
        platforms { "x64", "arm64" }
        filter { "platforms:x64" }
        architecture "x86_64"
        filter { "platforms:arm64" }
        architecture "ARM64"
        filter {}
    end
    if sanitize then
        buildoptions { "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer" }
        linkoptions { "-fsanitize=address,undefined" }
    end
    if coverage then linkoptions { "--coverage" } end

    local platform = "platform/" .. (windows and "windows" or "posix") .. "/*.c"
    local sources = disk.matching("sdk/src/**.c", platform)
    for _, source in ipairs(script_sources) do table.insert(sources, source) end
    library("guildhall", "StaticLib", sources)
    if windows then dll(sources) end

    for _, other in ipairs(third_party.libraries) do
        if other.sources then target(other.name, "StaticLib", other.sources) end
    end

    resolver_library()
    tls_library()
    embedded_library()
    small_samples()
    if windows then return end -- the others, tests and benches use POSIX

    -- Parts of the sample that know neither store nor network are tested here too.
    local game = "samples/game_server/"
    local tests = disk.matching(game .. "messages.c", game .. "board.c", game .. "bots/said.c", game .. "bots/ears.c",
                             game .. "bots/letters.c", game .. "bots/account.c", game .. "bots/sales.c",
                             game .. "bots/names.c", game .. "fleet/events.c", game .. "fleet/history.c",
                             game .. "fleet/snapshot.c", game .. "fleet/text.c")
    -- Folders of programs of their own, and of tests that want a library which may not be there.
    local apart = { storm = true, programs = true, newcomer = true, differential = true, simulator = true, fuzz = true,
                    resolver = not third_party.cares, tls = not third_party.mbedtls, embedded = not third_party.lua }
    for _, source in ipairs(disk.matching("tests/**.c")) do
        local is_alone = apart[source:match("^tests/([^/]+)/")]
        if not is_alone then table.insert(tests, source) end
    end
    if program("guildhall_tests", tests) then
        -- Special access: the tests look at the rooms inside, a game must not.
        includedirs { "sdk/src", disk.generated, "tests", game }
        third_party.include()
        links { "cmocka" }
        with_resolver()
        with_tls()
        with_embedded()
        if third_party.lua then includedirs { third_party.lua.include } end -- the tests look inside
        count_heap_calls()
    end

    -- Programs of their own that start servers as the tests do: a storm, whose processes live and die as the weather
    -- wants, and a fleet of servers for a person, see tests/fleet.sh.
    local with_servers = { "cleanup", "clock", "process", "random", "scratch", "server/doors", "server/front",
                           "server/papers", "server/redis_process", "server/redis_server", "server/stream",
                           "source_tree", "suite", "wait" }
    local function program_with_servers(name, sources)
        for _, support in ipairs(with_servers) do table.insert(sources, "tests/support/" .. support .. ".c") end
        if not program(name, sources) then return end
        includedirs { "tests", disk.generated, "sdk/src" } -- a storm has all digests
        third_party.include()
        links { "cmocka" }
        with_embedded()
    end
    local cluster, sentinels = "tests/support/server/cluster*.c", "tests/support/server/sentinels.c"
    program_with_servers("guildhall_storm",
        disk.matching("tests/storm/*.c", "tests/support/sha1.c", cluster, sentinels))
    program_with_servers("guildhall_fleet", disk.matching("tests/programs/fleet.c", cluster, sentinels))
    if third_party.lua then
        program_with_servers("guildhall_differential",
            disk.matching("tests/differential/*.c", "tests/support/sha1.c", cluster, sentinels))
    end

    -- The storm's actors and checkers without its processes, on stores in this process.
    local storm = "tests/storm/"
    if third_party.lua and program("guildhall_simulator",
        disk.matching("tests/simulator/*.c", storm .. "storm_*.c", storm .. "check_*.c", storm .. "excuse.c",
                      storm .. "history.c", storm .. "hold.c", storm .. "judge.c", storm .. "nemesis.c",
                      storm .. "nemesis_fleet.c", storm .. "nemesis_wire.c",
                      storm .. "seat.c", storm .. "seen_tasks.c", storm .. "setting.c", storm .. "stale.c",
                      storm .. "systems.c", storm .. "talk.c", storm .. "verdict.c", "tests/support/random.c",
                      "tests/support/sha1.c", "tests/support/suite.c")) then
        includedirs { "tests", disk.generated, "sdk/src" }
        third_party.include()
        links { "cmocka" }
        with_embedded()
        put_between({ "gh_script_unpack", "strtod" }) -- tests/simulator/scripts.c and numbers.c
        if not sanitize then put_between({ "malloc", "calloc", "realloc", "aligned_alloc", "free" }) end -- memory.c
    end

    for _, folder in ipairs(disk.folders("samples/*")) do
        local name = path.getname(folder)
        if not foreign_builds[name] and program(name, disk.matching(folder .. "/**.c")) then
            includedirs { folder, disk.generated }
            links(sample_libraries[name] or {})
            if name == "game_server" then
                with_tls()
                with_embedded()
            end
        end
    end
    if program("guildhall_bench", disk.matching("bench/**.c", "tests/support/faults/heap.c")) then
        includedirs { "bench", "tests" }
        third_party.include() -- measures hiredis too
        with_tls()
        count_heap_calls()
        put_between({ "read", "write", "recv", "send" }) -- bench/harness/kernel_time.c
    end
end

newaction {
    trigger = "amalgamate",
    description = "Write build/amalgamated/guildhall.h and guildhall.c",
    execute = function() amalgamate(script_sources) end
}

newaction {
    trigger = "generate",
    description = "Write sdk/generated: the server's scripts as C, and the API as data",
    execute = function()
        scripts.write_release(_OPTIONS["to"] or "sdk/generated")
        api.generate(_OPTIONS["to"] or "sdk/generated")
    end
}

os.mkdir(disk.generated)
third_party.find_all(target_os)
if _ACTION then
    script_sources = scripts.embed()
    embed.page()
    local without = {}
    if not third_party.cares then table.insert(without, "tests/resolver/") end
    if not third_party.mbedtls then table.insert(without, "tests/tls/") end
    if not third_party.lua then table.insert(without, "tests/embedded/") end
    embed.list_of_tests(without)
    api.generate(disk.generated)
end
describe()
