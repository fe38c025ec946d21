-- command_once: stands behind a caller's script, or behind command.lua, and runs it once, however many copies of the
-- request arrive, and whenever they do. The first leaves a receipt and then runs; all others are answered from that.
--
--   gh_body    what the caller's text is sent as: a function of KEYS and ARGV
--   gh_fence   what fenced.lua is sent as, if there is a fence: a function of them that answers an error, or nothing
--
-- KEYS  1 <key>:once:<token>   string   "b": begun; "k" and the answer, by cmsgpack; "l": done, and the answer is lost
--       2 ...                  the lock's of the fence, if there is one, and then the caller's
-- ARGV  1 sequence    comes back as the first element of the reply
--       2 not after   us of the store's clock; later, nothing is run
--       3 until       ms of the store's clock, when the receipt goes: later than the `not after` of each copy
--       4 ...         the fence, if there is one, and then the caller's
-- reply sequence, code, now us, answer ...
--       code 0 done   now, or by an earlier copy; answer is what the caller's text returned, or its error
--            1 begun  by an earlier copy, and stopped before it could say how it ended
--            2 lost   done, but the answer is lost: nested too deep to be read, or too large to be kept for this copy
--            3 late   nothing was done, by this copy
--       or an error of the fence, or CORRUPT if the receipt is not of this form
--
-- An answer is what EVAL would make of it: a copy that has what a client can be told, and nothing else.

local KEPT_MAX = 4096
local DEPTH_MAX = 6 -- of arrays in arrays, and the reply is one around them; a client reads seven

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local sequence = tonumber(ARGV[1])
local is_deep = false

local function answer_of(value, depth)
    local kind = type(value)
    if kind == 'string' or kind == 'number' or kind == 'boolean' then
        return value
    elseif kind ~= 'table' or is_deep then
        return false
    elseif depth > DEPTH_MAX then
        is_deep = true
        return false
    end
    local copy = {}
    for key, one in pairs(value) do
        if type(key) == 'number' or type(key) == 'string' then
            copy[key] = answer_of(one, depth + 1)
        end
    end
    return copy
end

local function corrupt()
    return redis.error_reply('CORRUPT the receipt is not of the form that KEYS.md describes')
end

local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'table' then
    return string.find(stored.err, 'WRONGTYPE', 1, true) and corrupt() or stored
elseif stored == 'b' then
    return {sequence, 1, now}
elseif stored == 'l' then
    return {sequence, 2, now}
elseif stored then
    if #stored < 2 or #stored > KEPT_MAX + 1 or string.sub(stored, 1, 1) ~= 'k' then
        return corrupt()
    end
    local is_packed, answer, more = pcall(cmsgpack.unpack, string.sub(stored, 2))
    answer = answer_of(answer, 1)
    if not is_packed or more ~= nil or is_deep then
        return corrupt()
    end
    return {sequence, 0, now, answer}
elseif now > tonumber(ARGV[2]) then
    return {sequence, 3, now}
end

local keys, arguments = {unpack(KEYS, 2)}, {unpack(ARGV, 4)}
if gh_fence then
    local refused = gh_fence(keys, arguments)
    if refused then
        return refused
    end
    keys, arguments = {unpack(keys, 2)}, {unpack(arguments, 2)}
end

redis.call('SET', KEYS[1], 'b', 'PXAT', ARGV[3])
-- Not pcall, which makes a text of an error table: of its code word nobody would know any more that it is one.
local is_done, answer = xpcall(function() return gh_body(keys, arguments) end, function(raised) return raised end)
if not is_done then
    local text = type(answer) == 'table' and answer.err
    answer = {err = type(text) == 'string' and text or 'ERR ' .. tostring(answer)}
end
answer = answer_of(answer, 1)
local kept = is_deep and '' or 'k' .. cmsgpack.pack(answer)
redis.pcall('SET', KEYS[1], #kept > 1 and #kept <= KEPT_MAX + 1 and kept or 'l', 'PXAT', ARGV[3])
return is_deep and {sequence, 2, now} or {sequence, 0, now, answer}
