-- files_remove: a file goes at once, whoever still reads or writes it. Repeating it is harmless: the id names
-- the very file that is meant.
--
-- KEYS  1 gh:{file:<name>}:s, 2 gh:{file:<name>}:c, 3 gh:{file:<name>}:o, 4 gh:{file:<name>}:e
--       see files_open.lua
-- ARGV  1 sequence  comes back as the first element of the reply
--       2 id        of the file
-- reply in one text: sequence, code
--       code 0 done       it is gone now
--            1 not there  there is no such file, or it has another id

if redis.call('HGET', KEYS[1], 'i') ~= ARGV[2] then
    return ARGV[1] .. ' 1'
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
return ARGV[1] .. ' 0'
