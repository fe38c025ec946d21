-- over: nothing of a queue stays for ever once its last task is over.
--
-- wants call, now, p_key, m_key, t_key
-- gives keep_until(key, time)   the key goes by itself, but not before that time (us)
--       clear()                 no task is left: places that are left over go at once, and what says how tasks
--                               ended with the ids that are remembered. From then on it is known that there is no
--                               place any more of those that were cancelled before, see place.lua
--
-- Where :p is empty, nothing that lies in a list or a zset is a task: it was cancelled, or a script was stopped.
-- The keys' names are made here: a request that named them all would cost more than this, which comes once.

local function keep_until(key, time)
    local pause = math.ceil((time - now) / 1000)
    if call('PTTL', key) < pause then call('PEXPIRE', key, pause) end
end

local function clear()
    local queue, places = string.sub(p_key, 1, -2), {}
    if call('EXISTS', m_key, queue .. 'c', queue .. 'g') == 0 then return end
    for part in string.gmatch('r0 r1 r2 r3 d0 d1 d2 d3 q g x l', '%S+') do places[#places + 1] = queue .. part end
    call('UNLINK', unpack(places))
    redis.pcall('HDEL', queue .. 'c', 'groups', 'credit')
    if call('EXISTS', m_key) == 0 then return end
    call('HSET', m_key, '', string.format('C 0 %.0f - ', now))
    call('PEXPIRE', m_key, math.max(call('PTTL', t_key), 1000))
end
