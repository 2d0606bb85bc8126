-- Sets the remaining life of the own lock. Never re-creates a key, never touches another's.
--
-- KEYS[1] lock: name of the lock key
-- KEYS[2] fence: name of the fence key, in the lock key's slot (optional; without it, or when it is gone or unreadable, latestFence and latestGrantUs are -)
-- ARGV[1] token: owner token of the hold, secret, not empty
-- ARGV[2] leaseMs: new remaining life of the lock key in milliseconds from now, integer, 1 to 86400000
-- REPLY renewed <serverUs>: the lock is the caller's, and lives for leaseMs from serverUs
-- REPLY expired <serverUs> <latestFence|-> <latestGrantUs|->: the key is gone; the fields tell of the lock's latest grant, whoever got it
-- REPLY stolen <serverUs> <latestFence|-> <latestGrantUs|->: the key holds another token
-- REPLY wrong_type <lock>: the key holds something else than a string
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES yes
--
-- serverUs, latestFence and latestGrantUs are 16 digits with leading zeros, compared as text. string.format costs as
-- much as a redis.call, so it is left to clocks before 2001.

local lock, fence = KEYS[1], KEYS[2]
local token, lease_ms = ARGV[1], ARGV[2]

local LARGEST_LEASE_MS = 86400000
local SMALLEST_FENCE = '0000000000000001'
local LARGEST_INTEGER = '9007199254740991'

if token == '' then return 'bad_argument token' end
-- tonumber() alone would take '1e3', '0x10' and ' 5 '; PEXPIRE takes 0 and negative times, and deletes the key.
if not string.find(lease_ms, '^[1-9]%d*$') or tonumber(lease_ms) > LARGEST_LEASE_MS then
  return 'bad_argument leaseMs'
end

local time = redis.call('TIME')
local server_us = time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
if #server_us ~= 16 then server_us = string.format('%010d%06d', time[1], time[2]) end

local holder = redis.pcall('GET', lock)
if holder ~= token then
  if type(holder) == 'table' then
    if string.find(holder.err, 'WRONGTYPE', 1, true) then return 'wrong_type lock' end
    return holder
  end
  -- "<fence> <grantUs>" of the latest grant, as acquire.lua wrote it.
  local latest = fence and redis.pcall('GET', fence)
  local readable = type(latest) == 'string' and #latest == 33 and string.find(latest, '^%d+ %d+$')
  readable = readable and string.sub(latest, 17, 17) == ' ' and latest >= SMALLEST_FENCE
  readable = readable and string.sub(latest, 1, 16) <= LARGEST_INTEGER and string.sub(latest, 18) <= LARGEST_INTEGER
  if not readable then latest = '- -' end
  if holder then return 'stolen ' .. server_us .. ' ' .. latest end
  return 'expired ' .. server_us .. ' ' .. latest
end

redis.call('PEXPIRE', lock, lease_ms)
return 'renewed ' .. server_us
