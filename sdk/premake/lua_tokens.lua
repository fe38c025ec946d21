-- lua_tokens.lua -- cuts a Lua 5.1 text into its tokens, and joins them again with as little between them as will do.
--
--   lua_tokens.cut(text, what)       a list of { kind, text, gap }. gap is what stood in front of the token: ""
--                                    nothing, " " blanks or comments, "\n" a new line among them. `what` names the
--                                    text in errors
--   lua_tokens.join(tokens, gap_of)  the text; gap_of(before, token) is what goes between two
--
-- kind is "name" (keywords too), "number", "string" or "sign". A string's text has its quotes, so that no two tokens
-- that differ in kind have the same text.

local lua_tokens = {}

-- The position behind the long bracket that begins here, "[[...]]" or "[==[...]==]"; nil: there is none, or no end.
local function long_bracket_end(text, at)
    local level = text:match("^%[(=*)%[", at)
    local _, last = text:find("]" .. (level or "") .. "]", at, true)
    return level and last and last + 1
end

local function comment_end(text, at)
    return long_bracket_end(text, at + 2) or text:find("\n", at, true) or #text + 1
end

-- As Lua itself reads a number: "0x1f", "3.5e-7" and also "3..2", which is none; so 3 and .. must be kept apart.
local function number_end(text, at)
    local _, last = text:find("^[%d.]+", at)
    local _, exponent = text:find("^[eE][+-]?", last + 1)
    local _, tail = text:find("^[%w_]+", (exponent or last) + 1)
    return (tail or exponent or last) + 1
end

local function string_end(text, at)
    local quote, from = text:sub(at, at), at + 1
    while true do
        local found = text:find("[\\\n" .. quote .. "]", from)
        local byte = found and text:sub(found, found)
        if not found or byte == "\n" then return nil end
        if byte == quote then return found + 1 end
        from = found + 2 -- behind what is escaped, be it the quote or a line's end
    end
end

local signs = { "^%.%.%.", "^%.%.", "^[=~<>]=", "^[-+*/%%^#<>=(){}%[%];:,.]" }

local function sign_end(text, at)
    for _, sign in ipairs(signs) do
        local _, last = text:find(sign, at)
        if last then return last + 1 end
    end
end

-- The kind of the token that begins here, and the position behind it; no position: it is none.
local function token_at(text, at)
    if text:find("^[%a_]", at) then return "name", select(2, text:find("^[%w_]+", at)) + 1 end
    if text:find("^%.?%d", at) then return "number", number_end(text, at) end
    if text:find("^[\"']", at) then return "string", string_end(text, at) end
    if text:find("^%[=*%[", at) then return "string", long_bracket_end(text, at) end
    return "sign", sign_end(text, at)
end

-- The position behind all blanks and comments.
local function gap_end(text, at)
    while true do
        local from = text:match("^%s*()", at)
        if text:sub(from, from + 1) ~= "--" then return from end
        at = comment_end(text, from)
    end
end

local function line_of(text, at)
    return 1 + select(2, text:sub(1, at - 1):gsub("\n", ""))
end

function lua_tokens.cut(text, what)
    local tokens, from = {}, 1
    local at = gap_end(text, from)
    while at <= #text do
        local kind, behind = token_at(text, at)
        if not behind then error(what .. ":" .. line_of(text, at) .. ": this is not Lua 5.1", 0) end
        local gap = text:sub(from, at - 1)
        gap = gap:find("\n", 1, true) and "\n" or gap ~= "" and " " or ""
        table.insert(tokens, { kind = kind, text = text:sub(at, behind - 1), gap = gap })
        from = behind
        at = gap_end(text, from)
    end
    return tokens
end

function lua_tokens.join(tokens, gap_of)
    local parts = {}
    for i, token in ipairs(tokens) do
        if i > 1 then table.insert(parts, gap_of(tokens[i - 1], token)) end
        table.insert(parts, token.text)
    end
    return table.concat(parts) .. "\n"
end

-- Gaps for join. As in the source, but without comments, indentation and empty lines:
function lua_tokens.source_gap(_, token)
    return token.gap
end

-- Only where the two would be read as something else without one; a line's end, where there was one, so that the
-- lines of errors mean a little.
function lua_tokens.least_gap(before, token)
    local kind, behind = token_at(before.text .. token.text, 1)
    local first = token.text:sub(1, 1)
    local is_comment = before.text == "-" and first == "-"
    local is_number = before.kind == "number" and first == "." -- more or less, by the version of Lua
    if kind == before.kind and behind == #before.text + 1 and not is_comment and not is_number then return "" end
    return token.gap == "\n" and "\n" or " "
end

return lua_tokens
