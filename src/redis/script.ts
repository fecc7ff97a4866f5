/**
 * All that is done in the store, in one script, so that each change is one step with its expiry.
 *
 * The key is a hash: a bucket for each dimension, as it is at `since`, in microseconds of the server's clock, and the
 * `line` of those that have reserved: how the waiting line of one process works, with a reservation for a caller. A
 * reservation takes its tokens when it is due, in the order of the line, and is out of it then, whether the process that
 * made it still lives or not. `told` is when its process believes it due: it takes nothing before that, for its process
 * grants nothing before. What is due when can so be worked out anew at any time.
 *
 * Levels and costs are in millionths of a token, so that whole rates stay whole numbers; a level below 0 is debt. `hold`
 * is when a pause ends. `seq` numbers reservations, and whatever else takes tokens. `rate` and `window` of a dimension are
 * there once they were set at run time. When the server's clock is set back nothing is gained and nothing lost.
 *
 * ARGV: command, number of dimensions, rate and window of each, and what the command needs. Every command answers epoch
 * and hold left, rate and window of each dimension where they were set, its level less what is reserved, and what it has
 * found: of a reservation its number, the time from now until it heads the line, and until its tokens of each dimension
 * are there.
 * Numbers are sent as text, for replies cut off fractions, and stay finite, for of two that are not the difference is none.
 */
