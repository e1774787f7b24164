
-- Claims a key. ARGV: time, key, tenant, body, token, hold.
local key, tenant, body, token, hold = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- More than one claim adds, so that the keys don't grow though nobody should purge.
drop_ended(8)

local record, answer = read(key)
local claim = { HELD, later(hold), body, tenant, token, 0, {}, '' }
if record and record[STATE] ~= FREED and record[END] > now then
  -- Changes nothing, and is refused by a replica, which may not know what was forgotten since.
  redis.call('HDEL', RECORDS, '')
  if record[BODY] ~= body then return { 'other' } end
  if record[STATE] == KEPT then return { 'kept', record[AT], answer } end
  if record[TOKEN] ~= token then return { 'held', record[END] - now } end
  -- The claim comes again: it began with the first one.
  claim[END] = math.max(claim[END], record[END])
  claim[LIST] = record[LIST]
  claim[STEP] = record[STEP]
elseif record and record[STATE] == FREED then
  claim[STEP] = record[STEP]
end
put(key, claim, record)
return { 'run' }
