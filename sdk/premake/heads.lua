-- heads.lua -- reads what the head comment of a script says of its KEYS, its ARGV and its reply: the contract with C, of
-- which scripts.lua makes C. A head that does not follow the grammar is an error, and so is a script that does not
-- follow its head, as far as that is looked at here.
--
--   -- KEYS  1 gh:{lock:<name>}:s   its type and form        each with its number, in order: one a line, or several
--   --       2 gh:{lock:<name>}:q, 3 gh:{lock:<name>}:c      with ", " or three blanks between them;
--   --       4..7 :d0 .. :d3                                 "4..7" are four;
--   --       [8] gh:epoch          only with a birth         [8] may be left out, by itself or with those behind it
--   -- ARGV  1 token
--   --       2, 3 ...              member, its id            behind the others a row of any length, by two; "2 ..." by one
--   -- reply sequence, code, fence, remaining us, name text, entries ...
--   --       code 0 granted        what that means           the words that an element may have: a number or a letter
--   --            1 waiting                                  in quotes, its name, and behind two blanks or more the rest
--
-- An element of the reply is a whole number of at least 0, or, with "text" behind it, a string. `sequence` is the first,
-- and that of the op. "entries ..." are any number of anything; others may stand behind it. A line that ends in a comma
-- goes on in the next one. Two forms besides:
--
--   -- reply as client/lease_acquire.lua, limit   begins with what the head of that part says, words and all
--   -- reply is what the caller's script returns  in words: nothing is known of it
--
-- Each section goes on as long as its lines have a wide indentation. In it, a line that does not begin like one of the
-- above is for people.
--
--   heads.read(file, is_part)     { keys, arguments, reply }; nil if a part has no reply
--       keys, arguments           { least, more, each }: how many there are at least, how many may stand behind them,
--                                 and by how many those come that may be there any number of times
--       reply                     { elements, rest, words, part, own, own_words }: a list of { name, letter }; the name
--                                 of the first that is there any number of times; a list of { name, value as C writes
--                                 it, element }; the part that it begins with, and how many elements and words are of
--                                 that. Or false: it is said in words
--   heads.shape(reply)            as gh_script_text has it
--   heads.check(file, head, text) the script, with its parts in place, keeps what its head says

local disk = dofile("disk.lua")
local lua_tokens = dofile("lua_tokens.lua")
local heads = {}

local function fail(file, ...)
    error(file .. ": " .. string.format(...), 0)
end

-- The lines of a section, each { at, text }: at which column its text begins.
local function section_lines(file, name)
    local lines
    for line in (disk.read(file) .. "\n"):gmatch("([^\n]*)\n") do
        local word, at, text = line:match("^%-%- (%a+) +()(.*)$")
        local goes_on, rest = line:match("^%-%-   +()(.*)$")
        if not line:find("^%-%-") or line:find("^%-%-@") then break end
        if word == name and lines then fail(file, "its head has %s twice", name) end
        if word == name then lines = { { at = at, text = text } }
        elseif lines and goes_on then table.insert(lines, { at = goes_on, text = rest })
        elseif lines then break end
    end
    return lines
end

-- ---- KEYS and ARGV -------------------------------------------------------------------------------------------------

-- "2 name", "2..5 names", "[2] name", "2 ... names", "2, 3 ... names": reads one, whose number has to be the next.
-- Returns what is behind it; nil: it is not the next.
local function take_item(file, what, text, found)
    local next_number = found.least + found.more + 1
    local open, number, close, rest = text:match("^(%[?)(%d+)(%]?)(.*)$")
    if tonumber(number) ~= next_number or (open == "[") ~= (close == "]") then return nil end
    if found.each > 0 then fail(file, "%s %d comes after those of which there are any number", what, number) end
    local last, behind = rest:match("^%.%.(%d+)(%f[ ].*)$")
    local count = last and last - number + 1 or 1
    local row, each, tail = rest, 1, nil
    while true do
        tail = row:match("^ %.%.%.(.*)$")
        local following, more = row:match("^, (%d+)(.*)$")
        if tail or tonumber(following) ~= number + each then break end
        row, each = more, each + 1
    end
    if count < 1 or not (last or rest:find("^ ")) and not tail then return nil end
    if open == "[" and tail then fail(file, "%s %d may be left out anyhow", what, number) end
    if tail then found.each = each
    elseif open == "[" then found.more = found.more + count
    elseif found.more > 0 then fail(file, "%s %d comes after one that may be left out", what, number)
    else found.least = found.least + count end
    return tail or behind or rest
