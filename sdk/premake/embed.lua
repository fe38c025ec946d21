-- embed.lua -- what else is generated: the page of the sample's fleet, and the list of the test disk.

local disk = dofile("disk.lua")
local c = dofile("c.lua")
local embed = {}

-- To be served without a file beside the program.
function embed.page()
    disk.write(disk.generated .. "/game_page.h",
        "/* Generated from samples/game_server/fleet/page.html by premake5.lua; edit that file. */\n" ..
        "static const char game_page[] =\n" ..
        c.text(disk.read("samples/game_server/fleet/page.html")) .. ";\n")
end

-- Each test_NAME.c below tests/ is a file of tests, but for those in the folders that are left out.
function embed.list_of_tests(left_out)
    local names = {}
    for _, file in ipairs(disk.matching("tests/**.c")) do
        local name = file:match("/test_([%w_]+)%.c$")
        for _, folder in ipairs(left_out) do
            if file:sub(1, #folder) == folder then name = nil end
        end
        if name then table.insert(names, name) end
    end
    disk.write(disk.generated .. "/test_files.h",
        "/* Generated from the names of the files below tests/ by premake5.lua. */\n" ..
        c.list("TEST_FILES", names))
end

return embed
