-- rights: which commands the user may call from inside scripts. Asked once per connection, and again after a refusal.
--
-- KEYS  1 <prefix>:epoch   see epoch.lua
-- ARGV  1 ...              names of commands, those that Guildhall's scripts call
-- reply is a text: a letter for each, "1": allowed, "0": not; empty: the key is no string, so nothing was tried
--
-- Writes nothing. Who may not call a command is told so before anything else is looked at; who may, is told that the
-- key is of another type, that the words after it make no sense, or that there is nothing to take away.

local words_after = {
    HDEL = 'f', HEXISTS = 'f', HGET = 'f', HMGET = 'f', HRANDFIELD = '1', HSET = 'f v', HSTRLEN = 'f', LINDEX = '0',
    LINSERT = 'BEFORE v v', LPUSH = 'v', LRANGE = '0 0', LREM = '0 v', LSET = '0 v', LTRIM = '0 0', PEXPIRE = 'x',
    PEXPIREAT = 'x', RPUSH = 'v', SET = 'v NX XX', ZADD = '1 m', ZCOUNT = '0 0', ZINCRBY = '1 m', ZLEXCOUNT = '- +',
    ZMSCORE = 'm', ZRANGE = '0 0', ZRANGEBYLEX = '- +', ZRANGEBYSCORE = '0 0', ZRANK = 'm', ZREM = 'm',
    ZREMRANGEBYRANK = '0 0', ZREMRANGEBYSCORE = '0 0', ZREVRANGE = '0 0', ZREVRANGEBYSCORE = '0 0', ZSCAN = '0',
    ZSCORE = 'm',
}
local takes_away = {DEL = true, PERSIST = true, UNLINK = true}

if type(redis.pcall('GET', KEYS[1])) ~= 'string' then
    return ''
end
local letters = {}
for i, name in ipairs(ARGV) do
    local words = {name}
    if name ~= 'TIME' then
        words[2] = takes_away[name] and KEYS[1] .. ':none' or KEYS[1]
    end
    for word in string.gmatch(words_after[name] or '', '%S+') do
        words[#words + 1] = word
    end
    local answer = redis.pcall(unpack(words))
    local text = type(answer) == 'table' and answer.err or ''
    local is_refused = string.find(text, "can't run this command", 1, true) -- Redis 7.0; before and after it the other
    is_refused = is_refused or string.find(text, 'permissions to run the', 1, true)
    letters[i] = is_refused and '0' or '1'
end
return table.concat(letters)
