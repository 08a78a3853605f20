-- SPDX-License-Identifier: MIT
-- Handlers that wait for one of several: they are no jobs, but wait like them.
local alt = require "luaweb.alt"
local chan = require "luaweb.chan"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local lock = require "luaweb.lock"
local sched = require "luaweb.sched"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

describe("on_uncaught of an app", function()
  after_each(function() job.on_uncaught(nil) end)

  local function fail(with)
    local client = test.app(web.app {
      on_uncaught = with,
      web.get("/", function()
        job.spawn(function() error "broken" end)
        web.sleep(0)
        return "answer"
      end),
    })
    return error_log.of(function() assert.equal("answer", client:get("/").body) end)
  end

  it("gets the errors of jobs that nobody joins, instead of the log", function()
    local err, failed, text
    assert.equal("", fail(function(...) err, failed, text = ... end))
    assert.matches("handler_spec.lua:%d+: broken", err)
    assert.equal("failed", failed:status())
    assert.matches("stack traceback", text)
  end)

  it("is told to the log when it fails itself", function()
    assert.matches("error on_uncaught failed: .*its own",
      fail(function() error "its own" end))
  end)
end)

describe("handlers that have waited", function()
  it("leave nothing behind, however many there were", function()
    local client = test.app(web.app { web.get("/", function()
      web.sleep(0.05)
      return "x"
    end) })
    local conns = {}
    for i = 1, 1000 do conns[i] = client:raw "GET / HTTP/1.1\r\nHost: h\r\n\r\n" end
    for i = 1, 1000 do
      assert.matches("x$", conns[i]:receive(5))
      conns[i]:close()
    end
    web.sleep(0.01)
    assert.is_nil(next(sched.owners))
    assert(#sched.spares <= 256, #sched.spares)
  end)
end)

describe("a handler", function()
  local handler
  local client = test.app(web.app { web.get("/", function() return handler() end) })

  it("T97 answers by itself when its work is late, which is then stopped", function()
    local L = concurrent.log()
    handler = function()
      local work = job.run_alt(function()
        web.sleep(0.1)
        L "done"
        return "in time"
      end):on_abort(function() L "aborted" end)
      local name, value = alt.race { { "ok", work }, { "late", web.after(0.02) } }
      return name == "late" and 504 or value
    end
    assert.equal(504, client:get("/").status)
    web.sleep(0.12)
    assert.same({ "aborted" }, { unpack(L) })
  end)

  it("T100 may start a job that outlives its request", function()
    local c, background = chan.new(), nil
    handler = function()
      background = job.background(function() return c:take() end)
      return "started"
    end
    assert.equal("started", client:get("/").body)
    c:give "given"
    assert.equal("given", background:join())
  end)

  it("takes turns with others by channels, locks and scopes", function()
    local c, lk, inside, most = chan.new(), lock.new(), 0, 0
    handler = function()
      return tostring(lk:with(function()
        inside = inside + 1
        most = math.max(most, inside)
        local sum = scope.run(function(s)
          s:spawn(function() c:send(2) end)
          return c:take() + alt.choose { alt.never, web.after(0.001):wrap_value(1) }
            :sync()
        end)
        inside = inside - 1
        return sum
      end))
    end
    local function ask() return client:get("/").body end
    assert.same({ n = 4, "3", "3", "3", "3" }, job.all { ask, ask, ask, ask })
    assert.equal(1, most)
  end)
end)

describe("a finalizer of a handler", function()
  it("may start jobs, and those that it leaves end before the answer", function()
    local L = concurrent.log()
    local client = test.app(web.app { web.get("/", function()
      scope.finally(function()
        L(job.spawn(function() web.sleep(0.01) return "joined" end):join())
        job.spawn(job.ensure, function() web.sleep(30) end, function() L "left" end)
        web.sleep(0)
      end)
      return "answer"
    end) })
    assert.equal("answer", client:get("/").body)
    assert.same({ "joined", "left" }, { unpack(L) })
  end)

  it("may register others, and open what closes with the request", function()
    local L = concurrent.log()
    function L:close() self "closed" end
    local client = test.app(web.app {
      web.get("/", function()
        scope.finally(function()
          scope.finally(function() L "inner" end)
          scope.close_at_end(L)
        end)
        scope.close_at_end(L)
        return "answer"
      end),
    })
    assert.equal("answer", client:get("/").body)
    assert.same({ "closed", "closed", "inner" }, { unpack(L) })
  end)
end)
