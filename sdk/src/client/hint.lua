-- hint: wakes one waiter of a lock or a semaphore.
--
-- wants queue_key
-- gives hint(waiter, letter)   true if somebody has heard it. Errors are ignored: without the right to
--                              publish, waiters find out by asking

local function hint(waiter, letter)
    local channel = string.match(queue_key, '^([^{]*)') .. 'wake:' .. string.sub(waiter, 1, 16)
    local receivers = redis.pcall('PUBLISH', channel, string.sub(waiter, 18, 33) .. letter)
    return type(receivers) == 'number' and receivers > 0
end
