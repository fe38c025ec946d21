-- sweep: some receipts are drawn, and those that are not needed any more go.
--
-- wants call, match, now, w_key, drawn (how many)
-- gives nothing
--
-- Who leaves a receipt each time and draws more than two is outrun by nobody.

local sample = call('HRANDFIELD', w_key, drawn, 'WITHVALUES')
for i = 1, #sample, 2 do
    local written, needed = match(sample[i + 1], '^(%d+) (%d+) ')
    if written and written + needed < now then call('HDEL', w_key, sample[i]) end
end
