-- SPDX-License-Identifier: MIT
-- Work that a cancellation or a stop may not cut short: what tidies up does so to its
-- end.
local concurrent = require "spec.support.concurrent"
local process = require "spec.support.process"
local scope = require "luaweb.scope"
local test = require "luaweb.test"
local web = require "luaweb"

local handler
local client = test.app(web.app {
  web.any("/", function(req) return handler(req) end),
})

after_each(process.clean)

describe("a finalizer", function()
  it("may register others, which run after it", function()
    local L = concurrent.log()
    handler = function()
      scope.finally(function() L "first registered" end)
      scope.finally(function()
        L "last registered"
        scope.finally(function() L "registered by a finalizer" end)
      end)
      return "answer"
    end
    assert.equal("answer", client:get("/").body)
    assert.same({ "last registered", "registered by a finalizer", "first registered" },
      { unpack(L) })
  end)

  it("may do so in scope.run, too, where it is the only one", function()
    local L = concurrent.log()
    scope.run(function(own)
      own:finally(function()
        L "first"
        own:finally(function() L "second" end)
      end)
    end)
    assert.same({ "first", "second" }, { unpack(L) })
  end)
end)

describe("a job in the background that never ends", function()
  for name, body in pairs {
    ["in a shield"] = "job.shield(web.sleep, 60)",
    ["that swallows its cancellation"] = "while true do pcall(web.sleep, 60) end",
  } do
    it("keeps no on_stop from running: one " .. name, function()
      local child = process.serve(process.file("app.lua", ([[
local job, web = require "luaweb.job", require "luaweb"
return web.app {
  on_start = function() job.background(function() %s end) end,
  on_stop = function() print "on_stop" end,
}
]]):format(body)), "--drain-timeout", "0.6")
      child:signal "TERM"
      local code, output = child:wait()
      assert.equal(0, code)
      assert.matches("\non_stop\n$", output)
    end)
  end
end)

describe("what tidies up after an alternative", function()
  it("runs to its end when a stop cancels who waited for it", function()
    local child = process.serve(process.file("app.lua", [[
local chan, job = require "luaweb.chan", require "luaweb.job"
local web = require "luaweb"
job.server(function()
  chan.new():on_abort(function()
    print "tidies up"
    web.sleep(0.05)
    print "is done"
  end):sync()
end)
return web.app {}
]]))
    child:signal "TERM"
    local code, output = child:wait()
    assert.equal(0, code)
    assert.matches("tidies up\nis done\n$", output)
  end)
end)
