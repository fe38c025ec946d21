-- chat_join: a player becomes a member. Repeating it is harmless: who is a member stays one, and a request
-- from before a later leave of the same client does nothing; see chat_send.lua.
--
-- KEYS  1 gh:{chat:<name>}:s, 2 gh:{chat:<name>}:m, 3 gh:{chat:<name>}:v, 4 gh:{chat:<name>}:w<2 hex digits>
--       see chat_send.lua
-- ARGV  1 token, 2 sequence, 3 generation   as there
--       4 member
--       5 start     1: all messages that are still kept are new to it; 0: only those from now on
-- reply sequence, code, epoch, seen
--       code 0 joined
--            1 gone
--            2 old
--            4 full
--            5 member  was one already: seen is what it has seen
--       or the error STALE, as there

local MEMBERS_MAX = 10000

local state_key, list_key, seen_key, shelf_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local client, sequence, given = string.sub(ARGV[1], 1, 16), tonumber(ARGV[2]), ARGV[3]
local member = ARGV[4]

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local state = redis.call('HMGET', state_key, 'e', 'n', 'k', 'x', 'g', 'w', 'c')
local resident = state[6]
--@ client/mark.lua
--@ chat/chat_said.lua
if past > sequence then
    return {sequence, 2, 0, 0}
elseif past == sequence then
    return {sequence, 0, said_epoch, said_number}
end

--@ chat/chat_state.lua
if not last then
    return {sequence, 1, epoch, 0}
end
local seen, most = redis.call('ZSCORE', seen_key, member), number_of(state[7])
local seen_at = tonumber(seen or '0')
if not most or most < 1 or most > MEMBERS_MAX or not seen_at or seen_at < 0 or seen_at > last or seen_at % 1 ~= 0 then
    return redis.error_reply('CORRUPT chat state is not of the form that KEYS.md describes')
elseif not seen and redis.call('ZCARD', seen_key) >= most then
    return {sequence, 4, epoch, 0}
end

local code = seen and 5 or 0
if not seen then
    seen_at = ARGV[5] == '1' and head - 1 or last
    redis.call('ZADD', seen_key, string.format('%.0f', seen_at), member)
end
local mark_text = mark_head .. state[1] .. string.format(' %.0f -', seen_at)
if is_resident then
    redis.call('HSET', state_key, 'w', mark_text)
else
    shelve(mark_text)
end
return {sequence, code, epoch, seen_at}
