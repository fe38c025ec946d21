-- check_scripts.lua -- that what premake makes of a Lua text means the same: cases, faults, and each script of sdk/src
-- by its byte code; and what it reads of heads. For check_scripts.sh, by premake's own Lua: an action ends with an
-- error that says what is wrong.

local premake_folder = "../../sdk/premake/"
local generated = path.getabsolute("../../build/generated/scripts")
local minify = dofile(premake_folder .. "minify.lua")
local lua_locals = dofile(premake_folder .. "lua_locals.lua")
local disk = dofile(premake_folder .. "disk.lua")
local heads = dofile(premake_folder .. "heads.lua")

-- { what, source, the least text that is wanted; nil: any that does the same }
local cases = {
    { "comments and blanks", "-- a\nlocal x  =  1 -- b\n\n   --\nreturn x", "local a=1\nreturn a" },
    { "long comments", "--[[ x\ny ]] return --[==[ ]] ]==] 1 --[[z]]", "return 1" },
    { "a comment that only looks long", "--[ x\n--[=x\nreturn 1", "return 1" },
    { "long strings", "return [[ a -- b\n\n  c ]] .. [==[ ]] ]==]", "return[[ a -- b\n\n  c ]]..[==[ ]] ]==]" },
    { "escapes", [[return "a\"b" .. 'it\'s' .. "\\" .. "-- \'" .. '\065']],
      [[return"a\"b"..'it\'s'.."\\".."-- \'"..'\065']] },
    { "a string over two lines", "return 'a\\\n  b'", "return'a\\\n  b'" },
    { "numbers beside dots", "return 1 .. 2 .. .5 .. 0x1F .. 3e-2 .. 1. .. ''",
      "return 1 ..2 .. .5 ..0x1F ..3e-2 ..1. ..''" },
    { "numbers beside words", "return 1 and 0x1f or 2", "return 1 and 0x1f or 2" },
    { "minus minus", "local x = 1 return 3 - -x, - - x, -(-x)", "local a=1 return 3- -a,- -a,-(-a)" },
    { "brackets in brackets", "local t = {} t[ [[k]] ] = 1 return t[ [[k]] ]",
      "local a={}a[ [[k]]]=1 return a[ [[k]]]" },
    { "signs", "local x, y = 1, 2 return x <= y, x ~= y, x == y, x >= y, x < y, 2 ^ #'ab' % 3 / 4 * -1",
      "local a,b=1,2 return a<=b,a~=b,a==b,a>=b,a<b,2^#'ab'%3/4*-1" },
    { "semicolons", "local x = 1; local y = 2; return x + y;", "local a=1;local b=2;return a+b;" },
    { "globals", "b = 5 local one, two = 1, 2 return one + two + b, c", "b=5 local a,d=1,2 return a+d+b,c" },
    { "shadowing", "local x = 1 do local x = x + 1 y = x end return x, y",
      "local a=1 do local b=a+1 y=b end return a,y" },
    { "a variable of itself", "local x = 1 local x = x + 1 return x", "local a=1 local b=a+1 return b" },
    { "a variable of a global", "x = 3 local x = x return x", "x=3 local a=x return a" },
    { "blocks beside each other", "local s = 0 do local x = 1 s = s + x end do local y = 2 s = s + y end return s",
      "local a=0 do local b=1 a=a+b end do local b=2 a=a+b end return a" },
    { "a function that calls itself", "local function f(n) return n < 2 and 1 or n * f(n - 1) end return f(5)",
      "local function b(a)return a<2 and 1 or a*b(a-1)end return b(5)" },
    { "a function that is not itself yet", "f = 'g' local f = function() return f end return f()",
      "f='g'local a=function()return f end return a()" },
    { "closures", "local function counter() local n = 0 return function() n = n + 1 return n end end\n" ..
      "local one, two = counter(), counter() one() return one(), two()" },
    { "parameters",
      "local function f(a, b, ...) local c = select('#', ...) return a, b, c, (...) end return f(1, 2, 3, 4)" },
    { "a tail of any length",
      "local function all(...) return {...}, select(2, ...) end return (all(1)), all(1, 2, 3)" },
    { "methods", "local object = {n = 2} function object:twice(more) return self.n * 2 + more end\n" ..
      "return object:twice(1)",
      "local a={n=2}function a:twice(b)return self.n*2+b end\nreturn a:twice(1)" },
    { "fields", "local t = {} function t.f(x) return x end t.x = 1 return t.f(t.x), t['x'], t.f",
      "local a={}function a.f(b)return b end a.x=1 return a.f(a.x),a['x'],a.f" },
    { "keys in tables", "local key = 'k' local t = {key = 1, [key] = 2, key; n = key,} return t.key, t.k, t[1], t.n",
      "local b='k'local a={key=1,[b]=2,b;n=b,}return a.key,a.k,a[1],a.n" },
    { "calls without brackets",
      "local function id(x) return x end return id'a', id[[b]], id{1}[1], ('x'):rep(3), id{n=2}.n",
      "local function a(b)return b end return a'a',a[[b]],a{1}[1],('x'):rep(3),a{n=2}.n" },
    { "repeat", "local n = 0 repeat local done = n > 3 n = n + 1 until done return n",
      "local a=0 repeat local b=a>3 a=a+1 until b return a" },
    { "loops", "local s = 0 for i = 1, 3 do for i, v in ipairs({i, 10}) do s = s + v * i end end\n" ..
      "for i = 9, 1, -2 do if i < 4 then break end s = s + i end while s < 100 do s = s * 2 end return s" },
    { "branches", "local function f(x) if x == 1 then local y = 1 return y elseif x == 2 then local y = 2 return y\n" ..
      "else local z = 3 return z end end return f(1), f(2), f(3)" },
    { "nothing returned", "local function f() return end local function g() do return end end f() g()" },
    { "assignments", "local x, y, t = 1, 2, {} x, y, t.z, t[1] = y, x, 3, 4 return x, y, t.z, t[1]" },
    { "kept names", "local KEYS, ARGV, redis = {1}, {2}, 3 return KEYS[1] + ARGV[1] + redis",
      "local KEYS,ARGV,redis={1},{2},3 return KEYS[1]+ARGV[1]+redis" },
    { "not called by their names", "local print = function(x) return x end return print(1), string.rep('a', 2)",
      "local a=function(a)return a end return a(1),string.rep('a',2)" },
    { "lines end where they ended", "local x = 1\nlocal y = 2\n\nreturn x + y", "local a=1\nlocal b=2\nreturn a+b" },
}

