-- SPDX-License-Identifier: MIT
-- --log-level: what the error log leaves out.
local process = require "spec.support.process"

local ROOT = process.get "/"

after_each(process.clean)

describe("--log-level", function()
  -- With a warning and nothing else in its error log.
  local function errors_of(level)
    local child = process.serve(process.file("slow.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function() web.sleep(0.2) return "late" end) }
]]), "--request-timeout", "0.1", "--log-level", level)
    assert.equal(503, child:ask(ROOT).status)
    return child:errors()
  end

  for _, level in ipairs { "debug", "info", "warn" } do
    it(level .. " lets a warning through", function()
      assert.matches("^%S+ warn  %S+ GET /: its handler took longer", errors_of(level))
    end)
  end

  it("error leaves it out", function()
    assert.equal("", errors_of "error")
  end)

  it("error lets errors through", function()
    local child = process.serve(process.file("app.lua", [[
return require("luaweb").app { on_stop = function() error "no disk" end }
]]), "--log-level", "error")
    child:signal "TERM"
    child:wait()
    assert.matches("^%S+ error on_stop failed: ", child:errors())
  end)

  for _, level in ipairs { "loud", "", "INFO", "warning" } do
    it(("is none of %q: code 2"):format(level), function()
      local ended = process.run("apps/hello.lua", "--log-level", level)
      assert.equal(2, ended.code)
      assert.equal(("luaweb: --log-level %s: want debug, info, warn or error\n"
        .. "Try: luaweb --help\n"):format(level), ended.errors)
    end)
  end
end)

describe("the error log", function()
  it("keeps UTF-8, and escapes what a terminal may take for a command", function()
    local path = process.file("app.lua", [[
      local log = require "luaweb.log"
      log.warn "\195\188 \226\130\172 \155[31m \194\155[1m \27[0m \127 \255"
      return require("luaweb").app {}
    ]])
    local child = process.serve(path)
    assert.equal([[warn  ü € \x9b[31m \xc2\x9b[1m \x1b[0m \x7f \xff]],
      child:errors():match "warn[^\n]*")
    child:stop()
  end)
end)
