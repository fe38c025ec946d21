-- disk.lua -- reads, writes and lists files.
--
-- Paths are from the top of the project on. What premake generates lies in disk.generated.

local disk = { generated = "build/generated" }

function disk.read(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

-- Leaves a file alone that already says the same, so that nothing is compiled for nothing.
function disk.write(path, text)
    local old = io.open(path, "rb")
    local same = old and old:read("*a") == text
    if old then old:close() end
    if same then return end
    local file = assert(io.open(path, "wb"))
    file:write(text)
    file:close()
end

-- The files that match any of the patterns. Sorted, because folders list their files in any order and builds should
-- not differ by it.
function disk.matching(...)
    local found = {}
    for _, pattern in ipairs({ ... }) do
        local part = os.matchfiles(pattern)
        table.sort(part)
        for _, name in ipairs(part) do table.insert(found, name) end
    end
    return found
end

function disk.folders(pattern)
    local found = os.matchdirs(pattern)
    table.sort(found)
    return found
end

return disk
