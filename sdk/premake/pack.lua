-- pack.lua -- texts in fewer bytes, in two ways. What stands beside each other most often, in all texts, becomes one
-- code, which may be half of a pair again. And what a group of texts says twice is there once: later places say where.
--
--   pack(groups)   groups: lists of texts. Returns the packed groups, the codes and the widths:
--                    groups  { bytes, place_bits, texts = { { at, count }, ... } }: the byte where each text begins,
--                            and of how many numbers it is
--                    codes   { left, right }, of which right is nil where the code is a byte of the text
--                    widths  of the eight kinds of numbers
--
-- sdk/src/client/script_text.h has how a group is written, and script_text.c takes it apart again.

local first_pair = 256
local pairs_max = 900  -- each is three bytes in every program, also in one that has a single system
local least_count = 4  -- a pair that is there less often costs more than it saves
local depth_max = 32   -- of pairs in pairs: script_text.c has so much room
local nested_max = 8   -- of places in places: script_text.c calls itself so often
local run_least = 3    -- symbols, which are said to stand elsewhere
local kinds = 8        -- of numbers, each with a width of its own
local kind_bits = 3
local width_max = 10
local tries_max = 100  -- earlier places that are looked at
local rounds = 2       -- what a symbol costs is known from the round before

-- ---- pairs ---------------------------------------------------------------------------------------------------------

-- All texts in one row of symbols. 0 stands between two, and is in no pair. Where a pair became a code, the place of
-- its right half is empty: `before` and `behind` lead over it.
local row = {}
row.__index = row

local function new_row(groups)
    local self = setmetatable({ symbols = {}, before = {}, behind = {}, counts = {}, places = {} }, row)
    for _, texts in ipairs(groups) do
        for _, text in ipairs(texts) do
            for i = 1, #text do table.insert(self.symbols, text:byte(i)) end
            table.insert(self.symbols, 0)
        end
    end
    for i = 1, #self.symbols do
        self.before[i], self.behind[i] = i - 1, i + 1
    end
    for i = 1, #self.symbols - 1 do self:note(i) end
    return self
end

-- The pair that begins at a place, as a number; nil: there is none.
function row:pair_at(place)
    local left, right = self.symbols[place], self.symbols[self.behind[place]]
    if left and right and left ~= 0 and right ~= 0 then return left * 4096 + right end
end

function row:note(place)
    local pair = self:pair_at(place)
    if not pair then return end
    self.counts[pair] = (self.counts[pair] or 0) + 1
    self.places[pair] = self.places[pair] or {}
    table.insert(self.places[pair], place)
end

function row:forget(place)
    local pair = self:pair_at(place)
    if pair and self.counts[pair] then self.counts[pair] = self.counts[pair] - 1 end
end

-- The smallest of those that are there most often, so that each build chooses the same.
function row:most_frequent()
    local best, most = nil, 0
    for pair, count in pairs(self.counts) do
        if count > most or (count == most and best and pair < best) then best, most = pair, count end
    end
    return best
end

-- From here on the pair at this place is the code.
function row:join(place, code)
    local left, right = self.before[place], self.behind[place]
    if left > 0 then self:forget(left) end
    self:forget(right)
    self.symbols[place], self.symbols[right] = code, nil
    self.behind[place] = self.behind[right]
    self.before[self.behind[right]] = place
    if left > 0 then self:note(left) end
    self:note(place)
end

function row:replace(pair, code)
    local places = self.places[pair]
    self.counts[pair], self.places[pair] = nil, nil
    for _, place in ipairs(places) do
        if self.symbols[place] and self:pair_at(place) == pair then self:join(place, code) end
    end
end

-- The pairs, in the order in which they were made.
local function learn(self)
    local pairs_made = {}
    for i = 1, pairs_max do
        local pair = self:most_frequent()
        if not pair or self.counts[pair] < least_count then break end
        self:replace(pair, first_pair + i - 1)
        table.insert(pairs_made, { math.floor(pair / 4096), pair % 4096 })
    end
    return pairs_made
end

-- The texts as lists of symbols, in groups as they came.
local function texts_of(self, groups)
    local lists, place = {}, 1
    for i, texts in ipairs(groups) do
        lists[i] = {}
        for j = 1, #texts do
            local list = {}
            while self.symbols[place] ~= 0 do
                table.insert(list, self.symbols[place])
                place = self.behind[place]
            end
            lists[i][j] = list
            place = self.behind[place]
        end
    end
    return lists
end

-- How many codes wait, at most, while one is taken apart.
local function check_depth(pairs_made)
    local depths = {}
    for i, pair in ipairs(pairs_made) do
        local depth = 1 + math.max(depths[pair[1]] or 0, depths[pair[2]] or 0)
        if depth > depth_max then error("packed scripts: pairs in pairs are too deep for C", 0) end
        depths[first_pair + i - 1] = depth
    end
