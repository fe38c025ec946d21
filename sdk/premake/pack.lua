-- pack.lua -- texts in fewer bytes, by pairs: what stands beside each other most often becomes one code, which may be
-- half of a pair again.
--
--   pack(texts)   the packed texts, and the pairs: { left code, right code } of code 128, 129, ...
--
-- A code below 128 is that byte. Those from 128 to 254 are a byte each; one from 255 on is the byte 255 and a byte that
-- says how much more than 255 it is. sdk/src/client/script_text.h has how it is taken apart again.

local first_code, lead, last_code = 128, 255, 255 + 255
local least_count = 4 -- a pair that is there less often costs more than it saves
local depth_max = 32  -- of pairs in pairs: script_text.c has so much room

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
    if left and right and left ~= 0 and right ~= 0 then return left * 1024 + right end
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
    for code = first_code, last_code do
        local pair = self:most_frequent()
        if not pair or self.counts[pair] < least_count then break end
        self:replace(pair, code)
        table.insert(pairs_made, { math.floor(pair / 1024), pair % 1024 })
    end
    return pairs_made
end

-- The place of each code in the order of how often it is in the texts: the first ones will be one byte.
local function ranks(self, count)
    local uses, codes, ranked = {}, {}, {}
    for i = 1, count do
        codes[i] = first_code + i - 1
        uses[codes[i]] = 0
    end
    for _, symbol in pairs(self.symbols) do
        if uses[symbol] then uses[symbol] = uses[symbol] + 1 end
    end
    table.sort(codes, function(a, b)
        if uses[a] ~= uses[b] then return uses[a] > uses[b] end
        return a < b
    end)
    for i, code in ipairs(codes) do ranked[code] = first_code + i - 1 end
    return ranked
end

local function bytes_of(symbol)
    return symbol < lead and string.char(symbol) or string.char(lead, symbol - lead)
end

local function packed_texts(self, ranked)
    local texts, bytes, place = {}, {}, 1
    while self.symbols[place] do
        local symbol = self.symbols[place]
        if symbol == 0 then
            table.insert(texts, table.concat(bytes))
            bytes = {}
        else
            table.insert(bytes, bytes_of(ranked[symbol] or symbol))
        end
        place = self.behind[place]
    end
    return texts
end

local function ranked_pairs(pairs_made, ranked)
    local sorted = {}
    for i, pair in ipairs(pairs_made) do
        local left, right = pair[1], pair[2]
        sorted[ranked[first_code + i - 1] - first_code + 1] = { ranked[left] or left, ranked[right] or right }
    end
    return sorted
end

-- How many codes wait, at most, while one is taken apart.
local function check_depth(pairs_made)
    local depths = {}
    for i, pair in ipairs(pairs_made) do
        local depth = 1 + math.max(depths[pair[1]] or 0, depths[pair[2]] or 0)
        if depth > depth_max then error("packed scripts: pairs in pairs are too deep for C", 0) end
        depths[first_code + i - 1] = depth
    end
end

return function(texts)
    local self = new_row(texts)
    local pairs_made = learn(self)
    local ranked = ranks(self, #pairs_made)
    check_depth(pairs_made)
    return packed_texts(self, ranked), ranked_pairs(pairs_made, ranked)
end
