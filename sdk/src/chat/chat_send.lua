-- chat_send: what one frame has to say in one chat. Repeating it is harmless: each client's last sequence is
-- kept with what it was answered, so the same sequence gets the same answer, and an older one, which can only
-- be a request from the past, does nothing. A client has one request that changes a chat under way at a time.
--
-- KEYS  1 gh:{chat:<name>}:s   hash   e: epoch (us), larger each time the chat is made anew; n: the last id;
--                                     k: messages that are kept at most; c: members at most; x: bytes of the
--                                     largest entry so far; <client, 16 hex digits>: the mark of its last
--                                     change, "<sequence> <seconds since 1970> <epoch> <number> <text>", the
--                                     last two from the answer. A chat whose last member has left has e and
--                                     the marks alone, for an hour
--       2 gh:{chat:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                     first; ids are dense, so the first is n - LLEN + 1
--       3 gh:{chat:<name>}:v   zset   member -> the last id that it has handled
--       4 gh:{chat:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3, 4 ...    sender (a member, or empty: the server speaks), body; at most 64 pairs
-- reply sequence, code, first id, epoch, now us, text
--       code 0 taken      text: "-", or one digit a pair: 0 taken, 1 its sender is not a member. The ids of
--                         those that were taken are first id, first id + 1, ...
--            1 gone       there is no such chat
--            2 old        the client has changed this chat again since
--            3 writers    64 other clients have changed this chat within ten minutes
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most 16 waiting readers
-- Redis 6.2 or later.

local state_key, list_key, seen_key, hint_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2])
local count = (#ARGV - 2) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'c', 'x', client)
local mark, fields = state[6], 5
--@ talk/talk_mark.lua
if said_epoch then
    return {sequence, 0, tonumber(said_number), tonumber(said_epoch), now, said_text}
elseif is_old then
    return {sequence, 2, 0, 0, now, '-'}
elseif is_crowded then
    return {sequence, 3, 0, 0, now, '-'}
end

--@ chat/chat_state.lua
if not last then
    return {sequence, 1, 0, epoch, now, '-'}
end

-- string.format would end at a zero byte: only the numbers go through it.
local moment = ' ' .. time[1] .. string.format('%03d ', math.floor(time[2] / 1000))
local heads = {[''] = moment .. '0 '} -- of the entries of each sender; false: is not a member
local senders = {}
for i = 3, #ARGV, 2 do
    local sender = ARGV[i]
    if heads[sender] == nil then
        senders[#senders + 1], heads[sender] = sender, false
    end
end
local seats = #senders > 0 and redis.call('ZMSCORE', seen_key, unpack(senders))
for i = 1, #senders do
    heads[senders[i]] = seats[i] and moment .. #senders[i] .. ' ' .. senders[i]
end
local entries, codes, taken = {}, {}, 0
for i = 1, count do
    local head = heads[ARGV[1 + 2 * i]]
    codes[i] = head and '0' or '1'
    if head then
        taken = taken + 1
        local entry = string.format('%.0f', last + taken) .. head .. ARGV[2 + 2 * i]
        entries[taken] = entry
        if #entry > largest then
            largest = #entry
        end
    end
end
local text = taken == count and '-' or table.concat(codes)
local number = string.format('%.0f', last + 1)
local mark_text = ARGV[2] .. ' ' .. time[1] .. ' ' .. state[1] .. ' ' .. number .. ' ' .. text
if taken == 0 then
    redis.call('HSET', state_key, client, mark_text)
    return {sequence, 0, last + 1, epoch, now, text}
end
local length = redis.call('RPUSH', list_key, unpack(entries))
redis.call('HSET', state_key, 'n', string.format('%.0f', last + taken), 'x', largest, client, mark_text)
if length > keep then
    redis.call('LTRIM', list_key, -keep, -1) -- whoever has not seen them is told of the gap
end
if #stale > 0 then
    redis.call('HDEL', state_key, unpack(stale))
end

--@ talk/hint_readers.lua
return {sequence, 0, last + 1, epoch, now, text}
