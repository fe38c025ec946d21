-- heads.lua -- reads what the head comment of a script says of its KEYS, its ARGV and its reply: the contract with C,
-- of which scripts.lua makes C. A head that does not follow the grammar is an error.
--
--   -- KEYS  1 gh:{lock:<name>}:s   string, of such a form
--   --       2 gh:{lock:<name>}:q, 3 gh:{lock:<name>}:c
--   --       4..7 :d0 .. :d3
--   --       [8] gh:epoch           only with a birth
--   -- ARGV  1 token
--   --       2, 3 ...               member, its id
--   -- reply sequence, code, fence, remaining us, name text, entries ...
--   --       code 0 granted         what that means
--   --            1 waiting
--   --       name "a"  anonymous
--
-- Keys and arguments have their numbers, in order; more than one in a line stand apart by ", " or two blanks. "4..7"
-- are four. "[8]" may be left out, and so may those behind it. "2, 3 ..." come by two, any number of times, and
-- "2 ..." one by one: they are the last.
--
-- An element of the reply is a whole number of at least 0; or, with "text" behind its name, a string. `sequence` is
-- the first if it is there, and the op's; "now us" is the store's time, which the client notes. "entries ..." is any
-- number of anything, and what stands behind it too. A line that ends in a comma goes on in the next. Three forms
-- besides:
--
--   -- reply in one text: sequence, code          with a blank between each two; only the last may be a string
--   -- reply as client/lease_acquire.lua, limit    begins as that head says, and has its words
--   -- reply is what the caller's script returns   in words: nothing is known of it
--
-- A script that runs to its end while its slot moves to another node of a Cluster says so, and goes on meanwhile; all
-- others wait. It may touch no key behind a command that could have removed it:
--
--   -- moving  why
--
-- Below stand the words that an element may be: its name, and for each a number, or a letter in quotes; a name; and
-- behind two blanks what is to be said of it. Those behind the first stand right below it, and what goes on further
-- right. All other lines of a section, which goes on as long as they are indented like that, are for people.
--
-- Of the script itself is looked at whether the head has its KEYS[n] and ARGV[n], and how many elements
-- "return {a, b}" has where it stands outside of functions. Not looked at are: numbers that are made while it runs;
-- what a function or a variable brings to a return; types; and whether a word is ever said.
--
--   heads.read(file)              { keys, arguments, reply, goes_on }, of a script; goes_on: while its slot moves
--       keys, arguments           { least, more, each }: how many there are at least, how many may stand behind them,
--                                 and by how many those come that may be there any number of times
--   heads.read_reply(file)        that of a part, too; nil: it has none. False: it is said in words. Else
--       elements                  a list of { name, letter }
--       rest                      the name of the first that is there any number of times, or nil
--       words                     a list of { name, value as C writes it, element }
--       other                     the file whose reply it begins like, or nil
--       own, own_words            how many elements and words are of that
--       rest_of_other             whether rest is
--   heads.shape(reply)            as gh_script_text has it
--   heads.check(file, head, text) the script, with its parts in place, keeps what its head says

local disk = dofile("disk.lua")
local lua_tokens = dofile("lua_tokens.lua")
local heads = {}

local function fail(file, ...)
    error(file .. ": " .. string.format(...), 0)
end

-- The lines of a section, each { at, text }: at which column its text begins. Nil: there is none.
local function section_lines(file, name)
    local lines, is_open
    for line in (disk.read(file) .. "\n"):gmatch("([^\n]*)\n") do
        local word, at, text = line:match("^%-%- (%a+) +()(.*)$")
        local more_at, more = line:match("^%-%-   +()(.*)$")
        if not line:find("^%-%-") or line:find("^%-%-@") then break end
        if word == name and lines then fail(file, "its head has '%s' twice", name) end
        if word == name then
            lines, is_open = { { at = at, text = text } }, true
        elseif is_open and more_at then
            table.insert(lines, { at = more_at, text = more })
        else
            is_open = false
        end
    end
    return lines
end

-- ---- KEYS and ARGV -------------------------------------------------------------------------------------------------

-- "2, 3 ..." without the 2: how many there are, and what is behind them. Nil: it is not of that form.
local function take_row(rest, number)
    local each = 1
    while true do
        local tail = rest:match("^ %.%.%.(.*)$")
        if tail then return each, tail end
        local following, more = rest:match("^, (%d+)(.*)$")
        if tonumber(following) ~= number + each then return nil end
        rest, each = more, each + 1
    end
end

