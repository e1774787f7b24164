
-- Keeps an answer. ARGV: time, key, token, step, keep, answer, and what it is about.
local key, token, step, keep, answer = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local record = read(key)
if record and record[STEP] == step then
  return record[STATE] == KEPT and 'kept' or 'forgotten'
end
if not is_held(record, token) then return 'lost' end
local about = {}
for number = 7, #ARGV do
  if has(record[LIST], ARGV[number]) then
    free(key, record, step)
    return 'forgotten'
  end
  about[#about + 1] = ARGV[number]
end
local kept = { KEPT, later(keep), record[BODY], record[TENANT], '', now, about, step }
put(key, kept, record, answer)
return 'kept'
