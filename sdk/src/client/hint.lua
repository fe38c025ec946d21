-- hint: tells one that waits that it is worth while to ask now. Comes behind the last write of its script, and errors
-- are ignored: who hears nothing finds out by asking.
--
-- wants KEYS, all of one object
-- gives hint(waiter, letter)   waiter: "<client>:<sequence>", as 16 hex digits each; letter: what stands behind the
--                              sequence, or ''. False: nobody has heard it, and somebody else may
--
-- A phantom key that ends in "=" says that hints stay in the object's own slot (see guildhall/cluster.h). Only where
-- nobody listens there, on this node, they go over all nodes: so the sender need not know who listens how.

local function hint(waiter, letter)
    local channel, text = 'wake:' .. string.sub(waiter, 1, 16), string.sub(waiter, 18, 33) .. letter
    local heard = string.sub(KEYS[#KEYS], -1) == '=' and
        redis.pcall('SPUBLISH', string.match(KEYS[1], '^[^}]*') .. '}:' .. channel, text)
    return tonumber(heard) and heard > 0 or
        redis.pcall('PUBLISH', string.match(KEYS[1], '^[^{]*') .. channel, text) ~= 0
end