-- Notes in `found` the next key or argument, that a text begins with. Returns what is behind it; nil: it does not.
local function take_item(file, what, text, found)
    local open, digits, close, rest = text:match("^(%[?)(%d+)(%]?)(.*)$")
    local number = tonumber(digits)
    if number ~= found.least + found.more + 1 or (open == "[") ~= (close == "]") then return nil end
    local is_free = open == "["
    local each, tail = take_row(rest, number)
    local last, behind = rest:match("^%.%.(%d+)( .*)$")
    if not each and not last and not rest:find("^ ") then return nil end
    if found.each > 0 or found.more > 0 and (each or not is_free) then
        fail(file, "%s %d comes after what may be left out, or be any number", what, number)
    end
    if each and is_free then fail(file, "%s %d may be left out anyhow", what, number) end
    local count = last and last - number + 1 or 1
    if count < 1 then fail(file, "%s %d comes before %d", what, last, number) end
    if each then found.each = each
    elseif is_free then found.more = found.more + count
    else found.least = found.least + count end
    return tail or behind or rest
end

-- Others in the same line. Behind two blanks, unless one stands there, is what people are told.
local function take_others(file, what, text, found)
    local at = 1
    while true do
        local comma, blanks = text:find(", %[?%d", at), text:find("  ", at, true)
        local from = comma and blanks and math.min(comma, blanks) or comma or blanks
        if not from then return end
        local rest = take_item(file, what, text:sub(from):match("^[, ]+(.*)$"), found)
        if not rest and from == blanks then return end
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
                fail(file, "its head has '%s' where %s %d was to come", line.text, what, found.least + found.more + 1)
            end
            take_others(file, what, rest, found)
        end
    end
    if found.least + found.more + found.each == 0 then fail(file, "its head names no %s", what) end
    return found
end

-- ---- the reply -----------------------------------------------------------------------------------------------------

local function add_element(file, reply, text)
    local name, dots = text:match("^(%l[%w ]-)( ?%.*)$")
    if not name or dots ~= "" and dots ~= " ..." then fail(file, "its reply has '%s', which is no element", text) end
    local words, letter = name:match("^(.+) text$"), "i"
    if words then name, letter = words, "s" end
    name = name:gsub(" ", "_")
    if name == "sequence" and #reply.elements == 0 then letter = "q" end
    if name == "now_us" and letter == "i" then letter = "n" end
    if reply.rest then return end -- where it stands, only the reply itself knows
    if dots ~= "" then reply.rest = name
    else table.insert(reply.elements, { name = name, letter = letter }) end
end

