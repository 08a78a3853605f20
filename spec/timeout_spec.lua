-- SPDX-License-Identifier: MIT
-- `timeout` of a machine: the client gets a 503, and the handler's work really ends.
local alt = require "luaweb.alt"
local concurrent = require "spec.support.concurrent"
local error_log = require "spec.support.error_log"
local job = require "luaweb.job"
local process = require "spec.support.process"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local function serve(keys, timeout)
  keys.timeout = timeout or 0.05
  return test.app(web.app { web.resource("/", web.machine(keys)),
    web.get("/quick", function() return "quick" end) })
end

describe("a machine's timeout", function()
  it("answers 503, says when to come back, and keeps the connection", function()
    local client = serve { handle_ok = function() web.sleep(30) end }
    local log = error_log.of(function()
      local conn = client:raw(process.get "/" .. process.get "/quick")
      local late, quick = process.answers(conn, 2)
      assert.equal(503, late.status)
      assert.matches("^%d+$", late:header "retry-after")
      assert.equal("quick", quick.body)
      conn:close()
    end)
    assert.matches("warn  %[%x+%-%x+%] GET /: its handler took longer than "
      .. "the machine's timeout\n$", log)
  end)

  it("ends what the handler waits for and its jobs, and runs finalizers", function()
    local L = concurrent.log()
    local client = serve { handle_ok = function()
      scope.finally(function(status, err) L(status .. ", " .. tostring(err)) end)
      job.spawn(function()
        job.ensure(function() web.sleep(30) end, function() L "job" end)
      end)
      return alt.foreign(function() end, function() L "foreign" end):sync()
    end }
    error_log.of(function()
      assert.equal(503, client:get("/").status)
      for _ = 1, 500 do
        if L[3] then break end
        web.sleep(0.01)
      end
    end)
    table.sort(L)
    assert.same({ "cancelled, cancelled: it took too long", "foreign", "job" },
      { unpack(L) })
  end)

  it("is sticky for a handler that catches the cancellation", function()
    local L = concurrent.log()
    local client = serve { handle_ok = function()
      for _ = 1, 2 do
        local ok, err = pcall(web.sleep, 30)
        L(ok and "slept" or tostring(err))
      end
      return "late"
    end }
    error_log.of(function()
      assert.equal(503, client:get("/").status)
      web.sleep(0.05)
    end)
    assert.same({ "cancelled: it took too long", "cancelled: it took too long" },
      { unpack(L) })
  end)

  it("is forgotten by the coroutine that serves the next request", function()
    local first = true
    local client = serve { handle_ok = function()
      web.sleep(first and 30 or 0.001)
      return "in time"
    end }
    error_log.of(function()
      assert.equal(503, client:get("/").status)
      web.sleep(0.02)
      first = false
      for _ = 1, 20 do assert.equal("in time", client:get("/").body) end
    end)
  end)

  it("is its machine's alone, and leaves alone what ends in time", function()
    local client = test.app(web.app {
      web.resource("/short", web.machine { timeout = 0.05,
        handle_ok = function() web.sleep(0.3) end }),
      web.resource("/long", web.machine { timeout = 10,
        handle_ok = function() web.sleep(0.3) return "long" end }),
      web.get("/none", function() web.sleep(0.3) return "none" end),
    })
    error_log.of(function()
      local short, long, none = unpack(job.all {
        function() return client:get("/short").status end,
        function() return client:get("/long").body end,
        function() return client:get("/none").body end,
      })
      assert.same({ 503, "long", "none" }, { short, long, none })
    end)
  end)

  it("takes the place of --request-timeout, and is switched off by 0", function()
    local child = process.serve(process.file("app.lua", [[
      local web = require "luaweb"
      local function slow() web.sleep(0.3) return "slow" end
      return web.app {
        web.resource("/server", web.machine { handle_ok = slow }),
        web.resource("/longer", web.machine { timeout = 10, handle_ok = slow }),
        web.resource("/off", web.machine { timeout = 0, handle_ok = slow }),
      }
    ]]), "--request-timeout", "0.1")
    assert.equal(503, child:ask(process.get "/server").status)
    assert.equal("slow", child:ask(process.get "/longer").body)
    assert.equal("slow", child:ask(process.get "/off").body)
    process.clean()
  end)

  it("runs while content is awaited", function()
    local client = serve { do_post = function(req) return req:text() end }
    error_log.of(function()
      local conn = client:raw("POST / HTTP/1.1\r\nHost: h\r\n"
        .. "Content-Length: 5\r\n\r\nab")
      assert.equal(503, process.answers(conn).status)
      conn:close()
    end)
  end)
end)

describe("The keys timeout, on_disconnect and half_close_grace", function()
  local function fault_of(key, value)
    local ok, err = pcall(function()
      web.app { web.resource("/", web.machine { [key] = value, handle_ok = "x" }) }
        :install()
    end)
    assert.is_false(ok)
    return err
  end

  it("want what they hold, and no function", function()
    for _, key in ipairs { "timeout", "half_close_grace" } do
      for _, value in ipairs { -1, 0 / 0, 1e10, "1", print } do
        assert.matches(key .. ".* wants a number of seconds", fault_of(key, value))
      end
    end
    for _, value in ipairs { "Cancel", true, 1, print } do
      assert.matches('on_disconnect.* wants "cancel", "notify" or "ignore"',
        fault_of("on_disconnect", value))
    end
  end)
end)

describe("web.stopping", function()
  after_each(process.clean)

  it("is ready when the worker was told to stop, for streams and on_stop", function()
    local child = process.serve(process.file("app.lua", [[
      local alt = require "luaweb.alt"
      local web = require "luaweb"
      return web.app {
        on_stop = function() print("on_stop", web.stopping:ready()) end,
        web.get("/", function()
          print("before", web.stopping:ready())
          alt.choose { web.stopping, web.after(30) }:sync()
          return "stopping"
        end),
      }
    ]]))
    local conn = child:connect(process.get "/")
    child:expect "^before\tfalse"
    child:signal "TERM"
    assert.equal("stopping", process.answers(conn).body)
    child:expect "^on_stop\ttrue"
    conn:close()
  end)

  it("lets jobs in the background end, then on_stop run, then servers be cancelled",
    function()
      local child = process.serve(process.file("app.lua", [[
        local job = require "luaweb.job"
        local web = require "luaweb"
        return web.app {
          on_start = function()
            job.server(function()
              job.ensure(function() web.sleep(30) end, function() print "server" end)
            end)
            job.background(function()
              web.stopping:sync()
              web.sleep(0.1)
              print "background"
            end)
          end,
          on_stop = function() print "on_stop" end,
          web.get("/", function() end),
        }
      ]]))
      child:signal "TERM"
      child:expect "^background$"
      child:expect "^on_stop$"
      child:expect "^server$"
      assert.equal(0, child:wait())
    end)

  it("cancels what is in the background once the drain timeout is over", function()
    local child = process.serve(process.file("app.lua", [[
      local job = require "luaweb.job"
      local web = require "luaweb"
      return web.app {
        on_start = function()
          job.background(function()
            job.ensure(function() web.sleep(30) end, function() print "cancelled" end)
          end)
        end,
        on_stop = function() print "on_stop" end,
        web.get("/", function() end),
      }
    ]]), "--drain-timeout", "0.2")
    child:signal "TERM"
    child:expect "^cancelled$"
    child:expect "^on_stop$"
    assert.equal(0, child:wait())
  end)
end)
