
-- Drops some of what has ended, and says how much. ARGV: time, limit.
return drop_ended(tonumber(ARGV[2]))