-- A copy of what another head says.
local function reply_as(file, other)
    local path = "sdk/src/" .. other
    local said = os.isfile(path) and heads.read_reply(path)
    if not said then fail(file, "its reply is as %s, whose head has none", other) end
    local reply = { elements = {}, words = {}, rest = said.rest, is_text = said.is_text, other = path,
                    own = #said.elements,
                    own_words = #said.words, rest_of_other = said.rest ~= nil }
    for i, element in ipairs(said.elements) do reply.elements[i] = element end
    for i, word in ipairs(said.words) do reply.words[i] = word end
    return reply
end

-- Returns the reply, and the number of the line behind its elements.
local function read_elements(file, lines)
    local text, last = lines[1].text, 1
    while text:find(",$") and lines[last + 1] do
        last = last + 1
        text = text .. " " .. lines[last].text
    end
    local other, more = text:match("^as ([%w_/]+%.lua)(.*)$")
    local of_text = text:match("^in one text: (.*)$")
    local reply = other and reply_as(file, other) or
                  { elements = {}, words = {}, is_text = of_text ~= nil, own = 0, own_words = 0 }
    text = other and more or ", " .. (of_text or text)
    if not text:find("^, .") and text ~= "" then fail(file, "its reply has '%s', which is no element", text) end
    for element in text:gmatch(", ([^,]*)") do add_element(file, reply, element) end
    if reply.is_text and (reply.rest or heads.shape(reply):find("s.")) then
        fail(file, "its reply is in one text, where only the last element may be a string")
    end
    return reply, last + 1
end

local function has_element(reply, name)
    for _, element in ipairs(reply.elements) do
        if element.name == name then return true end
    end
    return false
end

-- "0 granted  what that means"
local function take_word(file, reply, element, text)
    local value, words = text:match("^(%d+) (%l.*)$")
    local letter, its_words = text:match('^"(%w)" (%l.*)$')
    words = words or its_words
    local name = words and (words:match("^(.-)  ") or words)
    if not name or name:find("[^%w ]") then
        fail(file, "its %s has '%s': a number or a letter in quotes, a name, and two blanks were to come", element,
             text)
    end
    table.insert(reply.words, { name = name:gsub(" ", "_"), value = value or "'" .. letter .. "'", element = element })
end

local function read_words(file, reply, lines, first)
    local element, at -- whose words are read, and the column at which they stand
    for i = first, #lines do
        local line = lines[i]
        local is_inner = line.at > lines[1].at
        local name, value_at, value = line.text:match('^(%l+) +()(["%d].*)$')
        local is_first = name and not is_inner and has_element(reply, name)
        if is_first and (value:find("^%d+ ") or value:find('^"%w" ')) then
            element, at = name, line.at + value_at - 1
            take_word(file, reply, element, value)
        elseif not is_inner then
            if line.text:find("^code ") then fail(file, "its code has no number and name in '%s'", line.text) end
            element = nil
        elseif element and line.at == at then
            take_word(file, reply, element, line.text)
        elseif element and line.at < at then
            fail(file, "'%s' stands left of the words of its %s", line.text, element)
        end
    end
end

local replies = {}

function heads.read_reply(file)
    if replies[file] ~= nil then return replies[file] end
    local lines = section_lines(file, "reply")
    if not lines then return nil end
    local reply = false
    if not lines[1].text:find("^is ") then
        local first
        reply, first = read_elements(file, lines)
        read_words(file, reply, lines, first)
    end
    replies[file] = reply
    return reply
end

function heads.read(file)
    local reply = heads.read_reply(file)
    if reply == nil then fail(file, "its head has no line '-- reply'") end
    return { keys = read_items(file, "KEYS"), arguments = read_items(file, "ARGV"), reply = reply,
             goes_on = section_lines(file, "moving") ~= nil }
end

function heads.shape(reply)
    local letters = {}
    for i, element in ipairs(reply.elements) do letters[i] = element.letter end
    return (reply.is_text and "t" or "") .. table.concat(letters) .. (reply.rest and "*" or "")
end

-- ---- does the script keep it ---------------------------------------------------------------------------------------

local function check_numbers(file, tokens, name, items)
    if items.each > 0 then return end
    for i = 1, #tokens - 3 do
        local number = tonumber(tokens[i + 2].text:match("^%d+$"))
        if tokens[i].text == name and tokens[i + 1].text == "[" and tokens[i + 3].text == "]" and number and
            number > items.least + items.more then
            fail(file, "%s[%d], and its head names %d", name, number, items.least + items.more)
        end
    end
end

local opens = { ["("] = true, ["{"] = true, ["["] = true, ["function"] = true, ["if"] = true, ["do"] = true,
                ["repeat"] = true }
local closes = { [")"] = true, ["}"] = true, ["]"] = true, ["end"] = true, ["until"] = true }

-- How many values stand between the brackets that begin here, and the token that the last one begins with. Nil: they
-- have names, as an error has.
local function values_from(tokens, at)
    local depth, count, last = 0, 1, at + 1
    if tokens[at + 1].text == "}" then return 0 end
    for i = at, #tokens do
        local text = tokens[i].text
        if opens[text] then depth = depth + 1 end
        if closes[text] then depth = depth - 1 end
        if depth == 0 then return count, tokens[last].text end
        if depth == 1 and text == "=" then return nil end
        if depth == 1 and text == "," and tokens[i + 1].text ~= "}" then count, last = count + 1, i + 1 end
    end
end

-- The columns of a reply in one text that is returned, as the blanks in it tell. Names may have more of them, a string
-- at the end any number, and of a choice only one part is there.
local function check_columns(file, tokens, at, reply)
    local goes_on, blanks, wanted = true, 0, #reply.elements
    if tokens[at].text == "{" then fail(file, "it returns an array, and its head says that it is one text") end
    if tokens[at].text == "redis" or tokens[at].text == "corrupt" then return end -- an error
    local is_whole = tokens[at].text == "string" and not heads.shape(reply):find("s")
    for i = at, #tokens do
        local text, kind = tokens[i].text, tokens[i].kind
        goes_on = goes_on and not (kind == "name" and (text == "end" or text == "else" or text == "elseif"))
        if goes_on and kind == "name" and text == "or" then return end
        if goes_on and kind == "string" then blanks = blanks + select(2, text:gsub(" ", "")) end
    end
    if blanks + 1 == wanted or not is_whole and blanks < wanted then return end
    fail(file, "it returns %d columns where it begins with '%s', and its head names %d", blanks + 1, tokens[at].text,
         wanted)
end

-- unpack() and "..." at the end may be any number of values, and none.
local function check_return(file, tokens, at, reply)
    local count, last = values_from(tokens, at)
    local wanted = #reply.elements
    if not count then return end
    local is_open = last == "unpack" or last == "..."
    local least, most = is_open and count - 1 or count, is_open and math.huge or count
    if most >= wanted and least <= (reply.rest and math.huge or wanted) then return end
    fail(file, "it returns %d elements where it begins with '{%s', and its head names %d", count, tokens[at + 1].text,
         wanted)
end

local function check_returns(file, tokens, reply)
    local blocks, functions = {}, 0
    for i, token in ipairs(tokens) do
        local text = token.kind == "name" and token.text
        if text == "function" or text == "if" or text == "do" or text == "repeat" then
            table.insert(blocks, text)
            if text == "function" then functions = functions + 1 end
        elseif text == "end" or text == "until" then
            if table.remove(blocks) == "function" then functions = functions - 1 end
        elseif text == "return" and functions == 0 and tokens[i + 1] and reply.is_text then
            check_columns(file, tokens, i + 1, reply)
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
