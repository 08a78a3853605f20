-- SPDX-License-Identifier: MIT
-- A binary upgrade: the executable that lies at the path of the old one now takes over
-- its sockets, and nobody who connects or is connected is refused.
local eventually = require "spec.support.eventually"
local lfs = require "lfs"
local process = require "spec.support.process"
local tree = require "spec.support.tree"

local ROOT = process.get "/"

local APP = [[
local ffi = require "ffi"
local web = require "luaweb"
ffi.cdef "int getppid(void);"
return web.app {
  web.get("/", function() return tostring(ffi.C.getppid()) end),
  web.get("/slow", function() print "begun" web.sleep(1) return "slow" end),
}
]]

local binary = process.binary

after_each(function()
  process.binary = binary
  process.clean()
end)

-- The server is started by a link, in whose place something else can be put.
local function put(target)
  os.remove(process.path "luaweb")
  assert(lfs.link(target, process.path "luaweb", true))
end

local function serve(...)
  put(binary)
  process.binary = process.path "luaweb"
  local child = process.serve(process.file("app.lua", APP), ...)
  process.binary = binary
  child:expect "/slow"
  return child
end

-- The pid of the master that took over, of which there were `count`.
local function await_successor(child, count)
  local pid
  eventually("a new master serves", function()
    local pids = {}
    for found in child:errors():gmatch "upgrade: pid (%d+) serves, this one ends" do
      pids[#pids + 1] = tonumber(found)
    end
    pid = pids[count or 1]
    return pid
  end)
  return pid
end

local function ends(pid)
  eventually("process " .. pid .. " ends", function() return not tree.is_alive(pid) end)
end

-- Ends the server, whose master is another one now.
local function finish(child, pid)
  tree.signal(pid, "TERM")
  child:wait()
  ends(pid)
  assert.is_nil(child:errors():match "[^\n]* error [^\n]*")
end

-- A new connection is answered by this master's worker.
local function is_served_by(child, pid)
  eventually("the new workers answer", function()
    return tonumber(child:ask(ROOT).body) == pid
  end)
end

describe("SIGUSR2", function()
  it("has the executable that lies there take over, and ends the old one", function()
    local child = serve()
    child:signal "USR2"
    local pid = await_successor(child)
    is_served_by(child, pid)
    ends(child.pid)
    assert.equal(pid, tonumber(child:ask(ROOT).body))
    finish(child, pid)
  end)

  it("can be had again and again", function()
    local child = serve("--workers", "2")
    local pid = child.pid
    for i = 1, 3 do
      tree.signal(pid, "USR2")
      local old = pid
      pid = await_successor(child, i)
      ends(old)
      is_served_by(child, pid)
    end
    finish(child, pid)
  end)

  it("is refused while the last executable still ends", function()
    local child = serve()
    local conn = child:connect(process.get "/slow")
    child:expect "^begun$"
    child:signal "USR2"
    local pid = await_successor(child)
    tree.signal(pid, "USR2")
    eventually("it is refused", function()
      return child:errors():find "upgrade: not now: the last executable has not ended"
    end)
    assert.equal("slow", process.answers(conn).body)
    conn:close()
    ends(child.pid)
    finish(child, pid)
  end)

  it("lets the old workers answer what they have begun", function()
    local child = serve()
    local conn = child:connect(process.get "/slow")
    child:expect "^begun$"
    child:signal "USR2"
    local pid = await_successor(child)
    local answer = process.answers(conn)
    assert.equal("slow", answer.body)
    assert.equal("close", answer:header "connection")
    conn:close()
    ends(child.pid)
    finish(child, pid)
  end)

  it("leaves open connections a grace, in which they are answered, then closed",
    function()
      local child = serve()
      local conn = child:connect()
      assert.equal(child.pid, tonumber(child:ask(ROOT, conn).body))
      child:signal "USR2"
      local pid = await_successor(child)
      is_served_by(child, pid)
      local answer = child:ask(ROOT, conn)
      assert.equal(child.pid, tonumber(answer.body))
      assert.equal("close", answer:header "connection")
      assert.equal("closed", select(2, process.rest(conn)))
      conn:close()
      finish(child, pid)
    end)

  it("may bring another number of workers: all sockets are accepted from", function()
    local child = process.serve(process.file("app.lua", (APP:gsub("web.app {",
      "%0 workers = 3,"))))
    child:expect "/slow"
    process.file("app.lua", (APP:gsub("web.app {", "%0 workers = 1,")))
    child:signal "USR2"
    local pid = await_successor(child)
    ends(child.pid)
    for _ = 1, 40 do assert.equal(pid, tonumber(child:ask(ROOT).body)) end
    finish(child, pid)
  end)

  it("keeps the path of a unix socket until the new master ends", function()
    local path = process.path "app.sock"
    local child = serve("--listen", "unix:" .. path)
    child:signal "USR2"
    local pid = await_successor(child)
    ends(child.pid)
    assert.equal("socket", lfs.symlinkattributes(path, "mode"))
    child.port, child.connect = nil, function()
      return assert(require("luaweb.client.socket").connect("unix:" .. path))
    end
    assert.equal(pid, tonumber(child:ask(ROOT).body))
    finish(child, pid)
    assert.is_nil(lfs.symlinkattributes(path, "mode"))
  end)
end)

describe("a new executable", function()
  local function goes_on(child, why)
    child:signal "USR2"
    eventually("the upgrade is given up", function()
      return child:errors():find(why)
    end)
    assert.equal(child.pid, tonumber(child:ask(ROOT).body))
  end

  it("that ends before it serves leaves the old one where it is", function()
    local child = serve()
    local script = process.file("broken", "#!/bin/sh\nexit 7\n")
    os.execute("chmod +x " .. script)
    put(script)
    goes_on(child, "the new executable ended with exit code 7, this one goes on")
    put(binary)
    child:signal "USR2"
    local pid = await_successor(child)
    ends(child.pid)
    tree.signal(pid, "TERM")
    ends(pid)
  end)

  it("that is none leaves the old one where it is", function()
    local child = serve()
    put "/nonexistent"
    goes_on(child, "upgrade: can't start [^\n]*luaweb: no such file or directory")
  end)

  it("whose app does not load leaves the old one, and its unix socket", function()
    local path = process.path "app.sock"
    local child = serve("--listen", "unix:" .. path)
    process.file("app.lua", "error 'broken'")
    goes_on(child, "the new executable ended with exit code 1, this one goes on")
    assert.matches("app%.lua:1: broken", child:errors())
    assert.equal("socket", lfs.symlinkattributes(path, "mode"))
  end)
end)

describe("a stop during an upgrade", function()
  it("ends both masters", function()
    local child = serve()
    process.file("app.lua", "print 'loading' io.flush() require('luaweb').sleep(30)")
    child:signal "USR2"
    child:expect "^loading$"
    child:signal "TERM"
    assert.equal(0, (child:wait())) -- nobody has our standard output any more
    assert.is_nil(child:errors():find "serves, this one ends")
  end)
end)

describe("LUAWEB_WORKER", function()
  it("that somebody has left in the environment is nothing", function()
    local child = process.start_after("export LUAWEB_WORKER=0:90:91:1:1; ",
      process.file("app.lua", APP), "--listen", "127.0.0.1:0", "--workers", "1")
    child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
    assert.equal(child.pid, tonumber(child:ask(ROOT).body))
    assert.equal("", child:errors())
  end)
end)

describe("a LUAWEB_UPGRADE that no master has written", function()
  for _, text in ipairs { "", "x", "0:x", "0:1:2:3", "2:1:99:7 0.0.0.0 outside.2.1",
    "99:98:0:1" } do
    it(("makes no upgrade, and lets go of nobody: %q"):format(text), function()
      local child = process.start_after(("export LUAWEB_UPGRADE=\"%s\""
        .. " NOTIFY_SOCKET=/nonexistent/notify; "):format(text),
        process.file("app.lua", APP), "--listen", "127.0.0.1:0", "--workers", "1")
      child.port = tonumber(child:expect "http://127%.0%.0%.1:(%d+)$")
      assert.equal(200, child:ask(ROOT).status)
      child:stop()
      assert.is_nil(child:errors():find "upgrade")
    end)
  end
end)
