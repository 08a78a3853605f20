-- SPDX-License-Identifier: MIT
-- Jobs together (lua/luaweb/job.lua): their order, their failures, their end.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local now = require("system").monotime
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local settle, spawn = concurrent.settle, concurrent.spawn
local E = setmetatable({}, { __tostring = function() return "E" end })
local function raise() error(E, 0) end

describe("a job", function()
  it("T85 runs after who spawns it, and before who starts it", function()
    for name, order in pairs { spawn = { "p", "c" }, start = { "c", "p" } } do
      local L = concurrent.log()
      job[name](function() L "c" end)
      L "p"
      settle()
      assert.same(order, { unpack(L) })
    end
  end)

  it("is waited for like any alternative", function()
    local j = job.spawn(function() return "value" end)
    assert.equal("value", j:sync())
    assert.same({ true, "value" }, { j:poll() })
  end)

  it("that is started gives way at its first wait", function()
    local c, L = chan.new(), concurrent.log()
    job.spawn(function() L "other" end)
    local j = job.start(function()
      L "started"
      c:take()
    end)
    L "caller"
    settle()
    assert.same({ "started", "caller", "other" }, { unpack(L) })
    j:cancel()
  end)

  it("T57 that fails with nobody waiting is told once, with its traceback", function()
    local told = {}
    job.on_uncaught(function(err, j, text) told[#told + 1] = { err, j, text } end)
    local function helper() error "broken" end
    local failed, other = spawn(function() helper() end, function() return 1 end)
    job.on_uncaught()
    assert.equal(1, #told)
    assert.matches("jobs_spec.lua:%d+: broken", told[1][1])
    assert.is_true(told[1][2] == failed)
    assert.matches("in function 'helper'", told[1][3])
    assert.equal(1, other:join())
  end)

  it("T58 that failed is an alternative that raises; its end is one that doesn't",
    function()
      local log, j = error_log.of(function() return (spawn(raise)) end)
      assert.matches("a job failed", log)
      local ok, err = pcall(alt.sync, j)
      assert.is_true(not ok and err == E)
      assert.same({ status = "failed", error = E }, j:done_alt():sync())
      assert.same({ status = "ok", value = 3, error = false },
        job.spawn(function() return 3 end):done_alt():sync())
    end)

  it("that waits for an answer by functions gets the first", function()
    assert.equal(1, job.await(function(ok) ok(1) ok(2) end))
    local ok, err = pcall(job.await, function(_, fail)
      job.spawn(function() fail(E) end)
    end)
    assert.is_true(not ok and err == E)
  end)

  it("that somebody else resumes waits on", function()
    local c, co, got = chan.new(), nil, nil
    local j = spawn(function()
      co = coroutine.running()
      got = c:take()
    end)
    coroutine.resume(co)
    assert.same({ "parked", nil }, { j:status(), got })
    c:give(1)
    j:join()
    coroutine.resume(co) -- it is at rest
    assert.same({ 1, 2 }, { got, job.spawn(function() return 2 end):join() })
  end)
end)

describe("waiting for an object", function()
  local bounded, ivar = require "luaweb.bounded", require "luaweb.ivar"
  local latch, lock = require "luaweb.latch", require "luaweb.lock"
  local mailbox, mvar = require "luaweb.mailbox", require "luaweb.mvar"
  local held = lock.new()
  job.spawn(function() held:acquire_alt():sync() end):join()
  local waits = {
    ["alt.sync"]     = function() alt.sync(chan.new()) end,
    ["bounded:take"] = function() bounded.new(1):take() end,
    ["bounded:put"]  = function() bounded.new(0):put(1) end,
    ["chan:take"]    = function() chan.new():take() end,
    ["chan:give"]    = function() chan.new():give(1) end,
    ["ivar:read"]    = function() ivar.new():read() end,
    ["job.start"]    = function() job.start(print) end,
    ["latch:wait"]   = function() latch.new(1):wait() end,
    ["lock:with"]    = function() held:with(print) end,
    ["mailbox:take"] = function() mailbox.new():take() end,
    ["mvar:take"]    = function() mvar.new():take() end,
  }

  for name, wait in pairs(waits) do
    it("by " .. name .. " says where it can't work, and leaves nothing", function()
      local before = require("luaweb.commit_watch").counts()
      local ok, message = pcall(coroutine.wrap(wait))
      assert.is_false(ok)
      assert.matches(name .. " can't wait here: it was called in a coroutine", message)
      ok, message = pcall(string.gsub, "x", "x", wait)
      assert.is_false(ok)
      assert.matches(name .. " can't wait here: it was called inside a callback",
        message)
      assert.equal(before.nodes, require("luaweb.commit_watch").counts().nodes)
    end)
  end
end)

describe("job.all", function()
  local function after(seconds, fn, ...)
    local args, n = { ... }, select("#", ...)
    return function()
      web.sleep(seconds)
      return fn(unpack(args, 1, n))
    end
  end
  local function same(...) return ... end

  it("T86 gives results in the order of the functions", function()
    assert.same({ n = 3, 1, nil, 3 }, job.all { after(0.01, same, 1),
      after(0.02, same, nil), after(0, same, 3) })
    assert.same({ n = 0 }, job.all {})
  end)

  it("T87 waits for all, and raises that very error", function()
    local done = false
    local ok, err = pcall(job.all, { raise, after(0.02, function() done = true end) })
    assert.is_true(not ok and err == E and done)
    ok, err = pcall(job.all, { raise, raise })
    assert.same({ false, 2, "2 jobs failed: E; E" }, { ok, #err.errors, tostring(err) })
  end)

  it("T88 fast cancels the others", function()
    local start, done = now(), false
    local ok, err = pcall(job.all_fast, { after(10, function() done = true end),
      after(0.01, raise) })
    assert.is_true(not ok and err == E and not done)
    assert.is_true(now() - start < 9)
  end)

  it("T89 of both halves lets them talk to each other", function()
    local c = chan.new()
    assert.same({ 7, 8 }, { job.both(function() return c:take() end, function()
      c:give(7)
      return 8
    end) })
  end)

  it("is cancelled with who waits for it", function()
    local c = chan.new()
    local p = spawn(function() job.all { function() c:take() end } end)
    p:cancel()
    settle()
    assert.equal("cancelled", p:status())
    assert.is_false(c:try_give(1))
  end)

  it("by map_all runs no more than it may at a time", function()
    local running, most = 0, 0
    local results = job.map_all({ 1, 2, 3, 4, 5, 6, 7 }, function(v, i)
      running = running + 1
      most = math.max(most, running)
      web.sleep(0.001 * (8 - v))
      running = running - 1
      return v * i
    end, { max = 3 })
    assert.same({ n = 7, 1, 4, 9, 16, 25, 36, 49 }, results)
    assert.equal(3, most)
    assert.is_false((pcall(job.map_all, { 1 }, raise)))
    assert.same({ n = 2, 1, 2 }, job.seq { function() return 1 end,
      function() return 2 end })
  end)
end)

describe("many jobs", function()
  it("T90 pass a token around a ring", function()
    local n, hops, last = 503, 100000, nil
    scope.run(function(s)
      local ring, done = {}, chan.new()
      for i = 1, n do ring[i] = chan.new() end
      for i = 1, n do
        local mine, following = ring[i], ring[i % n + 1]
        s:spawn(function()
          while true do
            local left = mine:take()
            if left == 0 then done:give(i) else following:give(left - 1) end
          end
        end)
      end
      ring[1]:give(hops)
      last = done:take()
    end)
    assert.equal(hops % n + 1, last)
  end)

  it("T91 add up the leaves of a tree", function()
    local function leaf_sum(to, number, size)
      if size == 1 then return to:give(number) end
      local from, sum = chan.new(), 0
      for i = 0, 9 do
        job.spawn(leaf_sum, from, number + i * size / 10, size / 10)
      end
      for _ = 1, 10 do sum = sum + from:take() end
      to:give(sum)
    end
    local result = chan.new()
    job.spawn(leaf_sum, result, 0, 100000)
    assert.equal(4999950000, result:take())
  end)

  it("T92 that never come to rest starve neither timers nor sockets", function()
    local client = test.app(web.app { web.get("/", function() return "echo" end) })
    local ping, pong = chan.new(), chan.new()
    local p, q = spawn(function() while true do ping:give(pong:take()) end end,
      function()
        while true do
          pong:give(1)
          ping:take()
        end
      end)
    local start = now()
    web.sleep(0.01)
    assert.is_true(now() - start < 5)
    assert.equal("echo", client:get("/").body)
    p:cancel()
    q:cancel()
  end)
end)
