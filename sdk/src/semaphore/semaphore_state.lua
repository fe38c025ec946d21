-- semaphore_state: the state of a semaphore, and what a script makes of it.
--
-- wants stored; state_key, holder_key, queue_key
-- gives limit, used, fence, waiters, setter, late   see semaphore_acquire.lua; limit 0: not known yet
--       permits_of(member)   how many a member of :h or :q has or wants, or nil
--       kept, gone           scores and members for :h, and how many leave the front of :q: commit() does it
--       PERMITS_MAX, IDLE_MS

local COUNT_MAX = 200 -- holders whose permits are counted anew where their number is in doubt
local PERMITS_MAX = 1000000
local IDLE_MS = '7200000' -- twice the longest lease
local SET_MS = '2592000000' -- of a limit that was set: 30 days

local function permits_of(member)
    local permits = #member <= 50 and tonumber(string.match(member, '^%d+$', 35) or '')
    return permits and permits <= PERMITS_MAX and permits or nil
end

local limit, used, fence, waiters, setter, late = 0, 0, 0, 0, '-', ''
if stored then
    limit, used, fence, waiters, setter, late = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (%S+)(.*)$')
    limit, used, fence, waiters = tonumber(limit), tonumber(used), tonumber(fence), tonumber(waiters)
    if not setter or math.max(limit, used) > PERMITS_MAX or fence > 9007199254740990 or
        waiters > 9007199254740991 then
        return redis.error_reply('CORRUPT semaphore state is not of the form that KEYS.md describes')
    end
    local holders = used > 0 and redis.call('ZCARD', holder_key) or 0
    if holders == 0 then
        used = 0 -- :h lives 2 h after the last grant, :s longer: whoever had permits then is gone
    elseif holders > used and holders > COUNT_MAX then -- never fewer are counted than there are
        return redis.error_reply('CORRUPT semaphore is not of the form that KEYS.md describes')
    elseif holders ~= used and holders <= COUNT_MAX then -- some have several; or a release was stopped half-way
        used = 0
        for _, permit in ipairs(redis.call('ZRANGE', holder_key, 0, -1)) do
            used = used + (permits_of(permit) or 0)
        end
    end
    used = math.min(math.max(used, holders), PERMITS_MAX)
end

local kept, gone = {}, 0

-- In an order in which more waiters and permits are counted than there are, and never fewer, wherever it is stopped.
local function commit()
    if gone > 0 then
        redis.call('ZREMRANGEBYRANK', queue_key, 0, gone - 1)
    end
    local text = string.format('%.0f %.0f %.0f %.0f %s%s', limit, used, fence, waiters, setter, late)
    redis.call('SET', state_key, text, 'PX', setter == '-' and IDLE_MS or SET_MS)
    if #kept > 0 then
        redis.call('ZADD', holder_key, unpack(kept))
        redis.call('PEXPIRE', holder_key, IDLE_MS)
    end
end