-- More variables at once than there are letters, so that short names meet keywords; Lua takes 200 in a function.
local function many_variables()
    local lines = {}
    for _, letter in ipairs({ "p", "q" }) do
        for i = 1, 150 do table.insert(lines, string.format("local %s%d = %d", letter, i, i)) end
        if letter == "p" then table.insert(lines, "local function inner()") end
    end
    return table.concat(lines, "\n") .. "\nreturn q1 + q150 - p150 + p149 end\nreturn inner() + p2"
end

-- { what, source, the text that is wanted }
local quick_cases = {
    { "once", "return string.rep('a', 2) .. tostring(1)", "return string.rep('a', 2) .. tostring(1)" },
    { "twice", "local x = 1 return string.rep('a', 2), string.rep('b', x)",
      "local x = 1\nlocal string_rep = string.rep\nreturn string_rep('a', 2), string_rep('b', x)" },
    { "several at one place", "return type(math.max(1, 2)), type(math.max(3, 4))",
      "local type_, math_max = type, math.max\nreturn type_(math_max(1, 2)), type_(math_max(3, 4))" },
    { "in a loop", "local t = {1, 2} for i = 1, 2 do t[i] = math.max(t[i], 2) end return t[1]",
      "local t = {1, 2}\nlocal math_max = math.max\nfor i = 1, 2 do t[i] = math_max(t[i], 2) end return t[1]" },
    { "what a loop begins with",
      "local x for i, v in ipairs({1}) do x = v end repeat until math.max(1, 2) == 2 return x",
      "local x for i, v in ipairs({1}) do x = v end\nlocal math_max = math.max\n" ..
      "repeat until math_max(1, 2) == 2 return x" },
    { "a block", "local x, y if x then return 1 end do if not x then\n" ..
      "y = #string.rep('a', 1) y = y + #string.rep('b', 1) end\nend return y",
      "local x, y if x then return 1 end do if not x then\nlocal string_rep = string.rep\n" ..
      "y = #string_rep('a', 1) y = y + #string_rep('b', 1) end\nend return y" },
    { "two blocks", "local x, y if x then y = type(1) else y = type('') end return y",
      "local x, y\nlocal type_ = type\nif x then y = type_(1) else y = type_('') end return y" },
    { "a condition", "local y if x then y = 1 elseif type(x) == 'nil' then y = type(1) end return y",
      "local y\nlocal type_ = type\nif x then y = 1 elseif type_(x) == 'nil' then y = type_(1) end return y" },
    { "each function its own",
      "local function f(a) return math.max(a, 1) + math.max(a, 2) end " ..
      "local function g() return math.max(1, 1) end\n" ..
      "return f(math.max(1, 2)), g(math.max(1, 3))",
      "local function f(a)\nlocal math_max = math.max\nreturn math_max(a, 1) + math_max(a, 2) end " ..
      "local function g() return math.max(1, 1) end\nlocal math_max = math.max\n" ..
      "return f(math_max(1, 2)), g(math_max(1, 3))" },
    { "a loop around a function", "local f for i = 1, 2 do f = function() return math.max(i, 1) end end return f()",
      "local f for i = 1, 2 do f = function() return math.max(i, 1) end end return f()" },
    { "a variable of the name", "local s = string.rep('a', 1) .. string.rep('b', 1)\n" ..
      "local string = {rep = function() return 'c' end} return s .. string.rep('d', 1) .. string.rep('e', 1)",
      "local string_rep = string.rep\nlocal s = string_rep('a', 1) .. string_rep('b', 1)\n" ..
      "local string = {rep = function() return 'c' end} return s .. string.rep('d', 1) .. string.rep('e', 1)" },
    { "parameters of the name", "KEYS = 1 local function f(ARGV, type) return ARGV, ARGV, type(1), type(2) end\n" ..
      "return KEYS, KEYS, f(2, type)",
      "KEYS = 1 local function f(ARGV, type) return ARGV, ARGV, type(1), type(2) end\n" ..
      "return KEYS, KEYS, f(2, type)" },
    { "given a value",
      "local old = type type = function() return 'a' end local x = type(1) .. type(2) type = old return x",
      "local old = type type = function() return 'a' end local x = type(1) .. type(2) type = old return x" },
    { "a field given a value",
      "local old, x = math.max\nx, (math).max = 1, function() return 9 end\n" ..
      "local y = math.max(1, 2) math.max = old return y",
      "local old, x = math.max\nx, (math).max = 1, function() return 9 end\n" ..
      "local y = math.max(1, 2) math.max = old return y" },
    { "a function of a library", "function string.mine(x) return x end return string.mine(1), string.mine(2)",
      "function string.mine(x) return x end return string.mine(1), string.mine(2)" },
    { "names that are taken",
      "local type_ = type(1) return type_, type(2), ({tostring_ = 1}).tostring_, tostring(1), tostring(2)",
      "local type__ = type\nlocal type_ = type__(1)\nlocal tostring__ = tostring\n" ..
      "return type_, type__(2), ({tostring_ = 1}).tostring_, tostring__(1), tostring__(2)" },
    { "fields and keys of the name",
      "local t = {type = 1, string = {rep = 2}} return t.type, t.type, t.string.rep, t.string.rep",
      "local t = {type = 1, string = {rep = 2}} return t.type, t.type, t.string.rep, t.string.rep" },
    { "a bracket behind it", "local x = 1; (type)(x) return type(x)",
      "local x = 1;\nlocal type_ = type;\n(type_)(x) return type_(x)" },
    { "a library as it is", "local s, t = string, string return s == t, s.rep('a', 1)",
      "local s, t = string, string return s == t, s.rep('a', 1)" },
}

