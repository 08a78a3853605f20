-- SPDX-License-Identifier: MIT
-- What many parked jobs hold, and for how long they hold up others.
local chan = require "luaweb.chan"
local job = require "luaweb.job"
local queue = require "luaweb.queue"
local waiting = require "luaweb.waiting"

local KIB, MS = 1024, 1000

local function held_kib()
  collectgarbage()
  collectgarbage()
  return collectgarbage "count"
end

-- One cycle of the collector in steps, and the longest of them, in seconds.
local function longest_step()
  local longest = 0
  repeat
    local start = os.clock()
    local is_over = collectgarbage "step"
    longest = math.max(longest, os.clock() - start)
  until is_over
  return longest
end

-- A timer that is due whenever the loop comes round, and the longest time that this
-- took: a socket would have waited for as long.
local function watch_turns()
  local probe = queue.new_node(false, 0, false, false)
  local turns, due = { longest = 0, began = 0 }, waiting.upcalls.due
  function waiting.upcalls.due(node)
    if node ~= probe then return due(node) end
    local now = os.clock()
    turns.longest = math.max(turns.longest, now - turns.began)
    turns.began = now
    waiting.start_timer(probe, 0)
  end
  function turns.stop()
    queue.unlink(probe)
    waiting.upcalls.due = due
  end
  waiting.start_timer(probe, 0)
  return turns
end

local function start_all(n, wait)
  local jobs = {}
  for i = 1, n do jobs[i] = false end
  local before = held_kib()
  for i = 1, n do jobs[i] = job.spawn(wait) end
  while jobs[n]:status() ~= "parked" do job.yield() end
  return jobs, (held_kib() - before) * KIB / n
end

-- Wakes all of them at once; gives the longest turn until each waits again.
local function wake_all(c, n, count)
  local turns = watch_turns()
  for _ = 1, n do c:give(1) end
  turns.began = os.clock()
  while count() < n do job.yield() end
  turns.stop()
  return turns.longest
end

local function cancel_all(jobs, n)
  local start = os.clock()
  for i = 1, n do jobs[i]:cancel "over" end
  while jobs[n]:status() ~= "cancelled" do job.yield() end
  return os.clock() - start
end

local programs = {}

-- Gives octets held by a job, and milliseconds: the longest turn when all are woken,
-- the longest step of the collector, cancelling all.
programs["B14"] = function(n)
  local c, sum = chan.new(), 0
  local function wait()
    while true do
      local value = c:take() -- first: `sum` is everybody's
      sum = sum + value
    end
  end
  local jobs, each = start_all(n, wait)
  local step = longest_step()
  local turn = wake_all(c, n, function() return sum end)
  local cancelling = cancel_all(jobs, n)
  assert(sum == n, "wrong sum")
  return n, ("%.0f %.2f %.2f %.2f"):format(each, turn * MS, step * MS, cancelling * MS)
end

return programs
