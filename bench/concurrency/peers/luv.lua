-- SPDX-License-Identifier: MIT
-- The programs of the suite with luv, for the loop, and coroutines resumed by hand,
-- under LuaJIT: as little as can be written, without queues, checks or cancellation.
local uv = require "luv"

local create, resume, yield = coroutine.create, coroutine.resume, coroutine.yield
local FAR_MS = 3600 * 1000
local TURN = 1000 -- resumes between two looks at the loop

local programs = {}

local function check(ok, err)
  if not ok then error(err, 0) end
end

-- Two coroutines; each is resumed with the other's message.
programs["B1"] = function(n)
  local sum = 0
  local other = create(function(message)
    while true do message = yield(message + 1) end
  end)
  for i = 1, n / 2 do
    local ok, answer = resume(other, i)
    check(ok, answer)
    sum = sum + answer
    if i % TURN == 0 then uv.run "nowait" end
  end
  assert(sum == n / 2 * (n / 2 + 3) / 2, "wrong sum")
  return n
end

-- A token goes round a ring: each coroutine yields it, the next is resumed with it.
local function ring_of(size)
  return function(n)
    local ring = {}
    for i = 1, size do
      ring[i] = create(function(left)
        while left > 0 do left = yield(left - 1) end
        return left
      end)
    end
    local at, left = 1, n
    while left > 0 do
      local ok, rest = resume(ring[at], left)
      check(ok, rest)
      at, left = at % size + 1, rest
      if left % TURN == 0 then uv.run "nowait" end
    end
    assert(at == n % size + 1, "wrong coroutine")
    return n
  end
end
programs["B3-503"] = ring_of(503)
programs["B3-5003"] = ring_of(5003)

-- A coroutine each that only ends.
programs["B5-end"] = function(n)
  local ended = 0
  local function finish() ended = ended + 1 end
  for i = 1, n do
    check(resume(create(finish)))
    if i % TURN == 0 then uv.run "nowait" end
  end
  assert(ended == n, "not all have run")
  return n
end

local function answer() return 1 end

programs["B5-join"] = function(n)
  local sum = 0
  for i = 1, n do
    local ok, value = resume(create(answer))
    check(ok, value)
    sum = sum + value
    if i % TURN == 0 then uv.run "nowait" end
  end
  assert(sum == n, "wrong sum")
  return n
end

local function nothing() end

-- A coroutine waits for a message, and its timer loses.
local function lost_timer(others)
  return function(n)
    local sum = 0
    for i = 1, others do uv.new_timer():start(FAR_MS + i % 1000 * 1000, 0, nothing) end
    local waiter = create(function()
      local timer = uv.new_timer()
      while true do
        timer:start(FAR_MS, 0, nothing)
        local message = yield()
        timer:stop()
        sum = sum + message
      end
    end)
    check(resume(waiter))
    for i = 1, n do
      check(resume(waiter, i))
      if i % TURN == 0 then uv.run "nowait" end
    end
    assert(sum == n * (n + 1) / 2, "wrong sum")
    return n
  end
end
programs["B7-0"] = lost_timer(0)
programs["B7-100k"] = lost_timer(100000)

programs["B7-alone"] = function(n)
  local timer = uv.new_timer()
  for i = 1, n do
    timer:start(FAR_MS, 0, nothing)
    timer:stop()
    if i % TURN == 0 then uv.run "nowait" end
  end
  assert(not timer:is_active(), "it runs")
  return n
end

-- Parked coroutines; gives octets for each.
programs["B14"] = function(n)
  local parked, sum = {}, 0
  for i = 1, n do parked[i] = false end
  local function wait()
    local message = yield()
    sum = sum + message
  end
  collectgarbage()
  collectgarbage()
  local before = collectgarbage "count"
  for i = 1, n do
    parked[i] = create(wait)
    check(resume(parked[i]))
  end
  collectgarbage()
  collectgarbage()
  local each = (collectgarbage "count" - before) * 1024 / n
  for i = 1, n do check(resume(parked[i], 1)) end
  assert(sum == n, "wrong sum")
  return n, ("%.0f - - -"):format(each)
end

return programs
