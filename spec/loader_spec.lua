-- SPDX-License-Identifier: MIT
-- `require` (lua/luaweb/loader.lua): where modules are found, and that they may wait
-- while they load.
local job = require "luaweb.job"
local loader = require "luaweb.loader"
local new_folder = require("spec.support.folder").new
local web = require "luaweb"

local folder, path, cpath, before

before_each(function()
  folder, path, cpath, before = new_folder(), package.path, package.cpath, {}
  for name in pairs(package.loaded) do before[name] = true end
  loader.add_folder(folder.path)
  _G.loads = {}
end)

after_each(function()
  for name in pairs(package.loaded) do
    if not before[name] then package.loaded[name] = nil end
  end
  package.path, package.cpath = path, cpath
  folder:remove()
  _G.loads = nil
end)

--- Writes a module that counts how often it is loaded.
local function write(name, text)
  local count = "loads[...] = (loads[...] or 0) + 1 "
  return folder:write(name .. ".lua", count .. text)
end

describe("require", function()
  it("finds modules beside the app", function()
    write("aa", "return 'beside'")
    write("bb/init", "return 'init'")
    write("cc/dd", "return 'deep'")
    assert.same({ "beside", "init", "deep" },
      { require "aa", require "bb", require "cc.dd" })
  end)

  it("finds modules in the app's tree of LuaRocks", function()
    write("lua_modules/share/lua/5.1/rock", "return 'rock'")
    write("lua_modules/share/lua/5.1/rocks/init", "return 'rocks'")
    assert.same({ "rock", "rocks" }, { require "rock", require "rocks" })
  end)

  it("prefers modules beside the app to all others", function()
    write("lua_modules/share/lua/5.1/same", "return 'rock'")
    write("same", "return 'beside'")
    write("ltn12", "return 'mine'")
    assert.same({ "beside", "mine" }, { require "same", require "ltn12" })
  end)

  it("never finds the framework's modules elsewhere", function()
    write("luaweb/colour", "return 'wrong'")
    write("luaweb/json_value", "return 'wrong'")
    package.loaded["luaweb.json.value"] = nil
    assert.is_table(require "luaweb.json.value")
  end)

  it("does not grow the path for a folder that is first there", function()
    local grown = package.path
    loader.add_folder(folder.path)
    assert.equal(grown, package.path)
  end)

  it("loads a module once", function()
    write("once", "return {}")
    assert.equal(require "once", require "once")
    assert.equal(1, _G.loads.once)
  end)

  it("gives true for a module that returns nothing", function()
    write("nothing", "")
    assert.is_true(require "nothing")
    assert.is_true(require "nothing")
    assert.equal(1, _G.loads.nothing)
  end)

  it("gives what a module put in package.loaded itself", function()
    write("self", "package.loaded[...] = 'own'")
    assert.equal("own", require "self")
  end)

  it("says where it looked for a module that is not there", function()
    local ok, message = pcall(function() require "not.there" end)
    assert.is_false(ok)
    assert.matches("loader_spec.lua:%d+: module 'not.there' not found:", message)
    for _, form in ipairs {
      "/not/there.lua'", "/lua_modules/share/lua/5.1/not/there.lua'",
      "/not/there/init.lua'", "/lua_modules/share/lua/5.1/not/there/init.lua'",
      "/not/there.so'", "/lua_modules/lib/lua/5.1/not/there.so'",
    } do
      assert.is_truthy(message:find(folder.path .. form, 1, true), form)
    end
    assert.is_nil(package.loaded["not.there"])
  end)

  it("wants a name", function()
    assert.error_matches(function() require(nil) end, "require wants the name")
    assert.error_matches(function() require {} end, "require wants the name")
  end)
end)

