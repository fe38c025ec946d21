-- tasks_take: hands out tasks for the time of a lease. Class by class come the tasks that are due, first due first,
-- and after them the ready ones, first come first. In a queue with groups, tasks that are due join the lines; then,
-- class by class, the groups take turns. If there are leases that ran out, tasks_back.lua comes first.
--
-- KEYS  1 gh:{tasks:<queue>}:c   hash   paused ("1" or "0"), running_max ("0": none), rate ("<count> <period us>
--                     <burst>", or empty: none), bucket (us when the burst is whole again), groups ("1": there may be
--                     tasks with a group), credit ("<c0> <c1> <c2> <c3>": by how many tasks each class is behind its
--                     share)
--       2 :l   zset   id -> end of the lease (us)
--       3 :p   hash   see tasks_push.lua
--       4 :m   hash   id -> "<state> <attempt> <fence> <worker> <text>"; no entry: not handed out yet, or
--                     over at the first attempt without a result. States: L leased; K leased, to be
--                     cancelled; W waits for another attempt in :d; R ready again in :r; X dead, text is the
--                     reason; D done, text is the result; C cancelled; V cancelled, and its place in :r is still
--                     there. worker "<client, 16 hex digits>:<sequence, 16 hex digits>"
--       5 :w   hash   worker -> "<written us> <receipt us> <sequence> <fence> <id>", and NUL and another id for each
--                     other task of its last hand-out: the receipt by which a repeat is known; no id at all: nothing
--                     was handed out. "generation" -> the generation of the store's data, see client/epoch.lua
--       6 :i   zset   see tasks_push.lua
--       7 :t   zset   see tasks_push.lua
--       8..11 :r0 .. :r3   12..15 :d0 .. :d3   16 :q   17 :g   see tasks_push.lua
-- ARGV  1 worker
--       2 sequence   comes back as the first element of the reply; a worker has one unanswered take at a time, and a
--                    larger sequence each time
--       3 lease us
--       4 want       tasks at most, up to 50
--       5 bytes      of ids and values together at most
--       6 most       bytes of a single value; of a longer one the beginning comes, and says so
--       7 not after  us of the store's clock; later, nothing is handed out: a copy that hung on the way is answered
--                    to nobody. 0: no limit
--       8 sleeper    "<client>:<sequence>" that wants a hint when nothing is there; empty: none
--       9 receipt us how long a copy of this take may be sent or under way
--      10 weights    "<w0> <w1> <w2> <w3>": of the tasks handed out, a class that has some gets its weight's
--                    share, less at most 3 tasks; empty: a class is served when all before it are empty
--      11 generation of the store's data, as the client knows it; 0: not known
--      12 twice      "1": another copy may be under way
--      13 put back   "1": tasks_back.lua came first, what it has left stays where it is
--      [14] look     at how many places to look for so many tasks, if not at `want`: more of them. For one whose answer
--                    before had no task, as it met only what is left over
--      [15] need     nothing is handed out before so many can be, in one piece; at most 30, by weight 6. Not there: 1
-- reply sequence, code, now us, fence, remaining us, next us, tasks ...
--       code 0 given         perhaps none: then ask again at once
--            1 empty
--            2 paused
--            3 stale         past `not after`
--            4 over rate
--            5 over running  as many as running_max are
--            6 late          a later take of this worker was answered before
--            7 lapsed        leases ran out: tasks_back.lua comes first
--            8 too large     the tasks that have to come together are larger than `bytes`
--       of each task id, attempt, value
--       attempt    1, 2, 3, ...; below zero: the value was too long and is cut, and should be tried again, as
--                  another worker may have the room
--       fence      of this hand-out: larger than that of every earlier one of each of its tasks
--       remaining  of the lease
--       next       if nothing was handed out: until a task is due or a lease runs out; 4: until one may be
--                  handed out, or `need` of them
--       or the error STALE: the store's data is of a later generation
--
-- A repeat (same worker and sequence) gets the same tasks, with what is left of the lease. A late copy, of a take that
-- was answered long ago, does nothing: the worker's receipt names its sequence or a larger one. Where nothing is handed
-- out there is no receipt, unless another copy may be under way.
--
-- Home. The state in :m says where a task lies: L and K in :l; W in :d; R in :r or :q; X in :x; without an entry in :r,
-- :q or :d, as it was pushed. Each script of the queue writes the new place first, then the state, and takes the old
-- place away last; a payload comes after its first place, and goes before its last. So wherever a script is stopped,
-- the task still lies where its state says, and an id that lies elsewhere, or has no payload, is left over: whoever
-- comes by takes it away.
-- Begins with PERSIST, which a server that is out of memory still allows: workers must be able to drain it.

--@ client/check.lua

-- 2^50: see :g in tasks_push.lua.
local TURNS = 1125899906842624
local NEVER_US = 86400000000
-- What is left of a value that is cut: all that comes before the payload.
local CUT = 192
-- See tasks_push.lua.
local LONG = '-----------------------------------------------------------------'
-- Of :m.
local MARK = '^(%u) (%d%d?%d?%d?%d?) (%d+) '

local call, match, sub, format = redis.call, string.match, string.sub, string.format
local min, max = math.min, math.max
local c_key, l_key, p_key, m_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local w_key, i_key, t_key, q_key, g_key = KEYS[5], KEYS[6], KEYS[7], KEYS[16], KEYS[17]
local worker, sequence, lease = ARGV[1], ARGV[2] + 0, ARGV[3] + 0
local want, bytes, most = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
local not_after, generation, need = ARGV[7] + 0, ARGV[11], (ARGV[15] or 1) + 0

