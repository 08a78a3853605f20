-- SPDX-License-Identifier: MIT
-- Handlers and jobs that never go on: what they leave is ended for them, and nobody
-- else is held up.
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local process = require "spec.support.process"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

after_each(process.clean)

local function eventually(what, holds)
  for _ = 1, 500 do
    if holds() then return end
    web.sleep(0.01)
  end
  error("never: " .. what, 2)
end

local handler
local keys = { handle_ok = function(req) return handler(req) end, half_close_grace = 0 }
local in_time = { handle_ok = keys.handle_ok, timeout = 0.05 }
local client = test.app(web.app {
  web.resource("/", web.machine(keys)),
  web.resource("/in_time", web.machine(in_time)),
}):over_socket()

-- Has a handler begin, and its client leave; gives what its finalizer is told.
local function leave(fn)
  local begun, told
  handler = function()
    begun = true
    scope.finally(function(_, err) told = tostring(err) end)
    return fn()
  end
  local conn = client:raw(process.get "/")
  eventually("begun", function() return begun end)
  conn:close()
  eventually("ended", function() return told end)
  return told
end

describe("a loop that catches all, also that it was cancelled", function()
  local CAUGHT = "it was cancelled, has caught that 100 times"

  local function loop() while true do pcall(web.sleep, 60) end end

  it("in a handler does not stop the worker when its client leaves", function()
    local log = error_log.of(function()
      assert.equal("cancelled: the client is gone", leave(loop))
      handler = function() return "served" end
      assert.equal("served", client:get("/").body)
    end)
    assert.matches("error %[[%x-]+%] GET /: " .. CAUGHT, log)
    assert.matches("lost_spec.lua:%d+: in function", log)
  end)

  it("in a handler whose time is over is not heard of by the client", function()
    handler = loop
    local status
    local log = error_log.of(function() status = client:get("/in_time").status end)
    assert.equal(503, status)
    assert.matches(CAUGHT, log)
  end)

  it("in a job ends for who joins it, and for its scope", function()
    local looping, ended
    local ok, err = pcall(scope.run, function(s)
      looping = s:spawn(loop)
      s:finally(function() ended = true end)
      concurrent.settle()
    end)
    assert.is_false(ok)
    assert.matches(CAUGHT, err)
    assert.same({ true, "failed" }, { ended, looping:status() })
    assert.is_true(select(2, pcall(looping.join, looping)) == err)
  end)

  it("around what may be waited for at once ends as well", function()
    local c = chan.new()
    local looping = job.spawn(function() while true do pcall(c.take, c) end end)
    concurrent.settle()
    looping:cancel()
    local _, err = pcall(looping.join, looping)
    assert.matches(CAUGHT, err)
    assert.is_false(c:try_give(1))
  end)

  it("of 100 waits that has an end ends as ever", function()
    local ended = false
    local p = job.spawn(function()
      for _ = 1, 99 do pcall(job.yield) end
      ended = true
      web.sleep(0)
    end)
    concurrent.settle()
    p:cancel "enough"
    local _, err = pcall(p.join, p)
    assert.same({ true, "cancelled", "enough" }, { ended, p:status(), err.reason })
  end)

  it("in a job of the server does not hold up a stop", function()
    local child = process.serve(process.file("app.lua", [[
local job, web = require "luaweb.job", require "luaweb"
job.server(function() while true do pcall(web.sleep, 60) end end)
return web.app { web.get("/", "root") }
]]))
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    assert.matches("error a job failed: " .. CAUGHT, child:errors())
  end)
end)

describe("a handler that yields to nobody", function()
  it("is a 500; its jobs end, its finalizers run and learn why", function()
    local child, status, err
    handler = function()
      child = job.spawn(web.sleep, 60)
      scope.finally(function(...) status, err = ... end)
      coroutine.yield()
    end
    local log = error_log.of(function()
      assert.equal(500, client:get("/").status)
      eventually("finalized", function() return status end)
    end)
    assert.same({ "cancelled", "failed" }, { child:status(), status })
    assert.matches("^coroutine.yield can't be called here", err)
    assert.matches("coroutine.yield can't be called here", log)
    assert.is_nil(log:find "finalizer")
  end)

  it("has the failure of a finalizer logged", function()
    handler = function()
      scope.finally(function() error "broken finalizer" end)
      coroutine.yield()
    end
    local log = error_log.of(function()
      assert.equal(500, client:get("/").status)
      concurrent.settle()
    end)
    assert.matches("a finalizer failed: .*broken finalizer", log)
  end)
end)