describe("a broken module", function()
  it("is named with file and line, and can be required again", function()
    local file = write("broken", "\n\nerror 'on purpose'")
    for i = 1, 2 do
      local ok, message = pcall(require, "broken")
      assert.is_false(ok)
      assert.equal(file .. ":3: on purpose", message)
      assert.equal(i, _G.loads.broken)
    end
    write("broken", "return 'mended'")
    assert.equal("mended", require "broken")
  end)

  it("that is no Lua is named with file and line, and can be required again", function()
    local file = write("syntax", "\nlocal = 5")
    local ok, message = pcall(require, "syntax")
    assert.is_false(ok)
    assert.is_truthy(message:find(file .. ":2: ", 1, true), message)
    write("syntax", "return 'mended'")
    assert.equal("mended", require "syntax")
  end)

  it("may raise anything", function()
    write("object", "error { code = 7 }")
    local ok, raised = pcall(require, "object")
    assert.same({ false, 7 }, { ok, raised.code })
  end)

  it("with a wrong line is named with it, not with one of luaweb's", function()
    write("wrong", "return {")
    local ok, message = pcall(require, "wrong")
    assert.is_false(ok)
    assert.matches("^error loading module 'wrong' from file ", message)
    assert.matches("/wrong.lua:1: unexpected symbol near '<eof>'$", message)
    write("wrong", "return 'mended'")
    assert.equal("mended", require "wrong")
  end)

  it("that yields by itself ends its job, and can be required again", function()
    write("yields", "coroutine.yield()")
    local yields = job.spawn(function() require "yields" end)
    local ok, message = pcall(yields.join, yields)
    assert.is_false(ok)
    assert.matches("^coroutine.yield can't be called here", message)
    write("yields", "return 'mended'")
    assert.equal("mended", require "yields")
  end)
end)

describe("modules that need each other", function()
  it("in a circle are an error, which can be mended", function()
    write("one", "return require 'two'")
    write("two", "return require 'one'")
    local ok, message = pcall(require, "one")
    assert.is_false(ok)
    assert.matches("loop or previous error loading module 'one'$", message)
    assert.matches("/two.lua:1: ", message)
    write("two", "return 2")
    assert.equal(2, require "one")
  end)

  it("need not be two", function()
    write("selfish", "return require 'selfish'")
    local ok, message = pcall(require, "selfish")
    assert.is_false(ok)
    assert.matches("/selfish.lua:1: loop or previous error", message)
  end)

  it("may do so when the first is known before it is done", function()
    write("first", "package.loaded[...] = { name = 'first' } require 'second'")
    write("second", "return { name = 'second', first = require 'first' }")
    assert.equal("first", require("first").name)
    assert.equal("first", require("second").first.name)
  end)
end)

describe("a module that waits while it loads", function()
  it("lets others run", function()
    write("slow", "require('luaweb').sleep(0.05) return 'slow'")
    local done
    local other = job.spawn(function() done = "other" end)
    assert.equal("slow", require "slow")
    assert.equal("other", done)
    other:join()
  end)

  it("is loaded once for all who want it meanwhile", function()
    write("wanted", "require('luaweb').sleep(0.05) return {}")
    local jobs = {}
    for i = 1, 5 do jobs[i] = job.spawn(require, "wanted") end
    local module = require "wanted"
    for i = 1, 5 do assert.equal(module, jobs[i]:join()) end
    assert.equal(1, _G.loads.wanted)
  end)

  it("is tried again by those who waited, when it fails", function()
    write("fails", "require('luaweb').sleep(0.02) "
      .. "if loads[...] == 1 then error 'first' end return 'then'")
    local first = job.spawn(pcall, require, "fails")
    local second = job.spawn(require, "fails")
    local ok, message = first:join()
    assert.is_false(ok)
    assert.matches("fails.lua:1: first$", message)
    assert.equal("then", second:join())
    assert.equal(2, _G.loads.fails)
  end)

  it("may be part of a circle: an error, and nobody waits for ever", function()
    local sleep = "require('luaweb').sleep(0.02) "
    write("left", sleep .. "return { require 'right' }")
    write("right", sleep .. "return { require 'left' }")
    local left = job.spawn(pcall, require, "left")
    local right = job.spawn(pcall, require, "right")
    local left_ok, left_message = left:join()
    local right_ok, right_message = right:join()
    assert.is_true(not left_ok or not right_ok)
    assert.matches("loop or previous error", left_ok and right_message or left_message)
  end)

  it("can't do so in a coroutine of the app's own, and says so", function()
    write("slower", "require('luaweb').sleep(0.01)")
    local wrapped = coroutine.wrap(function() return pcall(require, "slower") end)
    local ok, message = wrapped()
    assert.is_false(ok)
    assert.matches("slower.lua:1: web.sleep can't wait here", message)
  end)

  it("can't be waited for in a coroutine of the app's own, which says so", function()
    write("held", "require('luaweb').sleep(0.05) return 'held'")
    local holder = job.spawn(require, "held")
    web.sleep(0.01)
    local wrapped = coroutine.wrap(function() return pcall(require, "held") end)
    local ok, message = wrapped()
    assert.is_false(ok)
    assert.matches("require can't wait here", message)
    assert.equal("held", holder:join())
  end)
end)
