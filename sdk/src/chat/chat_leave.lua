-- chat_leave: a member goes, and with the last one the chat. Messages that all who remain have seen go too.
-- Repeating it is harmless: who is gone stays gone, and a request from before a later join of the same client
-- does nothing.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:h,
--       5 gh:{chat:<name>}:w<2 hex digits>   see chat_send.lua
-- ARGV  1 token, 2 sequence, 3 generation   as there
--       4 member
-- reply in one text: sequence, code, members, now us, left us
--       code 0 left
--            1 gone
--            2 old
--            4 no member  was none before
--       members: those that remain; left us: when it left, 0: it did not now. A repeat is told that of the first
--       or the error STALE, as there
-- hint  to waiting readers when the chat is gone
--
-- Begins with ZREM, which a server that is out of memory still allows.

local TOMBSTONE_MS = 3600000
local TRIM_BYTES = 262144 -- about so much goes in one call, but always a hundred messages; see chat_read.lua

local state_key, list_key, seen_key, hint_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local client, sequence, given = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), ARGV[3]
local member = ARGV[4]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'x', 'g', 'w')
local resident = state[6]
--@ client/check.lua
--@ client/mark.lua
--@ chat/chat_said.lua
if past > sequence then
    return ARGV[2] .. ' 2 0 ' .. now_text .. ' 0'
elseif past == sequence then
    return string.format('%s 0 %.0f %s %.0f', ARGV[2], said_number, now_text, whole(said_text) or 0)
end

--@ chat/chat_state.lua
if not last then
    return ARGV[2] .. ' 1 0 ' .. now_text .. ' 0'
end
local members = redis.call('ZCARD', seen_key)
if not redis.call('ZSCORE', seen_key, member) then
    return ARGV[2] .. ' 4 ' .. members .. ' ' .. now_text .. ' 0'
end

redis.call('ZREM', seen_key, member)
members = members - 1
local mark_text = mark_head .. state[1] .. ' ' .. members .. ' ' .. now_text
if is_resident then
    redis.call('HSET', state_key, 'w', mark_text)
else
    shelve(mark_text)
end
if members > 0 then
    local least = tonumber(redis.call('ZRANGE', seen_key, 0, 0, 'WITHSCORES')[2])
    least = math.floor(math.min(least or 0, last))
    if least >= head then
        local most = math.max(100, math.floor(TRIM_BYTES / math.max(largest, 1)))
        redis.call('LTRIM', list_key, math.min(least - head + 1, most), -1)
    end
    return ARGV[2] .. ' 0 ' .. members .. ' ' .. now_text .. ' ' .. now_text
end
redis.call('UNLINK', list_key, seen_key)
redis.call('HDEL', state_key, 'n', 'k', 'c', 'x', 'y', 'b')
redis.call('PEXPIRE', state_key, TOMBSTONE_MS)
--@ client/hint.lua
--@ talk/hint_readers.lua
return ARGV[2] .. ' 0 0 ' .. now_text .. ' ' .. now_text