local time = call('TIME')
local now = time[1] * 1000000 + time[2]
-- Numbers given to redis.call are formatted anew each time, and slowly.
local now_text = time[1] .. sub('00000' .. time[2], -6)

-- Sees to it that the value of the i-th is there. They are asked for in their order, four at a time, until there are
-- enough bytes of them: an answer of more than 16 KiB is copied about by the server, and nobody knows how large the
-- next values are. Where one is not there, more are likely not to be, and so they are asked for sixteen at a time.
local function read(values, ids, i)
    if i <= #values then return end
    local piece = call('HMGET', p_key, unpack(ids, i, min(i + (values[i - 1] == false and 15 or 3), #ids)))
    for k = 1, #piece do values[i + k - 1] = piece[k] end
end

-- ---- a repeat, or a copy that is late ---------------------------------------------------------------------

local saved = call('HMGET', w_key, worker, 'generation')
--@ tasks/generation.lua
local written, past, last_fence, at = match(saved[1] or '0 0 0 0 ', '^(%d+) %d+ (%d+) (%d+) ()')
if not at then return corrupt('a receipt') end
past = tonumber(past)
if past == sequence then
    --@ tasks/take_again.lua
end
local soonest = call('ZRANGE', l_key, '0', '0', 'WITHSCORES')[2]
local no = past > sequence and 6 or not_after > 0 and now > not_after and 3 or
           soonest and tonumber(soonest) <= now and ARGV[13] ~= '1' and 7
if no then return {sequence, no, now, 0, 0, 0} end

-- ---- whether, and how many --------------------------------------------------------------------------------

-- Most queues have neither a word said about them nor a task delayed, and one call tells that.
local plain = call('EXISTS', c_key, unpack(KEYS, 12, 15)) == 0
local control = {}
if not plain then
    control = call('HMGET', c_key, 'paused', 'running_max', 'credit', 'groups', 'rate', 'bucket')
end
local weighted, grouped = ARGV[10] ~= '', control[4]
local refusal, interval, burst, full_at, limit
if not plain then
    --@ tasks/take_rules.lua
end

-- Fewer are there than have to come together.
local short
if need > 1 and not refusal then
    --@ tasks/take_min.lua
end

-- ---- which ones -------------------------------------------------------------------------------------------

local function add_all(command, key, list)
    if #list > 0 then call(command, key, unpack(list)) end
end

local function append(list, first, second)
    local at = #list
    list[at + 1], list[at + 2] = first, second
end

-- The first of each class: where they are, and how many were taken of them.
local sources, joined, before, broken, turns_max, join, take_turns, end_turns, hold_turns, missing = {}, 0, 0
-- In the ring, with empty lines: their tasks were cancelled.
local spent = {}
if grouped and not refusal and not short then
    --@ tasks/take_turns.lua
end

local function add_source(class, key, state, ids)
    if #ids > 0 then append(sources, {class = class, key = key, state = state, ids = ids, used = 0}) end
    return #ids
end

missing = (refusal or short) and 0 or (ARGV[14] or want) + 0
for class = 0, 3 do
    local found, due, ready = 0, KEYS[12 + class], KEYS[8 + class]
    if missing < 1 then
        break
    elseif grouped then
        join(class)
        found = take_turns(class, max(1, min(missing, turns_max - joined)))
    else
        if not plain then
            found = add_source(class, due, 'W', call('ZRANGEBYSCORE', due, '-inf', now_text, 'LIMIT', '0', missing))
        end
        if found < missing then
            found = found + add_source(class, ready, 'R', call('LRANGE', ready, '0', missing - found - 1))
        end
    end
    if not weighted then missing = missing - found end
end
if broken then return corrupt('a state') end

local ids, origin, credit, deal
if weighted then
    --@ tasks/take_shares.lua
end
if #sources == 1 then
    ids = sources[1].ids
elseif #sources > 1 then
    ids, origin = {}, {}
    for _, class in ipairs(weighted and deal(missing) or {0, 1, 2, 3}) do
        for i = 1, #sources do
            local source = sources[i]
            local from = source.dealt or 1
            if source.class == class and source.ids[from] then
                source.dealt = from + 1
                for k = from, weighted and from or #source.ids do
                    ids[#ids + 1], origin[#ids + 1] = source.ids[k], source
                end
                if weighted then break end
            end
        end
    end
end

-- ---- and handed out ---------------------------------------------------------------------------------------

local reply, taken, fence_text, count = {sequence, 0, now, 0, lease, 0}, {}, '0', 0
if ids then
    --@ tasks/take_choose.lua
    if need > 1 and count < need then
        --@ tasks/take_hold.lua
    else
        --@ tasks/take_hand_out.lua
    end
end
if not ids or short and reply[2] == 0 then
    --@ tasks/take_nothing.lua
end

-- ---- what is left behind ----------------------------------------------------------------------------------

local anew
if count > 0 or ARGV[12] == '1' then
    local text = now_text .. ' ' .. ARGV[9] .. ' ' .. ARGV[2] .. ' ' .. fence_text .. ' ' .. table.concat(taken, '\0')
    if saved[2] == generation or generation == '0' then
        call('HSET', w_key, worker, text)
    else
        call('HSET', w_key, worker, text, 'generation', generation)
    end
    -- A worker sees to the life of :w once in 100 s.
    anew = sub(written, 1, -9) ~= sub(now_text, 1, -9)
end
if anew or count == 0 then
    --@ tasks/over.lua
    if anew then keep_until(w_key, now + ARGV[9] + 100000000) end
    if count == 0 and call('EXISTS', p_key) == 0 then clear() end
end
return reply
