-- chat_roster: the members of a chat, some in a call. It changes nothing. Who is a member from the first call to the
-- last is in one of the answers; it may be in two.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:v   see chat_send.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 cursor    "0" at first, then from the answer
--       3 after     empty at first, then from the answer
--       4 bytes     at most this many in the text; but always one member, if there is one
-- reply sequence, code, epoch, members, cursor text, after text, page text
--       code 0 there
--            1 gone
--       members: of the chat
--       cursor, after: for the next call; "0" and empty: these were the last
--       page: "<size of the name> <name><last id that it has handled> ..." of each

local NAME_MAX = 64
local ID_MAX = 9007199254740000
local COUNT = 64

local state_key, seen_key = KEYS[1], KEYS[2]
local sequence, cursor, after, bytes_max = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])

local state = redis.call('HMGET', state_key, 'e', 'n')
local epoch, last = tonumber(state[1] or '0'), tonumber(state[2])
if not epoch or not string.find(state[1] or '1', '^[1-9]%d*$') or epoch > ID_MAX or
   (state[2] and not (epoch > 0 and last and last >= 0 and last <= ID_MAX and last % 1 == 0)) then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif not last then
    return {sequence, 1, epoch, 0, '0', '', ''}
end

-- A small set comes as a whole, whatever it is asked for: so it is cut in the order of the names.
local scan = redis.call('ZSCAN', seen_key, cursor, 'COUNT', COUNT)
local found = scan[2]
local names, seen = {}, {}
for i = 1, #found, 2 do
    local name, at = found[i], tonumber(found[i + 1])
    if not at or at < 0 or at > last or at % 1 ~= 0 then
        return redis.error_reply('CORRUPT member is not of the form that KEYS.md describes')
    elseif name > after and #name <= NAME_MAX then
        names[#names + 1], seen[name] = name, string.format('%.0f ', at)
    end
end
table.sort(names)

local members = redis.call('ZCARD', seen_key)
local parts, size = {}, 0
for i = 1, #names do
    local part = #names[i] .. ' ' .. names[i] .. seen[names[i]]
    size = size + #part
    if size > bytes_max and i > 1 then
        return {sequence, 0, epoch, members, cursor, names[i - 1], table.concat(parts)}
    end
    parts[i] = part
end
return {sequence, 0, epoch, members, scan[1], '', table.concat(parts)}
