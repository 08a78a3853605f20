-- SPDX-License-Identifier: MIT
-- What jobs, channels and choices cost, on one core: `luaweb bench/concurrency/run.lua`
-- prints a line for each program and ends.  BENCH_N scales the work (default 1),
-- BENCH_ONLY is what the titles must contain.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local chan = require "luaweb.chan"
local job = require "luaweb.job"
local lock = require "luaweb.lock"
local now = require("system").monotime
local web = require "luaweb"

local SCALE = tonumber(os.getenv "BENCH_N" or 1)

local programs = {}

local function program(title, n, run)
  programs[#programs + 1] = { title = title, n = math.floor(n * SCALE), run = run }
end

program("B1 ping-pong, messages", 2e6, function(n)
  local ping, pong = chan.new(), chan.new()
  job.spawn(function() for _ = 1, n / 2 do pong:give(ping:take()) end end)
  for i = 1, n / 2 do
    ping:give(i)
    pong:take()
  end
end)

program("B2 100 givers, 1 taker, messages", 2e6, function(n)
  local c = chan.new()
  for _ = 1, 100 do
    job.spawn(function() for i = 1, n / 100 do c:give(i) end end)
  end
  for _ = 1, n / 100 * 100 do c:take() end
end)

program("B3 ring of 503, hops", 2e6, function(n)
  local ring, done = {}, chan.new()
  for i = 1, 503 do ring[i] = chan.new() end
  local jobs = {}
  for i = 1, 503 do
    local mine, following = ring[i], ring[i % 503 + 1]
    jobs[i] = job.spawn(function()
      while true do
        local left = mine:take()
        if left == 0 then done:give(i) else following:give(left - 1) end
      end
    end)
  end
  ring[1]:give(n)
  done:take()
  for i = 1, 503 do jobs[i]:cancel() end
end)

local function leaf_sum(to, number, size)
  if size == 1 then return to:give(number) end
  local from, sum = chan.new(), 0
  for i = 0, 9 do job.spawn(leaf_sum, from, number + i * size / 10, size / 10) end
  for _ = 1, 10 do sum = sum + from:take() end
  to:give(sum)
end

program("B4 tree of jobs, leaves", 1e5, function()
  local result = chan.new()
  job.spawn(leaf_sum, result, 0, 1e5)
  assert(result:take() == 4999950000)
end)

local function nothing() end

program("B5 spawn and end", 2e6, function(n)
  for _ = 1, n / 1000 do
    for _ = 1, 1000 do job.spawn(nothing) end
    job.yield()
  end
end)

program("B5 spawn and join", 1e6, function(n)
  for _ = 1, n do job.spawn(nothing):join() end
end)

local function choices_of(count)
  return function(n)
    local channels = {}
    for i = 1, count do channels[i] = chan.new() end
    local choice = alt.choose(channels)
    job.spawn(function() for _ = 1, n do choice:sync() end end)
    local last = channels[count]
    for i = 1, n do last:give(i) end
  end
end

program("B6 choice of 2, each waits", 1e6, choices_of(2))
program("B6 choice of 8, each waits", 3e5, choices_of(8))
program("B6 choice of 64, each waits", 5e4, choices_of(64))

program("B6 choice of 2, one ready", 2e6, function(n)
  local c = chan.new()
  local choice = alt.choose { chan.new(), c }
  for i = 1, n do
    c:send(i)
    choice:sync()
  end
end)

program("B7 timer that loses", 5e5, function(n)
  local c = chan.new()
  local choice = alt.choose { c, web.after(3600) }
  job.spawn(function() for _ = 1, n do choice:sync() end end)
  for i = 1, n do c:give(i) end
end)

program("B8 nack made and fired", 5e5, function(n)
  local choice = alt.choose { alt.with_nack(function() return alt.never end),
    alt.always(1) }
  for _ = 1, n do choice:sync() end
end)

program("B10 lock handed on, 100 wait", 1e6, function(n)
  local lk, left, done = lock.new(), 100, chan.new()
  for _ = 1, 100 do
    job.spawn(function()
      for _ = 1, n / 100 do lk:with(nothing) end
      left = left - 1
      if left == 0 then done:give(true) end
    end)
  end
  done:take()
end)

program("B13 five bounded(64), values through", 3e5, function(n)
  local first = bounded.new(64)
  local last = first
  for _ = 1, 4 do
    local from, to = last, bounded.new(64)
    job.spawn(function() for _ = 1, n do to:put(from:take()) end end)
    last = to
  end
  job.spawn(function() for i = 1, n do first:put(i) end end)
  for _ = 1, n do last:take() end
end)

local function measure(one)
  collectgarbage()
  local start = now()
  one.run(one.n)
  local seconds = now() - start
  print(("%-38s %7.2f M/s %8.0f ns"):format(one.title, one.n / seconds / 1e6,
    seconds / one.n * 1e9))
end

-- B14: what a parked job holds.
local function measure_parked(count)
  local c, jobs = chan.new(), {}
  local function wait() c:take() end
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  for i = 1, count do jobs[i] = job.spawn(wait) end
  for _ = 1, 3 do job.yield() end
  collectgarbage()
  local held = collectgarbage "count" - before
  local start = now()
  for i = 1, count do jobs[i]:cancel() end
  print(("%-38s %10.0f octets each, %.1f MiB; cancel all %.0f ms"):format(
    "B14 parked jobs", held * 1024 / count, held / 1024, (now() - start) * 1000))
end

local only = os.getenv "BENCH_ONLY"
for _, one in ipairs(programs) do
  if not only or one.title:find(only, 1, true) then measure(one) end
end
measure_parked(100000)
io.stdout:flush()
os.exit(0)
