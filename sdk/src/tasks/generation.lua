-- generation: who knows only an older generation of the store's data is told so, before anything is written.
--
-- wants now, whole, corrupt, generation (the client's; 0: not known), saved (whose second is the one in the key)
-- gives nothing; ends the script with the error STALE

if saved[2] and saved[2] ~= generation and generation ~= '0' then
    local known = whole(saved[2], now + 86400000000)
    if not known then return corrupt('the generation') end
    if known > tonumber(generation) then return redis.error_reply('STALE the data is of generation ' .. saved[2]) end
end
