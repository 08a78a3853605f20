-- SPDX-License-Identifier: MIT
-- What `luaweb dev` watches, and that a change loads the app anew.
local dev = require "spec.support.dev"
local process = require "spec.support.process"
local web = require "luaweb"

after_each(process.clean)

-- An app that answers / with what a module and a page say.
local APP = [[
local web = require "luaweb"
local part = require "part"
local file = assert(io.open("%s/page.html"))
local page = file:read "*a"
file:close()
return web.app { web.get("/", function() return part.text .. page end) }
]]

local function part(text) return ("return { text = %q }\n"):format(text) end

local function serve(files)
  files["app.lua"] = files["app.lua"] or APP:format(process.path "x":sub(1, -3))
  files["part.lua"] = files["part.lua"] or part "one"
  files["page.html"] = files["page.html"] or " page"
  return dev.serve(files)
end

describe("luaweb dev loads an app anew", function()
  it("when its script is saved", function()
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    assert.equal("one", dev.get(child, "/").body)
    dev.write("app.lua", dev.says "two")
    dev.shows(child, "/", "two")
    assert.matches("info  reload: [^\n]*/app%.lua has changed", child:errors())
    child:stop()
  end)

  it("when an editor replaces the script, again and again", function()
    local child = dev.serve { ["app.lua"] = dev.says "zero" }
    for _, text in ipairs { "one", "two", "three" } do
      dev.replace("app.lua", dev.says(text))
      dev.shows(child, "/", text)
    end
    child:stop()
  end)

  it("when a module that it has loaded is saved or replaced", function()
    local child = serve {}
    dev.write("part.lua", part "two")
    dev.shows(child, "/", "two page")
    dev.replace("part.lua", part "three")
    dev.shows(child, "/", "three page")
    child:stop()
  end)

  it("when a page in its folder is saved", function()
    local child = serve {}
    dev.write("page.html", " text")
    dev.shows(child, "/", "one text")
    child:stop()
  end)

  it("when a module in another folder is saved", function()
    local child = serve { ["app/app.lua"] = ([[
package.path = "%s/?.lua;" .. package.path
local web = require "luaweb"
local other = require "other.thing"
return web.app { web.get("/", function() return other.text end) }
]]):format(process.path "far"), ["far/other/thing.lua"] = part "one",
      ["app.lua"] = ('return dofile "%s"'):format(process.path "app/app.lua") }
    assert.equal("one", dev.get(child, "/").body)
    dev.write("far/other/thing.lua", part "two")
    dev.shows(child, "/", "two")
    child:stop()
  end)

  it("when a folder with a module is deleted and made again", function()
    local child = serve { ["app.lua"] = [[
local web = require "luaweb"
local ok, inner = pcall(require, "lib.inner")
return web.app { web.get("/", function() return ok and inner.text or "none" end) }
]], ["lib/inner.lua"] = part "one" }
    assert.equal("one", dev.get(child, "/").body)
    os.execute("rm -r '" .. process.path "lib" .. "'")
    dev.shows(child, "/", "none")
    dev.write("lib/inner.lua", part "two")
    dev.shows(child, "/", "two")
    dev.write("lib/inner.lua", part "three")
    dev.shows(child, "/", "three")
    child:stop()
  end)

  it("when a folder is replaced by another one", function()
    local child = serve { ["app.lua"] = [[
local web = require "luaweb"
local inner = require "lib.inner"
return web.app { web.get("/", function() return inner.text end) }
]], ["lib/inner.lua"] = part "one" }
    dev.write("next/inner.lua", part "two")
    os.rename(process.path "lib", process.path "last")
    os.rename(process.path "next", process.path "lib")
    dev.shows(child, "/", "two")
    dev.write("lib/inner.lua", part "three")
    dev.shows(child, "/", "three")
    child:stop()
  end)

  it("when a module appears that it has missed, in a new folder", function()
    local child = serve { ["app.lua"] = [[
local web = require "luaweb"
local late = require "new.late"
return web.app { web.get("/", function() return late.text end) }
]] }
    assert.equal(503, dev.get(child, "/").status)
    dev.write("new/late.lua", part "here")
    dev.shows(child, "/", "here")
    child:stop()
  end)

  it("when a path changes that the app's own watching was told of", function()
    local child = serve { ["app.lua"] = ([[
local web = require "luaweb"
local watch = require "luaweb.watch"
assert(watch.folder "%s" and watch.file "%s")
local loaded = os.clock()
return web.app { web.get("/", function() return tostring(loaded) end) }
]]):format(process.path "data", process.path "more/settings.json"),
      ["data/one.json"] = "{}", ["more/other.json"] = "{}" }
    dev.write("data/one.json", "[]")
    dev.logs(child, "data/one.json has changed")
    dev.write("data/below/two.json", "[]")
    dev.logs(child, "data/below has changed")
    dev.write("more/settings.json", "[]")
    dev.logs(child, "more/settings.json has changed")
    child:stop()
  end)

  it("once for a burst of changes", function()
    local child = serve {}
    for i = 1, 200 do process.file(("part%d.lua"):format(i % 7), part(tostring(i))) end
    dev.write("part.lua", part "last")
    dev.shows(child, "/", "last")
    local _, count = child:errors():gsub("has changed", "")
    assert.is_true(count <= 5, child:errors()) -- on a slow machine the burst lasts long
    child:stop()
  end)
end)

