-- chat_send: what one frame has to say in one chat. Repeating it is harmless: each client's last sequence is
-- kept with what it was answered, so the same sequence gets the same answer, and an older one, which can only
-- be a request from the past, does nothing. A client has one request that changes a chat under way at a time.
--
-- KEYS  1 gh:{chat:<name>}:s   hash   e: epoch (us), larger each time the chat is made anew; n: the last id;
--                                     k: messages that are kept at most, below 0: and
--                                     what would be more is refused; c: members at most; x: bytes of the
--                                     largest entry that is kept, or more; y: "<id> <bytes>", the largest
--                                     from that id on, while x is over 1024; g: generation of the
--                                     store's data when the epoch began; b: "<epoch>:<last id> ..." of the
--                                     epochs before, the oldest first; w: a mark, see mark.lua; its
--                                     answer: "<epoch> <number> <text>", the last two from the reply. A chat
--                                     whose last member has left has e, g and w alone, for an hour
--       2 gh:{chat:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                     first; ids are dense. What is beyond n was not said: a script was stopped
--                                     before it said so
--       3 gh:{chat:<name>}:v   zset   member -> the last id that it has handled
--       4 gh:{chat:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
--       5 gh:{chat:<name>}:w<2 hex digits>   hash   more marks, see mark.lua
-- ARGV  1 token       "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                     client/mark.lua
--       2 sequence    comes back as the first element of the reply
--       3 generation  of the store's data, as the client knows it; 0: it does not
--       4, 5 ...      sender (a member, or empty: the server speaks), body; at most 64 pairs
-- reply in one text: sequence, code, first id, epoch, now us, codes text
--       code 0 taken      the ids of those that were taken are first id, first id + 1, ...
--            1 gone       there is no such chat
--            2 old        the client has changed this chat again since
--            4 full       some member has not handled so many that these would be more than are kept
--       codes: "-", all were taken; or one a pair
--       codes "0" said
--             "1" no member  its sender is none
--       or the error STALE: the client's generation is not that of the data any more; nothing was done
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most 16 waiting readers
-- Redis 6.2 or later.

local ID_MAX = 9007199254740000
local KEEP_MAX = 100000
local ENTRY_MAX = 65664
local POSTS_MAX = 64
local GOING_MAX = 1024 -- messages that go in one call
local SMALL = 1024 -- a largest entry of no more is nobody's concern

local state_key, list_key, seen_key, hint_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence = string.sub(ARGV[1], 1, 16), ARGV[2] + 0
local given, count = ARGV[3], (#ARGV - 3) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local micros = string.sub('00000' .. time[2], -6)
local now_text = time[1] .. micros

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'x', 'g', 'w', 'y')
local resident = state[6]
--@ client/mark.lua
--@ chat/chat_said.lua
if past > sequence then
    return ARGV[2] .. ' 2 0 0 ' .. now_text .. ' -'
elseif past == sequence and -- else it was stopped, in this very epoch
       (said_epoch ~= tonumber(state[1]) or said_number <= (tonumber(state[2]) or said_number)) then
    return string.format('%s 0 %.0f %.0f %s ', ARGV[2], said_number, said_epoch, now_text) .. said_text
end

local epoch_text, known = state[1] or '0', state[5]
local epoch = tonumber(string.match(epoch_text, state[1] and '^[1-9]%d*$' or '0')) -- it is told as it is stored
local last, keep, largest, stopped = tonumber(state[2]), tonumber(state[3]), tonumber(state[4]), 0
local refuses = keep and keep < 0
keep = keep and math.abs(keep)
local tail = redis.call('LINDEX', list_key, -1)
tail = tail and string.match(tail, '^%d+')
if tail and tail ~= state[2] and last then -- a send was stopped before it said what it had said
    stopped = tail - last
end
if not epoch or epoch > ID_MAX or
   (state[2] and not (epoch > 0 and last and last >= 0 and last + count <= ID_MAX and last % 1 == 0 and
                      keep and keep >= 1 and keep <= KEEP_MAX and keep % 1 == 0 and
                      largest and largest >= 0 and largest <= ENTRY_MAX and
                      tail ~= nil and stopped >= 0 and stopped <= POSTS_MAX)) then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif not last then
    return ARGV[2] .. ' 1 0 ' .. epoch_text .. ' ' .. now_text .. ' -'
end

-- string.format would end at a zero byte: only the numbers go through it.
local format, digits = string.format, last + count < 2147483648 and '%d' or '%.0f' -- which costs more
local moment = ' ' .. time[1] .. string.sub(micros, 1, 3) .. ' '
local heads = {} -- of the entries of each sender; false: is not a member
local senders = {}
for i = 4, #ARGV, 2 do
    local sender = ARGV[i]
    if sender == '' then
        heads[sender] = moment .. '0 '
    elseif heads[sender] == nil then
        senders[#senders + 1], heads[sender] = sender, false
    end
end
local seats = #senders > 0 and redis.call('ZMSCORE', seen_key, unpack(senders))
for i = 1, #senders do
    heads[senders[i]] = seats[i] and moment .. format('%d ', #senders[i]) .. senders[i]
end
local entries, id, grown, sent = {}, nil, false, 0
local text, number = '-', format(digits, last + 1)
for i = 4, #ARGV, 2 do
    local head = heads[ARGV[i]]
    if head then
        id = id and format(digits, last + 1 + #entries) or number
        local entry = id .. head .. ARGV[i + 1]
        entries[#entries + 1] = entry
        sent = math.max(sent, #entry)
    end
end
local taken = #entries
if sent > largest then
    largest, grown = sent, true
end
if taken < count then
    local codes = {}
    for i = 4, #ARGV, 2 do
        codes[#codes + 1] = heads[ARGV[i]] and '0' or '1'
    end
    text = table.concat(codes)
end

if refuses and taken > 0 and last + taken > keep then
    local head = tail and tonumber(string.match(redis.call('LINDEX', list_key, 0), '^%d+')) or last + 1
    local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2]) or 0
    if last - math.max(least, head - 1) + taken > keep then
        return ARGV[2] .. ' 4 0 ' .. epoch_text .. ' ' .. now_text .. ' -'
    end
end

if taken > 0 and known ~= given and given ~= '0' then
    local oldest, newer_than = last + 1, epoch
    if tail then
        oldest = tonumber(string.match(redis.call('LINDEX', list_key, 0), '^%d+')) or oldest
    end
--@ talk/talk_row.lua
    epoch_text = string.format('%.0f', epoch)
end
local mark_text = mark_head .. epoch_text .. ' ' .. (taken > 0 and number or state[2]) .. ' ' .. text
local answer = ARGV[2] .. ' 0 ' .. number .. ' ' .. epoch_text .. ' ' .. now_text .. ' ' .. text
if taken == 0 then
    if is_resident then
        redis.call('HSET', state_key, 'w', mark_text)
    else
        shelve(mark_text)
    end
    return answer
end

if stopped > 0 then
    redis.call('LTRIM', list_key, 0, -stopped - 1)
end
local length = redis.call('RPUSH', list_key, unpack(entries))
if grown then
    redis.call('HSET', state_key, 'x', largest)
end
if is_resident then
    redis.call('HSET', state_key, 'n', id, 'w', mark_text)
else
    shelve(mark_text)
    redis.call('HSET', state_key, 'n', id)
end
if largest > SMALL then
--@ chat/chat_largest.lua
end
if length > keep then -- whoever has not seen them is told of the gap
    redis.call('LTRIM', list_key, math.min(length - keep, GOING_MAX), -1)
end

--@ client/hint.lua
--@ talk/hint_readers.lua
return answer
