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
-- serverUs, fence and grantUs are 16 digits with leading zeros, for tostring() would lose digits.
-- The fence key holds "<fence> <grantUs>". A value of another form, or beyond 2^53-2, counts as absent: no grant
-- can have written it, and the server's time, in microseconds, still lifts the fence above every earlier grant.

local lock, fence = KEYS[1], KEYS[2]
local token, lease_ms, fence_ttl_ms = ARGV[1], ARGV[2], ARGV[3]

local LARGEST_LEASE_MS = 86400000
local LARGEST_FENCE_TTL_MS = 31622400000
local LARGEST_INTEGER = 9007199254740991
local STORED_LENGTH = 33

-- tonumber() alone would take '1e3', '0x10' and ' 5 '.
local function in_range(text, largest)
  return string.find(text, '^[1-9]%d*$') and tonumber(text) <= largest
end

local function is_wrong_type(reply)
  return string.find(reply.err, 'WRONGTYPE', 1, true)
end

local function left_ms()
  local left = redis.call('PTTL', lock)
  return left < 0 and '-' or string.format('%.0f', left)
end

-- Both as text, or nothing.
local function parse_fence(stored)
  if type(stored) ~= 'string' or #stored ~= STORED_LENGTH then return nil end
  local value, grant_us = string.match(stored, '^(%d+) (%d+)$')
  if not value or #value ~= 16 then return nil end
  if tonumber(value) < 1 or tonumber(value) >= LARGEST_INTEGER then return nil end
  if tonumber(grant_us) > LARGEST_INTEGER then return nil end
  return value, grant_us
end

if token == '' then return 'bad_argument token' end
if not in_range(lease_ms, LARGEST_LEASE_MS) then return 'bad_argument leaseMs' end
if fence and not in_range(fence_ttl_ms, LARGEST_FENCE_TTL_MS) then return 'bad_argument fenceTtlMs' end

local time = redis.call('TIME')
local now_us = tonumber(time[1]) * 1000000 + tonumber(time[2])
local server_us = string.format('%016.0f', now_us)

local holder = redis.pcall('GET', lock)
if type(holder) == 'table' then
  if is_wrong_type(holder) then return 'wrong_type lock' end
  return holder
end
if holder and holder ~= token then return 'held ' .. server_us .. ' ' .. left_ms() end

local stored = fence and redis.pcall('GET', fence)
if type(stored) == 'table' and not is_wrong_type(stored) then return stored end
local latest_fence, latest_grant_us = parse_fence(stored)
if holder then
  return 'own ' .. server_us .. ' ' .. (latest_fence or '-') .. ' ' .. (latest_grant_us or '-') .. ' ' .. left_ms()
end
if type(stored) == 'table' then return 'wrong_type fence' end

if not fence then
  redis.call('SET', lock, token, 'PX', lease_ms)
  return 'granted ' .. server_us .. ' -'
end

local granted = now_us
if latest_fence and tonumber(latest_fence) >= now_us then granted = tonumber(latest_fence) + 1 end
local granted_digits = string.format('%016.0f', granted)
-- A fence ahead of the clock must outlive the time in which the clock could grant a lower one.
local fence_life_ms = tonumber(fence_ttl_ms) + math.ceil((granted - now_us) / 1000)
-- The fence first: should the lock's SET be refused, a number is skipped and nothing is held.
redis.call('SET', fence, granted_digits .. ' ' .. server_us, 'PX', string.format('%.0f', fence_life_ms))
redis.call('SET', lock, token, 'PX', lease_ms)
return 'granted ' .. server_us .. ' ' .. granted_digits
