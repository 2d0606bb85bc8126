-- Grants the lock if it is free, together with a fencing number that only rises.
--
-- KEYS[1] lock: name of the lock key; holds the owner token while the lock is held
-- KEYS[2] fence: name of the fence key, in the lock key's slot (optional; without it a grant has no fence)
-- ARGV[1] token: owner token, secret, not empty
-- ARGV[2] leaseMs: life of the lock key in milliseconds, integer, 1 to 86400000
-- ARGV[3] fenceTtlMs: life of the fence key after its last grant in milliseconds, integer, 1 to 31622400000 (only used with a fence key)
-- REPLY granted <serverUs> <fence|->: the lock was free and is the caller's; serverUs is the time of the grant
-- REPLY own <serverUs> <fence|-> <grantUs|-> <leftMs|->: the lock holds this token, by an earlier send of this command; that grant stands, its lease is not extended; fence and grantUs are that grant's
-- REPLY held <serverUs> <leftMs|->: another holds the lock; leftMs is - when the key has no expiry
-- REPLY wrong_type <lock|fence>: that key holds something else than a string
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES yes
--
-- serverUs, fence and grantUs are 16 digits with leading zeros: tostring() would lose digits, and text of one
-- length is compared as text. No local function: making one costs as much as using it. string.format costs as much as
-- a redis.call, so it is left to clocks before 2001. A fence below the clock, readable or not, needs no reading.
-- The fence key holds "<fence> <grantUs>". A value of another form, or beyond 2^53-2, counts as absent: no grant
-- can have written it, and the server's time, in microseconds, still lifts the fence above every earlier grant.

local lock, fence = KEYS[1], KEYS[2]
local token, lease_ms, fence_ttl_ms = ARGV[1], ARGV[2], ARGV[3]
local find, sub, format = string.find, string.sub, string.format

local LARGEST_LEASE_MS = 86400000
local LARGEST_FENCE_TTL_MS = 31622400000
local SMALLEST_FENCE = '0000000000000001'
local LARGEST_INTEGER = '9007199254740991'

if token == '' then return 'bad_argument token' end
-- tonumber() alone would take '1e3', '0x10' and ' 5 '.
if not find(lease_ms, '^[1-9]%d*$') or tonumber(lease_ms) > LARGEST_LEASE_MS then
  return 'bad_argument leaseMs'
end
if fence and (not find(fence_ttl_ms, '^[1-9]%d*$') or tonumber(fence_ttl_ms) > LARGEST_FENCE_TTL_MS) then
  return 'bad_argument fenceTtlMs'
end

local time = redis.call('TIME')
local server_us = time[1] .. sub('000000', #time[2] + 1) .. time[2]
if #server_us ~= 16 then server_us = format('%010d%06d', time[1], time[2]) end

local holder = redis.pcall('GET', lock)
if holder and holder ~= token then
  if type(holder) == 'table' then
    if find(holder.err, 'WRONGTYPE', 1, true) then return 'wrong_type lock' end
    return holder
  end
  local left = redis.call('PTTL', lock)
  return 'held ' .. server_us .. ' ' .. (left < 0 and '-' or format('%.0f', left))
end

local stored, latest_fence, latest_grant_us
if fence then
  stored = redis.pcall('GET', fence)
  if type(stored) == 'table' then
    if not find(stored.err, 'WRONGTYPE', 1, true) then return stored end
    if not holder then return 'wrong_type fence' end
  elseif stored and (holder or stored >= server_us) and #stored == 33 and find(stored, '^%d+ %d+$') and sub(stored, 17, 17) == ' ' then
    latest_fence, latest_grant_us = sub(stored, 1, 16), sub(stored, 18)
    local readable = latest_fence >= SMALLEST_FENCE and latest_fence < LARGEST_INTEGER
    if not readable or latest_grant_us > LARGEST_INTEGER then latest_fence, latest_grant_us = nil, nil end
  end
end
if holder then
  local left = redis.call('PTTL', lock)
  left = left < 0 and '-' or format('%.0f', left)
  return 'own ' .. server_us .. ' ' .. (latest_fence or '-') .. ' ' .. (latest_grant_us or '-') .. ' ' .. left
end

if not fence then
  redis.call('SET', lock, token, 'PX', lease_ms)
  return 'granted ' .. server_us .. ' -'
end

local granted, fence_life_ms = server_us, fence_ttl_ms
if latest_fence and latest_fence >= server_us then
  granted = format('%016.0f', tonumber(latest_fence) + 1)
  -- A fence ahead of the clock must outlive the time in which the clock could grant a lower one.
  local ahead_ms = math.ceil((tonumber(granted) - tonumber(server_us)) / 1000)
  fence_life_ms = format('%.0f', tonumber(fence_ttl_ms) + ahead_ms)
end
-- The fence first: should the lock's SET be refused, a number is skipped and nothing is held.
redis.call('SET', fence, granted .. ' ' .. server_us, 'PX', fence_life_ms)
redis.call('SET', lock, token, 'PX', lease_ms)
return 'granted ' .. server_us .. ' ' .. granted
