-- command: one command, named by its arguments. Used behind fenced.lua, where a command alone could not be
-- conditional.
--
-- KEYS  the keys that the command touches, if the caller named them
-- ARGV  the command's name and its arguments

return redis.call(unpack(ARGV))
