-- talk_row: a row of ids begins, or goes on in another generation of the store's data. Then ids that were given out and
-- forgotten with the newest data might be given again; so they go on in a new epoch. What is stored keeps the epoch
-- that it came with: field b has the epochs before, each with its last id.
--
-- wants state_key; now; last; epoch (0: the row begins); given (the client's generation, a text)
--       known       the row's generation, field g
--       oldest      id of the first message that is stored
--       newer_than  a new epoch must be larger than this
-- gives epoch

local DAY_US = 86400000000
local EPOCHS_MAX = 32     -- that are known by their names; what is older is told with the oldest of these
local EPOCHS_GONE_MAX = 4 -- of those of which nothing is stored: for commits that come twice
local EPOCH_MAX = 9007199254740000

local generation, known_generation = tonumber(given), tonumber(string.match(known or '0', '^%d+$'))
if not known_generation or known_generation > now + DAY_US then
    return redis.error_reply('CORRUPT generation is not of the form that KEYS.md describes')
elseif generation > 0 and generation < known_generation then
    return redis.error_reply('STALE the data is of generation ' .. known)
end
if epoch == 0 or generation > known_generation then
    local ended = epoch > 0 and redis.call('HGET', state_key, 'b') or ''
    local epochs, ends = {}, {}
    if #ended < 2048 then
        for text, id in string.gmatch(ended, '(%d+:(%d+))') do
            epochs[#epochs + 1], ends[#ends + 1] = text, tonumber(id)
        end
    end
    if table.concat(epochs, ' ') ~= ended or newer_than >= EPOCH_MAX then
        return redis.error_reply('CORRUPT epochs are not of the form that KEYS.md describes')
    end
    if epoch > 0 then
        epochs[#epochs + 1], ends[#ends + 1] = string.format('%.0f:%.0f', epoch, last), last
    end
    local from = math.max(1, #epochs - EPOCHS_MAX + 1)
    while ends[from] and ends[from] < oldest and #epochs - from >= EPOCHS_GONE_MAX do
        from = from + 1
    end
    epoch = math.max(now, generation)
    if epoch <= newer_than then
        -- The clock was set back, and the time is behind the epoch of before. A step of one would name the same epoch
        -- again behind the next loss; no two losses have the same generation.
        epoch = newer_than + (known_generation > 0 and math.max(1, generation - known_generation) or 1)
    end
    local row = {'e', string.format('%.0f', epoch), 'g', given, 'n', string.format('%.0f', last)}
    if epochs[from] then
        row[7], row[8] = 'b', table.concat(epochs, ' ', from)
    end
    redis.call('HSET', state_key, unpack(row))
end
