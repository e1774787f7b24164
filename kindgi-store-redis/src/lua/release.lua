
-- Frees a key. ARGV: time, key, token, step.
local key, token, step = ARGV[2], ARGV[3], ARGV[4]

local record = read(key)
if record and record[STEP] == step then return 1 end
if not is_held(record, token) then return 0 end
free(key, record, step)
return 1
