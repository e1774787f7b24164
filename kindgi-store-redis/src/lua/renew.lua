
-- Holds a key for longer, never for less. ARGV: time, key, token, hold.
local key, token, hold = ARGV[2], ARGV[3], ARGV[4]

local record = read(key)
if not is_held(record, token) then return 0 end
local ends = later(hold)
if ends > record[END] then
  record[END] = ends
  put(key, record, record)
end
return 1
