-- bridge.lua -- what premake5.lua says in the words of premake 5, for premake 4.3; and what both say in their own way.

-- A release optimises these files for speed, whatever it does with others. Makefiles ask for each file that they
-- compile, as premake 4.3 knows no options of a file.
function for_speed(files, visual_studio)
    local names = {}
    for i, file in ipairs(files) do names[i] = "%/" .. path.getname(file) end
    if visual_studio then
        for _, file in ipairs(files) do
            filter { "configurations:release", "files:" .. file }
            optimize "On"
        end
    else
        filter { "configurations:release" }
        buildoptions { "$(if $(filter " .. table.concat(names, " ") .. ",$<),-O2)" }
    end
    filter {}
end

if workspace then return end

workspace = solution

function filter(terms)
    local plain = {} -- "configurations:debug" is "debug" there
    for _, term in ipairs(terms) do table.insert(plain, (term:gsub("^%a+:", ""))) end
    configuration(plain)
end

function cdialect(name) buildoptions { "-std=" .. name:lower() } end
function symbols(value) if value == "On" then flags { "Symbols" } end end
function optimize(value) flags { value == "Size" and "OptimizeSize" or "Optimize" } end
