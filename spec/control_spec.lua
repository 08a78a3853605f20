-- SPDX-License-Identifier: MIT
-- luaweb reload, stop and status: a running server is told, and asked.
local control = require "spec.support.control"
local eventually = require "spec.support.eventually"
local json = require "luaweb.json"
local lfs = require "lfs"
local process = require "spec.support.process"

local HELLO = "apps/hello.lua"
local ROOT = process.get "/"

local APP = [[
local web = require "luaweb"
return web.app { web.get("/", function() return "%s" end) }
]]

local SLOW = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() web.sleep(60) end),
}
]]

after_each(process.clean)

local function run(child, command, ...)
  return process.run(command, "--listen", "127.0.0.1:" .. child.port, ...)
end

local function exists(path)
  return lfs.symlinkattributes(path, "mode") ~= nil
end

-- Its command line: empty once it has ended, also where nobody has asked how.
local function program_of(pid)
  local file = io.open(("/proc/%d/cmdline"):format(pid))
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text
end

describe("luaweb reload", function()
  it("ends when all workers serve the new version, and says so", function()
    local path = process.file("app.lua", APP:format "one")
    local child = process.serve(path, "--workers", "2")
    process.file("app.lua", APP:format "two")
    local ended = run(child, "reload")
    assert.equal(0, ended.code)
    assert.matches("^generation 2 serves in 2 workers, after %d+ ms\n$", ended.output)
    for _ = 1, 10 do assert.equal("two", child:ask(ROOT).body) end
  end)

  it("works again and again", function()
    local path = process.file("app.lua", APP:format "one")
    local child = process.serve(path)
    for _, text in ipairs { "two", "three", "four" } do
      process.file("app.lua", APP:format(text))
      assert.equal(0, run(child, "reload").code)
      assert.equal(text, child:ask(ROOT).body)
    end
  end)

  it("ends with code 1, file and line where the app does not load", function()
    local path = process.file("app.lua", APP:format "one")
    local child = process.serve(path)
    process.file("app.lua", "return {\n  1 2\n}\n")
    local ended = run(child, "reload")
    assert.equal(1, ended.code)
    assert.equal("", ended.output)
    assert.equal(("luaweb: %s:2: '}' expected (to close '{' at line 1) near '2'\n")
      :format(path), ended.errors)
    assert.equal("one", child:ask(ROOT).body)
  end)

  it("tells each of those who ask at once", function()
    local path = process.file("app.lua", 'require("luaweb").sleep(0.3)\n'
      .. APP:format "one")
    local child = process.serve(path)
    local first, second = control.connect(child, "reload\n"),
      control.connect(child, "reload\n")
    assert.matches("^generation %d serves in 1 worker, after %d+ ms\nok\n$",
      control.answer(first))
    assert.matches("^generation %d serves in 1 worker, after %d+ ms\nok\n$",
      control.answer(second))
    first:close()
    second:close()
  end)

  it("goes on when who asked has gone", function()
    local path = process.file("app.lua", 'require("luaweb").sleep(0.2)\n'
      .. APP:format "one")
    local child = process.serve(path)
    process.file("app.lua", 'require("luaweb").sleep(0.2)\n' .. APP:format "two")
    control.connect(child, "reload\n"):close()
    eventually("the app is loaded anew", function()
      return child:ask(ROOT).body == "two"
    end)
    child:stop()
  end)
end)

describe("luaweb stop", function()
  it("ends when the server has, and its files are gone", function()
    local child = process.serve(HELLO)
    local ended = run(child, "stop")
    assert.equal(0, ended.code)
    assert.equal("", ended.output)
    assert.equal("", program_of(child.pid))
    assert.equal(0, (child:wait()))
    assert.is_false(exists(control.path(child.port, ".sock")))
    assert.is_false(exists(control.path(child.port, ".pid")))
  end)

  it("lets requests end", function()
    local child = process.serve(process.file("app.lua",
      (SLOW:gsub("60", "0.5"))))
    local conn = child:connect(ROOT)
    require("luaweb").sleep(0.1)
    assert.equal(0, run(child, "stop").code)
    assert.equal(204, process.answers(conn).status)
    conn:close()
  end)

  it("tells with code 5 when the server hasn't ended in time, --now does it", function()
    local child = process.serve(process.file("app.lua", SLOW))
    local conn = child:connect(ROOT)
    require("luaweb").sleep(0.1)
    local ended = run(child, "stop", "--timeout", "0.3")
    assert.equal(5, ended.code)
    assert.equal(("luaweb: the server (pid %d) is told to stop, but has not ended "
      .. "within 0.3 s: requests may still run; luaweb stop --now cuts them\n")
      :format(child.pid), ended.errors)
    assert.matches(", stopping, ", run(child, "status").output)
    assert.equal(0, run(child, "stop", "--now").code)
    assert.equal(0, (child:wait()))
    conn:close()
  end)
end)

describe("luaweb status", function()
  it("shows process, app, addresses and workers", function()
    local child = process.serve(HELLO, "--workers", "2")
    local conn = child:connect()
    local text = run(child, "status").output
    assert.matches(("^luaweb %%d+%%.%%d+%%.%%d+, pid %d, %%l+, up %%d+ s\n"):format(
      child.pid), text)
    assert.matches("\napp         apps/hello.lua\n", text, 1, true)
    assert.matches("\nlistens on  http://127.0.0.1:" .. child.port .. "\n", text)
    assert.matches("\n1       %d+ +ready     1           %d\n", text)
    conn:close()
  end)

  it("--json is one object", function()
    local child = process.serve(HELLO)
    child:ask(process.get "/hello")
    local status = json.decode(run(child, "status", "--json").output)
    assert.equal(child.pid, status.pid)
    assert.equal("running", status.state)
    assert.same({ "http://127.0.0.1:" .. child.port }, status.listeners)
    assert.equal(1, status.generation)
    assert.equal(0, status.reloads + status.failed_reloads + status.restarts)
    assert.equal(child:workers()[1], status.workers[1].pid)
    assert.equal("ready", status.workers[1].state)
  end)

  it("counts reloads, those that failed, and workers that were replaced", function()
    local path = process.file("app.lua", APP:format "one")
    local child = process.serve(path)
    run(child, "reload")
    process.file("app.lua", "return 1")
    run(child, "reload")
    process.file("app.lua", APP:format "two")
    child:signal_worker "KILL"
    eventually("the worker is replaced", function()
      return json.decode(run(child, "status", "--json").output).restarts >= 1
    end)
    local status = json.decode(run(child, "status", "--json").output)
    assert.equal(1, status.reloads)
    assert.equal(1, status.failed_reloads)
  end)
end)
