-- mark: what a client did last to an object: is this the same again, or a request from the past? One client's mark,
-- the resident's, lies in a hash that the object's script writes anyway; another client becomes the resident when
-- that one has been silent for ten minutes. Each other mark lies on one of 256 shelves, by the client's first two
-- hex digits, and so nobody is one writer too many. A shelf goes 20 minutes after its last write; each client that
-- comes to it takes a few marks away that are older than that.
--
-- A copy that a dead link held back may find no mark any more, or one of before, and what it asks for may be wanted no
-- longer: so what is not the same again may come until `not after`, by when its client has given up the link. Later it
-- is told the error LATE and the time: nobody waits for that answer, but for somebody who has the store's clock wrong.
--
--   gh:{<kind>:<name>}:w<2 hex digits>   hash   client -> "<seconds since 1970> <sequence> <answer>"
--   field w of the object's own hash            "<client> <seconds since 1970> <sequence> <answer>"
--
-- wants client, sequence, both also in ARGV[1] and ARGV[2]; time
--       `not after`, us of the store's clock, behind the two in ARGV[1]; 0, or nothing there: no limit
--       shelf_key  of this client: gh_request_mark_key
--       resident   field w of the object's hash, false: there is none yet; nil: the object has no such hash
-- gives past         sequence of the client's last request, -1: not known. As large as this one is the same again;
--                    larger: this one is from the past, and must do nothing
--       said         what the same request was answered, if past == sequence
--       is_resident  the new mark goes to field w: mark_head .. answer; else it goes to shelve(mark_head .. answer)

local MARKS_MAX = 2048 -- of a shelf: more are not ours, and too many to let go at once
local WINDOW_S = 600   -- longer than any client repeats a request

local past, said, is_resident, shelve = -1, nil, true, nil
local mark, mark_at, marked_s = resident, 18, nil
if not resident or string.sub(resident, 1, 16) ~= client then
    mark, mark_at, is_resident = redis.call('HGET', shelf_key, client), 1, resident == false
end
if mark then
    marked_s, past = string.match(mark, '^(%d+) (%d+) ', mark_at)
    past = tonumber(past)
    if not past or past > 9007199254740991 then
        return redis.error_reply('CORRUPT mark is not of the form that KEYS.md describes')
    elseif past == sequence then
        said = string.match(mark, '^%d+ %d+ (.*)$', mark_at)
    end
end
if past < sequence then
    local now_us, not_after = time[1] * 1000000 + time[2], tonumber(string.sub(ARGV[1], 35)) or 0
    if not_after > 0 and now_us > not_after then
        return redis.error_reply(string.format('LATE the request comes too late, it is %.0f', now_us))
    end
end
if mark_at == 1 then
    local now_s = time[1] + 0
    local window = now_s - now_s % WINDOW_S -- its first second
    local is_new = not mark or marked_s + 0 < window -- in this window
    if is_new and resident then
        local seen = tonumber(string.match(resident, '^%x+ (%d+) %d+ '))
        if not seen then
            return redis.error_reply('CORRUPT mark is not of the form that KEYS.md describes')
        end
        is_resident = seen + WINDOW_S < now_s
    end
    if is_new and not is_resident and redis.call('HLEN', shelf_key) >= MARKS_MAX then
        return redis.error_reply('CORRUPT shelf of marks is not of the form that KEYS.md describes')
    end

    shelve = function(text)
        redis.call('HSET', shelf_key, client, text)
        if is_new then
            redis.call('PEXPIREAT', shelf_key, (window + 2 * WINDOW_S) * 1000)
            local some = redis.call('HRANDFIELD', shelf_key, -8, 'WITHVALUES')
            for i = 2, #some, 2 do
                if (tonumber(string.match(some[i], '^%d+')) or 0) + WINDOW_S < window then
                    redis.call('HDEL', shelf_key, some[i - 1])
                end
            end
        end
    end
end
local mark_head = (is_resident and client .. ' ' or '') .. time[1] .. ' ' .. ARGV[2] .. ' '
