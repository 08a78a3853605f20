-- SPDX-License-Identifier: MIT
-- What people who run other servers have told of in public, tried on the reloads of
-- this one: changes without effect, timers that live on, what is never given back.
local eventually = require "spec.support.eventually"
local lfs = require "lfs"
local process = require "spec.support.process"

local ROOT = process.get "/"

after_each(process.clean)

-- An app with this in front of its fields, and what "/" gives.
local function write(before, root, name)
  return process.file(name or "app.lua", ([[
local web = require "luaweb"
local job = require "luaweb.job"
local on_stop
%s
return web.app { web.get("/", function() return %s end), on_stop = on_stop }
]]):format(before, root or '"root"'))
end

local function run(command)
  assert.equal(0, os.execute(("cd %s && %s"):format(process.path "", command)))
end

local function ask(child)
  return child:ask(ROOT).body
end

local function serve(path, ...)
  local child = process.serve(path, ...)
  child:expect "^  /"
  return child
end

describe("a reload", function()
  it("has the next text of a module in every worker, each time", function()
    process.file("page.lua", "return 'page 0'")
    local child = serve(write("local page = require 'page'", "page"), "--workers", "2")
    eventually("both run", function() return #child:workers() == 2 end)
    child:reload()
    for i = 1, 3 do
      process.file("page.lua", ("return 'page %d'"):format(i))
      child:reload()
      for _ = 1, 16 do assert.equal("page " .. i, ask(child)) end
    end
    child:stop()
  end)

  it("has the next release where the app's folder is a link", function()
    run "mkdir r1 r2 && ln -s r1 current"
    for i = 1, 2 do
      write("local page = require 'page'", "page", ("r%d/app.lua"):format(i))
      process.file(("r%d/page.lua"):format(i), ("return 'release %d'"):format(i))
    end
    local child = serve(process.path "current/app.lua")
    assert.equal("release 1", ask(child))
    run "ln -s r2 next && mv -T next current && rm -r r1"
    child:reload()
    assert.equal("release 2", ask(child))
    child:signal_worker "KILL"
    assert.equal("release 2", ask(child))
  end)

  it("ends the timers and jobs of the old generation at once, and has its own",
    function()
      local text = [[
web.every(0.01, function() print "beat of %s" io.flush() end)
web.every(3600, print)
job.server(function() while true do web.sleep(3600) end end)
job.server(function() while true do web.sleep(0.001) end end)
on_stop = function() print "%s stops" end
]]
      local child = serve(write(text:format("one", "one")))
      child:expect "^beat of one$"
      write(text:format("two", "two"))
      child:reload()
      child:expect "^one stops$"
      local from = #child.output
      for _ = 1, 20 do child:expect "^beat of" end
      assert.is_nil(child.output:sub(from):find "beat of one")
      child:signal "TERM"
      child:expect "^two stops$"
      assert.equal(0, (child:wait()))
    end)

  it("leaves what the old generation has offloaded to its end", function()
    process.file("slow.lua", [[
return { spin = function(seconds)
  local began = os.clock()
  while os.clock() - began < seconds do end
  return "spun"
end }
]])
    local child = serve(write("",
      [[(function() print "begun" return job.offload("slow", "spin", 0.4) end)()]]))
    local waits, leaves = child:connect(ROOT), child:connect(ROOT)
    for _ = 1, 2 do child:expect "^begun$" end
    leaves:close()
    child:reload()
    child:reload()
    assert.equal("spun", process.answers(waits).body)
    waits:close()
    child:stop()
  end)

  it("gives back all that an app has open, 20 times", function()
    local other = process.serve "spec/apps/reports.lua"
    local url = ("http://127.0.0.1:%d/"):format(other.port)
    local child = serve(write(([[
local socket = require "luaweb.client.socket"
local kept = assert(socket.connect("127.0.0.1", %d))
assert(web.fetch(%q))
web.every(0.01, function() end)
web.every(0.01, function() end, { once = true })
web.shared("kept", { size = 65536 }):set("a", 1)
job.server(function()
  for _ in require("luaweb.bus").subscribe("news"):each() do end
end)]]):format(other.port, url), ("kept and web.fetch(%q).body"):format(url)))
    local function open()
      local found = 0
      for _ in lfs.dir(("/proc/%d/fd"):format(child:workers()[1])) do
        found = found + 1
      end
      return found
    end
    local function reload_some(times)
      for _ = 1, times do
        child:reload()
        assert.equal("root", ask(child))
      end
    end
    reload_some(5)
    local before = open()
    reload_some(20)
    eventually("all is closed", function() return open() <= before end)
    child:stop()
    other:stop()
  end)

  it("that needs more than --lua-memory is not done over and over", function()
    local child = serve(write "", "--lua-memory", "32m")
    write("local hoard = {} for i = 1, 50 do hoard[i] = ('x'):rep(2 ^ 20) .. i end",
      "#hoard")
    child:reload()
    eventually("it holds too much", function()
      return child:ask(ROOT).status == 503
        and child:logged("reload: generation 3 serves") > 0
    end)
    for _ = 1, 20 do child:ask(ROOT) end
    assert.equal(1, child:logged("reload: Lua held more than %-%-lua%-memory"))
  end)
end)

describe("a stop", function()
  it("does not wait for a new generation that still loads", function()
    local child = serve(write "")
    write "print 'loading' io.flush() web.sleep(3600)"
    child:signal "HUP"
    child:expect "^loading$"
    child:signal "TERM"
    child:signal "HUP" -- is of no use any more
    assert.equal(0, (child:wait()))
  end)
end)
