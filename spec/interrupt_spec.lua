-- SPDX-License-Identifier: MIT
-- Signals that find Lua busy or a test run under way, and answers that are easily given
-- by mistake.
local process = require "spec.support.process"

after_each(process.clean)

describe("a second signal", function()
  it("ends a worker at once whose handler never waits", function()
    local child = process.serve(process.file("busy.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() print "begun" while true do end end) }
]]))
    local conn = child:connect(process.get "/")
    child:expect "^begun$"
    child:signal "TERM"
    require("luaweb").sleep(0.1)
    child:signal "TERM"
    assert.equal(0, (child:wait()))
    conn:close()
  end)
end)

describe("a test run that is interrupted", function()
  it("ends with code 130, whatever has passed", function()
    local child = process.start("test", process.file("slow_spec.lua", [[
it("sleeps", function() print "begun" require("luaweb").sleep(30) end)
]]))
    child:expect "begun$"
    child:signal "TERM"
    assert.equal(130, (child:wait()))
  end)
end)

describe("a handler", function()
  it("that returns false is a 500, and the log says so", function()
    local child = process.serve(process.file("false.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() return false end) }
]]))
    assert.equal(500, child:ask(process.get "/").status)
    assert.matches("a handler returned false", child:errors())
  end)

  it("may raise a status in a file whose path has a colon", function()
    local child = process.serve(process.file("a:b.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() error(404) end) }
]]))
    assert.equal(404, child:ask(process.get "/").status)
  end)
end)
