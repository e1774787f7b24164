-- Counts a request of a caller, unless it is limited (GCRA). An answer of 0 lets it through, any
-- other is for how many microseconds the caller has to wait.
--
-- KEYS[1]: the caller. ARGV: seconds and microseconds since the epoch, or nothing for the server's;
-- requests per second; burst; a mark of this call, by which it knows itself when it comes again.
--
-- All is counted in parts of a microsecond, as many as there are requests per second: so the time
-- of a request, 1000000 of them, is whole at any rate. Seconds are kept apart, since both together
-- have more digits than a number.
local rate, burst, call = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local SECOND, REQUEST = 1000000 * rate, 1000000

local seconds, micros = tonumber(ARGV[1]), tonumber(ARGV[2])
if not seconds then
  local time = redis.call('TIME')
  seconds, micros = tonumber(time[1]), tonumber(time[2])
end

-- How far ahead of now the caller's requests reach.
local ahead = 0
local packed = redis.call('GET', KEYS[1])
if packed then
  local until_seconds, until_parts, last = cmsgpack.unpack(packed)
  if last == call then return 0 end
  ahead = math.max(0, (until_seconds - seconds) * SECOND + until_parts - micros * rate)
end

local wait = ahead - (burst - 1) * REQUEST
if wait > 0 then return math.ceil(wait / rate) end

ahead = ahead + REQUEST
local parts = micros * rate + ahead
local state = cmsgpack.pack(seconds + math.floor(parts / SECOND), parts % SECOND, call)
if ARGV[1] == '' then
  -- By then the caller has the whole burst again, and need not be remembered.
  redis.call('SET', KEYS[1], state, 'PX', math.ceil(ahead / rate / 1000) + 1)
else
  -- The server's clock says nothing of a time that is passed in.
  redis.call('SET', KEYS[1], state)
end
return 0
