
-- Forgets what is about a thing. ARGV: time, tenant, thing.
local tenant, thing = ARGV[2], ARGV[3]

local about, held = 'a' .. tenant .. thing, 'h' .. tenant
for _, key in ipairs(found(about)) do
  local record = read(key)
  -- An entry without its answer is left of one that was evicted; the key may be held again.
  if record and record[STATE] == KEPT and has(record[LIST], thing) then remove(key, record) end
  redis.call('ZREM', INDEX, about .. key)
end
-- Also of holds that have ended: it is the order of the steps that counts, not the clock.
for _, key in ipairs(found(held)) do
  local record = read(key)
  if not record then
    redis.call('ZREM', INDEX, held .. key)
  elseif not has(record[LIST], thing) then
    if #record[LIST] < MOST then
      table.insert(record[LIST], thing)
    else
      record[LIST] = { ALL }
    end
    put(key, record, record)
  end
end
