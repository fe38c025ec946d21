-- semaphore_limit: how many permits there are from now on. More: waiters get them at once. Fewer: nobody
-- loses one, and nobody gets one until enough were given back. The limit stays until another is set, or until
-- the semaphore has not been used for 30 days. Repeating it is harmless: of the limits that one client sets,
-- an older one never replaces a newer, and no copy of what has been set undoes what others have set since.
--
-- KEYS  1 gh:{semaphore:<name>}:s, 2 gh:{semaphore:<name>}:h, 3 gh:{semaphore:<name>}:q,
--       4 gh:{semaphore:<name>}:c   see semaphore_acquire.lua
--       5 gh:{semaphore:<name>}:w   string  who has set the limit lately, and was set over by another client: `past`
--                                   of client/setters.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 window    us that a turn is kept for a waiter that is told
--       4 limit
--       5 not after us of the store's clock; later, nothing is set; 0: none
--       6 seen      "now us" of the reply that said "again"; 0: none did
-- reply in one text: sequence, code, limit, used, waiters, more, now us
--       code 0 set
--            1 older  not set: it was before, and others have set another since; or this client has
--            2 stale  past `not after`
--            5 again  not set: ask once more, with `seen`
--       more 1: there are more waiters to be served, or dead ones in front, than one call does: call again
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" for each waiter whose turn it is (or who wants more
--       than the limit), and the same with a "w" behind it to one that should ask when the turn is over

local PAST_MS = '120000'

local state_key, holder_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, window = ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_text = time[1] .. string.sub('00000' .. time[2], -6)

local not_after, added, seen = tonumber(ARGV[5]), nil, tonumber(ARGV[6])
if not_after > 0 and now > not_after then
    return ARGV[2] .. ' 2 0 0 0 0 ' .. now_text
end
local stored, past = redis.call('GET', state_key), redis.call('GET', KEYS[5]) or ''

--@ semaphore/semaphore_state.lua
--@ client/late.lua
--@ client/hint.lua
--@ client/line.lua
--@ semaphore/semaphore_queue.lua
--@ client/setters.lua

local verdict = judge(setter)
if verdict then
    return string.format('%s %d %d %d %.0f 0 %s', ARGV[2], verdict, limit, used, waiters, now_text)
end
if limit == 0 then
    forget()
end
local limit_before, setter_before = limit, setter
limit, setter = tonumber(ARGV[4]), token
local capped, more = purge(), false
if waiters > 0 then
    more = serve()
end
if more == nil then -- what is told to be corrupt is not set
    limit, setter = limit_before, setter_before
elseif setter_before ~= '-' and not is_own(setter_before) then -- known before it is set over
    set_over(setter_before, now)
    redis.call('SET', KEYS[5], past_text(), 'PX', PAST_MS)
end
if limit > 0 then
    commit()
end
if more == nil then
    return redis.error_reply('CORRUPT semaphore queue is longer than any that KEYS.md describes')
end
if #turns > 0 then
    hint_all(turns, behind)
end
return string.format('%s 0 %d %d %.0f %d %s', ARGV[2], limit, used, waiters, (more or capped) and 1 or 0, now_text)
