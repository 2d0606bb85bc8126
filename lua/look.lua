-- A look at keys by name: how long each still lives, and whose it is.
--
-- ARGV[1] maxValueBytes: longest value to digest in bytes, integer, 0 to 1048576; of longer ones one byte more is read
-- ARGV[2] keys: the names, each as its length (4 bytes, little-endian) and itself, one after the other
-- REPLY looked <serverUs> <tookUs> <states>: an array; tookUs is an integer; states is one string, a record for each key in the order asked
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES no
--
-- A record: left (double, little-endian), owner (16 bytes).
-- left: PTTL in milliseconds from serverUs; -1 no expiry; -2 there is no such key; -3 the key's slot is another
-- node's. owner, with spaces behind it: the first 16 hex digits of the SHA-1 of the value; - for a string that is too
-- long, and for a key that is not there; :<type> for another type.
-- tookUs: what the look cost the server; 0 where its clock stands still while a script runs.
--
-- KEYS is empty, since the keys of one node of a cluster are of many slots.

local max_value_bytes, names = ARGV[1], ARGV[2]
local MOVED = -3
local NAME, RECORD = '<I4c0', '<dc16'
local SPACES = '                '
local NO_OWNER = '-' .. SPACES
local call, try, sha1hex, sub, pack, unpack, type =
  redis.call, redis.pcall, redis.sha1hex, string.sub, struct.pack, struct.unpack, type

if not string.find(max_value_bytes, '^%d+$') or tonumber(max_value_bytes) > 1048576 then
  return 'bad_argument maxValueBytes'
end

local function now_us()
  local time = call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local began_us = now_us()
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

local records = {}
local at = 1
while at <= #names do
  if at + 3 > #names or at + 3 + unpack('<I4', names, at) > #names then return 'bad_argument keys' end
  local key
  key, at = unpack(NAME, names, at)
  local left = try('PTTL', key)
  if type(left) == 'table' then
    if not is_moved(left) then return left end
    left = MOVED
  end
  local owner = left < -1 and NO_OWNER or owner_of(key, #records == 0)
  records[#records + 1] = pack(RECORD, left, owner)
end

local server_us = string.format('%016.0f', began_us)
local states = table.concat(records)
return { 'looked', server_us, now_us() - began_us, states }