describe("luaweb dev does not load an app anew", function()
  it("for what apps write, hidden files, or what editors leave", function()
    local child = serve {}
    for _, name in ipairs { "data.db", "data.db-wal", "app.log", "data.json", ".hidden",
      ".app.lua.swp", "app.lua~", "4913", "#app.lua#", ".git/config",
      "node_modules/x/index.js", "noise" } do
      dev.write(name, "x")
    end
    web.sleep(0.2)
    dev.write("part.lua", part "two")
    dev.shows(child, "/", "two page")
    local _, count = child:errors():gsub("has changed", "")
    assert.equal(1, count, child:errors())
    assert.matches("part%.lua has changed", child:errors())
    child:stop()
  end)
end)

describe("An app under luaweb dev", function()
  it("goes on with open connections", function()
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    local conn = child:connect()
    assert.equal("one", child:ask(process.get "/", conn).body)
    dev.write("app.lua", dev.says "two")
    dev.shows(child, "/", "two")
    assert.equal("two", child:ask(process.get "/", conn).body)
    conn:close()
    child:stop()
  end)

  it("goes on as it was when the next version does not load, and then with what is "
    .. "mended", function()
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    dev.write("app.lua", "local web = require 'luaweb'\nreturn web.ap {}\n")
    dev.logs(child, "the old generation goes on: ")
    assert.matches("goes on: [^\n]*app%.lua:2: attempt to call field 'ap'",
      child:errors())
    assert.matches("\n> +2 | return web%.ap {}", child:errors())
    assert.equal("one", dev.get(child, "/").body)
    dev.write("app.lua", dev.says "three")
    dev.shows(child, "/", "three")
  end)

  it("answers every path with what is wrong where it has never loaded", function()
    local child = dev.serve { ["app.lua"] = "return {\n" }
    for _, target in ipairs { "/", "/any/path?x=1", "/trace" } do
      local answer = dev.get(child, target, "Accept: text/html\r\n")
      assert.equal(503, answer.status)
      assert.matches("app%.lua:2: unexpected symbol near", answer.body)
      assert.matches("<span class=\"hit\">", answer.body)
    end
    assert.matches("luaweb: [^\n]*app%.lua:2: unexpected symbol near", child:errors())
    dev.write("app.lua", "local x = nil\nreturn x.y\n")
    dev.shows(child, "/", "app.lua:2: attempt to index local 'x'")
    dev.write("app.lua", dev.says "mended")
    dev.shows(child, "/", "mended")
  end)

  it("is shown what is wrong in on_start", function()
    local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
return web.app { on_start = function() error "no database" end }
]] }
    assert.matches("app%.lua:2: no database", dev.get(child, "/").body)
  end)

  it("is shown a recursion without end", function()
    local child = dev.serve {
      ["app.lua"] = "local function f() return f() + 1 end f()" }
    local answer = dev.get(child, "/")
    assert.equal(503, answer.status)
    assert.matches("stack overflow", answer.body)
  end)

  it("stops at once although a page listens", function()
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    local conn = child:connect(process.get "/.luaweb/events")
    conn:receive(10)
    child:stop()
    conn:close()
  end)
end)
