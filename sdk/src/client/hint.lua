-- hint: tells one that waits that it is worth while to ask now. Comes behind the last write of its script, and errors
-- are ignored: who hears nothing finds out by asking.
--
-- wants KEYS, all of one object
-- gives hint(waiter, letter)   waiter: "<client>:<sequence>", as 16 hex digits each; letter: nil, or what stands behind
--                              the sequence. True: somebody has heard it
--
-- A phantom key that ends in "=" says that hints go over the object's own slot (see guildhall/cluster.h). Only where
-- nobody listens there, on this node, they go over all nodes: so the sender need not know who listens how.

local function hint(waiter, letter)
    local channel, text = 'wake:' .. string.sub(waiter, 1, 16), string.sub(waiter, 18, 33) .. (letter or '')
    local heard = string.sub(KEYS[#KEYS], -3) == '}:=' and
        redis.pcall('SPUBLISH', string.match(KEYS[1], '^[^}]*') .. '}:' .. channel, text)
    if type(heard) ~= 'number' or heard == 0 then
        heard = redis.pcall('PUBLISH', string.match(KEYS[1], '^[^{]*') .. channel, text)
    end
    return type(heard) == 'number' and heard > 0
end
