-- pack.lua -- texts in fewer bytes, by pairs: what stands beside each other most often becomes one code, which may be
-- half of a pair again. Parts that several texts have in common become one code, or a few.
--
--   pack(texts)   the packed texts, { bytes, halves }, and the codes: { left, right }, of which right is nil where the
--                 code is a byte of the text
--
-- A code is its place in the order of how often it is used. The first 208 take two halves of a byte each, all others
-- three. sdk/src/client/script_text.h has how it is taken apart again.

local first_pair = 256
local pairs_max = 800  -- each is three bytes in every program, also in one that has a single system
local long = 13        -- a first half from here on: the code takes three
local least_count = 4  -- a pair that is there less often costs more than it saves
local depth_max = 32   -- of pairs in pairs: script_text.c has so much room

-- All texts in one row of symbols. 0 stands between two, and is in no pair. Where a pair became a code, the place of
-- its right half is empty: `before` and `behind` lead over it.
local row = {}
row.__index = row

local function new_row(texts)
    local self = setmetatable({ symbols = {}, before = {}, behind = {}, counts = {}, places = {} }, row)
    for _, text in ipairs(texts) do
        for i = 1, #text do table.insert(self.symbols, text:byte(i)) end
        table.insert(self.symbols, 0)
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

-- The symbols that are used, in texts or in pairs, in the order of how often; and the code of each, from 0 on.
local function ranks(self, pairs_made)
    local uses, symbols, codes = {}, {}, {}
    local function note(symbol, count)
        if not uses[symbol] then table.insert(symbols, symbol) end
        uses[symbol] = (uses[symbol] or 0) + count
    end
    for i, pair in ipairs(pairs_made) do
        note(first_pair + i - 1, 0)
        note(pair[1], 0)
        note(pair[2], 0)
    end
    for _, symbol in pairs(self.symbols) do
        if symbol ~= 0 then note(symbol, 1) end
    end
    table.sort(symbols, function(a, b)
        if uses[a] ~= uses[b] then return uses[a] > uses[b] end
        return a < b
    end)
    for i, symbol in ipairs(symbols) do codes[symbol] = i - 1 end
    if #symbols > long * 16 + (16 - long) * 256 then error("packed scripts: more codes than can be written", 0) end
    return symbols, codes
end

-- Puts the halves of a code into the list.
local function put_halves(halves, code)
    local rest = code - long * 16
    local front = rest < 0 and {} or { long + math.floor(rest / 256) }
    if rest >= 0 then code = rest % 256 end
    table.insert(front, math.floor(code / 16))
    table.insert(front, code % 16)
    for _, half in ipairs(front) do table.insert(halves, half) end
end

-- In a byte the lower half comes first.
local function joined(halves)
    local bytes = {}
    for i = 1, #halves, 2 do table.insert(bytes, string.char(halves[i] + (halves[i + 1] or 0) * 16)) end
    return { bytes = table.concat(bytes), halves = #halves }
end

local function packed_texts(self, codes)
    local texts, halves, place = {}, {}, 1
    while self.symbols[place] do
        local symbol = self.symbols[place]
        if symbol == 0 then
            table.insert(texts, joined(halves))
            halves = {}
        else
            put_halves(halves, codes[symbol])
        end
        place = self.behind[place]
    end
    return texts
end

local function meanings(symbols, codes, pairs_made)
    local list = {}
    for i, symbol in ipairs(symbols) do
        local pair = pairs_made[symbol - first_pair + 1]
        list[i] = pair and { codes[pair[1]], codes[pair[2]] } or { symbol }
    end
    return list
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

return function(texts)
    local self = new_row(texts)
    local pairs_made = learn(self)
    local symbols, codes = ranks(self, pairs_made)
    check_depth(pairs_made)
    return packed_texts(self, codes), meanings(symbols, codes, pairs_made)
end