-- So many that Lua would not take more of them.
local function full_function()
    local lines = {}
    for i = 1, 190 do lines[i] = string.format("local p%d = %d", i, i) end
    return table.concat(lines, "\n") .. "\nreturn type(p1), type(p2), type(p3)"
end

-- { what, text }
local faults = {
    { "a string without an end", "return 'a" },
    { "a string over two lines", "return 'a\nb'" },
    { "a long string without an end", "return [==[ a ]=]" },
    { "a strange byte", "return @" },
    { "a block without an end", "if a then b()" },
    { "an end too many", "a() end" },
    { "a bracket too few", "return (a" },
    { "a number for a name", "local 1 = 2" },
    { "a table without an end", "return {a, b = 1" },
}

local good_head = [[
-- good: does what it does. A head of everything.
--
-- KEYS  1 gh:{a}:s   string   not 2, but
--                    7 things
--       2 :m, 3 :l   4 :p
--       5..7 :d0 .. :d2
--       [8] gh:epoch
-- ARGV  1 token     at most 3, 2 of them now
--       2 count
--       3, 4 ...    member, its id
-- reply sequence, code, now us, page text,
--       first id, seen ..., entries ...
--       code 0 done         3 of
--                           4 things
--            1 not there
--       page "a" all of it  or nearly
--            "b" none
--       first id is 2
--       or the error STALE
--
-- Sits in the sun, and has 9 lives.
local code = KEYS[8]
local function f() return {1} end
if a then return {sequence, 0, 1, 'a', 2} end
if b then return {sequence, 0, 1, unpack(c)} end
if c then return {err = 'STALE'} end
return {sequence, ARGV[9], {1, 2}, f(3, 4), 5, 6, 7}
]]

