-- SPDX-License-Identifier: MIT
-- Where `luaweb dev` stops: folders, the size of what it remembers and shows.
local dev = require "spec.support.dev"
local process = require "spec.support.process"

after_each(process.clean)

local function shell(command)
  os.execute(("cd '%s' && %s"):format(process.path "x":sub(1, -3), command))
end

describe("luaweb dev", function()
  it("watches 1,024 folders, and says so when there are more", function()
    process.file("app.lua", "")
    shell "mkdir $(seq -f many%g 1100)"
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    dev.logs(child, "warn  can't watch ")
    assert.matches("can't watch [^\n]*/many%d+, nor more folders: these are 1024\n",
      child:errors())
    dev.write("app.lua", dev.says "two")
    dev.shows(child, "/", "two")
    child:stop()
  end)

  it("watches 12 folders below that of the app", function()
    local deep = ("d/"):rep(12)
    local child = dev.serve { ["app.lua"] = dev.says "one", [deep .. "in.html"] = "",
      [deep .. "d/out.html"] = "" }
    dev.write(deep .. "d/out.html", "x")
    dev.write(deep .. "in.html", "x")
    dev.logs(child, "in.html has changed")
    assert.is_nil(child:errors():find "out%.html")
    child:stop()
  end)

  it("follows no link to a folder, so that none is a circle", function()
    process.file("app.lua", "")
    shell "ln -s . circle"
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    dev.write("app.lua", dev.says "two")
    dev.shows(child, "/", "two")
    assert.is_nil(child:errors():find "circle")
    child:stop()
  end)

  it("remembers 8 KiB of a request's head", function()
    local child = dev.serve { ["app.lua"] = dev.says "one" }
    dev.get(child, "/", ("X-First: %s\r\nX-Last: here\r\n"):format(("a"):rep(9000)))
    local id = dev.get(child, "/.luaweb/trace").body:match 'trace/(%d+)"'
    local body = dev.get(child, "/.luaweb/trace/" .. id).body
    assert.matches("<td>X%-First</td><td>a+</td>", body)
    assert.is_nil(body:find "X%-Last")
  end)

  it("shows a failure with a head of any size", function()
    local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
return web.app { web.get("/", function() error "wrong" end) }
]] }
    local lines = ("X-First: %s\r\nX-Last: here\r\nAccept: text/html\r\n")
      :format(("a"):rep(20000))
    assert.matches("<td>X%-Last</td><td>here</td>", dev.get(child, "/", lines).body)
  end)

  it("shows 200 octets of a line of source", function()
    local child = dev.serve { ["app.lua"] = ([[
local web = require "luaweb"
return web.app { web.get("/", function() error "wrong" end) } -- %s
]]):format(("z"):rep(1000)) }
    local body = dev.get(child, "/").body
    assert.matches("\n>    2 | return web%.app.*%-%- z+\n", body)
    assert.is_nil(body:find(("z"):rep(200), 1, true))
  end)

  it("shows no file that is not the app's, although a message names it", function()
    local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
return web.app { web.get("/", function(req) error(req.query.q, 0) end) }
]], ["pages/a.html"] = "a page\n", [".secret.txt"] = "a secret\n" }
    local app = process.path "pages":match "^(.*)/"
    local beside = os.tmpname()
    os.rename(beside, beside .. ".txt")
    beside = beside .. ".txt"
    local file = assert(io.open(beside, "w"))
    file:write "a secret\n"
    file:close()
    finally(function() os.remove(beside) end)
    local function shown(path)
      return dev.get(child, "/?q=bad%20" .. path .. ":1:").body
    end
    assert.matches("\n>    1 | a page\n", shown(app .. "/pages/a.html"))
    local up = "/../" .. beside:match "[^/]+$"
    for _, path in ipairs { beside, app .. up, app .. "/pages/.." .. up,
      app .. "/.secret.txt", app .. "/./.secret.txt", app .. "//.secret.txt" } do
      local body = shown(path)
      assert.is_nil(body:find("a secret", 1, true), path)
      assert.is_truthy(body:find("bad " .. path, 1, true))
    end
  end)

  it("shows a failure whose file is gone, without its source", function()
    local child = dev.serve { ["app.lua"] = [[
local web = require "luaweb"
local path = debug.getinfo(1, "S").source:sub(2)
return web.app { web.get("/", function() os.remove(path) error "wrong" end) }
]] }
    local answer = dev.get(child, "/", "Accept: text/html\r\n")
    assert.equal(500, answer.status)
    assert.matches("app%.lua:3: wrong</h1>", answer.body)
    assert.is_nil(answer.body:find('class="hit"', 1, true))
  end)
end)
