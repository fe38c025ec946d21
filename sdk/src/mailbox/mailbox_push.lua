-- mailbox_push: what one frame has to say to one recipient, all of it or nothing. Repeating it is harmless:
-- each client's last sequence is kept with what it was answered, so the same sequence gets the same answer,
-- and an older one, which can only be a request from the past, does nothing. A client sends one push to a
-- mailbox at a time.
--
-- KEYS  1 gh:{mailbox:<name>}:s   hash   e: epoch, when this row of ids began (us); n: the last id;
--                                        g: generation of the store's data when the epoch began;
--                                        b: "<epoch>:<last id> ..." of the epochs before, the oldest first;
--                                        x: 1: entries of more than 8 KiB may be among them;
--                                        r: when a commit last took messages away (us);
--                                        w: a mark, see mark.lua; its answer: "<epoch> <first id>"
--       2 gh:{mailbox:<name>}:m   list   "<id> <ms since 1970> <size of the sender> <sender><body>", oldest
--                                        first; ids are dense. What is beyond n was not pushed: a script was
--                                        stopped before it said so
--       3 gh:{mailbox:<name>}:h   zset   readers that wait, "<client>:<sequence>" -> until when (us)
--       4 gh:{mailbox:<name>}:w<2 hex digits>   hash   more marks, see mark.lua
-- ARGV  1 token       "<client, 16 hex digits>:<sequence, 16 hex digits>:<not after us>", see
--                     client/mark.lua
--       2 sequence    comes back as the first element of the reply
--       3 capacity    messages that may be unread at once
--       4 generation  of the store's data, as the client knows it; 0: it does not
--       5, 6 ...      sender, body; at most 64 pairs
-- reply in one text: sequence, code, first id, epoch, now us
--       code 0 taken      ids are first id, first id + 1, ...
--            1 full       they would be more than capacity
--            2 old        the client has pushed again since
--       or the error STALE: the client's generation is not that of the data any more; nothing was done
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" of at most 16 waiting readers
-- Redis 6.2 or later.

local ID_MAX = 9007199254740000
local POSTS_MAX = 64
local LARGE = 8192

local state_key, list_key, hint_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence = string.sub(ARGV[1], 1, 16), ARGV[2] + 0
local given, count = ARGV[4], (#ARGV - 4) / 2

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local micros = string.sub('00000' .. time[2], -6)
local now_text = time[1] .. micros

local state = redis.call('HMGET', state_key, 'e', 'n', 'g', 'w')
local length = redis.call('LLEN', list_key)
local tail = length > 0 and string.match(redis.call('LINDEX', list_key, -1), '^%d+')
local resident = state[4]
--@ client/mark.lua
if past > sequence then
    return ARGV[2] .. ' 2 0 0 ' .. now_text
elseif past == sequence then
    local epoch, first = string.match(said or '', '^([1-9]%d*) ([1-9]%d*)$')
    if not epoch or #epoch > 16 or #first > 16 then
        return redis.error_reply('CORRUPT mark is not of the form that KEYS.md describes')
    end
    if first + 0 <= (tonumber(state[2] or tail) or 0) then -- else it was stopped before the end
        return ARGV[2] .. ' 0 ' .. first .. ' ' .. epoch .. ' ' .. now_text
    end
end

local epoch_text, known = state[1] or '0', state[3]
local epoch = tonumber(string.match(epoch_text, state[1] and '^[1-9]%d*$' or '0')) -- it is told as it is stored
local last, stopped = tonumber(state[2] or tail or '0'), 0
if tail ~= state[2] and tail and state[2] and last then -- a push was stopped before it said what it had pushed
    stopped = tail - last
    length = length - stopped
end
if not last or last < 0 or last + count > ID_MAX or last % 1 ~= 0 or not epoch or epoch > ID_MAX or tail == nil or
   stopped < 0 or stopped > POSTS_MAX or length < 0 then
    return redis.error_reply('CORRUPT mailbox state is not of the form that KEYS.md describes')
elseif length + count > ARGV[3] + 0 then
    return ARGV[2] .. ' 1 0 ' .. epoch_text .. ' ' .. now_text
end

if epoch == 0 or (known ~= given and given ~= '0') then
    local oldest, newer_than = last - length + 1, epoch
    if tail and epoch == 0 then -- the state was lost: what is there is told anew
        newer_than = 1000 * (1 + (string.match(redis.call('LINDEX', list_key, -1), '^%d+ (%d+) ') or 0))
    end
--@ talk/talk_row.lua
    epoch_text = string.format('%.0f', epoch)
end
if stopped > 0 then
    redis.call('LTRIM', list_key, 0, -stopped - 1)
end

-- string.format would end at a zero byte: only the numbers go through it.
local moment = ' ' .. time[1] .. string.sub(micros, 1, 3) .. ' '
local entries, sender, head, id, is_large = {}, nil, nil, nil, false
local format, digits = string.format, last + count < 2147483648 and '%d' or '%.0f' -- which costs more
for i = 1, count do
    if ARGV[3 + 2 * i] ~= sender then
        sender = ARGV[3 + 2 * i]
        head = moment .. format('%d ', #sender) .. sender
    end
    id = format(digits, last + i)
    entries[i] = id .. head .. ARGV[4 + 2 * i]
    is_large = is_large or #entries[i] > LARGE
end
redis.call('RPUSH', list_key, unpack(entries))
if is_large then
    redis.call('HSET', state_key, 'x', 1)
end
if length == 0 then
    redis.call('PERSIST', state_key)
end
local first = count == 1 and id or format(digits, last + 1)
local mark_text = mark_head .. epoch_text .. ' ' .. first
if is_resident then
    redis.call('HSET', state_key, 'n', id, 'w', mark_text)
else
    shelve(mark_text)
    redis.call('HSET', state_key, 'n', id)
end

--@ client/hint.lua
--@ talk/hint_readers.lua
return ARGV[2] .. ' 0 ' .. first .. ' ' .. epoch_text .. ' ' .. now_text