-- { what is put in its place, in place of what, what is to be said of it }: Lua patterns both
local bad_heads = {
    { "-- ARGV", "%-%- KEYS.-%-%- ARGV", "has no line '%-%- KEYS'" },
    { "-- argv", "%-%- ARGV", "has no line '%-%- ARGV'" },
    { "-- answer", "%-%- reply", "has no line '%-%- reply'" },
    { "-- reply x\n-- reply", "%-%- reply", "has 'reply' twice" },
    { "-- ARGV  none\n-- reply", "%-%- ARGV  1 token.-%-%- reply", "names no ARGV" },
    { "3 :m", "2 :m", "has '3 :m, 3 :l   4 :p' where KEYS 2 was to come" },
    { "6..7", "5%.%.7", "has '6..7 :d0 .. :d2' where KEYS 5 was to come" },
    { "5..4", "5%.%.7", "KEYS 4 comes before 5" },
    { "2count", "2 count", "has '2count' where ARGV 2 was to come" },
    { "[2] count", "2 count", "ARGV 3 comes after what may be left out" },
    { "2 ... rest", "2 count", "has '3, 4 ...    member, its id' where ARGV 2 was to come" },
    { "[3] ... member", "3, 4 %.%.%.", "ARGV 3 may be left out anyhow" },
    { "Code,", "code,", "has 'Code', which is no element" },
    { "page text; first", "page text,\n%-%-       first", "which is no element" },
    { "page text.", "page text", "which is no element" },
    { "as client/nothing.lua, code", "sequence, code", "whose head has none" },
    { "code 0 and 1 are as they are:", "code 0 done        ", "two blanks were to come" },
    { "code 0: done", "code 0 done        ", "has no number and name" },
    { "           1 not there", "            1 not there", "stands left of the words of its code" },
    { "            not there", "            1 not there", "two blanks were to come" },
    { "ARGV[1]\nlocal x = KEYS[9]", "KEYS%[8%]", "KEYS%[9%], and its head names 8" },
    { "return {sequence, 0}", "return {sequence, 0, 1, 'a', 2}", "returns 2 elements" },
    { "return {1, 2, 3, 4}", "return {err = 'STALE'}", "returns 4 elements" },
}

local load_text = loadstring or load

-- What the text returns, or does not take, in words.
local function values_of(text)
    local run, why = load_text(text)
    if not run then return "no Lua: " .. why end
    debug.sethook(function() error("it does not end") end, "", 1000000)
    local values = { pcall(run) }
    debug.sethook()
    for i = 1, 10 do values[i] = tostring(values[i]):gsub("^(%l+: )0?x?%x+$", "%1") end
    return table.concat(values, " ")
end

-- ---- byte code -----------------------------------------------------------------------------------------------------

-- Without names and lines. Lua 5.3 leaves most of that out itself; of 5.1, which the server has, it is cut out here.
--   the head: 12 bytes, for little-endian numbers of 4 bytes and sizes of 8
--   a function: name, 2 numbers, 4 bytes, instructions, constants, functions, lines, variables, names of outer ones
local function stripped_5_1(code)
    local at = 13
    local kept = {}
    local function number(size)
        local value = 0
        for i = size - 1, 0, -1 do value = value * 256 + code:byte(at + i) end
        at = at + size
        return value
    end
    local function keep(from) table.insert(kept, code:sub(from, at - 1)) end
    local function text() at = number(8) + at end
    local function many(each) for _ = 1, number(4) do each() end end
    local constants = {
        [0] = function() end, [1] = function() at = at + 1 end, [3] = function() at = at + 8 end, [4] = text
    }
    local function one()
        text()
        at = at + 8
        local from = at
        at = at + 4
        many(function() at = at + 4 end)
        many(function() constants[number(1)]() end)
        keep(from)
        many(one)
        many(function() at = at + 4 end)
        many(function() text() at = at + 8 end)
        many(text)
    end
    one()
    return table.concat(kept, "|")
end

-- On one line, because 5.3 keeps the lines of functions.
local function code_of(text)
    local code = string.dump(assert(load_text((text:gsub("\n", " ")))), true)
    return _VERSION == "Lua 5.1" and stripped_5_1(code) or code
