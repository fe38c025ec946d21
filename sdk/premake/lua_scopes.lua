-- lua_scopes.lua -- finds the local variables of a Lua 5.1 text, and which names stand for which of them.
--
--   lua_scopes.find(tokens, what)      a list of variables: { name, first, last, uses, places, is_set }, and all other
--                                      names that are used as variables, by name: the globals: { places, is_set }
--   lua_scopes.home(outer, places)     where something has to stand that all of them want
--   lua_scopes.function_around(place)  which function a place is in
--
-- A variable can be seen from the token number `first` to before `last`; `uses` are the tokens that are its name. The
-- names of fields, methods and of keys in tables are neither. The parser below follows the grammar of the manual. It
-- takes texts that Lua takes; of others it finds some faults and not all.
--
-- places: of each use, but not where a variable is declared: { at, blocks }: the token's number, and what is around it
-- from the inside out: { scope, statement }, the token where the statement in that scope begins. A scope is_loop, or
-- is_function, and that has a count of variables. is_set: the text gives it, or a field of it, another value.
-- Of a "local function" there is its statement: { scope, first, behind }: its first token, and the one behind it.

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

function parser:open(kind)
    self.scope = { outer = self.scope, by_name = {}, variables = {}, is_loop = kind == "loop",
                   is_function = kind == "function", count = 0 }
end

function parser:close()
    for _, variable in ipairs(self.scope.variables) do variable.last = self.at end
    self.scope = self.scope.outer
end

function parser:function_scope()
    local scope = self.scope
    while not scope.is_function do scope = scope.outer end
    return scope
end

-- From here to the end of the scope these names are variables.
function parser:declare(tokens)
    local owner = self:function_scope()
    owner.count = owner.count + #tokens
    for _, token in ipairs(tokens) do
        local variable = { name = token.text, first = self.at, uses = { token }, places = {}, is_set = false }
        table.insert(self.variables, variable)
        table.insert(self.scope.variables, variable)
        self.scope.by_name[token.text] = variable
    end
end

function parser:use(token)
    local scope = self.scope
    while scope and not scope.by_name[token.text] do scope = scope.outer end
    local used = scope and scope.by_name[token.text] or self.globals[token.text]
    if not used then
        used = { uses = {}, places = {}, is_set = false }
        self.globals[token.text] = used
    end
    table.insert(used.uses, token)
    table.insert(used.places, { at = self.at - 1, blocks = self:blocks_around() })
    self.used_at[self.at - 1] = used
end

function parser:blocks_around()
    local blocks, scope = {}, self.scope
    while scope do
        table.insert(blocks, { scope = scope, statement = scope.statement })
        scope = scope.outer
    end
    return blocks
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
    self:open("function")
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
    self:scoped_block("loop")
    self:take("end")
end

-- What the block declares can be seen in the condition.
statements["repeat"] = function(self)
    self:open("loop")
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
    self:open("loop")
    self:declare(names)
    self:function_scope().count = self:function_scope().count + 3 -- that only Lua sees
    self:block()
    self:close()
    self:take("end")
end

statements["function"] = function(self)
    local parameters = {}
    local first = self.at
    self:use(self:take_name())
    while self:accept(".") do self:take_name() end
    self:note_set(first)
    if self:accept(":") then
        self:take_name()
        table.insert(parameters, { kind = "name", text = "self" })
    end
    self:body(parameters)
end

-- A function can call itself; any other variable can first be seen in the next statement.
statements["local"] = function(self)
    if self:accept("function") then
        local first = self.at - 2
        self:declare({ self:take_name() })
        local variable = self.variables[#self.variables]
        self:body({})
        variable.statement = { scope = self.scope, first = first, behind = self.at }
        return
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

-- What is given a value, or a field of it, begins with this token.
function parser:note_set(first)
    while self.tokens[first].text == "(" do first = first + 1 end
    if self.used_at[first] then self.used_at[first].is_set = true end
end

function parser:call_or_assignment()
    local firsts = {}
    repeat
        table.insert(firsts, self.at)
        self:expression()
    until not self:accept(",")
    if not self:accept("=") then return end
    for _, first in ipairs(firsts) do self:note_set(first) end
    self:expressions()
end

function parser:statement()
    local token = self.tokens[self.at]
    if statements[token.text] then
        self:skip()
        statements[token.text](self)
    else
        self:call_or_assignment()
    end
    self:accept(";")
end

function parser:block()
    while self.at <= #self.tokens and not self:is_in(ends_block) do
        self.scope.statement = self.at
        self:statement()
    end
end

function parser:scoped_block(kind)
    self:open(kind)
    self:block()
    self:close()
end

local lua_scopes = { keywords = keywords }

function lua_scopes.find(tokens, what)
    local self = { tokens = tokens, what = what, at = 1, variables = {}, globals = {}, used_at = {} }
    setmetatable(self, parser):scoped_block("function")
    if self.at <= #tokens then self:fail("a statement") end
    return self.variables, self.globals
end

-- The blocks from the outer one to the innermost around the place that runs no more often than the outer one does.
local function blocks_within(outer, place)
    local blocks = {}
    for _, block in ipairs(place.blocks) do
        local is_outer = block.scope == outer
        local is_again = block.scope.is_loop or block.scope.is_function
        if is_again and not is_outer then blocks = {} else table.insert(blocks, 1, block) end
        if is_outer then return blocks end
    end
end

-- Where something has to stand that is wanted at all these places: { scope, statement }, the smallest block within the
-- outer one that has all of them and runs once when that does, and the first statement in it that wants it.
function lua_scopes.home(outer, places)
    local common = blocks_within(outer, places[1])
    for _, place in ipairs(places) do
        local blocks = blocks_within(outer, place)
        while not blocks[#common] or blocks[#common].scope ~= common[#common].scope do table.remove(common) end
    end
    return common[#common]
end

-- The function that a place is in, by its scope, and whether it is in a loop there.
function lua_scopes.function_around(place)
    local is_repeated = false
    for _, block in ipairs(place.blocks) do
        is_repeated = is_repeated or block.scope.is_loop
        if block.scope.is_function then return block.scope, is_repeated end
    end
end

return lua_scopes
