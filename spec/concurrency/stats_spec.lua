-- SPDX-License-Identifier: MIT
-- job.stats (lua/luaweb/dump.lua), and how many wait at an object.
local alt = require "luaweb.alt"
local bounded = require "luaweb.bounded"
local broadcast = require "luaweb.broadcast"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
local lock = require "luaweb.lock"
local mailbox = require "luaweb.mailbox"
local web = require "luaweb"

-- What has been added to the numbers since `before`.
local function since(before, names)
  local now, more = job.stats(), {}
  for i, name in ipairs(names) do more[i] = now[name] - before[name] end
  return more
end

describe("job.stats", function()
  local names = { "jobs", "background", "ready", "parked", "timers", "nodes",
    "coroutines" }

  it("counts jobs by what they do", function()
    concurrent.settle()
    local c, before = chan.new(), job.stats()
    job.spawn(function() c:take() end)
    job.background(function() c:take() end)
    job.spawn(function() alt.choose { web.after(1000), c }:sync() end)
    assert.same({ 3, 1, 3, 0, 0, 0, 0 }, since(before, names))
    concurrent.settle()
    assert.same({ 3, 1, 0, 3, 1, 2, 3 }, since(before, names))
    for _ = 1, 3 do c:give(1) end
    assert.same({ 3, 1, 3, 0, 0, 0, 3 }, since(before, names))
    concurrent.settle()
    assert.same({ 0, 0, 0, 0, 0, 0, 0 }, since(before, names))
    assert.is_true(job.stats().spare_coroutines >= 3)
  end)

  it("does not count a job that was cancelled before it ran", function()
    concurrent.settle()
    local before = job.stats()
    job.spawn(function() end):cancel "no"
    assert.same({ 0, 0, 0, 0, 0, 0, 0 }, since(before, names))
    concurrent.settle()
  end)

  it("counts messages that were left as nodes", function()
    local c, before = chan.new(), job.stats()
    c:send(1)
    assert.same({ 1 }, since(before, { "nodes" }))
    c:take()
    assert.same({ 0 }, since(before, { "nodes" }))
  end)

  it("tells the longest turn", function()
    local now = require("system").monotime
    local start = now()
    repeat until now() - start > 0.05
    web.sleep(0) -- the turn ends
    assert.is_true(job.stats().longest_turn >= 0.05)
  end)

  it("tells what Lua holds", function()
    local octets = job.stats().lua_heap
    local text = ("x"):rep(1e6)
    assert.is_true(job.stats().lua_heap > octets - 1e6 and #text == 1e6)
    assert.is_true(octets > 1e5)
  end)
end)

describe("who waits is counted by", function()
  local jobs

  -- Starts jobs that wait, for as long as the test lasts.
  local function wait(count, fn)
    for _ = 1, count do jobs[#jobs + 1] = job.spawn(fn) end
    concurrent.settle()
  end

  before_each(function() jobs = {} end)
  after_each(function()
    for _, j in ipairs(jobs) do j:cancel "over" end
    concurrent.settle()
  end)

  it("chan:waiters and chan:len", function()
    local takers, givers = chan.new(), chan.new()
    wait(2, function() takers:take() end)
    wait(3, function() givers:give(1) end)
    assert.same({ 2, 0 }, { takers:waiters() })
    assert.same({ 0, 3 }, { givers:waiters() })
    givers:send(1)
    givers:send(2)
    assert.same({ 0, 3, 2 }, { 0, select(2, givers:waiters()), givers:len() })
  end)

  it("bounded:waiters", function()
    local empty, full = bounded.new(1), bounded.new(1)
    full:put(1)
    wait(2, function() empty:take() end)
    wait(3, function() full:put(1) end)
    assert.same({ 2, 0 }, { empty:waiters() })
    assert.same({ 0, 3 }, { full:waiters() })
  end)

  it("mailbox:waiters and mailbox:len", function()
    local m = mailbox.new()
    wait(2, function() m:take() end)
    assert.same({ 2, 0 }, { m:waiters(), m:len() })
  end)

  it("lock:waiters", function()
    local l, c = lock.new(), chan.new()
    assert.equal(0, l:waiters())
    wait(3, function() l:with(function() c:take() end) end)
    assert.equal(2, l:waiters())
  end)

  it("broadcast:waiters", function()
    local b = broadcast.new { policy = "block", cap = 1 }
    local slow = b:subscribe()
    b:publish(1)
    wait(2, function() b:publish(2) end)
    assert.same({ 0, 2 }, { b:waiters() })
    slow:close()
    local s = b:subscribe()
    wait(1, function() s:take() end)
    assert.same({ 1, 0 }, { b:waiters() })
  end)
end)
