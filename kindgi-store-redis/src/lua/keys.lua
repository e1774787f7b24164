-- What all steps on idempotency keys share.
--
-- KEYS[1]: each key's record. KEYS[2]: keys by the instant they end at. KEYS[3]: an index in byte
-- order: `h`, tenant, key of what is held; `a`, tenant, thing, key of each thing that a kept answer
-- is about. These three are all that is ever touched, so all are known beforehand.
-- ARGV[1]: the time in milliseconds since the epoch, or nothing for the server's.
local RECORDS, ENDS, INDEX = KEYS[1], KEYS[2], KEYS[3]

-- A record's fields. `list` has the things that were forgotten since a claim, or those that an
-- answer is about. `step` marks the call that ended the last hold, by which it knows itself when it
-- comes again: its answer was lost, and it must not find that it has lost its hold.
local STATE, END, BODY, TENANT, TOKEN, AT, LIST, STEP = 1, 2, 3, 4, 5, 6, 7, 8
local HELD, KEPT, FREED = 1, 2, 3

-- For how long a key that was freed is remembered, for the call that freed it to come again.
local REMEMBERED = 60000
-- How many things a hold remembers that were forgotten. Of more it remembers that it is all there
-- are, or what is forgotten would take ever longer.
local MOST, ALL = 256, ''
-- The last instant there is: the end of the year 9999.
local LAST = 253402300799999
-- The length of a key, in bytes.
local LENGTH = 32

-- Looked at once, so that a step has one time.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function later(millis)
  return math.min(now + tonumber(millis), LAST)
end

-- The answer follows the record, so that it is never taken apart.
local function read(key)
  local packed = redis.call('HGET', RECORDS, key)
  if not packed then return nil end
  local at, record = cmsgpack.unpack_one(packed)
  return record, at > 0 and string.sub(packed, at + 1) or ''
end

local function indexed(key, record)
  if record[STATE] == HELD then return { 'h' .. record[TENANT] .. key } end
  local all = {}
  if record[STATE] == KEPT then
    for _, thing in ipairs(record[LIST]) do
      all[#all + 1] = 'a' .. record[TENANT] .. thing .. key
    end
  end
  return all
end

-- A record that isn't there was evicted.
local function remove(key, record)
  for _, entry in ipairs(record and indexed(key, record) or {}) do
    redis.call('ZREM', INDEX, entry)
  end
  redis.call('ZREM', ENDS, key)
  redis.call('HDEL', RECORDS, key)
end

-- In place of the record that was there before, if any.
local function put(key, record, before, answer)
  for _, entry in ipairs(before and indexed(key, before) or {}) do
    redis.call('ZREM', INDEX, entry)
  end
  for _, entry in ipairs(indexed(key, record)) do redis.call('ZADD', INDEX, 0, entry) end
  redis.call('ZADD', ENDS, record[END], key)
  redis.call('HSET', RECORDS, key, cmsgpack.pack(record) .. (answer or ''))
end

-- Only what is held has a token.
local function is_held(record, token)
  return record and record[TOKEN] == token and record[END] > now
end

local function free(key, record, step)
  put(key, { FREED, later(REMEMBERED), '', record[TENANT], '', 0, {}, step }, record)
end

local function has(list, thing)
  for _, other in ipairs(list) do
    if other == thing or other == ALL then return true end
  end
  return false
end

-- The keys of the entries that begin so.
local function found(start)
  local all = redis.call('ZRANGEBYLEX', INDEX,
    '[' .. start, '[' .. start .. string.rep('\255', LENGTH))
  for number, entry in ipairs(all) do all[number] = string.sub(entry, -LENGTH) end
  return all
end

local function drop_ended(limit)
  local ended = redis.call('ZRANGEBYSCORE', ENDS, '-inf', now, 'LIMIT', 0, limit)
  for _, key in ipairs(ended) do remove(key, (read(key))) end
  return #ended
end
