-- SPDX-License-Identifier: MIT
-- Programs whose jobs talk over channels.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local chan = require "luaweb.chan"
local job = require "luaweb.job"

local programs = {}

-- Two jobs: one message there, one back.
programs["B1"] = function(n)
  local ping, pong = chan.new(), chan.new()
  job.spawn(function() for _ = 1, n / 2 do pong:give(ping:take() + 1) end end)
  local sum = 0
  for i = 1, n / 2 do
    ping:give(i)
    sum = sum + pong:take()
  end
  assert(sum == n / 2 * (n / 2 + 3) / 2, "wrong sum")
  return n
end

-- 100 jobs give, one takes.
programs["B2"] = function(n)
  local c, each, sum = chan.new(), n / 100, 0
  for _ = 1, 100 do
    job.spawn(function() for i = 1, each do c:give(i) end end)
  end
  for _ = 1, n do sum = sum + c:take() end
  assert(sum == 100 * each * (each + 1) / 2, "wrong sum")
  return n
end

-- A token goes round a ring.
local function ring_of(size)
  return function(n)
    local ring, done = {}, chan.new()
    for i = 1, size do ring[i] = chan.new() end
    for i = 1, size do
      local mine, following = ring[i], ring[i % size + 1]
      job.spawn(function()
        while true do
          local left = mine:take()
          if left == 0 then done:give(i) else following:give(left - 1) end
        end
      end)
    end
    ring[1]:give(n)
    assert(done:take() == n % size + 1, "wrong job")
    return n
  end
end
programs["B3-503"] = ring_of(503)
programs["B3-5003"] = ring_of(5003)

local function leaf_sum(to, number, size)
  if size == 1 then return to:give(number) end
  local from, sum = chan.new(), 0
  for i = 0, 9 do job.spawn(leaf_sum, from, number + i * size / 10, size / 10) end
  for _ = 1, 10 do sum = sum + from:take() end
  to:give(sum)
end

-- Skynet: a tree of jobs, ten under each.
programs["B4"] = function(n)
  local result = chan.new()
  job.spawn(leaf_sum, result, 0, n)
  assert(result:take() == n * (n - 1) / 2, "wrong sum")
  return n
end

-- Chameneos: four creatures meet in pairs; each offers itself and accepts another.
programs["B9"] = function(n)
  local place, over = chan.new(), chan.new()
  local met, creatures = 0, {}
  local function live(me)
    local meet = alt.choose { place:give_alt(me), place }
    while true do
      local other = meet:sync()
      me.count = me.count + 1
      if other then
        met = met + 1
        other.reply:give(me.colour)
        if met == n then return over:give(true) end
        me.colour = 3 - me.colour
      else
        me.colour = me.reply:take()
      end
    end
  end
  for i = 1, 4 do
    creatures[i] = { colour = i % 2 + 1, reply = chan.new(), count = 0 }
    job.spawn(live, creatures[i])
  end
  over:take()
  local sum = 0
  for i = 1, 4 do sum = sum + creatures[i].count end
  assert(sum >= 2 * n and sum <= 2 * n + 1, "wrong count")
  return n
end

-- As many messages as it takes to find the 1,000th prime: each number passes on to the
-- filter of its least factor.
local PRIMES, LAST_PRIME, SIEVE_MESSAGES = 1000, 7919, 517383

local function filter(from, to, prime)
  while true do
    local number = from:take()
    if number % prime ~= 0 then to:give(number) end
  end
end

local function count_up(to)
  local number = 2
  while true do
    to:give(number)
    number = number + 1
  end
end

programs["B12"] = function()
  local from, prime = chan.new(), nil
  job.spawn(count_up, from)
  for _ = 1, PRIMES do
    prime = from:take()
    local to = chan.new()
    job.spawn(filter, from, to, prime)
    from = to
  end
  assert(prime == LAST_PRIME, "wrong prime")
  return SIEVE_MESSAGES
end

-- Values go through five queues of 64.
programs["B13"] = function(n)
  local first = bounded.new(64)
  local last, sum = first, 0
  for _ = 1, 4 do
    local from, to = last, bounded.new(64)
    job.spawn(function() for _ = 1, n do to:put(from:take()) end end)
    last = to
  end
  job.spawn(function() for i = 1, n do first:put(i) end end)
  for _ = 1, n do sum = sum + last:take() end
  assert(sum == n * (n + 1) / 2, "wrong sum")
  return n
end

return programs