end

-- What stands in a line after ", " or three blanks may be the next one.
local function take_others(file, what, text, found)
    local at = 1
    while true do
        local comma, blanks = text:find(", %[?%d", at), text:find("   %[?%d", at)
        local from = math.min(comma or math.huge, blanks or math.huge)
        if from == math.huge then return end
        local item = text:sub(from):gsub("^[, ]+", "")
        local rest = take_item(file, what, item, found)
        if rest then text, at = rest, 1 else at = from + 1 end
    end
end

local function read_items(file, what)
    local found = { least = 0, more = 0, each = 0 }
    local lines = section_lines(file, what)
    if not lines then fail(file, "its head has no line '-- %s'", what) end
    for _, line in ipairs(lines) do
        if line.at <= lines[1].at and line.text:find("^%[?%d") then
            local rest = take_item(file, what, line.text, found)
            if not rest then
                fail(file, "its head has '%s' where %s %d is to come", line.text, what, found.least + found.more + 1)
            end
            take_others(file, what, rest, found)
        end
    end
    if found.least + found.more + found.each == 0 then fail(file, "its head names no %s", what) end
    return found
end

-- ---- the reply -----------------------------------------------------------------------------------------------------

local function add_element(file, reply, text)
    local name, dots = text:match("^([%l][%w ]-)( ?%.?%.?%.?)$")
    if not name or dots ~= "" and dots ~= " ..." then fail(file, "its reply has '%s', which is no element", text) end
    local words, letter = name:match("^(.+) text$"), "i"
    if words then name, letter = words, "s" end
    if name == "sequence" and #reply.elements == 0 then letter = "q" end
    name = name:gsub(" ", "_")
    if reply.rest then return end -- where it stands only the reply itself knows
    if dots ~= "" then reply.rest = name
    else table.insert(reply.elements, { name = name, letter = letter }) end
end

-- A copy of what the head of a part says.
local function reply_of_part(file, part)
    local path = "sdk/src/" .. part
    local head = os.isfile(path) and heads.read(path, true)
    if not head then fail(file, "its reply is as %s, which is no part with a reply", part) end
    local reply = { part = path, elements = {}, words = {}, rest = head.reply.rest }
    for _, element in ipairs(head.reply.elements) do table.insert(reply.elements, element) end
    for _, word in ipairs(head.reply.words) do table.insert(reply.words, word) end
    reply.own, reply.own_words, reply.rest_of_part = #reply.elements, #reply.words, reply.rest ~= nil
    return reply
end

-- The elements, and the number of the line behind them.
local function read_elements(file, lines)
    local text, last = lines[1].text, 1
    while text:find(",$") and lines[last + 1] do
        last = last + 1
        text = text .. " " .. lines[last].text
    end
    local reply = { elements = {}, words = {}, own = 0, own_words = 0 }
    local part, rest = text:match("^as ([%w_/]+%.lua)(.*)$")
    if part then
        reply = reply_of_part(file, part)
        text = rest:gsub("^, ", "")
    end
    for element in (text .. ","):gmatch(" *([^,]*),") do
        if not part or text ~= "" then add_element(file, reply, element) end
    end
    return reply, last + 1
end

local function has_element(reply, name)
    for _, element in ipairs(reply.elements) do
        if element.name == name then return true end
    end
    return reply.rest == name
end

-- "0 granted", "0 granted  what that means", "\"j\" joined"
local function take_word(file, reply, element, text)
    local value, name = text:match("^(%d+) (%l[%w ]*)")
    if not value then
        value, name = text:match('^"(%a)" (%l[%w ]*)')
        value = value and "'" .. value .. "'"
    end
    name = name and (name:match("^(.-)  ") or name):gsub(" $", "")
    local rest = name and text:sub(select(2, text:find(name, 1, true)) + 1)
    if not name or not (rest == "" or rest:find("^  ")) then
        fail(file, "its %s has '%s': a number or a letter in quotes, its name, and two blanks were to come", element, text)
    end
    table.insert(reply.words, { name = name:gsub(" ", "_"), value = value, element = element })
end

