-- One SCAN step with a look at each key found: how long it still lives and, if asked, whose it is.
--
-- ARGV[1] cursor: where to go on, decimal, 0 to start
-- ARGV[2] pattern: pattern of SCAN MATCH
-- ARGV[3] count: SCAN COUNT, integer, 1 to 1000000
-- ARGV[4] withOwners: 1 to digest the values of strings, 0 not to read them
-- ARGV[5] maxValueBytes: longest value to digest in bytes, integer, 0 to 1048576; of longer ones one byte more is read
-- ARGV[6] prefixes: keys that begin with none of them are left out before they are looked at; each as its length in bytes, a colon and itself, one after the other; empty where the pattern alone decides
-- REPLY sampled <cursor> <serverUs> <tookUs> <keys>: an array; tookUs is an integer; keys is one string, a record for each key
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES no
--
-- A record: left (double), owner (16 bytes), length of the name (4 bytes), name; numbers little-endian.
-- left: PTTL in milliseconds from serverUs; -1 no expiry; -2 the key expired since SCAN saw it; -3 the key's slot
-- is another node's. owner, with spaces behind it: the first 16 hex digits of the SHA-1 of the value; - for a string
-- that is too long, and for a key that expired or moved; :<type> for another type. Without withOwners all spaces.
-- tookUs: what the step cost the server; 0 where its clock stands still while a script runs.
--
-- No TYPE for a string, and one string for all keys: each call costs about as much as the SCAN of the same key, and a
-- client would make several objects of each element of an array. KEYS is empty, so that it runs on any node of a
-- cluster.

local cursor, pattern, count, with_owners, max_value_bytes, prefixes =
  ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local MOVED = -3
local RECORD = '<dc16I4c0'
local SPACES = '                '
local NO_OWNER = '-' .. SPACES
local call, try, sha1hex, sub, pack, type =
  redis.call, redis.pcall, redis.sha1hex, string.sub, struct.pack, type

local function in_range(text, smallest, largest)
  return string.find(text, '^%d+$') and tonumber(text) >= smallest and tonumber(text) <= largest
end

if not string.find(cursor, '^%d+$') then return 'bad_argument cursor' end
if not in_range(count, 1, 1000000) then return 'bad_argument count' end
if not in_range(with_owners, 0, 1) then return 'bad_argument withOwners' end
if not in_range(max_value_bytes, 0, 1048576) then return 'bad_argument maxValueBytes' end

local function read_prefixes()
  local wanted, at = {}, 1
  while at <= #prefixes do
    local _, colon, digits = string.find(prefixes, '^(%d+):', at)
    if not colon or colon + tonumber(digits) > #prefixes then return nil end
    wanted[#wanted + 1] = sub(prefixes, colon + 1, colon + tonumber(digits))
    at = colon + 1 + tonumber(digits)
  end
  return wanted
end

local wanted = read_prefixes()
if not wanted then return 'bad_argument prefixes' end

local function is_wanted(key)
  for i = 1, #wanted do
    if sub(key, 1, #wanted[i]) == wanted[i] then return true end
  end
  return false
end

local function now_us()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local began_us = now_us()
local step = call('SCAN', cursor, 'MATCH', pattern, 'COUNT', count)
local keys = step[2]
if #wanted > 0 then
  -- A foreign key is not even asked for its life: the user may have no right to it.
  local found = keys
  keys = {}
  for i = 1, #found do
    if is_wanted(found[i]) then keys[#keys + 1] = found[i] end
  end
end

local longest = tonumber(max_value_bytes)

-- A slot that moves is listed by a node that may not answer for it.
local function is_moved(reply)
  return string.find(reply.err, 'non local key', 1, true)
end

-- Of the digest, the record takes as much as it has room for.
local function digest(value)
  return #value <= longest and sha1hex(value) or NO_OWNER
end

local function look_by_type(key)
  local name = call('TYPE', key).ok
  if name ~= 'string' then return ':' .. name .. SPACES end
  return digest(call('GETRANGE', key, '0', max_value_bytes))
end

-- GETRANGE alone tells a string from the rest, but each miss counts as an error in the server's statistics. So the
-- first key's type is asked for, and all are from the first miss on: at most one such error in a step.
local by_type = true
local function owner_of(key, is_first)
  if not by_type then
    local value = try('GETRANGE', key, '0', max_value_bytes)
    if type(value) ~= 'table' then return digest(value) end
  end
  local owner = look_by_type(key)
  by_type = not is_first or sub(owner, 1, 1) == ':'
  return owner
end

local fields, count_of_fields = {}, 0
for i = 1, #keys do
  local key = keys[i]
  local left = try('PTTL', key)
  if type(left) == 'table' then
    if not is_moved(left) then return left end
    left = MOVED
  end
  local owner = with_owners == '0' and SPACES or left < -1 and NO_OWNER or owner_of(key, i == 1)
  fields[count_of_fields + 1], fields[count_of_fields + 2] = left, owner
  fields[count_of_fields + 3], fields[count_of_fields + 4] = #key, key
  count_of_fields = count_of_fields + 4
end

-- Many records at a time: a call for each would cost half as much as PTTL. Lua takes at most 8000 arguments.
local packed = {}
for from = 1, count_of_fields, 4000 do
  local to = math.min(count_of_fields, from + 3999)
  packed[#packed + 1] = pack(string.rep(RECORD, (to - from + 1) / 4), unpack(fields, from, to))
end

local server_us = string.format('%016.0f', began_us)
local records = table.concat(packed)
return { 'sampled', step[1], server_us, now_us() - began_us, records }