export const SCRIPT = `local key, command, dimensions = KEYS[1], ARGV[1], tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local kept = {}
local fields = redis.call('HGETALL', key)
for index = 1, #fields, 2 do kept[fields[index]] = fields[index + 1] end

local function finite(number)
  return math.min(number, 1e300)
end
local epoch = kept.epoch or (clock[1] .. '.' .. clock[2])
local hold, seq = tonumber(kept.hold or 0), tonumber(kept.seq or 0)
local rate, window, most, is_set = {}, {}, {}, false
local bucket = { at = tonumber(kept.since or now) }
for d = 1, dimensions do
  is_set = is_set or kept['rate' .. d] ~= nil
  rate[d] = tonumber(kept['rate' .. d] or ARGV[1 + 2 * d])
  window[d] = tonumber(kept['window' .. d] or ARGV[2 + 2 * d])
  most[d] = finite(math.max(1, rate[d] * window[d]) * 1000000)
  bucket[d] = tonumber(kept['level' .. d] or most[d])
end
local line = {}
for text, id, told, rest in string.gmatch(kept.line or '', '((%S+) (%S+)([^;]*);)') do
  local entry = { text = text, id = tonumber(id), told = tonumber(told) }
  for cost in string.gmatch(rest, '%S+') do entry[#entry + 1] = tonumber(cost) end
  line[#line + 1] = entry
end

local function text(number)
  if number == 0 then return '0' end
  return string.format('%.17g', number)
end
local function tell(entry, at)
  entry.told, entry.text = at, nil
end
local function args_of(first)
  local amounts = {}
  for d = 1, dimensions do amounts[d] = tonumber(ARGV[first + d - 1]) * 1000000 end
  return amounts
end
local function gain(levels, to, head)
  for d = 1, dimensions do
    local cap = math.max(most[d], head and head[d] or 0)
    levels[d] = math.min(cap, levels[d] + (to - levels.at) * rate[d])
  end
  levels.at = to
end
local function release(levels)
  for d = 1, dimensions do levels[d] = math.min(levels[d], 1000000) end
end
local function fits_at(levels, entry, d)
  if entry[d] == 0 then return levels.at end
  return finite(levels.at + math.max(0, entry[d] - levels[d]) / rate[d])
end
local function due(levels, entry)
  local at = math.max(levels.at, entry.told)
  for d = 1, dimensions do at = math.max(at, fits_at(levels, entry, d)) end
  return at
end
local function take(levels, entry, at)
  gain(levels, at, entry)
  for d = 1, dimensions do levels[d] = levels[d] - entry[d] end
end

if now < bucket.at then
  local back = bucket.at - now
  if hold > 0 then hold = hold - back end
  for _, entry in ipairs(line) do tell(entry, entry.told - back) end
  bucket.at = now
end
if hold > 0 and hold <= now then
  gain(bucket, math.max(hold, bucket.at), line[1])
  release(bucket)
  hold = 0
end
while hold == 0 and line[1] do
  local at = due(bucket, line[1])
  if at > now then break end
  take(bucket, line[1], at)
  table.remove(line, 1)
end
gain(bucket, now, line[1])

local first, found, asked = 3 + 2 * dimensions, {}, {}
local function find(id)
  for index, entry in ipairs(line) do
    if entry.id == id then return index, entry end
  end
end
local function spend(amounts)
  seq = seq + 1
  for d = 1, dimensions do bucket[d] = bucket[d] - amounts[d] end
end
local function put_back(amounts)
  for d = 1, dimensions do bucket[d] = bucket[d] + amounts[d] end
end

if command == 'reserve' and hold == 0 then
  local entry = args_of(first)
  entry.told = 0
  if #line == 0 and due(bucket, entry) <= now then
    spend(entry)
    found = { text(seq), '0' }
    for d = 1, dimensions do found[#found + 1] = '0' end
  else
    seq = seq + 1
    entry.id = seq
    line[#line + 1] = entry
    asked[seq] = true
  end
elseif command == 'look' and ARGV[first] == epoch then
  for index = first + 1, #ARGV do
    local _, entry = find(tonumber(ARGV[index]))
    if entry then
      tell(entry, 0)
      asked[entry.id] = true
    end
  end
elseif command == 'take' and hold == 0 and #line == 0 then
  local amounts = args_of(first)
  amounts.told = 0
  if due(bucket, amounts) <= now then
    spend(amounts)
    found = { text(seq) }
  end
elseif command == 'give' and ARGV[first] == epoch then
  for at = first + 1, #ARGV, 1 + dimensions do
    local id, amounts = tonumber(ARGV[at]), args_of(at + 1)
    local index, entry = find(id)
    if entry then
      local left, earlier = 0, math.huge
      for d = 1, dimensions do
        local given = math.min(entry[d], amounts[d])
        entry[d] = entry[d] - given
        left = left + entry[d]
        earlier = math.min(earlier, given / rate[d])
      end
      tell(entry, entry.told - finite(earlier))
      if left == 0 then table.remove(line, index) end
    elseif id == seq then
      put_back(amounts)
    end
  end
elseif command == 'charge' then
  spend(args_of(first))
elseif command == 'refund' then
  put_back(args_of(first))
elseif command == 'pause' then
  hold = math.max(hold, finite(now + tonumber(ARGV[first]) * 1000))
elseif command == 'resume' then
  if hold > 0 then release(bucket) end
  hold = 0
elseif command == 'rate' then
  is_set = true
  for d = 1, dimensions do
    local new_rate, new_window = ARGV[first + 2 * d - 2], ARGV[first + 2 * d - 1]
    if new_rate ~= '' or new_window ~= '' then
      rate[d] = tonumber(new_rate) or rate[d]
      window[d] = tonumber(new_window) or window[d]
      most[d] = finite(math.max(1, rate[d] * window[d]) * 1000000)
      kept['rate' .. d], kept['window' .. d] = text(rate[d]), text(window[d])
      redis.call('HSET', key, 'rate' .. d, kept['rate' .. d], 'window' .. d, kept['window' .. d])
    end
  end
end
gain(bucket, now, line[1])

local ahead = { at = bucket.at, unpack(bucket) }
if hold > 0 then
  gain(ahead, hold, line[1])
  release(ahead)
end
local packed, reserved = {}, {}
for _, entry in ipairs(line) do
  local at = due(ahead, entry)
  if asked[entry.id] then
    tell(entry, at)
    found[#found + 1] = text(entry.id)
    found[#found + 1] = text(ahead.at - now)
    for d = 1, dimensions do found[#found + 1] = text(fits_at(ahead, entry, d) - now) end
  end
  take(ahead, entry, at)
  if not entry.text then
    local parts = { text(entry.id), text(entry.told) }
    for d = 1, dimensions do parts[2 + d] = text(entry[d]) end
    entry.text = table.concat(parts, ' ') .. ';'
  end
  packed[#packed + 1] = entry.text
  for d = 1, dimensions do reserved[d] = (reserved[d] or 0) + entry[d] end
end

local answer = { epoch, text(math.max(0, hold - now)) }
local full = ahead.at
for d = 1, dimensions do
  full = math.max(full, ahead.at + (most[d] - ahead[d]) / rate[d])
  answer[#answer + 1] = kept['rate' .. d] or ''
  answer[#answer + 1] = kept['window' .. d] or ''
  answer[#answer + 1] = text((bucket[d] - (reserved[d] or 0)) / 1000000)
end
for _, value in ipairs(found) do answer[#answer + 1] = value end

if command ~= 'look' or next(asked) then
  local state = { 'since', bucket.at, 'seq', seq }
  local function keep(field, value)
    if value ~= kept[field] then state[#state + 1], state[#state + 2] = field, value end
  end
  keep('epoch', epoch)
  keep('hold', text(hold))
  keep('line', table.concat(packed))
  for d = 1, dimensions do keep('level' .. d, bucket[d]) end
  redis.call('HSET', key, unpack(state))
  if is_set then
    redis.call('PERSIST', key)
  else
    redis.call('PEXPIRE', key, math.min(math.ceil((full - now) / 1000) + 1000, 9000000000000000))
  end
end
return answer
`;

/** What EVALSHA knows the script by. A constant, for no hash is at hand everywhere; a test compares the two. */
export const SCRIPT_SHA = "fb4ec145dde08da6d9d713c0c8caee961f6aa5f7";
