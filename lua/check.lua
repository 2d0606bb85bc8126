-- Looks whether the lock is the own one.
--
-- KEYS[1] lock: name of the lock key
-- KEYS[2] fence: name of the fence key, in the lock key's slot (optional; without it, or when it is gone or unreadable, latestFence and latestGrantUs are -)
-- ARGV[1] token: owner token of the hold, secret, not empty
-- REPLY held <serverUs> <leftMs|->: the lock is the caller's; leftMs is - when the key has no expiry
-- REPLY expired <serverUs> <latestFence|-> <latestGrantUs|->: the key is gone; the fields tell of the lock's latest grant, whoever got it
-- REPLY stolen <serverUs> <latestFence|-> <latestGrantUs|->: the key holds another token
-- REPLY wrong_type <lock>: the key holds something else than a string
-- REPLY bad_argument <name>: that argument is out of its range
-- WRITES no
--
-- serverUs, latestFence and latestGrantUs are 16 digits with leading zeros, compared as text. string.format costs as
-- much as a redis.call, so it is left to clocks before 2001.

local lock, fence = KEYS[1], KEYS[2]
local token = ARGV[1]

local SMALLEST_FENCE = '0000000000000001'
local LARGEST_INTEGER = '9007199254740991'

if token == '' then return 'bad_argument token' end

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

local left = redis.call('PTTL', lock)
return 'held ' .. server_us .. ' ' .. (left < 0 and '-' or string.format('%.0f', left))
