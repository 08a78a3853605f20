-- SPDX-License-Identifier: MIT
-- The programs of the suite that can be written for cqueues (one controller, conditions
-- and coroutines), under LuaJIT.  bench/concurrency/main.lua runs them.
local cqueues = require "cqueues"
local condition = require "cqueues.condition"

local FAR = 3600 -- seconds
local WAITERS = 100

local programs = {}

-- A place for one value; who finds it full or empty waits for a condition.
local Slot = {}
Slot.__index = Slot

local function new_slot()
  return setmetatable({ is_full = false, value = nil, filled = condition.new(),
    emptied = condition.new() }, Slot)
end

function Slot:put(value)
  while self.is_full do self.emptied:wait() end
  self.is_full, self.value = true, value
  self.filled:signal(1)
end

function Slot:take()
  while not self.is_full do self.filled:wait() end
  local value = self.value
  self.is_full = false
  self.emptied:signal(1)
  return value
end

-- Runs a program's coroutines until all have ended, or one stops the loop.
local function run(start)
  local loop = cqueues.new()
  local over = { is_over = false }
  start(loop, over)
  while not over.is_over and not loop:empty() do assert(loop:step()) end
end

programs["B1"] = function(n)
  local ping, pong, sum = new_slot(), new_slot(), 0
  run(function(loop)
    loop:wrap(function() for _ = 1, n / 2 do pong:put(ping:take() + 1) end end)
    loop:wrap(function()
      for i = 1, n / 2 do
        ping:put(i)
        sum = sum + pong:take()
      end
    end)
  end)
  assert(sum == n / 2 * (n / 2 + 3) / 2, "wrong sum")
  return n
end

local function ring_of(size)
  return function(n)
    local ring, last = {}, nil
    for i = 1, size do ring[i] = new_slot() end
    run(function(loop, over)
      for i = 1, size do
        local mine, following = ring[i], ring[i % size + 1]
        loop:wrap(function()
          while not over.is_over do
            local left = mine:take()
            if left == 0 then
              last, over.is_over = i, true
              return
            end
            following:put(left - 1)
          end
        end)
      end
      ring[1]:put(n)
    end)
    assert(last == n % size + 1, "wrong coroutine")
    return n
  end
end
programs["B3-503"] = ring_of(503)
programs["B3-5003"] = ring_of(5003)

programs["B5-end"] = function(n)
  local ended = 0
  local function finish() ended = ended + 1 end
  local loop = cqueues.new()
  for _ = 1, n / 1000 do
    for _ = 1, 1000 do loop:wrap(finish) end
    while not loop:empty() do assert(loop:step()) end
  end
  assert(ended == n, "not all have run")
  return n
end

-- A condition that is signalled, beside a timer that loses.
local function lost_timer(others)
  return function(n)
    local go, back, count = condition.new(), condition.new(), 0
    run(function(loop, over)
      for i = 1, others do
        loop:wrap(function() cqueues.sleep(FAR + i % 1000) end)
      end
      loop:wrap(function()
        for _ = 1, n do
          cqueues.poll(go, FAR)
          count = count + 1
          back:signal(1)
        end
        over.is_over = true
      end)
      loop:wrap(function()
        cqueues.sleep(0) -- until the other waits: a signal for nobody is lost
        for _ = 1, n do
          go:signal(1)
          back:wait()
        end
      end)
    end)
    assert(count == n, "wrong count")
    return n
  end
end
programs["B7-0"] = lost_timer(0)
programs["B7-100k"] = lost_timer(100000)

-- Who frees the lock hands it to the first of the others, and queues up again.
programs["B10-lock"] = function(n)
  local queue, waiting, is_held, count = condition.new(), 0, true, 0
  local function release()
    if waiting == 0 then
      is_held = false
      return
    end
    waiting = waiting - 1
    queue:signal(1)
  end
  local function add_often()
    for _ = 1, n / WAITERS do
      if is_held then
        waiting = waiting + 1
        queue:wait()
      end
      is_held = true
      count = count + 1
      release()
    end
  end
  run(function(loop)
    for _ = 1, WAITERS do loop:wrap(add_often) end
    loop:wrap(function()
      cqueues.sleep(0)
      release()
    end)
  end)
  assert(count == n, "wrong count")
  return n
end

return programs
