-- SPDX-License-Identifier: MIT
-- Writers of a shared table that die: at every store of an operation, and at random in
-- the middle of many.  Each time the table must be whole, nobody waits, and what was
-- being written is as it was before or as it should become.
local ffi = require "ffi"
local fork = require "spec.support.fork"
local timer = require "luaweb.timer"
local stepper = require "spec.support.stepper"
local tables = require "spec.support.shared_table"

local M = {}

ffi.cdef [[
struct spec_timespec { long s; long ns; };
int clock_gettime(int clock, struct spec_timespec *into);
]]

local KiB = 1024

local function new(fillers)
  local t = tables.renew(64 * KiB)
  for i = 1, fillers do t:set("filler" .. i, ("f"):rep(i % 150)) end
  return t
end

local timespec = ffi.new "struct spec_timespec"
local function now_us()
  ffi.C.clock_gettime(1, timespec)
  return tonumber(timespec.s) * 1e6 + tonumber(timespec.ns) / 1e3
end

local long = ("long text "):rep(40)

--- The operations that somebody dies in: `call` leads from `old` to `new`, which
--- are what key "k" has.  `step`: of a long one, only each so many-th store.
M.operations = {
  { name = "set in an empty table", fillers = 0, old = nil,
    call = { "set", "k", long }, new = long },
  { name = "set in a full table", fillers = 900, old = nil,
    call = { "set", "k", long }, new = long, step = 31 },
  { name = "set over a text", fillers = 900, old = "short",
    call = { "set", "k", long }, new = long, step = 31 },
  { name = "set over a number", fillers = 5, old = 1,
    call = { "set", "k", 2, nil, 1e9 }, new = 2 },
  { name = "add", fillers = 900, old = nil, call = { "add", "k", true }, new = true },
  { name = "incr", fillers = 5, old = 41, call = { "incr", "k", 1, 0 }, new = 42 },
  { name = "compare_and_set", fillers = 5, old = long,
    call = { "compare_and_set", "k", "b", long }, new = "b" },
  { name = "delete", fillers = 5, old = long, call = { "delete", "k" }, new = nil },
}

local function prepare(operation)
  local t = new(operation.fillers)
  if operation.old ~= nil then
    for i = 1, 3 do t:set("k" .. i, "a neighbour") end
    t:set("k", operation.old)
  end
  return t
end

--- Dies at the first store of an operation, then at the second, and so on to the last.
---@param operation table  one of M.operations
---@param step integer     1: at each; 7: at each seventh
---@param seconds number   after which it takes wider and wider steps
---@return { deaths: integer, undone: integer, longest_us: number }
function M.at_every_store(operation, step, seconds)
  local figures = { deaths = 0, undone = 0, longest_us = 0 }
  local patience = now_us() + seconds * 1e6
  local changes = 1
  repeat
    local t = prepare(operation)
    local call = t:prepare(unpack(operation.call, 1, 5))
    local is_done = stepper.kill_at_change(changes, t.memory, t.size, call)
    local start = now_us()
    local value = t:get "k"
    figures.longest_us = math.max(figures.longest_us, now_us() - start)
    assert(value == operation.old or value == operation.new,
      operation.name .. ": a value that nobody wrote")
    local wrong = t:wrong()
    assert(not wrong, wrong)
    assert(t:stats().resets == 0)
    assert(t:set("k", "after") == "done" and t:get "k" == "after")
    figures.deaths = figures.deaths + 1
    figures.undone = figures.undone + t:stats().repairs
    if now_us() > patience then step = step * 2 end
    changes = changes + step
    timer.sleep(0.001) -- nobody shall think that we stand still
  until is_done
  return figures
end

-- At random ---------------------------------------------------------------------------

-- A text tells its own key and length, so that a torn one is seen.
local function text_of(key, size)
  return ("%s:%d:"):format(key, size) .. key:rep(size)
end

local function check_text(key, text)
  local size = text:match "^[^:]+:(%d+):"
  assert(size and text == text_of(key, tonumber(size)), "a torn value: " .. key)
end

local function work(t, seed)
  local at = seed
  while true do
    at = (at * 48271) % 2147483647
    local key = "key" .. at % 300
    local what = math.floor(at / 300) % 8
    if what < 4 then
      t:set(key, text_of(key, math.floor(at / 2400) % 120))
    elseif what == 4 then
      t:delete(key)
    elseif what == 5 then
      t:incr("n" .. at % 40)
    elseif what == 6 then
      t:add(key, text_of(key, 3))
    else
      local text = t:get(key)
      if text then check_text(key, text) end
    end
  end
end

--- Two writers at a time, one of which is killed at a random moment, again and again.
---@param seconds number  bound; the last round may be a little later
---@return { deaths: integer, undone: integer, longest_us: number, writes: integer }
function M.at_random(seconds)
  local t = new(0)
  local figures = { deaths = 0, longest_us = 0 }
  local seed = 1
  local function start()
    seed = seed + 1
    return fork.start(function() work(t, seed * 7919) end)
  end
  local pids = { start(), start() }
  local stop = now_us() + seconds * 1e6
  while now_us() < stop do
    local victim = figures.deaths % 2 + 1
    ffi.C.usleep(500 + (seed * 48271) % 1500)
    fork.kill(pids[victim])
    local began = now_us()
    for i = 1, 20 do t:get("key" .. i) end
    figures.longest_us = math.max(figures.longest_us, now_us() - began)
    local status, signal = fork.wait(pids[victim])
    assert(signal == fork.SIGKILL, "a writer failed: " .. tostring(status))
    figures.deaths = figures.deaths + 1
    pids[victim] = start()
    if figures.deaths % 20 == 0 then
      assert(not t:wrong(), t:wrong())
      timer.sleep(0.001)
    end
  end
  for _, pid in ipairs(pids) do
    fork.kill(pid)
    fork.wait(pid)
  end
  assert(not t:wrong(), t:wrong())
  for _, key in ipairs(t:keys "key") do check_text(key, t:get(key)) end
  assert(t:stats().resets == 0)
  figures.undone, figures.writes = t:stats().repairs, t:stats().writes
  figures.evictions = t:stats().evictions
  return figures
end

return M