end

-- ---- actions -------------------------------------------------------------------------------------------------------

local function report(failures)
    if #failures > 0 then error(table.concat(failures, "\n"), 0) end
end

local function check_case(what, source, wanted, failures)
    local least = minify.least(source, what)
    if wanted and least ~= wanted .. "\n" then table.insert(failures, what .. ": " .. least) end
    for _, text in ipairs({ least, minify.readable(source, what) }) do
        local value, value_wanted = values_of(text), values_of(source)
        if value ~= value_wanted then
            table.insert(failures, what .. ": " .. value .. " and not " .. value_wanted .. " of\n" .. text)
        end
    end
end

local function check_cases()
    local failures = {}
    for _, case in ipairs(cases) do check_case(case[1], case[2], case[3], failures) end
    check_case("many variables", many_variables(), nil, failures)
    report(failures)
end

local function check_quick()
    local failures = {}
    table.insert(quick_cases, { "a function that is full", full_function(), full_function() })
    for _, case in ipairs(quick_cases) do
        local what, source, wanted = case[1], case[2], case[3]
        local text = lua_locals.add(source, what)
        if text ~= wanted .. "\n" then table.insert(failures, what .. ": " .. text) end
        if values_of(text) ~= values_of(source) then
            table.insert(failures, what .. ": " .. values_of(text) .. " and not " .. values_of(source))
        end
    end
    report(failures)
end

local function check_faults()
    local failures = {}
    for _, fault in ipairs(faults) do
        local done, why = pcall(minify.least, fault[2], fault[1])
        if done then table.insert(failures, fault[1] .. " was taken") end
        if not done and not why:find(fault[1], 1, true) then table.insert(failures, fault[1] .. ": " .. why) end
    end
    report(failures)
end

-- What the head of a text says, checked against the text, or an error.
local function head_of(text)
    local file = os.tmpname()
    disk.write(file, text)
    local done, head = pcall(function()
        local head = heads.read(file)
        heads.check(file, head, text)
        return head
    end)
    os.remove(file)
    return done, head
end

local function items_in_words(items)
    return items.least .. " " .. items.more .. " " .. items.each
end

local function head_in_words(head)
    local words = { items_in_words(head.keys), items_in_words(head.arguments), heads.shape(head.reply) }
    for _, element in ipairs(head.reply.elements) do table.insert(words, element.name) end
    table.insert(words, head.reply.rest)
    for _, word in ipairs(head.reply.words) do
        table.insert(words, word.element .. "=" .. word.value .. "=" .. word.name)
    end
    return table.concat(words, ", ")
end

local function check_heads()
    local failures = {}
    local done, head = head_of(good_head)
    local words = done and head_in_words(head) or head
    local wanted = "7 1 0, 2 0 2, qinsi*, sequence, code, now_us, page, first_id, seen, code=0=done, " ..
        "code=1=not_there, page='a'=all_of_it, page='b'=none"
    if words ~= wanted then table.insert(failures, "a good head: " .. words) end
    for _, bad in ipairs(bad_heads) do
        local text, count = good_head:gsub(bad[2], function() return bad[1] end, 1)
        local is_taken, why = head_of(text)
        if count == 0 then table.insert(failures, "nothing is like " .. bad[2]) end
        if is_taken then table.insert(failures, bad[1] .. " was taken") end
        if not is_taken and not why:find(bad[3]) then table.insert(failures, bad[1] .. ": " .. why) end
    end
    report(failures)
end

-- Both texts of each script have the byte code of the file with its blanks as they were.
local function check_code()
    local failures, count = {}, 0
    for _, file in ipairs(disk.matching(generated .. "/readable/*.lua")) do
        local name = path.getname(file)
        local least = disk.read(generated .. "/least/" .. name)
        local readable = disk.read(file)
        if code_of(least) ~= code_of(readable) then table.insert(failures, name .. " has another byte code") end
        count = count + 1
    end
    if count < 20 then table.insert(failures, "only " .. count .. " scripts") end
    report(failures)
end

newaction { trigger = "cases", description = "Texts that are made smaller", execute = check_cases }
newaction { trigger = "quick", description = "Texts with locals of libraries", execute = check_quick }
newaction { trigger = "faults", description = "Texts that are no Lua", execute = check_faults }
newaction { trigger = "heads", description = "What heads of scripts say", execute = check_heads }
newaction { trigger = "code", description = "The byte code of all scripts", execute = check_code }
