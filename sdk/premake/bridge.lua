-- bridge.lua -- what premake5.lua says in the words of premake 5, for premake 4.3.

if workspace then return end

workspace = solution

function filter(terms)
    local plain = {} -- "configurations:debug" is "debug" there
    for _, term in ipairs(terms) do table.insert(plain, (term:gsub("^%a+:", ""))) end
    configuration(plain)
end

function cdialect(name) buildoptions { "-std=" .. name:lower() } end
function symbols(value) if value == "On" then flags { "Symbols" } end end
function optimize(value) if value == "On" then flags { "Optimize" } end end
