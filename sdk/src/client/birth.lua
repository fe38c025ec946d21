-- birth: nothing is granted by a store that has lost its data since the client was told of it last.
--
-- wants birth_key, birth (false: the client does not ask for that)

if birth then
    local epoch = redis.call('GET', birth_key)
    if string.match(epoch or '', '^%d+') ~= birth then
        return redis.error_reply('STALE the store has lost its data')
    end
end
