-- lua_scopes.lua -- finds the local variables of a Lua 5.1 text, and which names stand for which of them.
--
--   lua_scopes.find(tokens, what)   a list of variables: { name, first, last, uses }, and all other names that are used
--                                   as variables, a set: the globals
--
-- A variable can be seen from the token number `first` to before `last`; `uses` are the tokens that are its name. The
-- names of fields, methods and of keys in tables are neither. The parser below follows the grammar of the manual. It
-- takes texts that Lua takes; of others it finds some faults and not all.

local parser = {}
parser.__index = parser

local function set_of(words)
    local set = {}
    for word in words:gmatch("%S+") do set[word] = true end
    return set
end

local keywords = set_of("and break do else elseif end false for function if in local nil not or repeat return then " ..
                        "true until while")
local ends_block = set_of("end else elseif until")
local unary = set_of("- not #")
local binary = set_of("+ - * / ^ % .. < <= > >= == ~= and or")
local values = set_of("nil true false ...")

-- ---- tokens --------------------------------------------------------------------------------------------------------

function parser:is(text)
    local token = self.tokens[self.at]
    return token ~= nil and token.text == text
end

function parser:is_in(set)
    local token = self.tokens[self.at]
    return token ~= nil and set[token.text] ~= nil
end

function parser:is_kind(kind)
    local token = self.tokens[self.at]
    return token ~= nil and token.kind == kind and not keywords[token.text]
end

function parser:fail(wanted)
    local token = self.tokens[self.at]
    error(self.what .. ": " .. wanted .. " is missing before " .. (token and token.text or "the end"), 0)
end

function parser:skip()
    self.at = self.at + 1
end

function parser:accept(text)
    local found = self:is(text)
    if found then self:skip() end
    return found
end

function parser:take(text)
    if not self:accept(text) then self:fail(text) end
end

function parser:take_name()
    if not self:is_kind("name") then self:fail("a name") end
    self:skip()
    return self.tokens[self.at - 1]
end

-- ---- scopes --------------------------------------------------------------------------------------------------------

function parser:open()
    self.scope = { outer = self.scope, by_name = {}, variables = {} }
end

function parser:close()
    for _, variable in ipairs(self.scope.variables) do variable.last = self.at end
    self.scope = self.scope.outer
end

-- From here to the end of the scope these names are variables.
function parser:declare(tokens)
    for _, token in ipairs(tokens) do
        local variable = { name = token.text, first = self.at, uses = { token } }
        table.insert(self.variables, variable)
        table.insert(self.scope.variables, variable)
        self.scope.by_name[token.text] = variable
    end
end

function parser:use(token)
    local scope = self.scope
    while scope and not scope.by_name[token.text] do scope = scope.outer end
    if scope then
        table.insert(scope.by_name[token.text].uses, token)
    else
        self.globals[token.text] = true
    end
end

-- ---- expressions ---------------------------------------------------------------------------------------------------

function parser:expressions()
    repeat self:expression() until not self:accept(",")
end

-- Which operator comes first makes no difference to what a name means.
function parser:expression()
    while true do
        while self:is_in(unary) do self:skip() end
        self:operand()
        if not self:is_in(binary) then return end
        self:skip()
    end
end

function parser:operand()
    if self:accept("function") then
        self:body({})
    elseif self:is("{") then
        self:constructor()
    elseif self:is_kind("number") or self:is_kind("string") or self:is_in(values) then
        self:skip()
    elseif self:accept("(") then
        self:expression()
        self:take(")")
        self:suffixes()
    else
        self:use(self:take_name())
        self:suffixes()
    end
end

-- Fields, elements and calls behind a value.
function parser:suffixes()
    while true do
        if self:accept(".") or self:accept(":") then
            self:take_name()
        elseif self:accept("[") then
            self:expression()
            self:take("]")
        elseif self:accept("(") then
            if not self:is(")") then self:expressions() end
            self:take(")")
        elseif self:is("{") then
            self:constructor()
        elseif self:is_kind("string") then
            self:skip()
        else
            return
        end
    end
end

function parser:constructor()
    self:take("{")
    while not self:is("}") do
        local next_token = self.tokens[self.at + 1]
        if self:accept("[") then
            self:expression()
            self:take("]")
            self:take("=")
        elseif self:is_kind("name") and next_token and next_token.text == "=" then
            self:skip() -- the key
            self:skip()
        end
        self:expression()
        if not self:accept(",") and not self:accept(";") then break end
    end
    self:take("}")
end

-- "(a, b, ...) ... end". The names in front are parameters too.
function parser:body(parameters)
    self:take("(")
    while not self:is(")") do
        if not self:accept("...") then table.insert(parameters, self:take_name()) end
        if not self:accept(",") then break end
    end
    self:take(")")
    self:open()
    self:declare(parameters)
    self:block()
    self:close()
    self:take("end")
end

-- ---- statements ----------------------------------------------------------------------------------------------------

local statements = {}

statements["do"] = function(self)
    self:scoped_block()
    self:take("end")
end

statements["while"] = function(self)
    self:expression()
    self:take("do")
    self:scoped_block()
    self:take("end")
end

-- What the block declares can be seen in the condition.
statements["repeat"] = function(self)
    self:open()
    self:block()
    self:take("until")
    self:expression()
    self:close()
end

statements["if"] = function(self)
    repeat
        self:expression()
        self:take("then")
        self:scoped_block()
    until not self:accept("elseif")
    if self:accept("else") then self:scoped_block() end
    self:take("end")
end

statements["for"] = function(self)
    local names = self:names()
    if not self:accept("=") then self:take("in") end
    self:expressions()
    self:take("do")
    self:open()
    self:declare(names)
    self:block()
    self:close()
    self:take("end")
end

statements["function"] = function(self)
    local parameters = {}
    self:use(self:take_name())
    while self:accept(".") do self:take_name() end
    if self:accept(":") then
        self:take_name()
        table.insert(parameters, { kind = "name", text = "self" })
    end
    self:body(parameters)
end

-- A function can call itself; any other variable can first be seen in the next statement.
statements["local"] = function(self)
    if self:accept("function") then
        self:declare({ self:take_name() })
        return self:body({})
    end
    local names = self:names()
    if self:accept("=") then self:expressions() end
    self:declare(names)
end

statements["return"] = function(self)
    local is_bare = self.at > #self.tokens or self:is(";") or self:is_in(ends_block)
    if not is_bare then self:expressions() end
end

statements["break"] = function() end

function parser:names()
    local names = {}
    repeat table.insert(names, self:take_name()) until not self:accept(",")
    return names
end

function parser:statement()
    local token = self.tokens[self.at]
    if statements[token.text] then
        self:skip()
        statements[token.text](self)
    else -- a call or an assignment
        self:expressions()
        if self:accept("=") then self:expressions() end
    end
    self:accept(";")
end

function parser:block()
    while self.at <= #self.tokens and not self:is_in(ends_block) do self:statement() end
end

function parser:scoped_block()
    self:open()
    self:block()
    self:close()
end

local lua_scopes = { keywords = keywords }

function lua_scopes.find(tokens, what)
    local self = setmetatable({ tokens = tokens, what = what, at = 1, variables = {}, globals = {} }, parser)
    self:scoped_block()
    if self.at <= #tokens then self:fail("a statement") end
    return self.variables, self.globals
end

return lua_scopes
