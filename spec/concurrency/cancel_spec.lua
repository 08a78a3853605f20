-- SPDX-License-Identifier: MIT
-- Cancellation and scopes (lua/luaweb/cancellation.lua, scope.lua): what waits is
-- ended, for good, and nothing is lost.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local now = require("system").monotime
local scope = require "luaweb.scope"
local web = require "luaweb"

local settle, spawn, told = concurrent.settle, concurrent.spawn, concurrent.told
local E = setmetatable({}, { __tostring = function() return "E" end })

describe("job:cancel", function()
  local L, c

  before_each(function()
    L, c = concurrent.log(), chan.new()
  end)

  it("T59 abandons what the job waits for, and raises there", function()
    local x, y, seen = chan.new(), chan.new(), nil
    local p = spawn(function()
      local _
      _, seen = pcall(alt.sync, alt.choose { told(L, "a", x), told(L, "b", y) })
    end)
    assert.is_true(p:cancel "r")
    assert.is_false(x:try_give(1) or y:try_give(1))
    settle()
    assert.same({ "a:inst", "b:inst", "a:abort", "b:abort" }, { unpack(L) })
    assert.is_true(alt.is_cancelled(seen))
    assert.equal("r", seen.reason)
    assert.equal("cancelled: r", tostring(seen))
  end)

  it("T60 of a job that has not run lets it never run", function()
    local p = job.spawn(function() L "ran" end)
    assert.is_true(p:cancel "early")
    settle()
    local ok, err = pcall(p.join, p)
    assert.is_false(ok)
    assert.equal("early", err.reason)
    assert.equal("cancelled", p:status())
    assert.equal(0, #L)
  end)

  it("T61 counts once, and not after the end", function()
    local ended = spawn(function() end)
    assert.is_false(ended:cancel())
    local p = spawn(function() told(L, "a", c):sync() end)
    assert.is_true(p:cancel "first")
    assert.is_false(p:cancel "second")
    settle()
    local _, err = pcall(p.join, p)
    assert.equal("first", err.reason)
    assert.same({ "a:inst", "a:abort" }, { unpack(L) })
  end)

  it("T62 stays, also when the job swallows it", function()
    local start
    local p = spawn(function()
      pcall(c.take, c)
      start = now()
      web.sleep(1)
    end)
    p:cancel()
    settle()
    assert.equal("cancelled", p:status())
    assert.is_true(now() - start < 0.9)
  end)

  it("T63 lets a finalizer in a shield wait", function()
    local done
    local p = job.spawn(function()
      scope.run(function(s)
        s:finally(function()
          web.sleep(0.05)
          done = true
        end)
        c:take()
      end)
    end)
    settle()
    p:cancel()
    pcall(p.join, p)
    assert.is_true(done)
  end)

  it("T64 of the running job counts from its next wait", function()
    local p = job.spawn(function()
      job.self():cancel "me"
      L "computed"
      c:take()
      L "never"
    end)
    local _, err = pcall(p.join, p)
    assert.equal("me", err.reason)
    assert.same({ "computed" }, { unpack(L) })
  end)

  it("inside a guard counts from that very wait", function()
    local p = spawn(function()
      alt.guard(function()
        job.self():cancel()
        return c
      end):sync()
    end)
    assert.equal("cancelled", p:status())
    assert.is_false(c:try_give(1))
  end)

  it("loses nothing that was given before", function()
    local got, after
    local p = spawn(function()
      got = c:take()
      after = pcall(c.take, c)
    end)
    c:give "kept"
    assert.is_true(p:cancel())
    settle()
    assert.same({ "kept", false }, { got, after })
  end)

  it("is no error that nobody has caught", function()
    assert.equal("", (error_log.of(function()
      spawn(function() c:take() end):cancel()
      settle()
    end)))
  end)

  it("ends a wait for time, and stops its timer", function()
    local start = now()
    local p = spawn(function() web.sleep(60) end)
    p:cancel()
    pcall(p.join, p)
    assert.is_true(now() - start < 30)
  end)

  it("is not caught by what is around an alternative", function()
    local p = spawn(function() c:catch(function() L "caught" end):sync() end)
    p:cancel()
    settle()
    assert.same({ "cancelled" }, { p:status(), unpack(L) })
  end)
end)

describe("a scope", function()
  local L, c

  before_each(function()
    L, c = concurrent.log(), chan.new()
  end)

  it("T65 cancels its jobs when its body returns, then runs finalizers", function()
    local jobs = {}
    local result = scope.run(function(s)
      for i = 1, 3 do
        jobs[i] = s:spawn(function() c:take() end)
        s:finally(function(status) L(i .. status) end)
      end
      settle()
      return "result"
    end)
    assert.equal("result", result)
    for i = 1, 3 do assert.equal("cancelled", jobs[i]:status()) end
    assert.same({ "3ok", "2ok", "1ok" }, { unpack(L) })
  end)

  it("T66 fails with the first of its jobs, and cancels the others", function()
    local jobs, ok, err = {}, nil, nil
    local log = error_log.of(function()
      ok, err = pcall(scope.run, function(s)
        jobs[1] = s:spawn(function() c:take() end)
        jobs[2] = s:spawn(function() c:take() end)
        s:spawn(function() error(E, 0) end)
        s:finally(function(status, why) L(status .. tostring(why)) end)
        c:take()
      end)
    end)
    assert.is_true(not ok and err == E)
    assert.same({ "cancelled", "cancelled" }, { jobs[1]:status(), jobs[2]:status() })
    assert.same({ "failedE" }, { unpack(L) })
    assert.equal("", log)
  end)

  it("has the finalizers that job.all's functions register, not job.all", function()
    local function register() scope.finally(function(status) L(status) end) end
    scope.run(function()
      job.all { register, function() job.both(register, register) end }
      L "all"
    end)
    assert.same({ "all", "ok", "ok", "ok" }, { unpack(L) })
  end)

  it("runs finalizers that finalizers register, and refuses later ones", function()
    local kept
    scope.run(function(s)
      kept = s
      s:finally(function()
        s:finally(function() L "inner" end)
        L "outer"
      end)
    end)
    assert.same({ "outer", "inner" }, { unpack(L) })
    assert.error_matches(function() kept:finally(print) end,
      "scope:finally: this scope has ended")
  end)

  it("ends with the job that has opened it", function()
    local inner
    local outer = spawn(function()
      scope.run(function(s)
        inner = s:spawn(function() c:take() end)
        c:take()
      end)
    end)
    outer:cancel "stop"
    settle()
    assert.same({ "cancelled", "cancelled" }, { outer:status(), inner:status() })
  end)

  it("has what its jobs spawn, too, and takes nothing after its end", function()
    local kept, grandchild
    scope.run(function(s)
      kept = s
      s:spawn(function() grandchild = job.spawn(function() c:take() end) end)
      settle()
    end)
    assert.equal("cancelled", grandchild:status())
    assert.error_matches(function() kept:spawn(print) end, "this scope has ended")
  end)

  it("of a background job is not that of who starts it", function()
    local background
    scope.run(function()
      background = job.background(function() return c:take() end)
    end)
    settle()
    assert.equal("parked", background:status())
    c:give(5)
    assert.equal(5, background:join())
  end)
end)

describe("scope.with", function()
  it("closes when the function returns, raises, or is cancelled", function()
    local closed, c = 0, chan.new()
    local resource = { close = function() closed = closed + 1 end }
    assert.equal(3, scope.with(resource, function() return 3 end))
    assert.is_false((pcall(scope.with, resource, error)))
    spawn(function() scope.with(resource, function() c:take() end) end):cancel()
    settle()
    assert.equal(3, closed)
    assert.equal(4, scope.with(nil, function() return 4 end))
    coroutine.wrap(scope.with)(resource, function() end)
    assert.equal(4, closed)
  end)
end)
