-- command: one command, named by its arguments. Used behind fenced.lua, where a command alone could not be
-- conditional.
--
-- KEYS  1 ...   those that the command touches, if the caller named them
-- ARGV  1 ...   its name and its arguments
-- reply is the command's

return redis.call(unpack(ARGV))
