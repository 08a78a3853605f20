-- SPDX-License-Identifier: MIT
-- Work that doesn't end when it is cancelled: what tidies up does so to its end, and
-- what never ends holds up nobody else.
local concurrent = require "spec.support.concurrent"
local job = require "luaweb.job"
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

describe("a loop that swallows its cancellation", function()
  it("lets others go on", function()
    local ends, refused = false, 0
    local work = concurrent.spawn(function()
      repeat
        if not pcall(web.sleep, 30) then refused = refused + 1 end
      until ends
    end)
    work:cancel "enough"
    web.sleep(0.05) -- what would never end
    ends = true
    work:join()
    assert(refused > 100 and refused < 1000, refused)
  end)

  it("does so in a handler, and leaves nothing to the next request", function()
    handler = function()
      local ends = false
      job.background(function() web.sleep(0.05) ends = true end)
      local swallows = job.spawn(function()
        repeat pcall(web.sleep, 30) until ends
        return "swallowed"
      end)
      job.yield()
      swallows:cancel "enough"
      return (swallows:join())
    end
    assert.equal("swallowed", client:get("/").body)
    handler = function() web.sleep(0.001) return "next" end
    assert.equal("next", client:get("/").body)
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
