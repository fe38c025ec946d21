-- contacts_mark: what a client did last to an owner's contacts. Eight clients have their marks in the hash w, which
-- costs little memory; all others on the shelves of client/mark.lua.
--
-- wants mark_key; client
-- gives number       this client's mark in w; false: it has none, and there is room; nil: it has none, and there is not
--       told         what its last change was answered beside "done", if number is one

local RESIDENTS_MAX = 8

local number, told = redis.call('HGET', mark_key, client), ''
if number then
    local text = number
    number = tonumber(text)
    if not number then
        number, told = string.match(text, '^(%d+) ([btf]+)$')
        number = tonumber(number)
    end
    if not number or not (number >= 0 and number <= 9007199254740991 and number % 1 == 0) then
        return redis.error_reply('CORRUPT contacts mark is not of the form that KEYS.md describes')
    end
elseif redis.call('HLEN', mark_key) > RESIDENTS_MAX then -- the version is one of its fields
    number = nil
end
