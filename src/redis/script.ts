/**
 * All that is done in the store, in one script, so that each change is one step with its expiry.
 *
 * The key is a hash: `level` in millionths of a token (below 0 is debt) at `since`, in microseconds of the server's
 * clock, so that whole rates stay whole numbers; `taken`, the tokens handed out since `epoch`, when the hash was made;
 * `hold`, when a pause ends; `rate` and `window` once they were set at run time. A reservation is known by its place:
 * the value of `taken` behind it. What is due at a place can be worked out at any time, whoever has come after it.
 *
 * When the server's clock is set back nothing is gained and nothing lost: the level goes on from the new time.
 *
 * ARGV: command, rate, window, and what the command needs. Every command answers `epoch, rate, window, level, hold left,
 * taken` and what it has found. Numbers are sent as text, for replies cut off fractions. A reservation is due a number of
 * microseconds from now.
 */
export const SCRIPT = `local key, command = KEYS[1], ARGV[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local kept = redis.call('HMGET', key, 'epoch', 'level', 'since', 'taken', 'hold', 'rate', 'window')
local epoch = kept[1] or (clock[1] .. '.' .. clock[2])
local rate, window = tonumber(kept[6] or ARGV[2]), tonumber(kept[7] or ARGV[3])
local is_set = kept[6] and true
local most = math.max(1, rate * window) * 1000000
local level, since = tonumber(kept[2] or most), tonumber(kept[3] or now)
local taken, hold = tonumber(kept[4] or 0), tonumber(kept[5] or 0)
local found = {}

local function text(number) return string.format('%.17g', number) end
local function add(millionths) level = math.min(most, level + millionths) end
local function gain(to)
  add((to - since) * rate)
  since = to
end
local function release()
  level = math.min(level, 1000000)
  hold = 0
end

if now < since then
  if hold > 0 then hold = hold - since + now end
  since = now
end
if hold > 0 and hold <= now then
  gain(math.max(hold, since))
  release()
end
gain(now)

local function due(place)
  local ahead = (taken - place) * 1000000
  local there = level + ahead
  if hold == 0 then return math.max(0, -there) / rate end
  there = math.min(there + (hold - now) * rate, 1000000 + ahead)
  return hold - now + math.max(0, -there) / rate
end

if command == 'reserve' then
  local first
  for index = 5, hold == 0 and #ARGV or 0 do
    local tokens = tonumber(ARGV[index])
    local wait = math.max(0, tokens * 1000000 - level) / rate
    if first and wait - first > tonumber(ARGV[4]) then break end
    first = first or wait
    level = level - tokens * 1000000
    taken = taken + tokens
    found[#found + 1] = text(wait)
  end
elseif command == 'look' then
  for index = 5, ARGV[4] == epoch and #ARGV or 0 do found[#found + 1] = text(due(tonumber(ARGV[index]))) end
elseif command == 'take' then
  local tokens = tonumber(ARGV[4])
  if hold == 0 and level >= tokens * 1000000 then
    level = level - tokens * 1000000
    taken = taken + tokens
    found[1] = '1'
  end
elseif command == 'give' then
  if ARGV[4] == epoch and tonumber(ARGV[5]) == taken then
    add(tonumber(ARGV[6]) * 1000000)
    taken = taken - tonumber(ARGV[6])
  end
elseif command == 'charge' then
  level = level - tonumber(ARGV[4]) * 1000000
  taken = taken + tonumber(ARGV[4])
elseif command == 'refund' then
  add(tonumber(ARGV[4]) * 1000000)
elseif command == 'pause' then
  hold = math.max(hold, now + tonumber(ARGV[4]) * 1000)
elseif command == 'resume' then
  if hold > 0 then release() end
elseif command == 'rate' then
  rate, window = tonumber(ARGV[4]) or rate, tonumber(ARGV[5]) or window
  is_set = true
  most = math.max(1, rate * window) * 1000000
  add(0)
  redis.call('HSET', key, 'rate', text(rate), 'window', text(window))
end

local left = math.max(0, hold - now)
if command ~= 'look' then
  redis.call('HSET', key, 'epoch', epoch, 'level', text(level), 'since', text(since), 'taken', text(taken), 'hold', text(hold))
  local full = math.max((most - level) / rate, left + (left > 0 and (most - 1000000) / rate or 0))
  if is_set then
    redis.call('PERSIST', key)
  else
    redis.call('PEXPIRE', key, string.format('%.0f', math.min(math.ceil(full / 1000) + 1000, 9000000000000000)))
  end
end
return { epoch, text(rate), text(window), text(level / 1000000), text(left), text(taken), unpack(found) }
`;

/** What EVALSHA knows the script by. A constant, for no hash is at hand everywhere; a test compares the two. */
export const SCRIPT_SHA = "76c6324795e0d965d9b9d8b50e02d5821efa88b1";