end

-- ---- numbers -------------------------------------------------------------------------------------------------------

-- A number is a kind and so many bits more as numbers of this kind have: 0 and those behind it are of the first kind.
local function bits_of(number, widths)
    local first = 0
    for kind, width in ipairs(widths) do
        if number < first + 2 ^ width then return kind_bits + width, kind - 1, number - first, width end
        first = first + 2 ^ width
    end
    error("packed scripts: more codes than can be written", 0)
end

-- The widths that make all numbers shortest, of which each is there counts[number + 1] times.
local function best_widths(counts)
    local sums, known = { [0] = 0 }, {}
    for i, count in ipairs(counts) do sums[i] = sums[i - 1] + count end
    local function best(kind, from)
        if from >= #counts then return 0, 0, nil end
        if kind > kinds then return math.huge end
        local key = kind * 65536 + from
        if not known[key] then
            local least, least_width
            for width = 0, width_max do
                local to = math.min(#counts, from + 2 ^ width)
                local bits = (sums[to] - sums[from]) * (kind_bits + width) + best(kind + 1, to)
                if not least or bits < least then least, least_width = bits, width end
            end
            known[key] = { least, least_width }
        end
        return known[key][1], known[key][2]
    end
    local widths, from = {}, 0
    for kind = 1, kinds do
        local _, width = best(kind, from)
        widths[kind] = width
        from = from + 2 ^ width
    end
    return widths
end

-- The codes' numbers, 1 and so on, in the order of how often they are used. 0 says that a place follows. Codes that are
-- only parts of others have numbers, too.
local function rank(uses, pairs_made)
    local symbols, numbers, is_known = {}, {}, {}
    local function note(symbol)
        if is_known[symbol] then return end
        is_known[symbol] = true
        table.insert(symbols, symbol)
        for _, half in ipairs(pairs_made[symbol - first_pair + 1] or {}) do note(half) end
    end
    for symbol in pairs(uses) do note(symbol) end
    table.sort(symbols, function(a, b)
        if (uses[a] or 0) ~= (uses[b] or 0) then return (uses[a] or 0) > (uses[b] or 0) end
        return a < b
    end)
    for i, symbol in ipairs(symbols) do numbers[symbol] = i end
    return symbols, numbers
end

-- ---- places --------------------------------------------------------------------------------------------------------

-- A group, while it is cut into tokens: { symbol }, or { place = token, count }: so many tokens from there on stand
-- here, too. `starts` and `ends` have, of a symbol's place, the token that begins with it and that ends before it.
local function new_group()
    return { symbols = {}, tokens = {}, starts = {}, ends = {}, by_three = {} }
end

local function three_at(symbols, at)
    local a, b, c = symbols[at], symbols[at + 1], symbols[at + 2]
    if a and b and c and a > 0 and b > 0 and c > 0 then return a * 16777216 + b * 4096 + c end
end

-- How many symbols from `from` on are those that stand at `at`, and end where a token ends.
local function common_length(group, from, at)
    local symbols, length = group.symbols, run_least
    while from + length < at and symbols[at + length] and symbols[at + length] > 0 and
        symbols[from + length] == symbols[at + length] do
        length = length + 1
    end
    while length >= run_least and not group.ends[from + length] do length = length - 1 end
    return length
end

-- How deep places in places go, from these tokens on.
local function nested_in(group, first, count)
    local nested = 0
    for token = first, first + count - 1 do nested = math.max(nested, group.tokens[token].nested) end
    return nested + 1
end

-- The earlier place that saves most here: bits, symbols, its token and how many. 0: none does.
local function best_place(group, at, costs)
    local key = three_at(group.symbols, at)
    local places = key and group.by_three[key] or {}
    local most, best_length, best_token, best_count = 0, nil, nil, nil
    for i = #places, math.max(1, #places - tries_max), -1 do
        local from = places[i]
        local length = from + run_least <= at and common_length(group, from, at) or 0
        if length >= run_least then
            local first = group.starts[from]
            local count = group.ends[from + length] - first + 1
            local saved = costs.sums[at + length] - costs.sums[at] - costs.place - bits_of(count - 1, costs.widths)
            if saved > most and nested_in(group, first, count) <= nested_max then
                most, best_length, best_token, best_count = saved, length, first, count
            end
        end
    end
    return most, best_length, best_token, best_count
end

local function add_token(group, at, length, token)
    table.insert(group.tokens, token)
    group.starts[at], group.ends[at + length] = #group.tokens, #group.tokens
    local key = three_at(group.symbols, at)
    if not key then return end
    group.by_three[key] = group.by_three[key] or {}
    table.insert(group.by_three[key], at)
end

-- Puts a text's tokens to the group's. Returns the first and how many.
local function cut(group, list, costs)
    local at, first = #group.symbols + 1, #group.tokens + 1
    for _, symbol in ipairs(list) do
        table.insert(group.symbols, symbol)
        costs.sums[#group.symbols + 1] = costs.sums[#group.symbols] + costs.of(symbol)
    end
    local text_end = #group.symbols + 1
    table.insert(group.symbols, 0) -- no token goes over it
    costs.sums[text_end + 1] = costs.sums[text_end]
    while at < text_end do
        local saved, length, token, count = best_place(group, at, costs)
        if saved > 0 and best_place(group, at + 1, costs) > saved then saved = 0 end
        if saved > 0 then
            add_token(group, at, length, { place = token, count = count, nested = nested_in(group, token, count) })
        else
            length = 1
            add_token(group, at, 1, { symbol = group.symbols[at], nested = 0 })
        end
        at = at + length
    end
    return { first = first, count = #group.tokens - first + 1 }
end

local function cut_group(lists, cost_of, widths, place_bits)
    local group = new_group()
    local costs = { sums = { 0 }, of = cost_of, widths = widths, place = bits_of(0, widths) + place_bits }
    group.texts = {}
    for i, list in ipairs(lists) do group.texts[i] = cut(group, list, costs) end
    return group
end

-- ---- bits ----------------------------------------------------------------------------------------------------------

local function put(bits, value, width)
    for _ = 1, width do
        table.insert(bits, value % 2)
        value = math.floor(value / 2)
    end
end

local function put_number(bits, number, widths)
    local _, kind, rest, width = bits_of(number, widths)
    put(bits, kind, kind_bits)
    put(bits, rest, width)
end

-- In a byte the lowest bit comes first.
local function joined(bits)
    local bytes = {}
    for i = 1, #bits, 8 do
        local byte = 0
        for j = 7, 0, -1 do byte = byte * 2 + (bits[i + j] or 0) end
        table.insert(bytes, string.char(byte))
    end
    return table.concat(bytes)
end

local function written(group, numbers, widths, place_bits)
    local bits, where, texts = {}, {}, {}
    for i, text in ipairs(group.texts) do
        while #bits % 8 > 0 do table.insert(bits, 0) end
        texts[i] = { at = #bits / 8, count = text.count }
        for number = text.first, text.first + text.count - 1 do
            local token = group.tokens[number]
            where[number] = #bits
            if token.symbol then
                put_number(bits, numbers[token.symbol], widths)
            else
                put_number(bits, 0, widths)
                put(bits, where[token.place], place_bits)
                put_number(bits, token.count - 1, widths)
            end
        end
    end
    if #bits > 2 ^ place_bits then return nil end
    return { bytes = joined(bits), place_bits = place_bits, texts = texts }
end

-- ---- all of it -----------------------------------------------------------------------------------------------------

-- How often each symbol, and each number of tokens, is written.
local function uses_of(groups)
    local uses, places, counts = {}, 0, {}
    for _, group in ipairs(groups) do
        for _, token in ipairs(group.tokens) do
            if token.symbol then
                uses[token.symbol] = (uses[token.symbol] or 0) + 1
            else
                places = places + 1
                counts[token.count - 1] = (counts[token.count - 1] or 0) + 1
            end
        end
    end
    return uses, places, counts
end

local function widths_of(uses, places, counts, symbols)
    local all = { places + (counts[0] or 0) }
    for i, symbol in ipairs(symbols) do all[i + 1] = (uses[symbol] or 0) + (counts[i] or 0) end
    return best_widths(all)
end

return function(texts)
    local self = new_row(texts)
    local pairs_made = learn(self)
    check_depth(pairs_made)
    local lists = texts_of(self, texts)
    local groups, symbols, numbers
    local widths, place_bits = { 4, 5, 5, 6, 6, 7, 7, 8 }, 16
    local cost_of = function() return 9 end
    for _ = 1, rounds do
        groups = {}
        for i, list in ipairs(lists) do groups[i] = cut_group(list, cost_of, widths, place_bits) end
        local uses, places, counts = uses_of(groups)
        symbols, numbers = rank(uses, pairs_made)
        widths = widths_of(uses, places, counts, symbols)
        cost_of = function(symbol) return (bits_of(numbers[symbol] or #symbols, widths)) end
    end
    local packed = {}
    for i, group in ipairs(groups) do
        for bits = 12, 17 do
            packed[i] = packed[i] or written(group, numbers, widths, bits)
        end
        if not packed[i] then error("packed scripts: a system has more than C can reach", 0) end
    end
    local codes = {}
    for i, symbol in ipairs(symbols) do
        local pair = pairs_made[symbol - first_pair + 1]
        codes[i] = pair and { numbers[pair[1]] - 1, numbers[pair[2]] - 1 } or { symbol }
    end
    return packed, codes, widths
end
