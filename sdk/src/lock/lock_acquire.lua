-- lock_acquire: try, enqueue, ask again and claim, all in one. Repeating it is harmless: a token that owns
-- the lock gets the same grant again, and a token that waits keeps its place.
--
-- KEYS  1 gh:{lock:<name>}:s   string  "<token> <fence> <expiry us> <state> <waiters>", and behind it what
--                              late.lua says, if anything
--                              state h: held; r: kept for token, which is next; f: free,
--                              token was the last owner
--       2 gh:{lock:<name>}:q   zset    token -> arrival, a number that grows
--       3 gh:{lock:<name>}:c   hash    client -> until when (us) its waiters count as alive, and behind a
--                              blank how long a turn is kept for them if that is not 200 ms
--       [4] gh:epoch           only with a birth: see epoch.lua
-- ARGV  1 token     "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       2 sequence  comes back as the first element of the reply
--       3 lease us
--       4 patience  us that the waiter counts as alive without asking again; 0: do not wait
--       5 window    us that a turn is to be kept for this waiter when it is told, and at least for any other
--       6 not after us of the store's clock; later, nothing is granted and nobody queued (a frozen server's
--                   backlog, or a dead link's); 0: none
--       7 not before us of the store's clock; earlier, nothing is granted (quarantine after a loss); 0: none
--       [8] birth   of the store as the client knows it; left out: it does not matter
-- reply as client/lease_acquire.lua
--       error STALE if the store has another birth, CORRUPT if a key is not of the form that KEYS.md describes
-- hint  to gh:wake:<client> "<sequence, 16 hex digits>" when the turn is kept for another waiter, and the
--       same with a "w" behind it to one that should ask when the turn is over
--
-- Stopped between two writes, it leaves a lock that is free, or kept for a waiter, or a queue with one place less
-- or one number of waiters more than there are: each is mended by whoever asks next.
-- Redis 6.2 or later.

local birth_key, birth = KEYS[4], ARGV[8]
--@ client/birth.lua

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local not_after, not_before = tonumber(ARGV[6]), tonumber(ARGV[7])
local stored = redis.call('GET', KEYS[1])

-- The common case first: free, and nobody waits.
local last_owner, last_fence = '', '0'
if stored then
    last_owner, last_fence = string.match(stored, '^(%S+) (%d+) 0 f 0$')
end
if last_owner and last_owner ~= ARGV[1] and now >= not_before and (not_after == 0 or now <= not_after) then
    local lease, next_fence = tonumber(ARGV[3]), math.max(last_fence + 1, now)
    if next_fence < 9007199254740992 then
        redis.call('SET', KEYS[1], string.format('%s %.0f %.0f h 0', ARGV[1], next_fence, now + lease),
                   'PX', lease <= 900000000 and '3600000' or math.floor(lease / 250))
        return string.format('%s 0 %.0f %.0f 0 %.0f', ARGV[2], next_fence, lease, now)
    end
end

local WAITERS_MAX = 100000

local state_key, queue_key, client_key = KEYS[1], KEYS[2], KEYS[3]
local token, lease = ARGV[1], tonumber(ARGV[3])
local patience, window = tonumber(ARGV[4]), tonumber(ARGV[5])

--@ lock/lock_state.lua
local added = nil
--@ client/late.lua

local function answer(code, remaining, position)
    return string.format('%s %d %.0f %.0f %d %.0f', ARGV[2], code, fence, remaining, position, now)
end

local function store()
    local keep = math.max(IDLE_MS, math.floor(lease / 250))
    local text = string.format('%s %.0f %.0f %s %d%s', owner, fence, expiry, state, waiters, late)
    redis.call('SET', state_key, text, 'PX', keep)
end

local function grant()
    fence = math.max(fence + 1, now)
    owner, expiry, state = token, now + lease, 'h'
    store()
    return answer(0, lease, 0)
end

if owner == token and state ~= 'r' then
    if state == 'h' and expiry > now then
        return answer(0, math.min(expiry - now, lease), 0)
    end
    return answer(3, 0, 0)
end
if not_after > 0 and (now > not_after or is_late) then
    return answer(4, 0, 0)
end
if now < not_before then
    return answer(5, not_before - now, 0)
end
if owner == token then -- kept for us: claim it, even a little late, as long as nobody else has noticed
    return grant()
end

--@ client/hint.lua
--@ client/line.lua

local function wait()
    if patience == 0 then
        return answer(2, math.max(expiry - now, 0), 0)
    end
    local place = redis.call('ZRANK', queue_key, token)
    if not place then
        waiters = redis.call('ZCARD', queue_key) + 1
        if waiters > WAITERS_MAX then
            return answer(6, 0, 0)
        end
    end
    live(patience)
    if not place then
        store() -- counted before it is there: never fewer are counted than wait
        place = enqueue(token) and waiters - 1 or redis.call('ZRANK', queue_key, token)
    end
    redis.call('PEXPIRE', queue_key, IDLE_MS)
    return answer(1, math.max(expiry - now, 0), place + 1)
end

if state ~= 'f' and expiry > now then
    return wait()
end

-- Free, or its time is over. Whoever came first is next; that may be us.
if waiters == 0 then
    return grant()
end
if state == 'r' then -- it slept through its turn: its waiters enqueue again when they ask
    redis.call('HDEL', client_key, string.sub(owner, 1, 16))
end

--@ lock/lock_queue.lua

local head, behind, gone, turn = next_waiter()
if head == false then
    return redis.error_reply('CORRUPT lock queue is longer than any that KEYS.md describes')
elseif gone > 0 then -- before they are not counted any more: never fewer are counted than wait
    redis.call('ZREMRANGEBYRANK', queue_key, 0, gone - 1)
end
if head == token or (not head and waiters == 0) then
    return grant()
end
if head then
    owner, fence, expiry, state = head, math.max(fence + 1, now), now + turn, 'r'
else
    owner, expiry, state = '-', 0, 'f'
end
store()
local reply = wait()
if head then
    hint_all({head}, behind)
end
return reply
