-- Deletes the own lock; never another's.
--
-- KEYS[1] lock: name of the lock key
-- KEYS[2] fence: name of the fence key, in the lock key's slot (optional; without it, or when it is gone or unreadable, latestFence and latestGrantUs are -)
-- ARGV[1] token: owner token of the hold, secret, not empty
-- REPLY released <serverUs>: the lock was the caller's until serverUs, and is free
-- REPLY expired <serverUs> <latestFence|-> <latestGrantUs|->: the key is gone; the fields tell of the lock's latest grant, whoever got it
-- REPLY stolen <serverUs> <latestFence|-> <latestGrantUs|->: the key holds another token
-- REPLY wrong_type <lock>: the key holds something else than a string
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES yes
--
-- serverUs, latestFence and latestGrantUs are 16 digits with leading zeros.

local lock, fence = KEYS[1], KEYS[2]
local token = ARGV[1]

local LARGEST_INTEGER = 9007199254740991
local STORED_LENGTH = 33

local function is_wrong_type(reply)
  return string.find(reply.err, 'WRONGTYPE', 1, true)
end

-- "<fence> <grantUs>" of the latest grant, as acquire.lua wrote it; "- -" when that is absent or unreadable.
local function latest_grant()
  local stored = fence and redis.pcall('GET', fence)
  if type(stored) ~= 'string' or #stored ~= STORED_LENGTH then return '- -' end
  local value, grant_us = string.match(stored, '^(%d+) (%d+)$')
  if not value or #value ~= 16 then return '- -' end
  if tonumber(value) < 1 or tonumber(value) > LARGEST_INTEGER then return '- -' end
  if tonumber(grant_us) > LARGEST_INTEGER then return '- -' end
  return stored
end

if token == '' then return 'bad_argument token' end

local time = redis.call('TIME')
local server_us = string.format('%016.0f', tonumber(time[1]) * 1000000 + tonumber(time[2]))

local holder = redis.pcall('GET', lock)
if type(holder) == 'table' then
  if is_wrong_type(holder) then return 'wrong_type lock' end
  return holder
end
if not holder then return 'expired ' .. server_us .. ' ' .. latest_grant() end
if holder ~= token then return 'stolen ' .. server_us .. ' ' .. latest_grant() end

redis.call('DEL', lock)
return 'released ' .. server_us
