-- SPDX-License-Identifier: MIT
-- Programs in which many jobs want the same thing.
local broadcast = require "luaweb.broadcast"
local job = require "luaweb.job"
local latch = require "luaweb.latch"
local lock = require "luaweb.lock"
local mvar = require "luaweb.mvar"

local WAITERS = 100
local SUBSCRIBERS, STALLED = 10000, 100

local programs = {}

-- 100 jobs, each of which calls `once` its share of n times.
local function share(n, once)
  local ended = latch.new(WAITERS)
  for _ = 1, WAITERS do
    job.spawn(function()
      for _ = 1, n / WAITERS do once() end
      ended:done()
    end)
  end
  return ended
end

-- Who frees the lock hands it to the first of the others, and queues up again.
programs["B10-lock"] = function(n)
  local lk, count = lock.new(), 0
  local function add() count = count + 1 end
  local ended = share(n, function() lk:with(add) end)
  lk:with(job.yield) -- meanwhile all others queue up
  ended:wait()
  assert(count == n, "wrong count")
  return n
end

programs["B10-mvar"] = function(n)
  local cell = mvar.new()
  local function add(value) return value + 1 end
  local ended = share(n, function() cell:update(add) end)
  job.yield()
  cell:fill(0)
  ended:wait()
  assert(cell:take() == n, "wrong count")
  return n
end

-- One publishes to 10,000, of which 100 never look; counts what was delivered.
programs["B11"] = function(n)
  local messages, sum = n / 10000, 0
  local news, ended = broadcast.new(), latch.new(SUBSCRIBERS - STALLED)
  local function follow(subscriber)
    for _ = 1, messages do
      local message = subscriber:take() -- first: `sum` is everybody's
      sum = sum + message
    end
    ended:done()
  end
  local stalled = {}
  for i = 1, STALLED do stalled[i] = news:subscribe() end
  for _ = 1, SUBSCRIBERS - STALLED do job.spawn(follow, news:subscribe()) end
  for i = 1, messages do
    job.yield()
    news:publish(i)
  end
  ended:wait()
  local delivered = messages * (SUBSCRIBERS - STALLED)
  assert(sum == delivered * (messages + 1) / 2, "wrong sum")
  assert(stalled[1]:lag() == math.max(0, messages - 16), "it lags by another number")
  return delivered
end

return programs