local function read_words(file, reply, lines, first)
    local element, at
    for i = first, #lines do
        local line = lines[i]
        local name, value_at, value = line.text:match('^(%l+) +()(["%d].*)$')
        local is_first = name and line.at <= lines[1].at and has_element(reply, name)
        if is_first and (value:find('^%d+ ') or value:find('^"%a" ')) then
            element, at = name, line.at + value_at - 1
            take_word(file, reply, element, value)
        elseif line.at <= lines[1].at then
            if line.text:find("^code ") then fail(file, "its code has no number in '%s'", line.text) end
            element = nil
        elseif element and line.at <= at then
            if line.at < at or not line.text:find('^["%d]') then
                fail(file, "'%s' is no word of %s; what explains one stands further right", line.text, element)
            end
            take_word(file, reply, element, line.text)
        end
    end
end

local function read_reply(file)
    local lines = section_lines(file, "reply")
    if not lines then return nil end
    if lines[1].text:find("^is ") then return false end
    local reply, first = read_elements(file, lines)
    read_words(file, reply, lines, first)
    return reply
end

local cache = {}

function heads.read(file, is_part)
    if cache[file] then return cache[file] end
    local head = { reply = read_reply(file) }
    if is_part and not head.reply then return nil end
    if head.reply == nil then fail(file, "its head has no line '-- reply'") end
    if not is_part then head.keys, head.arguments = read_items(file, "KEYS"), read_items(file, "ARGV") end
    cache[file] = head
    return head
end

function heads.shape(reply)
    local letters = {}
    for i, element in ipairs(reply.elements) do letters[i] = element.letter end
    return table.concat(letters) .. (reply.rest and "*" or "")
end

-- ---- does the script keep it ---------------------------------------------------------------------------------------

-- KEYS[4] where the head has three. One whose number is made while it runs is not looked at.
local function check_numbers(file, tokens, name, items)
    for i = 1, #tokens - 3 do
        local number = tokens[i + 2].text:match("^%d+$")
        if tokens[i].text == name and tokens[i + 1].text == "[" and number and tokens[i + 3].text == "]" and
            items.each == 0 and tonumber(number) > items.least + items.more then
            fail(file, "%s[%s], and its head names %d", name, number, items.least + items.more)
        end
    end
end

local opens = { ["("] = true, ["{"] = true, ["["] = true, ["function"] = true, ["if"] = true, ["do"] = true,
                ["repeat"] = true }
local closes = { [")"] = true, ["}"] = true, ["]"] = true, ["end"] = true, ["until"] = true }

-- How many values stand between the brackets that begin here, and whether there may be more: the last one is unpack(),
-- or "...". nil: it has names, as an error has.
local function values_from(tokens, at)
    local depth, count, last = 0, 1, at + 1
    if tokens[at + 1].text == "}" then return 0 end
    for i = at, #tokens do
        local text = tokens[i].text
        if opens[text] then depth = depth + 1 end
        if closes[text] then depth = depth - 1 end
        if depth == 0 then return count, tokens[last].text == "unpack" or tokens[last].text == "..." end
        if depth == 1 and text == "=" then return nil end
        if depth == 1 and text == "," and tokens[i + 1].text ~= "}" then count, last = count + 1, i + 1 end
    end
end

local function check_return(file, tokens, at, reply)
    local count, more = values_from(tokens, at)
    local wanted = #reply.elements
    if not count or more and (count - 1 <= wanted) or reply.rest and count >= wanted then return end
    if count == wanted and not more then return end
    fail(file, "it returns %d elements, '{%s, %s, ...', and its head names %d", count, tokens[at + 1].text,
         tokens[at + 3] and tokens[at + 3].text or "", wanted)
end

-- "return {a, b}" outside of functions. What a function or a variable brings to a return is not looked at, and of what
-- is there only how many elements it has.
local function check_returns(file, tokens, reply)
    local blocks, functions = {}, 0
    for i, token in ipairs(tokens) do
        local text = token.kind == "name" and token.text
        if text == "function" or text == "if" or text == "do" or text == "repeat" then
            table.insert(blocks, text)
            if text == "function" then functions = functions + 1 end
        elseif text == "end" or text == "until" then
            if table.remove(blocks) == "function" then functions = functions - 1 end
        elseif text == "return" and functions == 0 and tokens[i + 1] and tokens[i + 1].text == "{" then
            check_return(file, tokens, i + 1, reply)
        end
    end
end

function heads.check(file, head, text)
    local tokens = lua_tokens.cut(text, file)
    check_numbers(file, tokens, "KEYS", head.keys)
    check_numbers(file, tokens, "ARGV", head.arguments)
    if head.reply then check_returns(file, tokens, head.reply) end
end

return heads
