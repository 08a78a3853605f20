-- SPDX-License-Identifier: MIT
-- The command `luaweb dev`: where it listens, what it says, and that nothing else
-- switches on what it shows.
local dev = require "spec.support.dev"
local process = require "spec.support.process"

local FAILS = [[
local web = require "luaweb"
return web.app {
  web.get("/", function() return web.html "<p>hello</p>" end),
  web.get("/fails", function() error "a secret" end),
}
]]

after_each(process.clean)

describe("luaweb dev", function()
  it("has a page of help", function()
    local ended = process.run("dev", "--help")
    assert.equal(0, ended.code)
    assert.matches("^luaweb dev app%.lua", ended.output)
    assert.matches("%-%-allow%-remote", ended.output)
    assert.matches("luaweb dev app%.lua", process.run("--help").output)
  end)

  for _, words in ipairs { {}, { "a.lua", "b.lua" } } do
    it(("wants one app, not %d"):format(#words), function()
      local ended = process.run("dev", unpack(words))
      assert.equal(2, ended.code)
      assert.matches("^luaweb: want one app", ended.errors)
    end)
  end

  it("serves with one worker, whatever the app wants, and names the inspector",
    function()
      local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
return web.app { workers = 3, web.get("/", function() return "hello" end) }
]] }
      child:expect "^  /%.luaweb/trace  the last requests"
      assert.equal("hello", dev.get(child, "/").body)
      assert.equal(1, #child:workers())
      child:stop()
    end)

  for _, address in ipairs { "0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.com:80",
    "128.0.0.1:0" } do
    it("does not listen where others can reach it: " .. address, function()
      local ended = process.run("dev", "apps/hello.lua", "--listen", "127.0.0.1:0",
        "--listen", address)
      assert.equal(2, ended.code)
      assert.equal("", ended.output)
      assert.equal(("luaweb: --listen %s: others could reach this, and `luaweb dev` "
        .. "shows sources and requests to whoever asks.  Say --allow-remote if they "
        .. "may\n"):format(address), ended.errors)
    end)
  end

  it("listens there with --allow-remote", function()
    local path = process.file("app.lua", dev.says "hello")
    local child = process.start("dev", path, "--listen", "0.0.0.0:0", "--allow-remote",
      "--user", "root")
    child.port = tonumber(child:expect "http://0%.0%.0%.0:(%d+)$")
    assert.equal("hello", dev.get(child, "/").body)
    child:stop()
  end)

  for _, address in ipairs { "127.0.0.2:0", "localhost:0" } do
    it("listens at this machine: " .. address, function()
      local path = process.file("app.lua", dev.says "hello")
      local child = process.start("dev", path, "--listen", address)
      child:expect "^luaweb serves"
      child:stop()
    end)
  end

  it("listens at a unix socket", function()
    local path = process.file("app.lua", dev.says "hello")
    local child = process.start("dev", path, "--listen",
      "unix:" .. process.path "socket")
    child:expect "^luaweb serves"
    child:stop()
  end)

  it("prints a line for each request, without colours where it is no terminal",
    function()
      local child = dev.serve { ["app.lua"] = FAILS }
      dev.get(child, "/")
      child:expect "^GET     200 %d+%.%d ms +%d+ B +/  /$"
      dev.get(child, "/fails?x=1")
      child:expect "^GET     500 %d+%.%d ms +%d+ B +/fails%?x=1  /fails$"
      dev.get(child, "/nowhere")
      child:expect "^GET     404 %d+%.%d ms +%d+ B +/nowhere$"
      assert.is_nil(child.output:find "\27")
    end)

  it("shows the source of a failure at the terminal", function()
    local child = dev.serve { ["app.lua"] = FAILS }
    dev.get(child, "/fails")
    dev.logs(child, "app.lua:4\n")
    dev.logs(child, '>    4 |   web.get("/fails", function() error "a secret" end),\n')
  end)

  it("shows the source of a failure in a job, too", function()
    local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
local job = require "luaweb.job"
return web.app { web.get("/", function()
  job.background(function() error "in a job" end)
  return "ok"
end) }
]] }
    assert.equal("ok", dev.get(child, "/").body)
    dev.logs(child, '>    4 |   job.background(function() error "in a job" end)\n')
  end)

  it("prints none for its own resources", function()
    local child = dev.serve { ["app.lua"] = FAILS }
    dev.get(child, "/.luaweb/dev.js")
    dev.get(child, "/")
    child:expect "^GET     200"
    assert.is_nil(child.output:find("dev.js", 1, true))
  end)
end)

describe("luaweb without dev", function()
  local function ask(target, lines)
    local child = process.serve(process.file("app.lua", FAILS))
    local answer = dev.get(child, target, lines)
    child:signal "TERM"
    child:wait()
    return answer
  end

  it("shows nothing of a failure", function()
    local answer = ask("/fails", "Accept: text/html\r\n")
    assert.equal(500, answer.status)
    assert.is_nil(answer.body:find "secret")
    assert.is_nil(answer.body:find "app%.lua")
  end)

  it("adds nothing to a page", function()
    assert.equal("<p>hello</p>", ask("/").body)
  end)

  for _, target in ipairs { "/.luaweb/dev.js", "/.luaweb/events", "/.luaweb/trace" } do
    it("has no " .. target, function()
      assert.equal(404, ask(target).status)
    end)
  end

  it("has not even loaded what that takes", function()
    local child = process.serve(process.file("app.lua", [[
local web = require "luaweb"
return web.app { web.get("/", function()
  local list = {}
  for name in pairs(package.loaded) do
    if name:find "^luaweb%.dev" then list[#list + 1] = name end
  end
  return table.concat(list, " ")
end) }
]]))
    assert.equal("", dev.get(child, "/").body)
    child:stop()
  end)

  it("refuses the flag of dev", function()
    local ended = process.run("apps/hello.lua", "--listen", "127.0.0.1:0",
      "--allow-remote")
    assert.equal(2, ended.code)
    assert.matches("%-%-allow%-remote is no option of `luaweb serve`", ended.errors)
  end)

  it("does not end up in it by a file of that name", function()
    process.file("dev", dev.says "hello")
    local child = process.serve(process.path "dev")
    assert.equal("hello", dev.get(child, "/").body)
    assert.equal(404, dev.get(child, "/.luaweb/dev.js").status)
    child:stop()
  end)

  it("notices no change of its files", function()
    local child = process.serve(process.file("app.lua", dev.says "one"))
    process.file("app.lua", dev.says "two")
    require("luaweb").sleep(0.3)
    assert.equal("one", dev.get(child, "/").body)
    assert.is_nil(child:errors():find "reload")
    child:stop()
  end)
end)
