-- check_scripts.lua -- that what premake makes of a Lua text means the same: cases, faults, and each script of sdk/src
-- by its byte code; and what it reads of heads. For check_scripts.sh, by premake's own Lua: an action ends with an
-- error that says what is wrong.

local premake_folder = "../../sdk/premake/"
local generated = path.getabsolute("../../build/generated/scripts")
local minify = dofile(premake_folder .. "minify.lua")
local lua_constants = dofile(premake_folder .. "lua_constants.lua")
local lua_functions = dofile(premake_folder .. "lua_functions.lua")
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

-- { what, source, the text that is wanted; nil: the source's }. N times "f(x)" stands for "f(x), f(x), ...".
local function times(count, text) return (text .. ", "):rep(count):sub(1, -3) end

local locals_cases = {
    { "four uses", "return " .. times(4, "string.rep('a', 2)") },
    { "five uses", "local x = 1 return " .. times(5, "string.rep('a', x)"),
      "local x = 1\nlocal string_rep = string.rep\nreturn " .. times(5, "string_rep('a', x)") },
    { "several at one place", "return " .. times(5, "type(math.max(1, 2))"),
      "local type_, math_max = type, math.max\nreturn " .. times(5, "type_(math_max(1, 2))") },
    { "in a loop", "local t = {1, 2} for i = 1, 2 do t = {" .. times(3, "math.max(t[1], i)") .. "} end return t[1]",
      "local t = {1, 2}\nlocal math_max = math.max\nfor i = 1, 2 do t = {" .. times(3, "math_max(t[1], i)") ..
      "} end return t[1]" },
    { "what a loop begins with", "local x for i, v in ipairs({" .. times(4, "type(1)") .. "}) do x = v end return x" },
    { "a condition of a loop", "local x repeat x = {" .. times(3, "type(1)") .. "} until x return #x",
      "local x\nlocal type_ = type\nrepeat x = {" .. times(3, "type_(1)") .. "} until x return #x" },
    { "a block", "local x, y if x then return 1 end do if not x then\ny = {" .. times(5, "type(1)") .. "} end\n" ..
      "end return #y",
      "local x, y if x then return 1 end do if not x then\nlocal type_ = type\ny = {" .. times(5, "type_(1)") ..
      "} end\nend return #y" },
    { "two blocks", "local x, y if x then y = {" .. times(3, "type(1)") .. "} else y = {" .. times(3, "type(2)") ..
      "} end return #y",
      "local x, y\nlocal type_ = type\nif x then y = {" .. times(3, "type_(1)") .. "} else y = {" ..
      times(3, "type_(2)") .. "} end return #y" },
    { "a condition", "local x, y if x then y = {" .. times(4, "type(1)") .. "} elseif type(x) == 'nil' then y = {}\n" ..
      "end return #y",
      "local x, y\nlocal type_ = type\nif x then y = {" .. times(4, "type_(1)") ..
      "} elseif type_(x) == 'nil' then y = {}\nend return #y" },
    { "each function its own", "local function f(a) return " .. times(5, "math.max(a, 1)") .. " end\n" ..
      "local function g() return math.max(1, 1) end return f(1), " .. times(5, "math.max(1, 2)"),
      "local function f(a)\nlocal math_max = math.max\nreturn " .. times(5, "math_max(a, 1)") .. " end\n" ..
      "local function g() return math.max(1, 1) end\nlocal math_max = math.max\n" ..
      "return f(1), " .. times(5, "math_max(1, 2)") },
    { "a loop around a function",
      "local f for i = 1, 2 do f = function() return " .. times(4, "math.max(i, 1)") .. " end end return f()" },
    { "a variable of the name", "local s = {" .. times(5, "string.rep('a', 1)") .. "}\n" ..
      "local string = {rep = function() return 'c' end} return s[1], " .. times(5, "string.rep('d', 1)"),
      "local string_rep = string.rep\nlocal s = {" .. times(5, "string_rep('a', 1)") .. "}\n" ..
      "local string = {rep = function() return 'c' end} return s[1], " .. times(5, "string.rep('d', 1)") },
    { "parameters of the name", "local function f(ARGV, type) return " .. times(5, "type(ARGV)") .. " end\n" ..
      "return f(2, type)" },
    { "given a value", "local old = type type = function() return 'a' end local x = {" .. times(5, "type(1)") ..
      "} type = old return x[1]" },
    { "a field given a value", "local old, x = math.max\nx, (math).max = 1, function() return 9 end\n" ..
      "local y = {" .. times(5, "math.max(1, 2)") .. "} math.max = old return y[1]" },
    { "a function of a library", "function string.mine(x) return x end return " .. times(5, "string.mine(1)") },
    { "names that are taken", "local type_ = type(1) return type_, ({tostring_ = 1}).tostring_, " ..
      times(4, "type(2)") .. ", " .. times(5, "tostring(1)"),
      "local type__ = type\nlocal type_ = type__(1)\nlocal tostring__ = tostring\n" ..
      "return type_, ({tostring_ = 1}).tostring_, " .. times(4, "type__(2)") .. ", " .. times(5, "tostring__(1)") },
    { "fields and keys of the name",
      "local t = {type = 1, string = {rep = 2}} return " .. times(5, "t.type, t.string.rep") },
    { "a bracket behind it", "local x = 1; (type)(x) return " .. times(4, "type(x)"),
      "local x = 1;\nlocal type_ = type;\n(type_)(x) return " .. times(4, "type_(x)") },
    { "a library as it is", "local s, t = string, string return s == t, s.rep('a', 1), " .. times(3, "string") },
}

local constants_cases = {
    { "one", "local MOST = 7 return 1 + MOST, -MOST, MOST .. ''", "return 1 + 7, -7, 7 .. ''" },
    { "several", "local A, B = 0x1F, 2.5; local C = 3\nreturn A * B + C", "return 0x1F * 2.5 + 3" },
    { "in a function", "local A = 1 local function f(B) local C = 2 return A + B + C end return f(A)",
      "local function f(B) return 1 + B + 2 end return f(1)" },
    { "given a value", "local a, b = 1, 2 b = 3 local function f() a = 4 end f() return a, b" },
    { "a function's name", "local f = 1 function f() return 2 end return f()" },
    { "no number", "local a, b = 1, 'x' local c local d, e = 1 return a, b, c, d, e" },
    { "a number and more", "local a = 1 + 2 local b = 1 .. 'x' local c = 1 or 2 return a, b, c" },
    { "too many numbers", "local a = 1, 2 return a" },
    { "a loop", "local s = '' for i = 1, 2 do s = s .. i end return s" },
    { "one in another's place", "local A = 1 do local A = 2 B = A end return A, B", "do B = 2 end return 1, B" },
    { "fields and keys of the name", "local A = 1 local t = {A = 2, [A] = A} return t.A, t[1]",
      "local t = {A = 2, [1] = 1} return t.A, t[1]" },
    { "what looks like a call", "local a = 1;\n(type)(a) return a", "(type)(1) return 1" },
}

local functions_cases = {
    { "past who leaves", "local x = 1 local function f() return x end\nif x == 2 then return 3 end\nreturn f()",
      "local x = 1\nif x == 2 then return 3 end\nlocal function f() return x end\nreturn f()" },
    { "where nobody leaves", "local x = 1 local function f() return x end x = 2 return f()" },
    { "into a block", "local x, y = 1 local function f() return x end\nif x == 1 then y = f() end return y",
      "local x, y = 1\nif x == 1 then\nlocal function f() return x end\ny = f() end return y" },
    { "into no loop", "local s = 0 local function f() return 1 end for i = 1, 2 do s = s + f() end return s" },
    { "for another function", "local x local function f() return 1 end\nlocal function g() return f() end\n" ..
      "if x then return 2 end return g()",
      "local x\nif x then return 2 end\nlocal function f() return 1 end\nlocal function g() return f() end\n" ..
      "return g()" },
    { "one that calls itself", "local x local function f(n) return n < 2 and 1 or n * f(n - 1) end\n" ..
      "if x then return 2 end return f(5)",
      "local x\nif x then return 2 end\nlocal function f(n) return n < 2 and 1 or n * f(n - 1) end\nreturn f(5)" },
    { "what it knows by another variable",
      "local x, y = 1 local function f() return x end if y then return end local x = 2 return f(), x" },
    { "what would be a variable",
      "local y local function f() return type(1) end if y then return end local type = 2 return f(), type" },
    { "a parameter of the name",
      "local y local function f(a) return a end if y then return end local a = 2 return f(a)" },
    { "given a value", "local y local function f() return 1 end if y then return end f = type return f(1)" },
    { "not used", "local function f() return 1 end return 2" },
    { "a bracket behind it", "local y, x = nil, type local function f() return 1 end\n(x)(1) if y then return end\n" ..
      "return f()" },
    { "what it changes",
      "local x, y = 1 local function f() x = x + 1 return x end\nif y then return end x = 5 return f(), x",
      "local x, y = 1\nif y then return end x = 5\nlocal function f() x = x + 1 return x end\nreturn f(), x" },
}

-- So many that Lua would not take more of them.
local function full_function()
    local lines = {}
    for i = 1, 190 do lines[i] = string.format("local p%d = %d", i, i) end
    return table.concat(lines, "\n") .. "\nreturn " .. times(6, "type(p1)")
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

local function check_quick(cases_of, make)
    local failures = {}
    for _, case in ipairs(cases_of) do
        local what, source, wanted = case[1], case[2], case[3] or case[2]
        local text = make(source, what)
        if text ~= wanted .. "\n" then table.insert(failures, what .. ": " .. text) end
        if values_of(text) ~= values_of(source) then
            table.insert(failures, what .. ": " .. values_of(text) .. " and not " .. values_of(source))
        end
    end
    report(failures)
end

local function check_locals()
    table.insert(locals_cases, { "a function that is full", full_function() })
    check_quick(locals_cases, lua_locals.add)
end

local function check_constants() check_quick(constants_cases, lua_constants.put) end
local function check_functions() check_quick(functions_cases, lua_functions.move) end

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
newaction { trigger = "constants", description = "Numbers for variables", execute = check_constants }
newaction { trigger = "functions", description = "Functions that move", execute = check_functions }
newaction { trigger = "locals", description = "Locals for libraries", execute = check_locals }
newaction { trigger = "faults", description = "Texts that are no Lua", execute = check_faults }
newaction { trigger = "heads", description = "What heads of scripts say", execute = check_heads }
newaction { trigger = "code", description = "The byte code of all scripts", execute = check_code }
